/* /api/kernels, /api/kernel, /api/values, /api/explain: what a report of `sonde kernel` says. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "kernel/sections/explain.h"
#include "kernel/summary/group.h"
#include "view/request/routes.h"
#include "view/internal.h"
#include "view/kernels/kernels.h"

#define MOST_KERNELS 20000
#define MOST_NAME 512

void put_size_triple(struct json_out *j, const char *key, const uint32_t values[3])
{
	out_key(j, key);
	out_open(j, '[');
	for (unsigned i = 0; i < 3; i++)
		out_integer(j, values[i]);
	out_close(j, ']');
}

/* Why a kernel has no counters. */
static const char *error_of(const struct kernel_result *k)
{
	const struct metric_value *v = result_find(k, "profiler__error");

	return v && v->kind == VALUE_TEXT ? v->text : "";
}

static void put_baseline_columns(struct json_out *j, const struct kernel_before *before)
{
	out_put_integer(j, "matches", (int64_t)before->matches);
	out_key(j, "before");
	out_open(j, '{');
	for (size_t i = 0; i < KERNEL_COLUMNS; i++)
		put_json_number(j, kernel_columns[i].key, before->numbers[i]);
	out_close(j, '}');
}

static void put_warm(struct json_out *j, const struct kernel_result *k)
{
	bool has = false;

	for (size_t i = 0; i < KERNEL_COLUMNS && !has; i++)
		has = isfinite(result_warm(k, kernel_columns[i].metric));
	if (!has)
		return;
	out_key(j, "warm");
	out_open(j, '{');
	for (size_t i = 0; i < KERNEL_COLUMNS; i++)
		put_json_number(j, kernel_columns[i].key, result_warm(k, kernel_columns[i].metric));
	out_close(j, '}');
}

/* How long it took beside launches like it. */
static void put_typical(struct kernel_view *kv, const struct kernel_result *k)
{
	const struct typical *t = &kv->options.typical[k - kv->results->items];

	out_put_integer(kv->j, "alike", (int64_t)t->same);
	if (t->same < 2)
		return;
	put_json_number(kv->j, "median", t->median);
	put_json_number(kv->j, "above_median", t->percent);
	out_put_integer(kv->j, "typical", t->nearest ? t->nearest - kv->results->items : -1);
}

static void put_launch_of_kernel(struct kernel_view *kv, const struct kernel_result *k, const struct kernel_before *before)
{
	struct json_out *j = kv->j;
	double gain = result_gain(k);

	out_put_integer(j, "place", k - kv->results->items);
	out_put_integer(j, "id", k->number);
	out_put_text(j, "function", k->function);
	out_put_text(j, "name", k->name);
	out_put_text(j, "mangled", k->mangled);
	out_put_text(j, "process", k->process ? k->process->name : "");
	out_put_integer(j, "pid", k->process ? k->process->pid : 0);
	out_put_integer(j, "device", k->device);
	out_put_integer(j, "context", k->context);
	out_put_integer(j, "stream", k->stream);
	put_size_triple(j, "grid", k->grid);
	put_size_triple(j, "block", k->block);
	for (size_t i = 0; i < KERNEL_COLUMNS; i++)
		put_json_number(j, kernel_columns[i].key, result_number(k, kernel_columns[i].metric));
	put_json_number(j, "gain", gain);
	put_json_number(j, "improvement", gain / 100 * result_number(k, "gpu__time_duration.sum"));
	out_put_text(j, "verdict", k->verdict);
	out_put_text(j, "error", error_of(k));
	put_typical(kv, k);
	put_warm(j, k);
	if (before)
		put_baseline_columns(j, before);
}

