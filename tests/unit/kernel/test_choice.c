/* What sets, sections and names of metrics choose, with Sonde's own text files and the CUPTI of this machine. Skipped where there is none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "kernel/choice/choice.h"
#include "kernel/choice/pass_schedule.h"
#include "own_files.h"

struct chip {
	struct catalog counted, sampled;
	struct choice_sources sources;
};

static void open_chip(struct chip *c, const char *name)
{
	struct error err = { "" };

	if (!cupti.library)
		skip();
	memset(c, 0, sizeof(*c));
	if (catalog_open(&c->counted, &cupti, name, HOST_PROFILER_RANGE, NULL, &err) < 0)
		fail_msg("%s", err.text);
	if (catalog_open(&c->sampled, &cupti, name, HOST_PROFILER_PM, NULL, &err) < 0)
		memset(&c->sampled, 0, sizeof(c->sampled));
	c->sources = (struct choice_sources){ &sections, &glossary, &c->counted, c->sampled.host ? &c->sampled : NULL,
					      chip_capability(name) };
}

static void close_chip(struct chip *c)
{
	catalog_close(&c->counted);
	catalog_close(&c->sampled);
}

enum by { BY_SET, BY_SECTION, BY_METRIC };

static int choose(struct chip *c, enum by by, const char *word, bool companions, struct choice *ret, struct error *err)
{
	struct choice_request request = { .companions = companions };

	if (by == BY_SET) {
		request.sets = &word;
		request.set_count = 1;
	} else if (by == BY_SECTION) {
		request.sections = &word;
		request.section_count = 1;
	} else {
		request.metrics = &word;
		request.metric_count = 1;
	}
	return choice_make(ret, &c->sources, &request, err);
}

/* Everything that the sections name exists on these chips, or is not asked of them. */
static void every_name_exists(void **state)
{
	static const char *const chips[] = { "gh100", "ga100", "ad102", "gb100", "gb202", "tu102", "ga102", "gb10b" };
	struct choice choice;
	struct error err = { "" };
	struct chip c;

	for (size_t i = 0; i < sizeof(chips) / sizeof(chips[0]); i++) {
		open_chip(&c, chips[i]);
		if (choose(&c, BY_SECTION, "regex:.", true, &choice, &err) < 0)
			fail_msg("%s", err.text);
		assert_int_equal(choice.section_count, sections.count);
		if (choice.note_count)
			fail_msg("%zu notes, the first: %s", choice.note_count, choice.notes[0]);
		assert_true(choice.count > 900);
		choice_release(&choice);
		close_chip(&c);
	}
}

static void every_alias_is_a_metric(void **state)
{
	struct choice choice;
	struct error err = { "" };
	struct chip c;
	size_t count = 0;

	open_chip(&c, "gh100");
	for (size_t i = 0; i < glossary.count; i++) {
		if (glossary.terms[i].kind != TERM_ALIAS)
			continue;
		if (choose(&c, BY_METRIC, glossary.terms[i].name, false, &choice, &err) < 0)
			fail_msg("%s", err.text);
		assert_int_equal(choice.count, 1);
		assert_string_equal(choice.metrics[0].name, glossary.terms[i].text);
		assert_int_equal(choice.note_count, 1);
		choice_release(&choice);
		count++;
	}
	assert_true(count > 20);
	close_chip(&c);
}

/* Passes as published for the metrics that ncu's sections name: without breakdowns, groups of metrics and links. */
static const struct {
	const char *chip;
	size_t basic, detailed, full, roofline;
} published[] = {
	{ "gh100", 9, 12, 25, 16 }, { "ga100", 10, 11, 23, 14 }, { "ad102", 8, 10, 24, 16 },
	{ "gb100", 8, 13, 23, 15 }, { "gb202", 9, 12, 28, 19 },
};

static void hide_groups(bool hidden)
{
	for (size_t i = 0; i < sections.count; i++) {
		for (size_t k = 0; k < sections.items[i].block_count; k++) {
			struct section_block *b = &sections.items[i].blocks[k];

			if (!b->group[0] && b->kind != BLOCK_BREAKDOWN)
				continue;
			b->cc.count = hidden;
			b->cc.ranges[0].from = b->cc.ranges[0].to = 9999;
		}
	}
}

static struct schedule schedule_of(struct chip *c, enum schedule_way way, const char **names, size_t count)
{
	struct schedule schedule;
	struct error err = { "" };

	if (schedule_make(&schedule, &c->counted, way, names, count, &err) < 0)
		fail_msg("%s", err.text);
	return schedule;
}

