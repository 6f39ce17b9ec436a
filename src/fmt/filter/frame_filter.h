/* Launches by the functions that led to them: MODULE@FILE@FUNCTION, as `sonde kernel` takes it and agents apply it. */
#ifndef SONDE_FMT_FILTER_FRAME_FILTER_H
#define SONDE_FMT_FILTER_FRAME_FILTER_H

#include "fmt/filter/name_pattern.h"

enum frame_part { FRAME_MODULE, FRAME_FILE, FRAME_FUNCTION, FRAME_PARTS };

/* Parts that are empty or not there are true of any frame. `regex:` before a part: it is an expression; before the first: all are. */
struct frame_filter {
	struct name_pattern parts[FRAME_PARTS];
	int is_given[FRAME_PARTS];
};

/* -1: `why` says what is wrong, and nothing is to be released. */
int frame_filter_parse(struct frame_filter *ret, const char *text, char *why, size_t why_size);
/* Of a module and of a file the path or its last part, of which a module's is also without its ending. NULL and "": not known, which no part that is
 * given matches. */
int frame_filter_matches(const struct frame_filter *f, const char *module, const char *file, const char *function);
void frame_filter_release(struct frame_filter *f);

#endif
