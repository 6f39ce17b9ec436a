/* Arithmetic over metrics: numbers, names, + - * / ( ), max(a, b ...), min(a, b ...), abs(a), floor(a), ceil(a), nan_as_zero(a),
 * first(a, b ...), the first that is known, and given(a, b ...), the last where all before it are known.
 * A value that is not there, or not a number, makes the result not a number, but for nan_as_zero() and first(). */
#ifndef SONDE_KERNEL_METRICS_FORMULA_H
#define SONDE_KERNEL_METRICS_FORMULA_H

#include <stdbool.h>
#include <stddef.h>

enum formula_code {
	FORMULA_NUMBER,
	FORMULA_METRIC,
	FORMULA_NEGATE,
	FORMULA_ADD,
	FORMULA_SUBTRACT,
	FORMULA_MULTIPLY,
	FORMULA_DIVIDE,
	FORMULA_MAX,
	FORMULA_MIN,
	FORMULA_FIRST,
	FORMULA_GIVEN,
	FORMULA_ABS,
	FORMULA_FLOOR,
	FORMULA_CEIL,
	FORMULA_NAN_AS_ZERO
};

struct formula_step {
	enum formula_code code;
	double number;
	char *metric;
};

/* In the order of calculation: values first, then what is done with them. */
struct formula {
	struct formula_step *steps;
	size_t count;
};

/* Reads `len` bytes. -EINVAL, and `why` in a few words without a full stop. */
int formula_parse(struct formula *ret, const char *text, size_t len, char *why, size_t why_size);
/* The same; names may have columns of a list's row in them, $1 to $9. */
int formula_parse_row(struct formula *ret, const char *text, size_t len, char *why, size_t why_size);
void formula_release(struct formula *f);
/* One divided by the other. -ENOMEM. */
int formula_ratio(struct formula *ret, const struct formula *above, const struct formula *below);
/* The only metric it is made of and nothing else, or NULL. */
const char *formula_metric(const struct formula *f);
double formula_value(const struct formula *f, double (*value)(void *context, const char *metric), void *context);
/* A character that a metric's name may have. */
bool is_metric_character(char c);

#endif
