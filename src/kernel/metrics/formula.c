#include "kernel/metrics/formula.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/macros.h"

#define MAX_DEPTH 32
#define MAX_STEPS 256
#define MAX_NUMBER 40
#define MAX_NAME 255

struct parser {
	const char *at, *end;
	struct formula *formula;
	unsigned depth;
	bool has_columns;
	char *why;
	size_t why_size;
};

static int parse_sum(struct parser *p);

bool is_metric_character(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '.' || c == ':';
}

static int refuse_formula(struct parser *p, const char *what)
{
	snprintf(p->why, p->why_size, "%s", what);
	return -EINVAL;
}

static void skip_blanks(struct parser *p)
{
	while (p->at < p->end && (*p->at == ' ' || *p->at == '\t' || *p->at == '\r' || *p->at == '\n'))
		p->at++;
}

/* The next character that is no blank, or 0 at the end. */
static char peek_formula_char(struct parser *p)
{
	skip_blanks(p);
	return p->at < p->end ? *p->at : '\0';
}

static bool take_formula_char(struct parser *p, char c)
{
	if (peek_formula_char(p) != c)
		return false;
	p->at++;
	return true;
}

static int add_formula_step(struct parser *p, enum formula_code code, double number, char *metric)
{
	struct formula *f = p->formula;

	if (f->count == MAX_STEPS) {
		free(metric);
		return refuse_formula(p, "the formula is too long");
	}
	if (!LIST_ROOM(f->steps, f->count)) {
		free(metric);
		return -ENOMEM;
	}
	f->steps[f->count++] = (struct formula_step){ code, number, metric };
	return 0;
}

static int parse_number(struct parser *p)
{
	char text[MAX_NUMBER], *end;
	size_t len = 0;
	double value;

	while (p->at + len < p->end && len + 1 < sizeof(text) && (isalnum((unsigned char)p->at[len]) || p->at[len] == '.'))
		len++;
	memcpy(text, p->at, len);
	text[len] = '\0';
	value = strtod(text, &end);
	if (end == text || *end || !isfinite(value))
		return refuse_formula(p, "a number cannot be read");
	p->at += len;
	return add_formula_step(p, FORMULA_NUMBER, value, NULL);
}

static bool is_single(enum formula_code code)
{
	return code == FORMULA_ABS || code == FORMULA_FLOOR || code == FORMULA_CEIL || code == FORMULA_NAN_AS_ZERO;
}

/* name(a, b ...): each further argument is joined to the result so far. */
static int parse_call(struct parser *p, const char *name, size_t len)
{
	static const struct {
		const char *name;
		enum formula_code code;
	} functions[] = { { "max", FORMULA_MAX },     { "min", FORMULA_MIN },
			  { "abs", FORMULA_ABS },     { "floor", FORMULA_FLOOR },
			  { "ceil", FORMULA_CEIL },   { "first", FORMULA_FIRST },
			  { "given", FORMULA_GIVEN }, { "nan_as_zero", FORMULA_NAN_AS_ZERO } };
	size_t i = 0, count = COUNT_OF(functions);
	int r;

	while (i < count && (strlen(functions[i].name) != len || strncmp(functions[i].name, name, len) != 0))
		i++;
	if (i == count)
		return refuse_formula(p, "functions are max, min, abs, floor, ceil, first, given and nan_as_zero");
	r = parse_sum(p);
	if (r == 0 && is_single(functions[i].code))
		r = add_formula_step(p, functions[i].code, 0, NULL);
	while (r == 0 && !is_single(functions[i].code) && take_formula_char(p, ',')) {
		r = parse_sum(p);
		if (r == 0)
			r = add_formula_step(p, functions[i].code, 0, NULL);
	}
	if (r == 0 && !take_formula_char(p, ')'))
		r = refuse_formula(p, "a closing parenthesis is missing");
	return r;
}

static bool is_of_name(const struct parser *p, char c)
{
	return is_metric_character(c) || (p->has_columns && c == '$');
}

static int parse_name(struct parser *p)
{
	const char *name = p->at;
	size_t len = 0;
	char *copy;

	while (name + len < p->end && is_of_name(p, name[len]))
		len++;
	p->at += len;
	if (take_formula_char(p, '('))
		return parse_call(p, name, len);
	if (len > MAX_NAME)
		return refuse_formula(p, "a metric's name is too long");
	copy = strndup(name, len);
	return copy ? add_formula_step(p, FORMULA_METRIC, 0, copy) : -ENOMEM;
}

static int parse_value(struct parser *p)
{
	char c = peek_formula_char(p);
	int r;

	if (++p->depth > MAX_DEPTH)
		return refuse_formula(p, "there are too many parentheses");
	if (take_formula_char(p, '(')) {
		r = parse_sum(p);
		if (r == 0 && !take_formula_char(p, ')'))
			r = refuse_formula(p, "a closing parenthesis is missing");
	} else if (take_formula_char(p, '-')) {
		r = parse_value(p);
		if (r == 0)
			r = add_formula_step(p, FORMULA_NEGATE, 0, NULL);
	} else if (isdigit((unsigned char)c)) {
		r = parse_number(p);
	} else if (is_of_name(p, c) && c != '.' && c != ':') {
		r = parse_name(p);
	} else {
		r = refuse_formula(p, c ? "a metric or a number is expected" : "something is missing at the end");
	}
	p->depth--;
	return r;
}

