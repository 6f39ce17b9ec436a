/* NVTX: ranges, marks, names and what payloads are made of. */
#include <errno.h>
#include <string.h>

#include "fmt/record.h"
#include "ingest/nsys/internal.h"

/* clang-format off */
enum {
	EVENT_CATEGORY = 33, EVENT_MARK = 34, EVENT_THREAD_NAME = 39, EVENT_PUSH_POP = 59, EVENT_START_END = 60,
	EVENT_DOMAIN_CREATE = 75, EVENT_DOMAIN_DESTROY = 76
};
/* clang-format on */
enum { DOMAIN_CREATED = 1, DOMAIN_DESTROYED = 2 };

#define NVTX_AT(column) NSYS_AT(NVTX_EVENTS, column)

/* 0 is every process's default domain and has no row. */
static uint64_t domain_of(struct nsys *n, uint64_t process, int64_t id)
{
	const int64_t key[] = { (int64_t)process, id };
	uint32_t count = n->domain_keys.count, number;

	if (id == 0)
		return 0;
	number = keymap_number(&n->domain_keys, key, sizeof(key));
	if (number == KEYMAP_NONE || (number == count && nsys_room(n, &n->domains, number, sizeof(*n->domains)) < 0)) {
		nsys_fail_without_memory(n);
		return 0;
	}
	if (number == count) {
		n->domains[number] = (struct nsys_domain_place){ .process = process, .id = id };
		if (!nsys_map_find(&n->any_domain, id))
			nsys_map_put(&n->any_domain, id, number + 1);
	}
	return number + 1;
}

static void write_nsys_domain(struct nsys *n, uint64_t uid, uint64_t name, int64_t kind, int64_t time, uint64_t thread)
{
	const struct nsys_domain_place *d = &n->domains[uid - 1];
	uint32_t present = SINK_BIT(COLUMN_NVTX_DOMAIN_UID) | SINK_BIT(COLUMN_NVTX_DOMAIN_ID);
	int64_t v[TABLE_MAX_COLUMNS];

	v[COLUMN_NVTX_DOMAIN_UID] = (int64_t)uid;
	v[COLUMN_NVTX_DOMAIN_PROCESS] = (int64_t)d->process;
	v[COLUMN_NVTX_DOMAIN_ID] = d->id;
	v[COLUMN_NVTX_DOMAIN_NAME] = (int64_t)name;
	v[COLUMN_NVTX_DOMAIN_TIME] = time;
	v[COLUMN_NVTX_DOMAIN_THREAD] = (int64_t)thread;
	v[COLUMN_NVTX_DOMAIN_KIND] = kind;
	present |= d->process ? SINK_BIT(COLUMN_NVTX_DOMAIN_PROCESS) : 0;
	present |= name ? SINK_BIT(COLUMN_NVTX_DOMAIN_NAME) : 0;
	present |= kind ? SINK_BIT(COLUMN_NVTX_DOMAIN_KIND) | SINK_BIT(COLUMN_NVTX_DOMAIN_TIME) : 0;
	present |= thread ? SINK_BIT(COLUMN_NVTX_DOMAIN_THREAD) : 0;
	sink_row(&n->sink, TABLE_NVTX_DOMAIN, v, present);
}

static uint64_t find_nsys_nvtx_text(const struct nsys_rows *rows, int *ret_registered)
{
	uint64_t text = nsys_text(rows, NVTX_AT(text));

	*ret_registered = 0;
	if (text)
		return text;
	text = nsys_string(rows, NVTX_AT(textId));
	*ret_registered = text != 0;
	return text;
}

