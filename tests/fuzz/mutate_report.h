/* How libFuzzer changes a report: values and nulls of columns, rows, texts, heads, the directory, with everything around
 * them right (report_model.h); now and then any bytes. Inputs are FUZZ_CHOICES bytes, which the target takes for what it
 * asks, then the report. Included by a target's one file. */
#ifndef SONDE_TESTS_FUZZ_MUTATE_REPORT_H
#define SONDE_TESTS_FUZZ_MUTATE_REPORT_H

#define FUZZ_CHOICES 8

#ifndef SONDE_REPLAY
#include "report_model.h"

#define MUTATE_ROWS 2048u

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed);
size_t LLVMFuzzerCustomCrossOver(const uint8_t *one, size_t one_size, const uint8_t *other, size_t other_size, uint8_t *out,
				 size_t max_size, unsigned seed);

static uint64_t dice_state;

/* Below n. */
static uint32_t dice(uint32_t n)
{
	dice_state ^= dice_state << 13;
	dice_state ^= dice_state >> 7;
	dice_state ^= dice_state << 17;
	return n ? (uint32_t)((dice_state >> 16) % n) : 0;
}

/* A row set as values. */
struct mutate_rows {
	struct set_head head;
	int64_t values[TABLE_MAX_COLUMNS][MUTATE_ROWS];
	uint8_t nulls[TABLE_MAX_COLUMNS][MUTATE_ROWS];
};

static bool rows_load(const struct buf *bytes, struct mutate_rows *ret)
{
	struct cursor c = { (const uint8_t *)bytes->data, (const uint8_t *)bytes->data + bytes->len, 0 };
	struct scratch scratch = { 0 };
	static int64_t values[SET_MAX_ROWS];
	static uint8_t nulls[SET_MAX_ROWS];
	struct set_view set;
	bool good = set_parse(&c, &set) == 0 && set.head.rows <= MUTATE_ROWS;

	if (!good)
		return false;
	ret->head = set.head;
	memset(ret->nulls, 1, sizeof(ret->nulls));
	memset(ret->values, 0, sizeof(ret->values));
	for (unsigned i = 0; i < TABLE_MAX_COLUMNS && good; i++) {
		if (!(set.head.present >> i & 1))
			continue;
		good = decode_column(&scratch, &set, i, values, nulls) == 0;
		memcpy(ret->values[i], values, ret->head.rows * sizeof(values[0]));
		memcpy(ret->nulls[i], nulls, ret->head.rows);
	}
	scratch_release(&scratch);
	return good;
}

/* Columns of spans and of times have no nulls; where they were given some, the set is stored as one of a PLAIN table. */
static enum table_kind kind_of(const struct mutate_rows *r)
{
	const struct table_schema *schema = table_schema(r->head.table);
	enum table_kind kind = schema ? schema->kind : TABLE_KIND_PLAIN;
	unsigned needed = kind == TABLE_KIND_SPAN ? 2 : kind == TABLE_KIND_POINT ? 1 : 0;

	for (unsigned c = 0; c < needed; c++)
		if (memchr(r->nulls[c], 1, r->head.rows))
			return TABLE_KIND_PLAIN;
	return kind;
}

static bool rows_save(struct mutate_rows *r, struct buf *ret)
{
	static int64_t dense[TABLE_MAX_COLUMNS][MUTATE_ROWS];
	static uint32_t masks[MUTATE_ROWS];
	struct row_set rows = { .kind = kind_of(r), .masks = masks };
	struct encoder encoder;
	bool good;

	memset(masks, 0, sizeof(masks));
	r->head.present = 0;
	for (unsigned c = 0; c < TABLE_MAX_COLUMNS; c++) {
		rows.columns[c] = dense[c];
		for (uint32_t i = 0; i < r->head.rows; i++) {
			if (r->nulls[c][i])
				continue;
			dense[c][rows.counts[c]++] = r->values[c][i];
			masks[i] |= 1u << c;
		}
		r->head.present |= (uint32_t)(rows.counts[c] > 0) << c;
	}
	rows.head = r->head;
	buf_clear(ret);
	good = encoder_init(&encoder) == 0 && encode_set(&encoder, &rows, 1, ret) == 0;
	encoder_release(&encoder);
	return good;
}

