/* Strings, strings defined later, blobs. */
#include "support.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void same_bytes_same_id(void **state)
{
	struct report_writer *w = open_writer(*state);
	uint64_t a = report_string(w, "alpha", 5), empty = report_string(w, "", 0);
	uint64_t with_nul = report_string(w, "al\0ha", 5);
	struct report *r;
	size_t len;

	assert_int_not_equal(a, 0);
	assert_int_equal(report_string(w, "alphabet", 5), a);
	assert_int_not_equal(report_string(w, "alphabet", 8), a);
	assert_int_not_equal(empty, 0);
	assert_int_equal(report_string(w, "x", 0), empty);
	assert_int_not_equal(with_nul, a);
	assert_int_equal(report_writer_finish(w, NULL), 0);
	r = open_report(*state);
	assert_string_equal(report_text(r, a, &len), "alpha");
	assert_int_equal(len, 5);
	assert_string_equal(report_text(r, empty, &len), "");
	assert_memory_equal(report_text(r, with_nul, &len), "al\0ha", 6);
	assert_int_equal(len, 5);
	assert_null(report_text(r, 0, NULL));
	assert_null(report_text(r, 999, &len));
	assert_int_equal(len, 0);
	assert_int_equal(report_string_limit(r), 5);
	report_close(r);
}

/* Ids given out first and explained in another order, some never. */
static void defined_later(void **state)
{
	struct report_writer *w = open_writer(*state);
	uint64_t ids[1000];
	char text[32];
	struct report *r;

	for (int i = 0; i < 1000; i++) {
		ids[i] = report_string_later(w);
		report_string(w, text, (size_t)snprintf(text, sizeof(text), "between %d", i));
		if (i % 100 == 99)
			assert_int_equal(report_writer_tick(w, NULL, NULL, NULL), 0);
	}
	for (int i = 999; i >= 0; i -= 2) {
		assert_int_equal(report_string_define(w, ids[i], text, (size_t)snprintf(text, sizeof(text), "late %d", i)), 0);
		if (i % 50 == 49) /* several blocks of them */
			add_slice(w, (uint32_t)i, i, i + 1, ids[i]);
		if (i % 50 == 49)
			assert_int_equal(report_writer_tick(w, NULL, NULL, NULL), 0);
	}
	assert_int_equal(report_string_define(w, 0, "x", 1), -EINVAL);
	assert_int_equal(report_string_define(w, 5000, "x", 1), -EINVAL);
	assert_int_equal(report_writer_finish(w, NULL), 0);
	r = open_report(*state);
	for (int i = 0; i < 1000; i++) {
		snprintf(text, sizeof(text), "late %d", i);
		if (i % 2)
			assert_string_equal(report_text(r, ids[i], NULL), text);
		else
			assert_null(report_text(r, ids[i], NULL));
		snprintf(text, sizeof(text), "between %d", i);
		assert_string_equal(report_text(r, ids[i] + 1, NULL), text);
	}
	report_close(r);
}

static void a_million(void **state)
{
	struct report_writer *w = open_writer(*state);
	uint64_t first = report_string(w, "name 0", 6), id;
	struct report *r;
	char text[32];

	for (int round = 0; round < 2; round++)
		for (int i = 0; i < 1000000; i++) {
			id = report_string(w, text, (size_t)snprintf(text, sizeof(text), "name %d", i));
			assert_int_equal(id, first + (uint64_t)i);
		}
	assert_int_equal(report_writer_finish(w, NULL), 0);
	r = open_report(*state);
	assert_int_equal(report_string_limit(r), first + 1000000);
	for (int i = 999999; i >= 0; i--) {
		snprintf(text, sizeof(text), "name %d", i);
		assert_string_equal(report_text(r, first + (uint64_t)i, NULL), text);
	}
	report_close(r);
}

static void blobs(void **state)
{
	struct report_writer *w = open_writer(*state);
	uint64_t ids[300], seed = 9;
	uint8_t *bytes = malloc(100000);
	struct report *r;
	size_t len;

	for (size_t i = 0; i < 100000; i++)
		bytes[i] = (uint8_t)next_random(&seed);
	for (size_t i = 0; i < 300; i++)
		ids[i] = report_blob(w, bytes + i, i * 300);
	assert_int_not_equal(report_blob(w, bytes, 5), report_blob(w, bytes, 5));
	assert_int_equal(report_writer_finish(w, NULL), 0);
	r = open_report(*state);
	for (size_t i = 0; i < 300; i++) {
		const void *data = report_blob_data(r, ids[i], &len);

		assert_non_null(data);
		assert_int_equal(len, i * 300);
		assert_memory_equal(data, bytes + i, len);
	}
	assert_null(report_blob_data(r, 0, &len));
	free(bytes);
	report_close(r);
}

static void facts(void **state)
{
	struct report_writer *w = open_writer(*state);
	int64_t host[] = { (int64_t)report_string(w, "host", 4), (int64_t)report_string(w, "box", 3) };
	int64_t boot[] = { (int64_t)report_string(w, "boot", 4), (int64_t)report_string(w, "id", 2) };
	struct report *r;

	assert_int_equal(report_append(report_track(w, TABLE_META, 0), host, 3), 0);
	assert_int_equal(report_append(report_track(w, TABLE_META, 0), boot, 3), 0);
	host[1] = boot[1];
	assert_int_equal(report_append(report_track(w, TABLE_META, 0), host, 3), 0);
	assert_int_equal(report_writer_finish(w, NULL), 0);
	r = open_report(*state);
	assert_string_equal(report_meta(r, "host"), "box");
	assert_string_equal(report_meta(r, "boot"), "id");
	assert_null(report_meta(r, "other"));
	report_close(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(same_bytes_same_id, folder_setup, folder_teardown),
		cmocka_unit_test_setup_teardown(defined_later, folder_setup, folder_teardown),
		cmocka_unit_test_setup_teardown(a_million, folder_setup, folder_teardown),
		cmocka_unit_test_setup_teardown(blobs, folder_setup, folder_teardown),
		cmocka_unit_test_setup_teardown(facts, folder_setup, folder_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
