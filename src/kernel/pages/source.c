#include "kernel/pages/source.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/macros.h"
#include "base/text/ending.h"
#include "kernel/source/opcode.h"
#include "kernel/pages/source_internal.h"
#include "kernel/source/compared_lines.h"

#define STALLED "smsp__pcsamp_warps_issue_stalled_"
#define NOT_ISSUED "_not_issued"

/* As ncu calls them, in its order. Those that are not `always` there are left out of kernels in which all are zero. */
static const struct {
	const char *title;
	const char *formula;
	bool always;
} columns[] = {
	{ "Warp Stall Sampling (All Samples)", "smsp__pcsamp_sample_count", true },
	{ "Warp Stall Sampling (Not-issued Samples)", "not_issued", true },
	{ "# Samples", "smsp__pcsamp_sample_count", true },
	{ "Instructions Executed", "inst_executed", true },
	{ "Thread Instructions Executed", "thread_inst_executed", true },
	{ "Predicated-On Thread Instructions Executed", "thread_inst_executed_true", true },
	{ "Avg. Threads Executed", "thread_inst_executed / inst_executed", true },
	{ "Avg. Predicated-On Threads Executed", "thread_inst_executed_true / inst_executed", true },
	{ "Avg. Predicated-On Threads Unexecuted", "32 - thread_inst_executed_true / inst_executed", true },
	{ "Divergent Branches", "smsp__branch_targets_threads_divergent", false },
	{ "L1 Tag Requests Global", "memory_l1_tag_requests_global", false },
	{ "L1 Conflicts Shared N-Way", "memory_l1_wavefronts_shared / inst_executed", false },
	{ "L1 Wavefronts Shared Excessive", "memory_l1_wavefronts_shared - memory_l1_wavefronts_shared_ideal", false },
	{ "L1 Wavefronts Shared", "memory_l1_wavefronts_shared", false },
	{ "L1 Wavefronts Shared Ideal", "memory_l1_wavefronts_shared_ideal", false },
	{ "L2 Theoretical Sectors Global Excessive", "memory_l2_theoretical_sectors_global - memory_l2_theoretical_sectors_global_ideal",
	  false },
	{ "L2 Theoretical Sectors Global", "memory_l2_theoretical_sectors_global", false },
	{ "L2 Theoretical Sectors Global Ideal", "memory_l2_theoretical_sectors_global_ideal", false },
	{ "L2 Theoretical Sectors Local", "memory_l2_theoretical_sectors_local", false },
};
#define COLUMNS COUNT_OF(columns)
_Static_assert(COLUMNS == SOURCE_COLUMNS, "the page has a formula for each");

/* As ncu abbreviates them; others stay as they are. */
static const struct {
	const char *reason;
	const char *title;
} stalls[] = {
	{ "barrier", "stall_barrier" },
	{ "branch_resolving", "stall_branch_resolving" },
	{ "dispatch_stall", "stall_dispatch" },
	{ "drain", "stall_drain" },
	{ "warpgroup_arrive", "stall_gmma" },
	{ "imc_miss", "stall_imc" },
	{ "lg_throttle", "stall_lg" },
	{ "long_scoreboard", "stall_long_sb" },
	{ "math_pipe_throttle", "stall_math" },
	{ "membar", "stall_membar" },
	{ "mio_throttle", "stall_mio" },
	{ "misc", "stall_misc" },
	{ "no_instructions", "stall_no_inst" },
	{ "not_selected", "stall_not_selected" },
	{ "selected", "stall_selected" },
	{ "short_scoreboard", "stall_short_sb" },
	{ "sleeping", "stall_sleep" },
	{ "tex_throttle", "stall_tex" },
	{ "wait", "stall_wait" },
};
#define STALLS COUNT_OF(stalls)
_Static_assert(STALLS == SOURCE_STALLS, "the page says of each whether it is shown");

struct looking {
	const struct kernel_source *source;
	const struct source_item *item;
};

static double not_issued(const struct kernel_source *s, const struct source_item *item)
{
	double sum = 0;

	for (size_t i = 0; i < s->book->metric_count; i++)
		if (strncmp(s->book->metrics[i], STALLED, strlen(STALLED)) == 0 && text_has_ending(s->book->metrics[i], NOT_ISSUED))
			sum += item->values[i];
	return sum;
}

/* What was not counted of an instruction is 0 where others have it. */
static double find_source_number(void *context, const char *metric)
{
	const struct looking *l = context;

	return strcmp(metric, "not_issued") == 0 ? not_issued(l->source, l->item) : source_value(l->source, l->item, metric);
}

const char *source_column_title(size_t column)
{
	return columns[column].title;
}

const char *source_stall_title(size_t stall)
{
	return stalls[stall].title;
}

double source_column_value(const struct source_page *p, const struct kernel_source *s, const struct source_item *item, size_t column)
{
	struct looking l = { s, item };
	double value = formula_value(&p->formulas[column], find_source_number, &l);

	return isfinite(value) ? value : 0;
}

double source_stall_value(const struct kernel_source *s, const struct source_item *item, size_t stall, bool without_issue)
{
	char name[128];
	double value;

	snprintf(name, sizeof(name), STALLED "%s%s", stalls[stall].reason, without_issue ? NOT_ISSUED : "");
	value = source_value(s, item, name);
	return isfinite(value) ? value : 0;
}