/* The first value there is; kinds are in the order of the columns. */
_Static_assert(NVTX_AT(floatValue) - NVTX_AT(uint64Value) == NVTX_PAYLOAD_FLOAT - NVTX_PAYLOAD_UINT64, "a column for each kind");
static int payload_of(const struct nsys_rows *rows, int64_t *ret_bits)
{
	float single;
	double real;
	uint32_t bits;

	for (int kind = NVTX_PAYLOAD_UINT64; kind < NVTX_PAYLOAD_KIND_COUNT; kind++) {
		unsigned column = NVTX_AT(uint64Value) + (unsigned)kind - 1;

		if (kind == NVTX_PAYLOAD_DOUBLE || kind == NVTX_PAYLOAD_FLOAT) {
			if (!nsys_real(rows, column, &real))
				continue;
			single = (float)real;
			memcpy(&bits, &single, sizeof(bits));
			memcpy(ret_bits, &real, sizeof(real));
			if (kind == NVTX_PAYLOAD_FLOAT)
				*ret_bits = bits;
			return kind;
		}
		if (nsys_number(rows, column, ret_bits))
			return kind;
	}
	return NVTX_PAYLOAD_NONE;
}

static int digit(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* Digits as bytes. What is no such text is kept as it is. */
static int append_binary(struct buf *ret, const char *text, size_t len)
{
	char byte;

	for (size_t i = 0; i < len; i++)
		if (digit(text[i]) < 0 || len % 2)
			return buf_append(ret, text, len);
	for (size_t i = 0; i < len; i += 2) {
		byte = (char)(digit(text[i]) << 4 | digit(text[i + 1]));
		if (buf_append(ret, &byte, 1) < 0)
			return -ENOMEM;
	}
	return 0;
}

static int append_json(const struct nsys_rows *rows, struct buf *ret)
{
	size_t len;
	const char *text = nsys_cell_text(rows, NVTX_AT(jsonText), &len);
	sqlite3_stmt *row;
	int64_t id;
	int r = 0;

	if (text)
		return buf_append(ret, text, len);
	if (!nsys_number(rows, NVTX_AT(jsonTextId), &id) || (row = nsys_string_row(rows->n, id)) == NULL)
		return 0;
	if ((text = (const char *)sqlite3_column_text(row, 0)) != NULL)
		r = buf_puts(ret, text);
	sqlite3_finalize(row);
	return r;
}

/* The payload's bytes, then its JSON text; how many are bytes is in the schema's place: NVTX_SCHEMA_TEXT. */
static void put_payloads(const struct nsys_rows *rows, int64_t *values, uint32_t *present, unsigned blob, unsigned schema)
{
	struct buf *b = &rows->n->text;
	size_t len, bytes;
	const char *text = nsys_cell_text(rows, NVTX_AT(binaryData), &len);
	int r = 0;

	buf_clear(b);
	if (text)
		r = append_binary(b, text, len);
	bytes = b->len;
	if (r >= 0)
		r = append_json(rows, b);
	if (r < 0) {
		nsys_fail_without_memory(rows->n);
		return;
	}
	if (!b->len)
		return;
	values[blob] = (int64_t)report_blob(rows->n->sink.writer, b->data, b->len);
	values[schema] = NVTX_SCHEMA_TEXT - (int64_t)bytes;
	*present |= SINK_BIT(blob) | SINK_BIT(schema);
}

/* Slices and instants have these in common; `columns` are their places. */
struct event_places {
	unsigned name, flags, category, color, payload_kind, payload, blob, schema;
};

static void put_event(const struct nsys_rows *rows, const struct event_places *c, int64_t flags, int64_t *v, uint32_t *present)
{
	int registered;

	v[c->name] = (int64_t)find_nsys_nvtx_text(rows, &registered);
	*present |= v[c->name] ? SINK_BIT(c->name) : 0;
	flags |= registered ? SLICE_REGISTERED : 0;
	if (nsys_number(rows, NVTX_AT(category), &v[c->category]))
		*present |= SINK_BIT(c->category);
	if (nsys_number(rows, NVTX_AT(color), &v[c->color])) {
		flags |= SLICE_HAS_COLOR;
		*present |= SINK_BIT(c->color);
	}
	v[c->payload_kind] = payload_of(rows, &v[c->payload]);
	*present |= v[c->payload_kind] ? SINK_BIT(c->payload_kind) | SINK_BIT(c->payload) : 0;
	put_payloads(rows, v, present, c->blob, c->schema);
	v[c->flags] = flags;
	*present |= SINK_BIT(c->flags);
}

static uint64_t domain_here(const struct nsys_rows *rows, const struct nsys_thread *t)
{
	uint64_t process = t ? t->process + 1 : 0;

	if (process && !rows->n->nvtx_process)
		rows->n->nvtx_process = process;
	return domain_of(rows->n, process, nsys_number_or(rows, NVTX_AT(domainId), 0));
}

static void range(struct nsys_rows *rows, enum track_kind kind)
{
	/* clang-format off */
	static const struct event_places places = {
		COLUMN_SLICE_NAME, COLUMN_SLICE_FLAGS, COLUMN_SLICE_CATEGORY, COLUMN_SLICE_COLOR, COLUMN_SLICE_PAYLOAD_KIND,
		COLUMN_SLICE_PAYLOAD, COLUMN_SLICE_BLOB, COLUMN_SLICE_SCHEMA,
	};
	/* clang-format on */
	struct nsys *n = rows->n;
	int is_open = sqlite3_column_type(rows->statement, NVTX_AT(end)) == SQLITE_NULL;
	uint64_t end_thread = nsys_thread_uid(n, nsys_row_thread(rows, NVTX_AT(endGlobalTid)));
	const struct nsys_thread *t = nsys_row_thread(rows, NVTX_AT(globalTid));
	int64_t v[TABLE_MAX_COLUMNS];
	uint32_t present;

	if (!nsys_times(rows, v, &present))
		return;
	if (is_open && n->duration > v[1])
		v[1] = n->duration;
	put_event(rows, &places, is_open ? SLICE_OPEN : 0, v, &present);
	if (nsys_number(rows, NVTX_AT(rangeId), &v[COLUMN_SLICE_RANGE_ID]))
		present |= SINK_BIT(COLUMN_SLICE_RANGE_ID);
	v[COLUMN_SLICE_END_THREAD] = (int64_t)end_thread;
	present |= end_thread ? SINK_BIT(COLUMN_SLICE_END_THREAD) : 0;
	sink_event(&n->sink, nsys_thread_track(n, kind, TABLE_SLICE, t, domain_here(rows, t), 0), v, present);
}

static void add_nsys_mark(struct nsys_rows *rows)
{
	/* clang-format off */
	static const struct event_places places = {
		COLUMN_INSTANT_NAME, COLUMN_INSTANT_FLAGS, COLUMN_INSTANT_CATEGORY, COLUMN_INSTANT_COLOR,
		COLUMN_INSTANT_PAYLOAD_KIND, COLUMN_INSTANT_PAYLOAD, COLUMN_INSTANT_BLOB, COLUMN_INSTANT_SCHEMA,
	};
	/* clang-format on */
	const struct nsys_thread *t = nsys_row_thread(rows, NVTX_AT(globalTid));
	int64_t v[TABLE_MAX_COLUMNS];
	uint32_t present;

	if (!nsys_times(rows, v, &present))
		return;
	present = 1;
	put_event(rows, &places, 0, v, &present);
	sink_event(&rows->n->sink, nsys_thread_track(rows->n, TRACK_NVTX_MARK, TABLE_INSTANT, t, domain_here(rows, t), 0), v, present);
}

static void name_category(struct nsys_rows *rows, int64_t time, const struct nsys_thread *t)
{
	uint32_t present = SINK_BIT(COLUMN_NVTX_CATEGORY_DOMAIN) | SINK_BIT(COLUMN_NVTX_CATEGORY_TIME);
	int64_t v[TABLE_MAX_COLUMNS];
	int registered;

	v[COLUMN_NVTX_CATEGORY_PROCESS] = t ? t->process + 1 : 0;
	v[COLUMN_NVTX_CATEGORY_DOMAIN] = (int64_t)domain_here(rows, t);
	v[COLUMN_NVTX_CATEGORY_NAME] = (int64_t)find_nsys_nvtx_text(rows, &registered);
	v[COLUMN_NVTX_CATEGORY_TIME] = time;
	v[COLUMN_NVTX_CATEGORY_THREAD] = (int64_t)nsys_thread_uid(rows->n, t);
	if (nsys_number(rows, NVTX_AT(category), &v[COLUMN_NVTX_CATEGORY_CATEGORY]))
		present |= SINK_BIT(COLUMN_NVTX_CATEGORY_CATEGORY);
	present |= t ? SINK_BIT(COLUMN_NVTX_CATEGORY_PROCESS) | SINK_BIT(COLUMN_NVTX_CATEGORY_THREAD) : 0;
	present |= v[COLUMN_NVTX_CATEGORY_NAME] ? SINK_BIT(COLUMN_NVTX_CATEGORY_NAME) : 0;
	sink_row(&rows->n->sink, TABLE_NVTX_CATEGORY, v, present);
}

static void name_nsys_thread(struct nsys_rows *rows, int64_t time, const struct nsys_thread *t)
{
	int64_t v[TABLE_MAX_COLUMNS];
	int registered;

	v[COLUMN_THREAD_NAME_TIME] = time;
	v[COLUMN_THREAD_NAME_PROCESS] = t ? t->process + 1 : 0;
	v[COLUMN_THREAD_NAME_TID] = t ? t->id & 0xffffff : 0;
	v[COLUMN_THREAD_NAME_NAME] = (int64_t)find_nsys_nvtx_text(rows, &registered);
	sink_row(&rows->n->sink, TABLE_THREAD_NAME, v, SINK_BIT(COLUMN_THREAD_NAME_NAME + 1) - 1);
}

static void name_domain(struct nsys_rows *rows, int64_t time, const struct nsys_thread *t, int64_t kind)
{
	uint64_t uid = domain_here(rows, t);
	int registered;

	if (!uid)
		return;
	rows->n->domains[uid - 1].is_reported = 1;
	write_nsys_domain(rows->n, uid, find_nsys_nvtx_text(rows, &registered), kind, time, nsys_thread_uid(rows->n, t));
}

static void take_naming_event(struct nsys_rows *rows, int64_t type)
{
	const struct nsys_thread *t = nsys_row_thread(rows, NVTX_AT(globalTid));
	int64_t v[2];
	uint32_t present;

	if (!nsys_times(rows, v, &present))
		return;
	if (type == EVENT_CATEGORY)
		name_category(rows, v[0], t);
	else if (type == EVENT_THREAD_NAME)
		name_nsys_thread(rows, v[0], t);
	else
		name_domain(rows, v[0], t, type == EVENT_DOMAIN_CREATE ? DOMAIN_CREATED : DOMAIN_DESTROYED);
}

static void other_event(struct nsys_rows *rows, int64_t type)
{
	const struct nsys_thread *t = nsys_row_thread(rows, NVTX_AT(globalTid));
	int registered;
	uint64_t set = 0;

	nsys_arg_number(rows->n, &set, rows->columns[NVTX_AT(eventType)].name, type);
	nsys_put_generic(rows, t, 0, sink_text(&rows->n->sink, rows->table), find_nsys_nvtx_text(rows, &registered), set);
}

static void add_nsys_nvtx_event(struct nsys_rows *rows)
{
	int64_t type = nsys_number_or(rows, NVTX_AT(eventType), 0);

	switch (type) {
	case EVENT_PUSH_POP: range(rows, TRACK_NVTX_PUSHPOP); break;
	case EVENT_START_END: range(rows, TRACK_NVTX_STARTEND); break;
	case EVENT_MARK: add_nsys_mark(rows); break;
	case EVENT_CATEGORY:
	case EVENT_THREAD_NAME:
	case EVENT_DOMAIN_CREATE:
	case EVENT_DOMAIN_DESTROY: take_naming_event(rows, type); break;
	default: other_event(rows, type);
	}
}

/* All of the report begin with the process and the domain, all of nsys with the domain. The file does not say whose they are: the first process that has
 * the domain. */
static void layout(struct nsys_rows *rows, enum table_id table)
{
	struct nsys *n = rows->n;
	int64_t v[TABLE_MAX_COLUMNS], id = nsys_number_or(rows, NSYS_AT(NVTX_PAYLOAD_SCHEMAS, domainId), 0);
	uint64_t domain = id ? nsys_map_find(&n->any_domain, id) : 0, process;
	uint32_t present = SINK_BIT(COLUMN_NVTX_SCHEMA_DOMAIN);

	if (id && !domain)
		domain = domain_of(n, n->nvtx_process, id);
	process = domain ? n->domains[domain - 1].process : n->nvtx_process;
	v[COLUMN_NVTX_SCHEMA_PROCESS] = (int64_t)process;
	v[COLUMN_NVTX_SCHEMA_DOMAIN] = (int64_t)domain;
	present |= process ? SINK_BIT(COLUMN_NVTX_SCHEMA_PROCESS) : 0;
	nsys_fill(rows, v, &present);
	sink_row(&n->sink, table, v, present);
}
_Static_assert(NSYS_AT(NVTX_PAYLOAD_SCHEMAS, domainId) == 0 && NSYS_AT(NVTX_PAYLOAD_SCHEMA_ENTRIES, domainId) == 0 &&
		       NSYS_AT(NVTX_PAYLOAD_ENUMS, domainId) == 0 && NSYS_AT(NVTX_PAYLOAD_ENUM_ENTRIES, domainId) == 0 &&
		       NSYS_AT(NVTX_SCOPES, domainId) == 0,
	       "the domain comes first");
_Static_assert(COLUMN_NVTX_SCHEMA_PROCESS == 0 && COLUMN_NVTX_SCHEMA_DOMAIN == 1 && COLUMN_NVTX_ENUM_DOMAIN == 1 &&
		       COLUMN_NVTX_SCHEMA_ENTRY_DOMAIN == 1 && COLUMN_NVTX_ENUM_ENTRY_DOMAIN == 1 && COLUMN_NVTX_SCOPE_DOMAIN == 1,
	       "process and domain come first");

void nsys_read_nvtx(struct nsys *n)
{
	static const struct {
		enum nsys_table_id from;
		enum table_id to;
	} layouts[] = {
		{ NSYS_NVTX_PAYLOAD_SCHEMAS, TABLE_NVTX_SCHEMA }, { NSYS_NVTX_PAYLOAD_SCHEMA_ENTRIES, TABLE_NVTX_SCHEMA_ENTRY },
		{ NSYS_NVTX_PAYLOAD_ENUMS, TABLE_NVTX_ENUM },     { NSYS_NVTX_PAYLOAD_ENUM_ENTRIES, TABLE_NVTX_ENUM_ENTRY },
		{ NSYS_NVTX_SCOPES, TABLE_NVTX_SCOPE },
	};
	struct nsys_rows rows;

	if (nsys_rows_open(&rows, n, &nsys_tables[NSYS_NVTX_EVENTS])) {
		while (nsys_rows_next(&rows))
			add_nsys_nvtx_event(&rows);
		nsys_rows_close(&rows);
	}
	for (unsigned i = 0; i < COUNT_OF(layouts); i++) {
		if (!nsys_rows_open(&rows, n, &nsys_tables[layouts[i].from]))
			continue;
		while (nsys_rows_next(&rows))
			layout(&rows, layouts[i].to);
		nsys_rows_close(&rows);
	}
}

/* Domains that only events and layouts name. */
void nsys_nvtx_finish(struct nsys *n)
{
	for (uint32_t i = 0; i < n->domain_keys.count && !n->sink.result; i++)
		if (!n->domains[i].is_reported)
			write_nsys_domain(n, i + 1, 0, 0, 0, 0);
}
