#include "kernel/page_source.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/page_json.h"
#include "kernel/page_text.h"

#define STALLED "smsp__pcsamp_warps_issue_stalled_"
#define NOT_ISSUED "_not_issued"
#define MOST_WIDTH 72

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
	{ "L2 Theoretical Sectors Global Excessive", "memory_l2_theoretical_sectors_global - memory_l2_theoretical_sectors_global_ideal", false },
	{ "L2 Theoretical Sectors Global", "memory_l2_theoretical_sectors_global", false },
	{ "L2 Theoretical Sectors Global Ideal", "memory_l2_theoretical_sectors_global_ideal", false },
	{ "L2 Theoretical Sectors Local", "memory_l2_theoretical_sectors_local", false },
};
#define COLUMNS (sizeof(columns) / sizeof(columns[0]))
#define BEFORE_MEMORY 10        /* columns before what is said of the access */

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
#define STALLS (sizeof(stalls) / sizeof(stalls[0]))

struct page {
	FILE *out;
	const struct source_book *book;
	struct kernel_source instructions;
	struct kernel_source lines;
	struct formula formulas[COLUMNS];
	bool shown[COLUMNS];
	bool shown_stalls[2][STALLS];
};

static bool ends(const char *text, const char *with)
{
	size_t len = strlen(text), more = strlen(with);

	return len > more && strcmp(text + len - more, with) == 0;
}

struct looking {
	const struct kernel_source *source;
	const struct source_item *item;
};

static double not_issued(const struct kernel_source *s, const struct source_item *item)
{
	double sum = 0;

	for (size_t i = 0; i < s->book->metric_count; i++)
		if (strncmp(s->book->metrics[i], STALLED, strlen(STALLED)) == 0 && ends(s->book->metrics[i], NOT_ISSUED))
			sum += item->values[i];
	return sum;
}

/* What was not counted of an instruction is 0 where others have it. */
static double look(void *context, const char *metric)
{
	const struct looking *l = context;

	return strcmp(metric, "not_issued") == 0 ? not_issued(l->source, l->item) : source_value(l->source, l->item, metric);
}

static double column_value(const struct page *p, const struct kernel_source *s, const struct source_item *item, size_t column)
{
	struct looking l = { s, item };
	double value = formula_value(&p->formulas[column], look, &l);

	return isfinite(value) ? value : 0;
}

static double stall_value(const struct kernel_source *s, const struct source_item *item, size_t stall, bool without_issue)
{
	char name[128];
	double value;

	snprintf(name, sizeof(name), STALLED "%s%s", stalls[stall].reason, without_issue ? NOT_ISSUED : "");
	value = source_value(s, item, name);
	return isfinite(value) ? value : 0;
}

static void find_shown(struct page *p)
{
	const struct kernel_source *s = &p->instructions;

	for (size_t c = 0; c < COLUMNS; c++) {
		p->shown[c] = columns[c].always;
		for (size_t i = 0; i < s->count && !p->shown[c]; i++)
			p->shown[c] = column_value(p, s, &s->items[i], c) != 0;
	}
	for (size_t k = 0; k < 2 * STALLS; k++) {
		p->shown_stalls[k / STALLS][k % STALLS] = false;
		for (size_t i = 0; i < s->count && !p->shown_stalls[k / STALLS][k % STALLS]; i++)
			p->shown_stalls[k / STALLS][k % STALLS] = stall_value(s, &s->items[i], k % STALLS, k >= STALLS) != 0;
	}
}

bool source_access(const char *sass, struct source_access *ret)
{
	static const struct {
		const char *name;
		const char *space;
		const char *operation;
	} known[] = { { "LDGSTS", "Global", "Load" },  { "LDG", "Global", "Load" },    { "STG", "Global", "Store" }, { "ATOMG", "Global", "Atomic" },
		      { "RED", "Global", "Reduction" }, { "LDSM", "Shared", "Load" },   { "LDS", "Shared", "Load" },  { "STS", "Shared", "Store" },
		      { "ATOMS", "Shared", "Atomic" },  { "LDL", "Local", "Load" },     { "STL", "Local", "Store" },  { "LD", "Generic", "Load" },
		      { "ST", "Generic", "Store" },     { "ATOM", "Generic", "Atomic" }, { "TEX", "Texture", "Load" }, { "SULD", "Surface", "Load" },
		      { "SUST", "Surface", "Store" } };
	static const struct {
		const char *suffix;
		unsigned bits;
	} sizes[] = { { ".128", 128 }, { ".64", 64 }, { ".U16", 16 }, { ".S16", 16 }, { ".U8", 8 }, { ".S8", 8 } };
	size_t name, end;

	/* Behind a predicate. */
	if (*sass == '@') {
		sass += strcspn(sass, " ");
		sass += strspn(sass, " ");
	}
	name = strcspn(sass, ". ");
	end = strcspn(sass, " ");
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		if (strlen(known[i].name) != name || strncmp(sass, known[i].name, name) != 0)
			continue;
		*ret = (struct source_access){ known[i].space, known[i].operation, 32 };
		for (size_t k = 0; k < sizeof(sizes) / sizeof(sizes[0]); k++) {
			const char *at = strstr(sass + name, sizes[k].suffix);
			char next = at ? at[strlen(sizes[k].suffix)] : 'x';

			if (at && at < sass + end && (next == '.' || next == ' ' || !next))
				ret->bits = sizes[k].bits;
		}
		return true;
	}
	return false;
}

