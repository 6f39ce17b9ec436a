#include "kernel/sections/section.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "kernel/metrics/text_file.h"

#define MAX_ROWS 4096
#define MAX_CELLS 32
#define MAX_NAME 512

static const struct {
	const char *word;
	bool titled;
} kinds[BLOCK_KINDS] = {
	[BLOCK_ROWS] = { "rows", false },        [BLOCK_DETAILS] = { "details", false },  [BLOCK_COLLECT] = { "collect", false },
	[BLOCK_BARS] = { "bars", true },         [BLOCK_TABLE] = { "table", true },       [BLOCK_BREAKDOWN] = { "breakdown", true },
	[BLOCK_ROOFLINE] = { "roofline", true }, [BLOCK_TIMELINE] = { "timeline", true }, [BLOCK_GRAPH] = { "graph", true },
	[BLOCK_CURVES] = { "curves", true },     [BLOCK_SOURCE] = { "source", true },
};

struct reader {
	struct text_lines lines;
	struct section *section;
	struct error *err;
	size_t rows;
};

static int refuse_section_line(struct reader *r, const char *what)
{
	return text_refuse(&r->lines, r->err, what);
}

static int fail_section_memory(struct error *err)
{
	return error_set(err, ENOMEM, "Not enough memory");
}

/* "9.0" or "10.3"; how much of the text it is, 0 for none. */
static size_t read_cc(const char *text, size_t len, unsigned *ret)
{
	unsigned major = 0;
	size_t at = 0;

	while (at < len && at < 2 && isdigit((unsigned char)text[at]))
		major = 10 * major + (unsigned)(text[at++] - '0');
	if (!at || at + 1 >= len || text[at] != '.' || !isdigit((unsigned char)text[at + 1]))
		return 0;
	*ret = 10 * major + (unsigned)(text[at + 1] - '0');
	return at + 2;
}

static int parse_range(struct cc_set *ret, const char *text, size_t len)
{
	unsigned from = 0, to = UINT_MAX;
	size_t at = read_cc(text, len, &from), more;

	if (at && at == len) {
		to = from;
	} else {
		if (at >= len || text[at] != '-' || len < 2)
			return -EINVAL;
		more = read_cc(text + at + 1, len - at - 1, &to);
		if (at + 1 + more != len || from > to)
			return -EINVAL;
	}
	if (ret->count == CC_RANGES)
		return -EINVAL;
	ret->ranges[ret->count].from = from;
	ret->ranges[ret->count++].to = to;
	return 0;
}

int cc_parse(struct cc_set *ret, const char *text, size_t len)
{
	const char *comma;
	size_t part;

	ret->count = 0;
	do {
		comma = memchr(text, ',', len);
		part = comma ? (size_t)(comma - text) : len;
		if (parse_range(ret, text, part) < 0)
			return -EINVAL;
		text += part + 1;
		len -= comma ? part + 1 : part;
	} while (comma);
	return 0;
}

int cc_fits(const struct cc_set *set, unsigned cc)
{
	for (unsigned i = 0; i < set->count; i++)
		if (cc >= set->ranges[i].from && cc <= set->ranges[i].to)
			return 1;
	return set->count == 0;
}

static int set_section_text(char **field, struct text_part value, struct error *err)
{
	free(*field);
	*field = text_copy(value);
	return *field ? 0 : fail_section_memory(err);
}

/* One more line of a text that goes on. */
static int add_section_text(char **field, struct text_part value, struct error *err)
{
	size_t len = strlen(*field);
	char *grown = realloc(*field, len + value.len + 2);

	if (!grown)
		return fail_section_memory(err);
	if (len)
		grown[len++] = ' ';
	memcpy(grown + len, value.text, value.len);
	grown[len + value.len] = '\0';
	*field = grown;
	return 0;
}

static int add_word(char ***list, size_t *count, struct text_part word, struct error *err)
{
	char **grown = realloc(*list, (*count + 1) * sizeof(*grown));

	if (!grown)
		return fail_section_memory(err);
	*list = grown;
	grown[*count] = text_copy(word);
	return grown[*count] ? (int)(++*count, 0) : fail_section_memory(err);
}

