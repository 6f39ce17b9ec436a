/* OS runtime, samples, call chains and files under nsys's names, over tests/golden/cpu.txt. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "query/index/file_calls.h"
#include "support.h"

static int set_up(void **state)
{
	return golden_set_up(state, "cpu.txt");
}

static void expect(void **state, const char *sql, const char *answer)
{
	assert_string_equal(ask(*state, sql), answer);
}

static void test_lists_what_has_rows(void **state)
{
	expect(state,
	       "SELECT group_concat(name, ' ') FROM (SELECT name FROM sqlite_master WHERE type = "
	       "'table' AND "
	       "(name LIKE 'OSRT%' OR name LIKE '%EVENTS' OR name LIKE '%CALLCHAINS' OR name LIKE "
	       "'ENUM%') ORDER BY name)",
	       "COMPOSITE_EVENTS ENUM_NSYS_EVENT_CLASS ENUM_OSRT_FILE_ACCESS_EVENT_TYPE ENUM_SAMPLING_THREAD_STATE "
	       "ENUM_SCHEDULING_THREAD_BLOCK ENUM_STACK_UNWIND_METHOD OSRT_API OSRT_CALLCHAINS "
	       "OSRT_FILE_ACCESS_DESCRIPTORS OSRT_FILE_ACCESS_EVENTS SAMPLING_CALLCHAINS SCHED_EVENTS");
}

/* Names in nsys's order, and ! where nsys has no nulls. */
static void test_columns_are_nsyss(void **state)
{
	static const struct {
		const char *table, *columns;
	} tables[] = {
		{ "OSRT_API", "start!,end!,eventClass!,globalTid,nameId!,returnValue!,nestingLevel,callchainId!,"
			      "argumentsId!" },
		{ "OSRT_CALLCHAINS", "id!,symbol!,module!,kernelMode,thumbCode,unresolved,specialEntry,originalIP,"
				     "unwindMethod,stackDepth!" },
		{ "SAMPLING_CALLCHAINS", "id!,symbol!,module!,kernelMode,thumbCode,unresolved,specialEntry,originalIP,"
					 "unwindMethod,stackDepth!" },
		{ "COMPOSITE_EVENTS", "id!,start!,cpu,threadState,globalTid,cpuCycles!" },
		{ "OSRT_FILE_ACCESS_EVENTS", "fileAccessId!,threadId!,startedAt!,endedAt!,eventType!,apiCallId!,"
					     "bytesProcessed!,context!" },
		{ "OSRT_FILE_ACCESS_DESCRIPTORS", "fileAccessId!,processId!,openedAt!,closedAt!,filePath!" },
	};
	char sql[256];

	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
		snprintf(sql, sizeof(sql),
			 "SELECT group_concat(name || CASE WHEN \"notnull\" THEN '!' ELSE "
			 "'' END, ',') "
			 "FROM pragma_table_info('%s')",
			 tables[i].table);
		expect(state, sql, tables[i].columns);
	}
}

static void test_calls(void **state)
{
	/* 1 << 48 | 500 << 24 | 500 = 281483365319156 */
	expect(state,
	       "SELECT start, end, globalTid, value, returnValue, nestingLevel, callchainId, "
	       "argumentsId FROM OSRT_API "
	       "JOIN StringIds ON id = nameId WHERE globalTid = 281483365319156 AND start >= 200000 "
	       "ORDER BY start",
	       "200000|5200000|281483365319156|pthread_mutex_lock|0|0|2|0;"
	       "6000000|6400000|281483365319156|fwrite|10|0|6|0;"
	       "6100000|6300000|281483365319156|write|-1|1|0|0;"
	       "90000000|90000100|281483365319156|close|0|0|0|0");
	/* No result, no stack: 0, as nsys has no nulls there. */
	expect(state, "SELECT returnValue, callIsOpen, callDuration FROM OSRT_API WHERE start = 92000000", "0|1|");
	expect(state,
	       "SELECT count(*) FROM OSRT_API WHERE returnValue IS NULL OR callchainId IS NULL OR end "
	       "IS NULL",
	       "0");
}

static void test_call_chains(void **state)
{
	expect(state,
	       "SELECT a.start, c.stackDepth, s.value, m.value, c.unwindMethod FROM OSRT_API a JOIN "
	       "OSRT_CALLCHAINS c ON "
	       "c.id = a.callchainId JOIN StringIds s ON s.id = c.symbol JOIN StringIds m ON m.id = "
	       "c.module "
	       "WHERE a.start IN (20000, 200000) ORDER BY a.start, c.stackDepth",
	       "20000|0|qsort|/usr/lib/libc.so.6|2;20000|1|main|/srv/app|2;"
	       "200000|0|walk(tree<int, 3>&)|/srv/app|2;200000|1|main|/srv/app|2");
	/* Only the stacks that calls have, each once. */
	expect(state, "SELECT group_concat(id || '.' || stackDepth, ' ') FROM OSRT_CALLCHAINS", "1.0 2.0 2.1 6.0 6.1");
	expect(state, "SELECT count(*) FROM OSRT_CALLCHAINS WHERE id = 3", "0");
	expect(state,
	       "SELECT id FROM OSRT_CALLCHAINS WHERE id IN (-5, 0, 99999999, 'x', NULL, 2) AND "
	       "stackDepth = 1",
	       "2");
}

