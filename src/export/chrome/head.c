/* What a Kineto trace has besides its events, and the events that give names. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/keymap.h"
#include "base/macros.h"
#include "base/text/path.h"
#include "export/chrome/chrome.h"

/* Rows of rows: GPUs are shown behind processes. */
#define GPU_SORT_INDEX 5000000
/* Linux gives processes numbers below 4194304. */
#define NO_PROCESS_FROM (1 << 24)

int64_t chrome_device(const struct chrome *c, const int64_t *stream)
{
	uint64_t number = idmap_get(&c->gpu_processes, (uint64_t)stream[STREAM_PROCESS]);

	return number == IDMAP_NONE ? stream[STREAM_DEVICE] : time_sum(stream[STREAM_DEVICE], (int64_t)(number - 1) * CHROME_DEVICES);
}

int64_t chrome_gpu_pid(const struct chrome *c, const int64_t *stream)
{
	return time_sum(chrome_device(c, stream), c->first_gpu_pid);
}

/* Kineto's rows of GPUs have the device's number as their pid, and so have ours, unless a process of the report has it (the first
 * one in a container is 1). What was imported is as it was. */
static int choose_gpu_pids(struct chrome *c)
{
	const struct index_table *streams = &c->t.q->index.cuda->streams, *processes = &c->t.q->index.processes;
	struct idmap pids = { 0 };
	int r = 0;

	for (size_t i = 0; r >= 0 && i < processes->count; i++)
		r = idmap_put(&pids, (uint64_t)processes->rows[i * processes->width + PROCESS_PID], 1);
	for (size_t i = 0; r >= 0 && !c->imported && !c->first_gpu_pid && i < streams->count; i++)
		if (idmap_get(&pids, (uint64_t)chrome_device(c, streams->rows + i * STREAM_WIDTH)) != IDMAP_NONE)
			c->first_gpu_pid = NO_PROCESS_FROM;
	idmap_release(&pids);
	return r;
}

static int list_gpu_processes(struct chrome *c)
{
	const struct index_table *streams = &c->t.q->index.cuda->streams;
	bool is_new;

	for (size_t i = 0; i < streams->count; i++)
		if (!idmap_number(&c->gpu_processes, (uint64_t)streams->rows[i * STREAM_WIDTH + STREAM_PROCESS], &is_new))
			return -ENOMEM;
	return 0;
}

static sqlite3_stmt *prepare_head_query(struct chrome *c, const char *sql)
{
	sqlite3_stmt *statement;

	return sqlite3_prepare_v2(c->e->db, sql, -1, &statement, NULL) == SQLITE_OK ? statement : NULL;
}

static void put_head_value(struct chrome *c, sqlite3_stmt *row, int column)
{
	const char *text;
	size_t len;

	if (sqlite3_column_type(row, column) == SQLITE_INTEGER) {
		json_put_integer(c->out, sqlite3_column_int64(row, column));
		return;
	}
	text = (const char *)sqlite3_column_text(row, column);
	len = (size_t)sqlite3_column_bytes(row, column);
	if (timeline_is_json(text ? text : "", len))
		fwrite_unlocked(text, 1, len, c->out);
	else
		json_put_text(c->out, text ? text : "", len);
}

/* Properties by Kineto's names of them. */
#define DEVICES "SELECT \"index\", name, memory, major, minor, sm_count, attributes, uid FROM sonde_gpu ORDER BY uid"
#define ATTRIBUTES \
	"SELECT CASE key WHEN 'maxThreadsPerBlock' THEN key WHEN 'maxRegistersPerBlock' THEN 'regsPerBlock' " \
	"WHEN 'threadsPerWarp' THEN 'warpSize' WHEN 'maxShmemPerBlock' THEN 'sharedMemPerBlock' " \
	"WHEN 'maxRegistersPerSm' THEN 'regsPerMultiprocessor' " \
	"WHEN 'maxShmemPerBlockOptin' THEN 'sharedMemPerBlockOptin' " \
	"WHEN 'maxShmemPerSm' THEN 'sharedMemPerMultiprocessor' " \
	"WHEN 'maxWarpsPerSm' THEN 'maxThreadsPerMultiprocessor' END AS kineto, " \
	"CASE key WHEN 'maxWarpsPerSm' THEN integer * 32 ELSE integer END FROM sonde_arg WHERE \"set\" = ?1 AND kineto NOTNULL"

