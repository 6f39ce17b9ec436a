/* Texts of source files and of PTX. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/macros.h"
#include "base/text/path.h"
#include "kernel/source/internal.h"
#include "report/writer.h"

#define MOST_FILE (4ll << 20)

static struct source_file *find_source_file(const struct source_book *b, int64_t code, const char *name)
{
	for (size_t i = 0; i < b->file_count; i++)
		if (b->files[i].code == code && strcmp(b->files[i].name, name) == 0)
			return &b->files[i];
	return NULL;
}

static char *read_source_file(const char *path, size_t *size)
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

/* All of its path below the folder, then less and less of it, up to the name alone. */
static char *look_below(const char *folder, const char *name, size_t *size)
{
	char path[PATH_MAX], *text = NULL;

	for (const char *below = name; below && !text; below = strchr(below, '/')) {
		below += strspn(below, "/");
		if ((size_t)snprintf(path, sizeof(path), "%s/%s", folder, below) < sizeof(path))
			text = read_source_file(path, size);
	}
	return text;
}

static char *look_for(const char *name, const struct source_search *search, size_t *size)
{
	char *text = NULL;

	for (size_t i = 0; i < search->file_count && !text; i++)
		if (strcmp(path_name(search->files[i]), path_name(name)) == 0)
			text = read_source_file(search->files[i], size);
	if (!text)
		text = read_source_file(name, size);
	for (size_t i = 0; i < search->folder_count && !text; i++)
		text = look_below(search->folders[i], name, size);
	return text;
}

/* Its name must live as long as the book; of one that is there without text, the text. */
static int add_file(struct source_book *b, int64_t code, const char *name, const char *text)
{
	struct source_file *f = find_source_file(b, code, name);
	const char *kept = text ? source_keep(b, text) : NULL;

	if (text && !kept)
		return -ENOMEM;
	if (!f) {
		if (!LIST_ROOM(b->files, b->file_count))
			return -ENOMEM;
		f = &b->files[b->file_count++];
	}
	*f = (struct source_file){ .name = name, .code = code, .text = kept, .size = kept ? strlen(kept) : 0 };
	return 0;
}

static bool is_source(const char *name)
{
	static const char *const endings[] = { ".cu",  ".cuh", ".c",   ".cc",  ".cpp", ".cxx", ".h",  ".hh",
					       ".hpp", ".hxx", ".inl", ".inc", ".ptx", ".py",  ".rs", ".jl" };
	const char *dot = strrchr(path_name(name), '.');

	for (size_t i = 0; dot && i < COUNT_OF(endings); i++)
		if (strcmp(dot, endings[i]) == 0)
			return true;
	return false;
}

static int need_file(struct source_book *b, const char *name, const struct source_search *search)
{
	const struct source_file *f = find_source_file(b, 0, name);
	size_t size = 0;
	char *text;
	int r;

	if (!*name || (f && (f->text || f->was_looked_for)) || (search->only_source && !is_source(name)))
		return 0;
	text = look_for(name, search, &size);
	r = add_file(b, 0, name, text);
	free(text);
	if (r >= 0)
		find_source_file(b, 0, name)->was_looked_for = true;
	return r;
}

/* The files of the calls, too. */
static int need_call_files(struct source_book *b, const char *inlined, const struct source_search *search)
{
	struct source_call call;
	char path[PATH_MAX];
	const char *name;
	int r = 0;

	while (r >= 0 && source_next_call(&inlined, &call)) {
		if ((size_t)call.file_len >= sizeof(path))
			continue;
		snprintf(path, sizeof(path), "%.*s", call.file_len, call.file);
		if ((find_source_file(b, 0, path) && find_source_file(b, 0, path)->was_looked_for) ||
		    (search->only_source && !is_source(path)))
			continue;
		name = source_keep_once(b, path);
		r = name ? need_file(b, name, search) : -ENOMEM;
	}
	return r;
}

int source_book_read_files(struct source_book *b, const struct source_search *search)
{
	const char *last_file = NULL, *last_inlined = NULL;
	int r = 0;

	for (size_t i = 0; i < b->fact_count && r >= 0; i++) {
		if (b->facts[i].file != last_file)
			r = need_file(b, b->facts[i].file, search);
		if (r >= 0 && b->facts[i].inlined != last_inlined)
			r = need_call_files(b, b->facts[i].inlined, search);
		last_file = b->facts[i].file;
		last_inlined = b->facts[i].inlined;
	}
	return r;
}

const char *source_book_line(const struct source_book *b, const char *file, uint32_t line, size_t *ret_len)
{
	const struct source_file *f = find_source_file(b, 0, file);
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

static const struct source_code *find_source_code(const struct source_book *b, int64_t id)
{
	for (size_t i = 0; i < b->code_count; i++)
		if (b->codes[i].id == id)
			return &b->codes[i];
	return NULL;
}

int source_book_read_ptx(struct source_book *b)
{
	const struct source_code *code;
	size_t size = 0;
	char *text;
	int r = 0;

	for (size_t i = 0; i < b->fact_count && r >= 0; i++) {
		const struct source_fact *f = &b->facts[i];

		if (!f->ptx_line || find_source_file(b, f->code, f->ptx))
			continue;
		code = find_source_code(b, f->code);
		text = code && code->image ? source_ptx_text(code->image, code->size, f->ptx, &size) : NULL;
		r = add_file(b, f->code, f->ptx, text);
		free(text);
	}
	return r;
}

bool source_book_has_ptx(const struct source_book *b)
{
	for (size_t i = 0; i < b->fact_count; i++)
		if (b->facts[i].ptx_line)
			return true;
	return false;
}

const struct source_file *source_book_ptx(const struct source_book *b, int64_t code, const char *name)
{
	const struct source_file *f = find_source_file(b, code, name);

	return f && f->text ? f : NULL;
}

int source_store_files(const struct source_book *b, struct report_writer *w)
{
	struct report_track *track = report_track(w, TABLE_KERNEL_FILE, 0);
	int r = track ? 0 : -ENOMEM;

	for (size_t i = 0; i < b->file_count && r >= 0; i++) {
		int64_t v[TABLE_MAX_COLUMNS] = { 0 };
		uint32_t present = BIT(COLUMN_KERNEL_FILE_NAME);

		/* PTX is in the cubin, which the report has. */
		if (b->files[i].code)
			continue;
		v[COLUMN_KERNEL_FILE_NAME] = (int64_t)report_string(w, b->files[i].name, strlen(b->files[i].name));
		if (b->files[i].text) {
			v[COLUMN_KERNEL_FILE_TEXT] = (int64_t)report_blob(w, b->files[i].text, b->files[i].size);
			present |= BIT(COLUMN_KERNEL_FILE_TEXT);
		}
		r = report_append(track, v, present);
	}
	return r;
}
