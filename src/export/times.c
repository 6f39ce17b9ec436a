/* --times. */
#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/macros.h"
#include "export/export.h"

static const struct {
	const char *name;
	int64_t ns;
} units[] = {
	{ "", 1 },
	{ "ns", 1 },
	{ "nsec", 1 },
	{ "nanosecond", 1 },
	{ "us", 1000 },
	{ "usec", 1000 },
	{ "microsecond", 1000 },
	{ "ms", 1000000 },
	{ "msec", 1000000 },
	{ "millisecond", 1000000 },
	{ "s", 1000000000 },
	{ "sec", 1000000000 },
	{ "second", 1000000000 },
	{ "m", 60000000000 },
	{ "min", 60000000000 },
	{ "minute", 60000000000 },
	{ "h", 3600000000000 },
	{ "hour", 3600000000000 },
};

static int64_t unit_of(const char *word, size_t len)
{
	size_t singular = len > 3 && word[len - 1] == 's' ? len - 1 : len;

	for (size_t i = 0; i < COUNT_OF(units); i++)
		if ((strlen(units[i].name) == len && strncmp(units[i].name, word, len) == 0) ||
		    (strlen(units[i].name) == singular && strncmp(units[i].name, word, singular) == 0))
			return units[i].ns;
	return 0;
}

static int read_number(const char **text, int64_t *ret)
{
	int64_t value = 0;

	if (!isdigit((unsigned char)**text))
		return -EINVAL;
	for (; isdigit((unsigned char)**text); (*text)++)
		if (__builtin_mul_overflow(value, 10, &value) || __builtin_add_overflow(value, **text - '0', &value))
			return -ERANGE;
	*ret = value;
	return 0;
}

/* Digits behind the point, in parts of the unit. */
static int64_t read_fraction(const char **text, int64_t unit)
{
	int64_t value = 0;

	for (; isdigit((unsigned char)**text); (*text)++) {
		unit /= 10;
		value += (**text - '0') * unit;
	}
	return value;
}

static size_t word_length(const char *text)
{
	size_t len = 0;

	while (isalpha((unsigned char)text[len]))
		len++;
	return len;
}

/* 1s20ms, 1.5s, 2000: the pieces are added up. */
static int read_time(const char *text, const char *end, int64_t *ret)
{
	int64_t number, unit, sum = 0;
	const char *fraction, *word;

	while (text < end) {
		TRY(read_number(&text, &number));
		fraction = *text == '.' ? ++text : NULL;
		text += fraction ? strspn(text, "0123456789") : 0;
		word = text + strspn(text, " ");
		text = word + word_length(word);
		unit = unit_of(word, (size_t)(text - word));
		if (unit == 0)
			return -EINVAL;
		if (__builtin_mul_overflow(number, unit, &number) || __builtin_add_overflow(sum, number, &sum) ||
		    (fraction && __builtin_add_overflow(sum, read_fraction(&fraction, unit), &sum)))
			return -ERANGE;
		text += strspn(text, " ");
	}
	*ret = sum;
	return text == end ? 0 : -EINVAL;
}

int export_times_parse(const char *text, struct export_times *ret, struct error *err)
{
	const char *slash = strchr(text, '/'), *end = text + strlen(text);
	const char *first = text;
	struct export_times times = { .given = true, .start = INT64_MIN, .end = INT64_MAX };
	int r = 0;

	if (!slash)
		return error_set(err, EINVAL, "'%s' is not a range of times; write START/END, such as 1s/1s500ms", text);
	times.start_overlaps = *first == ':';
	first += times.start_overlaps;
	times.end_overlaps = end > slash + 1 && end[-1] == ':';
	end -= times.end_overlaps;
	if (first < slash)
		r = read_time(first, slash, &times.start);
	if (r >= 0 && slash + 1 < end)
		r = read_time(slash + 1, end, &times.end);
	if (r == -ERANGE)
		return error_set(err, EINVAL, "A time in '%s' is too large", text);
	if (r < 0)
		return error_set(err, EINVAL, "'%s' is not a range of times; the units are ns, us, ms, s, m and h", text);
	if (times.start > times.end)
		return error_set(err, EINVAL, "'%s' ends before it begins", text);
	*ret = times;
	return 0;
}
