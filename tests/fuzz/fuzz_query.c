/* Any report under SQL: a few statements over its tables, views and functions, which the first bytes choose. */
#include "fuzz_file.h"
#include "query/query.h"
#include "query/engine/scope.h"

#define MOST_ROWS 2000
#define MOST_STEPS 400000 /* of SQLite's machine: what a join of large tables takes is no finding */

static const char *const statements[] = {
	"SELECT * FROM group_stats('NVTX_EVENTS', 'eventType, domainName, name#', 'duration')",
	"SELECT * FROM group_stats('NVTX_EVENTS', 'globalTid', 'start', 'open = 1')",
	"SELECT * FROM group_stats('CUPTI_ACTIVITY_KIND_RUNTIME', 'name', 'duration')",
	"SELECT * FROM group_stats('CUPTI_ACTIVITY_KIND_KERNEL', 'shortName, deviceId', 'duration', 'streamId > 0')",
	"SELECT * FROM group_stats('cuda_gpu_ops', 'kind, name, apiName, nvtxDomain, nvtxName, globalTid', 'duration')",
	"SELECT * FROM group_stats('cuda_kernel_exec', 'globalTid, deviceId, apiName, name', 'totalDuration')",
	"SELECT * FROM group_stats('sonde_counter', 'track', 'real')",
	"SELECT * FROM group_stats('OSRT_FILE_ACCESS_EVENTS', 'fileAccessId, eventType', 'bytesProcessed', 'bytesProcessed > 0')",
	"SELECT key, count, med FROM group_stats('kernels', 'nvtx_range, name', 'duration')",
	"SELECT * FROM group_stats('samples', 'function, module', 'weight')",
	"SELECT * FROM interval_union('NVTX_EVENTS', 'globalTid')",
	"SELECT * FROM interval_union('cuda_gpu_ops', 'deviceId', 'kind <= 4')",
	"SELECT * FROM interval_overlap('NVTX_EVENTS', 'name', 'eventType = 59', 'eventType = 60')",
	"SELECT * FROM interval_overlap('cuda_gpu_ops', 'deviceId', 'kind = 1', 'kind = 2')",
	"SELECT * FROM nvtx_pushpop_tree",
	"SELECT * FROM nvtx_projection('name#') ORDER BY projStart",
	"SELECT * FROM nvtx_projection_stats",
	"SELECT * FROM nvtx_kernel_stats('base')",
	"SELECT * FROM sample_stats('samples', 'function, thread')",
	"SELECT * FROM sample_stats('offcpu', 'module, process')",
	"SELECT * FROM sample_stats('osrt', 'function#')",
	"SELECT * FROM stack_stats('samples', 'tree')",
	"SELECT * FROM stack_stats('osrt')",
	"SELECT * FROM stack_stats('offcpu', 'tree')",
	"SELECT * FROM thread_states ORDER BY start",
	"SELECT * FROM thread_state_stats",
	"SELECT * FROM sched_stats",
	"SELECT * FROM cpu_runs",
	"SELECT f.id, l.* FROM sonde_frame f, frame_lines(f.id) l",
	"SELECT * FROM torch_ops",
	"SELECT * FROM torch_op_stats('shapes')",
	"SELECT * FROM torch_op_stats('shapes,stack=3,module#', 'cuda_time')",
	"SELECT * FROM torch_module_stats",
	"SELECT * FROM torch_gpu_tree('operator', 100, 5000)",
	"SELECT * FROM torch_gpu_tree('module')",
	"SELECT * FROM torch_op_stats",
	"SELECT * FROM cuda_gpu_ops ORDER BY start, kind",
	"SELECT * FROM cuda_kernel_exec WHERE apiStart IS NOT NULL",
	"SELECT * FROM cuda_gpu_trace('name', 1)",
	"SELECT * FROM cuda_gpu_trace('mangled', 0)",
	"SELECT * FROM cuda_api_trace",
	"SELECT * FROM cuda_kern_exec_trace('base', 1)",
	"SELECT sum(bytes), kind, count(*) FROM memcpys GROUP BY 2",
	"SELECT *, format_time(duration), fold_numbers(name) FROM ranges ORDER BY start DESC LIMIT 50",
	"SELECT * FROM NVTX_EVENTS WHERE text = 'step' OR start BETWEEN 100 AND 5000 ORDER BY start, end",
	"SELECT * FROM NVTX_EVENTS WHERE globalTid = (SELECT min(globalTid) FROM NVTX_EVENTS) ORDER BY end DESC",
	"SELECT jsonText, text, binaryData FROM NVTX_EVENTS",
	"SELECT 100.0 * union_ns(start, end) / (max(end) - min(start)), percentile(duration, 90), median(duration), stddev(duration) FROM kernels",
	"SELECT device, stream, start - lag(end) OVER (PARTITION BY device, stream ORDER BY start) FROM kernels",
	"SELECT r.name, count(*), sum(k.duration) FROM ranges r JOIN kernels k ON k.api_start >= r.start AND k.api_start < r.end GROUP BY 1",
	"SELECT sum(overlap_ns(a.start, a.end, b.start, b.end)) FROM apis a, kernels b WHERE a.correlation_id = b.correlation_id",
	"SELECT * FROM StringIds WHERE id IN (1, 2, 3, 1000000) OR value LIKE 'a%'",
	"SELECT global_pid(globalTid), global_tid(globalTid), * FROM OSRT_API ORDER BY start",
	"SELECT count(*) FROM SCHED_EVENTS",
	"SELECT * FROM COMPOSITE_EVENTS JOIN SAMPLING_CALLCHAINS USING (id) ORDER BY stackDepth",
	"SELECT * FROM sonde_lod WHERE level > 0",
	"SELECT * FROM sonde_kernel_metric ORDER BY result, name",
};

