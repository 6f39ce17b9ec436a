#include "view/report/event_names.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/macros.h"
#include "base/sort.h"
#include "fmt/gpu_enums.h"
#include "view/report/view_report.h"

#define MADE_NUMBER_BITS 24
#define MADE_NUMBER_MASK ((1u << MADE_NUMBER_BITS) - 1)

uint32_t name_make(enum made_name kind, int64_t number)
{
	if (number < 0 || number > (int64_t)MADE_NUMBER_MASK)
		number = MADE_NUMBER_MASK;
	return NAME_MADE | (uint32_t)kind << MADE_NUMBER_BITS | (uint32_t)number;
}

static uint32_t of_table(enum table_id table, int64_t number)
{
	return name_make((enum made_name)(MADE_OF_TABLE + table), number);
}

static uint32_t launch_name(const struct view_report *r, int64_t launch)
{
	const int64_t *row = cuda_launch(r->index.cuda, launch);

	if (!row)
		return of_table(TABLE_GPU_KERNEL, 0);
	return r->launch_names[(size_t)(row - r->index.cuda->launches.rows) / LAUNCH_WIDTH];
}

/* Calls are called without their version, as nsys prints them. */
static uint32_t call_name(const struct view_report *r, int64_t name)
{
	const struct index_table *names = &r->index.cuda->api_names;
	const int64_t *row = index_find(names, name);

	if (row)
		return name_make(MADE_CALL, (row - names->rows) / API_NAME_WIDTH);
	return name > 0 && name < (int64_t)NAME_MADE ? (uint32_t)name : 0;
}

/* How events are coloured; CLASS_OTHER on a stream: as what computes. */
/* clang-format off */
static const uint8_t classes[TABLE_ID_LIMIT] = {
	[TABLE_SLICE] = CLASS_RANGE,	     [TABLE_INSTANT] = CLASS_RANGE,	[TABLE_OSRT] = CLASS_OS,
	[TABLE_CUDA_API] = CLASS_API,	     [TABLE_GPU_COPY] = CLASS_COPY,	[TABLE_GPU_SET] = CLASS_COPY,
	[TABLE_GPU_SYNC] = CLASS_WAIT,	     [TABLE_RUN] = CLASS_RUNNING,	[TABLE_CUDA_OVERHEAD] = CLASS_OVERHEAD,
	[TABLE_CUDA_JIT] = CLASS_OVERHEAD,   [TABLE_TORCH_OP] = CLASS_RANGE,
};
/* clang-format on */
_Static_assert(CLASS_OTHER == 0, "tables that are not named");

uint32_t find_name_id(const struct view_report *r, enum table_id table, int64_t value)
{
	if (table == TABLE_GPU_KERNEL)
		return launch_name(r, value);
	if (table == TABLE_CUDA_API)
		return call_name(r, value);
	if (table_tracks(table)) {
		int column = table_column(table, ROLE_NAME);

		if (column < 0 || table_schema(table)->columns[column].type != COLUMN_TYPE_STR)
			return of_table(table, column < 0 ? 0 : value);
	}
	return value > 0 && value < (int64_t)NAME_MADE ? (uint32_t)value : 0;
}

uint32_t name_in(const struct view_report *r, const struct row_group *p, int64_t value)
{
	if (p->derived)
		return value > 0 && value <= UINT32_MAX ? (uint32_t)value : 0;
	return find_name_id(r, p->table, value);
}

static bool is_communication(const struct view_report *r, uint32_t name)
{
	return r->communication_count && bsearch(&name, r->communication, r->communication_count, sizeof(name), compare_uint32) != NULL;
}

/* What was made tells its class by the kind of its name. */
static enum color_class made_class(unsigned kind)
{
	switch (kind) {
	case MADE_THREAD: return CLASS_RUNNING;
	case MADE_RUNNABLE:
	case MADE_PREEMPTED: return CLASS_READY;
	case MADE_BLOCKED:
	case MADE_NOT_SPLIT: return CLASS_WAIT;
	default: return CLASS_OTHER;
	}
}

enum color_class name_class(const struct view_report *r, enum table_id table, uint32_t name)
{
	if (name >= NAME_MADE && (table == TABLE_SLICE || table == TABLE_INSTANT))
		return made_class((name & ~NAME_MADE) >> MADE_NUMBER_BITS);
	if (table == TABLE_GPU_KERNEL && is_communication(r, name))
		return CLASS_COMMUNICATION;
	if (classes[table] == CLASS_OTHER && table_is_work(table))
		return CLASS_COMPUTE;
	return (enum color_class)classes[table];
}

static bool says_communication(struct view_report *r, uint32_t name)
{
	static const char *const words[] = { "nccl", "nvshmem", "AllReduce", "all_reduce", "rccl" };
	size_t len;
	const char *text = name < NAME_MADE ? view_report_text(r, name, &len) : NULL;

	for (size_t i = 0; text && i < COUNT_OF(words); i++)
		if (strstr(text, words[i]))
			return true;
	return false;
}