const char *source_main_stall(const struct kernel_source *s, const struct source_item *item, double *ret_share)
{
	double most = 0, all = 0;
	const char *name = NULL;

	for (size_t i = 0; i < s->book->metric_count; i++) {
		const char *metric = s->book->metrics[i];

		if (strncmp(metric, STALLED, strlen(STALLED)) != 0 || ends(metric, NOT_ISSUED))
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

static void cell_number(char *ret, size_t size, double value)
{
	if (value == rint(value))
		snprintf(ret, size, "%.0f", value);
	else
		snprintf(ret, size, "%.2f", value);
}

static void csv_number(FILE *out, double value)
{
	char text[64];

	cell_number(text, sizeof(text), value);
	csv_cell(out, text, false);
}

static void csv_heading(const struct page *p, enum source_view view)
{
	if (view != SOURCE_SASS) {
		csv_cell(p->out, "Line No", true);
		csv_cell(p->out, "Source", false);
	}
	if (view != SOURCE_CUDA) {
		csv_cell(p->out, "Address", view == SOURCE_SASS);
		csv_cell(p->out, "Source", false);
	}
	for (size_t c = 0; c < COLUMNS; c++) {
		if (c == BEFORE_MEMORY && view != SOURCE_CUDA) {
			csv_cell(p->out, "Address Space", false);
			csv_cell(p->out, "Access Operation", false);
			csv_cell(p->out, "Access Size", false);
		}
		if (p->shown[c])
			csv_cell(p->out, columns[c].title, false);
	}
	for (size_t k = 0; k < 2 * STALLS; k++) {
		char title[64];

		snprintf(title, sizeof(title), "%s%s", stalls[k % STALLS].title, k >= STALLS ? " (Not Issued)" : "");
		if (p->shown_stalls[k / STALLS][k % STALLS])
			csv_cell(p->out, title, false);
	}
	fputc('\n', p->out);
}

static void csv_values(const struct page *p, const struct kernel_source *s, const struct source_item *item, bool with_access)
{
	struct source_access access;
	char bits[16] = "-";
	bool is_access = source_access(item->sass, &access);

	if (is_access)
		snprintf(bits, sizeof(bits), "%u", access.bits);
	for (size_t c = 0; c < COLUMNS; c++) {
		if (c == BEFORE_MEMORY && with_access) {
			csv_cell(p->out, is_access ? access.space : "-", false);
			csv_cell(p->out, is_access ? access.operation : "-", false);
			csv_cell(p->out, bits, false);
		}
		if (p->shown[c])
			csv_number(p->out, column_value(p, s, item, c));
	}
	for (size_t k = 0; k < 2 * STALLS; k++)
		if (p->shown_stalls[k / STALLS][k % STALLS])
			csv_number(p->out, stall_value(s, item, k % STALLS, k >= STALLS));
	fputc('\n', p->out);
}

static char *line_text(const struct page *p, const struct source_item *item)
{
	size_t len = 0;
	const char *text = source_book_line(p->book, item->file, item->line, &len);

	return text ? strndup(text, len) : strdup("");
}

static void csv_instruction(const struct page *p, const struct source_item *item, bool is_below)
{
	char address[24];

	snprintf(address, sizeof(address), "0x%04x", item->pc);
	if (is_below) {
		csv_cell(p->out, "", true);
		csv_cell(p->out, "", false);
	}
	csv_cell(p->out, address, !is_below);
	csv_cell(p->out, *item->sass ? item->sass : "?", false);
	csv_values(p, &p->instructions, item, true);
}

static int csv_line(const struct page *p, const struct source_item *item, bool with_instructions)
{
	char *text = line_text(p, item), number[16];

	if (!text)
		return -ENOMEM;
	snprintf(number, sizeof(number), "%u", item->line);
	csv_cell(p->out, number, true);
	csv_cell(p->out, text, false);
	free(text);
	if (with_instructions) {
		csv_cell(p->out, "-", false);
		csv_cell(p->out, "-", false);
	}
	csv_values(p, &p->lines, item, with_instructions);
	for (size_t i = 0; with_instructions && i < p->instructions.count; i++)
		if (p->instructions.items[i].line == item->line && strcmp(p->instructions.items[i].file, item->file) == 0)
			csv_instruction(p, &p->instructions.items[i], true);
	return 0;
}

static int write_csv(const struct page *p, const char *name, enum source_view view)
{
	const struct kernel_source *lines = &p->lines;
	int r = 0;

	if (view == SOURCE_SASS) {
		csv_cell(p->out, "Kernel Name", true);
		csv_cell(p->out, name, false);
		fputs(",\n", p->out);
		csv_heading(p, view);
		for (size_t i = 0; i < p->instructions.count; i++)
			csv_instruction(p, &p->instructions.items[i], false);
		return 0;
	}
	for (size_t i = 0; i < lines->count && r >= 0; i++) {
		if (!i || strcmp(lines->items[i - 1].file, lines->items[i].file) != 0) {
			csv_cell(p->out, "File Path", true);
			csv_cell(p->out, lines->items[i].file, false);
			fputc('\n', p->out);
			csv_cell(p->out, "Function Name", true);
			csv_cell(p->out, name, false);
			fputc('\n', p->out);
			csv_heading(p, view);
		}
		r = csv_line(p, &lines->items[i], view == SOURCE_CUDA_SASS);
	}
	return r;
}

/* Cells of a row that people read: few columns, the most telling. */
static int text_row(struct text_table *t, const struct kernel_source *s, const struct source_item *item, const char *place, const char *text)
{
	static const char *const counts[] = { "smsp__pcsamp_sample_count", NULL, "inst_executed", "thread_inst_executed_true",
					      "memory_l2_theoretical_sectors_global", "memory_l2_theoretical_sectors_global_ideal",
					      "memory_l1_wavefronts_shared", "memory_l1_wavefronts_shared_ideal" };
	double share, value, executed = source_value(s, item, "inst_executed");
	const char *stall = source_main_stall(s, item, &share);
	char cell[128];
	int r = text_table_add(t, place);

	snprintf(cell, sizeof(cell), "%.*s", MOST_WIDTH, text);
	for (char *c = cell; *c; c++)
		*c = *c == '\t' ? ' ' : *c;
	if (r >= 0)
		r = text_table_add(t, cell);
	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]) && r >= 0; i++) {
		value = counts[i] ? source_value(s, item, counts[i]) : 0;
		cell[0] = '\0';
		if (!counts[i] && stall)
			snprintf(cell, sizeof(cell), "%.0f%% %s", 100 * share, stall);
		else if (counts[i] && i == 3 && executed > 0 && isfinite(value))
			snprintf(cell, sizeof(cell), "%.1f", value / executed);
		else if (counts[i] && i != 3 && value > 0)
			snprintf(cell, sizeof(cell), "%.0f", value);
		r = text_table_add(t, cell);
	}
	return r;
}

