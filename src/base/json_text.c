#include "base/json_text.h"

#include <string.h>

/* What stands for the next bytes of a text: they themselves, or what was made of one of them. */
struct piece {
	const char *text;
	size_t len;
	char made[8];
};

size_t utf8_length(const char *text, size_t left)
{
	const unsigned char *s = (const unsigned char *)text;
	size_t len = s[0] < 0x80 ? 1 : s[0] < 0xc2 ? 0 : s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : s[0] < 0xf5 ? 4 : 0;

	if (len == 0 || len > left)
		return 0;
	for (size_t i = 1; i < len; i++)
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	/* Overlong forms, surrogates, beyond the last code point. */
	if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f) || (s[0] == 0xf0 && s[1] < 0x90) ||
	    (s[0] == 0xf4 && s[1] > 0x8f))
		return 0;
	return len;
}

static size_t plain_run(const char *text, size_t left)
{
	size_t run = 0, len;

	while (run < left) {
		unsigned char c = (unsigned char)text[run];

		if (c < 0x20 || c == 0x7f || c == '"' || c == '\\')
			break;
		len = utf8_length(text + run, left - run);
		if (len == 0)
			break;
		run += len;
	}
	return run;
}

static void make_special(struct piece *p, unsigned char c)
{
	static const char named[] = "\bb\tt\nn\ff\rr\"\"\\\\";
	const char *found = NULL;

	for (const char *at = named; *at && !found; at += 2)
		found = (unsigned char)*at == c ? at : NULL;
	if (found)
		snprintf(p->made, sizeof(p->made), "\\%c", found[1]);
	else if (c < 0x80)
		snprintf(p->made, sizeof(p->made), "\\u%04x", c);
	else
		snprintf(p->made, sizeof(p->made), "\xef\xbf\xbd");
	p->text = p->made;
	p->len = strlen(p->made);
}

/* Returns how many bytes of the text it stands for. */
static size_t next_piece(const char *text, size_t left, struct piece *ret)
{
	ret->text = text;
	ret->len = plain_run(text, left);
	if (ret->len > 0)
		return ret->len;
	make_special(ret, (unsigned char)*text);
	return 1;
}

int json_append_text(struct buf *b, const char *text, size_t len)
{
	int r = buf_append(b, "\"", 1);
	struct piece p;

	for (size_t at = 0; at < len && r >= 0;) {
		at += next_piece(text + at, len - at, &p);
		r = buf_append(b, p.text, p.len);
	}
	return r < 0 ? r : buf_append(b, "\"", 1);
}

void json_put_text(FILE *f, const char *text, size_t len)
{
	struct piece p;

	putc_unlocked('"', f);
	for (size_t at = 0; at < len;) {
		at += next_piece(text + at, len - at, &p);
		fwrite_unlocked(p.text, 1, p.len, f);
	}
	putc_unlocked('"', f);
}

void json_put_string(FILE *f, const char *text)
{
	json_put_text(f, text, strlen(text));
}

static void append_code(struct buf *b, unsigned code)
{
	char made[3];

	if (code < 0x80) {
		made[0] = (char)code;
		buf_append(b, made, 1);
	} else if (code < 0x800) {
		made[0] = (char)(0xc0 | code >> 6);
		made[1] = (char)(0x80 | (code & 0x3f));
		buf_append(b, made, 2);
	} else {
		made[0] = (char)(0xe0 | code >> 12);
		made[1] = (char)(0x80 | (code >> 6 & 0x3f));
		made[2] = (char)(0x80 | (code & 0x3f));
		buf_append(b, made, 3);
	}
}

/* What stands behind a backslash; returns how long that is. */
static size_t take_escape(const char *at, struct buf *ret)
{
	static const char named[] = "b\bf\fn\nr\rt\t";
	unsigned code = 0;
	int len = 0;

	if (*at == 'u' && sscanf(at + 1, "%4x%n", &code, &len) == 1 && len == 4) {
		append_code(ret, code);
		return 5;
	}
	for (const char *n = named; *n; n += 2)
		if (*at == *n) {
			buf_append(ret, n + 1, 1);
			return 1;
		}
	buf_append(ret, at, 1);
	return 1;
}

const char *json_next_text(const char *list, struct buf *ret)
{
	const char *at = strchr(list, '"');

	buf_clear(ret);
	if (!at)
		return NULL;
	for (at++; *at && *at != '"';) {
		if (*at == '\\' && at[1])
			at += 1 + take_escape(at + 1, ret);
		else
			buf_append(ret, at++, 1);
	}
	return *at ? at + 1 : NULL;
}
