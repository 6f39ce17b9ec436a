#include "ingest/input/csv.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/text/csv_guard.h"

void csv_begin(struct csv *c, const char *text, size_t len)
{
	*c = (struct csv){ .at = text, .end = text + len, .line = 1, .next_line = 1 };
}

void csv_skip_line(struct csv *c)
{
	const char *end = c->at < c->end ? memchr(c->at, '\n', (size_t)(c->end - c->at)) : NULL;

	c->at = end ? end + 1 : c->end;
	c->next_line++;
}

static int fail_csv(struct csv *c, const char *trouble)
{
	c->trouble = trouble;
	return -EBADMSG;
}

/* A quoted part, up to the quote that ends it. */
static int read_quoted_cell(struct csv *c)
{
	const char *from = ++c->at, *quote;

	for (;;) {
		quote = c->at < c->end ? memchr(c->at, '"', (size_t)(c->end - c->at)) : NULL;
		if (!quote)
			return fail_csv(c, "a quoted cell has no end");
		for (const char *p = from; p < quote; p++)
			c->next_line += *p == '\n';
		if ((size_t)(quote - from) + c->text.len > CSV_MAX_ROW)
			return fail_csv(c, "a row is longer than 64 MiB");
		if (buf_append(&c->text, from, (size_t)(quote - from)) < 0)
			return -ENOMEM;
		c->at = quote + 1;
		if (c->at == c->end || *c->at != '"')
			return 0;
		from = c->at++; /* a doubled quote is one */
	}
}

static int read_plain_cell(struct csv *c)
{
	const char *from = c->at;

	while (c->at < c->end && *c->at != ',' && *c->at != '\n' && *c->at != '"')
		c->at++;
	if ((size_t)(c->at - from) + c->text.len > CSV_MAX_ROW)
		return fail_csv(c, "a row is longer than 64 MiB");
	return buf_append(&c->text, from, (size_t)(c->at - from));
}

static int add_input_cell(struct csv *c, size_t begin)
{
	if (c->count == CSV_MAX_CELLS)
		return fail_csv(c, "a row has more than 65536 cells");
	if (!ARRAY_ROOM(c->cells, c->count, c->capacity, 1))
		return -ENOMEM;
	/* The text may still move, so places are kept. */
	c->cells[c->count++] = (struct csv_cell){ NULL, begin };
	return buf_append(&c->text, "", 1);
}

static void place_cells(struct csv *c)
{
	size_t end = c->text.len, begin, guard;

	for (size_t i = c->count; i-- > 0; end = begin) {
		begin = c->cells[i].len;
		guard = csv_has_guard(c->text.data + begin, end - begin - 1);
		c->cells[i] = (struct csv_cell){ c->text.data + begin + guard, end - begin - 1 - guard };
	}
}

int csv_next(struct csv *c)
{
	size_t begin = 0;
	int r = 0;

	buf_clear(&c->text);
	c->count = 0;
	c->line = c->next_line;
	if (c->at >= c->end)
		return 0;
	do {
		begin = c->text.len;
		while (r >= 0 && c->at < c->end && *c->at != ',' && *c->at != '\n')
			r = *c->at == '"' ? read_quoted_cell(c) : read_plain_cell(c);
		if (r >= 0 && (c->at == c->end || *c->at == '\n') && c->text.len > begin && c->text.data[c->text.len - 1] == '\r')
			c->text.len--;
		if (r >= 0)
			r = add_input_cell(c, begin);
	} while (r >= 0 && c->at < c->end && *c->at++ == ',');
	if (r < 0)
		return r;
	c->next_line++;
	place_cells(c);
	return 1;
}

void csv_release(struct csv *c)
{
	free(c->cells);
	buf_release(&c->text);
	*c = (struct csv){ 0 };
}