static void find_shown(struct source_page *p)
{
	const struct kernel_source *s = &p->instructions;

	for (size_t c = 0; c < COLUMNS; c++) {
		p->shown[c] = columns[c].always;
		for (size_t i = 0; i < s->count && !p->shown[c]; i++)
			p->shown[c] = source_column_value(p, s, &s->items[i], c) != 0;
	}
	for (size_t k = 0; k < 2 * STALLS; k++) {
		p->shown_stalls[k / STALLS][k % STALLS] = false;
		for (size_t i = 0; i < s->count && !p->shown_stalls[k / STALLS][k % STALLS]; i++)
			p->shown_stalls[k / STALLS][k % STALLS] = source_stall_value(s, &s->items[i], k % STALLS, k >= STALLS) != 0;
	}
}

const char *source_main_stall(const struct kernel_source *s, const struct source_item *item, double *ret_share)
{
	double most = 0, all = 0;
	const char *name = NULL;

	for (size_t i = 0; i < s->book->metric_count; i++) {
		const char *metric = s->book->metrics[i];

		if (strncmp(metric, STALLED, strlen(STALLED)) != 0 || text_has_ending(metric, NOT_ISSUED))
			continue;
		all += item->values[i];
		if (item->values[i] <= most)
			continue;
		most = item->values[i];
		name = metric + strlen(STALLED);
	}
	*ret_share = all > 0 ? most / all : 0;
	return name;
}

static void release_source_page(struct source_page *p)
{
	kernel_source_release(&p->instructions);
	kernel_source_release(&p->lines);
	kernel_source_release(&p->calls);
	kernel_source_release(&p->ptx);
	kernel_source_release(&p->before);
	kernel_source_release(&p->lines_before);
	kernel_source_release(&p->calls_before);
	kernel_source_release(&p->ptx_before);
}

static int load_compared_lines(struct kernel_source *ret, const struct kernel_source *from, struct kernel_source *ret_before,
			       const struct kernel_source *before, enum source_key key)
{
	TRY(kernel_source_lines(ret, from, key));
	if (before->book)
		TRY(kernel_source_lines(ret_before, before, key));
	if (before->book)
		TRY(kernel_source_match(ret, ret_before, key));
	return 0;
}

static int load_before(struct source_page *p, struct baseline *baseline, const struct kernel_result *k)
{
	size_t count = baseline ? baseline_matches(baseline, k) : 0;
	CLEANUP_FREE int64_t *results = calloc(count + 1, sizeof(*results));

	if (!results)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++)
		results[i] = baseline->matches[i]->id;
	TRY(kernel_source_mean(&p->before, p->options->before, results, count));
	return kernel_source_match_instructions(&p->instructions, &p->before);
}

static int load_source_page(struct source_page *p, const struct page_options *options, const struct kernel_result *k)
{
	int r = kernel_source_of(&p->instructions, p->book, k->id);

	if (r >= 0 && p->options->before)
		r = load_before(p, options->baseline, k);
	if (r >= 0)
		r = load_compared_lines(&p->lines, &p->instructions, &p->lines_before, &p->before,
					p->options->outermost ? SOURCE_OUTERMOST : SOURCE_WRITTEN);
	if (r >= 0)
		r = load_compared_lines(&p->calls, &p->instructions, &p->calls_before, &p->before, SOURCE_CALLS);
	if (r >= 0)
		r = load_compared_lines(&p->ptx, &p->instructions, &p->ptx_before, &p->before, SOURCE_IN_PTX);
	if (r >= 0)
		find_shown(p);
	p->is_inlined = false;
	for (size_t i = 0; r >= 0 && !p->options->only_ncu && i < p->instructions.count; i++)
		p->is_inlined |= *p->instructions.items[i].inlined != '\0';
	p->name = page_kernel_name(options, k);
	return r;
}

static int print_kernel(struct source_page *p, const struct page_options *options, const struct kernel_result *k, bool is_first)
{
	int r = load_source_page(p, options, k);

	if (r >= 0 && p->options->format == SOURCE_JSON)
		r = source_write_json(p, k, is_first);
	else if (r >= 0 && p->instructions.count)
		r = p->options->format == SOURCE_CSV ? source_write_csv(p) : source_write_text(p);
	release_source_page(p);
	return r;
}

int page_print_source(FILE *out, const struct kernel_results *results, const struct page_options *options, const struct source_book *book,
		      const struct source_options *source)
{
	struct source_page *p = calloc(1, sizeof(*p));
	char why[128];
	int r = p ? 0 : -ENOMEM;

	if (p)
		*p = (struct source_page){ .out = out, .book = book, .options = source };
	for (size_t c = 0; c < COLUMNS && r >= 0; c++)
		r = formula_parse(&p->formulas[c], columns[c].formula, strlen(columns[c].formula), why, sizeof(why));
	if (r >= 0 && source->format == SOURCE_JSON)
		fputs("{\"kernels\": [", out);
	for (size_t i = 0; i < results->count && r >= 0; i++)
		r = print_kernel(p, options, &results->items[i], i == 0);
	if (r >= 0 && source->format == SOURCE_JSON)
		fputs("\n]}\n", out);
	for (size_t c = 0; p && c < COLUMNS; c++)
		formula_release(&p->formulas[c]);
	free(p);
	return r;
}
