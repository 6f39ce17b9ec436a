/* Command lines without the secrets in them. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/macros.h"
#include "base/text/secrets.h"

static bool is_name(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '-' || c == '.';
}

/* Numbers and switches are no secrets, where the name may mean something else. */
static bool says_nothing(const char *value, size_t len)
{
	static const char *const words[] = { "true", "false", "yes", "no", "none", "null", "auto", "on", "off" };
	char text[32], *end;

	if (len == 0)
		return true;
	if (len >= sizeof(text))
		return false;
	memcpy(text, value, len);
	text[len] = '\0';
	for (size_t i = 0; i < COUNT_OF(words); i++)
		if (strcasecmp(text, words[i]) == 0)
			return true;
	strtod(text, &end);
	return !*end;
}

/* The name that ends at `end`, quotes and spaces behind it aside. */
static size_t name_before(const char *word, size_t end, size_t *ret_begin, bool *ret_quoted)
{
	size_t begin;

	*ret_quoted = false;
	while (end > 0 && strchr("\"' \\", word[end - 1])) {
		*ret_quoted |= word[end - 1] != ' ';
		end--;
	}
	for (begin = end; begin > 0 && is_name(word[begin - 1]); begin--)
		;
	*ret_begin = begin;
	return end - begin;
}

/* Where the value ends that begins at `at`: at its quote, or with the word of the shell. */
static size_t value_end(const char *word, size_t at)
{
	char quote = word[at] == '"' || word[at] == '\'' ? word[at] : '\0';
	const char *end = quote ? strchr(word + at + 1, quote) : NULL;

	if (quote)
		return end ? (size_t)(end - word) + 1 : strlen(word);
	return at + strcspn(word + at, " \t\n;&|\"'");
}

struct assigned {
	size_t begin, end; /* of the value */
};

/* NAME=value, "name": "value" and Name: value. */
static bool is_assigned(const char *word, bool is_line, size_t at, struct assigned *ret)
{
	bool quoted, colon = word[at] == ':';
	size_t begin, len = name_before(word, at, &begin, &quoted);

	if (len == 0 || (colon && (word[at + 1] == ':' || (at > 0 && word[at - 1] == ':'))) || !secret_name(word + begin, len))
		return false;
	/* Without quotes a colon has other meanings: sort=key:up */
	if (colon && !quoted && secret_name_is_weak(word + begin, len))
		return false;
	ret->begin = at + 1 + (colon ? strspn(word + at + 1, " ") : 0);
	if (colon && !quoted)
		ret->end = ret->begin + strcspn(word + ret->begin, "\"'\n");
	else if (!colon && begin == 0 && (word[0] == '-' || !is_line))
		ret->end = strlen(word); /* the rest of its word, whatever is in it */
	else
		ret->end = value_end(word, ret->begin);
	return ret->end > ret->begin &&
	       (!secret_name_is_weak(word + begin, len) || !says_nothing(word + ret->begin, ret->end - ret->begin));
}

static int put_without_assigned(const char *word, bool is_line, struct buf *ret, size_t *replaced)
{
	struct assigned value;
	size_t done = 0;

	for (size_t i = 0; word[i]; i++) {
		if ((word[i] != '=' && word[i] != ':') || !is_assigned(word, is_line, i, &value))
			continue;
		TRY(buf_append(ret, word + done, value.begin - done));
		TRY(buf_puts(ret, SECRET_REPLACED));
		++*replaced;
		done = value.end;
		i = done - 1;
	}
	return buf_puts(ret, word + done);
}

/* --token, and no --token=...: its value is the next word. */
static void look_at_option(struct secret_words *w, const char *word, size_t len)
{
	size_t dashes = strspn(word, "-");

	w->value_follows = dashes && dashes < len && !memchr(word, '=', len) && secret_name(word + dashes, len - dashes);
	w->weak = w->value_follows && secret_name_is_weak(word + dashes, len - dashes);
}

static int put_token(struct secret_words *w, const char *token, size_t len, struct buf *ret)
{
	const char *assigned = memchr(token, '=', len);
	size_t name = assigned ? (size_t)(assigned - token) + 1 : 0;
	bool is_value = w->value_follows && token[0] != '-' && !(w->weak && says_nothing(token, len));

	look_at_option(w, token, len);
	if (!is_value && !secret_value(token + name, len - name))
		return buf_append(ret, token, len);
	w->replaced++;
	TRY(buf_append(ret, token, is_value ? 0 : name));
	return buf_puts(ret, SECRET_REPLACED);
}

/* A value may be several words in quotes. */
static size_t token_length(const struct secret_words *w, const char *at)
{
	return w->value_follows && (*at == '"' || *at == '\'') ? value_end(at, 0) : strcspn(at, " \t\n");
}

static int put_tokens(struct secret_words *w, const char *text, struct buf *ret)
{
	int r = 0;

	while (*text && r >= 0) {
		size_t gap = strspn(text, " \t\n"), len;

		r = buf_append(ret, text, gap);
		text += gap;
		len = token_length(w, text);
		if (len && r >= 0)
			r = put_token(w, text, len, ret);
		text += len;
	}
	return r;
}

int secret_words_clean(struct secret_words *w, const char *word, struct buf *ret)
{
	struct secret_words inside = { 0 };
	bool is_line = strpbrk(word, " \t\n") != NULL;
	bool is_value = w->value_follows && *word && word[0] != '-' && !(w->weak && says_nothing(word, strlen(word)));
	struct buf plain = BUF_INIT;
	int r;

	if (is_value || strstr(word, "PRIVATE KEY-----")) {
		w->value_follows = false;
		w->replaced++;
		return buf_puts(ret, SECRET_REPLACED);
	}
	r = put_without_assigned(word, is_line, &plain, &w->replaced);
	if (r >= 0)
		r = put_tokens(is_line ? &inside : w, buf_cstr(&plain), ret);
	w->value_follows &= !is_line;
	w->replaced += inside.replaced;
	buf_release(&plain);
	return r;
}
