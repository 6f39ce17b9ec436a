/* sonde kernel --list-chips, --query-metrics: what can be counted. */
#include <stdlib.h>
#include <string.h>

#include "cli/kernel/options.h"
#include "kernel/pages/text.h"

#define NAME_WIDTH 80

int kernel_list_chips(struct cli *cli, const struct kernel_fields *fields)
{
	char(*names)[CHIP_NAME_MAX] = NULL;
	struct cupti_host cupti;
	int count;

	if (!kernel_load_cupti(cli, &cupti))
		return 1;
	count = catalog_chips(&cupti, &names);
	for (int i = 0; i < count; i++)
		fprintf(cli->out, "%s%s", names[i], fields->csv || i + 1 == count ? "\n" : ", ");
	free(names);
	return count > 0 ? 0 : command_fail(cli, &kernel_command, "CUPTI does not say which chips it knows");
}

static void line(FILE *out, char c, unsigned count)
{
	while (count--)
		fputc(c, out);
}

static void print_head(FILE *out, const struct catalog *c, bool csv, bool with_facts)
{
	if (csv) {
		fputs(with_facts ? "\"Chip\",\"Metric Name\",\"Metric Type\",\"Metric Unit\",\"Metric Description\"\n" :
				   "\"Chip\",\"Metric Name\"\n",
		      out);
		return;
	}
	fprintf(out, "Chip %s\n", c->chip);
	if (!with_facts)
		return;
	line(out, '-', NAME_WIDTH);
	fprintf(out, " ---------- ------------------------- --------------------\n%-*s %-10s %-25s %s\n", NAME_WIDTH, "Metric Name", "Type",
		"Unit", "Description");
	line(out, '-', NAME_WIDTH);
	fputs(" ---------- ------------------------- --------------------\n", out);
}

static void print_metric(FILE *out, const struct catalog *c, const char *name, bool csv)
{
	struct metric_facts facts;

	if (!catalog_facts(c, name, &facts))
		return;
	if (!csv) {
		fprintf(out, "%-*s %-10s %-25s %s\n", NAME_WIDTH, name, catalog_type_name(facts.type), facts.dimension, facts.description);
		return;
	}
	csv_cell(out, c->chip, true);
	fputc(',', out);
	csv_cell(out, name, true);
	fprintf(out, ",\"%s\",", catalog_type_name(facts.type));
	csv_cell(out, facts.dimension, true);
	fputc(',', out);
	csv_cell(out, facts.description, true);
	fputc('\n', out);
}

static void print_all_names(FILE *out, const struct catalog *c, const struct metric_base *base, bool csv)
{
	size_t count;
	const char *const *suffixes = catalog_suffixes(base->type, &count);

	for (size_t i = 0; i < count; i++) {
		if (csv)
			fprintf(out, "\"%s\",\"%s%s\"\n", c->chip, base->name, suffixes[i]);
		else
			fprintf(out, "%s%s\n", base->name, suffixes[i]);
	}
}

static void print_base(FILE *out, const struct catalog *c, const struct metric_base *base, const struct kernel_fields *fields)
{
	if (fields->query_mode == QUERY_BASE)
		print_metric(out, c, base->name, fields->csv);
	else
		print_all_names(out, c, base, fields->csv);
}

static int unknown_metric(struct cli *cli, const struct catalog *c, const char *name)
{
	char hint[512];

	return command_fail(cli, &kernel_command, "The chip %s does not have a metric '%s'.%s", c->chip, name,
			    catalog_hint(c, name, hint, sizeof(hint)));
}

/* Those of --metrics only. */
static int print_selected(struct cli *cli, const struct catalog *c, const struct kernel_fields *fields)
{
	const struct metric_base *base;
	const char *text = NULL;
	char name[256];
	size_t at = 0;

	while (next_piece(&fields->metrics, &at, &text, name, sizeof(name))) {
		base = catalog_find(c, name, metric_base_len(name));
		if (!base)
			return unknown_metric(cli, c, name);
		print_base(cli->out, c, base, fields);
	}
	return 0;
}