static int64_t odd_value(void)
{
	/* clang-format off */
	static const int64_t values[] = { 0, 1, -1, 2, 3, 7, 8, 255, 256, 4095, 65535, 65536, INT32_MAX, INT32_MIN, UINT32_MAX, 1ll << 32, 1ll << 40,
					  1000000000, 1000000000000000000, INT64_MAX, INT64_MIN, INT64_MAX - 1, INT64_MIN + 1, INT64_MAX / 2,
					  0x7ff8000000000000, 0x7ff0000000000000, -0x10000000000000, 0x3ff0000000000000, 0x7fefffffffffffff };
	/* clang-format on */

	return values[dice(sizeof(values) / sizeof(values[0]))];
}

static int64_t other_value(const struct mutate_rows *r, unsigned c, uint32_t i)
{
	switch (dice(8)) {
	case 0: return odd_value();
	case 1: return r->values[c][dice(r->head.rows)];
	case 2: return r->values[dice(TABLE_MAX_COLUMNS)][dice(r->head.rows)];
	case 3: return r->values[c][i] ^ (int64_t)(1ull << dice(64));
	case 4: return (int64_t)((uint64_t)dice(UINT32_MAX) << 32 | dice(UINT32_MAX));
	case 5: return dice(300);
	default: return (int64_t)((uint64_t)r->values[c][i] + dice(33) - 16);
	}
}

static unsigned some_column(const struct mutate_rows *r)
{
	const struct table_schema *schema = table_schema(r->head.table);

	return dice(schema ? schema->column_count : TABLE_MAX_COLUMNS);
}

/* One value, some neighbours, or all. */
static void change_values(struct mutate_rows *r)
{
	unsigned c = some_column(r);
	uint32_t from = dice(r->head.rows), count = dice(4) ? 1 : dice(r->head.rows - from) + 1;
	int64_t value = other_value(r, c, from);
	bool same = dice(2);

	for (uint32_t i = from; i < from + count; i++) {
		r->values[c][i] = same ? value : other_value(r, c, i);
		r->nulls[c][i] = 0;
	}
}

static void change_nulls(struct mutate_rows *r)
{
	unsigned c = some_column(r);
	uint32_t from = dice(r->head.rows), count = dice(r->head.rows - from) + 1;

	memset(r->nulls[c] + from, (int)dice(2), count);
}

static void copy_row(struct mutate_rows *r, uint32_t to, uint32_t from)
{
	for (unsigned c = 0; c < TABLE_MAX_COLUMNS; c++) {
		r->values[c][to] = r->values[c][from];
		r->nulls[c][to] = r->nulls[c][from];
	}
}

static void change_rows(struct mutate_rows *r)
{
	uint32_t most = MUTATE_ROWS - r->head.rows, count = dice(8) ? dice(4) + 1 : dice(most) + 1;

	if (dice(2) && r->head.rows > count) {
		for (uint32_t to = dice(r->head.rows - count); to + count < r->head.rows; to++)
			copy_row(r, to, to + count);
		r->head.rows -= count;
		return;
	}
	count = count < most ? count : most;
	for (uint32_t i = 0; i < count; i++)
		copy_row(r, r->head.rows + i, dice(r->head.rows));
	r->head.rows += count;
}

static void change_head(struct mutate_rows *r)
{
	switch (dice(5)) {
	case 0: r->head.table = (uint8_t)dice(70); break;
	case 1: r->head.track = dice(4) ? dice(20) : (uint32_t)odd_value(); break;
	case 2: r->head.first = (uint64_t)odd_value() >> 1; break;
	case 3: r->head.time_min = odd_value(); break;
	default: r->head.time_max = odd_value(); break;
	}
}

