/* Rows of the report's tables as events: their columns, names and categories. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/macros.h"
#include "export/timeline.h"
#include "fmt/gpu_enums.h"
#include "fmt/torch_wire.h"

#define NONE 0xff

/* Calls, and what threads do, before the work that they start. */
unsigned event_row_tables(enum table_id ret[EVENT_ROW_TABLES])
{
	static const enum table_id first[] = { TABLE_SLICE, TABLE_INSTANT, TABLE_CUDA_API, TABLE_OSRT, TABLE_CUDA_JIT };
	unsigned count = COUNT_OF(first);

	memcpy(ret, first, sizeof(first));
	for (unsigned table = 0; table < TABLE_ID_LIMIT && count < EVENT_ROW_TABLES; table++) {
		const struct table_tracks *tracks = table_tracks(table);
		bool is_listed = false;

		for (unsigned i = 0; i < COUNT_OF(first); i++)
			is_listed = is_listed || first[i] == table;
		if (tracks && tracks->category && !is_listed)
			ret[count++] = (enum table_id)table;
	}
	return count;
}

/* What the numbers of EVENT_* stand for; each takes the first column that none before it has. */
/* clang-format off */
static const uint32_t event_roles[EVENT_WIDTH] = {
	[EVENT_WHAT] = ROLE_NAME, [EVENT_CORRELATION] = ROLE_CORRELATION, [EVENT_ARGS] = ROLE_ARGS,
	[EVENT_CLASS] = ROLE_CLASS | ROLE_NODE, [EVENT_FLAGS] = ROLE_FLAGS | ROLE_GRAPH,
	[EVENT_COLOR] = ROLE_COLOR | ROLE_RESULT | ROLE_BYTES, [EVENT_SOURCE] = ROLE_PAYLOAD_KIND | ROLE_MEMORY,
	[EVENT_TARGET] = ROLE_PAYLOAD | ROLE_MEMORY, [EVENT_CHANNEL] = ROLE_CHANNEL,
};
/* clang-format on */

static uint8_t take_column(const struct table_schema *schema, uint32_t roles, uint32_t *taken)
{
	for (uint8_t i = 0; i < schema->column_count; i++)
		if (schema->columns[i].roles & roles && !(*taken >> i & 1)) {
			*taken |= 1u << i;
			return i;
		}
	return NONE;
}

static void columns_of(enum table_id table, uint8_t columns[EVENT_WIDTH])
{
	/* Points with values of their own. */
	/* clang-format off */
	static const uint8_t counter[EVENT_WIDTH] = { COLUMN_COUNTER_TIME, COLUMN_COUNTER_TIME, COLUMN_COUNTER_INTEGER, COLUMN_COUNTER_REAL,
						      NONE, NONE, NONE, NONE, NONE, NONE, NONE };
	static const uint8_t sample[EVENT_WIDTH] = { COLUMN_SAMPLE_TIME, COLUMN_SAMPLE_TIME, COLUMN_SAMPLE_STACK, COLUMN_SAMPLE_CPU, NONE,
						     NONE, COLUMN_SAMPLE_KERNEL, COLUMN_SAMPLE_WEIGHT, NONE, NONE, NONE };
	/* clang-format on */
	const struct table_schema *schema = table_schema(table);
	uint32_t taken = 0;

	if (table == TABLE_COUNTER || table == TABLE_SAMPLE) {
		memcpy(columns, table == TABLE_COUNTER ? counter : sample, EVENT_WIDTH);
		return;
	}
	for (unsigned i = EVENT_WHAT; i < EVENT_WIDTH; i++)
		columns[i] = take_column(schema, event_roles[i], &taken);
	columns[EVENT_START] = 0;
	columns[EVENT_END] = schema->kind == TABLE_KIND_SPAN;
}

