/* Facts about instructions out of cubins, source files, and both into a report. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kernel/disassemble.h"
#include "kernel/source_internal.h"
#include "report/writer.h"
#include "symbol/cubin.h"

#define MOST_SYMBOLS 1024u
#define MOST_INSTRUCTIONS (1u << 20) /* of a function */
#define MOST_FILE (4ll << 20)

/* Lines lie in the cubin's own texts: kept once for each place, not for each instruction. */
static const char *keep_file(struct source_book *b, const char *file)
{
	for (size_t i = b->text_count; i > 0 && b->text_count - i < 64; i--)
		if (strcmp(b->texts[i - 1], file) == 0)
			return b->texts[i - 1];
	return source_keep(b, file);
}

static int add_facts(struct source_book *b, int64_t code, const char *name, const struct cubin *cubin, const struct cubin_function *f)
{
	unsigned step = cubin_step(cubin);
	struct cubin_place place;
	struct source_fact *fact;

	for (uint64_t pc = 0; pc < f->size && pc / step < MOST_INSTRUCTIONS; pc += step) {
		fact = source_add_fact(b);
		if (!fact)
			return -ENOMEM;
		fact->code = code;
		fact->function = name;
		fact->pc = (uint32_t)pc;
		if (!cubin_line(cubin, f, pc, &place))
			continue;
		fact->file = keep_file(b, place.file);
		fact->line = place.line;
		if (!fact->file)
			return -ENOMEM;
	}
	return 0;
}

struct texts {
	struct source_book *book;
	int64_t code;
};

static int take_text(void *context, const char *function, uint32_t pc, const char *text)
{
	const struct texts *t = context;
	struct source_fact *fact = source_find_fact(t->book, t->code, function, pc);

	if (!fact)
		return 0;
	fact->sass = source_keep(t->book, text);
	return fact->sass ? 0 : -ENOMEM;
}

/* Functions of this code that were counted in any launch; their symbols. */
static int add_code(struct source_book *b, const struct source_code *code, const struct cubin *cubin, uint32_t *symbols, size_t *symbol_count)
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
	char program[PATH_MAX];   /* "": there is none */
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
	if (r >= 0 && count && *m->program && disassemble(m->program, code->image, code->size, symbols, count, take_text, &texts, &err) < 0)
		snprintf(m->note, m->note_size, "%s", err.text);
	free(symbols);
	return r;
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
	free(m);
	return r < 0 ? error_set(err, -r, "Not enough memory") : 0;
}

static struct source_file *file_of(const struct source_book *b, const char *name)
{
	for (size_t i = 0; i < b->file_count; i++)
		if (strcmp(b->files[i].name, name) == 0)
			return &b->files[i];
	return NULL;
}

static char *read_file(const char *path, size_t *size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat status;
	char *text = NULL;
	ssize_t got;

	if (fd >= 0 && fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0 && status.st_size <= MOST_FILE)
		text = malloc((size_t)status.st_size + 1);
	if (text) {
		got = read(fd, text, (size_t)status.st_size);
		*size = got > 0 ? (size_t)got : 0;
		text[*size] = '\0';
	}
	if (fd >= 0)
		close(fd);
	return text;
}

/* Where it was compiled, or by its last name in one of the folders. */
static char *look_for(const char *name, const char *const *folders, size_t folder_count, size_t *size)
{
	const char *last = strrchr(name, '/');
	char path[PATH_MAX], *text = read_file(name, size);

	for (size_t i = 0; i < folder_count && !text; i++)
		if ((size_t)snprintf(path, sizeof(path), "%s/%s", folders[i], last ? last + 1 : name) < sizeof(path))
			text = read_file(path, size);
	return text;
}

int source_book_read_files(struct source_book *b, const char *const *folders, size_t folder_count)
{
	for (size_t i = 0; i < b->fact_count; i++) {
		const char *name = b->facts[i].file;
		struct source_file *files;
		size_t size = 0;
		char *text;

		if (!*name || file_of(b, name))
			continue;
		files = reallocarray(b->files, b->file_count + 1, sizeof(*files));
		if (!files)
			return -ENOMEM;
		b->files = files;
		text = look_for(name, folders, folder_count, &size);
		files[b->file_count] = (struct source_file){ name, NULL, size };
		if (text) {
			files[b->file_count].text = source_keep(b, text);
			files[b->file_count].size = files[b->file_count].text ? strlen(files[b->file_count].text) : 0;
		}
		b->file_count++;
		free(text);
	}
	return 0;
}

const char *source_book_line(const struct source_book *b, const char *file, uint32_t line, size_t *ret_len)
{
	const struct source_file *f = file_of(b, file);
	const char *at = f ? f->text : NULL, *end = at ? at + f->size : NULL, *next;

	for (uint32_t i = 1; at && i < line; i++) {
		next = memchr(at, '\n', (size_t)(end - at));
		at = next ? next + 1 : NULL;
	}
	if (!at || at >= end)
		return NULL;
	next = memchr(at, '\n', (size_t)(end - at));
	*ret_len = (size_t)((next ? next : end) - at);
	return at;
}

#define BIT(column) (1u << (column))

static int store_facts(const struct source_book *b, struct report_writer *w)
{
	struct report_track *track = report_track(w, TABLE_KERNEL_INSTRUCTION, 0);
	int r = track ? 0 : -ENOMEM;

	for (size_t i = 0; i < b->fact_count && r >= 0; i++) {
		const struct source_fact *f = &b->facts[i];
		int64_t v[TABLE_MAX_COLUMNS] = { 0 };
		uint32_t present = BIT(COLUMN_KERNEL_INSTRUCTION_CODE) | BIT(COLUMN_KERNEL_INSTRUCTION_FUNCTION) | BIT(COLUMN_KERNEL_INSTRUCTION_PC);

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
		r = report_append(track, v, present);
	}
	return r;
}

static int store_files(const struct source_book *b, struct report_writer *w)
{
	struct report_track *track = report_track(w, TABLE_KERNEL_FILE, 0);
	int r = track ? 0 : -ENOMEM;

	for (size_t i = 0; i < b->file_count && r >= 0; i++) {
		int64_t v[TABLE_MAX_COLUMNS] = { 0 };
		uint32_t present = BIT(COLUMN_KERNEL_FILE_NAME);

		v[COLUMN_KERNEL_FILE_NAME] = (int64_t)report_string(w, b->files[i].name, strlen(b->files[i].name));
		if (b->files[i].text) {
			v[COLUMN_KERNEL_FILE_TEXT] = (int64_t)report_blob(w, b->files[i].text, b->files[i].size);
			present |= BIT(COLUMN_KERNEL_FILE_TEXT);
		}
		r = report_append(track, v, present);
	}
	return r;
}

int source_book_store(const struct source_book *b, struct report *report, const char *path, bool facts, bool files, struct error *err)
{
	struct report_writer *w;
	int r = report_extend_begin(&w, report, path, 1, err);

	if (r < 0)
		return r;
	if (facts)
		r = store_facts(b, w);
	if (facts && r >= 0)
		r = source_store_opcodes(b, w);
	if (r >= 0 && files)
		r = store_files(b, w);
	if (r < 0) {
		report_extend_cancel(w);
		return error_set_errno(err, -r, "%s cannot be completed", path);
	}
	return report_extend_finish(w, err);
}
