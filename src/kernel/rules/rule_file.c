/* Files of rules, line by line. */
#include "kernel/rules/rule_file.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/macros.h"
#include "kernel/rules/rule_file_internal.h"

int rule_refuse(struct rule_reader *r, const char *format, ...)
{
	char what[400];
	va_list args;

	va_start(args, format);
	vsnprintf(what, sizeof(what), format, args);
	va_end(args);
	return text_refuse(&r->lines, r->err, what);
}

int rule_no_memory(struct rule_reader *r)
{
	return error_set(r->err, ENOMEM, "Not enough memory");
}

void *rule_grow(void *items, size_t count, size_t size)
{
	char *grown = reallocarray(items, count + 1, size);

	if (grown)
		memset(grown + count * size, 0, size);
	return grown;
}

static int set_rule_text(struct rule_reader *r, char **field, struct text_part value)
{
	char *copy = text_copy(value);

	if (!copy)
		return rule_no_memory(r);
	free(*field);
	*field = copy;
	return 0;
}

static struct written_case *last_case(struct written_rule *rule)
{
	return rule->case_count ? &rule->cases[rule->case_count - 1] : NULL;
}

static size_t count_names(const struct written_steps *steps)
{
	size_t count = 0;

	for (size_t i = 0; i < steps->count; i++)
		count += steps->items[i].deed == WRITTEN_LET;
	return count;
}

static bool has_let_name(const struct written_steps *steps, struct text_part name)
{
	for (size_t i = 0; i < steps->count; i++)
		if (steps->items[i].deed == WRITTEN_LET && text_is(name, steps->items[i].name))
			return true;
	return false;
}

/* Letters, digits and _, a letter first; new here. */
static int check_new_name(struct rule_reader *r, struct text_part name)
{
	const struct written_case *c = last_case(r->rule);
	size_t len = 0;

	while (len < name.len && (isalnum((unsigned char)name.text[len]) || name.text[len] == '_'))
		len++;
	if (!len || len < name.len || !isalpha((unsigned char)name.text[0]))
		return rule_refuse(r, "a name has letters, digits and _, and begins with a letter");
	if (has_let_name(&r->rule->steps, name) || (c && has_let_name(&c->steps, name)) || rule_find_list(r->rule, name) >= 0)
		return rule_refuse(r, "there is a '%.*s' already", (int)name.len, name.text);
	if (count_names(&r->rule->steps) + (c ? count_names(&c->steps) : 0) >= WRITTEN_MOST_NAMES)
		return rule_refuse(r, "there are more than %d names", WRITTEN_MOST_NAMES);
	return 0;
}

static struct written_step *add_rule_step(struct written_steps *steps, enum written_deed deed)
{
	struct written_step *grown = rule_grow(steps->items, steps->count, sizeof(*grown));

	if (!grown)
		return NULL;
	steps->items = grown;
	grown[steps->count].deed = deed;
	return &grown[steps->count++];
}

/* let NAME = FORMULA, set NAME = FORMULA, when = CONDITIONS */
static int read_step(struct rule_reader *r, struct written_steps *steps, struct text_part deed, struct text_part name,
		     struct text_part value)
{
	enum written_deed which = text_is(deed, "let") ? WRITTEN_LET : text_is(deed, "set") ? WRITTEN_SET : WRITTEN_WHEN;
	struct written_step *made;
	int result = which == WRITTEN_LET ? check_new_name(r, name) : 0;

	if (which == WRITTEN_SET && (name.len <= strlen("rule__") || memcmp(name.text, "rule__", strlen("rule__")) != 0))
		result = rule_refuse(r, "names of results begin with rule__");
	if (result < 0)
		return result;
	made = add_rule_step(steps, which);
	if (!made)
		return rule_no_memory(r);
	if (which == WRITTEN_WHEN)
		return rule_read_conditions(r, &made->conditions, value);
	TRY(set_rule_text(r, &made->name, name));
	return rule_read_formula(r, &made->value, value);
}