static int text_instruction(struct text_table *t, const struct page *p, const struct source_item *item, bool is_below)
{
	char place[24];

	snprintf(place, sizeof(place), "%s%04x", is_below ? "  " : "", item->pc);
	return text_row(t, &p->instructions, item, place, *item->sass ? item->sass : "?");
}

static int text_line(struct text_table *t, const struct page *p, const struct source_item *item, bool with_instructions)
{
	char *text = line_text(p, item), place[16];
	int r = text ? 0 : -ENOMEM;

	snprintf(place, sizeof(place), "%u", item->line);
	if (r >= 0)
		r = text_row(t, &p->lines, item, place, text);
	free(text);
	for (size_t i = 0; with_instructions && i < p->instructions.count && r >= 0; i++)
		if (p->instructions.items[i].line == item->line && strcmp(p->instructions.items[i].file, item->file) == 0)
			r = text_instruction(t, p, &p->instructions.items[i], true);
	return r;
}

static void print_table(FILE *out, const struct text_table *t, bool lines)
{
	const char *heading[] = { lines ? "Line" : "Address", "Source", "Samples", "Mostly", "Executed", "Threads", "Sectors", "Ideal", "Wavefronts", "Ideal" };
	static const unsigned widths[10] = { 7, 20, 7, 12, 8, 7, 7, 5, 10, 5 };

	text_table_print(out, t, heading, widths);
}