static void test_samples(void **state)
{
	expect(state,
	       "SELECT id, start, cpu, threadState, globalTid % 16777216, cpuCycles FROM "
	       "COMPOSITE_EVENTS WHERE id = 8",
	       "8|9500000||4|500|500000");
	expect(state, "SELECT count(*), count(DISTINCT id), min(id), max(id) FROM COMPOSITE_EVENTS", "15|15|1|15");
	expect(state, "SELECT count(*) FROM COMPOSITE_EVENTS WHERE rowid = id", "15");
	expect(state,
	       "SELECT group_concat(id, ' ') FROM COMPOSITE_EVENTS WHERE id >= 6 AND id < 9 AND id != "
	       "7",
	       "6 8");
	expect(state, "SELECT count(*) FROM COMPOSITE_EVENTS WHERE id IN (0, -1, 16, 99999999999)", "0");
}

static void test_sample_chains(void **state)
{
	expect(state,
	       "SELECT c.stackDepth, s.value, c.kernelMode, c.unresolved FROM COMPOSITE_EVENTS e JOIN "
	       "SAMPLING_CALLCHAINS c ON c.id = e.id JOIN StringIds s ON s.id = c.symbol WHERE e.start "
	       "= 8000000 "
	       "ORDER BY c.stackDepth",
	       "0|do_syscall_64|1|0;1|qsort|0|0;2|walk(tree<int, 3>&)|0|0;3|qsort|0|0;4|main|0|0");
	/* Code without a name, in a file, in no file, and made while running. */
	expect(state,
	       "SELECT s.value, m.value, c.unresolved, c.originalIP FROM COMPOSITE_EVENTS e JOIN "
	       "SAMPLING_CALLCHAINS c "
	       "ON c.id = e.id JOIN StringIds s ON s.id = c.symbol JOIN StringIds m ON m.id = c.module "
	       "WHERE c.stackDepth = 0 AND c.unresolved ORDER BY c.originalIP",
	       "0xdead|[Unknown]|1|57005;libc.so.6+0x12345|/usr/lib/libc.so.6|1|74565;0x8583d00|[jit]|1|140000512");
	/* A sample without a stack, and one whose stack is not in the report, have no rows. */
	expect(state, "SELECT count(DISTINCT id), count(*) FROM SAMPLING_CALLCHAINS", "13|38");
	expect(state, "SELECT group_concat(id, ' ') FROM SAMPLING_CALLCHAINS WHERE stackDepth = 3", "1 2 3 5 6");
	expect(state, "SELECT count(*) FROM SAMPLING_CALLCHAINS WHERE stackDepth IN (-1, 'x', 512)", "0");
}

/* What a look-up by id gives is what the whole table says. */
static void test_chains_by_id(void **state)
{
	char expected[4096];

	snprintf(expected, sizeof(expected), "%s",
		 ask(*state, "SELECT * FROM (SELECT * FROM "
			     "SAMPLING_CALLCHAINS LIMIT -1)"));
	assert_true(strlen(expected) > 500);
	expect(state,
	       "SELECT c.* FROM (SELECT value AS id FROM "
	       "json_each('[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15]')) e CROSS JOIN "
	       "SAMPLING_CALLCHAINS c ON c.id = e.id",
	       expected);
	assert_non_null(strstr(ask(*state, "EXPLAIN QUERY PLAN SELECT * FROM SAMPLING_CALLCHAINS WHERE id = "
					   "5"),
			       "INDEX 1"));
	assert_null(strstr(ask(*state, "EXPLAIN QUERY PLAN SELECT * FROM SAMPLING_CALLCHAINS ORDER BY id, "
				       "stackDepth"),
			   "TEMP B-TREE"));
}

/* Names that were made up are listed too: readers load the whole table at once. */
static void test_strings(void **state)
{
	expect(state,
	       "SELECT count(*) FROM SAMPLING_CALLCHAINS c LEFT JOIN (SELECT id FROM StringIds LIMIT "
	       "-1) s ON s.id = c.symbol "
	       "WHERE s.id IS NULL",
	       "0");
	expect(state,
	       "SELECT count(*) FROM SAMPLING_CALLCHAINS c LEFT JOIN (SELECT id FROM StringIds LIMIT "
	       "-1) s ON s.id = c.module "
	       "WHERE s.id IS NULL",
	       "0");
	expect(state, "SELECT count(*) - count(DISTINCT id) FROM StringIds", "0");
	expect(state, "SELECT value FROM StringIds WHERE id IN (1125899906842624 + 100, 1 << 62)", "");
}

