/* libFuzzer: arbitrary schemas over arbitrary payloads, shown as JSON. What comes out must be
 * valid, and soon.
 *
 * Layout of an input: number of schemas; for each its type, size, alignment and number of entries, and
 * for each entry type, flags, detail (2 bytes) and offset (1 byte); then the payloads of one event, each a
 * schema, a length and its bytes. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "query/payload/walk.h"
#include "replay.h"
#include "report/format/block.h"
#include "report/read/internal.h"

#define SCHEMAS 8u
#define ENTRIES 12u
#define PAYLOADS 4u

struct input {
	const uint8_t *at;
	size_t left;
};

static unsigned take(struct input *in)
{
	if (!in->left)
		return 0;
	in->left--;
	return *in->at++;
}

/* One of NVTX's own types, or one of the schemas. */
static int64_t take_type(struct input *in)
{
	unsigned byte = take(in);

	return byte < 160 ? (int64_t)(byte % 101) : TYPE_PREDEFINED_LIMIT + (int64_t)(byte % SCHEMAS);
}

static int64_t take_detail(struct input *in)
{
	int16_t value = (int16_t)(take(in) | take(in) << 8);

	return value == INT16_MAX ? INT64_MAX : value == INT16_MIN ? INT64_MIN : value;
}

static void take_schema(struct input *in, struct query_index *x, unsigned number)
{
	int64_t *schema = x->payload_schemas.rows + x->payload_schemas.count++ * SCHEMA_WIDTH;
	unsigned entries;

	schema[SCHEMA_PROCESS] = 1;
	schema[SCHEMA_DOMAIN] = 0;
	schema[SCHEMA_ID] = TYPE_PREDEFINED_LIMIT + number;
	schema[SCHEMA_TYPE] = take(in) % 6;
	schema[SCHEMA_SIZE] = (int64_t)take(in) - 8;
	schema[SCHEMA_ALIGN] = take(in) % 20;
	entries = take(in) % (ENTRIES + 1);
	for (unsigned i = 0; i < entries; i++) {
		int64_t *entry = x->payload_entries.rows + x->payload_entries.count++ * ENTRY_WIDTH;
		unsigned offset;

		memcpy(entry, schema, 3 * sizeof(*schema));
		entry[ENTRY_INDEX] = i;
		entry[ENTRY_TYPE] = take_type(in);
		entry[ENTRY_NAME] = 0;
		entry[ENTRY_FLAGS] = take(in);
		entry[ENTRY_DETAIL] = take_detail(in);
		offset = take(in);
		entry[ENTRY_OFFSET] = offset < 128 ? offset : offset < 250 ? 0 : offset < 253 ? INT64_MAX : -1;
	}
}

static void take_enum(struct query_index *x)
{
	static int64_t number[] = { 1, 0, TYPE_PREDEFINED_LIMIT + SCHEMAS - 1, 4 };
	static int64_t label[] = { 1, 0, TYPE_PREDEFINED_LIMIT + SCHEMAS - 1, 3, 0, 1 };

	x->payload_enums = (struct index_table){ number, 1, ENUM_WIDTH };
	x->payload_labels = (struct index_table){ label, 1, LABEL_WIDTH };
}

static void check_json(const char *text, size_t len)
{
	static sqlite3 *db;
	sqlite3_stmt *statement;

	if (!db && sqlite3_open(":memory:", &db) != SQLITE_OK)
		abort();
	if (sqlite3_prepare_v2(db, "SELECT json_valid(?)", -1, &statement, NULL) != SQLITE_OK)
		abort();
	sqlite3_bind_text(statement, 1, text, (int)len, SQLITE_STATIC);
	if (sqlite3_step(statement) != SQLITE_ROW || sqlite3_column_int(statement, 0) != 1)
		abort();
	sqlite3_finalize(statement);
}

static struct report *empty_report(void)
{
	static struct file_header header;
	static struct report *report;
	struct error err;

	if (report)
		return report;
	memcpy(header.magic, FILE_MAGIC, sizeof(header.magic));
	header.major = FORMAT_MAJOR;
	header.size = sizeof(header);
	file_header_seal(&header);
	if (report_open_memory(&report, (uint8_t *)&header, sizeof(header), NULL, 0, &err) < 0)
		abort();
	return report;
}

static void show(struct query *q, struct input *in)
{
	struct event_payload payloads[PAYLOADS];
	uint8_t *copies[PAYLOADS];
	struct buf json = BUF_INIT;
	size_t count = 0;

	while (count < PAYLOADS && (in->left || !count)) {
		struct event_payload *p = &payloads[count];

		p->schema = take_type(in);
		p->number = (int64_t)count % 3;
		p->len = take(in);
		p->len = p->len < in->left ? p->len : in->left;
		/* A copy of its own, so that the sanitizer sees what is read outside. */
		copies[count] = malloc(p->len + !p->len);
		if (!copies[count])
			abort();
		memcpy(copies[count], in->at, p->len);
		p->data = copies[count++];
		in->at += p->len;
		in->left -= p->len;
	}
	if (payloads_to_json(&json, q, 1, 0, payloads, count, &(uint64_t){ PAYLOAD_MAX_STEPS }) >= 0)
		check_json(buf_cstr(&json), json.len);
	for (size_t i = 0; i < count; i++)
		free(copies[i]);
	buf_release(&json);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static int64_t schemas[SCHEMAS * SCHEMA_WIDTH], entries[SCHEMAS * ENTRIES * ENTRY_WIDTH];
	struct query q = { .report = empty_report() };
	struct input in = { data, size };
	unsigned count = 1 + take(&in) % (SCHEMAS - 1);

	q.index.payload_schemas = (struct index_table){ schemas, 0, SCHEMA_WIDTH };
	q.index.payload_entries = (struct index_table){ entries, 0, ENTRY_WIDTH };
	for (unsigned i = 0; i < count; i++)
		take_schema(&in, &q.index, i);
	take_enum(&q.index);
	show(&q, &in);
	return 0;
}
