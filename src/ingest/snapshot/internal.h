/* What the parts of the reader share. */
#ifndef SONDE_INGEST_SNAPSHOT_INTERNAL_H
#define SONDE_INGEST_SNAPSHOT_INTERNAL_H

#include "base/idmap.h"
#include "ingest/pickle/pickle.h"
#include "ingest/rows/sink.h"

#define SNAPSHOT_MOST_DEVICES 256u
#define SNAPSHOT_MOST_FRAMES 4096u /* of one stack */
#define SNAPSHOT_MOST_BYTES (INT64_C(1) << 44)
#define SNAPSHOT_MOST_SUM (INT64_C(1) << 61) /* of all sizes: sums of them are numbers of 64 bits */

enum field {
	FIELD_OTHER,
#define FIELD(NAME, name) FIELD_##NAME,
#include "ingest/snapshot/fields.def"
	FIELD_COUNT
};

/* A dictionary with its members where they are looked for: numbers of values, 0: there is none. */
struct members {
	uint32_t at[FIELD_COUNT];
};

/* A block of the final state that is in use, or waits to be released. */
struct snapshot_block {
	int64_t address, size;
	uint32_t frames; /* number of a value; 0: none */
	int64_t stream;
	int is_allocated;
};

struct snapshot_device {
	int is_used;
	uint32_t events; /* value of the list; 0: none */
	struct snapshot_block *blocks;
	size_t block_count, block_cap;
	int64_t reserved, allocated, active; /* bytes at the end */
};

struct frames_seen {
	uint64_t stack; /* stack.id; 0: none */
	uint64_t own;   /* frame.id of the innermost function of the program itself, or else of all; 0: none */
};

struct snapshot {
	struct pickle pickle;
	struct sink sink;
	struct error *err;
	uint8_t *fields;   /* enum field of each text */
	uint64_t *strings; /* string ids of texts; 0: not asked for yet */
	uint64_t budget;   /* items that may still be read: each is reached once, but for those of stacks, which are remembered */
	int64_t sum;       /* of all sizes so far */
	int64_t origin;    /* ns since 1970 of the report's time 0; INT64_MIN: not known */
	int has_times;
	uint64_t odd;        /* entries without what they need */
	uint64_t early;      /* events that are earlier than the one before them */
	uint64_t lost_frees; /* blocks that were allocated again without a release */
	uint64_t misfits;    /* blocks that events and the final state tell different things of */
	uint32_t next_segment;
	uint32_t device_count;
	struct snapshot_device devices[SNAPSHOT_MOST_DEVICES];

	/* frames.c */
	struct idmap frame_lists;  /* value of a list of frames: index in `stacks` */
	struct idmap frame_values; /* value of a frame: frame.id */
	struct frames_seen *stacks;
	uint32_t stack_count, stack_cap;
	uint8_t *own_frames; /* by frame.id: 1 where it is of the program itself */
	uint32_t own_cap;
	struct keymap frame_keys, module_keys, symbol_keys, stack_keys;
	uint64_t event_rows;
};

/* fields.c: 0 where a member is missing, or is of another kind. */
int snapshot_fields_begin(struct snapshot *s);
int snapshot_members(struct snapshot *s, uint32_t value, struct members *ret);
int snapshot_integer(const struct snapshot *s, const struct members *m, enum field field, int64_t *ret);
/* Of so many bytes, no more than memory can have. */
int snapshot_size(struct snapshot *s, const struct members *m, enum field field, int64_t *ret);
const struct keymap_key *snapshot_text(const struct snapshot *s, const struct members *m, enum field field);
int snapshot_text_is(const struct keymap_key *text, const char *word);
/* String id of a text; 0: it is none. */
uint64_t snapshot_string(struct snapshot *s, const struct members *m, enum field field);
/* Value of a list or tuple; 0: it is none. */
uint32_t snapshot_list(const struct snapshot *s, const struct members *m, enum field field);
/* A pair of numbers as a text; 0: there is none, or it is the pool that all share. */
uint64_t snapshot_pool(struct snapshot *s, const struct members *m, enum field field);
/* The next item, where the file may still be read: 1; 0: there is none; -EBADMSG: parts are repeated too often. */
int snapshot_next(struct snapshot *s, struct pickle_items *at, uint32_t *ret);
void snapshot_put(int64_t *values, uint32_t *present, unsigned column, int known, int64_t value);

/* frames.c: rows of frames and stacks, each once. */
int snapshot_stack(struct snapshot *s, uint32_t list, struct frames_seen *ret);
void snapshot_frames_release(struct snapshot *s);

/* segments.c */
int snapshot_segments(struct snapshot *s, uint32_t list);
struct snapshot_device *snapshot_device(struct snapshot *s, int64_t number);

/* events.c */
/* ns since 1970. */
int snapshot_time(const struct snapshot *s, const struct members *m, int64_t *ret);
int snapshot_find_begin(struct snapshot *s, uint32_t annotations);
int snapshot_device_events(struct snapshot *s, uint32_t device);

/* annotations.c */
int snapshot_annotations(struct snapshot *s, uint32_t list);

#endif
