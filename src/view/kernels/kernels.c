#include "view/kernels/kernels.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/macros.h"
#include "kernel/results/derived.h"
#include "kernel/results/operators.h"
#include "kernel/metrics/share_folder.h"
#include "view/internal.h"

#define OWN_FOLDERS 4

/* Sonde's own metrics folder, the last, also has sets, of another kind. */
static int load_from(struct view_texts *texts, const char *const *folders, size_t count, struct error *err)
{
	int r;

	TRY(sections_load(&texts->sections, folders, count - 1, err));
	r = glossary_load(&texts->glossary, folders, count, err);
	if (r < 0)
		sections_release(&texts->sections);
	return r;
}

static int load_texts(struct view_texts *texts, const struct view_options *options, struct error *err)
{
	static const char *const names[OWN_FOLDERS] = { "sections", "sets", "rules", "metrics" };
	size_t given = options->text_folder_count;
	CLEANUP_FREE const char **folders = calloc(given + OWN_FOLDERS, sizeof(*folders));
	char paths[OWN_FOLDERS][4096];

	if (!folders)
		return -ENOMEM;
	for (size_t i = 0; i < given; i++)
		folders[i] = options->text_folders[i];
	for (size_t i = 0; i < OWN_FOLDERS; i++) {
		if (share_folder(names[i], paths[i], sizeof(paths[i])) < 0)
			return error_set(err, ENOENT, "share/%s is missing beside the program", names[i]);
		folders[given + i] = paths[i];
	}
	return load_from(texts, folders, given + OWN_FOLDERS, err);
}

int view_texts(struct view *v, const struct view_texts **ret, struct error *err)
{
	struct view_texts *derived;
	int r = 0;

	pthread_mutex_lock(&v->lock);
	if (!v->texts) {
		derived = calloc(1, sizeof(*derived));
		r = derived ? load_texts(derived, &v->options, err) : -ENOMEM;
		if (r < 0)
			free(derived);
		else
			v->texts = derived;
	}
	*ret = v->texts;
	pthread_mutex_unlock(&v->lock);
	return r;
}

void view_texts_release(struct view *v)
{
	if (!v->texts)
		return;
	sections_release(&v->texts->sections);
	glossary_release(&v->texts->glossary);
	free(v->texts);
	v->texts = NULL;
}

static int load_kernels(struct view_report *r, const struct sections *texts, const char *operators, struct kernel_results *ret,
			struct error *err)
{
	int rc;

	/* Texts of a report are one thread's at a time. */
	pthread_mutex_lock(&r->text_lock);
	rc = kernel_results_load(ret, r->report, err);
	pthread_mutex_unlock(&r->text_lock);
	if (rc < 0)
		return rc;
	rc = derive_values(ret);
	if (rc >= 0)
		rc = apply_rules(ret, texts);
	if (rc >= 0 && operators)
		rc = operators_apply(ret, operators, err);
	rc = rc > 0 ? 0 : rc;
	if (rc < 0)
		kernel_results_release(ret);
	return rc;
}

int view_report_kernels(struct view_report *r, const struct sections *texts, const char *operators, struct kernel_results **ret,
			struct error *err)
{
	struct kernel_results *derived;
	int rc = 0;

	pthread_mutex_lock(&r->kernels_lock);
	if (!r->kernels) {
		derived = calloc(1, sizeof(*derived));
		rc = derived ? load_kernels(r, texts, operators, derived, err) : -ENOMEM;
		if (rc < 0)
			free(derived);
		else
			r->kernels = derived;
	}
	*ret = r->kernels;
	pthread_mutex_unlock(&r->kernels_lock);
	return rc;
}

void view_report_kernels_release(struct view_report *r)
{
	if (!r->kernels)
		return;
	kernel_results_release(r->kernels);
	free(r->kernels);
	r->kernels = NULL;
}

/* The mean over its like, or one kernel of another report. */
static int begin_baseline(struct kernel_view *kv, int64_t number, int64_t against, struct error *err)
{
	struct kernel_results *results;

	kv->other = view_take(kv->view, (size_t)number);
	TRY(view_report_kernels(kv->other, &kv->texts->sections, kv->view->options.operators, &results, err));
	if (against >= (int64_t)results->count)
		return error_set(err, EINVAL, "The baseline has %zu kernels", results->count);
	kv->baseline = (struct baseline){ .results = *results, .matches = calloc(results->count + 1, sizeof(*kv->baseline.matches)) };
	if (!kv->baseline.matches)
		return -ENOMEM;
	kv->options.baseline = &kv->baseline;
	kv->against = against >= 0 ? &results->items[against] : NULL;
	if (kv->k)
		kernel_view_compare(kv, kv->k);
	return 0;
}

void kernel_view_compare(struct kernel_view *kv, const struct kernel_result *k)
{
	if (!kv->against)
		return;
	kv->baseline.of = k;
	kv->baseline.matches[0] = kv->against;
	kv->baseline.match_count = 1;
}

static int find_kernel(struct kernel_view *kv, int64_t place, struct error *err)
{
	if (place >= (int64_t)kv->results->count)
		return error_set(err, EINVAL, "The report has %zu kernels", kv->results->count);
	kv->k = &kv->results->items[place];
	kv->cc = 10 * kv->k->major + kv->k->minor;
	return 0;
}

