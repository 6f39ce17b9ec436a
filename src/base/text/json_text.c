#include "base/text/json_text.h"

#include <string.h>

#include "base/text/utf8.h"

/* What stands for the next bytes of a text: they themselves, or what was made of one of them. */
struct piece {
	const char *text;
	size_t len;
	char made[8];
};

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
	struct piece p;

	buf_append(b, "\"", 1);
	for (size_t at = 0; at < len;) {
		at += next_piece(text + at, len - at, &p);
		buf_append(b, p.text, p.len);
	}
	return buf_append(b, "\"", 1);
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

/* What stands behind a backslash; returns how long that is. */
static size_t take_escape(const char *at, struct buf *ret)
{
	static const char named[] = "b\bf\fn\nr\rt\t";
	char made[4];
	unsigned code = 0;
	int len = 0;

	if (*at == 'u' && sscanf(at + 1, "%4x%n", &code, &len) == 1 && len == 4) {
		buf_append(ret, made, utf8_put(made, code));
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
