/* Shared by the files of facts. */
#ifndef SONDE_QUERY_NSYS_FACTS_H
#define SONDE_QUERY_NSYS_FACTS_H

#include "fmt/nsys/columns.h"
#include "query/internal.h"

/* Executes SQL put together as sqlite3_mprintf() does. */
int facts_execute(struct query *q, const char *format, ...);
/* A table of fmt/nsys/facts.def. Its rows are selected from `from`, or made by `fill`. */
struct fact_table {
	enum nsys_table_id id;
	const char *const *values; /* SQL, by column */
	const char *from;
	int (*fill)(struct query *q, const struct fact_table *t);
};

/* The statement that puts what is selected into the table; @vm is bound. An SQLite result code. */
int facts_prepare(struct query *q, const struct fact_table *t, const char *from, sqlite3_stmt **ret);
int fill_gpus(struct query *q, const struct fact_table *t);

#endif
