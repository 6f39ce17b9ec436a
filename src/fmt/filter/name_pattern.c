#include "fmt/filter/name_pattern.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ALL_BUT "^(?!"
#define MOST_DEPTH 8
#define MOST_REPEATS 20000u

int name_pattern_exact(struct name_pattern *ret, const char *text)
{
	memset(ret, 0, sizeof(*ret));
	ret->text = strdup(text);
	return ret->text ? 0 : -1;
}

/* The bracket that closes the one before `at`; NULL: none does. */
static const char *find_closing(const char *at)
{
	int depth = 1;

	for (; *at; at++) {
		if (*at == '\\' && at[1])
			at++;
		else if (*at == '(')
			depth++;
		else if (*at == ')' && --depth == 0)
			return at;
	}
	return NULL;
}

/* "^(?!foo)" or "^(?!foo).*$" -> "foo", which must not be at the beginning. */
static size_t skip_exclusion(const char *expression)
{
	const char *begin = expression + strlen(ALL_BUT), *end;

	if (strncmp(expression, ALL_BUT, strlen(ALL_BUT)) != 0)
		return 0;
	end = find_closing(begin);
	if (!end || (strcmp(end + 1, "") != 0 && strcmp(end + 1, ".*") != 0 && strcmp(end + 1, ".*$") != 0))
		return 0;
	return (size_t)(end - begin);
}

/* What POSIX writes differently. */
static void put_posix(char *to, const char *from, size_t size)
{
	for (size_t i = 0; i < size; i++) {
		if (from[i] == '\\' && i + 1 < size) {
			if (from[i + 1] == 'd') {
				memcpy(to, "[0-9]", 5);
				to += 5;
			} else {
				*to++ = from[i];
				*to++ = from[i + 1];
			}
			i++;
		} else if (from[i] == '(' && size - i > 2 && from[i + 1] == '?' && from[i + 2] == ':') {
			*to++ = '(';
			i += 2;
		} else {
			*to++ = from[i];
		}
	}
	*to = '\0';
}

/* The C library copies what is repeated, and copies of copies: repeats of repeats would take all memory there is. Nobody needs them. */
static int repeats_too_much(const char *text)
{
	unsigned long repeats = 1;
	int depth = 0, before = 0; /* a sign of repetition was the last */
	char *end;

	for (; *text; text++) {
		int is_repeat = strchr("*+?{", *text) != NULL;

		if (is_repeat && before && *text != '?')
			return 1;
		if (*text == '{' && text[1] >= '0' && text[1] <= '9') {
			for (end = (char *)text + 1; *end >= '0' && *end <= '9'; end += *end == ',')
				repeats *= strtoul(end, &end, 10) + 1;
			text = end - (*end != '}');
		}
		before = is_repeat;
		depth += *text == '(' ? 1 : *text == ')' ? -1 : 0;
		if (depth > MOST_DEPTH || repeats > MOST_REPEATS)
			return 1;
		text += *text == '\\' && text[1];
	}
	return 0;
}

static char *rewritten(const char *expression, size_t size, int from_begin, int to_end)
{
	char *text = malloc(5 * size + 8), *at = text;

	if (!text)
		return NULL;
	if (from_begin || to_end)
		at = stpcpy(at, from_begin ? "^(" : "(");
	put_posix(at, expression, size);
	if (from_begin || to_end)
		strcat(at, to_end ? ")$" : ")");
	return text;
}

int name_pattern_regex(struct name_pattern *ret, const char *expression, enum name_match match, char *why, size_t why_size)
{
	size_t without = skip_exclusion(expression);
	int whole = match == NAME_MATCH_WHOLE;
	char *text = without ? rewritten(expression + strlen(ALL_BUT), without, 1, 0) :
			       rewritten(expression, strlen(expression), whole, whole);
	char reason[80] = "not enough memory";
	int result = -1;

	memset(ret, 0, sizeof(*ret));
	/* An empty one is refused by POSIX, and would match everything. */
	if (text && !*expression)
		snprintf(reason, sizeof(reason), "it is empty");
	else if (text && repeats_too_much(text))
		snprintf(reason, sizeof(reason), "it repeats too much");
	else if (text)
		result = regcomp(&ret->regex, text, REG_EXTENDED | REG_NOSUB);
	if (result > 0)
		regerror(result, &ret->regex, reason, sizeof(reason));
	free(text);
	if (result != 0) {
		snprintf(why, why_size, "'%.120s' is not a regular expression (%s)", expression, reason);
		return -1;
	}
	ret->is_regex = 1;
	ret->is_negated = without > 0;
	return 0;
}

int name_pattern_parse(struct name_pattern *ret, const char *text, char *why, size_t why_size)
{
	if (strncmp(text, "regex:", 6) == 0)
		return name_pattern_regex(ret, text + 6, NAME_MATCH_PART, why, why_size);
	if (name_pattern_exact(ret, text) == 0)
		return 0;
	snprintf(why, why_size, "not enough memory");
	return -1;
}

int name_pattern_matches(const struct name_pattern *p, const char *name)
{
	if (p->is_regex)
		return (regexec(&p->regex, name, 0, NULL, 0) == 0) != p->is_negated;
	return p->text && strcmp(p->text, name) == 0;
}

void name_pattern_release(struct name_pattern *p)
{
	if (p->is_regex)
		regfree(&p->regex);
	free(p->text);
	memset(p, 0, sizeof(*p));
}
