/* Work shared among a few threads: each calls `work` with its own number. */
#ifndef SONDE_QUERY_INDEX_PARALLEL_H
#define SONDE_QUERY_INDEX_PARALLEL_H

#define PARALLEL_MAX 8

/* How many threads are worth it for so many independent pieces. */
unsigned parallel_width(unsigned long long group_count);
/* Runs work(context, 0 ... width - 1) and waits for all; the first negative result is returned.
 * Where a thread cannot be started its part runs here. */
int parallel_run(int (*work)(void *context, unsigned worker), void *context, unsigned width);

#endif