static void put_device(struct json_out *j, const struct kernel_result *k)
{
	const struct metric_value *v = result_find(k, "device__attribute_display_name");
	char cc[32] = "";

	if (k->major)
		snprintf(cc, sizeof(cc), "%u.%u", k->major, k->minor);
	out_open(j, '{');
	out_put_integer(j, "device", k->device);
	out_put_text(j, "name", k->facts && *k->facts->name ? k->facts->name : v && v->kind == VALUE_TEXT ? v->text : "");
	out_put_text(j, "chip", k->facts ? k->facts->chip : "");
	out_put_text(j, "cc", cc);
	put_json_number(j, "sms", result_number(k, "launch__sm_count"));
	put_json_number(j, "sm_frequency", result_number(k, "gpc__cycles_elapsed.avg.per_second"));
	put_json_number(j, "dram_frequency", result_number(k, "dram__cycles_elapsed.avg.per_second"));
	out_close(j, '}');
}

/* What launches can be summed up by. */
static void put_ways(struct kernel_view *kv)
{
	bool has_ranges = false, has_operators = false;
	char name[512];

	for (size_t i = 0; i < kv->results->count && !(has_ranges && has_operators); i++) {
		const struct kernel_result *k = &kv->results->items[i];

		has_ranges = has_ranges || k->range_count > 0;
		has_operators = has_operators || k->operator;
		for (size_t n = 0; n < k->range_count && !has_operators; n++)
			has_operators = k->ranges[n].level >= 0 && operator_of(k->ranges[n].name, name, sizeof(name));
	}
	out_key(kv->j, "ways");
	out_open(kv->j, '[');
	out_string(kv->j, "kernel");
	if (has_ranges)
		out_string(kv->j, "nvtx");
	if (has_operators)
		out_string(kv->j, "operator");
	out_close(kv->j, ']');
}

static void put_kernel_list(struct kernel_view *kv, const struct kernel_before *before)
{
	const struct kernel_results *results = kv->results;
	size_t count = results->count < MOST_KERNELS ? results->count : MOST_KERNELS;

	out_open(kv->j, '{');
	out_put_integer(kv->j, "total", (int64_t)results->count);
	out_put_bool(kv->j, "imported", results->is_imported);
	out_key(kv->j, "gpus");
	out_open(kv->j, '[');
	/* Few devices: the first kernels have them all. */
	for (size_t i = 0; i < count && i < 256; i++)
		if (results_are_first_of_device(results, i))
			put_device(kv->j, &results->items[i]);
	out_close(kv->j, ']');
	put_ways(kv);
	out_key(kv->j, "kernels");
	out_open(kv->j, '[');
	for (size_t i = 0; i < count; i++) {
		out_open(kv->j, '{');
		put_launch_of_kernel(kv, &results->items[i], before ? &before[i] : NULL);
		out_close(kv->j, '}');
	}
	out_close(kv->j, ']');
	out_close(kv->j, '}');
}

int answer_kernels(struct view *v, struct params *p, struct answer *a, struct error *err)
{
	CLEANUP(kernel_view_end) struct kernel_view kv = { 0 };
	CLEANUP_FREE struct kernel_before *before = NULL;
	struct json_out j;

	TRY(kernel_view_begin(&kv, v, p, false, err));
	out_begin(&j, &a->body);
	kv.j = &j;
	TRY(kernel_view_look_around(&kv));
	if (kv.options.baseline)
		before = kernel_view_all_before(&kv);
	if (kv.options.baseline && !before)
		return -ENOMEM;
	put_kernel_list(&kv, before);
	return j.r;
}

static void put_rules(struct kernel_view *kv)
{
	struct json_out *j = kv->j;

	out_key(j, "rules");
	out_open(j, '[');
	for (size_t i = 0; i < kv->k->rule_count; i++) {
		const struct kernel_rule *rule = &kv->k->rules[i];

		out_open(j, '{');
		out_put_text(j, "section", rule->section);
		out_put_text(j, "name", rule->name);
		out_put_text(j, "type", rule->type);
		out_put_text(j, "text", rule->text);
		out_put_text(j, "gain_type", rule->gain_type);
		put_json_number(j, "gain", rule->gain);
		out_close(j, '}');
	}
	out_close(j, ']');
}