/* clang-format off */
static const struct scope_request scopes[] = {
	{ 0 }, { 0 }, { 0 }, { 0 }, { 0 }, { .time = "100/5000" }, { .time = "1us/" }, { .nvtx = "*" }, { .nvtx = "step*@*/0,2-4" }, { .steps = "0-5" },
	{ .time = "/1s", .nvtx = "a*" }, { .steps = "1,3" },
};
/* clang-format on */

static int enough(void *context)
{
	return 1;
}

/* What every byte that is shown goes into. */
volatile uint8_t seen;

static void look_at(sqlite3_stmt *statement, int column)
{
	const uint8_t *bytes = sqlite3_column_blob(statement, column);
	int size = sqlite3_column_bytes(statement, column);

	for (int i = 0; i < size; i++)
		seen = seen ^ bytes[i];
	sqlite3_column_double(statement, column);
}

static void ask(struct query *q, const char *text)
{
	sqlite3_stmt *statement;

	sqlite3_progress_handler(query_db(q), MOST_STEPS, enough, NULL);
	if (query_prepare(q, text, &statement, NULL) != SQLITE_OK)
		return;
	for (int row = 0; row < MOST_ROWS && sqlite3_step(statement) == SQLITE_ROW; row++)
		for (int i = 0; i < sqlite3_column_count(statement); i++)
			look_at(statement, i);
	sqlite3_finalize(statement);
}

/* The chosen one of the tables that the report has rows for, and those it always has. */
static void ask_table(struct query *q, unsigned choice)
{
	const char *name = query_native_name(q, choice),
		   *forms[] = { "", " ORDER BY 2, 1", " WHERE rowid > 2 LIMIT 7", " ORDER BY 1 DESC" };
	sqlite3_stmt *statement;
	char text[300];

	if (name) {
		snprintf(text, sizeof(text), "SELECT * FROM \"%s\"%s", name, forms[choice / 7 % 4]);
		ask(q, text);
		return;
	}
	if (query_prepare(q,
			  "SELECT name FROM sqlite_master ORDER BY name LIMIT 1 OFFSET ?1 % max(1, (SELECT count(*) FROM sqlite_master))",
			  &statement, NULL) != SQLITE_OK)
		return;
	sqlite3_bind_int(statement, 1, (int)choice);
	text[0] = '\0';
	if (sqlite3_step(statement) == SQLITE_ROW)
		snprintf(text, sizeof(text), "SELECT * FROM \"%s\"%s", (const char *)sqlite3_column_text(statement, 0),
			 forms[choice / 7 % 4]);
	sqlite3_finalize(statement);
	ask(q, text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_file file;
	struct query *q;
	struct error err;

	if (!fuzz_file_open(&file, data, size))
		return 0;
	if (query_open(&q, file.path, &err) == 0) {
		const struct scope_request *scope = &scopes[file.choices[0] % (sizeof(scopes) / sizeof(scopes[0]))];

		if (query_set_scope(q, scope, &err) >= 0) {
			for (unsigned i = 1; i < 3; i++)
				ask(q, statements[file.choices[i] % (sizeof(statements) / sizeof(statements[0]))]);
			for (unsigned i = 3; i < 5; i++)
				ask_table(q, file.choices[i]);
		}
		query_close(q);
	}
	fuzz_file_close(&file);
	return 0;
}
