/* Shared by facts*.c. */
#ifndef SONDE_QUERY_FACTS_H
#define SONDE_QUERY_FACTS_H

#include "query/internal.h"

/* Executes SQL put together as sqlite3_mprintf() does. */
int facts_execute(struct query *q, const char *format, ...);
/* Only tables with rows are listed: an empty one goes to `temp`. */
int facts_set_aside_if_empty(struct query *q, const char *table);

#endif