static bool is_step(struct text_part name, struct text_part *ret_deed, struct text_part *ret_name)
{
	if (text_is(name, "when")) {
		*ret_deed = *ret_name = name;
		return true;
	}
	return text_split(name, ' ', ret_deed, ret_name) && (text_is(*ret_deed, "let") || text_is(*ret_deed, "set"));
}

/* [list NAME], [lines NAME] */
static int begin_list(struct rule_reader *r, bool is_lines, struct text_part name)
{
	struct written_list *grown;

	if (r->rule->case_count)
		return rule_refuse(r, "lists come before cases");
	if (r->rule->list_count == WRITTEN_MOST_LISTS)
		return rule_refuse(r, "there are more than %d lists", WRITTEN_MOST_LISTS);
	TRY(check_new_name(r, name));
	grown = rule_grow(r->rule->lists, r->rule->list_count, sizeof(*grown));
	if (!grown)
		return rule_no_memory(r);
	r->rule->lists = grown;
	r->list = &grown[r->rule->list_count++];
	r->list->is_lines = is_lines;
	/* Where it is, and what warps wait for there. */
	r->list->column_count = is_lines ? 2 : 0;
	return set_rule_text(r, &r->list->name, name);
}

/* Each TITLE, or each LIST: TITLE */
static int read_title(struct rule_reader *r, struct written_case *c, struct text_part title)
{
	struct text_part head, rest, word, name;
	int list;

	if (text_split(title, ':', &head, &rest) && text_split(head, ' ', &word, &name) && text_is(word, "each")) {
		list = rule_find_list(r->rule, name);
		if (list < 0)
			return rule_refuse(r, "there is no list '%.*s' above", (int)name.len, name.text);
		c->pick = WRITTEN_EACH;
		c->list = (size_t)list;
		r->row = &r->rule->lists[list];
		title = rest;
	}
	return rule_read_text(r, &c->title, title);
}

static int begin_case(struct rule_reader *r, struct text_part kind, struct text_part title)
{
	static const char *const tags[] = { [RULE_OPTIMIZE] = "optimize", [RULE_INFORM] = "inform", [RULE_WARN] = "warn" };
	struct written_case *grown;
	size_t tag = 0;

	while (tag < COUNT_OF(tags) && !text_is(kind, tags[tag]))
		tag++;
	if (tag == COUNT_OF(tags) && !text_is(kind, "verdict"))
		return rule_refuse(r, "a case is 'optimize', 'inform', 'warn' or 'verdict'; other blocks are 'list' and 'lines'");
	if (r->rule->case_count == WRITTEN_MOST_CASES)
		return rule_refuse(r, "there are more than %d cases", WRITTEN_MOST_CASES);
	grown = rule_grow(r->rule->cases, r->rule->case_count, sizeof(*grown));
	if (!grown)
		return rule_no_memory(r);
	r->rule->cases = grown;
	grown += r->rule->case_count++;
	grown->is_verdict = text_is(kind, "verdict");
	grown->tag = grown->is_verdict ? RULE_INFORM : (enum rule_tag)tag;
	return read_title(r, grown, title);
}

/* [optimize TITLE], [list NAME] */
static int begin_block(struct rule_reader *r, struct text_part line)
{
	struct text_part word, title = { "", 0 }, inside = { line.text + 1, line.len - 2 };

	r->list = NULL;
	r->row = NULL;
	if (line.len < 2 || line.text[line.len - 1] != ']')
		return rule_refuse(r, "'[' has no ']'");
	if (!text_split(inside, ' ', &word, &title))
		return rule_refuse(
			r, "expected a title behind '[optimize', '[inform', '[warn' or '[verdict', or a name behind '[list' or '[lines'");
	if (text_is(word, "list") || text_is(word, "lines"))
		return begin_list(r, text_is(word, "lines"), title);
	return begin_case(r, word, title);
}

