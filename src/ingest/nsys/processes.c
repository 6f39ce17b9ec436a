/* Processes, threads and the tracks of both. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "ingest/nsys/internal.h"

/* HW:8 | VM:8 | PID:24 | TID:24 */
#define OF_TID INT64_C(0xffffff)
#define PID_OF(id) ((id) >> 24 & OF_TID)
#define TID_OF(id) ((id)&OF_TID)
#define MACHINE_OF(id) ((id) >> 48 & 0xffff)

void nsys_fail_without_memory(struct nsys *n)
{
	if (!n->sink.result)
		n->sink.result = -ENOMEM;
}

int nsys_room(struct nsys *n, void *array, uint32_t count, size_t size)
{
	if (list_grow(array, count, size))
		return 0;
	nsys_fail_without_memory(n);
	return -1;
}

static uint32_t process_index(struct nsys *n, int64_t id)
{
	int64_t key = id & ~OF_TID;
	uint64_t found = nsys_map_find(&n->process_ids, key);

	if (found)
		return (uint32_t)found - 1;
	if (nsys_room(n, &n->processes, n->process_count, sizeof(*n->processes)) < 0 ||
	    nsys_map_put(&n->process_ids, key, n->process_count + 1) < 0) {
		nsys_fail_without_memory(n);
		return UINT32_MAX;
	}
	n->processes[n->process_count] = (struct nsys_process){ .id = key };
	return n->process_count++;
}

struct nsys_process *nsys_process(struct nsys *n, int64_t global_id)
{
	uint32_t index = process_index(n, global_id);

	return index == UINT32_MAX ? NULL : &n->processes[index];
}

uint64_t nsys_process_uid(struct nsys *n, int64_t global_id)
{
	uint32_t index = process_index(n, global_id);

	return index == UINT32_MAX ? 0 : index + 1;
}

struct nsys_thread *nsys_thread(struct nsys *n, int64_t global_tid)
{
	uint64_t found = nsys_map_find(&n->thread_ids, global_tid);
	uint32_t process;

	if (found)
		return &n->threads[found - 1];
	process = process_index(n, global_tid);
	if (process == UINT32_MAX || nsys_room(n, &n->threads, n->thread_count, sizeof(*n->threads)) < 0 ||
	    nsys_map_put(&n->thread_ids, global_tid, n->thread_count + 1) < 0) {
		nsys_fail_without_memory(n);
		return NULL;
	}
	n->threads[n->thread_count] = (struct nsys_thread){ .id = global_tid, .process = process, .priority = NSYS_NOT_TOLD };
	return &n->threads[n->thread_count++];
}

uint64_t nsys_thread_uid(const struct nsys *n, const struct nsys_thread *t)
{
	return t ? (uint64_t)(t - n->threads) + 1 : 0;
}

struct nsys_thread *nsys_row_thread(const struct nsys_rows *rows, unsigned column)
{
	int64_t id;

	return nsys_number(rows, column, &id) ? nsys_thread(rows->n, id) : NULL;
}

uint64_t nsys_row_process(const struct nsys_rows *rows, unsigned column)
{
	int64_t id;

	return nsys_number(rows, column, &id) ? nsys_process_uid(rows->n, id) : 0;
}

/* Rows of a table mostly have the columns they can have; those that never do cost nothing in the report. */
static uint32_t columns_of(enum table_id table)
{
	return (uint32_t)((UINT64_C(1) << table_schema(table)->column_count) - 1);
}

static struct sink_track *new_track(struct nsys *n, uint32_t number, const int64_t *key)
{
	struct sink_track *t = sink_track(&n->sink, (enum track_kind)key[0], (enum table_id)key[1], columns_of((enum table_id)key[1]));

	if (!t || nsys_room(n, &n->tracks, number, sizeof(*n->tracks)) < 0)
		return NULL;
	t->process = (uint64_t)key[2];
	t->thread = (uint64_t)key[3];
	t->domain = (uint64_t)key[4];
	n->tracks[number] = t;
	return t;
}

struct sink_track *nsys_track(struct nsys *n, enum track_kind kind, enum table_id table, uint64_t process, uint64_t thread, uint64_t domain,
			      uint64_t other)
{
	const int64_t key[] = { kind, table, (int64_t)process, (int64_t)thread, (int64_t)domain, (int64_t)other };
	uint32_t count = n->track_keys.count, number;

	_Static_assert(sizeof(key) == sizeof(n->last.key), "the last key is kept whole");
	if (n->last.track && memcmp(key, n->last.key, sizeof(key)) == 0)
		return n->last.track;
	number = keymap_number(&n->track_keys, key, sizeof(key));
	if (number == KEYMAP_NONE) {
		nsys_fail_without_memory(n);
		return NULL;
	}
	memcpy(n->last.key, key, sizeof(key));
	n->last.track = number == count ? new_track(n, number, key) : n->tracks[number];
	return n->last.track;
}

