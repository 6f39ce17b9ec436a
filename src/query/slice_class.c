#include "query/slice_class.h"

#include "query/internal.h"
#include "query/engine/scope_text.h"

static int has_any_class(struct query *q)
{
	for (size_t i = 0; i < report_group_count(q->report, TABLE_SLICE); i++)
		if (report_group(q->report, TABLE_SLICE, i)->present >> COLUMN_SLICE_CLASS & 1)
			return 1;
	return 0;
}

int query_has_class(struct query *q, const char *pattern)
{
	const char *text;
	size_t len;

	if (!has_any_class(q))
		return 0;
	for (uint64_t id = 1; id < report_string_limit(q->report); id++) {
		text = report_text(q->report, id, &len);
		if (text && pattern_matches(pattern, text, len))
			return 1;
	}
	return 0;
}
