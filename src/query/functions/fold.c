#include "query/functions/fold.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/macros.h"
#include "query/internal.h"

size_t fold_text(const char *text, size_t len, char *ret)
{
	int digit, before = 0;
	size_t to = 0;

	for (size_t i = 0; i < len; i++, before = digit) {
		digit = isdigit((unsigned char)text[i]);
		if (!digit || !before)
			ret[to++] = digit ? '#' : text[i];
	}
	return to;
}

int fold_id(struct query *q, int64_t *id)
{
	char small[512], *folded = small;
	const char *text;
	size_t len;
	int r;

	text = query_text(q, *id, &len);
	if (!text) {
		*id = 0;
		return 0;
	}
	if (len > sizeof(small))
		folded = malloc(len);
	if (!folded)
		return -ENOMEM;
	r = first_text_of(q, folded, fold_text(text, len, folded), id);
	if (folded != small)
		free(folded);
	return r;
}

int fold_id_again(struct query *q, struct fold_memo *memo, int64_t *id)
{
	size_t slot = (size_t)*id % COUNT_OF(memo->entries);
	int64_t asked = *id;
	int r = 0;

	if (asked == 0)
		return 0;
	if (memo->entries[slot].id != asked) {
		r = fold_id(q, id);
		memo->entries[slot].id = r < 0 ? 0 : asked;
		memo->entries[slot].folded = *id;
	}
	*id = memo->entries[slot].folded;
	return r;
}

/* fold_numbers(text) */
void sql_fold_numbers(sqlite3_context *context, int argc, sqlite3_value **argv)
{
	const char *text = (const char *)sqlite3_value_text(argv[0]);
	size_t len = text ? (size_t)sqlite3_value_bytes(argv[0]) : 0;
	char *folded = text ? sqlite3_malloc64(len + 1) : NULL;

	if (folded)
		sqlite3_result_text(context, folded, (int)fold_text(text, len, folded), sqlite3_free);
	else if (text)
		sqlite3_result_error_nomem(context);
}