static int add_words(char ***list, size_t *count, struct text_part value, struct error *err)
{
	struct text_part word, rest = value;
	int r = 0;

	while (r == 0 && rest.len) {
		if (!text_split(rest, ',', &word, &rest)) {
			word = rest;
			rest.len = 0;
		}
		if (word.len)
			r = add_word(list, count, word, err);
	}
	return r;
}

static int read_order(struct text_part value, unsigned *ret)
{
	*ret = 0;
	for (size_t i = 0; i < value.len; i++) {
		if (!isdigit((unsigned char)value.text[i]) || i > 5)
			return -EINVAL;
		*ret = 10 * *ret + (unsigned)(value.text[i] - '0');
	}
	return value.len ? 0 : -EINVAL;
}

static int read_head(struct reader *r, struct text_part name, struct text_part value)
{
	struct section *s = r->section;

	if (text_is(name, "title"))
		return set_section_text(&s->title, value, r->err);
	if (text_is(name, "about"))
		return add_section_text(&s->about, value, r->err);
	if (text_is(name, "sets"))
		return add_words(&s->sets, &s->set_count, value, r->err);
	if (text_is(name, "order"))
		return read_order(value, &s->order) < 0 ? refuse_section_line(r, "the order is a number of up to six digits") : 0;
	if (text_is(name, "cc"))
		return cc_parse(&s->cc, value.text, value.len) < 0 ?
			       refuse_section_line(r, "compute capabilities are written 9.0, 9.0- or 8.0-8.9,10.0") :
			       0;
	return refuse_section_line(r, "before the first [block] there are title, about, sets, order and cc");
}

static int begin_block(struct reader *r, struct text_part heading)
{
	struct section *s = r->section;
	struct text_part word, title = { "", 0 };
	unsigned kind = 0;

	if (heading.len < 2 || heading.text[heading.len - 1] != ']')
		return refuse_section_line(r, "a heading ends with ]");
	word = text_trim((struct text_part){ heading.text + 1, heading.len - 2 });
	text_split(word, ' ', &word, &title);
	while (kind < BLOCK_KINDS && !text_is(word, kinds[kind].word))
		kind++;
	if (kind == BLOCK_KINDS)
		return refuse_section_line(
			r, "blocks are rows, details, collect, bars, table, breakdown, roofline, timeline, graph, curves and source");
	if (kinds[kind].titled != (title.len > 0))
		return refuse_section_line(r, kinds[kind].titled ? "this block needs a title" : "this block has no title");
	if (!LIST_ROOM(s->blocks, s->block_count))
		return fail_section_memory(r->err);
	s->blocks[s->block_count] = (struct section_block){ .kind = kind, .title = text_copy(title), .group = strdup("") };
	s->block_count++;
	return s->blocks[s->block_count - 1].title && s->blocks[s->block_count - 1].group ? 0 : fail_section_memory(r->err);
}

static int add_section_column(struct reader *r, struct section_block *b, struct text_part text)
{
	struct text_part unit = text_take_unit(&text);

	if (b->column_count == MAX_CELLS)
		return refuse_section_line(r, "there are too many columns");
	if (!LIST_ROOM(b->columns, b->column_count))
		return fail_section_memory(r->err);
	b->columns[b->column_count] = (struct section_column){ text_copy(text), text_copy(unit) };
	b->column_count++;
	return b->columns[b->column_count - 1].title && b->columns[b->column_count - 1].unit ? 0 : fail_section_memory(r->err);
}

static int read_section_columns(struct reader *r, struct section_block *b, struct text_part value)
{
	struct text_part column;
	int result = 0;

	if (b->kind != BLOCK_TABLE || b->column_count || b->row_count)
		return refuse_section_line(r, "only a table has columns, once and before its rows");
	while (result == 0 && text_split(value, '|', &column, &value))
		result = add_section_column(r, b, column);
	return result == 0 ? add_section_column(r, b, value) : result;
}

static int add_section_cell(struct reader *r, struct section_row *row, struct text_part text)
{
	char why[160];

	if (row->cell_count == MAX_CELLS)
		return refuse_section_line(r, "there are too many cells");
	if (!LIST_ROOM(row->cells, row->cell_count))
		return fail_section_memory(r->err);
	row->cells[row->cell_count] = (struct formula){ NULL, 0 };
	if (!text_is(text, "-") && formula_parse(&row->cells[row->cell_count], text.text, text.len, why, sizeof(why)) < 0)
		return refuse_section_line(r, why);
	row->cell_count++;
	return 0;
}

