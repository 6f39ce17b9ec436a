#include "cli/arguments/command_file.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"

#define FILE_LIMIT (1 << 20)

static const char *skip_word_space(const char *text)
{
	for (;;) {
		while (isspace((unsigned char)*text))
			text++;
		if (*text != '#')
			return text;
		text += strcspn(text, "\n");
	}
}

/* One word, quotes taken off; NULL if a quote is not closed. */
static const char *read_quoted_word(const char *text, struct buf *word)
{
	char quote = '\0';

	buf_clear(word);
	for (; *text && (quote || !isspace((unsigned char)*text)); text++) {
		if (quote && *text == quote)
			quote = '\0';
		else if (!quote && (*text == '\'' || *text == '"'))
			quote = *text;
		else if (*text == '\\' && quote != '\'' && text[1])
			buf_append(word, ++text, 1);
		else
			buf_append(word, text, 1);
	}
	return quote ? NULL : text;
}

int command_file_split(const char *text, struct string_list *words, struct error *err)
{
	struct buf word = BUF_INIT;
	int r = 0;

	for (text = skip_word_space(text); *text && r == 0; text = skip_word_space(text)) {
		text = read_quoted_word(text, &word);
		if (!text) {
			r = error_set(err, EINVAL, "a quote is not closed");
			break;
		}
		r = string_list_add(words, buf_cstr(&word), word.len);
	}
	buf_release(&word);
	return r;
}

static int read_whole(FILE *file, struct buf *ret)
{
	char part[4096];
	size_t len;

	while ((len = fread(part, 1, sizeof(part), file)) > 0) {
		if (ret->len + len > FILE_LIMIT)
			return -EFBIG;
		if (buf_append(ret, part, len) < 0)
			return -ENOMEM;
	}
	return ferror(file) ? -EIO : 0;
}

int command_file_read(const char *path, struct string_list *words, struct error *err)
{
	struct buf text = BUF_INIT;
	struct error inner = { "" };
	FILE *file = fopen(path, "re");
	int r;

	if (!file)
		return error_set_errno(err, errno, "The command file '%s' cannot be read", path);
	r = read_whole(file, &text);
	fclose(file);
	if (r < 0)
		error_set_errno(err, -r, "The command file '%s' cannot be read", path);
	else
		r = command_file_split(buf_cstr(&text), words, &inner);
	if (r < 0 && inner.text[0])
		error_set(err, EINVAL, "The command file '%s' is not valid: %s.", path, inner.text);
	buf_release(&text);
	return r;
}