static void put_python(struct kernel_view *kv)
{
	struct json_out *j = kv->j;

	out_key(j, "python");
	out_open(j, '[');
	for (size_t i = 0; i < kv->k->python_count; i++) {
		out_open(j, '{');
		out_put_text(j, "function", kv->k->python[i].function);
		out_put_text(j, "file", kv->k->python[i].file);
		out_put_integer(j, "line", kv->k->python[i].line);
		out_close(j, '}');
	}
	out_close(j, ']');
}

/* Ranges that were open at the launch, and its call stack, innermost first. */
static void put_launch_location(struct kernel_view *kv)
{
	struct json_out *j = kv->j;

	out_key(j, "ranges");
	out_open(j, '[');
	for (size_t i = 0; i < kv->k->range_count; i++) {
		out_open(j, '{');
		out_put_text(j, "domain", kv->k->ranges[i].domain);
		out_put_text(j, "name", kv->k->ranges[i].name);
		out_put_integer(j, "level", kv->k->ranges[i].level);
		out_close(j, '}');
	}
	out_close(j, ']');
	out_key(j, "frames");
	out_open(j, '[');
	for (size_t i = 0; i < kv->k->frame_count; i++) {
		out_open(j, '{');
		out_put_text(j, "function", kv->k->frames[i].function);
		out_put_text(j, "module", kv->k->frames[i].module);
		out_close(j, '}');
	}
	out_close(j, ']');
	put_python(kv);
}

/* As measured, and the highest there are: roofs at full clocks are higher by as much. The clock is that of the roofs, which differs from the GPC's where a kernel is short. */
static void put_clocks(struct kernel_view *kv)
{
	double sm = result_number(kv->k, "sm__cycles_elapsed.avg.per_second");

	out_key(kv->j, "clocks");
	out_open(kv->j, '{');
	put_json_number(kv->j, "sm", isfinite(sm) ? sm : result_number(kv->k, "gpc__cycles_elapsed.avg.per_second"));
	put_json_number(kv->j, "sm_most", 1000 * result_number(kv->k, "device__attribute_clock_rate"));
	put_json_number(kv->j, "dram", result_number(kv->k, "dram__cycles_elapsed.avg.per_second"));
	put_json_number(kv->j, "dram_most", 1000 * result_number(kv->k, "device__attribute_memory_clock_rate"));
	out_close(kv->j, '}');
}

static const struct page_section *find_derived_origin(const struct page_sections *derived, const char *id)
{
	for (size_t i = 0; i < derived->count; i++)
		if (strcmp(derived->items[i].id, id) == 0)
			return &derived->items[i];
	return NULL;
}

static bool is_section_selected(const struct kernel_view *kv, const char *id)
{
	for (size_t i = 0; i < kv->options.selected_count; i++)
		if (strcmp(kv->selected[i]->id, id) == 0)
			return true;
	return false;
}

/* Also those that only have a picture, and those of another tool's table. */
static int put_sections(struct kernel_view *kv, const struct page_sections *derived)
{
	int r = 0;

	out_key(kv->j, "sections");
	out_open(kv->j, '[');
	for (size_t i = 0; i < kv->options.selected_count && r >= 0 && !kv->k->row_count; i++) {
		const struct page_section *found = find_derived_origin(derived, kv->selected[i]->id);
		struct page_section empty = { .id = kv->selected[i]->id, .title = kv->selected[i]->title };

		r = put_section(kv, found ? found : &empty);
	}
	for (size_t i = 0; i < derived->count && r >= 0; i++)
		if (kv->k->row_count || !is_section_selected(kv, derived->items[i].id))
			r = put_section(kv, &derived->items[i]);
	out_close(kv->j, ']');
	return r;
}