static int parse_product(struct parser *p)
{
	enum formula_code code;
	int r = parse_value(p);

	while (r == 0 && (peek_formula_char(p) == '*' || peek_formula_char(p) == '/')) {
		code = *p->at++ == '*' ? FORMULA_MULTIPLY : FORMULA_DIVIDE;
		r = parse_value(p);
		if (r == 0)
			r = add_formula_step(p, code, 0, NULL);
	}
	return r;
}

static int parse_sum(struct parser *p)
{
	enum formula_code code;
	int r = parse_product(p);

	while (r == 0 && (peek_formula_char(p) == '+' || peek_formula_char(p) == '-')) {
		code = *p->at++ == '+' ? FORMULA_ADD : FORMULA_SUBTRACT;
		r = parse_product(p);
		if (r == 0)
			r = add_formula_step(p, code, 0, NULL);
	}
	return r;
}

static int parse_all(struct parser *p)
{
	int r;

	*p->formula = (struct formula){ NULL, 0 };
	snprintf(p->why, p->why_size, "not enough memory");
	r = parse_sum(p);
	if (r == 0 && peek_formula_char(p))
		r = refuse_formula(p, "an operator (+ - * /) is expected between two values");
	if (r < 0)
		formula_release(p->formula);
	return r;
}

int formula_parse(struct formula *ret, const char *text, size_t len, char *why, size_t why_size)
{
	return parse_all(&(struct parser){ .at = text, .end = text + len, .formula = ret, .why = why, .why_size = why_size });
}

int formula_parse_row(struct formula *ret, const char *text, size_t len, char *why, size_t why_size)
{
	return parse_all(
		&(struct parser){ .at = text, .end = text + len, .formula = ret, .has_columns = true, .why = why, .why_size = why_size });
}

void formula_release(struct formula *f)
{
	for (size_t i = 0; i < f->count; i++)
		free(f->steps[i].metric);
	free(f->steps);
	*f = (struct formula){ NULL, 0 };
}

static int append_steps(struct formula *f, const struct formula *from)
{
	for (size_t i = 0; i < from->count; i++) {
		struct formula_step *step = &f->steps[f->count];

		*step = from->steps[i];
		if (step->metric && !(step->metric = strdup(step->metric)))
			return -ENOMEM;
		f->count++;
	}
	return 0;
}

int formula_ratio(struct formula *ret, const struct formula *above, const struct formula *below)
{
	size_t count = above->count + below->count + 1;

	*ret = (struct formula){ count <= MAX_STEPS ? calloc(count, sizeof(*ret->steps)) : NULL, 0 };
	if (!ret->steps || append_steps(ret, above) < 0 || append_steps(ret, below) < 0) {
		formula_release(ret);
		return -ENOMEM;
	}
	ret->steps[ret->count++] = (struct formula_step){ .code = FORMULA_DIVIDE };
	return 0;
}

const char *formula_metric(const struct formula *f)
{
	return f->count == 1 ? f->steps[0].metric : NULL;
}

static double apply_formula_code(enum formula_code code, double a, double b)
{
	switch (code) {
	case FORMULA_ADD: return a + b;
	case FORMULA_SUBTRACT: return a - b;
	case FORMULA_MULTIPLY: return a * b;
	case FORMULA_DIVIDE: return b == 0 ? NAN : a / b;
	case FORMULA_FIRST: return isnan(a) ? b : a;
	case FORMULA_GIVEN: return isnan(a) ? NAN : b;
	case FORMULA_MAX: return isnan(a) || isnan(b) ? NAN : a > b ? a : b;
	default: return isnan(a) || isnan(b) ? NAN : a < b ? a : b;
	}
}

static double change(enum formula_code code, double a)
{
	switch (code) {
	case FORMULA_NEGATE: return -a;
	case FORMULA_ABS: return fabs(a);
	case FORMULA_FLOOR: return floor(a);
	case FORMULA_CEIL: return ceil(a);
	default: return isnan(a) ? 0 : a;
	}
}

double formula_value(const struct formula *f, double (*value)(void *context, const char *metric), void *context)
{
	double stack[MAX_STEPS];
	size_t used = 0;

	for (size_t i = 0; i < f->count; i++) {
		const struct formula_step *step = &f->steps[i];

		if (step->code == FORMULA_NUMBER) {
			stack[used++] = step->number;
		} else if (step->code == FORMULA_METRIC) {
			stack[used++] = value(context, step->metric);
		} else if (step->code == FORMULA_NEGATE || is_single(step->code)) {
			stack[used - 1] = change(step->code, stack[used - 1]);
		} else {
			used--;
			stack[used - 1] = apply_formula_code(step->code, stack[used - 1], stack[used]);
		}
	}
	return used ? stack[0] : NAN;
}
