#include "base/text/csv_guard.h"

#include <string.h>

static bool is_csv_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* Behind a sign: digits, an exponent, a unit; or inf and nan. */
static bool is_csv_number(const char *text, size_t len)
{
	size_t i = 0;

	if (len == 3 && (memcmp(text, "inf", 3) == 0 || memcmp(text, "nan", 3) == 0))
		return true;
	if (!len || (!is_csv_digit(text[0]) && !(text[0] == '.' && len > 1 && is_csv_digit(text[1]))))
		return false;
	while (i < len && (is_csv_digit(text[i]) || text[i] == '.' || text[i] == ','))
		i++;
	if (i + 1 < len && (text[i] == 'e' || text[i] == 'E'))
		i += text[i + 1] == '-' || text[i + 1] == '+' ? 2 : 1;
	while (i < len && (is_csv_digit(text[i]) || is_letter(text[i]) || strchr(" %/", text[i])))
		i++;
	return i == len;
}

/* "@!P0 BRA `(.L_x_1)" of a GPU's code, without what a formula needs to call or to refer to anything: a bracket behind a name, a
 * sheet's name before an exclamation mark. */
static bool is_instruction(const char *text, size_t len)
{
	size_t i = 1;

	i += i < len && text[i] == '!';
	i += i < len && (text[i] == 'U' || text[i] == '%');
	if (i >= len || (text[i] != 'P' && text[i] != 'p'))
		return false;
	for (i++; i < len && (is_csv_digit(text[i]) || text[i] == 'T'); i++)
		;
	if (i >= len || text[i] != ' ')
		return false;
	for (; i < len; i++)
		if ((text[i] == '(' && text[i - 1] != '`') || (text[i] == '!' && text[i - 1] != ' '))
			return false;
	return true;
}

/* Options, and names in a tree ("----:step"): signs before a name negate it, and do no more unless it calls or refers to something
 * (spreadsheets write that with one of these). Before a colon they are no formula. */
static bool is_behind_dashes(const char *text, size_t len)
{
	size_t i = 0;

	while (i < len && text[i] == '-')
		i++;
	if (i < 2 || (i < len && text[i] == ':'))
		return i >= 2;
	for (; i < len; i++)
		if (strchr("(|!#'\"[", text[i]))
			return false;
	return true;
}

static bool is_formula(const char *text, size_t len)
{
	while (len && strchr("\t\r\n", *text) && *text) {
		text++;
		len--;
	}
	if (len < 2)
		return false;
	switch (text[0]) {
	case '=': return true;
	case '+': return !is_csv_number(text + 1, len - 1);
	case '-': return !is_csv_number(text + 1, len - 1) && !is_behind_dashes(text, len);
	case '@': return !is_instruction(text, len);
	default: return false;
	}
}

bool csv_needs_guard(const char *text, size_t len)
{
	while (len && *text == CSV_GUARD[0]) {
		text++;
		len--;
	}
	return is_formula(text, len);
}

bool csv_has_guard(const char *text, size_t len)
{
	return len && *text == CSV_GUARD[0] && csv_needs_guard(text + 1, len - 1);
}

void csv_put_quoted(FILE *f, const char *text, size_t len)
{
	const char *quote;

	fputs_unlocked(csv_needs_guard(text, len) ? "\"" CSV_GUARD : "\"", f);
	while (len && (quote = memchr(text, '"', len))) {
		fwrite_unlocked(text, 1, (size_t)(quote - text) + 1, f);
		putc_unlocked('"', f);
		len -= (size_t)(quote - text) + 1;
		text = quote + 1;
	}
	fwrite_unlocked(text, 1, len, f);
	putc_unlocked('"', f);
}
