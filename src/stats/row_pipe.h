/* Rows on their way to a formatter: the first ones are formatted as they come, and where there are many, a thread of its own does
 * it while the statement goes on. Order and text are the same either way. */
#ifndef SONDE_STATS_ROW_PIPE_H
#define SONDE_STATS_ROW_PIPE_H

#include "stats/format.h"

struct row_pipe;

/* -ENOMEM. */
int row_pipe_open(struct row_pipe **ret, struct formatter *f, size_t column_count);
/* Copies what the cells point to. Errors of formatting come back with a later row. */
int row_pipe_add(struct row_pipe *p, const struct cell *cells);
/* Waits until all rows are formatted and frees the pipe in any case; the formatter stays open. */
int row_pipe_close(struct row_pipe *p);

#endif
