/* Metrics of chips, by the real CUPTI, which answers for any chip without a GPU. Skipped where there is none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cupti_here.h"
#include "kernel/choice/pass_schedule.h"
#include "kernel/metrics/throughput.h"

static struct cupti_host cupti;

static int load(void **state)
{
	cupti_here(&cupti);
	return 0;
}

static void open_chip(struct catalog *c, const char *chip)
{
	struct error err = { "" };

	if (!cupti.library)
		skip();
	if (catalog_open(c, &cupti, chip, HOST_PROFILER_RANGE, NULL, &err) < 0)
		fail_msg("%s", err.text);
}

static size_t count_type(const struct catalog *c, int type)
{
	size_t count = 0;

	for (size_t i = 0; i < c->count; i++)
		count += c->bases[i].type == type;
	return count;
}

/* How many there are is known of CUPTI 13.0; others have others, but not fewer kinds. */
static void base_metrics(void **state)
{
	struct catalog c;
	uint32_t version = 0;

	open_chip(&c, "gh100");
	cupti.cuptiGetVersion(&version);
	if (version / 100 == 1300) {
		assert_int_equal(count_type(&c, HOST_COUNTER), 3389);
		assert_int_equal(count_type(&c, HOST_RATIO), 205);
		assert_int_equal(count_type(&c, HOST_THROUGHPUT), 56);
	}
	assert_true(c.count > 1000);
	for (size_t i = 1; i < c.count; i++)
		assert_true(strcmp(c.bases[i - 1].name, c.bases[i].name) < 0);
	for (size_t i = 0; i < c.count; i++)
		assert_ptr_equal(catalog_find(&c, c.bases[i].name, strlen(c.bases[i].name)), &c.bases[i]);
	assert_null(catalog_find(&c, "sm__cycles_activ", 16));
	assert_null(catalog_find(&c, "", 0));
	assert_non_null(catalog_find(&c, "sm__cycles_active.avg", 17));
	catalog_close(&c);
}

static void properties(void **state)
{
	struct metric_facts facts;
	struct catalog c;

	open_chip(&c, "GH100");
	assert_true(catalog_facts(&c, "dram__bytes.sum.per_second", &facts));
	assert_string_equal(facts.unit, "dram");
	assert_string_equal(facts.dimension, "byte/second");
	assert_int_equal(facts.type, HOST_COUNTER);
	assert_true(catalog_facts(&c, "l1tex__t_sector_hit_rate.pct", &facts));
	assert_int_equal(facts.type, HOST_RATIO);
	assert_false(catalog_facts(&c, "dram__bytes.pct", &facts));
	assert_false(catalog_facts(&c, "no__such", &facts));
	assert_false(catalog_facts(&c, "", &facts));
	catalog_close(&c);
}

/* Our own list of suffixes is CUPTI's, for one metric of each type. */
static void suffixes(void **state)
{
	static const char *const metrics[] = { "sm__cycles_active", "l1tex__t_sector_hit_rate", "sm__throughput" };
	struct host_sub_metrics list;
	struct catalog c;
	size_t count;

	open_chip(&c, "gh100");
	for (int type = HOST_COUNTER; type <= HOST_THROUGHPUT; type++) {
		const char *const *ours = catalog_suffixes(type, &count);

		list = (struct host_sub_metrics)PM_PARAMETERS(host_sub_metrics, names);
		list.host = c.host;
		list.type = type;
		list.metric = metrics[type];
		assert_int_equal(cupti.cuptiProfilerHostGetSubMetrics(&list), 0);
		assert_int_equal(list.count, count);
		for (size_t i = 0; i < count; i++)
			assert_string_equal(list.names[i], ours[i]);
	}
	catalog_close(&c);
}

static void chips(void **state)
{
	char(*names)[CHIP_NAME_MAX];
	struct catalog c;
	struct error err;
	int count;

	if (!cupti.library)
		skip();
	count = catalog_chips(&cupti, &names);
	assert_true(count > 10);
	for (int i = 1; i < count; i++)
		assert_true(strcmp(names[i - 1], names[i]) < 0);
	free(names);
	assert_true(catalog_open(&c, &cupti, "gh10", HOST_PROFILER_RANGE, NULL, &err) < 0);
	assert_non_null(strstr(err.text, "gh100"));
	assert_true(catalog_open(&c, &cupti, "", HOST_PROFILER_RANGE, NULL, &err) < 0);
	assert_true(catalog_open(&c, &cupti, "gv11b", HOST_PROFILER_RANGE, NULL, &err) < 0);
	assert_non_null(strstr(err.text, "GV11B"));
}

