#include "query/engine/scope_text.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/macros.h"

#define NUMBER_DIGITS_MAX 18

/* Digits at *text as a number; 0 when there are none or too many. */
static int take_scope_number(const char **text, uint64_t *ret)
{
	size_t len = strspn(*text, "0123456789");

	if (len == 0 || len > NUMBER_DIGITS_MAX)
		return 0;
	*ret = strtoull(*text, NULL, 10);
	*text += len;
	return 1;
}

static int take_span(const char **text, uint64_t *first, uint64_t *last)
{
	int has_first = take_scope_number(text, first);

	*last = *first;
	if (**text != '-')
		return has_first;
	if (!has_first)
		*first = 0;
	(*text)++;
	if (isdigit((unsigned char)**text))
		return take_scope_number(text, last) && *first <= *last;
	*last = UINT64_MAX;
	return has_first; /* "-" alone is nothing */
}

int number_list_parse(struct number_list *ret, const char *text, const char *what, struct error *err)
{
	const char *at = text;
	uint64_t first = 0, last = 0;

	ret->count = 0;
	for (;;) {
		if (!take_span(&at, &first, &last) || (*at && *at != ','))
			return error_set(err, EINVAL, "Cannot read %s '%s': write numbers like 3, 2-5, 7- or -4, separated by commas", what,
					 text);
		if (ret->count == NUMBER_LIST_MAX)
			return error_set(err, EINVAL, "%s has more than %d parts", what, NUMBER_LIST_MAX);
		ret->spans[ret->count].first = first;
		ret->spans[ret->count++].last = last;
		if (!*at++)
			return 0;
	}
}

int number_list_has(const struct number_list *list, uint64_t number)
{
	for (size_t i = 0; i < list->count; i++)
		if (list->spans[i].first <= number && number <= list->spans[i].last)
			return 1;
	return 0;
}

/* A decimal number and its unit; 0 when it is none. */
static int take_time(const char *text, size_t len, int64_t *ret)
{
	static const struct {
		const char *name;
		double ns;
	} units[] = {
		{ "", 1 }, { "ns", 1 }, { "us", 1e3 }, { "ms", 1e6 }, { "s", 1e9 },
	};
	char number[64], *unit;
	size_t i = 0;
	double value;

	if (len >= sizeof(number) || !(isdigit((unsigned char)*text) || *text == '.'))
		return 0;
	memcpy(number, text, len);
	number[len] = '\0';
	unit = number + strspn(number, "0123456789.");
	while (i < COUNT_OF(units) && strcmp(units[i].name, unit) != 0)
		i++;
	if (i == COUNT_OF(units))
		return 0;
	*unit = '\0';
	errno = 0;
	*ret = strtoll(number, &unit, 10);
	if (!*unit && errno == 0 && units[i].ns == 1)
		return 1; /* whole nanoseconds are taken as they are */
	value = strtod(number, &unit) * units[i].ns;
	*ret = value < 9e18 ? llround(value) : 0;
	return !*unit && value < 9e18;
}

int time_span_parse(const char *text, int64_t *ret_start, int64_t *ret_end, struct error *err)
{
	const char *slash = strchr(text, '/');

	*ret_start = INT64_MIN;
	*ret_end = INT64_MAX;
	if (!slash || (slash != text && !take_time(text, (size_t)(slash - text), ret_start)) ||
	    (slash[1] && !take_time(slash + 1, strlen(slash + 1), ret_end)))
		return error_set(err, EINVAL,
				 "Cannot read the times '%s': write [start]/[end], in ns or with ns, us, ms or s, "
				 "as in 1.5s/2s",
				 text);
	if (*ret_start > *ret_end)
		return error_set(err, EINVAL, "'%s' ends before it starts", text);
	return 0;
}

/* On a mismatch behind a *, that takes in one character more. */
int pattern_matches(const char *pattern, const char *text, size_t len)
{
	const char *star = NULL;
	size_t at = 0, star_at = 0;
	int literal;

	for (;;) {
		literal = *pattern == '\\' && pattern[1];
		if (*pattern == '*') {
			star = ++pattern;
			star_at = at;
		} else if (at < len && *pattern && ((!literal && *pattern == '?') || pattern[literal] == text[at])) {
			pattern += 1 + literal;
			at++;
		} else if (!*pattern && at == len) {
			return 1;
		} else if (star && star_at < len) {
			pattern = star;
			at = ++star_at;
		} else {
			return 0;
		}
	}
}

/* The last of that character that has no backslash before it. */
static char *last_plain(char *text, char sought)
{
	char *found = NULL;

	for (; *text; text++) {
		if (*text == sought)
			found = text;
		if (*text == '\\' && text[1])
			text++;
	}
	return found;
}

int range_filter_parse(struct range_filter *ret, const char *text, struct error *err)
{
	char *split;

	memset(ret, 0, sizeof(*ret));
	ret->name = strdup(text);
	if (!ret->name)
		return error_set(err, ENOMEM, "Not enough memory");
	split = last_plain(ret->name, '/');
	if (split && split[1] && split[1 + strspn(split + 1, "0123456789,-")] == '\0') {
		if (number_list_parse(&ret->indices, split + 1, "the index", err) < 0)
			return -EINVAL;
		ret->has_indices = 1;
		*split = '\0';
	}
	split = last_plain(ret->name, '@');
	if (split) {
		*split = '\0';
		ret->domain = split[1] ? strdup(split + 1) : NULL;
		if (split[1] && !ret->domain)
			return error_set(err, ENOMEM, "Not enough memory");
	}
	if (!*ret->name)
		return error_set(err, EINVAL, "'%s' names no range: write range[@domain][/index]", text);
	return 0;
}

void range_filter_release(struct range_filter *filter)
{
	free(filter->name);
	free(filter->domain);
	memset(filter, 0, sizeof(*filter));
}

static size_t digits_before(const char *name, size_t end)
{
	size_t at = end;

	while (at > 0 && isdigit((unsigned char)name[at - 1]))
		at--;
	return end - at;
}

static size_t strip(const char *name, size_t end, const char *characters)
{
	while (end > 0 && memchr(characters, name[end - 1], strlen(characters)))
		end--;
	return end;
}

int name_number_find(const char *name, size_t len, struct name_number *ret)
{
	size_t end = strip(name, len, ")]}> "), digits = digits_before(name, end);

	/* "12/100": of so many. */
	if (digits && end > digits + 1 && name[end - digits - 1] == '/' && digits_before(name, end - digits - 1)) {
		end -= digits + 1;
		digits = digits_before(name, end);
	}
	if (digits == 0 || digits > NUMBER_DIGITS_MAX)
		return 0;
	ret->first = end - digits;
	ret->value = 0;
	for (size_t i = ret->first; i < end; i++)
		ret->value = ret->value * 10 + (uint64_t)(name[i] - '0');
	return 1;
}

int name_is_step(const char *name, size_t before)
{
	static const char *const words[] = { "step", "iteration", "iter", "batch" };
	size_t len;

	before = strip(name, before, " _#:=-([{<.");
	for (size_t i = 0; i < COUNT_OF(words); i++) {
		len = strlen(words[i]);
		if (before >= len && strncasecmp(name + before - len, words[i], len) == 0)
			return 1;
	}
	return 0;
}
