/* What was recorded where, and all kernels at a glance. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/text/json_text.h"
#include "base/macros.h"
#include "kernel/pages/text.h"

#define NAME_WIDTH 48u

/* A value as the details page shows it, or nothing. */
static const char *show_session_value(const struct kernel_result *k, const char *metric, const char *unit, bool with_unit,
				      char ret[NUMBER_MAX])
{
	const struct metric_value *v = result_find(k, metric);
	double number = value_number(v), scale;
	char scaled[UNIT_MAX];
	size_t len;

	ret[0] = '\0';
	if (!isfinite(number))
		return ret;
	scale = unit_divisor(unit, number, scaled);
	if (v->kind == VALUE_INTEGER && scale == 1)
		integer_text(v->integer, ret);
	else
		number_text(number / scale, true, ret);
	len = strlen(ret);
	if (with_unit)
		snprintf(ret + len, NUMBER_MAX - len, " %s", scaled);
	return ret;
}

static const char *device_name(const struct kernel_result *k)
{
	const struct metric_value *v = result_find(k, "device__attribute_display_name");

	if (k->facts && *k->facts->name)
		return k->facts->name;
	return v && v->kind == VALUE_TEXT ? v->text : "";
}

static void print_device(FILE *out, const struct kernel_result *k)
{
	char text[NUMBER_MAX];
	const char *name = device_name(k);

	if (k->device >= 0)
		fprintf(out, "GPU %" PRId64, k->device);
	else
		fprintf(out, "GPU");
	if (*name)
		fprintf(out, ": %s", name);
	if (k->major)
		fprintf(out, ", CC %u.%u", k->major, k->minor);
	if (*show_session_value(k, "launch__sm_count", "SM", false, text))
		fprintf(out, ", %s SMs", text);
	if (*show_session_value(k, "gpc__cycles_elapsed.avg.per_second", "hz", true, text))
		fprintf(out, ", SM %s", text);
	if (*show_session_value(k, "dram__cycles_elapsed.avg.per_second", "hz", true, text))
		fprintf(out, ", DRAM %s", text);
	fputc('\n', out);
}

/* The time that would be gone. */
static void improvement_text(const struct kernel_result *k, char ret[NUMBER_MAX])
{
	double ns = result_number(k, "gpu__time_duration.sum") * result_gain(k) / 100, scale;
	char unit[UNIT_MAX];
	size_t len;

	ret[0] = '\0';
	if (!isfinite(ns))
		return;
	scale = unit_divisor("ns", ns, unit);
	number_text(ns / scale, true, ret);
	len = strlen(ret);
	snprintf(ret + len, NUMBER_MAX - len, " %s", unit);
}

static void gain_text(const struct kernel_result *k, char ret[NUMBER_MAX])
{
	double most = result_gain(k);

	ret[0] = '\0';
	if (isfinite(most))
		snprintf(ret, NUMBER_MAX, "%.4g%%", most);
}

static void add_overview(struct text_table *t, const struct kernel_result *k)
{
	static const struct {
		const char *metric, *unit;
		bool with_unit;
	} columns[] = {
		{ "gpu__time_duration.sum", "ns", true },
		{ "sm__throughput.avg.pct_of_peak_sustained_elapsed", "%", false },
		{ "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed", "%", false },
		{ "launch__registers_per_thread", "", false },
	};
	char text[NUMBER_MAX], name[NAME_WIDTH + 1];

	snprintf(text, sizeof(text), "%" PRId64, k->number);
	text_table_add(t, text);
	gain_text(k, text);
	text_table_add(t, text);
	text_table_add(t, k->function);
	snprintf(name, sizeof(name), "%s", k->name);
	if (strlen(k->name) > NAME_WIDTH)
		memcpy(name + NAME_WIDTH - 3, "...", 3);
	text_table_add(t, name);
	for (size_t i = 0; i < COUNT_OF(columns); i++) {
		text_table_add(t, show_session_value(k, columns[i].metric, columns[i].unit, columns[i].with_unit, text));
		if (i == 0) {
			improvement_text(k, text);
			text_table_add(t, text);
		}
	}
	snprintf(text, sizeof(text), "%u, %u, %u", k->grid[0], k->grid[1], k->grid[2]);
	text_table_add(t, text);
	snprintf(text, sizeof(text), "%u, %u, %u", k->block[0], k->block[1], k->block[2]);
	text_table_add(t, text);
	text_table_add(t, show_session_value(k, "gpc__cycles_elapsed.max", "cycle", false, text));
	text_table_add(t, k->verdict);
}

