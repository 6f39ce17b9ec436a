#include "query/result.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "query/payload.h"

void result_text(sqlite3_context *context, struct query *q, int64_t id)
{
	size_t len;
	const char *text = report_text(q->report, (uint64_t)id, &len);

	/* Texts live as long as the report does. */
	if (text && len <= INT_MAX)
		sqlite3_result_text(context, text, (int)len, SQLITE_STATIC);
	else
		sqlite3_result_null(context);
}

void result_value(sqlite3_context *context, struct query *q, enum vector_kind kind, int64_t value)
{
	double real;

	switch (kind) {
	case VECTOR_NUMBER:
		sqlite3_result_int64(context, value);
		break;
	case VECTOR_REAL:
		memcpy(&real, &value, sizeof(real));
		sqlite3_result_double(context, real);
		break;
	case VECTOR_STRING:
		result_text(context, q, value);
		break;
	default:
		sqlite3_result_null(context);
	}
}

static void result_blob(sqlite3_context *context, const void *data, size_t len)
{
	if (data && len <= INT_MAX)
		sqlite3_result_blob(context, data, (int)len, SQLITE_STATIC);
	else
		sqlite3_result_null(context);
}

static void result_hex(sqlite3_context *context, const uint8_t *data, size_t len)
{
	static const char digits[] = "0123456789abcdef";
	char *text = data && len <= INT_MAX / 2 ? sqlite3_malloc64(len * 2 + 1) : NULL;

	if (!text) {
		sqlite3_result_null(context);
		return;
	}
	for (size_t i = 0; i < len; i++) {
		text[2 * i] = digits[data[i] >> 4];
		text[2 * i + 1] = digits[data[i] & 15];
	}
	sqlite3_result_text(context, text, (int)(len * 2), sqlite3_free);
}

static void result_json(sqlite3_context *context, struct scan *s, unsigned column, uint32_t row,
			const uint8_t *data, size_t len)
{
	unsigned schema_column = s->table->sources[s->source].cells[column].other;
	const struct report_group *group = report_group(s->q->report, s->table->sources[s->source].table, s->group);
	int64_t *schemas = malloc(s->rows * sizeof(*schemas));
	struct buf json = BUF_INIT;
	int r = -ENOMEM;

	(void)group;
	if (schemas && data && s->track)
		r = report_column(s->q->report, s->table->sources[s->source].table, s->group, schema_column,
				  schemas, NULL);
	if (r >= 0)
		r = payload_to_json(&json, s->q, s->track[TRACK_PROCESS], s->track[TRACK_DOMAIN], schemas[row],
				    data, len);
	if (r >= 0 && json.len <= INT_MAX)
		sqlite3_result_text(context, buf_cstr(&json), (int)json.len, SQLITE_TRANSIENT);
	else
		sqlite3_result_null(context);
	buf_release(&json);
	free(schemas);
}

void result_cell(sqlite3_context *context, struct scan *s, unsigned column, uint32_t row)
{
	const struct vector *v;
	const void *data;
	size_t len = 0;

	if (scan_vector(s, column, &v) < 0) {
		atomic_fetch_add(&s->q->damaged, 1);
		sqlite3_result_null(context);
		return;
	}
	if (vector_is_null(v, row)) {
		sqlite3_result_null(context);
		return;
	}
	if (v->kind < VECTOR_BLOB) {
		result_value(context, s->q, v->kind, vector_value(v, row));
		return;
	}
	data = report_blob_data(s->q->report, (uint64_t)vector_value(v, row), &len);
	if (v->kind == VECTOR_BLOB)
		result_blob(context, data, len);
	else if (v->kind == VECTOR_HEX)
		result_hex(context, data, len);
	else
		result_json(context, s, column, row, data, len);
}
