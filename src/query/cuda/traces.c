/* cuda_gpu_trace([by [, nvtx]]): kernels, copies, sets and graphs in order of start, end, kind, stream and the name shown.
 * cuda_api_trace: calls in order of start, the longer first.
 * cuda_kern_exec_trace([by [, nvtx]]): kernels in order of the start of their call, of their own, and of the name shown. What reports with a row per event are made of: rows come
 * merged, and values that are found by way of another are looked up when they are shown. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/buf.h"
#include "base/cleanup.h"
#include "query/engine/call_values.h"
#include "query/cuda/labels.h"
#include "query/engine/function.h"
#include "query/engine/mapping_words.h"
#include "query/engine/result.h"
#include "query/engine/row_merge.h"

/* Values that no column of the merged table has. */
/* clang-format off */
enum made { MADE_NOT, MADE_GRID, MADE_BLOCK, MADE_THROUGHPUT, MADE_SOURCE, MADE_TARGET, MADE_DEVICE, MADE_GREEN, MADE_SHOWN, MADE_PID, MADE_TID,
	    MADE_THREAD_NAME, MADE_ARGUMENT };
/* clang-format on */

struct trace_column {
	const char *name;
	const char *declaration;
	const char *from; /* column of the merged table it is, or is made of; NULL: of several */
	enum made made;
};

/* clang-format off */
static const struct trace_column gpu_columns[] = {
	{ "start", "INTEGER", "start", MADE_NOT }, { "end", "INTEGER", "end", MADE_NOT },
	{ "duration", "INTEGER", "duration", MADE_NOT }, { "kind", "INTEGER", "kind", MADE_NOT },
	{ "correlationId", "INTEGER", "correlationId", MADE_NOT }, { "gridX", "INTEGER", "gridX", MADE_NOT },
	{ "gridY", "INTEGER", "gridY", MADE_NOT }, { "gridZ", "INTEGER", "gridZ", MADE_NOT },
	{ "blockX", "INTEGER", "blockX", MADE_NOT }, { "blockY", "INTEGER", "blockY", MADE_NOT },
	{ "blockZ", "INTEGER", "blockZ", MADE_NOT }, { "registersPerThread", "INTEGER", "registersPerThread", MADE_NOT },
	{ "staticSharedMemory", "INTEGER", "staticSharedMemory", MADE_NOT },
	{ "dynamicSharedMemory", "INTEGER", "dynamicSharedMemory", MADE_NOT },
	{ "bytes", "INTEGER", "bytes", MADE_NOT }, { "throughput", "REAL", "bytes", MADE_THROUGHPUT },
	{ "srcMemory", "TEXT", "srcKind", MADE_SOURCE }, { "dstMemory", "TEXT", "dstKind", MADE_TARGET },
	{ "device", "TEXT", "deviceId", MADE_DEVICE }, { "contextId", "INTEGER", "contextId", MADE_NOT },
	{ "greenContextId", "INTEGER", "greenContextId", MADE_GREEN }, { "streamId", "INTEGER", "streamId", MADE_NOT },
	{ "shown", "TEXT", NULL, MADE_SHOWN }, { "name", "TEXT", "name", MADE_NOT }, { "base", "TEXT", "base", MADE_NOT },
	{ "mangled", "TEXT", "mangled", MADE_NOT }, { "nvtxName", "TEXT", "nvtxName", MADE_NOT },
	{ "nvtxDomain", "TEXT", "nvtxDomain", MADE_NOT }, { "copyKind", "INTEGER", "copyKind", MADE_NOT },
	{ "processUid", "INTEGER", "processUid", MADE_NOT },
	{ "by", "HIDDEN", NULL, MADE_ARGUMENT }, { "nvtx", "HIDDEN", NULL, MADE_ARGUMENT },
};
static const struct trace_column api_columns[] = {
	{ "start", "INTEGER", "start", MADE_NOT }, { "end", "INTEGER", "end", MADE_NOT },
	{ "duration", "INTEGER", "apiDuration", MADE_NOT }, { "name", "TEXT", "apiName", MADE_NOT },
	{ "returnValue", "INTEGER", "returnValue", MADE_NOT }, { "correlationId", "INTEGER", "correlationId", MADE_NOT },
	{ "pid", "INTEGER", "globalTid", MADE_PID }, { "tid", "INTEGER", "globalTid", MADE_TID },
	{ "threadName", "TEXT", "globalTid", MADE_THREAD_NAME }, { "globalTid", "INTEGER", "globalTid", MADE_NOT },
};
static const struct trace_column exec_columns[] = {
	{ "apiStart", "INTEGER", "apiStart", MADE_NOT }, { "apiDuration", "INTEGER", "apiDuration", MADE_NOT },
	{ "queueStart", "INTEGER", "queueStart", MADE_NOT }, { "queueDuration", "INTEGER", "queueDuration", MADE_NOT },
	{ "kernelStart", "INTEGER", "kernelStart", MADE_NOT }, { "kernelDuration", "INTEGER", "kernelDuration", MADE_NOT },
	{ "totalDuration", "INTEGER", "totalDuration", MADE_NOT }, { "pid", "INTEGER", "globalTid", MADE_PID },
	{ "tid", "INTEGER", "globalTid", MADE_TID }, { "deviceId", "INTEGER", "deviceId", MADE_NOT },
	{ "apiName", "TEXT", "apiName", MADE_NOT }, { "grid", "TEXT", "gridX", MADE_GRID }, { "block", "TEXT", "blockX", MADE_BLOCK },
	{ "shown", "TEXT", NULL, MADE_SHOWN }, { "name", "TEXT", "name", MADE_NOT }, { "base", "TEXT", "base", MADE_NOT },
	{ "mangled", "TEXT", "mangled", MADE_NOT }, { "nvtxName", "TEXT", "nvtxName", MADE_NOT },
	{ "nvtxDomain", "TEXT", "nvtxDomain", MADE_NOT },
	{ "by", "HIDDEN", NULL, MADE_ARGUMENT }, { "nvtx", "HIDDEN", NULL, MADE_ARGUMENT },
};
/* clang-format on */
#define TRACE_MAX_COLUMNS 32
_Static_assert(COUNT_OF(gpu_columns) <= TRACE_MAX_COLUMNS && COUNT_OF(api_columns) <= TRACE_MAX_COLUMNS &&
		       COUNT_OF(exec_columns) <= TRACE_MAX_COLUMNS,
	       "room for them");