static void put_attributes(struct chrome *c, int64_t set)
{
	sqlite3_stmt *row = prepare_head_query(c, ATTRIBUTES);

	if (row)
		sqlite3_bind_int64(row, 1, set);
	while (row && sqlite3_step(row) == SQLITE_ROW) {
		chrome_key(c, (const char *)sqlite3_column_text(row, 0));
		put_head_value(c, row, 1);
	}
	sqlite3_finalize(row);
}

static void put_devices(struct chrome *c)
{
	static const char *const keys[] = { "id", "name", "totalGlobalMem", "computeMajor", "computeMinor", "numSms" };
	sqlite3_stmt *row = prepare_head_query(c, DEVICES);
	bool any = false;

	fputs_unlocked(",\n\"deviceProperties\":[", c->out);
	while (row && sqlite3_step(row) == SQLITE_ROW) {
		fputs_unlocked(any ? ",\n{" : "\n{", c->out);
		any = true;
		for (int i = 0; i < 6; i++) {
			if (i && sqlite3_column_type(row, i) == SQLITE_NULL)
				continue;
			fprintf(c->out, "%s\"%s\":", i ? "," : "", keys[i]);
			if (sqlite3_column_type(row, i) == SQLITE_NULL)
				json_put_integer(c->out, sqlite3_column_int64(row, 7) - 1);
			else
				put_head_value(c, row, i);
		}
		put_attributes(c, sqlite3_column_int64(row, 6));
		putc_unlocked('}', c->out);
	}
	sqlite3_finalize(row);
	putc_unlocked(']', c->out);
}

/* Who this rank is, by what the launcher of the program said. HTA looks for a space before the number. */
#define RANKS \
	"SELECT r.value, s.value FROM (SELECT column1 AS rank, column2 AS size FROM (VALUES('RANK', 'WORLD_SIZE'), " \
	"('OMPI_COMM_WORLD_RANK', 'OMPI_COMM_WORLD_SIZE'), ('PMI_RANK', 'PMI_SIZE'), ('SLURM_PROCID', 'SLURM_NTASKS'))) " \
	"JOIN (SELECT substr(value, 1, instr(value, '=') - 1) AS name, substr(value, instr(value, '=') + 1) AS value " \
	"FROM META_DATA_CAPTURE WHERE name LIKE 'PROCESS%:ENVIRONMENT_VARIABLE%') r ON r.name = rank " \
	"JOIN (SELECT substr(value, 1, instr(value, '=') - 1) AS name, substr(value, instr(value, '=') + 1) AS value " \
	"FROM META_DATA_CAPTURE WHERE name LIKE 'PROCESS%:ENVIRONMENT_VARIABLE%') s ON s.name = size " \
	"WHERE r.value <> '' AND r.value NOT GLOB '*[^0-9]*' AND s.value <> '' AND s.value NOT GLOB '*[^0-9]*' LIMIT 1"

static void put_rank(struct chrome *c)
{
	sqlite3_stmt *row = prepare_head_query(c, RANKS);

	if (row && sqlite3_step(row) == SQLITE_ROW)
		fprintf(c->out, ",\n\"distributedInfo\":{\"rank\": %lld, \"world_size\": %lld}", (long long)sqlite3_column_int64(row, 0),
			(long long)sqlite3_column_int64(row, 1));
	sqlite3_finalize(row);
}

/* Facts of an imported trace are told again; those with three parts are events that give names. */
static bool is_top_level(const char *key)
{
	static const char *const own[] = { "schemaVersion", "displayTimeUnit", "baseTimeNanoseconds", "traceEvents", "traceName" };

	for (size_t i = 0; i < COUNT_OF(own); i++)
		if (strcmp(key, own[i]) == 0)
			return false;
	return strncmp(key, "process_", 8) != 0 && strncmp(key, "thread_", 7) != 0;
}