/* COLUMN | COLUMN ... */
static int read_row(struct rule_reader *r, struct text_part value)
{
	struct written_list *list = r->list;
	struct written_row *grown;
	struct text_part column;
	size_t count = 0;
	bool more = true;

	if (list->row_count == WRITTEN_MOST_ROWS)
		return rule_refuse(r, "there are more than %d rows", WRITTEN_MOST_ROWS);
	grown = rule_grow(list->rows, list->row_count, sizeof(*grown));
	if (!grown)
		return rule_no_memory(r);
	list->rows = grown;
	grown += list->row_count++;
	for (; more; count++) {
		more = text_split(value, '|', &column, &value);
		if (count == WRITTEN_MOST_COLUMNS)
			return rule_refuse(r, "a row has at most %d columns", WRITTEN_MOST_COLUMNS);
		if (set_rule_text(r, &grown->columns[count], more ? column : value) < 0)
			return -ENOMEM;
	}
	if (list->row_count > 1 && count != list->column_count)
		return rule_refuse(r, "rows have as many columns as the first, %zu", list->column_count);
	list->column_count = count;
	return 0;
}

static int read_of_list(struct rule_reader *r, struct text_part name, struct text_part value)
{
	struct written_list *list = r->list;

	if (list->is_lines && (text_is(name, "more") || text_is(name, "less")))
		return set_rule_text(r, text_is(name, "more") ? &list->more : &list->less, value);
	if (!list->is_lines && text_is(name, "row"))
		return read_row(r, value);
	if (!list->is_lines && text_is(name, "value") && !list->value.count) {
		r->row = list;
		return rule_read_formula(r, &list->value, value);
	}
	return rule_refuse(r, list->is_lines ? "lines have 'more' and 'less', metrics of source code" :
					       "a list has 'row's and, after them, one 'value'");
}

/* A second line of text goes on with the first. */
static int read_case_text(struct rule_reader *r, struct written_case *c, struct text_part value)
{
	struct written_text *grown = rule_grow(c->lines, c->line_count, sizeof(*grown));

	if (!grown)
		return rule_no_memory(r);
	c->lines = grown;
	return rule_read_text(r, &grown[c->line_count++], value);
}

/* local FORMULA, global FORMULA */
static int read_gain(struct rule_reader *r, struct written_case *c, struct text_part value)
{
	struct text_part kind, share;
	struct written_gain *grown;

	if (!text_split(value, ' ', &kind, &share) || (!text_is(kind, "local") && !text_is(kind, "global")))
		return rule_refuse(r, "a gain is 'local FORMULA' or 'global FORMULA', a share of 1");
	grown = rule_grow(c->gains, c->gain_count, sizeof(*grown));
	if (!grown)
		return rule_no_memory(r);
	c->gains = grown;
	grown += c->gain_count++;
	grown->gain = text_is(kind, "local") ? RULE_LOCAL : RULE_GLOBAL;
	return rule_read_formula(r, &grown->share, share);
}

static int read_order(struct rule_reader *r, struct text_part value)
{
	unsigned order = 0;

	for (size_t i = 0; i < value.len; i++) {
		if (!isdigit((unsigned char)value.text[i]) || value.len > 6)
			return rule_refuse(r, "the order is a number of up to six digits");
		order = order * 10 + (unsigned)(value.text[i] - '0');
	}
	r->rule->order = order;
	return 0;
}

static int read_head(struct rule_reader *r, struct text_part name, struct text_part value)
{
	struct written_rule *rule = r->rule;

	if (text_is(name, "title"))
		return set_rule_text(r, &rule->title, value);
	if (text_is(name, "section"))
		return set_rule_text(r, &rule->section, value);
	if (text_is(name, "about"))
		return set_rule_text(r, &rule->about, value);
	if (text_is(name, "order"))
		return read_order(r, value);
	if (text_is(name, "say") && (text_is(value, "first") || text_is(value, "all"))) {
		rule->only_first = text_is(value, "first");
		return 0;
	}
	return rule_refuse(r,
			   "before the first block there are 'title', 'section', 'about', 'order', 'say = first', 'let', 'set' and 'when'");
}

static int read_of_case(struct rule_reader *r, struct written_case *c, struct text_part name, struct text_part value)
{
	if (!c->is_verdict && text_is(name, "text"))
		return read_case_text(r, c, value);
	if (!c->is_verdict && text_is(name, "gain"))
		return read_gain(r, c, value);
	return rule_refuse(r,
			   c->is_verdict ? "a verdict has 'let', 'set' and 'when'" : "a case has 'let', 'set', 'when', 'text' and 'gain'");
}

