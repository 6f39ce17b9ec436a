/* Processes as the drain thread sees them. */
#ifndef SONDE_RECORD_DRAIN_PROCESS_H
#define SONDE_RECORD_DRAIN_PROCESS_H

#include "record/session/session.h"

/* A process that was given a pool. Made by the thread that answers agents, then handed to
 * the drain thread. */
struct traced_process *process_new(uint64_t uid, const struct process_info *info);
void process_free(struct traced_process *p);

/* Takes the process into the session. Its parent's rings must have been read since it attached,
 * so that a forked child finds the names given before the fork. */
void process_begin(struct session *s, struct traced_process *p);
/* Everything was read: ends what is open, writes the rows, frees it. */
void process_end(struct session *s, struct traced_process *p, int64_t end);

struct traced_process *process_by_uid(const struct session *s, uint64_t uid);

/* Whether the process has more to tell of a window that has closed. */
uint32_t process_unfinished(struct session *s, struct traced_process *p);

/* Loss rows of all threads since the last call. */
void process_report_losses(struct session *s, struct traced_process *p);
void process_provisional(struct session *s, struct traced_process *p);

/* A program that ran without the agent: a row with origin 0. `exit_status` may be NULL. */
void process_untraced_row(struct session *s, uint64_t uid, uint32_t pid, const char *exe, const int *exit_status);

#endif