static size_t passes_of(struct chip *c, const char *set, size_t *ret_all)
{
	struct choice choice;
	struct schedule schedule;
	struct error err = { "" };
	const char **names;
	size_t count, passes;

	if (choose(c, BY_SET, set, true, &choice, &err) < 0)
		fail_msg("%s", err.text);
	names = choice_names(&choice, METRIC_COUNTED, &count);
	schedule = schedule_of(c, SCHEDULE_MIXED, names, count);
	assert_int_equal(schedule.refused_count, 0);
	passes = schedule.parts[SCHEDULE_MAIN].passes;
	*ret_all = schedule.passes;
	schedule_release(&schedule);
	free(names);
	choice_release(&choice);
	return passes;
}

/* Without links there is one way to count them. */
static void same_images(struct chip *c, const char **names, size_t count)
{
	struct schedule apart, mixed;
	size_t kept = 0;

	for (size_t i = 0; i < count; i++)
		if (schedule_part_of(SCHEDULE_APART, names[i]) == SCHEDULE_MAIN)
			names[kept++] = names[i];
	apart = schedule_of(c, SCHEDULE_APART, names, kept);
	mixed = schedule_of(c, SCHEDULE_MIXED, names, kept);
	assert_int_equal(apart.passes, mixed.passes);
	assert_int_equal(apart.parts[SCHEDULE_MAIN].image_size, mixed.parts[SCHEDULE_MAIN].image_size);
	assert_memory_equal(apart.parts[SCHEDULE_MAIN].image, mixed.parts[SCHEDULE_MAIN].image, mixed.parts[SCHEDULE_MAIN].image_size);
	schedule_release(&apart);
	schedule_release(&mixed);
}

static void nvperf_packs_as_cupti_does(void **state)
{
	static const char *const chips[] = { "gh100", "ga100", "ad102", "gb100", "gb202", "tu102" };
	struct schedule apart, mixed;
	struct error err = { "" };
	struct choice choice;
	const char **names;
	struct chip c;
	size_t count;

	for (size_t i = 0; i < sizeof(chips) / sizeof(chips[0]); i++) {
		open_chip(&c, chips[i]);
		if (c.counted.nvperf.library) {
			assert_int_equal(choose(&c, BY_SET, i == 0 ? "full" : "detailed", true, &choice, &err), 0);
			names = choice_names(&choice, METRIC_COUNTED, &count);
			apart = schedule_of(&c, SCHEDULE_APART, names, count);
			mixed = schedule_of(&c, SCHEDULE_MIXED, names, count);
			assert_int_equal(mixed.way, SCHEDULE_MIXED);
			assert_int_equal(mixed.parts[SCHEDULE_PCIE].count, 0);
			assert_in_range(mixed.passes, 1, apart.passes);
			same_images(&c, names, count);
			schedule_release(&apart);
			schedule_release(&mixed);
			choice_release(&choice);
			free(names);
		}
		close_chip(&c);
	}
}

/* What is taken from the folder is what would have been made; a damaged file is made again. */
static void kept_schedules(void **state)
{
	char folder[] = "/tmp/sonde-schedules-XXXXXX", command[128];
	struct schedule first, again;
	struct error err = { "" };
	struct choice choice;
	const char **names;
	struct chip c;
	size_t count;

	open_chip(&c, "ga100");
	assert_non_null(mkdtemp(folder));
	c.counted.kept = folder;
	assert_int_equal(choose(&c, BY_SET, "detailed", true, &choice, &err), 0);
	names = choice_names(&choice, METRIC_COUNTED, &count);
	first = schedule_of(&c, SCHEDULE_MIXED, names, count);
	for (int damaged = 0; damaged < 2; damaged++) {
		snprintf(command, sizeof(command), "cd %s && %s *", folder, damaged ? "truncate -s -9" : "test -f");
		assert_int_equal(system(command), c.counted.nvperf.library ? 0 : 256);
		again = schedule_of(&c, SCHEDULE_MIXED, names, count);
		assert_int_equal(again.passes, first.passes);
		assert_memory_equal(again.parts[SCHEDULE_MAIN].image, first.parts[SCHEDULE_MAIN].image,
				    first.parts[SCHEDULE_MAIN].image_size);
		for (size_t i = 0; i < first.parts[SCHEDULE_MAIN].count; i++)
			assert_string_equal(again.parts[SCHEDULE_MAIN].names[i], first.parts[SCHEDULE_MAIN].names[i]);
		schedule_release(&again);
	}
	snprintf(command, sizeof(command), "rm -r %s", folder);
	assert_int_equal(system(command), 0);
	schedule_release(&first);
	free(names);
	choice_release(&choice);
	close_chip(&c);
}