int name_load_launches(struct view_report *r)
{
	const struct index_table *launches = &r->index.cuda->launches;
	const int64_t *row = launches->rows;
	size_t count = launches->count;
	uint32_t *names = r->launch_names = calloc(count + 1, sizeof(*names));
	uint32_t *sorted = r->communication = calloc(count + 1, sizeof(*sorted));

	if (!names || !sorted)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++, row += LAUNCH_WIDTH) {
		int64_t id = row[LAUNCH_SHORT_NAME] ? row[LAUNCH_SHORT_NAME] : row[LAUNCH_NAME];

		names[i] = sorted[i] = id > 0 && id < (int64_t)NAME_MADE ? (uint32_t)id : of_table(TABLE_GPU_KERNEL, 0);
	}
	sort_items(sorted, count, sizeof(*sorted), compare_uint32);
	for (size_t i = 0; i < count; i++)
		if (sorted[i] != names[count] && says_communication(r, sorted[i])) {
			names[count] = sorted[i]; /* the last one taken */
			sorted[r->communication_count++] = sorted[i];
		}
	return 0;
}

static const char *number_word(enum table_id table, uint32_t number)
{
	switch (table) {
	case TABLE_GPU_COPY: return gpu_copy_kind(number)->word;
	case TABLE_GPU_SYNC: return gpu_sync_kind(number)->word;
	case TABLE_GPU_MEMORY: return gpu_memory_operation_word(number);
	case TABLE_CUDA_JIT: return gpu_jit_operation_word(number);
	case TABLE_CUDA_OVERHEAD: return gpu_overhead_word(number);
	case TABLE_GPU_KERNEL: return table_tracks(table)->word;
	case TABLE_GPU_SWITCH: return number == 8 ? "context begins" : number == 7 ? "context ends" : NULL;
	default: return table_column(table, ROLE_NAME) < 0 ? table_tracks(table)->word : NULL;
	}
}

static int call_text(const struct view_report *r, uint32_t number, struct buf *ret)
{
	const struct index_table *names = &r->index.cuda->api_names;
	size_t len = 0;
	const char *text = number < names->count ?
				   cuda_made_text(r->index.cuda, names->rows[number * API_NAME_WIDTH + API_CLEAN_NAME], &len) :
				   NULL;

	return text ? buf_append(ret, text, len) : 0;
}

/* Process and thread; the page colours by what is before the point. */
static int thread_text(struct view_report *r, uint32_t number, struct buf *ret)
{
	const struct index_table *threads = &r->index.threads;
	const int64_t *thread = number < threads->count ? threads->rows + (size_t)number * threads->width : NULL;
	const int64_t *process = thread ? index_find(&r->index.processes, thread[THREAD_PROCESS]) : NULL;
	const char *name;
	size_t len;

	if (!thread)
		return buf_puts(ret, "thread");
	name = process ? view_report_text(r, (uint64_t)process[PROCESS_NAME], &len) : NULL;
	TRY(buf_printf(ret, "%s %lld \u00b7 ", name ? name : "process", process ? (long long)process[PROCESS_PID] : 0));
	name = view_report_text(r, (uint64_t)index_thread_name(&r->index, thread[THREAD_UID]), &len);
	return buf_printf(ret, "%s %lld", name ? name : "thread", (long long)thread[THREAD_TID]);
}

static int wait_text(struct view_report *r, unsigned kind, uint32_t number, struct buf *ret)
{
	const char *reason;
	size_t len;

	switch (kind) {
	case MADE_RUNNABLE: return buf_puts(ret, "woken, waits for a CPU");
	case MADE_PREEMPTED: return buf_puts(ret, "preempted, waits for a CPU");
	case MADE_UNKNOWN: return buf_puts(ret, "not known");
	default: break;
	}
	reason = number && number != MADE_NUMBER_MASK ? view_report_text(r, number, &len) : NULL;
	return reason ? buf_printf(ret, "blocked in %s", reason) : buf_puts(ret, "blocked");
}

static int table_text(enum table_id table, uint32_t number, struct buf *ret)
{
	const struct table_tracks *tracks = table_tracks(table);
	const char *word = tracks ? number_word(table, number) : NULL;

	if (!tracks)
		return 0;
	if (word || number == MADE_NUMBER_MASK)
		return buf_puts(ret, word ? word : tracks->word);
	return buf_printf(ret, "%s %u", tracks->word, number);
}

static int made_text(struct view_report *r, uint32_t name, struct buf *ret)
{
	unsigned kind = (name & ~NAME_MADE) >> MADE_NUMBER_BITS;
	uint32_t number = name & MADE_NUMBER_MASK;

	if (kind == MADE_CALL)
		return call_text(r, number, ret);
	if (kind == MADE_THREAD)
		return thread_text(r, number, ret);
	if (kind >= MADE_BLOCKED && kind <= MADE_UNKNOWN)
		return wait_text(r, kind, number, ret);
	return table_text((enum table_id)(kind - MADE_OF_TABLE), number, ret);
}

int name_text(struct view_report *r, uint32_t name, struct buf *ret)
{
	const char *text;
	size_t len;

	if (name >= NAME_MADE)
		return made_text(r, name, ret);
	text = view_report_text(r, name, &len);
	return text ? buf_append(ret, text, len) : 0;
}
