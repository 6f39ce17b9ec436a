/* Calls that compilers inlined, as a text: for each its function, file and line, with tabs between; the innermost first. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "kernel/source/internal.h"
#include "symbol/cubin.h"

#define MOST_TEXT 65536u

static void write_inlined_call(FILE *to, const struct cubin_place *callee, const struct cubin_place *at)
{
	bool is_plain = !strpbrk(at->file, "\t\n");

	fprintf(to, "%s\t%s\t%u\n", callee->function && !strpbrk(callee->function, "\t\n") ? callee->function : "",
		is_plain ? at->file : "", at->line);
}

static int take_calls(struct source_book *b, struct source_fact *fact, const struct cubin_place *places, size_t count)
{
	char *text = NULL;
	size_t size = 0;
	FILE *to = open_memstream(&text, &size);

	if (!to)
		return -ENOMEM;
	for (size_t i = 0; i + 1 < count; i++)
		write_inlined_call(to, &places[i], &places[i + 1]);
	if (fclose(to) == 0 && text && size <= MOST_TEXT)
		fact->inlined = source_keep_once(b, text);
	free(text);
	return fact->inlined ? 0 : -ENOMEM;
}

int source_take_places(struct source_book *b, struct source_fact *fact, const struct cubin_place *places, size_t count)
{
	if (!count)
		return 0;
	fact->file = source_keep_once(b, places[0].file);
	fact->line = places[0].line;
	if (!fact->file)
		return -ENOMEM;
	if (count > 1)
		TRY(take_calls(b, fact, places, count));
	return source_find_outermost(b, fact);
}

bool source_next_call(const char **inlined, struct source_call *ret)
{
	const char *at = *inlined, *end = strchr(at, '\n'), *file = end ? memchr(at, '\t', (size_t)(end - at)) : NULL;
	const char *line = file ? memchr(file + 1, '\t', (size_t)(end - file - 1)) : NULL;
	unsigned long number = line ? strtoul(line + 1, NULL, 10) : 0;

	if (!line || end - at > (ptrdiff_t)MOST_TEXT)
		return false;
	*ret = (struct source_call){ at, (int)(file - at), file + 1, (int)(line - file - 1), number <= UINT32_MAX ? (uint32_t)number : 0 };
	*inlined = end + 1;
	return true;
}

int source_find_outermost(struct source_book *b, struct source_fact *fact)
{
	const char *at = fact->inlined;
	struct source_call call;
	bool any = false;
	char *file;

	fact->outer_file = fact->file;
	fact->outer_line = fact->line;
	while (source_next_call(&at, &call))
		any = true;
	if (!any)
		return 0;
	file = strndup(call.file, (size_t)call.file_len);
	fact->outer_file = file ? source_keep_once(b, file) : NULL;
	fact->outer_line = call.line;
	free(file);
	return fact->outer_file ? 0 : -ENOMEM;
}