#define FACTS "SELECT substr(key, 7), coalesce(number, value) FROM sonde_meta WHERE key LIKE 'trace.%'"

static void put_facts(struct chrome *c)
{
	sqlite3_stmt *row = prepare_head_query(c, FACTS);
	bool devices = false;
	const char *key;

	while (row && sqlite3_step(row) == SQLITE_ROW) {
		key = (const char *)sqlite3_column_text(row, 0);
		if (!key || !is_top_level(key))
			continue;
		devices |= strcmp(key, "deviceProperties") == 0;
		fputs_unlocked(",\n", c->out);
		json_put_text(c->out, key, strlen(key));
		putc_unlocked(':', c->out);
		put_head_value(c, row, 1);
	}
	sqlite3_finalize(row);
	if (!devices)
		put_devices(c);
	if (!c->imported)
		put_rank(c);
}

/* Times count from the base: the trace's own where it was imported (none in those of old releases, which have times as they
 * are), else the start of the recording. */
int chrome_begin(struct chrome *c)
{
	int64_t base = timeline_meta(&c->t, "trace.baseTimeNanoseconds", -1);
	const char *origin = report_meta(c->t.report, "imported");

	TRY(list_gpu_processes(c));
	c->base = c->e->request->shift;
	c->imported = origin && strcmp(origin, "chrome-json") == 0;
	TRY(choose_gpu_pids(c));
	if (c->imported)
		c->base = (int64_t)((uint64_t)c->base + (uint64_t)timeline_meta(&c->t, "session_start_raw_ns", 0));
	else
		base = timeline_meta(&c->t, "start_utc_ns", 0);
	fputs_unlocked("{\"schemaVersion\":1,\"displayTimeUnit\":\"ms\"", c->out);
	if (base >= 0)
		chrome_number(c, "baseTimeNanoseconds", base);
	put_facts(c);
	fputs_unlocked(",\n\"traceEvents\":[", c->out);
	chrome_names(c);
	return 0;
}

static void name_event(struct chrome *c, const char *what, int64_t pid, int64_t tid)
{
	chrome_event_begin(c, "M");
	chrome_key(c, "name");
	json_put_text(c->out, what, strlen(what));
	chrome_time(c, "ts", c->base);
	chrome_key(c, "pid");
	json_put_integer(c->out, pid);
	chrome_key(c, "tid");
	json_put_integer(c->out, tid);
	fputs_unlocked(",\"args\":{\"", c->out);
}

static void text_event(struct chrome *c, const char *what, int64_t pid, int64_t tid, const char *key, const char *text)
{
	name_event(c, what, pid, tid);
	fprintf(c->out, "%s\":", key);
	json_put_text(c->out, text, strlen(text));
	fputs_unlocked("}}", c->out);
}

static void order_event(struct chrome *c, const char *what, int64_t pid, int64_t tid, int64_t index)
{
	name_event(c, what, pid, tid);
	fprintf(c->out, "sort_index\":%lld}}", (long long)index);
}

static void name_processes(struct chrome *c, bool recorded)
{
	const struct index_table *processes = &c->t.q->index.processes, *threads = &c->t.q->index.threads;
	const int64_t *row, *process;

	for (size_t i = 0; i < processes->count; i++) {
		row = processes->rows + i * processes->width;
		text_event(c, "process_name", row[PROCESS_PID], 0, "name", timeline_text(&c->t, row[PROCESS_NAME], NULL));
		if (!recorded)
			continue;
		text_event(c, "process_labels", row[PROCESS_PID], 0, "labels", "CPU");
		order_event(c, "process_sort_index", row[PROCESS_PID], 0, row[PROCESS_PID]);
	}
	for (size_t i = 0; i < threads->count; i++) {
		row = threads->rows + i * threads->width;
		process = index_find(processes, row[THREAD_PROCESS]);
		if (!process)
			continue;
		text_event(c, "thread_name", process[PROCESS_PID], row[THREAD_TID], "name", timeline_thread_name(&c->t, row[THREAD_UID]));
		if (recorded)
			order_event(c, "thread_sort_index", process[PROCESS_PID], row[THREAD_TID], row[THREAD_TID]);
	}
}

