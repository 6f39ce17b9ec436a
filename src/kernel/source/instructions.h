/* What single instructions of a report's kernels did, with their text and the source lines they come from. */
#ifndef SONDE_KERNEL_SOURCE_INSTRUCTIONS_H
#define SONDE_KERNEL_SOURCE_INSTRUCTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "report/reader.h"

/* One instruction, whatever launch it was in. Texts are the book's. */
struct source_fact {
	int64_t code;         /* kernel_code.id */
	const char *function; /* mangled */
	uint32_t pc;
	const char *sass;       /* "" where it is not known */
	const char *file;       /* "" where it is not known */
	uint32_t line;          /* 0 then */
	const char *inlined;    /* calls that were inlined: see source_next_call(); "": none */
	const char *outer_file; /* where the outermost of them is made; else the same as file and line */
	uint32_t outer_line;
	const char *ptx; /* name of the PTX it was made of; "": not known */
	uint32_t ptx_line;
};

/* A call that was inlined: what was called, and where. Texts are not ended by a 0. */
struct source_call {
	const char *function; /* as people write it; empty where it is not known */
	int function_len;
	const char *file;
	int file_len;
	uint32_t line;
};
/* From one to the next, the innermost first; false behind the last. */
bool source_next_call(const char **inlined, struct source_call *ret);

struct source_count {
	int64_t result;
	int64_t code;
	const char *function;
	uint32_t pc;
	uint32_t metric; /* number in the book's metrics */
	int64_t value;
};

struct source_code {
	int64_t id;
	const void *image; /* the cubin; NULL: it is not in the report */
	size_t size;
};

struct source_file {
	const char *name;
	int64_t code;     /* of a text of PTX: kernel_code.id; 0: a source file */
	const char *text; /* NULL: it is not known */
	size_t size;
	bool was_looked_for; /* beyond the report */
};

/* All of a report. */
struct source_book {
	struct source_code *codes;
	size_t code_count;
	struct source_count *counts; /* by result, code, function, pc */
	size_t count_count;
	struct source_fact *facts; /* by code, function, pc */
	size_t fact_count;
	struct source_file *files;
	size_t file_count;
	const char **metrics;
	size_t metric_count;
	bool were_stored; /* facts are the report's own */
	char **texts;     /* made here */
	size_t text_count;
};

/* The report must stay open. Facts that are not in it are made of its cubins; what is missing for that is told in `note` ("": nothing; NULL: they
 * are not made). */
int source_book_load(struct source_book *ret, struct report *report, char *note, size_t note_size, struct error *err);
/* What concerns these launches; facts that are not in the report are not made. */
int source_book_load_results(struct source_book *ret, struct report *report, const int64_t *results, size_t count, struct error *err);
void source_book_release(struct source_book *book);
/* Where source files are looked for that the report does not have. */
struct source_search {
	const char *const *files; /* stand for those of the same last name */
	size_t file_count;
	const char *const *folders; /* that have them by as much of their path as there is */
	size_t folder_count;
	bool only_source; /* nothing whose name is not one of source code: the report may be a stranger's */
};
/* Source files that facts name: by `files`, where they were compiled, then in the folders. -ENOMEM. */
int source_book_read_files(struct source_book *book, const struct source_search *search);
/* Puts facts and files into the report at `path`, which is `report`. */
int source_book_store(const struct source_book *book, struct report *report, const char *path, bool facts, bool files, struct error *err);
bool source_book_has_lines(const struct source_book *book);
/* A line of a file; NULL: it is not known. Not ended by a 0. */
const char *source_book_line(const struct source_book *book, const char *file, uint32_t line, size_t *ret_len);
/* Texts of PTX that facts name, out of the report's cubins. -ENOMEM. */
int source_book_read_ptx(struct source_book *book);
bool source_book_has_ptx(const struct source_book *book);
/* NULL: it is not there. Lines end with '\n'. */
const struct source_file *source_book_ptx(const struct source_book *book, int64_t code, const char *name);
/* Out of a cubin, for the caller to free; NULL: there is none. */
char *source_ptx_text(const void *image, size_t size, const char *name, size_t *ret_size);

/* One instruction of one launch, or a line with all of its instructions. */
struct source_item {
	const char *function;
	uint32_t pc;
	const char *sass;
	const char *file; /* of a line of PTX: its name */
	uint32_t line;
	const char *inlined;
	int64_t code;
	const struct source_fact *fact;   /* NULL: nothing is known of it, or it is a line */
	double *values;                   /* of each of the book's metrics */
	const struct source_item *before; /* the same in another report; NULL: there is none */
};

struct kernel_source {
	const struct source_book *book;
	struct source_item *items;
	size_t count;
	double *values;
	const struct kernel_source *before; /* what the items' counterparts are of; NULL: not compared */
};

/* Of one launch; without items where it has none. -ENOMEM. */
int kernel_source_of(struct kernel_source *ret, const struct source_book *book, int64_t result);
/* What makes a line: where it was written; the line of the kernel itself that what was inlined was called from; where it was written together
 * with the calls; PTX. */
enum source_key { SOURCE_WRITTEN, SOURCE_OUTERMOST, SOURCE_CALLS, SOURCE_IN_PTX };
/* The same by line, in the order of files and lines; instructions of no known line are left out. */
int kernel_source_lines(struct kernel_source *ret, const struct kernel_source *instructions, enum source_key key);
void kernel_source_release(struct kernel_source *source);
/* Not a number where the book has no such metric. */
double source_value(const struct kernel_source *source, const struct source_item *item, const char *metric);

#endif
