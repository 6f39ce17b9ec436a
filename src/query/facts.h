/* Shared by facts*.c. */
#ifndef SONDE_QUERY_FACTS_H
#define SONDE_QUERY_FACTS_H

#include "query/internal.h"

struct enum_name {
	int id;
	const char *name;
	const char *label;
};

/* Executes SQL put together as sqlite3_mprintf() does. */
int facts_execute(struct query *q, const char *format, ...);
/* An ENUM_ table. */
int facts_create_enum(struct query *q, const char *table, const struct enum_name *names, size_t count);
/* Only tables with rows are listed. */
int facts_drop_if_empty(struct query *q, const char *table);
/* Whether the table of that name has rows. */
int facts_have(struct query *q, const char *table);

/* Devices, contexts, streams, metrics, and names of CUDA's enumerations: facts_cuda.c. */
int facts_create_cuda(struct query *q);
int facts_create_cuda_enums(struct query *q, int all);

#endif
