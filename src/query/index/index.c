#include "query/index/index.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/macros.h"
#include "query/index/cuda_index.h"
#include "query/index/file_calls.h"

#define GLOBAL_VM 1 /* the machine, where nothing else is told */
#define GLOBAL_MASK 0xffffff
#define FILE_CALL_MAX 2048 /* names; the recorder knows some hundreds of functions */
#define ORIGIN_FORK 2      /* enum wire_origin */

static int compare_index_rows(const void *a, const void *b, void *width)
{
	const int64_t *x = a, *y = b;

	for (unsigned i = 0; i < *(unsigned *)width; i++)
		if (x[i] != y[i])
			return x[i] < y[i] ? -1 : 1;
	return 0;
}

static int is_sorted(const struct index_table *t)
{
	unsigned width = t->width;

	for (size_t i = 1; i < t->count; i++)
		if (compare_index_rows(t->rows + (i - 1) * width, t->rows + i * width, &width) > 0)
			return 0;
	return 1;
}

void index_sort(struct index_table *t)
{
	unsigned width = t->width;

	if (t->count && !is_sorted(t))
		qsort_r(t->rows, t->count, width * sizeof(*t->rows), compare_index_rows, &width);
}

void index_sort_ids(struct index_table *t)
{
	size_t kept = 0;

	index_sort(t);
	for (size_t i = 0; i < t->count; i++)
		if (!kept || t->rows[i * t->width] != t->rows[(kept - 1) * t->width])
			memmove(t->rows + kept++ * t->width, t->rows + i * t->width, t->width * sizeof(*t->rows));
	t->count = kept;
}

static int allocate(struct index_table *t, unsigned width, uint64_t rows)
{
	t->width = width;
	t->count = 0;
	t->rows = NULL;
	if (rows == 0)
		return 0;
	if (rows > SIZE_MAX / sizeof(*t->rows) / width)
		return -ENOMEM;
	t->rows = malloc((size_t)rows * width * sizeof(*t->rows));
	return t->rows ? 0 : -ENOMEM;
}

/* Copies one group of `columns` into the table; a damaged group is left out, which the
 * report says in its notes. */
static int load_index_group(struct index_table *t, struct report *report, enum table_id table, size_t group, const uint8_t *columns)
{
	uint32_t rows = report_group(report, table, group)->rows;
	int64_t *values = malloc(rows * sizeof(*values));
	int r = 0;

	if (!values)
		return -ENOMEM;
	for (unsigned c = 0; c < t->width && r >= 0; c++) {
		r = report_column(report, table, group, columns[c], values, NULL);
		for (uint32_t i = 0; r >= 0 && i < rows; i++)
			t->rows[(t->count + i) * t->width + c] = values[i];
	}
	free(values);
	if (r >= 0)
		t->count += rows;
	return r == -ENOMEM ? r : 0;
}

int index_load(struct index_table *t, struct report *report, enum table_id table, unsigned width, const uint8_t *columns)
{
	uint64_t rows = 0;

	for (size_t i = 0; i < report_group_count(report, table); i++)
		rows += report_group(report, table, i)->rows;
	TRY(allocate(t, width, rows));
	for (size_t i = 0; t->rows && i < report_group_count(report, table); i++)
		TRY(load_index_group(t, report, table, i, columns));
	return 0;
}

int index_load_sorted(const struct index_source *sources, size_t count, struct report *report)
{
	int r = 0;

	for (size_t i = 0; r >= 0 && i < count; i++) {
		r = index_load(sources[i].to, report, sources[i].table, sources[i].width, sources[i].columns);
		if (r >= 0)
			(sources[i].has_ids ? index_sort_ids : index_sort)(sources[i].to);
	}
	return r;
}

static int report_machine(void *context, const int64_t *values, uint32_t present)
{
	struct index_table *processes = context;
	const int64_t *process = index_find(processes, values[COLUMN_PROCESS_UID]);

	if (process && !(present >> COLUMN_PROCESS_MACHINE & 1))
		processes->rows[process - processes->rows + PROCESS_MACHINE] = GLOBAL_VM;
	return 0;
}