struct sink_track *nsys_thread_track(struct nsys *n, enum track_kind kind, enum table_id table, const struct nsys_thread *t,
				     uint64_t domain, uint64_t other)
{
	return nsys_track(n, kind, table, t ? t->process + 1 : 0, nsys_thread_uid(n, t), domain, other);
}

/* Names, before anything else: threads and processes come in the order of these tables. */
void nsys_read_names(struct nsys *n)
{
	struct nsys_process *process;
	struct nsys_thread *thread;
	struct nsys_rows rows;
	int64_t id;

	if (nsys_rows_open(&rows, n, &nsys_tables[NSYS_PROCESSES])) {
		while (nsys_rows_next(&rows))
			if (nsys_number(&rows, NSYS_AT(PROCESSES, globalPid), &id) && (process = nsys_process(n, id)) != NULL)
				process->name = nsys_text(&rows, NSYS_AT(PROCESSES, name));
		nsys_rows_close(&rows);
	}
	if (nsys_rows_open(&rows, n, &nsys_tables[NSYS_ThreadNames])) {
		while (nsys_rows_next(&rows))
			if ((thread = nsys_row_thread(&rows, NSYS_AT(ThreadNames, globalTid))) != NULL) {
				thread->name = nsys_string(&rows, NSYS_AT(ThreadNames, nameId));
				thread->priority = nsys_number_or(&rows, NSYS_AT(ThreadNames, priority), NSYS_NOT_TOLD);
			}
		nsys_rows_close(&rows);
	}
}

static void write_nsys_process(struct nsys *n, const struct nsys_process *p)
{
	uint32_t present = SINK_BIT(COLUMN_PROCESS_UID) | SINK_BIT(COLUMN_PROCESS_PID) | SINK_BIT(COLUMN_PROCESS_INNER_PID) |
			   SINK_BIT(COLUMN_PROCESS_START) | SINK_BIT(COLUMN_PROCESS_ORIGIN) | SINK_BIT(COLUMN_PROCESS_MACHINE);
	int64_t v[TABLE_MAX_COLUMNS];

	v[COLUMN_PROCESS_UID] = p - n->processes + 1;
	v[COLUMN_PROCESS_MACHINE] = MACHINE_OF(p->id);
	v[COLUMN_PROCESS_PID] = PID_OF(p->id);
	v[COLUMN_PROCESS_INNER_PID] = PID_OF(p->id);
	v[COLUMN_PROCESS_START] = 0;
	v[COLUMN_PROCESS_ORIGIN] = 0;
	v[COLUMN_PROCESS_NAME] = (int64_t)p->name;
	present |= p->name ? SINK_BIT(COLUMN_PROCESS_NAME) : 0;
	sink_row(&n->sink, TABLE_PROCESS, v, present);
}

static void write_nsys_thread(struct nsys *n, const struct nsys_thread *t)
{
	uint32_t present = SINK_BIT(COLUMN_THREAD_UID) | SINK_BIT(COLUMN_THREAD_PROCESS) | SINK_BIT(COLUMN_THREAD_TID) |
			   SINK_BIT(COLUMN_THREAD_INNER_TID) | SINK_BIT(COLUMN_THREAD_START);
	int64_t v[TABLE_MAX_COLUMNS];

	v[COLUMN_THREAD_UID] = t - n->threads + 1;
	v[COLUMN_THREAD_PROCESS] = t->process + 1;
	v[COLUMN_THREAD_TID] = TID_OF(t->id);
	v[COLUMN_THREAD_INNER_TID] = TID_OF(t->id);
	v[COLUMN_THREAD_START] = 0;
	v[COLUMN_THREAD_NAME] = (int64_t)t->name;
	v[COLUMN_THREAD_PRIORITY] = t->priority;
	present |= t->name ? SINK_BIT(COLUMN_THREAD_NAME) : 0;
	present |= t->priority != NSYS_NOT_TOLD ? SINK_BIT(COLUMN_THREAD_PRIORITY) : 0;
	sink_row(&n->sink, TABLE_THREAD, v, present);
}

void nsys_places_finish(struct nsys *n)
{
	/* Threads of the kernel are of no process. */
	for (uint32_t i = 0; i < n->process_count; i++)
		if (PID_OF(n->processes[i].id) || n->processes[i].name)
			write_nsys_process(n, &n->processes[i]);
	for (uint32_t i = 0; i < n->thread_count; i++)
		write_nsys_thread(n, &n->threads[i]);
}
