/* OS runtime calls: rows of OSRT with their stacks and files, and rows of FILE. */
#ifndef SONDE_RECORD_DRAIN_OSRT_H
#define SONDE_RECORD_DRAIN_OSRT_H

#include "record/profile_options.h"
#include "record/session/session.h"
#include "ring/ring_layout.h"

/* What agents need to know of the options. The clock must have been chosen. */
double ticks_per_ns(int use_tsc);
void osrt_fill_page(struct ring_session *page, const struct osrt_options *options, int use_tsc);

/* Records of a thread; `size` is theirs, checked. -EBADMSG when one makes no sense. */
int osrt_call_record(struct session *s, struct traced_process *p, struct traced_thread *t, const uint8_t *bytes, uint32_t size,
		     int64_t start, int64_t end);
/* DEFINE_FILE and DEFINE_MODULE. */
void osrt_file_record(struct session *s, struct traced_process *p, const struct record_define *define, const uint8_t *path, size_t size,
		      int64_t time);
int osrt_module_record(struct session *s, struct traced_process *p, const uint8_t *body, size_t size, int64_t time);

/* The row of a call that never returned, as the thread's slot tells. */
void osrt_open_call(struct session *s, struct traced_process *p, struct traced_thread *t, const struct ring_slot *slot, int64_t end);
void osrt_thread_end(struct traced_thread *t);
/* Rows of files that were not closed. */
void osrt_process_end(struct session *s, struct traced_process *p);
void osrt_process_free(struct traced_process *p);
void osrt_session_release(struct session *s);

#endif
