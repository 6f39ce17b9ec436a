#include "query/engine/result.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

#include "base/buf.h"
#include "query/payload/payload.h"
#include "query/index/stack_tree.h"

/* A place in code without a name. */
static void result_place(sqlite3_context *context, struct query *q, int64_t id)
{
	struct buf text = BUF_INIT;

	if (q->stacks && code_string_text(q, q->stacks, id, &text) > 0 && text.len <= INT_MAX)
		sqlite3_result_text(context, buf_cstr(&text), (int)text.len, SQLITE_TRANSIENT);
	else
		sqlite3_result_null(context);
	buf_release(&text);
}

void result_text(sqlite3_context *context, struct query *q, int64_t id)
{
	size_t len;
	const char *text;

	if (id >= STRING_ID_FRAME) {
		result_place(context, q, id);
		return;
	}
	text = query_text(q, id, &len);
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
	case VECTOR_NUMBER: sqlite3_result_int64(context, value); break;
	case VECTOR_REAL:
		memcpy(&real, &value, sizeof(real));
		sqlite3_result_double(context, real);
		break;
	case VECTOR_STRING: result_text(context, q, value); break;
	default: sqlite3_result_null(context);
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

/* The payloads of an event: its own blob, then those of its set of arguments. */
static int collect_payloads(struct scan *s, const struct event_payload *first, int64_t set, struct buf *ret)
{
	const struct index_table *args = &s->q->index.args;
	int r = buf_append(ret, first, sizeof(*first));

	if (r >= 0 && set)
		r = index_load_args(&s->q->index, s->q->report);
	if (r < 0 || !set)
		return r;
	for (size_t i = index_lower_bound(args, &set, 1); r >= 0 && i < args->count; i++) {
		const int64_t *row = args->rows + i * ARG_WIDTH;
		struct event_payload payload = { .schema = row[ARG_SCHEMA], .number = row[ARG_NUMBER] };

		if (row[ARG_SET] != set)
			break;
		payload.data = report_blob_data(s->q->report, (uint64_t)row[ARG_BLOB], &payload.len);
		if (payload.data)
			r = buf_append(ret, &payload, sizeof(payload));
	}
	return r;
}

/* Bytes of a payload that stand before a text, if that is what the blob is. */
static size_t bytes_before_text(int64_t schema, size_t len)
{
	uint64_t bytes = (uint64_t)NVTX_SCHEMA_TEXT - (uint64_t)schema;

	return bytes < len ? (size_t)bytes : len;
}

static void result_text_behind(sqlite3_context *context, const struct event_payload *payload)
{
	size_t bytes = bytes_before_text(payload->schema, payload->len);

	if (bytes < payload->len && payload->len <= INT_MAX)
		sqlite3_result_text(context, (const char *)payload->data + bytes, (int)(payload->len - bytes), SQLITE_STATIC);
	else
		sqlite3_result_null(context);
}

static void result_payload_hex(sqlite3_context *context, struct scan *s, unsigned column, uint32_t row, const uint8_t *data, size_t len)
{
	const struct mapped_cell *cell = &s->table->sources[s->source].cells[column];
	int64_t schema = s->raw[cell->other].loaded ? s->raw[cell->other].values[row] : 0;

	if (data && schema <= NVTX_SCHEMA_TEXT)
		len = bytes_before_text(schema, len);
	if (len)
		result_hex(context, data, len);
	else
		sqlite3_result_null(context);
}

static void result_json(sqlite3_context *context, struct scan *s, unsigned column, uint32_t row, const uint8_t *data, size_t len)
{
	const struct mapped_cell *cell = &s->table->sources[s->source].cells[column];
	struct event_payload first = { data, len, s->raw[cell->other].values[row], 0 };
	struct buf payloads = BUF_INIT, json = BUF_INIT;
	int r = -ENOENT;

	/* What an imported trace says of a payload whose layout is not known. */
	if (data && first.schema <= NVTX_SCHEMA_TEXT) {
		result_text_behind(context, &first);
		return;
	}
	if (data && s->track)
		r = collect_payloads(s, &first, s->raw[cell->constant].values[row], &payloads);
	if (r >= 0)
		r = payloads_to_json(&json, s->q, s->track[TRACK_PROCESS], s->track[TRACK_DOMAIN],
				     (const struct event_payload *)(const void *)payloads.data, payloads.len / sizeof(first),
				     &s->payload_steps);
	if (r >= 0 && json.len <= INT_MAX)
		sqlite3_result_text(context, buf_cstr(&json), (int)json.len, SQLITE_TRANSIENT);
	else
		sqlite3_result_null(context);
	buf_release(&payloads);
	buf_release(&json);
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
		result_payload_hex(context, s, column, row, data, len);
	else
		result_json(context, s, column, row, data, len);
}