struct trace_kind {
	const char *name;
	const char *merged;
	const struct trace_column *columns;
	unsigned count;
	unsigned arguments; /* the last columns */
	const char *key;    /* column that rows are ordered by; NULL: the start */
	int (*compare)(const void *a, const void *b, void *context);
};

struct trace_vtab {
	struct function_vtab base;
	const struct trace_kind *kind;
	const struct mapped_table *table;
	int from[TRACE_MAX_COLUMNS]; /* columns of the table; -1: none */
};

/* A device of a process. */
struct device_label {
	int64_t process;
	int64_t device;
	struct buf text;
};

struct trace_cursor {
	sqlite3_vtab_cursor base;
	struct query *q;
	const struct trace_vtab *v;
	struct row_merge *merge;
	struct merged_row at;
	int at_end;
	/* How kernels are shown. */
	int name_column;
	int with_nvtx;
	int start_column, end_column, stream_column, kind_column, copy_column, nvtx_column, domain_column;
	struct buf shown, other; /* texts put together */
	struct device_label *devices;
	size_t device_count;
};

/* The value of a row; 0 when it is null. What a launch says is not made a vector of: there are many columns of it and few
 * launches. */
static int get_trace_value(const struct merged_row *at, int column, int64_t *ret)
{
	struct scan *s = at->scan;
	const struct mapped_cell *cell = mapped_cell(s->table, s->source, (unsigned)column);
	const struct vector *v;
	struct scan_column *ids;
	const int64_t *launch;

	if (cell->convert == CONVERT_LAUNCH || cell->convert == CONVERT_LAUNCH_TEXT) {
		if (scan_raw(s, cell->column, &ids) < 0)
			return 0;
		launch = cuda_launch(s->q->index.cuda, ids->values[at->row]);
		if (!launch || !((uint64_t)launch[LAUNCH_PRESENT] >> cell->other & 1))
			return 0;
		*ret = (int64_t)((uint64_t)launch[cell->other] + (uint64_t)cell->constant);
		return 1;
	}
	if (scan_vector(s, (unsigned)column, &v) < 0 || vector_is_null(v, at->row))
		return 0;
	*ret = vector_value(v, at->row);
	return 1;
}

