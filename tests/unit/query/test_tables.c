/* The tables with nsys's names over the golden recording: what each row must say
 * can be read off tests/golden/recording.txt. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "support.h"

static int set_up(void **state)
{
	return golden_set_up(state, "recording.txt");
}

static void expect(void **state, const char *sql, const char *answer)
{
	assert_string_equal(ask(*state, sql), answer);
}

static void test_lists_what_has_rows(void **state)
{
	expect(state,
	       "SELECT group_concat(name, ' ') FROM (SELECT name FROM sqlite_master WHERE type = 'table' "
	       "ORDER BY name)",
	       "ANALYSIS_DETAILS DIAGNOSTIC_EVENT ENUM_DIAGNOSTIC_SEVERITY_LEVEL ENUM_DIAGNOSTIC_SOURCE_TYPE "
	       "ENUM_DIAGNOSTIC_TIMESTAMP_SOURCE ENUM_NSYS_EVENT_TYPE META_DATA_CAPTURE META_DATA_EXPORT "
	       "NVTX_EVENTS NVTX_PAYLOAD_SCHEMAS NVTX_PAYLOAD_SCHEMA_ENTRIES PROCESSES StringIds "
	       "TARGET_INFO_SESSION_START_TIME TARGET_INFO_SYSTEM_ENV ThreadNames");
}

static void test_nvtx_columns_are_nsyss(void **state)
{
	expect(state, "SELECT group_concat(name, ',') FROM pragma_table_info('NVTX_EVENTS')",
	       "start,end,eventType,rangeId,category,color,text,globalTid,endGlobalTid,textId,domainId,"
	       "uint64Value,int64Value,doubleValue,uint32Value,int32Value,floatValue,jsonTextId,jsonText,"
	       "binaryData");
}

static void test_events_by_type(void **state)
{
	expect(state, "SELECT eventType, count(*) FROM NVTX_EVENTS GROUP BY 1", "33|1;34|2;39|3;59|15;60|2;75|2;76|1");
	/* 1 << 48 | 1000 << 24 | 1000 = 281491753927656 */
	expect(state,
	       "SELECT start, end, text, globalTid, domainId, textId FROM NVTX_EVENTS WHERE eventType = 59 "
	       "AND start BETWEEN 100 AND 200 AND globalTid = 281491753927656",
	       "100|1100|step|281491753927656|0|;150|450|load|281491753927656|0|");
}

static void test_registered_strings(void **state)
{
	expect(state, "SELECT e.text, s.value FROM NVTX_EVENTS e JOIN StringIds s ON s.id = e.textId ORDER BY e.start", "|go;|step");
	expect(state, "SELECT count(*) FROM NVTX_EVENTS WHERE text = 'step'", "3");
	expect(state, "SELECT count(*) FROM NVTX_EVENTS WHERE eventName = 'step'", "4");
}

static void test_payloads(void **state)
{
	expect(state,
	       "SELECT rangeId, color, int64Value, doubleValue, uint64Value, endGlobalTid - globalTid "
	       "FROM NVTX_EVENTS WHERE eventType = 60 ORDER BY start",
	       "7|4278255360|-5|||1;8|||1.5||");
	expect(state, "SELECT jsonText, binaryData FROM NVTX_EVENTS WHERE eventType = 34 AND start = 20",
	       "{\"communicator\":42,\"rank\":7}|2a000000000000000700000000000000");
	expect(state,
	       "SELECT domainId, schemaId, name, type, flags, numEntries, payloadSize, alignTo "
	       "FROM NVTX_PAYLOAD_SCHEMAS",
	       "0|16777218|pair|1||2|16|");
	expect(state, "SELECT idx, type, name, offset FROM NVTX_PAYLOAD_SCHEMA_ENTRIES ORDER BY idx", "0|18|communicator|;1|5|rank|8");
}

static void test_open_range_has_no_end(void **state)
{
	expect(state, "SELECT start, end, eventName FROM NVTX_EVENTS WHERE eventIsOpen", "3000||read");
	expect(state, "SELECT count(*) FROM NVTX_EVENTS WHERE end >= 5000", "0");
}

