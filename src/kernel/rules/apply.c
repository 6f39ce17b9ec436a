/* What a rule says of the values of a kernel. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "kernel/rules/rule_file.h"

#define NO_ROW WRITTEN_MOST_ROWS

struct list_state {
	bool is_known;      /* lists above it are, those below it not yet */
	size_t rows, known; /* rows with a value */
	double values[WRITTEN_MOST_ROWS];
	double most, least, sum;
	size_t largest, smallest; /* the first of them; NO_ROW: none is known */
	struct rule_line lines[WRITTEN_MOST_LINES];
	size_t row; /* of which something is being said */
};

struct name_value {
	const char *name;
	double value;
};

/* A rule at work. */
struct scope {
	const struct written_rule *rule;
	struct rule_run *run;
	struct name_value names[WRITTEN_MOST_NAMES];
	size_t name_count;
	struct list_state lists[WRITTEN_MOST_LISTS];
	size_t inner; /* the list whose columns $1 and so on are; WRITTEN_MOST_LISTS: none */
};

/* Where something is said, cut at its end. */
struct saying {
	char *text;
	size_t size;
};

void rules_begin(struct rule_run *run, rule_value_of *value, rule_lines_of *lines, void *context)
{
	*run = (struct rule_run){ .value = value, .lines = lines, .context = context };
}

static struct rule_handed_on *find_handed_on(struct rule_run *run, const char *name)
{
	for (size_t i = 0; i < run->handed_on_count; i++)
		if (strcmp(run->handed_on[i].name, name) == 0)
			return &run->handed_on[i];
	return NULL;
}

void rule_hand_on(struct rule_run *run, const char *name, double value)
{
	struct rule_handed_on *place = find_handed_on(run, name);

	if (isnan(value))
		return;
	if (!place && run->handed_on_count < RULE_HANDED_ON)
		place = &run->handed_on[run->handed_on_count++];
	if (place)
		*place = (struct rule_handed_on){ name, value };
}

static const char *column(const struct scope *s, size_t number)
{
	const struct list_state *state = s->inner < WRITTEN_MOST_LISTS ? &s->lists[s->inner] : NULL;
	const struct written_list *list = state ? &s->rule->lists[s->inner] : NULL;
	const char *stall;

	if (!state || state->row >= state->rows)
		return "";
	if (!list->is_lines)
		return list->rows[state->row].columns[number];
	stall = state->lines[state->row].stall;
	return number == 0 ? state->lines[state->row].place : stall ? stall : "";
}

/* A name with the row's columns in it; false where it does not fit. */
static bool fill_columns(const struct scope *s, const char *name, char *ret, size_t size)
{
	size_t used = 0;

	for (; *name; name++) {
		const char *put = *name == '$' ? column(s, (size_t)(name[1] - '1')) : name;
		size_t len = *name == '$' ? strlen(put) : 1;

		if (used + len >= size)
			return false;
		memcpy(ret + used, put, len);
		used += len;
		name += *name == '$';
	}
	ret[used] = '\0';
	return true;
}

static double value_of_row(const struct list_state *state, const char *what)
{
	const struct rule_line *line = state->row < WRITTEN_MOST_LINES ? &state->lines[state->row] : NULL;

	if (state->row >= state->rows)
		return NAN;
	if (!*what)
		return state->values[state->row];
	if (!line)
		return NAN;
	if (strcmp(what, ".more") == 0)
		return line->more;
	return strcmp(what, ".less") == 0 ? line->less : line->stall ? line->stall_share : NAN;
}

static double value_of_list(const struct list_state *state, const char *what)
{
	if (!state->is_known)
		return NAN;
	if (strcmp(what, ".most") == 0)
		return state->most;
	if (strcmp(what, ".least") == 0)
		return state->least;
	if (strcmp(what, ".sum") == 0)
		return state->sum;
	return strcmp(what, ".count") == 0 ? (double)state->known : value_of_row(state, what);
}

