/* Where instructions of the source page come from: texts of lines, calls that were inlined, PTX. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/pages/source_internal.h"

char *source_line_text(const struct source_page *p, const struct source_item *line)
{
	size_t len = 0;
	const char *text = source_book_line(p->book, line->file, line->line, &len);

	return text ? strndup(text, len) : strdup("");
}

bool source_is_of(const struct source_item *item, const struct source_item *line, bool outermost)
{
	if (outermost)
		return item->fact && item->fact->outer_line == line->line && strcmp(item->fact->outer_file, line->file) == 0;
	return item->line == line->line && strcmp(item->file, line->file) == 0;
}

static void write_origin_call(FILE *to, const struct source_call *call, bool is_first)
{
	const char *last = memrchr(call->file, '/', (size_t)call->file_len);
	const char *file = last ? last + 1 : call->file;

	fprintf(to, "%s%.*s%sat %.*s:%u", is_first ? "" : ", ", call->function_len, call->function, call->function_len ? " " : "",
		(int)(call->file + call->file_len - file), file, call->line);
}

char *source_calls_text(const char *inlined)
{
	char *text = NULL;
	size_t size = 0;
	FILE *to = open_memstream(&text, &size);
	struct source_call call;

	if (!to)
		return NULL;
	for (bool is_first = true; source_next_call(&inlined, &call); is_first = false)
		write_origin_call(to, &call, is_first);
	if (fclose(to) == 0)
		return text;
	free(text);
	return NULL;
}

/* One text of PTX, and what is counted for its lines. */
struct ptx {
	const struct source_item *items; /* by line */
	size_t count;
	source_ptx_fn take;
	void *context;
};

static int hand_lines(const struct ptx *x, const char *at, const char *end, uint32_t line)
{
	size_t item = 0;
	int r = 0;

	while (r >= 0 && at < end) {
		const char *next = memchr(at, '\n', (size_t)(end - at));
		size_t len = (size_t)((next ? next : end) - at);

		while (item < x->count && x->items[item].line < line)
			item++;
		if (len || (item < x->count && x->items[item].line == line))
			r = x->take(x->context, x->items[0].file, line, at, len,
				    item < x->count && x->items[item].line == line ? &x->items[item] : NULL);
		at += len + 1;
		line++;
	}
	return r;
}

static bool has_item(const struct ptx *x, uint32_t first, uint32_t last)
{
	for (size_t i = 0; i < x->count && x->items[i].line <= last; i++)
		if (x->items[i].line >= first)
			return true;
	return false;
}

static bool contains(const char *text, size_t len, const char *word)
{
	return memmem(text, len, word, strlen(word)) != NULL;
}

static int brackets(const char *text, size_t len)
{
	int depth = 0;

	for (size_t i = 0; i < len; i++)
		depth += (text[i] == '{') - (text[i] == '}');
	return depth;
}

/* A function is from the line with .entry or .func to the one that closes its body: those in which something was counted are shown. */
static int hand_functions(const struct ptx *x, const char *at, const char *end)
{
	const char *first = NULL;
	uint32_t line = 1, first_line = 0;
	int depth = 0, r = 0;

	while (r >= 0 && at < end) {
		const char *next = memchr(at, '\n', (size_t)(end - at));
		size_t len = (size_t)((next ? next : end) - at);
		int change = brackets(at, len);

		if (!depth && (contains(at, len, ".entry") || contains(at, len, ".func"))) {
			first = at;
			first_line = line;
		}
		depth += change;
		if (first && depth <= 0 && change < 0) {
			if (has_item(x, first_line, line))
				r = hand_lines(x, first, at + len, first_line);
			first = NULL;
			depth = 0;
		}
		at += len + 1;
		line++;
	}
	return r;
}

int source_each_ptx(const struct kernel_source *s, source_ptx_fn take, void *context)
{
	size_t end;
	int r = 0;

	for (size_t i = 0; r >= 0 && i < s->count; i = end) {
		const struct source_file *file = source_book_ptx(s->book, s->items[i].code, s->items[i].file);

		for (end = i;
		     end < s->count && s->items[end].code == s->items[i].code && strcmp(s->items[end].file, s->items[i].file) == 0;)
			end++;
		if (file)
			r = hand_functions(&(struct ptx){ &s->items[i], end - i, take, context }, file->text, file->text + file->size);
	}
	return r;
}
