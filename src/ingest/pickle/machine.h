/* The stack machine, and the bytes it reads. */
#ifndef SONDE_INGEST_PICKLE_MACHINE_H
#define SONDE_INGEST_PICKLE_MACHINE_H

#include "base/buf.h"
#include "ingest/pickle/values.h"

struct machine {
	struct pickle *to;
	struct source *source;
	size_t at;
	struct error *err;
	uint32_t *stack; /* numbers of values */
	uint32_t count, cap;
	uint32_t *marks; /* heights of the stack */
	uint32_t mark_count, mark_cap;
	uint32_t *memo; /* numbers of values plus 1; 0: none */
	uint32_t memo_cap, memo_next;
	struct buf text;
	int is_done;
};

/* Always -EBADMSG. */
int machine_fail(struct machine *m, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* What an error of values.h says. */
int machine_fail_value(struct machine *m, int code);

/* So many bytes, which stay where they are until the next ones are asked for. */
int machine_take(struct machine *m, size_t len, const uint8_t **ret);
int machine_skip(struct machine *m, uint64_t len);
/* Up to a line's end, which is not part of it. */
int machine_take_line(struct machine *m, const char **ret, size_t *ret_len);
/* A number of so many bytes, least first. */
int machine_take_number(struct machine *m, unsigned size, uint64_t *ret);

int machine_push(struct machine *m, uint32_t value);
int machine_pop(struct machine *m, uint32_t *ret);
/* The result of a function of values.h, and the value it gave. */
int machine_push_made(struct machine *m, int result, uint32_t value);
/* What lies above the last mark, which is taken away; it stays on the stack's memory until something is pushed. */
int machine_pop_mark(struct machine *m, const uint32_t **ret, uint32_t *ret_count);

/* Opcodes by the letter; NULL: there is no such. */
typedef int machine_op(struct machine *m, uint8_t letter);
machine_op *machine_scalar_op(uint8_t letter); /* scalars.c */
machine_op *machine_part_op(uint8_t letter);   /* parts.c */
machine_op *machine_call_op(uint8_t letter);   /* calls.c */

#endif
