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

static int has_matching_text(struct query *q, const char *pattern)
{
	const char *text;
	size_t len;

	for (uint64_t id = 1; id < report_string_limit(q->report); id++) {
		text = report_text(q->report, id, &len);
		if (text && pattern_matches(pattern, text, len))
			return 1;
	}
	return 0;
}

int query_has_class(struct query *q, const char *pattern)
{
	return has_any_class(q) && has_matching_text(q, pattern);
}

int query_has_range(struct query *q, const char *pattern)
{
	return report_row_count(q->report, TABLE_SLICE) && !has_any_class(q) && has_matching_text(q, pattern);
}