void event_reader_init(struct event_reader *r, struct timeline *t, enum table_id table, const struct track_groups *groups,
		       uint32_t track_id)
{
	const struct table_schema *schema = table_schema(table);

	/* clang-format off */
	*r = (struct event_reader){ .t = t, .table = table, .is_work = table_column(table, ROLE_NODE) >= 0,
				    .has_bytes = table_is_work(table) && table_column(table, ROLE_BYTES) >= 0, .groups = groups, .track_id = track_id };
	/* clang-format on */
	for (uint8_t i = 0; i < schema->column_count && r->more_count < EVENT_MORE; i++)
		if (schema->columns[i].roles & ROLE_MORE)
			r->more[r->more_count++] = i;
	if (groups)
		r->at = track_groups_find(groups, track_id);
}

void event_reader_release(struct event_reader *r)
{
	free(r->values);
	free(r->nulls);
	r->values = NULL;
	r->nulls = NULL;
	r->rows = 0;
}

static bool at_end(const struct event_reader *r)
{
	if (r->groups)
		return r->at >= r->groups->count || r->groups->groups[r->at].track != r->track_id;
	return r->at >= report_group_count(r->t->report, r->table);
}

static int grow_event_columns(struct event_reader *r)
{
	if (r->cap >= r->rows)
		return 0;
	free(r->values);
	free(r->nulls);
	r->values = malloc((EVENT_WIDTH + r->more_count) * (size_t)r->rows * sizeof(*r->values));
	r->nulls = malloc(r->more_count * (size_t)r->rows + 1);
	r->cap = r->values && r->nulls ? r->rows : 0;
	return r->cap ? 0 : -ENOMEM;
}

static int read_event_columns(struct event_reader *r, size_t group)
{
	uint8_t columns[EVENT_WIDTH];
	size_t size = (size_t)r->rows * sizeof(*r->values);
	int result = grow_event_columns(r);

	columns_of(r->table, columns);
	for (unsigned i = 0; result >= 0 && i < EVENT_WIDTH; i++)
		if (columns[i] == NONE)
			memset(r->values + (size_t)i * r->rows, 0, size);
		else
			result = report_column(r->t->report, r->table, group, columns[i], r->values + (size_t)i * r->rows, NULL);
	for (unsigned i = 0; result >= 0 && i < r->more_count; i++)
		result = report_column(r->t->report, r->table, group, r->more[i], r->values + (EVENT_WIDTH + i) * (size_t)r->rows,
				       r->nulls + i * (size_t)r->rows);
	return result;
}

void event_more(const struct event_reader *r, arg_fn take, void *context)
{
	for (unsigned i = 0; i < r->more_count; i++) {
		const struct column_schema *column = &table_schema(r->table)->columns[r->more[i]];
		struct arg_value v = { .key = column->name,
				       .key_len = strlen(column->name),
				       .kind = ARG_INTEGER,
				       .key_id = INT64_C(1) << 62 | (int64_t)r->table << 8 | r->more[i],
				       .integer = event_value(r, EVENT_WIDTH + i) };

		if (r->nulls[i * (size_t)r->rows + r->row])
			continue;
		if (column->type == COLUMN_TYPE_REAL) {
			v.kind = ARG_REAL;
			memcpy(&v.real, &v.integer, sizeof(v.real));
		} else if (column->type == COLUMN_TYPE_STR) {
			v.kind = ARG_TEXT;
			v.text = timeline_text(r->t, v.integer, &v.text_len);
		}
		take(context, &v);
	}
}

int event_reader_load(struct event_reader *r)
{
	const struct report_group *g;
	size_t group;
	int result;

	while (r->row >= r->rows) {
		if (at_end(r)) {
			event_reader_release(r);
			return 0;
		}
		group = r->groups ? r->groups->groups[r->at].group : r->at;
		r->at++;
		g = report_group(r->t->report, r->table, group);
		r->row = 0;
		r->rows = g->rows;
		r->track = timeline_track(r->t, g->track);
		result = read_event_columns(r, group);
		if (result == -EBADMSG) {
			atomic_fetch_add(&r->t->q->damaged, 1);
			r->rows = 0;
		} else if (result < 0) {
			r->rows = 0;
			return result;
		}
	}
	return 1;
}