static int check_cells(struct reader *r, const struct section_block *b, const struct section_row *row)
{
	if (b->kind == BLOCK_TABLE && row->cell_count != b->column_count)
		return refuse_section_line(r, b->column_count ? "a row has as many cells as the table has columns" :
								"a table needs columns before its rows");
	if (b->kind == BLOCK_ROOFLINE && row->cell_count != 2)
		return refuse_section_line(r, "a line of a roofline is peak | achieved");
	if (b->kind == BLOCK_ROOFLINE && strncmp(row->label, "work ", 5) != 0 && strncmp(row->label, "traffic ", 8) != 0)
		return refuse_section_line(r, "a line of a roofline begins with work or traffic");
	if (b->kind != BLOCK_TABLE && b->kind != BLOCK_ROOFLINE && row->cell_count != 1)
		return refuse_section_line(r, "only a table has several cells");
	return 0;
}

static int fill_row(struct reader *r, const struct section_block *b, struct section_row *row, struct text_part label,
		    struct text_part value)
{
	struct text_part unit = text_take_unit(&value), cell;
	int result = 0;

	row->label = text_copy(label);
	row->unit = text_copy(unit);
	if (!row->label || !row->unit)
		return fail_section_memory(r->err);
	while (result == 0 && text_split(value, '|', &cell, &value))
		result = add_section_cell(r, row, cell);
	if (result == 0)
		result = add_section_cell(r, row, value);
	return result == 0 ? check_cells(r, b, row) : result;
}

static int add_section_label_row(struct reader *r, struct section_block *b, struct text_part label, struct text_part value)
{
	struct cc_set cc = { 0 };
	struct text_part range;

	if (label.len && label.text[0] == '@') {
		if (!text_split(label, ' ', &range, &label) || cc_parse(&cc, range.text + 1, range.len - 1) < 0)
			return refuse_section_line(r, "compute capabilities are written @9.0, @9.0- or @8.0-8.9 before the name");
	}
	/* "\\# SMs": no comment. */
	if (label.len && label.text[0] == '\\')
		label = (struct text_part){ label.text + 1, label.len - 1 };
	if (!label.len)
		return refuse_section_line(r, "a row needs a name");
	if (r->rows++ == MAX_ROWS)
		return refuse_section_line(r, "there are too many rows");
	if (!LIST_ROOM(b->rows, b->row_count))
		return fail_section_memory(r->err);
	b->rows[b->row_count] = (struct section_row){ .cc = cc, .line = r->lines.number };
	return fill_row(r, b, &b->rows[b->row_count++], label, value);
}

/* "a.{sum,avg}{,.per_second}" stands for every way of taking one of each list: a row each. */
static int add_expanded_rows(struct reader *r, struct section_block *b, struct text_part label, struct text_part value)
{
	const char *open = memchr(value.text, '{', value.len), *close;
	struct text_part list, word;
	char whole[MAX_NAME];
	bool more = true;
	int result = 0, len;

	if (!open || b->kind != BLOCK_COLLECT)
		return add_section_label_row(r, b, label, value);
	close = memchr(open, '}', value.len - (size_t)(open - value.text));
	if (!close)
		return refuse_section_line(r, "'{' has no '}'");
	list = (struct text_part){ open + 1, (size_t)(close - open) - 1 };
	while (more && result == 0) {
		more = text_split(list, ',', &word, &list);
		if (!more)
			word = list;
		len = snprintf(whole, sizeof(whole), "%.*s%.*s%.*s", (int)(open - value.text), value.text, (int)word.len, word.text,
			       (int)(value.text + value.len - close) - 1, close + 1);
		if (len < 0 || (size_t)len >= sizeof(whole))
			return refuse_section_line(r, "the name is too long");
		result = add_expanded_rows(r, b, label, (struct text_part){ whole, (size_t)len });
	}
	return result;
}