static int append_name(struct trace_cursor *c, const struct merged_row *at, int column, struct buf *to)
{
	const char *text;
	int64_t id;
	size_t len;

	text = get_trace_value(at, column, &id) ? query_text(c->q, id, &len) : NULL;
	return text ? buf_append(to, text, len) : 0;
}

/* DOMAIN:RANGE/, where there is a range. */
static int append_range(struct trace_cursor *c, const struct merged_row *at, struct buf *to)
{
	int64_t id;

	if (!c->with_nvtx || !get_trace_value(at, c->nvtx_column, &id))
		return 0;
	TRY(append_name(c, at, c->domain_column, to));
	TRY(buf_append(to, ":", 1));
	TRY(append_name(c, at, c->nvtx_column, to));
	return buf_append(to, "/", 1);
}

/* What the row is called; in `made` where that has to be put together. NULL: nothing, or no memory. */
static const char *shown_name(struct trace_cursor *c, const struct merged_row *at, struct buf *made, size_t *ret_len)
{
	int64_t kind = OP_KERNEL, copy = 0, id;
	const char *text;

	if (c->kind_column >= 0)
		get_trace_value(at, c->kind_column, &kind);
	if (kind != OP_KERNEL) {
		get_trace_value(at, c->copy_column, &copy);
		text = cuda_op_label(kind, copy);
		*ret_len = text ? strlen(text) : 0;
		return text;
	}
	text = get_trace_value(at, c->name_column, &id) ? query_text(c->q, id, ret_len) : NULL;
	if (!text) {
		text = "[Unknown]";
		*ret_len = strlen(text);
	}
	buf_clear(made);
	if (append_range(c, at, made) < 0)
		return NULL;
	if (made->len == 0)
		return text;
	if (buf_append(made, text, *ret_len) < 0)
		return NULL;
	*ret_len = made->len;
	return made->data;
}

static int compare_texts(const char *a, size_t a_len, const char *b, size_t b_len)
{
	int r;

	if (!a || !b)
		return (a != NULL) - (b != NULL);
	r = memcmp(a, b, a_len < b_len ? a_len : b_len);
	return r ? r : a_len < b_len ? -1 : a_len > b_len;
}

/* Null is the least. */
static int compare_values(const struct merged_row *a, const struct merged_row *b, int column)
{
	int64_t x = 0, y = 0;
	int has_x = get_trace_value(a, column, &x), has_y = get_trace_value(b, column, &y);

	if (has_x != has_y)
		return has_x - has_y;
	return has_x && x != y ? (x < y ? -1 : 1) : 0;
}

static int compare_shown(struct trace_cursor *c, const struct merged_row *a, const struct merged_row *b)
{
	size_t a_len = 0, b_len = 0;
	const char *x = shown_name(c, a, &c->shown, &a_len), *y = shown_name(c, b, &c->other, &b_len);
	int r = compare_texts(x, a_len, y, b_len);

	return r ? r : merged_row_compare_places(a, b);
}

static int compare_work(const void *a, const void *b, void *context)
{
	struct trace_cursor *c = context;
	int r = compare_values(a, b, c->end_column);

	if (r == 0)
		r = compare_values(a, b, c->kind_column);
	if (r == 0)
		r = compare_values(a, b, c->stream_column);
	return r ? r : compare_shown(c, a, b);
}

static int compare_kernels(const void *a, const void *b, void *context)
{
	struct trace_cursor *c = context;
	int r = compare_values(a, b, c->start_column);

	return r ? r : compare_shown(c, a, b);
}

static int compare_call_ends(const void *a, const void *b, void *context)
{
	const struct trace_cursor *c = context;
	int r = compare_values(b, a, c->end_column);

	return r ? r : merged_row_compare_places(a, b);
}