struct parts {
	size_t count;
	unsigned seen;
};

static int note_part(void *context, const char *part)
{
	static const char *const known[] = { "sm__instruction_throughput.avg.pct_of_peak_sustained_elapsed",
					     "sm__inst_executed.avg.pct_of_peak_sustained_elapsed",
					     "sm__memory_throughput.avg.pct_of_peak_sustained_elapsed",
					     "sm__inst_executed_pipe_lsu.avg.pct_of_peak_sustained_elapsed",
					     "idc__request_cycles_active.avg.pct_of_peak_sustained_elapsed" };
	struct parts *parts = context;

	parts->count++;
	for (unsigned i = 0; i < 5; i++)
		if (strcmp(part, known[i]) == 0)
			parts->seen |= 1u << i;
	return 0;
}

static int stop_at_once(void *context, const char *part)
{
	++*(int *)context;
	return -7;
}

static void breakdowns(void **state)
{
	struct parts parts = { 0 };
	struct catalog c;
	int calls = 0;

	open_chip(&c, "gh100");
	if (!c.nvperf.library) {
		catalog_close(&c);
		skip();
	}
	assert_int_equal(catalog_breakdown(&c, "sm__throughput.avg.pct_of_peak_sustained_elapsed", note_part, &parts), 0);
	assert_int_equal(parts.seen, 31);
	/* 15 and 9 counters, and the two throughputs they belong to. */
	assert_in_range(parts.count, 20, 40);
	assert_int_equal(catalog_breakdown(&c, "sm__throughput", stop_at_once, &calls), -7);
	assert_int_equal(calls, 1);
	assert_true(catalog_breakdown(&c, "sm__cycles_active.avg", note_part, &parts) < 0);
	assert_true(catalog_breakdown(&c, "no__such", note_part, &parts) < 0);
	catalog_close(&c);
}

struct known_parts {
	const char *const *parts;
	size_t count, unknown;
};

static int look_for_part(void *context, const char *part)
{
	struct known_parts *known = context;
	size_t len = metric_base_len(part);

	/* Throughputs in between are made of what follows them. */
	if (len >= 10 && memcmp(part + len - 10, "throughput", 10) == 0)
		return 0;
	known->count++;
	for (const char *const *at = known->parts; *at; at++)
		if (strlen(*at) == len && memcmp(*at, part, len) == 0)
			return 0;
	known->unknown++;
	return 0;
}

/* What readers without CUPTI know of throughputs is what it says of each chip. */
static void parts_without_cupti(void **state)
{
	static const char *const chips_named[] = { "gv100", "tu102", "ga100", "ga102", "ad102", "gh100", "gb100", "gb202" };
	static const char *const metrics[] = { "sm__throughput.avg.pct_of_peak_sustained_elapsed",
					       "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed" };
	struct catalog c;

	assert_null(throughput_parts("sm__cycles_active", 17));
	for (size_t i = 0; i < sizeof(chips_named) / sizeof(chips_named[0]); i++) {
		open_chip(&c, chips_named[i]);
		for (size_t j = 0; c.nvperf.library && j < 2; j++) {
			struct known_parts known = { throughput_parts(metrics[j], metric_base_len(metrics[j])), 0, 0 };

			assert_non_null(known.parts);
			assert_int_equal(catalog_breakdown(&c, metrics[j], look_for_part, &known), 0);
			assert_in_range(known.count, 15, 60);
			assert_int_equal(known.unknown, 0);
		}
		catalog_close(&c);
	}
}

static size_t passes_of(const struct catalog *c, enum schedule_way way, const char *const *names, size_t count, size_t *refused)
{
	struct schedule s;
	struct error err = { "" };
	size_t passes;

	if (schedule_make(&s, c, way, names, count, &err) < 0)
		fail_msg("%s", err.text);
	passes = s.passes;
	*refused = s.refused_count;
	schedule_release(&s);
	return passes;
}