static double find_rule_value(void *context, const char *name)
{
	const struct scope *s = context;
	const struct rule_handed_on *handed_on;
	char filled[300];

	if (strchr(name, '$')) {
		if (!fill_columns(s, name, filled, sizeof(filled)))
			return NAN;
		name = filled;
	}
	for (size_t i = 0; i < s->name_count; i++)
		if (strcmp(s->names[i].name, name) == 0)
			return s->names[i].value;
	for (size_t i = 0; i < s->rule->list_count; i++) {
		size_t len = strlen(s->rule->lists[i].name);

		if (strncmp(s->rule->lists[i].name, name, len) == 0 && (!name[len] || name[len] == '.'))
			return value_of_list(&s->lists[i], name + len);
	}
	handed_on = find_handed_on(s->run, name);
	return handed_on ? handed_on->value : s->run->value(s->run->context, name);
}

static bool rule_condition_holds(const struct written_condition *c, struct scope *s)
{
	double left = formula_value(&c->left, find_rule_value, s), right = formula_value(&c->right, find_rule_value, s);

	switch (c->comparison) {
	case WRITTEN_AT_LEAST: return left >= right;
	case WRITTEN_MORE: return left > right;
	case WRITTEN_AT_MOST: return left <= right;
	case WRITTEN_LESS: return left < right;
	}
	return false;
}

static bool all_hold(const struct written_conditions *conditions, struct scope *s)
{
	size_t met = 0;

	while (met < conditions->count && rule_condition_holds(&conditions->items[met], s))
		met++;
	return met == conditions->count;
}

/* False at the first condition that does not hold. */
static bool take_steps(const struct written_steps *steps, struct scope *s)
{
	for (size_t i = 0; i < steps->count; i++) {
		const struct written_step *step = &steps->items[i];

		if (step->deed == WRITTEN_WHEN && !all_hold(&step->conditions, s))
			return false;
		if (step->deed == WRITTEN_SET)
			rule_hand_on(s->run, step->name, formula_value(&step->value, find_rule_value, s));
		if (step->deed == WRITTEN_LET && s->name_count < WRITTEN_MOST_NAMES) {
			s->names[s->name_count] = (struct name_value){ step->name, formula_value(&step->value, find_rule_value, s) };
			s->name_count++;
		}
	}
	return true;
}

static void note_row(struct list_state *state, size_t row, double value)
{
	state->values[row] = value;
	if (isnan(value))
		return;
	state->known++;
	state->sum = isnan(state->sum) ? value : state->sum + value;
	if (!(value <= state->most)) {
		state->most = value;
		state->largest = row;
	}
	if (!(value >= state->least)) {
		state->least = value;
		state->smallest = row;
	}
}

static void look_at_list(struct scope *s, size_t i)
{
	const struct written_list *list = &s->rule->lists[i];
	struct list_state *state = &s->lists[i];

	*state = (struct list_state){ .most = NAN, .least = NAN, .sum = NAN, .largest = NO_ROW, .smallest = NO_ROW };
	state->rows = list->row_count;
	if (list->is_lines)
		state->rows = s->run->lines ? s->run->lines(s->run->context, list->more, list->less, state->lines, WRITTEN_MOST_LINES) : 0;
	s->inner = i;
	for (state->row = 0; state->row < state->rows; state->row++) {
		const struct rule_line *line = list->is_lines ? &state->lines[state->row] : NULL;

		note_row(state, state->row, line ? line->more - line->less : formula_value(&list->value, find_rule_value, s));
	}
	s->inner = WRITTEN_MOST_LISTS;
	state->row = NO_ROW;
	state->is_known = true;
}

__attribute__((format(printf, 2, 3))) static void append_saying(struct saying *to, const char *format, ...)
{
	size_t used = strlen(to->text);
	va_list args;

	va_start(args, format);
	vsnprintf(to->text + used, to->size - used, format, args);
	va_end(args);
}

static void say_text(const struct written_text *text, struct scope *s, struct saying *to);

/* Of the rows that are picked and whose conditions hold. */
static void say_rows(const struct written_block *block, struct scope *s, struct saying *to)
{
	struct list_state *state = &s->lists[block->list];
	size_t outer = s->inner, only = block->pick == WRITTEN_LARGEST ? state->largest : state->smallest;
	const char *separator = "";

	s->inner = block->list;
	for (state->row = 0; state->row < state->rows; state->row++) {
		if ((block->pick != WRITTEN_EACH && state->row != only) || !all_hold(&block->conditions, s))
			continue;
		append_saying(to, "%s", separator);
		say_text(&block->text, s, to);
		separator = ", ";
	}
	state->row = NO_ROW;
	s->inner = outer;
}

