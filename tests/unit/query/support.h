/* Asking a report and getting the answer as one text. */
#ifndef SONDE_TESTS_QUERY_SUPPORT_H
#define SONDE_TESTS_QUERY_SUPPORT_H

#include "query/query.h"
#include "report/writer.h"

/* All rows: values joined by '|', rows by ';'; nulls empty. Errors as "error: ...". Valid until the next
 * call; not for several threads. */
const char *ask(struct query *q, const char *sql);

/* A new folder for a test's files; removed with what is in it. */
void make_folder(char *ret, size_t size);
void remove_folder(const char *folder);

/* A group's set-up and tear-down; its state is a query over the report made of tests/golden/`name`. */
int golden_set_up(void **state, const char *name);
int golden_tear_down(void **state);

/* A query over the report made of these lines; one at a time. */
struct query *open_text(const char *lines);
void close_text(struct query *q);

#endif