static const struct trace_kind kinds[] = {
	{ "cuda_gpu_trace", "cuda_gpu_ops", gpu_columns, COUNT_OF(gpu_columns), 2, NULL, compare_work },
	{ "cuda_api_trace", "CUPTI_ACTIVITY_KIND_RUNTIME", api_columns, COUNT_OF(api_columns), 0, NULL, compare_call_ends },
	{ "cuda_kern_exec_trace", "cuda_kernel_exec", exec_columns, COUNT_OF(exec_columns), 2, "apiStart", compare_kernels },
};

/* By what it is called in SQL. */
static const struct trace_kind *find_trace_kind(const char *name)
{
	size_t i = 0;

	while (i + 1 < COUNT_OF(kinds) && strcmp(kinds[i].name, name) != 0)
		i++;
	return &kinds[i];
}

static int trace_connect(sqlite3 *db, void *aux, int argc, const char *const *argv, sqlite3_vtab **ret, char **error)
{
	const struct trace_kind *kind = find_trace_kind(argv[0]);
	struct buf sql = BUF_INIT;
	struct trace_vtab *v;
	int r = buf_puts(&sql, "CREATE TABLE x(");

	for (unsigned i = 0; r >= 0 && i < kind->count; i++)
		r = buf_printf(&sql, "%s\"%s\" %s", i ? "," : "", kind->columns[i].name, kind->columns[i].declaration);
	if (r >= 0)
		r = buf_puts(&sql, ")");
	r = r < 0 ? SQLITE_NOMEM : vtab_connect(db, buf_cstr(&sql), sizeof(*v), ret);
	buf_release(&sql);
	if (r != SQLITE_OK)
		return r;
	v = (struct trace_vtab *)*ret;
	v->base.q = aux;
	v->kind = kind;
	v->table = query_table(v->base.q, kind->merged);
	for (unsigned i = 0; i < kind->count; i++)
		v->from[i] = kind->columns[i].from ? mapped_column_find(v->table, kind->columns[i].from) : -1;
	return SQLITE_OK;
}

static int trace_best_index(sqlite3_vtab *base, sqlite3_index_info *info)
{
	const struct trace_vtab *v = (const struct trace_vtab *)base;
	int first = (int)(v->kind->count - v->kind->arguments), r = function_best_index(info, first, (int)v->kind->arguments, 0);

	info->estimatedCost = 1e7;
	info->estimatedRows = 1000000;
	info->orderByConsumed = info->nOrderBy == 1 && info->aOrderBy[0].iColumn == 0 && !info->aOrderBy[0].desc;
	return r;
}

static int trace_open(sqlite3_vtab *base, sqlite3_vtab_cursor **ret)
{
	struct trace_cursor *c = calloc(1, sizeof(*c));

	if (!c)
		return SQLITE_NOMEM;
	c->v = (const struct trace_vtab *)base;
	c->q = c->v->base.q;
	c->start_column = mapped_column_find(c->v->table, "kernelStart");
	c->end_column = mapped_column_find(c->v->table, "end");
	c->kind_column = mapped_column_find(c->v->table, "kind");
	c->stream_column = mapped_column_find(c->v->table, "streamId");
	c->copy_column = mapped_column_find(c->v->table, "copyKind");
	c->nvtx_column = mapped_column_find(c->v->table, "nvtxName");
	c->domain_column = mapped_column_find(c->v->table, "nvtxDomain");
	*ret = &c->base;
	return SQLITE_OK;
}

static void clear_trace_cursor(struct trace_cursor *c)
{
	row_merge_free(c->merge);
	c->merge = NULL;
	for (size_t i = 0; i < c->device_count; i++)
		buf_release(&c->devices[i].text);
	free(c->devices);
	c->devices = NULL;
	c->device_count = 0;
}

static int trace_close(sqlite3_vtab_cursor *base)
{
	struct trace_cursor *c = (struct trace_cursor *)base;

	clear_trace_cursor(c);
	buf_release(&c->shown);
	buf_release(&c->other);
	free(c);
	return SQLITE_OK;
}