static int read_section_line(struct reader *r, struct text_part line)
{
	struct section *s = r->section;
	struct section_block *b = s->block_count ? &s->blocks[s->block_count - 1] : NULL;
	struct text_part name, value;

	if (line.text[0] == '[')
		return begin_block(r, line);
	if (!text_split(line, '=', &name, &value))
		return refuse_section_line(r, "expected 'name = value'");
	if (!b)
		return read_head(r, name, value);
	if (text_is(name, "group"))
		return set_section_text(&b->group, value, r->err);
	if (text_is(name, "columns"))
		return read_section_columns(r, b, value);
	if (text_is(name, "cc"))
		return cc_parse(&b->cc, value.text, value.len) < 0 ?
			       refuse_section_line(r, "compute capabilities are written 9.0, 9.0- or 8.0-8.9,10.0") :
			       0;
	return add_expanded_rows(r, b, name, value);
}

int section_parse(struct section *ret, const char *path, const char *text, size_t size, struct error *err)
{
	struct reader r = { .lines = { path, text, text + size, 0, 0 }, .section = ret, .err = err };
	struct text_part line;
	int result;

	*ret = (struct section){
		.id = text_file_name(path), .path = strdup(path), .title = strdup(""), .about = strdup(""), .order = 1000
	};
	result = ret->id && ret->path && ret->title && ret->about ? 1 : fail_section_memory(err);
	while (result > 0) {
		result = text_next_line(&r.lines, &line, err);
		if (result > 0 && read_section_line(&r, line) < 0)
			result = -EINVAL;
	}
	if (result == 0 && (!ret->title[0] || !ret->block_count))
		result = error_set(err, EINVAL, "%s: a section needs a title and a block of rows", path);
	if (result < 0)
		section_release(ret);
	return result;
}

static void release_words(char **words, size_t count)
{
	for (size_t i = 0; i < count; i++)
		free(words[i]);
	free(words);
}

static void release_block(struct section_block *b)
{
	for (size_t i = 0; i < b->row_count; i++) {
		for (size_t k = 0; k < b->rows[i].cell_count; k++)
			formula_release(&b->rows[i].cells[k]);
		free(b->rows[i].cells);
		free(b->rows[i].label);
		free(b->rows[i].unit);
	}
	for (size_t i = 0; i < b->column_count; i++) {
		free(b->columns[i].title);
		free(b->columns[i].unit);
	}
	free(b->columns);
	free(b->rows);
	free(b->title);
	free(b->group);
}

void section_release(struct section *s)
{
	for (size_t i = 0; i < s->block_count; i++)
		release_block(&s->blocks[i]);
	free(s->blocks);
	release_words(s->sets, s->set_count);
	free(s->id);
	free(s->path);
	free(s->title);
	free(s->about);
	memset(s, 0, sizeof(*s));
}

static int read_set_line(struct section_set *set, struct text_lines *lines, struct text_part line, struct error *err)
{
	struct text_part name, value;

	if (!text_split(line, '=', &name, &value))
		return text_refuse(lines, err, "expected 'name = value'");
	if (text_is(name, "about"))
		return add_section_text(&set->about, value, err);
	if (text_is(name, "alias"))
		return add_words(&set->aliases, &set->alias_count, value, err);
	if (text_is(name, "order"))
		return read_order(value, &set->order) < 0 ? text_refuse(lines, err, "the order is a number of up to six digits") : 0;
	return text_refuse(lines, err, "a set has about, alias and order; sections say themselves which sets they belong to");
}

int section_set_parse(struct section_set *ret, const char *path, const char *text, size_t size, struct error *err)
{
	struct text_lines lines = { path, text, text + size, 0, 0 };
	struct text_part line;
	int result;

	*ret = (struct section_set){ .name = text_file_name(path), .about = strdup(""), .order = 1000 };
	result = ret->name && ret->about ? 1 : fail_section_memory(err);
	while (result > 0) {
		result = text_next_line(&lines, &line, err);
		if (result > 0 && read_set_line(ret, &lines, line, err) < 0)
			result = -EINVAL;
	}
	if (result < 0)
		section_set_release(ret);
	return result;
}

void section_set_release(struct section_set *s)
{
	release_words(s->aliases, s->alias_count);
	free(s->name);
	free(s->about);
	memset(s, 0, sizeof(*s));
}