static void test_domains_and_categories(void **state)
{
	expect(state, "SELECT eventType, domainId, text, start FROM NVTX_EVENTS WHERE eventType IN (75, 76) ORDER BY start",
	       "75|1|io|1;76|1||2800;75|1|io|2950");
	expect(state, "SELECT domainId, category, text FROM NVTX_EVENTS WHERE eventType = 33", "1|3|disk");
	expect(state,
	       "SELECT domainId, category, eventName FROM NVTX_EVENTS WHERE category = 3 AND eventType = 59 "
	       "AND start < 10",
	       "1|3|read");
}

/* A pid used by two lives has one row here; all are in sonde_process. */
static void test_processes_and_threads(void **state)
{
	expect(state, "SELECT pid, name, globalPid FROM PROCESSES ORDER BY pid", "1000|child|281491753926656;2000|helper|281508531142656");
	expect(state, "SELECT uid, pid, name FROM sonde_process", "1|1000|app;2|1000|child;3|2000|helper");
	expect(state,
	       "SELECT t.globalTid % 16777216, s.value FROM ThreadNames t JOIN StringIds s ON s.id = t.nameId "
	       "ORDER BY 1",
	       "1000|child;1001|io worker;1002|not seen");
}

static void test_lives_do_not_mix(void **state)
{
	expect(state,
	       "SELECT threadUid, count(*) FROM NVTX_EVENTS WHERE globalTid = 281491753927656 AND "
	       "eventType = 59 GROUP BY 1",
	       "1|9;3|2");
}

static void test_facts(void **state)
{
	expect(state, "SELECT name, value FROM META_DATA_CAPTURE",
	       "PROCESS_0:COMMAND|./app;PROCESS_0:ARGUMENT_0|--size;"
	       "PROCESS_0:ARGUMENT_1|3;PROCESS_0:WORKING_DIR|/srv/app");
	expect(state, "SELECT utcEpochNs, utcTime, systemClockNs FROM TARGET_INFO_SESSION_START_TIME",
	       "1700000000000000000|2023-11-14T22:13:20|5000");
	expect(state, "SELECT duration, startTime, stopTime FROM ANALYSIS_DETAILS", "6000|5000|11000");
	expect(state, "SELECT name, nameEnum, value FROM TARGET_INFO_SYSTEM_ENV", "CpuCores|1|8;Hostname|619|testhost");
	expect(state,
	       "SELECT d.timestamp, d.text, l.label FROM DIAGNOSTIC_EVENT d JOIN ENUM_DIAGNOSTIC_SEVERITY_LEVEL "
	       "l ON l.id = d.severity",
	       "4000|The program <x> & co was not traced|Warning");
}

/* The plan must leave rows out only where they cannot match. */
static void test_time_conditions(void **state)
{
	/* clang-format off */
	static const char *const conditions[] = {
		"start >= 500", "start > 500", "start < 1200", "start <= 1200", "start = 1500", "end >= 1500",
		"end < 300", "start > 499.5", "start <= 1200.5", "start >= 100 AND end <= 1100", "start > 'x'",
		"start >= '1200'", "start IS NULL", "start > 9e99", "end > -1e30", "start IN (100, 2000, 7)",
		"eventType = 59.0", "eventType > 59", "globalTid < 5", "start = 1500.5",
		"eventType < 60.0", "eventType <= 59.5", "eventType = 59.5", "eventType > 9.1e18", "eventType < 9.3e18",
		"eventType = '59'", "eventType = 59 AND start > 500", "eventType = 59 AND start = 1500",
		"globalTid = 5 AND eventType = 59", "eventType = -59",
	};
	/* clang-format on */
	char fast[512], slow[512], expected[64];

	for (size_t i = 0; i < sizeof(conditions) / sizeof(conditions[0]); i++) {
		/* The LIMIT keeps SQLite from telling the table about the condition. */
		snprintf(fast, sizeof(fast), "SELECT count(*), sum(start) FROM NVTX_EVENTS WHERE %s", conditions[i]);
		snprintf(slow, sizeof(slow),
			 "SELECT count(*), sum(start) FROM (SELECT start, end, "
			 "eventType, globalTid FROM NVTX_EVENTS LIMIT -1) WHERE %s",
			 conditions[i]);
		snprintf(expected, sizeof(expected), "%s", ask(*state, slow));
		assert_string_equal(ask(*state, fast), expected);
	}
}

