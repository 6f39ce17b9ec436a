/* Which metrics of a set one pass can count: by the real CUPTI, which answers for any chip without a GPU. Skipped where there is none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../sanitized.h"
#include "record/gpu/counters.h"

static struct cupti_pm pm;
static struct metric_set set;
static struct counter_choice choice;

static int load(void **state)
{
	char why[512];

	/* A driver is not needed to ask. CUPTI loads a library in a way that sanitizers refuse. */
	if (SANITIZED || cupti_pm_load(&pm, why, sizeof(why)) < 0)
		memset(&pm, 0, sizeof(pm));
	return 0;
}

static int try(const char *chip)
{
	free(choice.image);
	return counter_choose(&pm, chip, NULL, &set, &choice);
}

static void choose(const char *chip)
{
	assert_int_equal(try(chip), 0);
	assert_non_null(choice.image);
}

static void general(void)
{
	struct error err = { "" };

	if (!pm.library)
		skip();
	assert_int_equal(metric_set_read(&set, SHARE "/metrics/general.set", &err), 0);
}

static void all_of_it_on_data_centre_chips(void **state)
{
	static const char *const chips[] = { "GA100", "GA102", "GH100" };

	general();
	for (size_t i = 0; i < sizeof(chips) / sizeof(chips[0]); i++) {
		choose(chips[i]);
		assert_int_equal(choice.count, set.count);
		assert_string_equal(choice.unknown, "");
		assert_string_equal(choice.left_out, "");
	}
}

/* The most important ones are on every chip that can sample. */
static void some_of_it_on_all(void **state)
{
	static const char *const chips[] = { "TU102", "AD102", "GA10B" };

	general();
	for (size_t i = 0; i < sizeof(chips) / sizeof(chips[0]); i++) {
		choose(chips[i]);
		assert_true(choice.count >= 6);
		assert_string_equal(choice.names[0], "gr__cycles_active.sum.pct_of_peak_sustained_elapsed");
		assert_string_equal(choice.names[1], "sm__cycles_active.avg.pct_of_peak_sustained_elapsed");
	}
	/* Ada has no NVLink. */
	choose("AD102");
	assert_non_null(strstr(choice.unknown, "NVLink RX"));
}

static void what_does_not_fit(void **state)
{
	general();
	set.count = 3;
	snprintf(set.entries[0].metric, sizeof(set.entries[0].metric), "sm__inst_issued.avg.pct_of_peak_sustained_elapsed");
	snprintf(set.entries[1].metric, sizeof(set.entries[1].metric), "sm__inst_executed_pipe_tensor.avg.pct_of_peak_sustained_elapsed");
	snprintf(set.entries[1].title, sizeof(set.entries[1].title), "Two Passes");
	snprintf(set.entries[2].metric, sizeof(set.entries[2].metric), "nothing__like.this");
	snprintf(set.entries[2].title, sizeof(set.entries[2].title), "Nothing");
	choose("GH100");
	assert_int_equal(choice.count, 1);
	assert_string_equal(choice.left_out, "Two Passes");
	assert_string_equal(choice.unknown, "Nothing");
	memmove(&set.entries[0], &set.entries[2], sizeof(set.entries[0]));
	set.count = 1;
	assert_int_equal(try("GH100"), -1);
	assert_true(try("NO100") > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_of_it_on_data_centre_chips),
		cmocka_unit_test(some_of_it_on_all),
		cmocka_unit_test(what_does_not_fit),
	};

	return cmocka_run_group_tests(tests, load, NULL);
}
