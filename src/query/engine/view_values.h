/* Values that only the readable tables have (view_tables.c): numbers become words, what they refer to becomes
 * a name. In mapped tables CONVERT_VIEW, with the value in `other`; CONVERT_TRACK_VIEW for what is one for a whole
 * track. */
#ifndef SONDE_QUERY_ENGINE_VIEW_VALUES_H
#define SONDE_QUERY_ENGINE_VIEW_VALUES_H

#include "fmt/gpu_enums.h"
#include "query/engine/scan.h"

enum view_value {
	/* Of a whole track. */
	VIEW_TRACK_PID,
	VIEW_TRACK_PROCESS, /* its name */
	VIEW_TRACK_TID,
	VIEW_TRACK_THREAD, /* its name */
	/* Of rows. */
	VIEW_PID, /* of a process uid */
	VIEW_PROCESS,
	VIEW_THREAD, /* name of a thread uid */
	VIEW_COPY_KIND,
	VIEW_MEMORY_KIND, /* of CUPTI's number */
	VIEW_SYNC_KIND,
	VIEW_API_KIND,
	VIEW_FUNCTION, /* name of a stack's innermost function */
	VIEW_MODULE,
	VIEW_BANDWIDTH /* bytes per ns of row */
};

/* Words that no row of the report has; their ids are between those of cuda_index.h and those of places in code. */
#define STRING_ID_VIEW (((int64_t)1 << 49) + ((int64_t)1 << 40))
/* clang-format off */
enum view_word {
	/* In the order of their numbers. */
	WORD_COPY, WORD_COPY_LAST = WORD_COPY + GPU_COPY_UNIFIED_DTOD,
	WORD_MEMORY, WORD_MEMORY_LAST = WORD_MEMORY + GPU_MEMORY_HOST,
	WORD_SYNC, WORD_SYNC_LAST = WORD_SYNC + GPU_SYNC_CONTEXT,
	WORD_RUNTIME, WORD_DRIVER,
	WORD_PUSH_POP, WORD_START_END, WORD_SLICE,
	VIEW_WORD_COUNT
};
/* clang-format on */

/* NULL for ids that are none of these. */
const char *view_word_text(int64_t id);

/* The value of a track; 0 when it is null. */
int view_constant(const struct scan *s, const struct mapped_cell *cell, int64_t *ret);
/* Makes the vector of the cell for the scan's group. */
int view_vector(struct scan *s, const struct mapped_cell *cell, struct scan_vector *v);

/* The tables: by name, but not listed among nsys's. */
extern const struct mapped_table *const view_tables[];
extern const unsigned view_table_count;

#endif