int kernel_view_begin(struct kernel_view *ret, struct view *v, struct params *p, bool one, struct error *err)
{
	int64_t place = -1, baseline = -1, against = -1;
	struct view_report *report;

	*ret = (struct kernel_view){ .view = v };
	TRY(view_asked_report(v, p, &report, err));
	if (one)
		TRY(params_integer(p, "kernel", 0, INT32_MAX, &place, err));
	TRY(params_integer_or(p, "baseline", 0, (int64_t)v->report_count - 1, -1, &baseline, err));
	if (baseline >= 0)
		TRY(params_integer_or(p, "against", 0, INT32_MAX, -1, &against, err));
	TRY(params_all_used(p, err));
	TRY(view_texts(v, &ret->texts, err));
	TRY(view_report_kernels(report, &ret->texts->sections, v->options.operators, &ret->results, err));
	ret->options = (struct page_options){ .details = DETAILS_ALL, .sections = &ret->texts->sections };
	if (one)
		TRY(find_kernel(ret, place, err));
	return baseline < 0 ? 0 : begin_baseline(ret, baseline, against, err);
}

void kernel_view_end(struct kernel_view *kv)
{
	free(kv->baseline.matches);
	free(kv->selected);
	free((void *)kv->options.typical);
	view_give(kv->view, kv->other);
}

static double find_kernel_number(void *context, const char *metric)
{
	return result_number(context, metric);
}

double kernel_view_number(const struct kernel_view *kv, const struct formula *f)
{
	return f->count ? formula_value(f, find_kernel_number, kv->k) : NAN;
}

double kernel_view_before(struct kernel_view *kv, const struct formula *f)
{
	return kv->options.baseline && f->count ? baseline_formula(&kv->baseline, kv->k, f) : NAN;
}

double kernel_view_warm(const struct kernel_view *kv, const struct formula *f)
{
	struct page_row row = { .formula = f };

	return f->count ? page_warm(kv->k, &row) : NAN;
}

int kernel_view_look_around(struct kernel_view *kv)
{
	kv->options.typical = find_typical(kv->results);
	return kv->options.typical ? 0 : -ENOMEM;
}

/* Facts of launch and machine: zeros of them say nothing. */
static bool is_fact(const char *metric)
{
	/* clang-format off */
	static const char *const starts[] = { "launch__", "device__", "nvlink__", "numa__", "c2clink__", "profiler__", "derived__",
					      "sm__maximum_warps", "smsp__maximum_warps" };
	/* clang-format on */

	for (size_t i = 0; i < COUNT_OF(starts); i++)
		if (strncmp(metric, starts[i], strlen(starts[i])) == 0)
			return true;
	return false;
}

static bool has_cell(const struct kernel_view *kv, const struct formula *f)
{
	const char *metric = formula_metric(f);
	const struct metric_value *v = metric ? result_find(kv->k, metric) : NULL;

	if (!metric)
		return isfinite(kernel_view_number(kv, f));
	return v && v->kind != VALUE_NONE && (!is_fact(metric) || v->kind == VALUE_TEXT || value_number(v) != 0);
}

/* Half of the counters that a block shows: single ones are there by chance. Of facts, and of what is there for nothing else, any. */
static bool has_block(const struct kernel_view *kv, const struct section_block *block)
{
	size_t wanted = 0, there = 0, facts = 0;

	for (size_t i = 0; i < block->row_count; i++) {
		const struct section_row *row = &block->rows[i];

		for (size_t j = 0; (!kv->cc || cc_fits(&row->cc, kv->cc)) && j < row->cell_count; j++) {
			const char *metric = formula_metric(&row->cells[j]);
			bool has = row->cells[j].count && has_cell(kv, &row->cells[j]);

			if (metric && is_fact(metric)) {
				facts += has;
			} else if (row->cells[j].count) {
				wanted++;
				there += has;
			}
		}
	}
	if (block->kind == BLOCK_TIMELINE || block->kind == BLOCK_CURVES)
		return there + facts > 0;
	return wanted ? there && 2 * there >= wanted : facts > 0;
}

static bool has_section(const struct kernel_view *kv, const struct section *s)
{
	if (kv->cc && !cc_fits(&s->cc, kv->cc))
		return false;
	for (size_t i = 0; i < s->block_count; i++)
		if (s->blocks[i].kind != BLOCK_COLLECT && (!kv->cc || cc_fits(&s->blocks[i].cc, kv->cc)) && has_block(kv, &s->blocks[i]))
			return true;
	return false;
}

int kernel_view_choose(struct kernel_view *kv)
{
	const struct sections *all = &kv->texts->sections;

	kv->selected = calloc(all->count + 1, sizeof(*kv->selected));
	if (!kv->selected)
		return -ENOMEM;
	kv->options.selected = kv->selected;
	for (size_t i = 0; i < all->count; i++)
		if (has_section(kv, &all->items[i]))
			kv->selected[kv->options.selected_count++] = &all->items[i];
	return 0;
}