static int print_chip(struct cli *cli, const struct catalog *c, const struct kernel_fields *fields)
{
	print_head(cli->out, c, fields->csv, fields->query_mode == QUERY_BASE);
	if (fields->metrics.count)
		return print_selected(cli, c, fields);
	for (size_t i = 0; i < c->count; i++)
		print_base(cli->out, c, &c->bases[i], fields);
	return 0;
}

static int query_chip(struct cli *cli, const struct cupti_host *cupti, const char *chip, const struct kernel_fields *fields)
{
	int profiler = strcmp(fields->collection, "pmsampling") == 0 ? HOST_PROFILER_PM : HOST_PROFILER_RANGE, status;
	struct catalog catalog;
	struct error err;

	if (catalog_open(&catalog, cupti, chip, profiler, NULL, &err) < 0)
		return command_fail(cli, &kernel_command, "%s", err.text);
	status = print_chip(cli, &catalog, fields);
	catalog_close(&catalog);
	return status;
}

/* Metrics that Sonde itself makes, from its text files. */
static size_t print_own(struct cli *cli, const struct kernel_fields *fields, const struct glossary *g)
{
	size_t count = 0;

	for (size_t i = 0; i < g->count; i++) {
		const struct term *t = &g->terms[i];

		if (t->kind != TERM_METRIC || strcmp(t->collection, fields->collection) != 0)
			continue;
		if (fields->csv && !count)
			fputs("\"Metric Name\",\"Metric Unit\",\"Metric Description\"\n", cli->out);
		if (!fields->csv)
			fprintf(cli->out, "%-*s %-16s %s\n", NAME_WIDTH, t->name, t->unit, t->text);
		else
			fprintf(cli->out, "\"%s\",\"%s\",\"%s\"\n", t->name, t->unit, t->text);
		count++;
	}
	return count;
}

static size_t print_groups(struct cli *cli, const struct sections *sections)
{
	size_t count = 0;

	for (size_t i = 0; i < sections->count; i++) {
		for (size_t k = 0; k < sections->items[i].block_count; k++) {
			const struct section_block *b = &sections->items[i].blocks[k];

			if (!b->group[0])
				continue;
			fprintf(cli->out, "%-40s %s: %s\n", b->group, sections->items[i].id, b->title);
			count++;
		}
	}
	return count;
}

static int query_texts(struct cli *cli, const struct kernel_fields *fields)
{
	struct kernel_texts texts;
	size_t count;

	if (!kernel_load_texts(cli, fields, &texts))
		return 1;
	count = strcmp(fields->collection, "groups") == 0 ? print_groups(cli, &texts.sections) : print_own(cli, fields, &texts.glossary);
	kernel_release_texts(&texts);
	return count ? 0 :
		       command_fail(cli, &kernel_command,
				    "Unknown collection '%s' of metrics; use profiling, pmsampling, device, groups, launch, numa, "
				    "nvlink, occupancy, source, stats or warpsampling",
				    fields->collection);
}

int kernel_query(struct cli *cli, const struct kernel_fields *fields)
{
	char(*chips)[CHIP_NAME_MAX];
	struct cupti_host cupti;
	size_t count;
	int status = 0;

	if (strcmp(fields->collection, "profiling") != 0 && strcmp(fields->collection, "pmsampling") != 0)
		return query_texts(cli, fields);
	if (fields->query_mode == QUERY_SUFFIX && !fields->metrics.count)
		return command_fail(cli, &kernel_command, "No metrics given; for example --metrics dram__bytes,sm__throughput");
	if (!kernel_chips(cli, fields, &chips, &count))
		return 1;
	if (!kernel_load_cupti(cli, &cupti)) {
		free(chips);
		return 1;
	}
	for (size_t i = 0; i < count && status == 0; i++) {
		if (i && !fields->csv)
			fputc('\n', cli->out);
		status = query_chip(cli, &cupti, chips[i], fields);
	}
	free(chips);
	return status;
}