/* Rows of any table, with what its columns may have: numbers of texts and of rows elsewhere are small. */
static void make_rows(struct mutate_rows *r)
{
	const struct table_schema *schema = NULL;
	int64_t time = dice(1000);

	while (!schema)
		schema = table_schema(dice(70));
	memset(r->nulls, 1, sizeof(r->nulls));
	memset(r->values, 0, sizeof(r->values));
	r->head = (struct set_head){ .table = schema->id,
				     .rows = dice(12) + 1,
				     .track = schema->kind == TABLE_KIND_PLAIN ? 0 : dice(12) + 1 };
	for (unsigned c = 0; c < schema->column_count; c++) {
		bool has = c < 2 || dice(4);
		bool varies = dice(3);
		int64_t value = schema->columns[c].type == COLUMN_TYPE_STR ? dice(60) : dice(6);

		for (uint32_t i = 0; i < r->head.rows && has; i++) {
			bool is_time = schema->columns[c].type == COLUMN_TYPE_TIME;

			r->values[c][i] = is_time ? time + (int64_t)(i * 100 + c * dice(100)) : varies ? value + dice(8) : value;
			r->nulls[c][i] = 0;
		}
	}
	if (schema->kind == TABLE_KIND_PLAIN)
		return;
	r->head.time_min = r->values[0][0];
	r->head.time_max = r->values[schema->kind == TABLE_KIND_SPAN][r->head.rows - 1];
}

/* At the end, in a block of its own. */
static void add_rows(struct model *m, struct mutate_rows *r)
{
	struct buf bytes = BUF_INIT;

	if (m->block_count < MODEL_BLOCKS && rows_save(r, &bytes)) {
		/* clang-format off */
		m->blocks[m->block_count] = (struct model_block){ .header = { .kind = BLOCK_GROUP, .items = 1, .first = r->head.rows, .last = r->head.track,
									       .time_min = r->head.time_min, .time_max = r->head.time_max } };
		/* clang-format on */
		if (model_add_set(m, (uint32_t)m->block_count, 0, bytes.data, bytes.len)) {
			m->block_count++;
			if (m->has_directory)
				model_add_entry(m, (uint32_t)m->set_count - 1);
		}
	}
	buf_release(&bytes);
}

/* Any bytes, as libFuzzer changes them. */
static void change_bytes(struct buf *b, size_t from)
{
	size_t len = b->len - from;

	if (buf_reserve(b, 64) == 0)
		b->len = from + LLVMFuzzerMutate((uint8_t *)b->data + from, len, len + 64);
}

static void change_set(struct model_set *set, struct mutate_rows *r)
{
	bool is_rows = rows_load(&set->bytes, r);

	if (!is_rows || dice(8) == 0) {
		change_bytes(&set->bytes, 0);
	} else {
		for (uint32_t n = dice(3) + 1; n; n--) {
			switch (dice(10)) {
			case 0: change_nulls(r); break;
			case 1:
			case 2: change_rows(r); break;
			case 3: change_head(r); break;
			default: change_values(r);
			}
		}
		rows_save(r, &set->bytes);
	}
	set->changed = dice(8) != 0;
}