static void passes(void **state)
{
	static const char *const one[] = { "sm__cycles_active.avg", "sm__inst_executed.sum" };
	static const char *const link[] = { "sm__cycles_active.avg", "pcie__read_bytes.sum.per_second" };
	static const char *const bad[] = { "sm__cycles_active.avg", "ctc__rx_bytes_data_user.sum.pct_of_peak_sustained_elapsed",
					   "sm__inst_executed.sum" };
	static const char *const unknown[] = { "sm__cycles_active.avg", "sm__no_such_thing.sum", "sm__inst_executed.sum" };
	struct catalog c;
	size_t refused;

	open_chip(&c, "gh100");
	for (enum schedule_way way = SCHEDULE_APART; way <= SCHEDULE_MIXED; way++) {
		assert_int_equal(passes_of(&c, way, one, 2, &refused), 1);
		assert_int_equal(refused, 0);
		/* CUPTI counts PCIe in a pass of its own. */
		assert_int_equal(passes_of(&c, way, link, 2, &refused), way == SCHEDULE_MIXED && c.nvperf.library ? 1 : 2);
		assert_int_equal(refused, 0);
		/* One that the chip cannot count does not take the others with it. */
		assert_int_equal(passes_of(&c, way, bad, 3, &refused), 1);
		assert_int_equal(refused, 1);
		assert_int_equal(passes_of(&c, way, unknown, 3, &refused), 1);
		assert_int_equal(refused, 1);
		assert_int_equal(passes_of(&c, way, one, 0, &refused), 0);
	}
	catalog_close(&c);
}

static void parts_of_a_schedule(void **state)
{
	assert_int_equal(schedule_part_of(SCHEDULE_APART, "pcie__read_bytes.sum"), SCHEDULE_PCIE);
	assert_int_equal(schedule_part_of(SCHEDULE_MIXED, "pcie__read_bytes.sum"), SCHEDULE_MAIN);
	assert_int_equal(schedule_part_of(SCHEDULE_MIXED, "nvlrx__bytes.sum"), SCHEDULE_NVLINK);
	assert_int_equal(schedule_part_of(SCHEDULE_MIXED, "CTC.TriageCompute.ctc__rx_bytes.sum"), SCHEDULE_C2C);
	assert_int_equal(schedule_part_of(SCHEDULE_APART, "sm__cycles_active.avg"), SCHEDULE_MAIN);
}

static void what_fits(void **state)
{
	const char *names[] = { "sm__cycles_active.avg", "nvlrx__bytes.sum", "pcie__read_bytes.sum", "sm__inst_executed.sum" };
	size_t count = 4;
	struct catalog c;

	open_chip(&c, "gh100");
	if (!c.nvperf.library) {
		catalog_close(&c);
		skip();
	}
	assert_int_equal(schedule_fit(&c, SCHEDULE_MIXED, names, &count), 1);
	assert_string_equal(names[1], "pcie__read_bytes.sum");
	assert_int_equal(schedule_fit(&c, SCHEDULE_APART, names, &count), 1);
	assert_int_equal(count, 2);
	assert_string_equal(names[1], "sm__inst_executed.sum");
	catalog_close(&c);
}

static void hints(void **state)
{
	struct catalog c;
	char hint[256];

	open_chip(&c, "gh100");
	assert_non_null(strstr(catalog_hint(&c, "sm__cycle_active.avg", hint, sizeof(hint)), " Did you mean sm__cycles_active"));
	assert_string_equal(catalog_hint(&c, "x", hint, sizeof(hint)), "");
	catalog_close(&c);
}

int main(void)
{
	/* clang-format off */
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(base_metrics),
		cmocka_unit_test(properties),
		cmocka_unit_test(suffixes),
		cmocka_unit_test(chips),
		cmocka_unit_test(breakdowns),
		cmocka_unit_test(parts_without_cupti),
		cmocka_unit_test(passes),
		cmocka_unit_test(parts_of_a_schedule),
		cmocka_unit_test(what_fits),
		cmocka_unit_test(hints),
	};
	/* clang-format on */

	return cmocka_run_group_tests(tests, load, NULL);
}