/* Texts are compared before SQLite sees the rows: with its own answer they must agree. */
static void test_text_conditions(void **state)
{
	/* clang-format off */
	static const char *const conditions[] = {
		"text = 'step'", "text = 'STEP'", "text = 'STEP' COLLATE NOCASE", "text = ''", "text = 'no such'", "text = NULL",
		"text = 59", "text = x'73746570'", "text IN ('step', 'load')", "text = 'step' AND text = 'load'",
		"text = 'step' AND start > 100 AND eventType = 59", "text = 'step' OR text = 'load'", "text > 'load'",
		"'load' = text", "jsonText = '{}'", "text = 'ste' || 'p'", "text IS NULL",
	};
	/* clang-format on */
	char fast[512], slow[512], expected[256];

	for (size_t i = 0; i < sizeof(conditions) / sizeof(conditions[0]); i++) {
		snprintf(slow, sizeof(slow),
			 "SELECT group_concat(start) FROM (SELECT start, eventType, text, jsonText FROM NVTX_EVENTS "
			 "ORDER BY start LIMIT -1) WHERE %s",
			 conditions[i]);
		snprintf(expected, sizeof(expected), "%s", ask(*state, slow));
		snprintf(fast, sizeof(fast), "SELECT group_concat(start) FROM (SELECT start FROM NVTX_EVENTS WHERE %s ORDER BY start)",
			 conditions[i]);
		assert_string_equal(ask(*state, fast), expected);
		snprintf(fast, sizeof(fast), "SELECT group_concat(start) FROM (SELECT start FROM NVTX_EVENTS WHERE %s ORDER BY +start)",
			 conditions[i]);
		assert_string_equal(ask(*state, fast), expected);
	}
	/* One question after the other, each with its own text. */
	expect(state,
	       "WITH asked(t) AS (VALUES('step'), ('load'), ('no such'), (NULL), ('step')) SELECT t, (SELECT count(*) FROM "
	       "NVTX_EVENTS WHERE text = t) FROM asked",
	       "step|3;load|2;no such|0;|0;step|3");
}

static void test_rowids_are_stable(void **state)
{
	expect(state, "SELECT count(DISTINCT rowid) = count(*) FROM NVTX_EVENTS", "1");
	expect(state,
	       "SELECT count(*) FROM NVTX_EVENTS a JOIN NVTX_EVENTS b ON a.rowid = b.rowid "
	       "WHERE b.eventType = 59 AND a.start = b.start",
	       "15");
}

/* Joins as people write them for nsys's files: no hidden column may make a name ambiguous. */
static void test_joins_written_for_nsys(void **state)
{
	expect(state,
	       "SELECT name, count(*) FROM NVTX_EVENTS JOIN ENUM_NSYS_EVENT_TYPE t ON eventType = t.id WHERE "
	       "eventType >= 59 GROUP BY 1 ORDER BY t.id",
	       "NvtxPushPopRange|15;NvtxStartEndRange|2;NvtxDomainCreate|2;NvtxDomainDestroy|1");
	expect(state,
	       "SELECT name, pid, duration FROM NVTX_EVENTS, PROCESSES, ANALYSIS_DETAILS WHERE "
	       "(globalTid & ~0xffffff) = globalPid AND start = 2000",
	       "child|1000|6000");
	expect(state,
	       "SELECT globalTid / 0x1000000 % 0x1000000 AS pid, globalTid % 0x1000000 AS tid, "
	       "coalesce(text, value) FROM NVTX_EVENTS LEFT JOIN StringIds ON textId = id WHERE start = 2000",
	       "1000|1000|step");
}