static int load_processes(struct query_index *x, struct report *report)
{
	static const uint8_t columns[] = { COLUMN_PROCESS_UID,    COLUMN_PROCESS_PID,     COLUMN_PROCESS_NAME, COLUMN_PROCESS_PARENT,
					   COLUMN_PROCESS_ORIGIN, COLUMN_PROCESS_MACHINE, COLUMN_PROCESS_START };
	int r = index_load(&x->processes, report, TABLE_PROCESS, PROCESS_WIDTH, columns);
	int64_t *life;

	if (r < 0)
		return r;
	index_sort_ids(&x->processes);
	r = report_each_row(report, TABLE_PROCESS, COLUMN_PROCESS_MACHINE + 1, report_machine, &x->processes);
	if (r == -ENOMEM)
		return r;
	TRY(allocate(&x->pids, LIFE_WIDTH, x->processes.count));
	for (size_t i = 0; i < x->processes.count; i++) {
		life = x->pids.rows + i * LIFE_WIDTH;
		life[LIFE_UID] = x->processes.rows[i * PROCESS_WIDTH + PROCESS_UID];
		life[LIFE_START] = x->processes.rows[i * PROCESS_WIDTH + PROCESS_START];
		life[LIFE_NUMBER] = index_global_pid(x, life[LIFE_UID]);
	}
	x->pids.count = x->processes.count;
	index_sort(&x->pids);
	return 0;
}

static int load_threads(struct query_index *x, struct report *report)
{
	static const uint8_t columns[] = { COLUMN_THREAD_UID, COLUMN_THREAD_PROCESS, COLUMN_THREAD_TID, COLUMN_THREAD_NAME,
					   COLUMN_THREAD_START };
	int r = index_load(&x->threads, report, TABLE_THREAD, THREAD_WIDTH, columns);
	int64_t *life;

	if (r < 0)
		return r;
	index_sort_ids(&x->threads);
	TRY(allocate(&x->tids, LIFE_WIDTH, x->threads.count));
	for (size_t i = 0; i < x->threads.count; i++) {
		life = x->tids.rows + i * LIFE_WIDTH;
		life[LIFE_UID] = x->threads.rows[i * THREAD_WIDTH + THREAD_UID];
		life[LIFE_START] = x->threads.rows[i * THREAD_WIDTH + THREAD_START];
		life[LIFE_NUMBER] = index_global_tid(x, life[LIFE_UID]);
	}
	x->tids.count = x->threads.count;
	index_sort(&x->tids);
	return 0;
}

/* Names given to threads, in the order in which they were given. */
static int load_given_names(struct query_index *x, struct report *report)
{
	static const uint8_t columns[] = { COLUMN_THREAD_NAME_PROCESS, COLUMN_THREAD_NAME_TID, COLUMN_THREAD_NAME_TIME,
					   COLUMN_THREAD_NAME_NAME };

	TRY(index_load(&x->given_names, report, TABLE_THREAD_NAME, GIVEN_WIDTH, columns));
	for (size_t i = 0; i < x->given_names.count; i++)
		x->given_names.rows[i * GIVEN_WIDTH + GIVEN_ORDER] = (int64_t)i;
	index_sort(&x->given_names);
	return 0;
}

static int load_payload_schemas(struct query_index *x, struct report *report)
{
	static const uint8_t schema_columns[] = { COLUMN_NVTX_SCHEMA_PROCESS, COLUMN_NVTX_SCHEMA_DOMAIN, COLUMN_NVTX_SCHEMA_ID,
						  COLUMN_NVTX_SCHEMA_TYPE,    COLUMN_NVTX_SCHEMA_SIZE,   COLUMN_NVTX_SCHEMA_ALIGN };
	/* clang-format off */
	static const uint8_t columns[] = {
		COLUMN_NVTX_SCHEMA_ENTRY_PROCESS, COLUMN_NVTX_SCHEMA_ENTRY_DOMAIN,
		COLUMN_NVTX_SCHEMA_ENTRY_SCHEMA, COLUMN_NVTX_SCHEMA_ENTRY_INDEX,
		COLUMN_NVTX_SCHEMA_ENTRY_TYPE, COLUMN_NVTX_SCHEMA_ENTRY_NAME,
		COLUMN_NVTX_SCHEMA_ENTRY_OFFSET, COLUMN_NVTX_SCHEMA_ENTRY_DETAIL,
		COLUMN_NVTX_SCHEMA_ENTRY_FLAGS
	};
	/* clang-format on */

	TRY(index_load(&x->payload_schemas, report, TABLE_NVTX_SCHEMA, SCHEMA_WIDTH, schema_columns));
	TRY(index_load(&x->payload_entries, report, TABLE_NVTX_SCHEMA_ENTRY, ENTRY_WIDTH, columns));
	index_sort(&x->payload_schemas);
	index_sort(&x->payload_entries);
	return 0;
}

static int load_registered(struct query_index *x, struct report *report)
{
	static const uint8_t columns[] = { COLUMN_NVTX_STRING_PROCESS, COLUMN_NVTX_STRING_ID, COLUMN_NVTX_STRING_NAME };
	static const uint8_t handle_columns[] = { COLUMN_NVTX_STRING_PROCESS, COLUMN_NVTX_STRING_HANDLE, COLUMN_NVTX_STRING_NAME };

	TRY(index_load(&x->registered, report, TABLE_NVTX_STRING, REGISTERED_WIDTH, columns));
	TRY(index_load(&x->handles, report, TABLE_NVTX_STRING, REGISTERED_WIDTH, handle_columns));
	index_sort(&x->registered);
	index_sort(&x->handles);
	return 0;
}

