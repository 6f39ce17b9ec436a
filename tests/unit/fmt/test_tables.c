/* What the columns of the report's tables are for: readers ask for a role where they would list tables. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "fmt/tables.h"

static void a_column_is_found_by_what_it_is_for(void **state)
{
	(void)state;
	assert_int_equal(table_column(TABLE_SLICE, ROLE_NAME), COLUMN_SLICE_NAME);
	assert_int_equal(table_column(TABLE_GPU_KERNEL, ROLE_NAME), COLUMN_GPU_KERNEL_LAUNCH);
	assert_int_equal(table_column(TABLE_CUDA_API, ROLE_ERROR), COLUMN_CUDA_API_RESULT);
	assert_int_equal(table_column(TABLE_OSRT, ROLE_STACK), COLUMN_OSRT_STACK);
	assert_int_equal(table_column(TABLE_GPU_COPY, ROLE_MEMORY), COLUMN_GPU_COPY_SOURCE);
}

static void a_table_without_the_role_has_no_column(void **state)
{
	(void)state;
	assert_int_equal(table_column(TABLE_OSRT, ROLE_ERROR), -1); /* a result of -1 may be meant */
	assert_int_equal(table_column(TABLE_GPU_SET, ROLE_NAME), -1);
	assert_int_equal(table_column(TABLE_META, ROLE_NAME), -1);
	assert_int_equal(table_column(TABLE_ID_LIMIT, ROLE_NAME), -1);
	assert_int_equal(table_column(0, ROLE_NAME), -1);
}

static void only_spans_can_be_open(void **state)
{
	(void)state;
	assert_int_equal(table_open_column(TABLE_SLICE), COLUMN_SLICE_FLAGS);
	assert_int_equal(table_open_column(TABLE_OSRT), COLUMN_OSRT_FLAGS);
	assert_int_equal(table_column(TABLE_INSTANT, ROLE_FLAGS), COLUMN_INSTANT_FLAGS);
	assert_int_equal(table_open_column(TABLE_INSTANT), -1);
	assert_int_equal(table_open_column(TABLE_GPU_KERNEL), -1);
}

/* A call is found by the number that its work has. */
static void work_and_calls_have_correlations(void **state)
{
	unsigned calls = 0;

	(void)state;
	for (unsigned table = 0; table < TABLE_ID_LIMIT; table++) {
		int work = table_column(table, ROLE_WORK), call = table_column(table, ROLE_CALL);

		assert_int_equal(work >= 0, table_is_work(table));
		calls += call >= 0;
		if (work >= 0 || call >= 0)
			assert_true(table_schema(table)->columns[work >= 0 ? work : call].roles & ROLE_CORRELATION);
		assert_true(work < 0 || table_schema(table)->kind == TABLE_KIND_SPAN);
	}
	assert_int_equal(calls, 1);
}

/* What is handed on must not tell of places: names of such columns give them away. */
static void texts_that_report_places_say_so(void **state)
{
	static const char *const names[] = { "path", "exe", "host", "cmdline", "file" };

	(void)state;
	for (unsigned table = 0; table < TABLE_ID_LIMIT; table++) {
		const struct table_schema *schema = table_schema(table);

		for (unsigned c = 0; schema && table != TABLE_NVTX_SCOPE && c < schema->column_count; c++)
			for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
				if (schema->columns[c].type == COLUMN_TYPE_STR && strcmp(schema->columns[c].name, names[i]) == 0 &&
				    !(schema->columns[c].roles & (ROLE_PATH | ROLE_HOST | ROLE_COMMAND)))
					fail_msg("%s.%s", schema->name, names[i]);
	}
}

/* Numbers of kinds are part of the file format. */
static void kinds_of_tracks_lead_to_their_table(void **state)
{
	(void)state;
	for (unsigned table = 0; table < TABLE_ID_LIMIT; table++) {
		const struct table_tracks *tracks = table_tracks(table);

		if (!tracks)
			continue;
		assert_int_equal(table_of_tracks(tracks->kind), table);
		assert_non_null(tracks->word);
		assert_int_not_equal(table_schema(table)->kind, TABLE_KIND_PLAIN);
	}
	assert_int_equal(table_tracks(TABLE_RUN)->kind, 7);
	assert_int_equal(table_tracks(TABLE_GPU_KERNEL)->kind, 10);
	assert_int_equal(table_tracks(TABLE_GPU_SWITCH)->kind, 19);
	assert_int_equal(table_of_tracks(TRACK_NVTX_PUSHPOP), 0);
	assert_int_equal(table_of_tracks(TRACK_GENERIC), 0);
	assert_int_equal(table_of_tracks(0), 0);
	assert_null(table_tracks(TABLE_SLICE));
	assert_null(table_tracks(TABLE_ID_LIMIT));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_column_is_found_by_what_it_is_for),
		cmocka_unit_test(a_table_without_the_role_has_no_column),
		cmocka_unit_test(only_spans_can_be_open),
		cmocka_unit_test(work_and_calls_have_correlations),
		cmocka_unit_test(kinds_of_tracks_lead_to_their_table),
		cmocka_unit_test(texts_that_report_places_say_so),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
