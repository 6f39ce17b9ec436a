#include "kernel/source/instructions.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "kernel/results/report_rows.h"
#include "kernel/source/internal.h"

#define MOST_COUNTS (1u << 26)
#define MOST_METRICS 256u

struct loader {
	struct source_book *book;
	struct report *report;
	const int64_t *results; /* NULL: all */
	size_t result_count;
	/* The function of the last fact, and whether something was counted in it. */
	int64_t code;
	const char *function;
	bool is_counted;
};

const char *source_keep(struct source_book *b, const char *text)
{
	if (!LIST_ROOM(b->texts, b->text_count))
		return NULL;
	b->texts[b->text_count] = strdup(text);
	return b->texts[b->text_count] ? b->texts[b->text_count++] : NULL;
}

const char *source_keep_once(struct source_book *b, const char *text)
{
	for (size_t i = b->text_count; i > 0 && b->text_count - i < 64; i--)
		if (strcmp(b->texts[i - 1], text) == 0)
			return b->texts[i - 1];
	return source_keep(b, text);
}

struct source_fact *source_add_fact(struct source_book *b)
{
	if (!LIST_ROOM(b->facts, b->fact_count))
		return NULL;
	b->facts[b->fact_count] = (struct source_fact){
		.sass = "", .file = "", .function = "", .inlined = "", .outer_file = "", .ptx = ""
	};
	return &b->facts[b->fact_count++];
}

int source_order(int64_t code, const char *function, uint32_t pc, int64_t other_code, const char *other_function, uint32_t other_pc)
{
	int names = code == other_code ? strcmp(function, other_function) : 0;

	if (code != other_code)
		return code < other_code ? -1 : 1;
	return names ? names : (pc > other_pc) - (pc < other_pc);
}

static int by_place(const void *a, const void *b)
{
	const struct source_fact *x = a, *y = b;

	return source_order(x->code, x->function, x->pc, y->code, y->function, y->pc);
}

static int by_result(const void *a, const void *b)
{
	const struct source_count *x = a, *y = b;

	if (x->result != y->result)
		return x->result < y->result ? -1 : 1;
	return source_order(x->code, x->function, x->pc, y->code, y->function, y->pc);
}

void source_sort_facts(struct source_book *b)
{
	if (b->fact_count)
		qsort(b->facts, b->fact_count, sizeof(*b->facts), by_place);
}

struct source_fact *source_find_fact(const struct source_book *b, int64_t code, const char *function, uint32_t pc)
{
	struct source_fact key = { .code = code, .function = function, .pc = pc };

	return b->fact_count ? bsearch(&key, b->facts, b->fact_count, sizeof(key), by_place) : NULL;
}

static int take_code(void *context, const int64_t *v, uint32_t present)
{
	struct loader *l = context;
	struct source_code *c;

	if (!LIST_ROOM(l->book->codes, l->book->code_count))
		return -ENOMEM;
	c = &l->book->codes[l->book->code_count++];
	*c = (struct source_code){ .id = v[COLUMN_KERNEL_CODE_ID] };
	if (HAS(present, COLUMN_KERNEL_CODE_IMAGE))
		c->image = report_blob_data(l->report, (uint64_t)v[COLUMN_KERNEL_CODE_IMAGE], &c->size);
	return 0;
}

/* Its number; -1: too many. Few, and mostly the one before. */
static int metric_of(struct source_book *b, const char *name)
{
	for (size_t i = 0; i < b->metric_count; i++)
		if (b->metrics[i] == name || strcmp(b->metrics[i], name) == 0)
			return (int)i;
	if (b->metric_count == MOST_METRICS)
		return -1;
	if (!LIST_ROOM(b->metrics, b->metric_count))
		return -1;
	b->metrics[b->metric_count] = name;
	return (int)b->metric_count++;
}

static size_t function_end(const struct source_book *b, size_t at)
{
	const struct source_count *c = &b->counts[at];

	while (at < b->count_count && b->counts[at].result == c->result && b->counts[at].code == c->code &&
	       strcmp(b->counts[at].function, c->function) == 0)
		at++;
	return at;
}

static bool is_result_wanted(const struct loader *l, int64_t result)
{
	for (size_t i = 0; i < l->result_count; i++)
		if (l->results[i] == result)
			return true;
	return !l->results;
}