int index_load_args(struct query_index *x, struct report *report)
{
	static const uint8_t columns[] = { COLUMN_ARG_SET, COLUMN_ARG_KEY, COLUMN_ARG_BLOB, COLUMN_ARG_SCHEMA, COLUMN_ARG_INTEGER };

	if (x->args_loaded)
		return 0;
	TRY(index_load(&x->args, report, TABLE_ARG, ARG_WIDTH, columns));
	/* The order in the file is that of the calls. */
	for (size_t i = 0; i < x->args.count; i++)
		x->args.rows[i * ARG_WIDTH + ARG_ORDER] = (int64_t)i;
	index_sort(&x->args);
	x->args_loaded = 1;
	return 0;
}

/* The names of functions are few, the calls many: each is looked at once, and before several threads
 * read the columns. Only recordings of file accesses need it. */
static int note_file_call(struct index_table *t, struct report *report, int64_t name)
{
	const char *text = report_text(report, (uint64_t)name, NULL);
	int64_t *grown;

	for (size_t i = 0; i < t->count; i++)
		if (t->rows[i * FILE_CALL_WIDTH + FILE_CALL_NAME] == name)
			return 0;
	if (t->count >= FILE_CALL_MAX || !text)
		return 0;
	grown = realloc(t->rows, (t->count + 1) * FILE_CALL_WIDTH * sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	t->rows = grown;
	grown[t->count * FILE_CALL_WIDTH + FILE_CALL_NAME] = name;
	grown[t->count * FILE_CALL_WIDTH + FILE_CALL_KIND] = file_call_of(text);
	t->count++;
	return 0;
}

static int note_group(struct index_table *t, struct report *report, size_t group)
{
	uint32_t rows = report_group(report, TABLE_OSRT, group)->rows;
	int64_t *names = malloc(rows * sizeof(*names)), *last[64] = { 0 };
	int r = names ? report_column(report, TABLE_OSRT, group, COLUMN_OSRT_NAME, names, NULL) : -ENOMEM;

	for (uint32_t i = 0; r >= 0 && i < rows; i++) {
		if (last[names[i] & 63] && *last[names[i] & 63] == names[i])
			continue;
		last[names[i] & 63] = &names[i];
		r = note_file_call(t, report, names[i]);
	}
	free(names);
	return r == -ENOMEM ? r : 0;
}

static int load_file_calls(struct query_index *x, struct report *report)
{
	int r = 0;

	x->file_calls.width = FILE_CALL_WIDTH;
	if (report_row_count(report, TABLE_FILE) == 0)
		return 0;
	for (size_t i = 0; r >= 0 && i < report_group_count(report, TABLE_OSRT); i++)
		r = note_group(&x->file_calls, report, i);
	index_sort(&x->file_calls);
	return r;
}

int64_t index_file_call(const struct query_index *x, int64_t name)
{
	const int64_t *row = index_find(&x->file_calls, name);

	return row ? row[FILE_CALL_KIND] : FILE_CALL_OTHER;
}

static int load_payload_enums(struct query_index *x, struct report *report)
{
	static const uint8_t columns[] = { COLUMN_NVTX_ENUM_PROCESS, COLUMN_NVTX_ENUM_DOMAIN, COLUMN_NVTX_ENUM_SCHEMA,
					   COLUMN_NVTX_ENUM_SIZE };
	static const uint8_t label_columns[] = { COLUMN_NVTX_ENUM_ENTRY_PROCESS, COLUMN_NVTX_ENUM_ENTRY_DOMAIN,
						 COLUMN_NVTX_ENUM_ENTRY_SCHEMA,  COLUMN_NVTX_ENUM_ENTRY_VALUE,
						 COLUMN_NVTX_ENUM_ENTRY_NAME,    COLUMN_NVTX_ENUM_ENTRY_IS_FLAG };

	TRY(index_load(&x->payload_enums, report, TABLE_NVTX_ENUM, ENUM_WIDTH, columns));
	TRY(index_load(&x->payload_labels, report, TABLE_NVTX_ENUM_ENTRY, LABEL_WIDTH, label_columns));
	index_sort(&x->payload_enums);
	index_sort(&x->payload_labels);
	return 0;
}

static int load_tracks_and_domains(struct query_index *x, struct report *report)
{
	static const uint8_t track_columns[] = { COLUMN_TRACK_ID,     COLUMN_TRACK_KIND,   COLUMN_TRACK_PROCESS,
						 COLUMN_TRACK_THREAD, COLUMN_TRACK_DOMAIN, COLUMN_TRACK_DEPTH };
	static const uint8_t domain_columns[] = { COLUMN_NVTX_DOMAIN_UID, COLUMN_NVTX_DOMAIN_PROCESS, COLUMN_NVTX_DOMAIN_ID,
						  COLUMN_NVTX_DOMAIN_NAME };

	TRY(index_load(&x->tracks, report, TABLE_TRACK, TRACK_WIDTH, track_columns));
	TRY(index_load(&x->domains, report, TABLE_NVTX_DOMAIN, DOMAIN_WIDTH, domain_columns));
	index_sort_ids(&x->tracks);
	index_sort(&x->domains);
	return 0;
}

int query_index_load(struct query_index *ret, struct report *report, struct error *err)
{
	int r;

	memset(ret, 0, sizeof(*ret));
	r = load_processes(ret, report);
	if (r >= 0)
		r = load_threads(ret, report);
	if (r >= 0)
		r = load_given_names(ret, report);
	if (r >= 0)
		r = load_tracks_and_domains(ret, report);
	if (r >= 0)
		r = load_payload_schemas(ret, report);
	if (r >= 0)
		r = load_payload_enums(ret, report);
	if (r >= 0)
		r = load_registered(ret, report);
	if (r >= 0)
		r = load_file_calls(ret, report);
	if (r >= 0)
		r = cuda_index_load(&ret->cuda, report);
	if (r < 0) {
		query_index_release(ret);
		return error_set(err, -r, "Not enough memory to open the report");
	}
	return 0;
}

void query_index_release(struct query_index *x)
{
	/* clang-format off */
	struct index_table *all[] = { &x->processes, &x->threads, &x->tracks, &x->domains,
				      &x->pids, &x->tids, &x->given_names, &x->payload_schemas,
				      &x->payload_entries, &x->payload_enums, &x->payload_labels,
				      &x->registered, &x->handles, &x->file_calls, &x->args };
	/* clang-format on */

	for (size_t i = 0; i < COUNT_OF(all); i++)
		free(all[i]->rows);
	cuda_index_free(x->cuda);
	memset(x, 0, sizeof(*x));
}

size_t index_lower_bound(const struct index_table *t, const int64_t *key, unsigned depth)
{
	size_t low = 0, high = t->count, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (compare_index_rows(t->rows + middle * t->width, key, &depth) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

const int64_t *index_find(const struct index_table *t, int64_t key)
{
	size_t i = index_lower_bound(t, &key, 1);

	if (i == t->count || t->rows[i * t->width] != key)
		return NULL;
	return t->rows + i * t->width;
}

const int64_t *index_find_last(const struct index_table *t, const int64_t *key, unsigned depth)
{
	size_t low = 0, high = t->count, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (compare_index_rows(t->rows + middle * t->width, key, &depth) <= 0)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == 0 || compare_index_rows(t->rows + (low - 1) * t->width, key, &depth) != 0)
		return NULL;
	return t->rows + (low - 1) * t->width;
}

static int64_t global_id(int64_t machine, int64_t pid, int64_t tid)
{
	return (int64_t)((uint64_t)machine << 48) | (pid & GLOBAL_MASK) << 24 | (tid & GLOBAL_MASK);
}

/* What is of no process is taken for the first one's machine. */
int64_t index_global_id(const struct query_index *x, int64_t pid)
{
	return global_id(x->processes.count ? x->processes.rows[PROCESS_MACHINE] : GLOBAL_VM, pid, 0);
}

int64_t index_process_tid(const struct query_index *x, int64_t process_uid, int64_t tid)
{
	const int64_t *process = index_find(&x->processes, process_uid);

	return process ? global_id(process[PROCESS_MACHINE], process[PROCESS_PID], tid) : index_global_id(x, 0) | (tid & GLOBAL_MASK);
}

int64_t index_global_pid(const struct query_index *x, int64_t process_uid)
{
	return index_process_tid(x, process_uid, 0);
}

int64_t index_global_tid(const struct query_index *x, int64_t thread_uid)
{
	const int64_t *thread = index_find(&x->threads, thread_uid);

	return thread ? index_process_tid(x, thread[THREAD_PROCESS], thread[THREAD_TID]) : index_global_id(x, 0);
}

int64_t index_forked_from(const struct query_index *x, int64_t process_uid)
{
	const int64_t *process = index_find(&x->processes, process_uid);

	return process && process[PROCESS_ORIGIN] == ORIGIN_FORK ? process[PROCESS_PARENT] : 0;
}

int64_t index_thread_name(const struct query_index *x, int64_t thread_uid)
{
	const int64_t *thread = index_find(&x->threads, thread_uid), *given;

	if (!thread)
		return 0;
	given = index_find_last(&x->given_names, thread + THREAD_PROCESS, 2);
	return given ? given[GIVEN_NAME] : thread[THREAD_NAME_ID];
}
