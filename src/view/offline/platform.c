/* What is otherwise elsewhere: sorting that leaves equal things in their order, as glibc's does, so that answers are the same;
 * the parts of SQLite, of the statistics and of symbols that need an operating system, which say that they have nothing. */
#include <errno.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "stats/output.h"
#include "symbol/elf/build_id.h"
#include "symbol/demangle.h"
#include "symbol/lines.h"

typedef int (*compare_fn)(const void *, const void *, void *);

struct sorting {
	size_t size;
	compare_fn compare;
	void *context;
	char *room;
};

static void merge_sort(const struct sorting *s, char *items, size_t count)
{
	size_t half = count / 2, left = 0, right = half;
	char *to = s->room;

	if (count < 2)
		return;
	merge_sort(s, items, half);
	merge_sort(s, items + half * s->size, count - half);
	while (left < half && right < count) {
		size_t *from = s->compare(items + left * s->size, items + right * s->size, s->context) <= 0 ? &left : &right;

		memcpy(to, items + (*from)++ * s->size, s->size);
		to += s->size;
	}
	/* What is left of the right half is in its place. */
	memcpy(to, items + left * s->size, (half - left) * s->size);
	to += (half - left) * s->size;
	memcpy(items, s->room, (size_t)(to - s->room));
}

void qsort_r(void *items, size_t count, size_t size, compare_fn compare, void *context)
{
	struct sorting s = { size, compare, context, malloc(count * size + 1) };

	if (!s.room)
		abort();
	merge_sort(&s, items, count);
	free(s.room);
}

static int compare_plainly(const void *a, const void *b, void *context)
{
	return (*(int (**)(const void *, const void *))context)(a, b);
}

void qsort(void *items, size_t count, size_t size, int (*compare)(const void *, const void *))
{
	qsort_r(items, count, size, compare_plainly, &compare);
}

static int no_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags, int *ret_flags)
{
	return SQLITE_CANTOPEN;
}

static int no_delete(sqlite3_vfs *vfs, const char *name, int sync)
{
	return SQLITE_IOERR_DELETE;
}

static int no_access(sqlite3_vfs *vfs, const char *name, int flags, int *ret)
{
	*ret = 0;
	return SQLITE_OK;
}

static int same_name(sqlite3_vfs *vfs, const char *name, int size, char *ret)
{
	sqlite3_snprintf(size, ret, "%s", name);
	return SQLITE_OK;
}

static int no_randomness(sqlite3_vfs *vfs, int size, char *ret)
{
	memset(ret, 0, (size_t)size);
	return size;
}

static int no_sleep(sqlite3_vfs *vfs, int microseconds)
{
	return 0;
}

static int no_time(sqlite3_vfs *vfs, double *ret)
{
	*ret = 2440587.5;
	return SQLITE_OK;
}

/* Databases and what is sorted are in memory (SQLITE_TEMP_STORE=3). */
int sqlite3_os_init(void)
{
	/* clang-format off */
	static sqlite3_vfs vfs = { .iVersion = 1, .szOsFile = sizeof(sqlite3_file), .mxPathname = 256, .zName = "none",
				   .xOpen = no_open, .xDelete = no_delete, .xAccess = no_access, .xFullPathname = same_name,
				   .xRandomness = no_randomness, .xSleep = no_sleep, .xCurrentTime = no_time };
	/* clang-format on */

	return sqlite3_vfs_register(&vfs, 1);
}

int sqlite3_os_end(void)
{
	return SQLITE_OK;
}

int stats_output_is_console(const char *target)
{
	return strcmp(target, "-") == 0;
}

int stats_output_open(struct stats_output *ret, const struct stats_output_path *place, struct error *err)
{
	*ret = (struct stats_output){ .stream = place->console, .is_console = 1 };
	return 0;
}

int stats_output_close(struct stats_output *output, int is_whole, struct error *err)
{
	return 0;
}

/* Lines come from the files of programs, which are not here. */
int line_cache_folder(char *ret, size_t size)
{
	return -ENOENT;
}

int lines_new(struct lines **ret, const struct debug_wanted *wanted, const char *folder)
{
	return -ENOENT;
}

void lines_free(struct lines *l)
{
}

int lines_find(struct lines *l, uint64_t address, struct source_lines *ret)
{
	return -ENOENT;
}

void source_lines_release(struct source_lines *lines)
{
}

size_t build_id_from_text(const char *text, uint8_t *ret)
{
	return 0;
}

/* The demangler is not here: names stay as the recorder wrote them. */
char *demangle_cuda(const char *linkage)
{
	return NULL;
}

/* Nor is a disassembler: what instructions are is in the report, or is not known. */
struct source_book;
int source_make_facts(struct source_book *book, char *note, size_t note_size, struct error *err)
{
	return 0;
}

/* Nor is what reads cubins: PTX is not shown. */
char *source_ptx_text(const void *image, size_t size, const char *name, size_t *ret_size);
char *source_ptx_text(const void *image, size_t size, const char *name, size_t *ret_size)
{
	return NULL;
}