static void say_block(const struct written_block *block, struct scope *s, struct saying *to)
{
	if (block->pick != WRITTEN_NO_LIST)
		say_rows(block, s, to);
	else if (all_hold(&block->conditions, s))
		say_text(&block->text, s, to);
}

static void say_text(const struct written_text *text, struct scope *s, struct saying *to)
{
	for (size_t i = 0; i < text->count; i++) {
		const struct written_part *p = &text->parts[i];

		if (p->kind == WRITTEN_WORDS)
			append_saying(to, "%s", p->words);
		else if (p->kind == WRITTEN_COLUMN)
			append_saying(to, "%s", column(s, p->column));
		else if (p->kind == WRITTEN_VALUE)
			append_saying(to, "%.*f", p->decimals, formula_value(&p->value, find_rule_value, s));
		else
			say_block(p->block, s, to);
	}
}

/* A blank between those that say something. */
static void say_lines(const struct written_case *c, struct scope *s, struct saying *to)
{
	for (size_t i = 0; i < c->line_count; i++) {
		size_t before = strlen(to->text), begun;

		append_saying(to, "%s", before ? " " : "");
		begun = strlen(to->text);
		say_text(&c->lines[i], s, to);
		if (strlen(to->text) == begun)
			to->text[before] = '\0';
	}
}

/* The share is one of 1; less than nothing is nothing, and more than all is all. */
static void estimate(const struct written_case *c, struct scope *s, struct rule_result *result)
{
	for (size_t i = 0; i < c->gain_count && result->gain == RULE_NO_GAIN; i++) {
		double share = formula_value(&c->gains[i].share, find_rule_value, s);

		if (isnan(share))
			continue;
		result->gain = c->gains[i].gain;
		result->percent = 100 * (share < 0 ? 0 : share > 1 ? 1 : share);
	}
}

static void say_case(const struct written_case *c, struct scope *s)
{
	struct rule_run *run = s->run;
	struct rule_result *result = &run->results[run->count];

	if (c->is_verdict && !run->verdict[0])
		say_text(&c->title, s, &(struct saying){ run->verdict, sizeof(run->verdict) });
	if (c->is_verdict || run->count == RULE_RESULTS)
		return;
	run->count++;
	*result = (struct rule_result){ .rule = s->rule->id, .tag = c->tag };
	say_text(&c->title, s, &(struct saying){ result->title, sizeof(result->title) });
	say_lines(c, s, &(struct saying){ result->text, sizeof(result->text) });
	estimate(c, s, result);
}

/* Whether it held. */
static bool try_case(const struct written_case *c, struct scope *s)
{
	size_t names = s->name_count;
	bool held = take_steps(&c->steps, s);

	if (held)
		say_case(c, s);
	s->name_count = names;
	return held;
}

static bool try_rows(const struct written_case *c, struct scope *s)
{
	struct list_state *state = &s->lists[c->list];
	bool held = false;

	s->inner = c->list;
	for (state->row = 0; state->row < state->rows; state->row++)
		held |= try_case(c, s);
	state->row = NO_ROW;
	s->inner = WRITTEN_MOST_LISTS;
	return held;
}

void written_rule_apply(const struct written_rule *rule, struct rule_run *run)
{
	struct scope s = { .rule = rule, .run = run, .inner = WRITTEN_MOST_LISTS };
	bool said = false;

	if (!take_steps(&rule->steps, &s))
		return;
	for (size_t i = 0; i < rule->list_count; i++)
		look_at_list(&s, i);
	for (size_t i = 0; i < rule->case_count; i++) {
		const struct written_case *c = &rule->cases[i];

		if (!c->is_verdict && said && rule->only_first)
			continue;
		if ((c->pick == WRITTEN_EACH ? try_rows(c, &s) : try_case(c, &s)) && !c->is_verdict)
			said = true;
	}
}