static void no_more_passes_than_published(void **state)
{
	struct chip c;
	size_t all;

	for (size_t i = 0; i < sizeof(published) / sizeof(published[0]); i++) {
		open_chip(&c, published[i].chip);
		hide_groups(true);
		assert_in_range(passes_of(&c, "basic", &all), 1, published[i].basic);
		assert_in_range(passes_of(&c, "detailed", &all), 1, published[i].detailed);
		assert_in_range(passes_of(&c, "full", &all), 1, published[i].full);
		assert_in_range(passes_of(&c, "roofline", &all), 1, published[i].roofline);
		hide_groups(false);
		close_chip(&c);
	}
}

/* With breakdowns, tables and links: what ncu takes for set full on the same chip is 39 and more. */
static void all_of_full(void **state)
{
	struct chip c;
	size_t all;

	open_chip(&c, "gh100");
	passes_of(&c, "full", &all);
	assert_in_range(all, 20, 38);
	close_chip(&c);
}

static void bare_names(void **state)
{
	struct choice choice;
	struct error err = { "" };
	struct chip c;

	open_chip(&c, "gh100");
	assert_int_equal(choose(&c, BY_METRIC, "dram__bytes", false, &choice, &err), 0);
	assert_int_equal(choice.count, 4);
	assert_true(choice_has(&choice, "dram__bytes.sum") && choice_has(&choice, "dram__bytes.avg") &&
		    choice_has(&choice, "dram__bytes.min") && choice_has(&choice, "dram__bytes.max"));
	choice_release(&choice);
	assert_int_equal(choose(&c, BY_METRIC, "l1tex__t_sector_hit_rate", false, &choice, &err), 0);
	assert_int_equal(choice.count, 3);
	choice_release(&choice);
	assert_int_equal(choose(&c, BY_METRIC, "sm__throughput", false, &choice, &err), 0);
	assert_int_equal(choice.count, 1);
	choice_release(&choice);
	assert_int_equal(choose(&c, BY_METRIC, "launch__grid_size", false, &choice, &err), 0);
	assert_int_equal(choice.metrics[0].origin, METRIC_OWN);
	choice_release(&choice);
	close_chip(&c);
}

static void prefixes(void **state)
{
	struct choice choice;
	struct error err = { "" };
	struct chip c;

	open_chip(&c, "gh100");
	assert_int_equal(choose(&c, BY_METRIC, "regex:^dram__bytes(_read|_write)$", false, &choice, &err), 0);
	assert_int_equal(choice.count, 8);
	choice_release(&choice);
	assert_int_equal(choose(&c, BY_METRIC, "group:memory__dram_table", false, &choice, &err), 0);
	assert_true(choice_has(&choice, "dram__sectors_read.sum") && choice_has(&choice, "dram__bytes_write.sum.per_second"));
	assert_false(choice_has(&choice, "dram__sectors_read.avg"));
	choice_release(&choice);
	if (c.counted.nvperf.library) {
		assert_int_equal(choose(&c, BY_METRIC, "breakdown:sm__throughput", false, &choice, &err), 0);
		assert_true(choice_has(&choice, "sm__inst_executed_pipe_lsu.avg.pct_of_peak_sustained_elapsed"));
		choice_release(&choice);
	}
	assert_int_equal(choose(&c, BY_METRIC, "pmsampling:sm__inst_executed_realtime.avg.per_cycle_active", false, &choice, &err), 0);
	assert_int_equal(choice.metrics[0].origin, METRIC_SAMPLED);
	assert_string_equal(choice.metrics[0].name, "sm__inst_executed_realtime.avg.per_cycle_active");
	choice_release(&choice);
	close_chip(&c);
}

/* A metric that several sections name is there once; set default is basic; companions are asked for. */
static void sets(void **state)
{
	struct choice choice, plain, other;
	struct error err = { "" };
	struct chip c;

	open_chip(&c, "gh100");
	assert_int_equal(choose(&c, BY_SET, "full", true, &choice, &err), 0);
	for (size_t i = 0; i < choice.count; i++)
		for (size_t k = i + 1; k < choice.count; k++)
			assert_string_not_equal(choice.metrics[i].name, choice.metrics[k].name);
	assert_int_equal(choice.section_count, 21);
	choice_release(&choice);
	assert_int_equal(choose(&c, BY_SET, "default", true, &choice, &err), 0);
	assert_int_equal(choose(&c, BY_SET, "basic", true, &other, &err), 0);
	assert_int_equal(choose(&c, BY_SET, "basic", false, &plain, &err), 0);
	assert_int_equal(choice.count, other.count);
	assert_int_equal(choice.section_count, 4);
	assert_true(choice_has(&choice, "sm__cycles_active.max") && choice_has(&choice, "gpu__time_duration.min"));
	assert_false(choice_has(&plain, "gpu__time_duration.min"));
	assert_true(plain.count < choice.count);
	choice_release(&choice);
	choice_release(&other);
	choice_release(&plain);
	close_chip(&c);
}