static void test_string_look_up(void **state)
{
	expect(state,
	       "SELECT count(*) FROM StringIds a JOIN StringIds b ON a.id = b.id WHERE a.value = b.value AND "
	       "a.value = 'gemm, big'",
	       "1");
	expect(state, "SELECT value FROM StringIds WHERE id IN (0, -1, 999999999, 'x', NULL)", "");
	expect(state,
	       "WITH asked(t) AS (VALUES('load'), ('no such'), (NULL), (5), ('step'), ('')) SELECT t, (SELECT count(*) FROM "
	       "StringIds WHERE value = t) FROM asked",
	       "load|1;no such|0;|0;5|0;step|1;|0");
	expect(state, "SELECT count(*) FROM StringIds WHERE value = 'LOAD'", "0");
	expect(state, "SELECT count(*) FROM StringIds WHERE value = 'LOAD' COLLATE NOCASE", "1");
	expect(state, "SELECT count(*) FROM NVTX_EVENTS WHERE textId IN (SELECT id FROM StringIds WHERE value = 'step')", "1");
	assert_non_null(strstr(ask(*state, "EXPLAIN QUERY PLAN SELECT * FROM StringIds WHERE id = 5"), "INDEX 1"));
}

static void test_intervals(void **state)
{
	/* Thread 1001: [0,50] [60,160] [200,230]; requests overlap from 500 to 1050. */
	expect(state,
	       "SELECT key % 16777216, count, total, busy, start, end FROM interval_union('NVTX_EVENTS', "
	       "'globalTid', 'eventType = 59 and start < 3000') ORDER BY 1",
	       "1000|9|3600|2100|100|2600;1001|3|180|180|0|230");
	expect(state, "SELECT count, total, busy, start, end FROM interval_union('NVTX_EVENTS', '', 'eventType = 60')",
	       "2|3000|2450|50|2500");
	/* Steps of the first life cover [100,1100] [1200,1700] [2000,2600], requests [50,2500]. */
	expect(state,
	       "SELECT busy_a, busy_b, overlap FROM interval_overlap('NVTX_EVENTS', 'processUid', "
	       "'eventType = 59 and depth = 0 and threadUid = 1', 'eventType = 60')",
	       "2100|2450|2000");
}

static void test_group_stats_errors(void **state)
{
	expect(state, "SELECT * FROM group_stats('NVTX_EVENT', 'name', 'duration')",
	       "error: There is no table 'NVTX_EVENT'. Did you mean NVTX_EVENTS?");
	expect(state, "SELECT * FROM group_stats('NVTX_EVENTS', 'nam', 'duration')",
	       "error: NVTX_EVENTS has no column 'nam'. Did you mean name?");
	expect(state, "SELECT * FROM group_stats('NVTX_EVENTS', 'name', 'text')", "error: Column text has no numbers to compute with");
	assert_non_null(strstr(ask(*state, "SELECT * FROM group_stats('NVTX_EVENTS', 'name', 'duration', 'start ~ 5')"),
			       "error: Cannot read the filter"));
}

static void test_group_stats_of_reals(void **state)
{
	expect(state, "SELECT key, count, sum, min, max, med, avg FROM group_stats('sonde_counter', 'track', 'real')",
	       "11|3|3.0|-2.5|4.0|1.5|1.0");
}

static void test_native_tables(void **state)
{
	expect(state, "SELECT count(*), sum(duration) FROM sonde_slice WHERE track = 4", "4|180");
	expect(state, "SELECT name, path FROM sonde_nvtx_scope, sonde_track", "");
	expect(state, "SELECT reason, sum(count) FROM sonde_loss", "1|42");
}

int main(void)
{
	/* clang-format off */
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lists_what_has_rows), cmocka_unit_test(test_nvtx_columns_are_nsyss),
		cmocka_unit_test(test_events_by_type), cmocka_unit_test(test_registered_strings),
		cmocka_unit_test(test_payloads), cmocka_unit_test(test_open_range_has_no_end),
		cmocka_unit_test(test_domains_and_categories), cmocka_unit_test(test_processes_and_threads),
		cmocka_unit_test(test_lives_do_not_mix), cmocka_unit_test(test_facts),
		cmocka_unit_test(test_time_conditions), cmocka_unit_test(test_text_conditions),
		cmocka_unit_test(test_rowids_are_stable),
		cmocka_unit_test(test_joins_written_for_nsys),
		cmocka_unit_test(test_string_look_up), cmocka_unit_test(test_intervals),
		cmocka_unit_test(test_group_stats_errors), cmocka_unit_test(test_group_stats_of_reals),
		cmocka_unit_test(test_native_tables),
	};
	/* clang-format on */

	return cmocka_run_group_tests(tests, set_up, golden_tear_down);
}