/* Facts of a function follow each other. */
static bool is_counted(struct loader *l, int64_t code, const char *function)
{
	const struct source_book *b = l->book;

	if (!l->results || (l->function && l->code == code && strcmp(l->function, function) == 0))
		return !l->results || l->is_counted;
	l->code = code;
	l->function = function;
	l->is_counted = false;
	for (size_t i = 0; i < b->count_count && !l->is_counted; i = function_end(b, i))
		l->is_counted = b->counts[i].code == code && strcmp(b->counts[i].function, function) == 0;
	return l->is_counted;
}

static int take_count(void *context, const int64_t *v, uint32_t present)
{
	struct loader *l = context;
	struct source_book *b = l->book;
	int metric;

	if (!is_result_wanted(l, v[COLUMN_KERNEL_SOURCE_RESULT]))
		return 0;
	metric = metric_of(b, row_text(l->report, v, present, COLUMN_KERNEL_SOURCE_METRIC));
	if (metric < 0 || b->count_count >= MOST_COUNTS || v[COLUMN_KERNEL_SOURCE_PC] < 0 || v[COLUMN_KERNEL_SOURCE_PC] > UINT32_MAX)
		return 0;
	if (!LIST_ROOM(b->counts, b->count_count))
		return -ENOMEM;
	b->counts[b->count_count++] = (struct source_count){ v[COLUMN_KERNEL_SOURCE_RESULT],
							     v[COLUMN_KERNEL_SOURCE_CODE],
							     row_text(l->report, v, present, COLUMN_KERNEL_SOURCE_FUNCTION),
							     (uint32_t)v[COLUMN_KERNEL_SOURCE_PC],
							     (uint32_t)metric,
							     v[COLUMN_KERNEL_SOURCE_VALUE] };
	return 0;
}

static int take_fact(void *context, const int64_t *v, uint32_t present)
{
	struct loader *l = context;
	struct source_fact *f;

	if (v[COLUMN_KERNEL_INSTRUCTION_PC] < 0 || v[COLUMN_KERNEL_INSTRUCTION_PC] > UINT32_MAX)
		return 0;
	if (!is_counted(l, v[COLUMN_KERNEL_INSTRUCTION_CODE], row_text(l->report, v, present, COLUMN_KERNEL_INSTRUCTION_FUNCTION)))
		return 0;
	f = source_add_fact(l->book);
	if (!f)
		return -ENOMEM;
	f->code = v[COLUMN_KERNEL_INSTRUCTION_CODE];
	f->function = row_text(l->report, v, present, COLUMN_KERNEL_INSTRUCTION_FUNCTION);
	f->pc = (uint32_t)v[COLUMN_KERNEL_INSTRUCTION_PC];
	f->sass = row_text(l->report, v, present, COLUMN_KERNEL_INSTRUCTION_SASS);
	f->file = row_text(l->report, v, present, COLUMN_KERNEL_INSTRUCTION_FILE);
	f->line = HAS(present, COLUMN_KERNEL_INSTRUCTION_LINE) ? (uint32_t)v[COLUMN_KERNEL_INSTRUCTION_LINE] : 0;
	f->inlined = row_text(l->report, v, present, COLUMN_KERNEL_INSTRUCTION_INLINED);
	f->ptx = row_text(l->report, v, present, COLUMN_KERNEL_INSTRUCTION_PTX);
	f->ptx_line = HAS(present, COLUMN_KERNEL_INSTRUCTION_PTX_LINE) ? (uint32_t)v[COLUMN_KERNEL_INSTRUCTION_PTX_LINE] : 0;
	return source_find_outermost(l->book, f);
}

static int take_file(void *context, const int64_t *v, uint32_t present)
{
	struct loader *l = context;
	struct source_file *f;

	if (!LIST_ROOM(l->book->files, l->book->file_count))
		return -ENOMEM;
	f = &l->book->files[l->book->file_count++];
	*f = (struct source_file){ .name = row_text(l->report, v, present, COLUMN_KERNEL_FILE_NAME) };
	if (HAS(present, COLUMN_KERNEL_FILE_TEXT))
		f->text = report_blob_data(l->report, (uint64_t)v[COLUMN_KERNEL_FILE_TEXT], &f->size);
	return 0;
}

