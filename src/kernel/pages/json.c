/* All that is known of the kernels, as JSON: values in full, in base units. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/text/json_text.h"
#include "kernel/pages/json.h"
#include "kernel/pages/launch_origins.h"
#include "kernel/pages/text.h"

void json_member(FILE *out, const char *name, const char *text)
{
	fprintf(out, ", \"%s\": ", name);
	json_put_string(out, text);
}

void json_number(FILE *out, double value)
{
	if (isfinite(value))
		fprintf(out, "%.17g", value);
	else
		fputs("null", out);
}

static void json_value(FILE *out, const struct metric_value *v)
{
	if (v->kind == VALUE_INTEGER)
		fprintf(out, "%" PRId64, v->integer);
	else if (v->kind == VALUE_TEXT)
		json_put_string(out, v->text);
	else
		json_number(out, value_number(v));
}

/* How long it took beside the other launches of the same kernel. */
static void write_typical(FILE *out, const struct typical *t)
{
	fprintf(out, ", \"launches_alike\": %zu", t->same);
	if (t->same < 2 || !isfinite(t->percent))
		return;
	json_member(out, "compared", t->metric);
	fputs(", \"median\": ", out);
	json_number(out, t->median);
	fputs(", \"above_median_percent\": ", out);
	json_number(out, t->percent);
	fprintf(out, ", \"typical_launch\": %" PRId64, t->nearest->number);
}

static void write_launch(FILE *out, const struct kernel_result *k)
{
	fprintf(out, "\"id\": %" PRId64, k->number);
	if (k->process) {
		fprintf(out, ", \"pid\": %" PRId64, k->process->pid);
		json_member(out, "process", k->process->name);
	}
	json_member(out, "host", k->host);
	json_member(out, "name", k->name);
	json_member(out, "function", k->function);
	if (*k->mangled)
		json_member(out, "mangled", k->mangled);
	fprintf(out, ", \"grid\": [%u, %u, %u], \"block\": [%u, %u, %u]", k->grid[0], k->grid[1], k->grid[2], k->block[0], k->block[1],
		k->block[2]);
	if (k->context >= 0)
		fprintf(out, ", \"context\": %" PRId64, k->context);
	if (k->stream >= 0)
		fprintf(out, ", \"stream\": %" PRId64, k->stream);
	if (k->device >= 0)
		fprintf(out, ", \"device\": %" PRId64, k->device);
	if (k->major)
		fprintf(out, ", \"cc\": \"%u.%u\"", k->major, k->minor);
	if (*k->verdict)
		json_member(out, "verdict", k->verdict);
	if (k->operator)
		json_member(out, "operator", k->operator);
	json_place(out, k, json_put_string);
}

static void write_before(FILE *out, const struct page_options *options, const struct kernel_result *k, const struct page_row *row)
{
	double change, before = page_before(options, k, row, &change);

	fputs(", \"baseline\": ", out);
	json_number(out, before);
	fputs(", \"change_percent\": ", out);
	json_number(out, change);
}

static void write_metrics(FILE *out, const struct kernel_results *results, const struct page_options *options,
			  const struct kernel_result *k)
{
	char unit[UNIT_MAX];

	fputs(",\n   \"metrics\": {", out);
	for (size_t i = 0; i < k->value_count; i++) {
		fputs(i ? ",\n    " : "\n    ", out);
		json_put_string(out, k->values[i].name);
		fputs(": {\"value\": ", out);
		json_value(out, &k->values[i]);
		page_unit(results, &k->values[i], "", unit);
		if (*unit)
			json_member(out, "unit", unit);
		if (options->baseline && isfinite(value_number(&k->values[i])))
			write_before(out, options, k, &(struct page_row){ .key = k->values[i].name, .value = k->values[i] });
		fputc('}', out);
	}
	fputs("}", out);
}

static void write_section(FILE *out, const struct page_options *options, const struct kernel_result *k, const struct page_section *s)
{
	bool any = false;

	fputs("{\"title\": ", out);
	json_put_string(out, s->title);
	if (*s->id)
		json_member(out, "id", s->id);
	fputs(", \"rows\": [", out);
	for (size_t i = 0; i < s->count; i++)
		for (size_t j = 0; j < s->groups[i].count; j++) {
			const struct page_row *row = &s->groups[i].rows[j];

			fputs(any ? ",\n      {\"label\": " : "\n      {\"label\": ", out);
			any = true;
			json_put_string(out, row->label);
			json_member(out, "metric", row->key);
			fputs(", \"value\": ", out);
			json_value(out, &row->value);
			if (*row->unit)
				json_member(out, "unit", row->unit);
			if (options->warm) {
				fputs(", \"warm\": ", out);
				json_number(out, page_warm(k, row));
			}
			if (options->baseline)
				write_before(out, options, k, row);
			fputc('}', out);
		}
	fputs("]}", out);
}

/* Names with a comma behind each. */
static void write_names(FILE *out, const char *names)
{
	const char *between = ", \"metrics\": [";
	char name[512];

	while (*names) {
		size_t size = strcspn(names, ",");

		fputs(between, out);
		between = ", ";
		snprintf(name, sizeof(name), "%.*s", (int)size, names);
		json_put_string(out, name);
		names += size + (names[size] == ',');
	}
	fputc(']', out);
}

static void write_rules(FILE *out, const struct page_options *options, const struct kernel_result *k)
{
	fputs(",\n   \"rules\": [", out);
	for (size_t i = 0; i < k->rule_count; i++) {
		fputs(i ? ",\n    {\"name\": " : "\n    {\"name\": ", out);
		json_put_string(out, k->rules[i].name);
		json_member(out, "section", k->rules[i].section);
		json_member(out, "type", k->rules[i].type);
		json_member(out, "text", k->rules[i].text);
		if (isfinite(k->rules[i].gain)) {
			json_member(out, "speedup_type", k->rules[i].gain_type);
			fputs(", \"speedup\": ", out);
			json_number(out, k->rules[i].gain);
		}
		if (options->rule_details && k->rules[i].metrics)
			write_names(out, k->rules[i].metrics);
		fputc('}', out);
	}
	fputs("]", out);
}

int page_write_json(FILE *out, const struct kernel_results *results, const struct page_options *options)
{
	struct page_sections all;
	int r = 0;

	fputs("{\"kernels\": [", out);
	for (size_t i = 0; i < results->count; i++) {
		const struct kernel_result *k = &results->items[i];

		r = page_sections_make(&all, options, results, k);
		if (r < 0)
			break;
		fputs(i ? ",\n  {" : "\n  {", out);
		write_launch(out, k);
		if (options->typical)
			write_typical(out, &options->typical[i]);
		write_metrics(out, results, options, k);
		fputs(",\n   \"sections\": [", out);
		for (size_t j = 0; j < all.count; j++) {
			fputs(j ? ",\n    " : "\n    ", out);
			write_section(out, options, k, &all.items[j]);
		}
		fputs("]", out);
		write_rules(out, options, k);
		fputs("}", out);
		page_sections_release(&all);
	}
	fputs("]}\n", out);
	return r;
}