int event_merge_add(struct event_merge *m, struct timeline *t, const struct track_groups *groups, uint32_t track_id)
{
	if (!ARRAY_ROOM(m->readers, m->count, m->cap, 1))
		return -ENOMEM;
	event_reader_init(&m->readers[m->count++], t, groups->table, groups, track_id);
	return 0;
}

/* Of two that start together the longer comes first, then the one that was added first. */
static bool comes_before(const struct event_merge *m, uint32_t a, uint32_t b)
{
	const struct event_reader *x = &m->readers[a], *y = &m->readers[b];
	int64_t start = event_value(x, EVENT_START), other = event_value(y, EVENT_START);

	if (start != other)
		return start < other;
	start = event_end(x);
	other = event_end(y);
	return start != other ? start > other : a < b;
}

static void sift_event_heap(struct event_merge *m, size_t at)
{
	for (size_t child; (child = 2 * at + 1) < m->heap_count; at = child) {
		uint32_t above = m->heap[at];

		if (child + 1 < m->heap_count && comes_before(m, m->heap[child + 1], m->heap[child]))
			child++;
		if (!comes_before(m, m->heap[child], above))
			return;
		m->heap[at] = m->heap[child];
		m->heap[child] = above;
	}
}

static int merge_begin(struct event_merge *m)
{
	int r = 1;

	m->heap = calloc(m->count + 1, sizeof(*m->heap));
	if (!m->heap)
		return -ENOMEM;
	for (size_t i = 0; i < m->count && r >= 0; i++)
		if ((r = event_reader_load(&m->readers[i])) > 0)
			m->heap[m->heap_count++] = (uint32_t)i;
	for (size_t i = m->heap_count / 2; i > 0; i--)
		sift_event_heap(m, i - 1);
	return r < 0 ? r : 0;
}

int event_merge_next(struct event_merge *m, struct event_reader **ret)
{
	struct event_reader *last = m->heap_count ? &m->readers[m->heap[0]] : NULL;
	int r = 0;

	if (!m->heap) {
		r = merge_begin(m);
	} else if (last) {
		r = last->row < last->rows ? 1 : event_reader_load(last);
		if (r == 0)
			m->heap[0] = m->heap[--m->heap_count];
		sift_event_heap(m, 0);
	}
	*ret = r >= 0 && m->heap_count ? &m->readers[m->heap[0]] : NULL;
	return r < 0 ? r : 0;
}

void event_merge_release(struct event_merge *m)
{
	for (size_t i = 0; i < m->count; i++)
		event_reader_release(&m->readers[i]);
	free(m->readers);
	free(m->heap);
	*m = (struct event_merge){ 0 };
}

/* Ids of made names lie above those of strings. */
static void make_name(struct event_name *ret, enum table_id table, int64_t number)
{
	ret->text = ret->made;
	ret->len = strlen(ret->made);
	ret->id = 1ull << 62 | (uint64_t)table << 48 | ((uint64_t)number & 0xffffffffffff);
}

static void string_name(const struct event_reader *r, int64_t id, struct event_name *ret)
{
	ret->text = timeline_text(r->t, id, &ret->len);
	ret->id = (uint64_t)id;
}

static void kernel_name(const struct event_reader *r, struct event_name *ret)
{
	const int64_t *launch = cuda_launch(r->t->q->index.cuda, event_value(r, EVENT_WHAT));

	if (launch && launch[LAUNCH_NAME]) {
		string_name(r, launch[LAUNCH_NAME], ret);
		return;
	}
	snprintf(ret->made, sizeof(ret->made), "kernel without a name");
	make_name(ret, r->table, 0);
}