static int read_rule_line(struct rule_reader *r, struct text_part line)
{
	struct written_case *c = last_case(r->rule);
	struct text_part name, value, deed, named;

	if (line.text[0] == '[')
		return begin_block(r, line);
	if (!text_split(line, '=', &name, &value))
		return rule_refuse(r, "expected 'name = value'");
	if (r->list)
		return read_of_list(r, name, value);
	if (is_step(name, &deed, &named))
		return read_step(r, c ? &c->steps : &r->rule->steps, deed, named, value);
	return c ? read_of_case(r, c, name, value) : read_head(r, name, value);
}

static bool has_condition(const struct written_steps *steps)
{
	for (size_t i = 0; i < steps->count; i++)
		if (steps->items[i].deed == WRITTEN_WHEN)
			return true;
	return false;
}

/* Nothing is said always: a case without condition is the last resort of those before it, or all have one. */
static bool is_complete(const struct written_rule *rule)
{
	if (!rule->title[0] || !rule->section[0] || !rule->case_count)
		return false;
	for (size_t i = 0; i < rule->list_count; i++)
		if (rule->lists[i].is_lines ? !rule->lists[i].more : !rule->lists[i].row_count)
			return false;
	for (size_t i = 0; i < rule->case_count; i++) {
		const struct written_case *c = &rule->cases[i];

		if (!has_condition(&c->steps) && !has_condition(&rule->steps) && !(rule->only_first && i))
			return false;
		if (!c->line_count && !c->is_verdict)
			return false;
	}
	return true;
}

int written_rule_parse(struct written_rule *ret, const char *path, const char *text, size_t size, struct error *err)
{
	struct rule_reader r = { .lines = { path, text, text + size, 0, 0 }, .rule = ret, .err = err };
	struct text_part line;
	int result;

	*ret = (struct written_rule){
		.id = text_file_name(path), .title = strdup(""), .section = strdup(""), .about = strdup(""), .order = 1000
	};
	result = ret->id && ret->title && ret->section && ret->about ? 1 : rule_no_memory(&r);
	while (result > 0) {
		result = text_next_line(&r.lines, &line, err);
		if (result > 0 && read_rule_line(&r, line) < 0)
			result = -EINVAL;
	}
	if (result == 0 && !is_complete(ret))
		result = error_set(err, EINVAL, "%s: a rule needs a title, a section, rows in lists, and cases with 'when' and 'text'",
				   path);
	if (result < 0)
		written_rule_release(ret);
	return result;
}

static void release_steps(struct written_steps *steps)
{
	for (size_t i = 0; i < steps->count; i++) {
		free(steps->items[i].name);
		formula_release(&steps->items[i].value);
		rule_release_conditions(&steps->items[i].conditions);
	}
	free(steps->items);
}

static void release_list(struct written_list *list)
{
	for (size_t i = 0; i < list->row_count; i++)
		for (size_t k = 0; k < WRITTEN_MOST_COLUMNS; k++)
			free(list->rows[i].columns[k]);
	formula_release(&list->value);
	free(list->rows);
	free(list->name);
	free(list->more);
	free(list->less);
}

static void release_case(struct written_case *c)
{
	rule_release_text(&c->title);
	release_steps(&c->steps);
	for (size_t i = 0; i < c->line_count; i++)
		rule_release_text(&c->lines[i]);
	for (size_t i = 0; i < c->gain_count; i++)
		formula_release(&c->gains[i].share);
	free(c->lines);
	free(c->gains);
}

void written_rule_release(struct written_rule *rule)
{
	for (size_t i = 0; i < rule->case_count; i++)
		release_case(&rule->cases[i]);
	for (size_t i = 0; i < rule->list_count; i++)
		release_list(&rule->lists[i]);
	release_steps(&rule->steps);
	free(rule->cases);
	free(rule->lists);
	free(rule->id);
	free(rule->title);
	free(rule->section);
	free(rule->about);
	*rule = (struct written_rule){ 0 };
}