/* One of the texts or blobs: its bytes, or what is said of all of them. */
static void change_texts(struct model_block *b, struct model_set *set)
{
	/* clang-format off */
	static const char *const texts[] = { "", "{\"a\":[1,{\"b\":null}]}", "%s%n", "../../../etc/passwd", "</script>", "\xff\xfe\x80", "-9223372036854775808",
					     "step 1", "ProfilerStep#3", "[1e999]", "f\tx.cu\t7\n", "inst_executed", "gpu__time_duration.sum" };
	/* clang-format on */
	struct cursor c = { (const uint8_t *)set->bytes.data, (const uint8_t *)set->bytes.data + set->bytes.len, 0 };
	uint32_t count = b->header.items, selected = dice(count);
	uint64_t id = 0, delta, len;
	struct buf heads = BUF_INIT, bodies = BUF_INIT, body = BUF_INIT;
	const uint8_t *at;

	if (count == 0 || count > 5000 || b->is_opaque || dice(10) == 0) {
		change_bytes(&set->bytes, 0);
		return;
	}
	for (uint32_t i = 0; i < count; i++) {
		get_varint(&c);
		get_varint(&c);
	}
	at = c.at;
	c.at = (const uint8_t *)set->bytes.data;
	for (uint32_t i = 0; i < count && !c.failed; i++) {
		delta = get_varint(&c);
		len = get_varint(&c);
		if (at + len + 1 > c.end)
			break;
		buf_clear(&body);
		buf_append(&body, at, len);
		at += len + 1;
		if (i == selected && dice(6) == 0)
			delta = zigzag((int64_t)dice(4) - 1);
		else if (i == selected && dice(2)) {
			buf_clear(&body);
			buf_puts(&body, texts[dice(sizeof(texts) / sizeof(texts[0]))]);
		} else if (i == selected)
			change_bytes(&body, 0);
		if (i == selected && dice(8) == 0)
			buf_append(&body, "\0and more", 9);
		id += (uint64_t)unzigzag(delta);
		put_varint(&heads, delta);
		put_varint(&heads, body.len);
		buf_append(&bodies, body.data, body.len);
		buf_append(&bodies, "", 1);
	}
	buf_clear(&set->bytes);
	buf_append(&set->bytes, heads.data, heads.len);
	buf_append(&set->bytes, bodies.data, bodies.len);
	b->header.last = id > b->header.last && id < UINT32_MAX ? id : b->header.last;
	buf_release(&heads);
	buf_release(&bodies);
	buf_release(&body);
	set->changed = true;
}

static void change_block(struct model *m)
{
	struct model_block *b = &m->blocks[dice((uint32_t)m->block_count)];

	switch (dice(8)) {
	case 0: b->is_gone = true; break;
	case 1: b->header.items = (uint32_t)odd_value(); break;
	case 2: b->header.first = (uint64_t)odd_value(); break;
	case 3: b->header.last = (uint64_t)odd_value(); break;
	case 4: b->header.flags = (uint16_t)((b->header.flags & BLOCK_COMPRESSED) | (dice(8) & ~(uint32_t)BLOCK_COMPRESSED)); break;
	case 5: b->header.kind = (uint8_t)dice(9); break;
	case 6: b->header.segment = dice(3); break;
	default: b->header.time_max = odd_value();
	}
}

static void change_directory(struct model *m)
{
	struct model_entry *e = &m->entries[dice((uint32_t)m->entry_count)];
	int64_t value = dice(2) ? odd_value() : dice(100);

	switch (m->entry_count ? dice(14) : 14) {
	case 0: e->row.kind = (uint8_t)dice(9); break;
	case 1: e->row.table = (uint8_t)dice(70); break;
	case 2: e->row.flags = (uint16_t)value; break;
	case 3:
		e->row.offset = (uint64_t)value & ~7ull;
		e->block = MODEL_NONE;
		break;
	case 4:
		e->row.inside = (uint32_t)value;
		e->set = MODEL_NONE;
		break;
	case 5: e->row.bytes = (uint32_t)value; break;
	case 6: e->row.items = (uint32_t)value; break;
	case 7: e->row.track = (uint32_t)value; break;
	case 8: e->row.first = (uint64_t)value; break;
	case 9: e->row.last = (uint64_t)value; break;
	case 10: e->row.time_min = value; break;
	case 11: e->row.time_max = value; break;
	case 12: e->row.present = (uint32_t)value; break;
	case 13:
		if (m->entry_count < MODEL_ENTRIES) {
			m->entries[m->entry_count] = *e;
			m->entry_count++;
		}
		break;
	}
}