static int load_source_tables(struct loader *l)
{
	int r = report_each_row(l->report, TABLE_KERNEL_CODE, COLUMN_KERNEL_CODE_IMAGE + 1, take_code, l);

	if (r >= 0)
		r = report_each_row(l->report, TABLE_KERNEL_SOURCE, COLUMN_KERNEL_SOURCE_VALUE + 1, take_count, l);
	if (l->book->count_count)
		qsort(l->book->counts, l->book->count_count, sizeof(*l->book->counts), by_result);
	if (r >= 0)
		r = report_each_row(l->report, TABLE_KERNEL_INSTRUCTION, COLUMN_KERNEL_INSTRUCTION_PTX_LINE + 1, take_fact, l);
	if (r >= 0)
		r = report_each_row(l->report, TABLE_KERNEL_FILE, COLUMN_KERNEL_FILE_TEXT + 1, take_file, l);
	return r;
}

static int load_source_book(struct loader *l, struct error *err)
{
	struct source_book *b = l->book;
	int r;

	*b = (struct source_book){ 0 };
	r = load_source_tables(l);
	if (r < 0) {
		source_book_release(b);
		return error_set_errno(err, -r, "The instructions of the report cannot be read");
	}
	source_sort_facts(b);
	b->were_stored = b->fact_count != 0;
	return 0;
}

int source_book_load_results(struct source_book *ret, struct report *report, const int64_t *results, size_t count, struct error *err)
{
	return load_source_book(&(struct loader){ .book = ret, .report = report, .results = results, .result_count = count }, err);
}

int source_book_load(struct source_book *ret, struct report *report, char *note, size_t note_size, struct error *err)
{
	int r = load_source_book(&(struct loader){ .book = ret, .report = report }, err);

	if (note)
		note[0] = '\0';
	if (r < 0)
		return r;
	if (ret->were_stored || !ret->count_count || !note)
		return 0;
	r = source_make_facts(ret, note, note_size, err);
	if (r < 0)
		source_book_release(ret);
	return r;
}

void source_book_release(struct source_book *b)
{
	for (size_t i = 0; i < b->text_count; i++)
		free(b->texts[i]);
	free(b->texts);
	free(b->codes);
	free(b->counts);
	free(b->facts);
	free(b->files);
	free(b->metrics);
	*b = (struct source_book){ 0 };
}

bool source_book_has_lines(const struct source_book *b)
{
	for (size_t i = 0; i < b->fact_count; i++)
		if (b->facts[i].line)
			return true;
	return false;
}

/* From one count to the next of another instruction. */
static size_t next_place(const struct source_book *b, size_t at)
{
	const struct source_count *c = &b->counts[at];

	for (at++; at < b->count_count && by_result(c, &b->counts[at]) == 0; at++)
		;
	return at;
}

static bool same_function(const struct source_fact *f, int64_t code, const char *function)
{
	return f->code == code && strcmp(f->function, function) == 0;
}

/* How many instructions: all of a function that are known, and those that were seen without being known. */
static int add_source_item(struct kernel_source *s, int64_t code, const char *function, uint32_t pc, const struct source_fact *f)
{
	if (!LIST_ROOM(s->items, s->count))
		return -ENOMEM;
	s->items[s->count++] = (struct source_item){
		function, pc, f ? f->sass : "", f ? f->file : "", f ? f->line : 0, f ? f->inlined : "", code, f, NULL, NULL
	};
	return 0;
}

/* The instructions of one function, known ones and counted ones together, in their order. */
static int add_function(struct kernel_source *s, const struct source_book *b, size_t first, size_t end)
{
	const struct source_count *c = &b->counts[first];
	const struct source_fact *f = b->facts, *last = b->facts ? b->facts + b->fact_count : NULL;
	int r = 0;

	while (f < last && source_order(f->code, f->function, f->pc, c->code, c->function, 0) < 0)
		f++;
	while (r >= 0 && (first < end || (f < last && same_function(f, c->code, c->function)))) {
		bool known = f < last && same_function(f, c->code, c->function);

		if (known && (first >= end || f->pc <= b->counts[first].pc)) {
			while (first < end && b->counts[first].pc == f->pc)
				first++;
			r = add_source_item(s, c->code, c->function, f->pc, f);
			f++;
		} else {
			r = add_source_item(s, c->code, c->function, b->counts[first].pc, NULL);
			first = next_place(b, first);
		}
	}
	return r;
}