static void refused(void **state)
{
	static const struct {
		enum by by;
		const char *word, *says;
	} bad[] = {
		{ BY_SET, "ful", "full" },
		{ BY_SECTION, "SpeedOfLigth", "SpeedOfLight" },
		{ BY_SECTION, "regex:^nothing$", "No section matches" },
		{ BY_SECTION, "regex:(", "cannot be read" },
		{ BY_METRIC, "sm__cycle_active.avg", "sm__cycles_active" },
		{ BY_METRIC, "sm__cycles_active.average", "The counter sm__cycles_active has no '.average'" },
		{ BY_METRIC, "l1tex__t_sector_hit_rate.avg", "The ratio" },
		{ BY_METRIC, "launch__grid_sizes", "not have a metric" },
		{ BY_METRIC, "regex:[", "cannot be read" },
		{ BY_METRIC, "regex:^nothing$", "matches" },
		{ BY_METRIC, "group:none", "Unknown group" },
		{ BY_METRIC, "breakdown:sm__cycles_active", "not a throughput" },
		{ BY_METRIC, "breakdown:", "not a throughput" },
		{ BY_METRIC, "pmsampling:none", "samples no metric" },
		{ BY_METRIC, "x", "not have a metric" },
	};
	struct choice choice;
	struct error err;
	struct chip c;

	open_chip(&c, "gh100");
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		err.text[0] = '\0';
		if (choose(&c, bad[i].by, bad[i].word, true, &choice, &err) == 0)
			fail_msg("accepted: %s", bad[i].word);
		if (!strstr(err.text, bad[i].says))
			fail_msg("%s: %s", bad[i].word, err.text);
	}
	close_chip(&c);
}

/* What a section asks for and the chip does not have is told, and the rest is chosen. */
static void a_section_may_ask_for_too_much(void **state)
{
	static const char text[] =
		"title = T\nsets = t\n[rows]\na = sm__cycles_active.avg\nb = sm__no_such.sum / 2\nc = pmsampling:no__such.sum\nd = sm__cycles_active\n";
	struct sections mine = { .count = 1 };
	struct choice choice;
	struct error err = { "" };
	struct chip c;

	open_chip(&c, "gh100");
	mine.items = calloc(1, sizeof(*mine.items));
	assert_int_equal(section_parse(&mine.items[0], "T.section", text, sizeof(text) - 1, &err), 0);
	c.sources.sections = &mine;
	assert_int_equal(choose(&c, BY_SECTION, "T", false, &choice, &err), 0);
	assert_int_equal(choice.count, 1);
	assert_int_equal(choice.note_count, 3);
	assert_non_null(strstr(choice.notes[0], "sm__no_such.sum"));
	choice_release(&choice);
	sections_release(&mine);
	close_chip(&c);
}

static void capabilities(void **state)
{
	assert_int_equal(chip_capability("gh100"), 90);
	assert_int_equal(chip_capability("GA10B"), 87);
	assert_int_equal(chip_capability("ga106"), 86);
	assert_int_equal(chip_capability("gb205"), 120);
	assert_int_equal(chip_capability("gb20b"), 121);
	assert_int_equal(chip_capability("tu117"), 75);
	assert_int_equal(chip_capability("nv1"), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_name_exists),
		cmocka_unit_test(every_alias_is_a_metric),
		cmocka_unit_test(nvperf_packs_as_cupti_does),
		cmocka_unit_test(kept_schedules),
		cmocka_unit_test(no_more_passes_than_published),
		cmocka_unit_test(all_of_full),
		cmocka_unit_test(bare_names),
		cmocka_unit_test(prefixes),
		cmocka_unit_test(sets),
		cmocka_unit_test(refused),
		cmocka_unit_test(a_section_may_ask_for_too_much),
		cmocka_unit_test(capabilities),
	};

	return cmocka_run_group_tests(tests, load, unload);
}