static int write_text(const struct page *p, const char *name, enum source_view view)
{
	const struct kernel_source *lines = &p->lines;
	struct text_table t = { .columns = 10, .left = 1u << 1 | 1u << 3 };
	int r = 0;

	fprintf(p->out, "  %s\n", name);
	for (size_t i = 0; view == SOURCE_SASS && i < p->instructions.count && r >= 0; i++)
		r = text_instruction(&t, p, &p->instructions.items[i], false);
	for (size_t i = 0; view != SOURCE_SASS && i < lines->count && r >= 0; i++) {
		if (!i || strcmp(lines->items[i - 1].file, lines->items[i].file) != 0) {
			if (i) {
				print_table(p->out, &t, true);
				text_table_release(&t);
				t = (struct text_table){ .columns = 10, .left = 1u << 1 | 1u << 3 };
			}
			fprintf(p->out, "    %s\n", lines->items[i].file);
		}
		r = text_line(&t, p, &lines->items[i], view == SOURCE_CUDA_SASS);
	}
	if (r >= 0)
		print_table(p->out, &t, view != SOURCE_SASS);
	text_table_release(&t);
	return r;
}

static void json_values(FILE *out, const struct kernel_source *s, const struct source_item *item)
{
	bool any = false;

	fputs(", \"values\": {", out);
	for (size_t m = 0; m < s->book->metric_count; m++) {
		if (item->values[m] == 0)
			continue;
		fputs(any ? ", " : "", out);
		json_text(out, s->book->metrics[m]);
		fprintf(out, ": %.17g", item->values[m]);
		any = true;
	}
	fputs("}}", out);
}

static void json_place(FILE *out, const struct source_item *item)
{
	fputs("\"file\": ", out);
	json_text(out, item->file);
	fprintf(out, ", \"line\": %u", item->line);
}

static int write_json(const struct page *p, const struct kernel_result *k, bool is_first)
{
	fprintf(p->out, "%s\n  {\"id\": %" PRId64 ", \"name\": ", is_first ? "" : ",", k->number);
	json_text(p->out, k->name);
	fputs(", \"instructions\": [", p->out);
	for (size_t i = 0; i < p->instructions.count; i++) {
		const struct source_item *item = &p->instructions.items[i];

		fprintf(p->out, "%s\n    {\"function\": ", i ? "," : "");
		json_text(p->out, item->function);
		fprintf(p->out, ", \"pc\": %u, \"sass\": ", item->pc);
		json_text(p->out, item->sass);
		if (item->line) {
			fputs(", ", p->out);
			json_place(p->out, item);
		}
		json_values(p->out, &p->instructions, item);
	}
	fputs("], \"lines\": [", p->out);
	for (size_t i = 0; i < p->lines.count; i++) {
		char *text = line_text(p, &p->lines.items[i]);

		if (!text)
			return -ENOMEM;
		fprintf(p->out, "%s\n    {", i ? "," : "");
		json_place(p->out, &p->lines.items[i]);
		fputs(", \"text\": ", p->out);
		json_text(p->out, text);
		json_values(p->out, &p->lines, &p->lines.items[i]);
		free(text);
	}
	fputs("]}", p->out);
	return 0;
}

static int print_kernel(struct page *p, const struct page_options *options, const struct kernel_result *k, enum source_view view,
			enum source_format format, bool is_first)
{
	int r = kernel_source_of(&p->instructions, p->book, k->id);

	if (r >= 0)
		r = kernel_source_lines(&p->lines, &p->instructions);
	if (r >= 0)
		find_shown(p);
	if (r >= 0 && format == SOURCE_JSON)
		r = write_json(p, k, is_first);
	else if (r >= 0 && p->instructions.count)
		r = format == SOURCE_CSV ? write_csv(p, page_kernel_name(options, k), view) : write_text(p, page_kernel_name(options, k), view);
	kernel_source_release(&p->lines);
	kernel_source_release(&p->instructions);
	return r;
}

int page_print_source(FILE *out, const struct kernel_results *results, const struct page_options *options, const struct source_book *book,
		      enum source_view view, enum source_format format)
{
	struct page *p = calloc(1, sizeof(*p));
	char why[128];
	int r = p ? 0 : -ENOMEM;

	if (p)
		*p = (struct page){ .out = out, .book = book };
	for (size_t c = 0; c < COLUMNS && r >= 0; c++)
		r = formula_parse(&p->formulas[c], columns[c].formula, strlen(columns[c].formula), why, sizeof(why));
	if (r >= 0 && format == SOURCE_JSON)
		fputs("{\"kernels\": [", out);
	for (size_t i = 0; i < results->count && r >= 0; i++)
		r = print_kernel(p, options, &results->items[i], view, format, i == 0);
	if (r >= 0 && format == SOURCE_JSON)
		fputs("\n]}\n", out);
	for (size_t c = 0; p && c < COLUMNS; c++)
		formula_release(&p->formulas[c]);
	free(p);
	return r;
}
