/* Small text files that users write: lines of `name = value`, headings in brackets, comments behind #. A line that begins with | goes on
 * with the one before. */
#ifndef SONDE_KERNEL_METRICS_TEXT_FILE_H
#define SONDE_KERNEL_METRICS_TEXT_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

#define TEXT_FILE_MOST (1u << 20)
#define TEXT_LINE_MOST 4096u

struct text_part {
	const char *text;
	size_t len;
};

struct text_lines {
	const char *path;
	const char *at, *end;
	unsigned number; /* of the last line given out */
	unsigned more;   /* lines it goes on for */
};

/* The file's name without folder and ending; the caller frees it. */
char *text_file_name(const char *path);
/* The caller frees *ret. Larger files than TEXT_FILE_MOST are refused. */
int text_file_read(const char *path, char **ret, size_t *ret_size, struct error *err);
/* The next line that holds something, without blanks around it; 0 at the end, -EINVAL for one that is no text. */
int text_next_line(struct text_lines *lines, struct text_part *ret, struct error *err);
/* -EINVAL and "path:line: what". */
int text_refuse(const struct text_lines *lines, struct error *err, const char *what);

struct text_part text_trim(struct text_part part);
/* Splits at the first `separator`; false where there is none. Both halves are trimmed. */
bool text_split(struct text_part whole, char separator, struct text_part *ret_before, struct text_part *ret_after);
bool text_is(struct text_part part, const char *word);
/* Takes a trailing [unit] off. */
struct text_part text_take_unit(struct text_part *part);
char *text_copy(struct text_part part);

/* Visits each file FOLDER/NAME<ending>, by name; -ENOENT where there is no such folder. A visitor's negative result ends it. */
int text_each_file(const char *folder, const char *ending, int (*visit)(void *context, const char *path), void *context);

#endif
