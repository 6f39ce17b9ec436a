/* What events are called, as 32-bit ids: string ids of the report below NAME_MADE; above, texts made from a kind and a
 * number. */
#ifndef SONDE_VIEW_RECORDING_EVENT_NAMES_H
#define SONDE_VIEW_RECORDING_EVENT_NAMES_H

#include <stdint.h>

#include "base/buf.h"
#include "fmt/tables.h"

struct view_report;

#define NAME_MADE 0x80000000u

/* clang-format off */
enum made_name {
	MADE_CALL, /* row of the index's names of calls */
	MADE_THREAD, /* row of the index's threads */
	MADE_BLOCKED, MADE_NOT_SPLIT, /* string id of what it waits in */
	MADE_RUNNABLE, MADE_PREEMPTED, MADE_UNKNOWN,
	MADE_OF_TABLE /* and the table's id: its word, and the number of ROLE_NAME */
};

enum color_class {
	CLASS_OTHER, CLASS_COMPUTE, CLASS_COMMUNICATION, CLASS_COPY, CLASS_WAIT, CLASS_OS, CLASS_API, CLASS_RANGE,
	CLASS_RUNNING, CLASS_OVERHEAD, CLASS_READY
};
/* clang-format on */

/* The id of an event with that value in the column. */
uint32_t find_name_id(const struct view_report *r, enum table_id table, int64_t value);
/* The same for a row of a group, which may be a made one: these have their ids in the column. */
struct row_group;
uint32_t name_in(const struct view_report *r, const struct row_group *p, int64_t value);
/* The id of a text that is made from a kind and a number; too large a number is left out of it. */
uint32_t name_make(enum made_name kind, int64_t number);
enum color_class name_class(const struct view_report *r, enum table_id table, uint32_t name);
/* Appends the text; nothing for ids without one. */
int name_text(struct view_report *r, uint32_t name, struct buf *ret);

/* What launches are called, and which of the names are of communication. */
int name_load_launches(struct view_report *r);

#endif
