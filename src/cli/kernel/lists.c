/* sonde kernel --list-sets, --list-sections, --list-metrics, --list-rules, --explain. */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "cli/kernel/options.h"
#include "kernel/sections/explain.h"
#include "kernel/choice/pass_schedule.h"

#define MOST_CHIPS 64

/* A set on one chip. */
struct cost {
	size_t metrics, passes;
};

static bool cost_of(struct cli *cli, const struct kernel_selected *selected, struct cost *ret)
{
	size_t count;
	const char **names = choice_names(&selected->choice, METRIC_COUNTED, &count);
	struct schedule schedule;
	struct error err;

	if (!names || schedule_make(&schedule, &selected->counted, SCHEDULE_MIXED, names, count, &err) < 0) {
		command_fail(cli, &kernel_command, "%s", names ? err.text : "Not enough memory");
		free(names);
		return false;
	}
	*ret = (struct cost){ selected->choice.count, schedule.passes };
	schedule_release(&schedule);
	free(names);
	return true;
}

static bool set_cost(struct cli *cli, const struct kernel_fields *fields, const struct kernel_texts *texts, const struct cupti_host *cupti,
		     const char *chip, const char *set, struct cost *ret)
{
	struct kernel_fields only = *fields;
	struct kernel_selected selected;
	bool ok;

	only.sets = (struct option_texts){ &set, 1 };
	only.sections = only.metrics = (struct option_texts){ NULL, 0 };
	if (!kernel_choose(cli, &only, texts, cupti, chip, &selected))
		return false;
	ok = cost_of(cli, &selected, ret);
	kernel_release_selected(&selected);
	return ok;
}

static void list_of_set(const struct kernel_texts *texts, const char *set, struct buf *ret)
{
	for (size_t i = 0; i < texts->sections.count; i++)
		if (section_in_set(&texts->sections.items[i], set))
			buf_printf(ret, "%s%s", ret->len ? ", " : "", texts->sections.items[i].id);
}

static bool is_default(const struct kernel_fields *fields, const struct kernel_texts *texts, const struct section_set *set)
{
	const char *text = NULL;
	char piece[256];
	size_t at = 0;

	while (next_piece(&fields->sets, &at, &text, piece, sizeof(piece)))
		if (sections_find_set(&texts->sections, piece) == set)
			return true;
	return !fields->sets.count && !fields->sections.count && !fields->metrics.count && strcmp(set->name, "basic") == 0;
}

/* "A, B, C" in lines of up to 80 characters, the first of which has begun. */
static void wrap(FILE *out, const char *text, int indent)
{
	size_t len, used = 0;

	while (*text) {
		len = strcspn(text, ",");
		len += text[len] == ',' ? 1 : 0;
		if (used && used + len > 80) {
			fprintf(out, "\n%*s", indent, "");
			used = 0;
		}
		used += (size_t)fprintf(out, "%s%.*s", used ? " " : "", (int)len, text);
		text += len + strspn(text + len, " ");
	}
	fputc('\n', out);
}

static bool print_set(struct cli *cli, const struct kernel_fields *fields, const struct kernel_texts *texts, const struct cupti_host *cupti,
		      const char *chip, const struct section_set *set)
{
	struct cost cost = { 0, 0 };
	struct buf sections = BUF_INIT;
	const char *enabled = is_default(fields, texts, set) ? "yes" : "no";

	if (chip && !set_cost(cli, fields, texts, cupti, chip, set->name, &cost))
		return false;
	list_of_set(texts, set->name, &sections);
	if (fields->csv) {
		fprintf(cli->out, "%s,\"%s\",\"%s\",%s,%zu,%zu\n", chip ? chip : "", set->name, buf_cstr(&sections), enabled, cost.metrics,
			cost.passes);
	} else {
		fprintf(cli->out, "%-11s %-7s ", set->name, enabled);
		if (chip)
			fprintf(cli->out, "%7zu %6zu  ", cost.metrics, cost.passes);
		wrap(cli->out, buf_cstr(&sections), chip ? 36 : 20);
	}
	buf_release(&sections);
	return true;
}

static bool print_sets(struct cli *cli, const struct kernel_fields *fields, const struct kernel_texts *texts,
		       const struct cupti_host *cupti, const char *chip)
{
	bool ok = true;

	if (!fields->csv) {
		if (chip)
			fprintf(cli->out, "Chip %s\n", chip);
		fprintf(cli->out, "%-11s %-7s %s%s\n", "Identifier", "Enabled", chip ? "Metrics Passes  " : "", "Sections");
		fprintf(cli->out, "----------- ------- %s--------\n", chip ? "------- ------  " : "");
	}
	for (size_t i = 0; ok && i < texts->sections.set_count; i++)
		ok = print_set(cli, fields, texts, cupti, chip, &texts->sections.sets[i]);
	return ok;
}

/* Without a chip there are no metrics and passes to tell of; sets are there all the same. */
static bool list_sets(struct cli *cli, const struct kernel_fields *fields, const struct kernel_texts *texts)
{
	char chips[MOST_CHIPS][CHIP_NAME_MAX], why[512] = "";
	size_t count = kernel_find_chips(fields, chips, MOST_CHIPS, why, sizeof(why));
	struct cupti_host cupti;
	bool ok = true;

	if (count && !kernel_load_cupti(cli, &cupti))
		return false;
	if (fields->csv)
		fputs("Chip,Identifier,Sections,Enabled,Metrics,Passes\n", cli->out);
	if (!count) {
		print_sets(cli, fields, texts, NULL, NULL);
		kernel_warn(cli, "note: There is no GPU on this machine (%s); --chips gh100 lists metrics and passes, too", why);
	}
	for (size_t i = 0; ok && i < count; i++)
		ok = print_sets(cli, fields, texts, &cupti, chips[i]);
	return ok;
}

