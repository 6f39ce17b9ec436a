/* Threads that compute answers. Jobs come back through a list that a descriptor tells of. */
#ifndef SONDE_VIEW_SERVER_POOL_H
#define SONDE_VIEW_SERVER_POOL_H

#include <stdbool.h>

struct pool;

struct pool_job {
	struct pool_job *next;
	bool slow; /* one at a time, by a thread of its own */
	void (*work)(struct pool_job *job);
};

int pool_open(struct pool **ret, unsigned threads);
/* Readable when a job is done. */
int pool_fd(const struct pool *p);
void pool_add(struct pool *p, struct pool_job *job);
/* All that are done, oldest first. */
struct pool_job *pool_done(struct pool *p);
/* Nothing more is begun. False where some thread is still at work after half a second: the pool must then be left as it
 * is. */
bool pool_close(struct pool *p, struct pool_job **ret_left);

#endif
