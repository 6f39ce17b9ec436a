#ifndef SONDE_VIEW_ANSWERS_STACKS_H
#define SONDE_VIEW_ANSWERS_STACKS_H

#include "query/query.h"
#include "view/answers/call_tree.h"
#include "view/request/json_out.h"
#include "view/report/view_report.h"

/* The recording's own query, locked until query_done(). */
int query_begin(struct view_report *r, struct query **ret, struct error *err);
void query_done(struct view_report *r);
/* Adds the rows of a statement, which it ends: id, parent, name, count, time. *ret_times: all have a time, which then counts. */
int call_tree_read(struct call_tree *t, struct query *q, sqlite3_stmt *statement, bool *ret_times, struct error *err);

/* The key stack: what the functions are called, the innermost first. None where the stacks cannot be had. -ENOMEM. */
int stack_put(struct json_out *j, struct view_report *r, int64_t id);

#endif