static int step_trace(struct trace_cursor *c)
{
	int r = row_merge_next(c->merge, &c->at);

	c->at_end = r <= 0;
	return function_code(r);
}

/* Arguments: which name of kernels is shown, and whether with the NVTX range around the launch. */
static int take_arguments(struct trace_cursor *c, int plan, int argc, sqlite3_value **argv)
{
	const char *by = function_argument(plan, 0, argc, argv), *nvtx = function_argument(plan, 1, argc, argv);
	struct error err;

	if (!by)
		by = "name";
	if (c->v->kind->arguments && strcmp(by, "name") != 0 && strcmp(by, "base") != 0 && strcmp(by, "mangled") != 0) {
		error_set(&err, EINVAL, "Kernels are shown by name, base or mangled, not by '%s'", by);
		return function_fail(&c->base, -EINVAL, &err);
	}
	c->name_column = mapped_column_find(c->v->table, by);
	c->with_nvtx = nvtx && strcmp(nvtx, "0") != 0;
	return SQLITE_OK;
}

static int trace_filter(sqlite3_vtab_cursor *base, int plan, const char *text, int argc, sqlite3_value **argv)
{
	struct trace_cursor *c = (struct trace_cursor *)base;
	struct row_merge_request request = { .table = c->v->table, .compare = c->v->kind->compare, .context = c };
	int r;

	clear_trace_cursor(c);
	r = take_arguments(c, plan, argc, argv);
	if (r != SQLITE_OK)
		return r;
	request.key_column = c->v->kind->key ? mapped_column_find(c->v->table, c->v->kind->key) : -1;
	if (c->kind_column >= 0) /* waiting is no work */
		request.conditions[request.condition_count++] = (struct condition){ (uint8_t)c->kind_column, COMPARE_LE, OP_GRAPH };
	if (row_merge_open(&c->merge, c->q, &request) < 0)
		return SQLITE_NOMEM;
	return step_trace(c);
}

static int trace_next(sqlite3_vtab_cursor *base)
{
	return step_trace((struct trace_cursor *)base);
}

static int trace_eof(sqlite3_vtab_cursor *base)
{
	return ((struct trace_cursor *)base)->at_end;
}

/* "NVIDIA H200 (0)" */
static int make_device(struct trace_cursor *c, struct device_label *ret)
{
	const struct cuda_index *x = c->q->index.cuda;
	const int64_t *gpu = index_find(&x->gpus, cuda_device_gpu(x, ret->process, ret->device));
	const char *name;
	size_t len;

	name = gpu ? query_text(c->q, gpu[GPU_NAME], &len) : NULL;
	if (name)
		TRY(buf_append(&ret->text, name, len));
	if (name)
		TRY(buf_puts(&ret->text, " "));
	return buf_printf(&ret->text, "(%lld)", (long long)ret->device);
}

static const struct buf *get_device_label(struct trace_cursor *c, int64_t device)
{
	struct device_label made = { c->at.scan->track ? c->at.scan->track[TRACK_PROCESS] : 0, device, BUF_INIT };

	for (size_t i = 0; i < c->device_count; i++)
		if (c->devices[i].device == device && c->devices[i].process == made.process)
			return &c->devices[i].text;
	if (!LIST_ROOM(c->devices, c->device_count))
		return NULL;
	if (make_device(c, &made) < 0) {
		buf_release(&made.text);
		return NULL;
	}
	c->devices[c->device_count] = made;
	return &c->devices[c->device_count++].text;
}

static int result_copied(sqlite3_context *context, const struct buf *text)
{
	if (!text)
		return SQLITE_NOMEM;
	sqlite3_result_text(context, text->data, (int)text->len, SQLITE_TRANSIENT);
	return SQLITE_OK;
}

static void result_throughput(sqlite3_context *context, const struct merged_row *at, int64_t bytes)
{
	const struct scan *s = at->scan;
	int64_t length = s->raw[0].values[at->row];
	struct scan_column *ends;

	if (scan_raw(at->scan, 1, &ends) < 0)
		return;
	length = (int64_t)((uint64_t)ends->values[at->row] - (uint64_t)length);
	if (length)
		sqlite3_result_double(context, (double)bytes * 1e9 / (double)length);
}

