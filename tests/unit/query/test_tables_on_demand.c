/* Tables that sqlite_master lists are made when they are named; who asks sees no difference. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "query/engine/mapping.h"
#include "query/engine/scope.h"
#include "support.h"

#define LISTED "SELECT group_concat(name, ' ') FROM (SELECT name FROM sqlite_master ORDER BY name)"

static int set_up(void **state)
{
	return golden_set_up(state, "recording.txt");
}

static void expect(void **state, const char *sql, const char *answer)
{
	assert_string_equal(ask(*state, sql), answer);
}

/* What SQLite itself has, without anything being made for the question. */
static int listed_count(struct query *q)
{
	sqlite3_stmt *statement;
	int count;

	assert_int_equal(sqlite3_prepare_v2(query_db(q), "SELECT count(*) FROM sqlite_master", -1, &statement, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
	count = sqlite3_column_int(statement, 0);
	sqlite3_finalize(statement);
	return count;
}

static void test_only_what_is_named_is_made(void **state)
{
	assert_int_equal(listed_count(*state), 0);
	expect(state, "SELECT 1", "1");
	expect(state, "SELECT count(*) FROM sonde_slice WHERE track = 4", "4");
	assert_int_equal(listed_count(*state), 0);
	expect(state, "SELECT count(*) FROM nvtx_events WHERE eventType = 59", "15");
	assert_int_equal(listed_count(*state), 1);
	expect(state, "SELECT count(*) FROM main.\"ENUM_NSYS_EVENT_TYPE\", [StringIds] s WHERE s.id = 5", "155");
	assert_int_equal(listed_count(*state), 3);
}

static void test_the_list_is_whole(void **state)
{
	char first[1024];

	expect(state, "SELECT count(*) > 0 FROM ThreadNames", "1");
	snprintf(first, sizeof(first), "%s", ask(*state, LISTED));
	assert_non_null(strstr(first, "ENUM_NSYS_EVENT_TYPE META_DATA_CAPTURE"));
	expect(state, "SELECT count(*) FROM pragma_table_info('PROCESSES')", "3");
	expect(state, LISTED, first);
	assert_int_equal(query_make_all(*state), SQLITE_OK);
	expect(state, LISTED, first);
}

static void test_what_has_no_rows_is_there_but_not_listed(void **state)
{
	expect(state, "SELECT count(*) FROM OSRT_API", "0");
	expect(state, "SELECT count(*) FROM OSRT_API o JOIN StringIds s ON s.id = o.nameId WHERE \"start\" > 5", "0");
	expect(state, "SELECT * FROM SAMPLING_CALLCHAINS", "");
	expect(state, "SELECT count(*) > 5 FROM ENUM_CUDA_MEMCPY_OPER", "1");
	expect(state, "SELECT count(*) FROM TARGET_INFO_GPU", "0");
	expect(state, "SELECT group_concat(name || type || \"notnull\") FROM pragma_table_info('TARGET_INFO_NVTX_CUDA_DEVICE')",
	       "nameTEXT1,hwIdINTEGER1,vmIdINTEGER1,deviceIdINTEGER1");
	expect(state,
	       "SELECT count(*) FROM sqlite_master WHERE name IN ('OSRT_API', 'SAMPLING_CALLCHAINS', 'TARGET_INFO_GPU', "
	       "'ENUM_CUDA_MEMCPY_OPER')",
	       "0");
	assert_false(query_has_table(*state, "OSRT_API"));
	assert_false(query_has_table(*state, "sonde_slice"));
	assert_true(query_has_table(*state, "NVTX_EVENTS"));
}

/* Nothing at all was recorded. */
static void test_an_empty_report_has_every_table(void **state)
{
	struct query *q = open_text("");
	char sql[160], name[64];

	for (unsigned i = 0; i < mapped_table_count; i++) {
		snprintf(sql, sizeof(sql), "SELECT count(*) + count(\"%s\") FROM %s", mapped_tables[i].columns[0].name,
			 mapped_tables[i].name);
		assert_string_equal(ask(q, sql), "0");
	}
	expect(&(void *){ q }, "SELECT * FROM StringIds", "");
	for (int i = 0;; i++) {
		snprintf(sql, sizeof(sql), "SELECT name FROM sqlite_temp_master ORDER BY name LIMIT 1 OFFSET %d", i);
		snprintf(name, sizeof(name), "%s", ask(q, sql));
		if (!*name)
			break;
		snprintf(sql, sizeof(sql), "SELECT count(*) >= 0 FROM \"%s\"", name);
		assert_string_equal(ask(q, sql), "1");
	}
	close_text(q);
}

/* What was made in a transaction goes with it. */
static void test_a_transaction_is_taken_back(void **state)
{
	expect(state, "BEGIN", "");
	expect(state, "SELECT count(*) FROM NVTX_EVENTS WHERE eventType = 60", "2");
	expect(state, "ROLLBACK", "");
	expect(state, "SELECT count(*) FROM NVTX_EVENTS WHERE eventType = 60", "2");
	expect(state, "DROP TABLE NVTX_EVENTS", "");
	expect(state, "SELECT count(*) FROM NVTX_EVENTS WHERE eventType = 60", "2");
}

static void test_a_file_beside_has_the_same_names(void **state)
{
	expect(state, "ATTACH ':memory:' AS other", "");
	expect(state, "CREATE TABLE other.PROCESSES(pid)", "");
	expect(state, "SELECT count(*) FROM other.PROCESSES", "0");
	expect(state, "SELECT count(*) > 0 FROM PROCESSES", "1");
	expect(state, "CREATE TEMP VIEW ends AS SELECT end FROM NVTX_EVENTS WHERE eventType = 60", "");
	expect(state, "SELECT count(*) FROM ends", "2");
}

/* A table is there although nothing of it is to be shown. */
static void test_a_filter_does_not_hide_tables(void **state)
{
	struct scope_request request = { .time = "900s/901s" };
	struct error err;

	assert_int_equal(query_set_scope(*state, &request, &err), 0);
	expect(state, "SELECT count(*) FROM NVTX_EVENTS WHERE eventType = 59", "0");
	assert_true(query_has_table(*state, "ENUM_NSYS_EVENT_TYPE"));
}

#define OF_ITS_OWN(test) cmocka_unit_test_setup_teardown(test, set_up, golden_tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		OF_ITS_OWN(test_only_what_is_named_is_made),
		OF_ITS_OWN(test_the_list_is_whole),
		OF_ITS_OWN(test_what_has_no_rows_is_there_but_not_listed),
		cmocka_unit_test(test_an_empty_report_has_every_table),
		OF_ITS_OWN(test_a_transaction_is_taken_back),
		OF_ITS_OWN(test_a_file_beside_has_the_same_names),
		OF_ITS_OWN(test_a_filter_does_not_hide_tables),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