static void name_device(struct chrome *c, const int64_t *stream)
{
	const int64_t *process = index_find(&c->t.q->index.processes, stream[STREAM_PROCESS]);
	int64_t pid = chrome_gpu_pid(c, stream);
	char label[32];

	text_event(c, "process_name", pid, 0, "name", process ? timeline_text(&c->t, process[PROCESS_NAME], NULL) : "");
	snprintf(label, sizeof(label), "GPU %lld", (long long)stream[STREAM_DEVICE]);
	text_event(c, "process_labels", pid, 0, "labels", label);
	order_event(c, "process_sort_index", pid, 0, time_sum(chrome_device(c, stream), GPU_SORT_INDEX));
}

static void name_streams(struct chrome *c, bool recorded)
{
	const struct index_table *streams = &c->t.q->index.cuda->streams;
	struct keymap devices = { 0 };
	const int64_t *row;
	char name[256];
	size_t len;

	for (size_t i = 0; i < streams->count; i++) {
		uint32_t known = devices.count;

		row = streams->rows + i * STREAM_WIDTH;
		if (keymap_number(&devices, (const int64_t[]){ row[STREAM_PROCESS], row[STREAM_DEVICE] }, 2 * sizeof(*row)) == known &&
		    recorded)
			name_device(c, row);
		if (row[STREAM_NAME])
			snprintf(name, sizeof(name), "%.200s (stream %lld)", timeline_text(&c->t, row[STREAM_NAME], &len),
				 (long long)row[STREAM_ID]);
		else
			snprintf(name, sizeof(name), "stream %lld ", (long long)row[STREAM_ID]);
		text_event(c, "thread_name", chrome_gpu_pid(c, row), row[STREAM_ID], "name", name);
		if (recorded)
			order_event(c, "thread_sort_index", chrome_gpu_pid(c, row), row[STREAM_ID], row[STREAM_ID]);
	}
	keymap_release(&devices);
}

/* "trace.process_labels.502.0": what an imported trace said of the places of its events. */
static bool reported_again(struct chrome *c)
{
	sqlite3_stmt *row = prepare_head_query(c, FACTS);
	char what[64], pid[64], tid[64];
	const char *key;
	bool any = false;

	while (row && sqlite3_step(row) == SQLITE_ROW) {
		key = (const char *)sqlite3_column_text(row, 0);
		if (!key || is_top_level(key) || sscanf(key, "%63[^.].%63[^.].%63s", what, pid, tid) != 3)
			continue;
		any = true;
		chrome_event_begin(c, "M");
		chrome_key(c, "name");
		json_put_text(c->out, what, strlen(what));
		chrome_time(c, "ts", c->base);
		chrome_key(c, "pid");
		if (pid[strspn(pid, "-0123456789")] == '\0')
			fputs_unlocked(pid, c->out);
		else
			json_put_text(c->out, pid, strlen(pid));
		chrome_key(c, "tid");
		if (tid[strspn(tid, "-0123456789")] == '\0')
			fputs_unlocked(tid, c->out);
		else
			json_put_text(c->out, tid, strlen(tid));
		chrome_key(c, "args");
		put_head_value(c, row, 1);
		putc_unlocked('}', c->out);
	}
	sqlite3_finalize(row);
	return any;
}

void chrome_names(struct chrome *c)
{
	bool recorded = !reported_again(c);

	name_processes(c, recorded);
	name_streams(c, recorded);
}

void chrome_finish(struct chrome *c)
{
	const char *own = report_meta(c->t.report, "trace.traceName"), *name = own ? own : path_name(c->e->request->input);

	fputs_unlocked("\n],\n\"traceName\":", c->out);
	json_put_text(c->out, name, strlen(name));
	fputs_unlocked("}\n", c->out);
}