static void made_name(const struct event_reader *r, struct event_name *ret)
{
	int64_t what = event_value(r, EVENT_WHAT), from = event_value(r, EVENT_SOURCE), to = event_value(r, EVENT_TARGET);

	switch (r->table) {
	case TABLE_GPU_COPY:
		snprintf(ret->made, sizeof(ret->made), "Memcpy %s (%s -> %s)", gpu_copy_kind(what)->kineto, gpu_memory_kind(from)->kineto,
			 gpu_memory_kind(to)->kineto);
		what = (what & 0xffff) << 32 | (from & 0xffff) << 16 | (to & 0xffff);
		break;
	case TABLE_GPU_SET:
		what = from;
		snprintf(ret->made, sizeof(ret->made), "Memset (%s)", gpu_memory_kind(what)->kineto);
		break;
	case TABLE_GPU_SYNC: snprintf(ret->made, sizeof(ret->made), "%s", gpu_sync_kind(what)->kineto); break;
	case TABLE_GPU_GRAPH: snprintf(ret->made, sizeof(ret->made), "Graph %lld", (long long)what); break;
	case TABLE_CUDA_JIT: snprintf(ret->made, sizeof(ret->made), "%s", gpu_jit_operation_kineto(what)); break;
	default: snprintf(ret->made, sizeof(ret->made), "%s", table_tracks(r->table)->word); what = 0;
	}
	make_name(ret, r->table, what);
}

static void overhead_name(const struct event_reader *r, struct event_name *ret)
{
	int64_t kind = event_value(r, EVENT_WHAT);
	const char *text = gpu_overhead_text(kind);

	snprintf(ret->made, sizeof(ret->made), "%s", text ? text : gpu_overhead_text(GPU_OVERHEAD_UNKNOWN));
	make_name(ret, r->table, gpu_overhead_number(kind));
}

/* Calls of the runtime have the version that they came with at their end (cudaLaunchKernelExC_v11060), which Kineto and readers of its
 * traces leave out. "cuMemAlloc_v2" is what that call of the driver is called. */
static size_t length_without_version(const char *name, size_t len)
{
	size_t digits = 0;

	while (digits < len && name[len - 1 - digits] >= '0' && name[len - 1 - digits] <= '9')
		digits++;
	return digits >= 4 && len > digits + 2 && memcmp(name + len - digits - 2, "_v", 2) == 0 ? len - digits - 2 : len;
}

void event_name(const struct event_reader *r, struct event_name *ret)
{
	size_t len;

	switch (r->table) {
	case TABLE_GPU_KERNEL: kernel_name(r, ret); return;
	case TABLE_CUDA_API:
		string_name(r, event_value(r, EVENT_WHAT), ret);
		len = length_without_version(ret->text, ret->len);
		if (len != ret->len)
			ret->id |= 1ull << 63;
		ret->len = len;
		return;
	case TABLE_SLICE:
	case TABLE_INSTANT:
	case TABLE_TORCH_OP:
	case TABLE_OSRT: string_name(r, event_value(r, EVENT_WHAT), ret); return;
	case TABLE_CUDA_OVERHEAD: overhead_name(r, ret); return;
	default: made_name(r, ret);
	}
}

const char *event_category(const struct event_reader *r, int64_t *ret_id)
{
	*ret_id = 0;
	switch (r->table) {
	case TABLE_SLICE:
	case TABLE_INSTANT:
		*ret_id = event_value(r, EVENT_CLASS);
		if (r->track && r->track[TRACK_KIND] == TRACK_GENERIC)
			return NULL;
		return r->table == TABLE_SLICE ? "user_annotation" : "cpu_instant_event";
	case TABLE_CUDA_API: return event_value(r, EVENT_CLASS) == 1 ? "cuda_driver" : "cuda_runtime";
	case TABLE_TORCH_OP: return event_value(r, EVENT_CLASS) == TORCH_SCOPE_USER ? "user_annotation" : "cpu_op";
	default: return table_tracks(r->table)->category;
	}
}