static int give_values(struct kernel_source *s)
{
	s->values = calloc(s->count + 1, (s->book->metric_count + 1) * sizeof(*s->values));
	if (!s->values)
		return -ENOMEM;
	for (size_t i = 0; i < s->count; i++)
		s->items[i].values = s->values + i * s->book->metric_count;
	return 0;
}

static void fill_values(struct kernel_source *s, size_t first, size_t end)
{
	const struct source_book *b = s->book;
	size_t item = 0;

	for (; first < end; first++) {
		const struct source_count *c = &b->counts[first];

		while (item < s->count && (strcmp(s->items[item].function, c->function) != 0 || s->items[item].pc != c->pc))
			item++;
		if (item == s->count)
			return;
		s->items[item].values[c->metric] += (double)c->value;
	}
}

int kernel_source_of(struct kernel_source *ret, const struct source_book *b, int64_t result)
{
	size_t first = 0, end, at;
	int r = 0;

	*ret = (struct kernel_source){ .book = b };
	while (first < b->count_count && b->counts[first].result != result)
		first++;
	for (at = first; r >= 0 && at < b->count_count && b->counts[at].result == result; at = end) {
		end = function_end(b, at);
		r = add_function(ret, b, at, end);
	}
	if (r >= 0)
		r = give_values(ret);
	if (r < 0) {
		kernel_source_release(ret);
		return r;
	}
	fill_values(ret, first, at);
	return 0;
}

/* An instruction, and the line it is counted for. */
struct keyed {
	const struct source_item *item;
	const char *file;
	uint32_t line;
	const char *inlined;
	int64_t code;
};

static int compare_source_keys(const void *a, const void *b)
{
	const struct keyed *x = a, *y = b;
	int order = x->code == y->code ? strcmp(x->file, y->file) : x->code < y->code ? -1 : 1;

	if (order)
		return order;
	if (x->line != y->line)
		return x->line < y->line ? -1 : 1;
	return strcmp(x->inlined, y->inlined);
}

static struct keyed make_line_key(const struct source_item *i, enum source_key key)
{
	const struct source_fact *f = i->fact;

	if (!f)
		return (struct keyed){ i, "", 0, "", 0 };
	if (key == SOURCE_IN_PTX)
		return (struct keyed){ i, f->ptx, f->ptx_line, "", f->code };
	if (key == SOURCE_OUTERMOST)
		return (struct keyed){ i, f->outer_file, f->outer_line, "", 0 };
	return (struct keyed){ i, f->file, f->line, key == SOURCE_CALLS ? f->inlined : "", 0 };
}

static int add_keyed(struct kernel_source *s, const struct keyed *k)
{
	TRY(add_source_item(s, k->code, k->item->function, 0, NULL));
	s->items[s->count - 1].file = k->file;
	s->items[s->count - 1].line = k->line;
	s->items[s->count - 1].inlined = k->inlined;
	return 0;
}

int kernel_source_lines(struct kernel_source *ret, const struct kernel_source *from, enum source_key key)
{
	struct keyed *order = calloc(from->count + 1, sizeof(*order));
	size_t count = 0, metrics = from->book->metric_count;
	int r = order ? 0 : -ENOMEM;

	*ret = (struct kernel_source){ .book = from->book };
	for (size_t i = 0; r >= 0 && i < from->count; i++) {
		order[count] = make_line_key(&from->items[i], key);
		count += order[count].line != 0;
	}
	if (count)
		qsort(order, count, sizeof(*order), compare_source_keys);
	for (size_t i = 0; r >= 0 && i < count; i++)
		if (!i || compare_source_keys(&order[i - 1], &order[i]) != 0)
			r = add_keyed(ret, &order[i]);
	if (r >= 0)
		r = give_values(ret);
	for (size_t i = 0, line = 0; r >= 0 && i < count; i++) {
		line += i && compare_source_keys(&order[i - 1], &order[i]) != 0;
		for (size_t m = 0; m < metrics; m++)
			ret->items[line].values[m] += order[i].item->values[m];
	}
	free(order);
	if (r < 0)
		kernel_source_release(ret);
	return r;
}

void kernel_source_release(struct kernel_source *s)
{
	free(s->items);
	free(s->values);
	*s = (struct kernel_source){ 0 };
}

double source_value(const struct kernel_source *s, const struct source_item *item, const char *metric)
{
	for (size_t i = 0; i < s->book->metric_count; i++)
		if (strcmp(s->book->metrics[i], metric) == 0)
			return item->values[i];
	return NAN;
}