/* Sections that nothing was recorded for: by their names one asks for them. */
static void put_missing(struct kernel_view *kv, const struct page_sections *derived)
{
	const struct sections *all = &kv->texts->sections;

	out_key(kv->j, "missing");
	out_open(kv->j, '[');
	for (size_t i = 0; i < all->count; i++) {
		if (is_section_selected(kv, all->items[i].id) || find_derived_origin(derived, all->items[i].id) ||
		    (kv->cc && !cc_fits(&all->items[i].cc, kv->cc)))
			continue;
		out_open(kv->j, '{');
		out_put_text(kv->j, "id", all->items[i].id);
		out_put_text(kv->j, "title", all->items[i].title);
		out_put_text(kv->j, "about", all->items[i].about);
		out_close(kv->j, '}');
	}
	out_close(kv->j, ']');
}

static int put_kernel(struct kernel_view *kv)
{
	struct page_sections derived;
	struct kernel_before before;
	int r;

	TRY(kernel_view_choose(kv));
	TRY(kernel_view_look_around(kv));
	TRY(page_sections_make(&derived, &kv->options, kv->results, kv->k));
	out_open(kv->j, '{');
	if (kv->options.baseline)
		kernel_view_find_before(kv, kv->k, &before);
	put_launch_of_kernel(kv, kv->k, kv->options.baseline ? &before : NULL);
	out_put_integer(kv->j, "values", (int64_t)kv->k->value_count);
	r = put_sections(kv, &derived);
	put_rules(kv);
	put_missing(kv, &derived);
	put_launch_location(kv);
	put_clocks(kv);
	put_occupancy(kv);
	out_close(kv->j, '}');
	page_sections_release(&derived);
	TRY(r);
	return kv->j->r;
}

int answer_kernel(struct view *v, struct params *p, struct answer *a, struct error *err)
{
	CLEANUP(kernel_view_end) struct kernel_view kv = { 0 };
	struct json_out j;

	TRY(kernel_view_begin(&kv, v, p, true, err));
	out_begin(&j, &a->body);
	kv.j = &j;
	return put_kernel(&kv);
}

/* Whether the metric was counted with empty caches as well. */
static bool has_cold(const struct kernel_result *k, const char *warm)
{
	char name[MOST_NAME];
	size_t len = strlen(warm) - strlen(WARM_SUFFIX);

	return len < sizeof(name) && snprintf(name, sizeof(name), "%.*s", (int)len, warm) > 0 && result_find(k, name);
}

static int put_kernel_values(struct kernel_view *kv)
{
	out_open(kv->j, '{');
	out_key(kv->j, "values");
	out_open(kv->j, '[');
	for (size_t i = 0; i < kv->k->value_count; i++) {
		const struct metric_value *v = &kv->k->values[i];
		struct page_row row = { .label = v->name, .key = v->name, .value = *v };

		/* It stands beside the other. */
		if (is_warm(v->name) && has_cold(kv->k, v->name))
			continue;
		page_unit(kv->results, v, "", row.unit);
		TRY(put_metric_row(kv, NULL, &row));
	}
	out_close(kv->j, ']');
	out_close(kv->j, '}');
	return kv->j->r;
}

int answer_values(struct view *v, struct params *p, struct answer *a, struct error *err)
{
	CLEANUP(kernel_view_end) struct kernel_view kv = { 0 };
	struct json_out j;

	TRY(kernel_view_begin(&kv, v, p, true, err));
	out_begin(&j, &a->body);
	kv.j = &j;
	return put_kernel_values(&kv);
}

int answer_explain(struct view *v, struct params *p, struct answer *a, struct error *err)
{
	const char *name = params_text(p, "name");
	const struct view_texts *texts;
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	struct json_out j;
	int r;

	TRY(params_all_used(p, err));
	if (!name || !*name || strlen(name) > MOST_NAME)
		return error_set(err, EINVAL, "The name to explain is missing, or too long");
	r = view_texts(v, &texts, err);
	if (r >= 0)
		r = explain_metric(&text, &texts->glossary, &texts->sections, name, err);
	if (r < 0 && r != -ENOENT)
		return r;
	out_begin(&j, &a->body);
	out_open(&j, '{');
	out_put_text(&j, "text", r >= 0 ? buf_cstr(&text) : err->text);
	out_put_bool(&j, "known", r >= 0);
	out_close(&j, '}');
	return j.r;
}