static int result_shown(sqlite3_context *context, struct trace_cursor *c)
{
	size_t len = 0;
	const char *text = shown_name(c, &c->at, &c->shown, &len);

	if (text)
		sqlite3_result_text(context, text, (int)len, text == c->shown.data ? SQLITE_TRANSIENT : SQLITE_STATIC);
	return SQLITE_OK;
}

/* The name of the last that had the number, as ThreadNames says. */
static void result_thread_name(sqlite3_context *context, struct trace_cursor *c, int64_t global_tid)
{
	const int64_t *life = index_find_last(&c->q->index.tids, &global_tid, 1);
	int64_t name = life ? index_thread_name(&c->q->index, life[LIFE_UID]) : 0;

	if (name)
		result_text(context, c->q, name);
}

/* As "%4d", behind a blank. */
static int append_padded(struct buf *to, int64_t number, int blank)
{
	char digits[4];
	int at = 4;

	if (number < 0 || number > 9999)
		return buf_printf(to, "%s%4lld", blank ? " " : "", (long long)number);
	do
		digits[--at] = (char)('0' + number % 10);
	while (number /= 10);
	while (at > 0)
		digits[--at] = ' ';
	return blank && buf_append(to, " ", 1) < 0 ? -ENOMEM : buf_append(to, digits, sizeof(digits));
}

/* "  12    1    1"; columns of y and z are behind that of x. */
static int result_shape(sqlite3_context *context, struct trace_cursor *c, int column)
{
	struct buf *text = &c->other;
	int64_t number;
	int r = 0;

	buf_clear(text);
	for (int i = 0; r >= 0 && i < 3; i++) {
		if (!get_trace_value(&c->at, column + i, &number))
			number = 0;
		r = append_padded(text, number, i > 0);
	}
	return r < 0 ? SQLITE_NOMEM : result_copied(context, text);
}

static int result_made(sqlite3_context *context, struct trace_cursor *c, int column, int64_t value)
{
	switch (c->v->kind->columns[column].made) {
	case MADE_THROUGHPUT: result_throughput(context, &c->at, value); break;
	case MADE_SOURCE:
	case MADE_TARGET: sqlite3_result_text(context, cuda_memory_label(value), -1, SQLITE_STATIC); break;
	case MADE_DEVICE: return result_copied(context, get_device_label(c, value));
	case MADE_GREEN:
		if (value)
			sqlite3_result_int64(context, value);
		break;
	case MADE_PID: sqlite3_result_int64(context, value >> 24 & 0xffffff); break;
	case MADE_TID: sqlite3_result_int64(context, value & 0xffffff); break;
	case MADE_THREAD_NAME: result_thread_name(context, c, value); break;
	default: break;
	}
	return SQLITE_OK;
}

static int trace_column(sqlite3_vtab_cursor *base, sqlite3_context *context, int column)
{
	struct trace_cursor *c = (struct trace_cursor *)base;
	const struct trace_column *shown = &c->v->kind->columns[column];
	int64_t value;

	if (shown->made == MADE_SHOWN)
		return result_shown(context, c);
	if (shown->made == MADE_GRID || shown->made == MADE_BLOCK)
		return result_shape(context, c, c->v->from[column]);
	if (shown->made == MADE_ARGUMENT || !get_trace_value(&c->at, c->v->from[column], &value))
		return SQLITE_OK; /* null */
	if (shown->made != MADE_NOT)
		return result_made(context, c, column, value);
	if (shown->declaration[0] == 'T')
		result_text(context, c->q, value);
	else
		sqlite3_result_int64(context, value);
	return SQLITE_OK;
}

static int trace_rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *ret)
{
	const struct merged_row *at = &((struct trace_cursor *)base)->at;
	const struct mapped_source *source = &at->scan->table->sources[at->scan->source];
	uint64_t first = report_group(at->scan->q->report, source->table, at->scan->group)->first_row;

	*ret = (sqlite3_int64)((uint64_t)at->scan->source << 56 | (first + at->row + 1));
	return SQLITE_OK;
}

const sqlite3_module cuda_trace_module = FUNCTION_MODULE(trace, trace_best_index);
