/* Values of options: the small pattern language of `values`, and storing. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/nearest.h"
#include "base/options/store.h"

size_t option_next_value(const char **list, const char **piece)
{
	size_t len;

	if (!*list || !**list)
		return 0;
	*piece = *list;
	len = strcspn(*list, "|");
	*list += len + ((*list)[len] == '|');
	return len;
}

static bool all_digits(const char *text, size_t len)
{
	size_t i;

	for (i = 0; i < len; i++)
		if (text[i] < '0' || text[i] > '9')
			return false;
	return len > 0;
}

static bool has_unit_suffix(const char *text, size_t len, const char *suffix)
{
	size_t suffix_len = strlen(suffix);

	return len > suffix_len && memcmp(text + len - suffix_len, suffix, suffix_len) == 0;
}

size_t option_value_word(const char *piece, size_t len)
{
	if ((len == 1 && *piece == 'N') || (len == 4 && memcmp(piece, "TEXT", 4) == 0))
		return 0;
	if (has_unit_suffix(piece, len, "[:N]"))
		return len - 4;
	return has_unit_suffix(piece, len, ":N") ? len - 2 : len;
}

/* "word:N", with the number required or not. */
static bool match_numbered(const char *word, size_t word_len, bool required, const char *value, size_t len)
{
	if (len < word_len || memcmp(word, value, word_len) != 0)
		return false;
	if (len == word_len)
		return !required;
	return value[word_len] == ':' && all_digits(value + word_len + 1, len - word_len - 1);
}

static bool match_piece(const char *piece, size_t piece_len, const char *value, size_t len)
{
	if (piece_len == 4 && memcmp(piece, "TEXT", 4) == 0)
		return len > 0;
	if (piece_len == 1 && *piece == 'N')
		return all_digits(value, len);
	if (has_unit_suffix(piece, piece_len, "[:N]"))
		return match_numbered(piece, piece_len - 4, false, value, len);
	if (has_unit_suffix(piece, piece_len, ":N"))
		return match_numbered(piece, piece_len - 2, true, value, len);
	return piece_len == len && memcmp(piece, value, len) == 0;
}

int option_match(const char *values, const char *value, size_t len)
{
	const char *piece;
	size_t piece_len;
	int index;

	for (index = 0; (piece_len = option_next_value(&values, &piece)); index++)
		if (match_piece(piece, piece_len, value, len))
			return index;
	return -1;
}

const char *option_values(const struct option_spec *spec)
{
	return spec->type == OPTION_BOOL ? "true|false" : spec->values;
}

const char *option_shown_default(const struct option_spec *spec)
{
	return spec->shown ? spec->shown : spec->initial;
}

bool option_use_is_off(const struct option_use *use)
{
	const char *off = use->spec->off;

	if (!off && use->spec->type == OPTION_BOOL)
		off = "false";
	return off && option_match(off, use->value, strlen(use->value)) >= 0;
}

/* The list as people read it: "a, b or c". A long one that can be asked for with
 * "help" is not repeated in an error message. */
static void describe_values(const char *values, char *buffer, size_t size)
{
	const char *piece;
	size_t len, used = 0;

	buffer[0] = '\0';
	if (strlen(values) > 200 && option_match(values, "help", 4) >= 0) {
		snprintf(buffer, size, "what the value 'help' lists");
		return;
	}
	while ((len = option_next_value(&values, &piece)) && used + len + 5 < size) {
		if (used) {
			const char *join = *values ? ", " : " or ";

			used += (size_t)(stpcpy(buffer + used, join) - (buffer + used));
		}
		memcpy(buffer + used, piece, len);
		used += len;
		buffer[used] = '\0';
	}
}

static int bad_value(const struct option_spec *spec, const char *value, size_t len, struct error *err)
{
	char word[96], all[640], hint[160];
	const char *values = option_values(spec), *piece;
	size_t piece_len;
	struct nearest nearest;

	snprintf(word, sizeof(word), "%.*s", (int)len, value);
	nearest_begin(&nearest, word);
	describe_values(values, all, sizeof(all));
	while ((piece_len = option_next_value(&values, &piece)))
		nearest_offer(&nearest, piece, option_value_word(piece, piece_len));
	return error_set(err, EINVAL, "--%s does not take '%s'.%s It takes %s.", spec->name, word,
			 nearest_hint(&nearest, "", hint, sizeof(hint)), all);
}