static void test_files(void **state)
{
	expect(state,
	       "SELECT fileAccessId, processId, openedAt, closedAt, filePath FROM "
	       "OSRT_FILE_ACCESS_DESCRIPTORS",
	       "1|281483365318656|1000|90000000|/srv/data, big;2|281483365318656|2000|0|/srv/data, big;"
	       "3|281483365318656|0|0|/dev/null");
	expect(state,
	       "SELECT fileAccessId, startedAt, endedAt - startedAt, l.name, bytesProcessed, context, "
	       "a.rowid = apiCallId "
	       "FROM OSRT_FILE_ACCESS_EVENTS e JOIN ENUM_OSRT_FILE_ACCESS_EVENT_TYPE l ON l.id = "
	       "e.eventType JOIN "
	       "OSRT_API a ON a.start = startedAt WHERE e.fileAccessId < 3 ORDER BY startedAt",
	       "1|1000|10000|Open|0|open|1;1|20000|100000|Read|4096|read|1;1|130000|20000|Read|0|read|1;"
	       "2|6000000|400000|Write|1000|fwrite|1;2|6100000|200000|Write|-1|write|1;1|90000000|100|Close|0|close|1");
	expect(state, "SELECT count(*) FROM OSRT_FILE_ACCESS_EVENTS WHERE eventType = 3", "2");
	expect(state,
	       "SELECT key, count FROM group_stats('OSRT_FILE_ACCESS_EVENTS', 'eventType', 'duration', "
	       "'eventType >= 3') "
	       "ORDER BY key",
	       "3|2;4|3");
}

static void test_kinds_of_file_calls(void **state)
{
	assert_int_equal(file_call_of("pread64"), FILE_CALL_READ);
	assert_int_equal(file_call_of("preadv2"), FILE_CALL_READ);
	assert_int_equal(file_call_of("fread_unlocked"), FILE_CALL_READ);
	assert_int_equal(file_call_of("__read_chk"), FILE_CALL_READ);
	assert_int_equal(file_call_of("writev"), FILE_CALL_WRITE);
	assert_int_equal(file_call_of("openat64"), FILE_CALL_OPEN);
	assert_int_equal(file_call_of("mkstemps64"), FILE_CALL_OPEN);
	assert_int_equal(file_call_of("putw"), FILE_CALL_WRITE);
	assert_int_equal(file_call_of("fclose"), FILE_CALL_CLOSE);
	assert_int_equal(file_call_of("readlink"), FILE_CALL_OTHER);
	assert_int_equal(file_call_of("opendir"), FILE_CALL_OTHER);
	assert_int_equal(file_call_of(""), FILE_CALL_OTHER);
}

static void test_statistics(void **state)
{
	/* Only what thread 2 did, and only before 3 ms. */
	expect(state,
	       "SELECT function, self, total_count FROM sample_stats('samples', 'function', 'threadUid "
	       "= 2 and start < "
	       "3000000') ORDER BY self DESC, module",
	       "hot|4000000|1;hot|1000000|1;main|0|2");
	expect(state,
	       "SELECT process, sum(self_count) FROM sample_stats('samples', 'process') GROUP BY "
	       "1",
	       "1|12;2|3");
	expect(state, "SELECT function, kernel FROM sample_stats('samples') WHERE kernel", "do_syscall_64|1");
	/* Waiting between runs, those of one thread only. */
	expect(state, "SELECT function, self FROM sample_stats('offcpu', 'function', 'track = 8') WHERE self > 0", "futex|100000");
	/* Time in calls is that of the function called, and of those that called it. */
	expect(state,
	       "SELECT function, self, total, module FROM sample_stats('osrt', 'function', 'start < "
	       "6000000 and threadUid = 1') "
	       "ORDER BY total DESC, function",
	       "main|0|5100000|/srv/app;pthread_mutex_lock|5000000|5000000|;walk(tree<int, 3>&)|0|5000000|/srv/app;"
	       "read|120000|120000|;qsort|0|100000|/usr/lib/libc.so.6;open|10000|10000|");
	expect(state, "SELECT * FROM sample_stats('sample')", "error: Unknown stacks 'sample'; use samples, osrt or offcpu");
	expect(state, "SELECT * FROM sample_stats('samples', 'line')",
	       "error: Cannot group by 'line': write function or module, and thread or process");
	expect(state, "SELECT * FROM stack_stats('samples', 'flat')", "error: Unknown form 'flat'; use folded or tree");
	expect(state, "SELECT * FROM sample_stats('samples', '', 'weigth = 1')",
	       "error: COMPOSITE_EVENTS has no column 'weigth'. Did you mean weight?");
}

int main(void)
{
	/* clang-format off */
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lists_what_has_rows), cmocka_unit_test(test_columns_are_nsyss),
		cmocka_unit_test(test_calls), cmocka_unit_test(test_call_chains), cmocka_unit_test(test_samples),
		cmocka_unit_test(test_sample_chains), cmocka_unit_test(test_chains_by_id),
		cmocka_unit_test(test_strings), cmocka_unit_test(test_files),
		cmocka_unit_test(test_kinds_of_file_calls), cmocka_unit_test(test_statistics),
	};
	/* clang-format on */

	return cmocka_run_group_tests(tests, set_up, golden_tear_down);
}
