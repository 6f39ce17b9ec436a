/* Facts about instructions out of cubins, and into a report. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/macros.h"
#include "kernel/source/disassemble.h"
#include "kernel/source/internal.h"
#include "report/writer.h"
#include "symbol/cubin.h"
#include "symbol/demangle.h"

#define MOST_SYMBOLS 1024u
#define MOST_INSTRUCTIONS (1u << 20) /* of a function */
#define MOST_INLINED 64u             /* calls in each other */

/* Texts lie in the cubin itself, and are kept once for many instructions. */
static int add_cubin_lines(struct source_book *b, struct source_fact *fact, const struct cubin *cubin, const struct cubin_function *f)
{
	struct cubin_place places[MOST_INLINED], ptx;
	size_t count = cubin_places(cubin, f, fact->pc, places, MOST_INLINED);

	if (cubin_ptx_place(cubin, f, fact->pc, &ptx)) {
		fact->ptx = source_keep_once(b, ptx.file);
		fact->ptx_line = ptx.line;
		if (!fact->ptx)
			return -ENOMEM;
	}
	return source_take_places(b, fact, places, count);
}

static int add_facts(struct source_book *b, int64_t code, const char *name, const struct cubin *cubin, const struct cubin_function *f)
{
	unsigned step = cubin_step(cubin);
	struct source_fact *fact;
	int r = 0;

	for (uint64_t pc = 0; r >= 0 && pc < f->size && pc / step < MOST_INSTRUCTIONS; pc += step) {
		fact = source_add_fact(b);
		if (!fact)
			return -ENOMEM;
		fact->code = code;
		fact->function = name;
		fact->pc = (uint32_t)pc;
		r = add_cubin_lines(b, fact, cubin, f);
	}
	return r;
}

char *source_ptx_text(const void *image, size_t size, const char *name, size_t *ret_size)
{
	struct cubin *cubin = NULL;
	const char *from = NULL;
	struct error ignored;
	char *text = NULL;

	if (cubin_open(&cubin, image, size, &ignored) == 0)
		from = cubin_ptx_text(cubin, name, ret_size);
	if (from)
		text = malloc(*ret_size + 1);
	for (size_t i = 0; text && i < *ret_size; i++)
		text[i] = from[i] ? from[i] : '\n';
	if (text)
		text[*ret_size] = '\0';
	cubin_close(cubin);
	return text;
}

struct texts {
	struct source_book *book;
	int64_t code;
};

static int take_sass_text(void *context, const char *function, uint32_t pc, const char *text)
{
	const struct texts *t = context;
	struct source_fact *fact = source_find_fact(t->book, t->code, function, pc);

	if (!fact)
		return 0;
	fact->sass = source_keep(t->book, text);
	return fact->sass ? 0 : -ENOMEM;
}

/* Functions of this code that were counted in any launch; their symbols. */
static int add_code(struct source_book *b, const struct source_code *code, const struct cubin *cubin, uint32_t *symbols,
		    size_t *symbol_count)
{
	const struct cubin_function *f;
	int r = 0;

	for (size_t i = 0; i < b->count_count && r >= 0; i++) {
		const struct source_count *c = &b->counts[i];
		bool seen = i && b->counts[i - 1].code == c->code && b->counts[i - 1].function == c->function;

		if (c->code != code->id || seen || *symbol_count == MOST_SYMBOLS)
			continue;
		f = cubin_find(cubin, c->function);
		for (size_t k = 0; f && k < *symbol_count; k++)
			seen |= symbols[k] == f->symbol;
		if (!f || seen)
			continue;
		symbols[(*symbol_count)++] = f->symbol;
		r = add_facts(b, code->id, c->function, cubin, f);
	}
	return r;
}

struct making {
	char program[PATH_MAX]; /* "": there is none */
	char *note;
	size_t note_size;
};

static int make_code(struct source_book *b, const struct source_code *code, struct making *m)
{
	uint32_t *symbols = calloc(MOST_SYMBOLS, sizeof(*symbols));
	struct texts texts = { b, code->id };
	struct cubin *cubin = NULL;
	size_t count = 0;
	struct error err;
	int r = symbols ? 0 : -ENOMEM;

	/* A damaged cubin costs its lines, not the page. */
	if (r >= 0 && cubin_open(&cubin, code->image, code->size, &err) < 0)
		snprintf(m->note, m->note_size, "%s", err.text);
	else if (r >= 0)
		r = add_code(b, code, cubin, symbols, &count);
	cubin_close(cubin);
	source_sort_facts(b);
	if (r >= 0 && count && *m->program &&
	    disassemble(m->program, code->image, code->size, symbols, count, take_sass_text, &texts, &err) < 0)
		snprintf(m->note, m->note_size, "%s", err.text);
	free(symbols);
	return r;
}

