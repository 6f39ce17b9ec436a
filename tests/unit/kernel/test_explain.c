/* Every name gets words: metrics of chips where there is CUPTI, and everything in Sonde's own files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "kernel/choice/catalog.h"
#include "kernel/sections/explain.h"
#include "own_files.h"

static void describe_all(const char *chip, int profiler)
{
	struct buf out = BUF_INIT;
	struct error err = { "" };
	struct catalog c;
	const char *name;

	if (catalog_open(&c, &cupti, chip, profiler, NULL, &err) < 0)
		fail_msg("%s", err.text);
	for (size_t i = 0; i < c.count; i++) {
		name = c.bases[i].name;
		buf_clear(&out);
		if (!explain_base(&out, &glossary, name, strlen(name)))
			fail_msg("%s: %s: %s", chip, name, buf_cstr(&out));
		name = strrchr(name, '.') ? strrchr(name, '.') + 1 : name;
		if (!glossary_find(&glossary, TERM_UNIT, name, (size_t)(strstr(name, "__") - name)))
			fail_msg("%s: the unit of %s has no description", chip, name);
	}
	buf_release(&out);
	catalog_close(&c);
}

static void every_metric_of_chips(void **state)
{
	static const char *const chips[] = { "gh100", "ga100", "ad102", "gb100", "gb202", "tu102", "gb10b" };

	if (!cupti.library)
		skip();
	for (size_t i = 0; i < sizeof(chips) / sizeof(chips[0]); i++) {
		describe_all(chips[i], HOST_PROFILER_RANGE);
		describe_all(chips[i], HOST_PROFILER_PM);
	}
}

/* Names in sections, with their rollups; without CUPTI as well. */
static void every_metric_of_sections(void **state)
{
	struct buf out = BUF_INIT;
	struct error err = { "" };
	size_t count = 0;

	for (size_t i = 0; i < sections.count; i++)
		for (size_t k = 0; k < sections.items[i].block_count; k++)
			for (size_t m = 0; m < sections.items[i].blocks[k].row_count; m++) {
				const struct formula *f = &sections.items[i].blocks[k].rows[m].cells[0];

				for (size_t n = 0; n < f->count; n++) {
					if (!f->steps[n].metric)
						continue;
					buf_clear(&out);
					if (explain_metric(&out, &glossary, &sections, f->steps[n].metric, &err) < 0)
						fail_msg("%s", err.text);
					count++;
				}
			}
	assert_true(count > 500);
	buf_release(&out);
}

static void says(const char *name, const char *words)
{
	struct buf out = BUF_INIT;
	struct error err = { "" };

	if (explain_metric(&out, &glossary, &sections, name, &err) < 0)
		fail_msg("%s", err.text);
	if (!strstr(buf_cstr(&out), words))
		fail_msg("%s: %s", name, buf_cstr(&out));
	buf_release(&out);
}

static void kinds_of_names(void **state)
{
	says("sm__warps_active.avg.pct_of_peak_sustained_active", "achieved occupancy");
	says("sm__warps_active.avg.pct_of_peak_sustained_active", "Shown in Occupancy: Achieved Occupancy");
	says("lts__t_sectors_srcunit_tex_op_read_lookup_hit.sum", "from first-level caches, reads, found in the cache.");
	says("smsp__average_warps_issue_stalled_lg_throttle_per_issue_active.ratio", "Warp state lg_throttle");
	says("XU", "Transcendental");
	says("GPC", "cluster");
	says("Achieved Occupancy", "sm__warps_active");
	says("SpeedOfLight", "How near");
	says("launch__grid_size", "Blocks of the grid.");
	says("achieved_occupancy", "is a name for");
	says("pmsampling:sm__cycles_active.avg", "multiprocessor");
	says("Occupancy", "Section Occupancy");
}

/* What parts of a name do not tell by themselves, as CUPTI describes it. */
static void words_that_mislead(void **state)
{
	says("sm__pipe_shared_cycles_active.avg", "FP64 and tensor");
	says("sm__mio_pq_write_cycles_active.avg", "operands from registers were put into the queue");
	says("l1tex__tmain_requests.avg", "sent to the tensor memory accelerator");
	says("l1tex__m_xbar2l1tex_read_sectors_mem_dshared.sum", "came over the crossbar");
	says("smsp__inst_executed_op_surface_atom_dot_cas.sum", "surfaces, atomics that compare and swap.");
	says("smsp__inst_executed_op_branch.sum", "exits");
	says("smsp__average_warps_issue_stalled_selected_per_issue_active.ratio", "Warps in one state: issuing");
	says("smsp__pcsamp_warps_issue_stalled_drain_not_issued", "in the state \"drain\" in cycles in which the scheduler issued nothing");
	says("drain", "atomics");
	says("adu", "constants");
	says("xu", "A quarter");
	says("device__attribute_async_engine_count", "copy memory while kernels run");
	says("device__attribute_maximum_texture2d_layered_width", "Width at most of a layered texture of two dimensions, in elements.");
}

/* All 19 states of a warp: as the row, as the column beside the source, with something to do. */
static void states_of_a_warp(void **state)
{
	/* clang-format off */
	static const char *const states[] = {
		"drain", "imc_miss", "barrier", "gmma", "branch_resolving", "membar", "short_scoreboard", "sleeping", "wait", "no_instruction",
		"math_pipe_throttle", "tex_throttle", "lg_throttle", "dispatch_stall", "misc", "not_selected", "selected", "long_scoreboard",
		"mio_throttle",
	};
	/* clang-format on */

	for (size_t i = 0; i < sizeof(states) / sizeof(states[0]); i++) {
		says(states[i], "Warp state");
		says(states[i], "What to do:");
	}
	says("Stall Long Scoreboard", "L1 or beyond");
	says("stall_long_sb", "L1 or beyond");
	says("stall_no_inst", "fetched");
}

static void unknown_names(void **state)
{
	static const char *const bad[] = { "smspp", "", "__", "sm__", "no__such_thing_at_all", "stall_", "x" };
	struct buf out = BUF_INIT;
	struct error err;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		err.text[0] = '\0';
		if (explain_metric(&out, &glossary, &sections, bad[i], &err) == 0)
			fail_msg("known: '%s': %s", bad[i], buf_cstr(&out));
		assert_non_null(strstr(err.text, "There is no explanation"));
	}
	buf_release(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_metric_of_chips), cmocka_unit_test(every_metric_of_sections), cmocka_unit_test(kinds_of_names),
		cmocka_unit_test(words_that_mislead),    cmocka_unit_test(states_of_a_warp),         cmocka_unit_test(unknown_names),
	};

	return cmocka_run_group_tests(tests, load, unload);
}