static int check_commas(const struct option_spec *spec, const char *value, uint64_t *ret_mask, struct error *err)
{
	uint64_t mask = 0;
	size_t len;
	int index;

	do {
		len = strcspn(value, ",");
		index = option_match(spec->values, value, len);
		if (index < 0)
			return bad_value(spec, value, len, err);
		mask |= (uint64_t)1 << (index & 63);
		value += len;
	} while (*value++ == ',');
	*ret_mask = mask;
	return 0;
}

static int check_range(const struct option_spec *spec, double number, double scale, struct error *err)
{
	double min = (double)spec->min, max = (double)spec->max;

	if (!spec->max && !spec->min)
		max = 9e18;
	if (number * scale >= min && number * scale <= (max > 0 ? max : 9e18))
		return 0;
	if (spec->max > 0 && spec->max < INT64_MAX)
		return error_set(err, EINVAL, "--%s takes a number from %.15g to %.15g, not %.15g.", spec->name, min / scale, max / scale,
				 number);
	return error_set(err, EINVAL, "--%s takes a number %s, not %.15g.", spec->name, spec->min > 0 ? "above 0" : "from 0 on", number);
}

static int read_integer(const struct option_spec *spec, const char *value, int64_t *ret, struct error *err)
{
	char *end;
	long long number;

	errno = 0;
	number = strtoll(value, &end, 10);
	if (errno == ERANGE && !*end)
		return error_set(err, EINVAL, "--%s: %s is too large.", spec->name, value);
	if (end == value || *end || errno)
		return error_set(err, EINVAL, "--%s takes a whole number, not '%s'.", spec->name, value);
	*ret = number;
	return check_range(spec, (double)number, 1, err);
}

static int read_seconds(const struct option_spec *spec, const char *value, int64_t *ret, struct error *err)
{
	char *end;
	double seconds = strtod(value, &end);

	if (end == value || *end || !isfinite(seconds))
		return error_set(err, EINVAL, "--%s takes a number of seconds, not '%s'.", spec->name, value);
	if (seconds > 9e9)
		return error_set(err, EINVAL, "--%s: %s seconds is more than 285 years.", spec->name, value);
	if (check_range(spec, seconds, 1e9, err) < 0)
		return -EINVAL;
	*ret = (int64_t)(seconds * 1e9);
	return 0;
}

/* Checks the text and makes it a value of the option's type. */
int option_read(const struct option_spec *spec, const char *text, struct option_value *ret, struct error *err)
{
	const char *values = option_values(spec);

	ret->text = text;
	if (spec->type == OPTION_INTEGER)
		return read_integer(spec, text, &ret->number, err);
	if (spec->type == OPTION_SECONDS)
		return read_seconds(spec, text, &ret->number, err);
	if (spec->type == OPTION_CHOICES || (spec->flags & OPTION_COMMAS && values))
		return check_commas(spec, text, &ret->mask, err);
	ret->number = values ? option_match(values, text, strlen(text)) : 0;
	if (ret->number < 0)
		return bad_value(spec, text, strlen(text), err);
	return 0;
}

void option_store(const struct option_spec *spec, const struct option_value *value, void *fields)
{
	void *field = (char *)fields + spec->offset;
	struct option_texts *texts = field;

	switch (spec->type) {
	case OPTION_TEXT: *(const char **)field = value->text; break;
	case OPTION_TEXTS: texts->items[texts->count++] = value->text; break;
	case OPTION_BOOL:
		*(bool *)field = value->number == 0; /* "true" is the first of the values */
		break;
	case OPTION_INTEGER:
	case OPTION_SECONDS: *(int64_t *)field = value->number; break;
	case OPTION_CHOICE: *(int *)field = (int)value->number; break;
	case OPTION_CHOICES: *(uint64_t *)field = value->mask; break;
	}
}
