/* Operators of PyTorch: fmt/torch_wire.h has their records. */
#ifndef SONDE_RECORD_TORCH_OPERATORS_H
#define SONDE_RECORD_TORCH_OPERATORS_H

#include "record/session/session.h"

/* One record of `size` bytes, its time converted. -EBADMSG where it makes no sense, -ENOMEM. */
int operators_name(struct session *s, struct traced_thread *t, const uint8_t *bytes, uint32_t size);
int operators_start(struct session *s, struct traced_process *p, struct traced_thread *t, const uint8_t *bytes, uint32_t size,
		    int64_t time);
int operators_end(struct session *s, struct traced_process *p, struct traced_thread *t, const uint8_t *bytes, uint32_t size, int64_t time);

/* What agents are asked for: `wanted` is of enum pytorch_bit. */
void operators_fill_page(struct ring_session *page, uint64_t wanted);

/* Ends what is open with SLICE_OPEN. */
void operators_end_thread(struct session *s, struct traced_process *p, struct traced_thread *t, int64_t end);
void operators_end_process(struct session *s, struct traced_process *p, int64_t end);
/* The same, for the journal: nothing changes. */
void operators_provisional(struct session *s, struct traced_process *p, struct traced_thread *t, int64_t end);
void operators_free_thread(struct traced_thread *t);
void operators_free_process(struct traced_process *p);

#endif