/* Each function by its name as people write it. */
static int write_named(FILE *to, const char *inlined)
{
	struct source_call call;

	while (source_next_call(&inlined, &call)) {
		char *linkage = strndup(call.function, (size_t)call.function_len), *name = linkage ? demangle(linkage) : NULL;

		if (linkage)
			fprintf(to, "%s\t%.*s\t%u\n", name ? name : linkage, call.file_len, call.file, call.line);
		free(name);
		free(linkage);
		if (!linkage)
			return -ENOMEM;
	}
	return 0;
}

static const char *find_named_file(struct source_book *b, const char *inlined)
{
	char *text = NULL;
	size_t size = 0;
	FILE *to = open_memstream(&text, &size);
	const char *kept = NULL;

	if (to && (write_named(to, inlined) < 0) + fclose(to) == 0)
		kept = source_keep_once(b, text);
	free(text);
	return kept;
}

/* Instructions with the same calls follow each other. */
static int name_calls(struct source_book *b)
{
	const char *last = NULL, *last_named = NULL;

	for (size_t i = 0; i < b->fact_count; i++) {
		const char *inlined = b->facts[i].inlined;

		if (!*inlined)
			continue;
		if (inlined != last)
			last_named = find_named_file(b, inlined);
		if (!last_named)
			return -ENOMEM;
		last = inlined;
		b->facts[i].inlined = last_named;
	}
	return 0;
}

int source_make_facts(struct source_book *b, char *note, size_t note_size, struct error *err)
{
	struct making *m = calloc(1, sizeof(*m));
	struct error missing;
	int r = m ? 0 : -ENOMEM;

	if (m) {
		m->note = note;
		m->note_size = note_size;
		if (disassembler_find(m->program, sizeof(m->program), &missing) < 0) {
			m->program[0] = '\0';
			snprintf(note, note_size, "%s", missing.text);
		}
	}
	for (size_t i = 0; i < b->code_count && r >= 0; i++)
		if (b->codes[i].image && b->codes[i].size)
			r = make_code(b, &b->codes[i], m);
	if (r >= 0)
		r = name_calls(b);
	free(m);
	return r < 0 ? error_set(err, -r, "Not enough memory") : 0;
}

static int store_facts(const struct source_book *b, struct report_writer *w)
{
	struct report_track *track = report_track(w, TABLE_KERNEL_INSTRUCTION, 0);
	int r = track ? 0 : -ENOMEM;

	for (size_t i = 0; i < b->fact_count && r >= 0; i++) {
		const struct source_fact *f = &b->facts[i];
		int64_t v[TABLE_MAX_COLUMNS] = { 0 };
		uint32_t present = BIT(COLUMN_KERNEL_INSTRUCTION_CODE) | BIT(COLUMN_KERNEL_INSTRUCTION_FUNCTION) |
				   BIT(COLUMN_KERNEL_INSTRUCTION_PC);

		v[COLUMN_KERNEL_INSTRUCTION_CODE] = f->code;
		v[COLUMN_KERNEL_INSTRUCTION_FUNCTION] = (int64_t)report_string(w, f->function, strlen(f->function));
		v[COLUMN_KERNEL_INSTRUCTION_PC] = f->pc;
		if (*f->sass) {
			v[COLUMN_KERNEL_INSTRUCTION_SASS] = (int64_t)report_string(w, f->sass, strlen(f->sass));
			present |= BIT(COLUMN_KERNEL_INSTRUCTION_SASS);
		}
		if (f->line) {
			v[COLUMN_KERNEL_INSTRUCTION_FILE] = (int64_t)report_string(w, f->file, strlen(f->file));
			v[COLUMN_KERNEL_INSTRUCTION_LINE] = f->line;
			present |= BIT(COLUMN_KERNEL_INSTRUCTION_FILE) | BIT(COLUMN_KERNEL_INSTRUCTION_LINE);
		}
		if (*f->inlined) {
			v[COLUMN_KERNEL_INSTRUCTION_INLINED] = (int64_t)report_string(w, f->inlined, strlen(f->inlined));
			present |= BIT(COLUMN_KERNEL_INSTRUCTION_INLINED);
		}
		if (f->ptx_line) {
			v[COLUMN_KERNEL_INSTRUCTION_PTX] = (int64_t)report_string(w, f->ptx, strlen(f->ptx));
			v[COLUMN_KERNEL_INSTRUCTION_PTX_LINE] = f->ptx_line;
			present |= BIT(COLUMN_KERNEL_INSTRUCTION_PTX) | BIT(COLUMN_KERNEL_INSTRUCTION_PTX_LINE);
		}
		r = report_append(track, v, present);
	}
	return r;
}

int source_book_store(const struct source_book *b, struct report *report, const char *path, bool facts, bool files, struct error *err)
{
	struct report_writer *w;
	int r = 0;

	TRY(report_extend_begin(&w, report, path, 1, err));
	if (facts)
		r = store_facts(b, w);
	if (facts && r >= 0)
		r = source_store_opcodes(b, w);
	if (r >= 0 && files)
		r = source_store_files(b, w);
	if (r < 0) {
		report_extend_cancel(w);
		return error_set_errno(err, -r, "%s cannot be completed", path);
	}
	return report_extend_finish(w, err);
}
