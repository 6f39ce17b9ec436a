/* The source page as JSON: all metrics under their names, those that are 0 left out. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/json_text.h"
#include "kernel/pages/json.h"
#include "kernel/pages/source_internal.h"

static void json_numbers(FILE *out, const char *name, const struct kernel_source *s, const struct source_item *item)
{
	bool any = false;

	fprintf(out, ", \"%s\": {", name);
	for (size_t m = 0; item && m < s->book->metric_count; m++) {
		if (item->values[m] == 0)
			continue;
		fputs(any ? ", " : "", out);
		json_put_string(out, s->book->metrics[m]);
		fprintf(out, ": %.17g", item->values[m]);
		any = true;
	}
	fputc('}', out);
}

static void json_values(FILE *out, const struct kernel_source *s, const struct source_item *item)
{
	json_numbers(out, "values", s, item);
	if (item && item->before)
		json_numbers(out, "baseline", s->before, item->before);
}

static void json_place(FILE *out, const struct source_item *item)
{
	fputs("\"file\": ", out);
	json_put_string(out, item->file);
	fprintf(out, ", \"line\": %u", item->line);
}

static int json_call(FILE *out, const struct source_call *call, bool is_first)
{
	char *name = strndup(call->function, (size_t)call->function_len), *file = strndup(call->file, (size_t)call->file_len);
	int r = name && file ? 0 : -ENOMEM;

	if (r >= 0) {
		fprintf(out, "%s{\"function\": ", is_first ? "" : ", ");
		json_put_string(out, name);
		fputs(", \"file\": ", out);
		json_put_string(out, file);
		fprintf(out, ", \"line\": %u}", call->line);
	}
	free(name);
	free(file);
	return r;
}

/* What was inlined, and where it was called, the innermost first. Nothing where nothing was. */
static int json_calls(FILE *out, const char *inlined)
{
	struct source_call call;
	int r = 0;

	if (!*inlined)
		return 0;
	fputs(", \"inlined\": [", out);
	for (bool is_first = true; r >= 0 && source_next_call(&inlined, &call); is_first = false)
		r = json_call(out, &call, is_first);
	fputc(']', out);
	return r;
}

static int json_instructions(const struct source_page *p)
{
	int r = 0;

	fputs(", \"instructions\": [", p->out);
	for (size_t i = 0; i < p->instructions.count && r >= 0; i++) {
		const struct source_item *item = &p->instructions.items[i];

		fprintf(p->out, "%s\n    {\"function\": ", i ? "," : "");
		json_put_string(p->out, item->function);
		fprintf(p->out, ", \"pc\": %u, \"sass\": ", item->pc);
		json_put_string(p->out, item->sass);
		if (item->line) {
			fputs(", ", p->out);
			json_place(p->out, item);
		}
		r = json_calls(p->out, item->inlined);
		if (item->fact && item->fact->ptx_line)
			fprintf(p->out, ", \"ptx_line\": %u", item->fact->ptx_line);
		json_values(p->out, &p->instructions, item);
		fputc('}', p->out);
	}
	fputc(']', p->out);
	return r;
}

/* A line's parts: what each of the calls did that it was inlined by. */
static int json_parts(const struct source_page *p, const struct source_item *line)
{
	bool any = false;
	int r = 0;

	for (size_t i = 0; !p->options->outermost && i < p->calls.count && r >= 0; i++) {
		const struct source_item *item = &p->calls.items[i];

		if (!*item->inlined || item->line != line->line || strcmp(item->file, line->file) != 0)
			continue;
		fprintf(p->out, "%s{\"line\": %u", any ? ", " : ", \"calls\": [", item->line);
		r = json_calls(p->out, item->inlined);
		json_values(p->out, &p->calls, item);
		fputc('}', p->out);
		any = true;
	}
	if (any)
		fputc(']', p->out);
	return r;
}

static int json_lines(const struct source_page *p)
{
	int r = 0;

	fputs(", \"lines\": [", p->out);
	for (size_t i = 0; i < p->lines.count && r >= 0; i++) {
		char *text = source_line_text(p, &p->lines.items[i]);

		if (!text)
			return -ENOMEM;
		fprintf(p->out, "%s\n    {", i ? "," : "");
		json_place(p->out, &p->lines.items[i]);
		json_member(p->out, "text", text);
		json_values(p->out, &p->lines, &p->lines.items[i]);
		r = json_parts(p, &p->lines.items[i]);
		fputc('}', p->out);
		free(text);
	}
	fputc(']', p->out);
	return r;
}

struct ptx_rows {
	const struct source_page *page;
	bool any;
};

static int write_ptx_json_row(void *context, const char *name, uint32_t line, const char *text, size_t len, const struct source_item *item)
{
	struct ptx_rows *rows = context;
	FILE *out = rows->page->out;
	char *copy = strndup(text, len);

	if (!copy)
		return -ENOMEM;
	fprintf(out, "%s\n    {\"line\": %u", rows->any ? "," : "", line);
	json_member(out, "text", copy);
	json_values(out, &rows->page->ptx, item);
	fputc('}', out);
	rows->any = true;
	free(copy);
	return 0;
}

int source_write_json(const struct source_page *p, const struct kernel_result *k, bool is_first)
{
	int r;

	fprintf(p->out, "%s\n  {\"id\": %" PRId64 ", \"name\": ", is_first ? "" : ",", k->number);
	json_put_string(p->out, k->name);
	r = json_instructions(p);
	if (r >= 0)
		r = json_lines(p);
	if (r >= 0 && p->options->view == SOURCE_PTX) {
		fputs(", \"ptx\": [", p->out);
		r = source_each_ptx(&p->ptx, write_ptx_json_row, &(struct ptx_rows){ p, false });
		fputc(']', p->out);
	}
	fputc('}', p->out);
	return r;
}