void page_print_overview(FILE *out, const struct kernel_results *results, const struct page_options *options)
{
	/* clang-format off */
	static const char *const heading[] = { "ID", "Est. Speedup", "Function Name", "Demangled Name", "Duration", "Runtime Improvement", "Compute [%]", "Memory [%]",
					       "Registers", "Grid", "Block", "Cycles", "Verdict" };
	/* clang-format on */
	const char *clocks = report_meta(results->report, "kernel_clocks");
	struct text_table t = { .columns = 13, .left = 1u << 2 | 1u << 3 | 1u << 12 };

	(void)options;
	for (size_t i = 0; i < results->count; i++) {
		if (results_are_first_of_device(results, i))
			print_device(out, &results->items[i]);
		add_overview(&t, &results->items[i]);
	}
	if (results->count && clocks)
		fprintf(out, "Clocks: %s\n", clocks);
	if (t.count)
		text_table_print(out, &t, heading, NULL);
	fputc('\n', out);
	text_table_release(&t);
}

static void session_row(FILE *out, const char *name, const char *value, bool csv)
{
	if (!value || !*value)
		return;
	if (csv) {
		csv_cell(out, name, true);
		csv_cell(out, value, false);
		fputc('\n', out);
	} else {
		fprintf(out, "    %-24s %s\n", name, value);
	}
}

/* One word as a shell takes it. */
static void put_word(struct buf *ret, const char *word)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:=@%+,-";
	bool quoted = !*word || word[strspn(word, plain)];

	buf_puts(ret, ret->len ? " " : "");
	buf_puts(ret, quoted ? "'" : "");
	for (; *word; word++) {
		buf_puts(ret, *word == '\'' ? "'\\'" : "");
		buf_append(ret, word, 1);
	}
	buf_puts(ret, quoted ? "'" : "");
}

static void session_words(FILE *out, const char *name, const char *list, bool csv)
{
	struct buf words = BUF_INIT, word = BUF_INIT;

	while (list && (list = json_next_text(list, &word)))
		put_word(&words, buf_cstr(&word));
	session_row(out, name, words.len ? buf_cstr(&words) : "", csv);
	buf_release(&words);
	buf_release(&word);
}

static void session_device(FILE *out, const struct kernel_result *k, bool csv)
{
	static const struct {
		const char *title, *metric, *unit;
	} facts[] = {
		{ "SMs", "launch__sm_count", "" },
		{ "SM Frequency", "gpc__cycles_elapsed.avg.per_second", "hz" },
		{ "DRAM Frequency", "dram__cycles_elapsed.avg.per_second", "hz" },
		{ "Memory", "device__attribute_total_memory", "byte" },
	};
	char text[NUMBER_MAX];

	if (!csv)
		fprintf(out, "  Device %" PRId64 "\n", k->device);
	session_row(out, "GPU", device_name(k), csv);
	session_row(out, "Chip", k->facts ? k->facts->chip : "", csv);
	snprintf(text, sizeof(text), "%u.%u", k->major, k->minor);
	session_row(out, "Compute Capability", k->major ? text : "", csv);
	for (size_t i = 0; i < COUNT_OF(facts); i++)
		session_row(out, facts[i].title, show_session_value(k, facts[i].metric, facts[i].unit, *facts[i].unit, text), csv);
}

void page_print_session(FILE *out, const struct kernel_results *results, bool csv)
{
	static const struct {
		const char *title, *key;
	} facts[] = {
		{ "Working Folder", "cwd" },
		{ "Host", "host" },
		{ "System", "os" },
		{ "Kernel", "kernel" },
		{ "CPU", "cpu" },
		{ "GPU Driver", "driver" },
		{ "CUDA Driver", "cuda_driver" },
		{ "Clocks", "kernel_clocks" },
		{ "Sonde", "sonde_version" },
		{ "Imported", "imported" },
		{ "Exit Status", "exit_status" },
	};
	char text[32];

	if (!csv)
		fprintf(out, "  Session\n");
	else
		fprintf(out, "\"Property\",\"Value\"\n");
	session_words(out, "Program", report_meta(results->report, "command"), csv);
	session_words(out, "Command Line", report_meta(results->report, "command_line"), csv);
	for (size_t i = 0; i < COUNT_OF(facts); i++)
		session_row(out, facts[i].title, report_meta(results->report, facts[i].key), csv);
	snprintf(text, sizeof(text), "%zu", results->count);
	session_row(out, "Kernels", text, csv);
	for (size_t i = 0; i < results->count; i++)
		if (results_are_first_of_device(results, i))
			session_device(out, &results->items[i], csv);
}
