/* A value of a vector as the result of an SQLite function or column. */
#ifndef SONDE_QUERY_ENGINE_RESULT_H
#define SONDE_QUERY_ENGINE_RESULT_H

#include "query/engine/scan.h"

/* The row of the scan's current group. */
void result_cell(sqlite3_context *context, struct scan *s, unsigned column, uint32_t row);
/* A number, real or string that was kept apart from its vector. */
void result_value(sqlite3_context *context, struct query *q, enum vector_kind kind, int64_t value);

#endif