int kernel_list_sets(struct cli *cli, const struct kernel_fields *fields)
{
	struct kernel_texts texts;
	bool ok;

	if (!kernel_load_texts(cli, fields, &texts))
		return 1;
	ok = list_sets(cli, fields, &texts);
	kernel_release_texts(&texts);
	return ok ? 0 : 1;
}

static bool enabled_by_options(const struct kernel_fields *fields, const struct kernel_texts *texts, const struct section *section)
{
	const char *text = NULL;
	char piece[256];
	size_t at = 0;

	for (size_t i = 0; i < texts->sections.set_count; i++)
		if (is_default(fields, texts, &texts->sections.sets[i]) && section_in_set(section, texts->sections.sets[i].name))
			return true;
	while (next_piece(&fields->sections, &at, &text, piece, sizeof(piece)))
		if (strcasecmp(piece, section->id) == 0)
			return true;
	return false;
}

int kernel_list_sections(struct cli *cli, const struct kernel_fields *fields)
{
	struct kernel_texts texts;
	const struct section *s;

	if (!kernel_load_texts(cli, fields, &texts))
		return 1;
	if (fields->csv)
		fputs("Identifier,Display Name,Enabled,Filename\n", cli->out);
	else
		fprintf(cli->out, "%-46s %-68s %-7s %s\n", "Identifier", "Display Name", "Enabled", "Filename");
	for (size_t i = 0; i < texts.sections.count; i++) {
		s = &texts.sections.items[i];
		fprintf(cli->out, fields->csv ? "\"%s\",\"%s\",%s,\"%s\"\n" : "%-46s %-68s %-7s %s\n", s->id, s->title,
			enabled_by_options(fields, &texts, s) ? "yes" : "no", s->path);
	}
	kernel_release_texts(&texts);
	return 0;
}

static void print_selected(struct cli *cli, const struct kernel_fields *fields, const struct kernel_selected *selected)
{
	static const char *const origins[METRIC_ORIGINS] = { "counted", "sampled", "own" };
	const struct choice *choice = &selected->choice;

	if (fields->csv)
		fputs("Chip,Metric Name,Origin\n", cli->out);
	for (size_t i = 0; i < choice->count; i++) {
		if (fields->csv)
			fprintf(cli->out, "%s,%s,%s\n", selected->counted.chip, choice->metrics[i].name,
				origins[choice->metrics[i].origin]);
		else
			fprintf(cli->out, "%s%s\n", choice->metrics[i].origin == METRIC_SAMPLED ? "pmsampling:" : "",
				choice->metrics[i].name);
	}
}

static bool list_metrics(struct cli *cli, const struct kernel_fields *fields, const struct kernel_texts *texts,
			 const struct cupti_host *cupti, const char *chip)
{
	struct kernel_selected selected;
	struct cost cost;
	bool ok;

	if (!kernel_choose(cli, fields, texts, cupti, chip, &selected))
		return false;
	print_selected(cli, fields, &selected);
	ok = cost_of(cli, &selected, &cost);
	if (ok)
		fprintf(cli->err, "%s: %zu metrics, %zu pass%s\n", selected.counted.chip, cost.metrics, cost.passes,
			cost.passes == 1 ? "" : "es");
	kernel_release_selected(&selected);
	return ok;
}

int kernel_list_metrics(struct cli *cli, const struct kernel_fields *fields)
{
	char(*chips)[CHIP_NAME_MAX];
	struct kernel_texts texts;
	struct cupti_host cupti;
	size_t count;
	bool ok;

	if (!kernel_chips(cli, fields, &chips, &count))
		return 1;
	ok = kernel_load_texts(cli, fields, &texts);
	if (ok) {
		ok = kernel_load_cupti(cli, &cupti);
		for (size_t i = 0; ok && i < count; i++)
			ok = list_metrics(cli, fields, &texts, &cupti, chips[i]);
		kernel_release_texts(&texts);
	}
	free(chips);
	return ok ? 0 : 1;
}

static void list_rule(FILE *out, bool csv, const char *id, const char *title, const char *section, const char *about)
{
	fprintf(out, csv ? "%s,\"%s\",%s,\"%s\"\n" : "%-26s %-22s %-31s %s\n", id, title, section, about);
}

int kernel_list_rules(struct cli *cli, const struct kernel_fields *fields)
{
	struct kernel_texts texts;

	if (!kernel_load_texts(cli, fields, &texts))
		return 1;
	fprintf(cli->out, fields->csv ? "Identifier,Display Name,Section,Description\n" : "%-26s %-22s %-31s %s\n", "Identifier",
		"Display Name", "Section", "Description");
	for (size_t i = 0; i < texts.sections.rule_count; i++) {
		const struct written_rule *rule = &texts.sections.rules[i];

		list_rule(cli->out, fields->csv, rule->id, rule->title, rule->section, rule->about);
	}
	kernel_release_texts(&texts);
	return 0;
}

int kernel_explain(struct cli *cli, const struct kernel_fields *fields)
{
	struct kernel_texts texts;
	struct buf out = BUF_INIT;
	struct error err;
	int r;

	if (!kernel_load_texts(cli, fields, &texts))
		return 1;
	r = explain_metric(&out, &texts.glossary, &texts.sections, fields->explain, &err);
	if (r < 0)
		command_fail(cli, &kernel_command, "%s", err.text);
	else
		fputs(buf_cstr(&out), cli->out);
	buf_release(&out);
	kernel_release_texts(&texts);
	return r < 0 ? 1 : 0;
}
