/* Operators of PyTorch in a ring.
 *
 * A RECORD_TORCH_START has the number of its name in `domain`, its place in `level`, its scope in the upper four bits of `flags`. Behind the
 * time stand, in this order, the values that the lower bits name, eight bytes each, then the inputs. A RECORD_TORCH_END has the place of the
 * operator that ends.
 *
 * The place is that of an open operator among those of its thread: the lowest one above all that are open. Operators need not end in the
 * order in which they began. One that ends wherever its result is there (a collective) has no place, but an id in both records, and its end
 * may be in any ring of the process. */
#ifndef SONDE_FMT_TORCH_WIRE_H
#define SONDE_FMT_TORCH_WIRE_H

#include <stdint.h>

#define TORCH_NAMES 1024u  /* numbers that a ring has for them */
#define TORCH_PLACES 1024u /* operators open at once in a thread; those beyond are not recorded */
#define TORCH_TEXT_MAX 4000u

enum {
	TORCH_FLAG_SEQUENCE = 1,
	TORCH_FLAG_FORWARD = 2, /* number of the thread that ran the forward operator */
	TORCH_FLAG_ID = 4,
	TORCH_FLAG_INPUTS = 8,
	TORCH_FLAG_SCOPE_SHIFT = 4
};

/* The inputs: of each a word, with the number of its type among the names, and behind it its sizes, four bytes each, or eight. At most 64, and
 * as many as go into 1 KiB; the rest is left out. */
#define TORCH_INPUT_TYPE_MASK 0x3ffu
#define TORCH_INPUT_TYPED 0x400u
#define TORCH_INPUT_WIDE 0x800u
#define TORCH_INPUT_COUNT_SHIFT 16

/* Torch's own numbers (at::RecordScope). */
enum torch_scope {
	TORCH_SCOPE_FUNCTION = 0,
	TORCH_SCOPE_BACKWARD = 1,
	TORCH_SCOPE_SCRIPT = 2,
	TORCH_SCOPE_DTYPE = 3,   /* what a build needs, not what runs: never recorded */
	TORCH_SCOPE_CLASS = 4,   /* the same */
	TORCH_SCOPE_FEATURE = 5, /* the same */
	TORCH_SCOPE_LITE = 6,
	TORCH_SCOPE_USER = 7,
	TORCH_SCOPE_STATIC_OP = 8,
	TORCH_SCOPE_STATIC_MODEL = 9,
	TORCH_SCOPE_COUNT
};

/* `level`: the number that the text behind it has from now on. */
struct record_torch_name {
	uint64_t head;
	uint64_t time;
	uint64_t thread; /* torch's number of the ring's thread; 0: not known */
};

#endif