static void change_model(struct model *m)
{
	static struct mutate_rows rows;
	struct model_set *set = &m->sets[dice((uint32_t)m->set_count)];
	uint32_t what = dice(20);

	if (what == 0)
		change_block(m);
	else if (what == 1)
		change_directory(m);
	else if (what < 4) {
		make_rows(&rows);
		add_rows(m, &rows);
	} else if (m->set_count && (m->blocks[set->block].header.kind == BLOCK_STRINGS || m->blocks[set->block].header.kind == BLOCK_BLOBS))
		change_texts(&m->blocks[set->block], set);
	else if (m->set_count)
		change_set(set, &rows);
}

/* 0: it is no report, or has become too large. */
static size_t mutate_model(uint8_t *data, size_t size, size_t max_size)
{
	struct model *m = model_load(data, size);
	struct buf out = BUF_INIT;
	size_t len = 0;

	if (!m)
		return 0;
	for (uint32_t n = dice(4) ? 1 : dice(4) + 2; n; n--)
		change_model(m);
	if (model_save(m, &out) == 0 && out.len <= max_size) {
		len = out.len;
		memcpy(data, out.data, len);
	}
	buf_release(&out);
	model_release(m);
	return len;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed)
{
	uint32_t what;
	size_t len;

	dice_state = (uint64_t)seed * 0x9e3779b97f4a7c15u + 1;
	dice(1);
	what = dice(16);
	if (size < FUZZ_CHOICES || max_size <= FUZZ_CHOICES)
		return LLVMFuzzerMutate(data, size, max_size);
	if (what < 3) {
		LLVMFuzzerMutate(data, FUZZ_CHOICES, FUZZ_CHOICES);
		return size;
	}
	if (dice(2))
		data[dice(FUZZ_CHOICES)] = (uint8_t)dice(256);
	len = what == 3 ? 0 : mutate_model(data + FUZZ_CHOICES, size - FUZZ_CHOICES, max_size - FUZZ_CHOICES);
	if (!len) {
		len = LLVMFuzzerMutate(data + FUZZ_CHOICES, size - FUZZ_CHOICES, max_size - FUZZ_CHOICES);
		mend(data + FUZZ_CHOICES, len);
	}
	return FUZZ_CHOICES + len;
}

/* A report with some of another's rows. */
size_t LLVMFuzzerCustomCrossOver(const uint8_t *one, size_t one_size, const uint8_t *other, size_t other_size, uint8_t *out,
				 size_t max_size, unsigned seed)
{
	static struct mutate_rows rows;
	struct model *m, *from;
	struct buf made = BUF_INIT;
	size_t len = 0;

	dice_state = (uint64_t)seed * 0x9e3779b97f4a7c15u + 1;
	dice(1);
	if (one_size < FUZZ_CHOICES || other_size < FUZZ_CHOICES)
		return 0;
	m = model_load(one + FUZZ_CHOICES, one_size - FUZZ_CHOICES);
	from = model_load(other + FUZZ_CHOICES, other_size - FUZZ_CHOICES);
	for (uint32_t n = dice(6) + 1; m && from && from->set_count && n; n--)
		if (rows_load(&from->sets[dice((uint32_t)from->set_count)].bytes, &rows))
			add_rows(m, &rows);
	if (m && from && model_save(m, &made) == 0 && made.len + FUZZ_CHOICES <= max_size) {
		len = made.len + FUZZ_CHOICES;
		memcpy(out, dice(2) ? one : other, FUZZ_CHOICES);
		memcpy(out + FUZZ_CHOICES, made.data, made.len);
	}
	buf_release(&made);
	if (m)
		model_release(m);
	if (from)
		model_release(from);
	return len;
}
#endif

#endif
