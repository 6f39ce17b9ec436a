/* The reader's parts and what they share. Private to src/report and its tests. */
#ifndef SONDE_REPORT_READ_INTERNAL_H
#define SONDE_REPORT_READ_INTERNAL_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/buf.h"
#include "report/format/block.h"
#include "report/reader.h"
#include "report/format/rowset.h"

enum block_state { BLOCK_UNKNOWN, BLOCK_GOOD, BLOCK_BAD };

/* A block of the file, checked and decompressed when first asked for. */
struct block_ref {
	const uint8_t *at;
	uint64_t left; /* bytes from there to the end of what is mapped */
	uint64_t offset;
	_Atomic int state;
	const uint8_t *payload;
	uint64_t payload_size;
	uint32_t items;
	uint8_t *owned; /* the payload where it had to be decompressed */
};

/* Where the rows of a group are. */
struct set_address {
	uint32_t block;
	uint32_t inside;
	uint32_t bytes;
	uint32_t stored; /* rows in the set */
	uint32_t skip;   /* of them, those that are in the file already (journal) */
};

struct table_groups {
	struct report_group *groups;
	struct set_address *places;
	size_t count;
	uint64_t rows;
	struct report_group *absent;
	size_t absent_count;
};

/* The texts of one block, once decoded. */
struct text_list {
	size_t count;
	uint64_t first;
	uint64_t *ids;     /* NULL when they are first, first + 1, ... */
	uint64_t *offsets; /* count + 1 of them, into bodies */
	const char *bodies;
};

struct text_block {
	uint64_t first;
	uint64_t last;
	uint32_t block;
	uint8_t tried;
	struct text_list *list;
};

struct text_found {
	uint64_t id;
	const char *text;
	uint64_t size;
};

/* All strings, or all blobs. Blocks in order of ids are searched; the others are
 * merged into one sorted list when first needed. */
struct text_store {
	struct text_block *ordered;
	size_t ordered_count;
	size_t ordered_capacity;
	struct text_block *late;
	size_t late_count;
	size_t late_capacity;
	struct text_found *merged;
	size_t merged_count;
	int is_merged;
	uint64_t limit;
	uint64_t lowest; /* blobs: those of dropped blocks are not counted below it */
	uint64_t items;
};

struct report {
	const uint8_t *map;
	uint64_t size;
	int is_mapped;
	uint8_t *journal;
	uint64_t journal_size;
	uint64_t seed;
	uint8_t id[16];
	int partial;
	struct block_ref *blocks;
	size_t block_count;
	size_t block_capacity;
	struct table_groups tables[TABLE_ID_LIMIT];
	uint64_t rows; /* of all tables */
	int has_too_many;
	struct text_store strings;
	struct text_store blobs;
	uint64_t unknown_groups;
	struct buf notes; /* texts, each ended by a NUL */
	size_t note_count;
	_Atomic uint32_t damage;   /* parts skipped because they could not be read */
	_Atomic uint64_t unpacked; /* bytes kept of what lies packed in the file */
	pthread_mutex_t lock;      /* scratch list, notes, loading of blocks */
	struct scratch *scratch;
};

/* Opens what is in memory; both pieces stay the caller's and must outlive the reader. */
int report_open_memory(struct report **ret, const void *data, size_t size, const void *journal, size_t journal_size, struct error *err);

/* reader.c */
void reader_damage(struct report *r);
void reader_note(struct report *r, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Whether the file ends with a footer. */
int reader_footer(const struct report *r, struct footer *ret);
/* Whether so many more bytes may be kept of what lies packed in the file; they are counted then. */
int reader_take_room(struct report *r, uint64_t bytes);
/* Checks and decompresses a block; -EBADMSG if it is damaged. */
int reader_load(struct report *r, uint32_t block);
struct scratch *reader_scratch_take(struct report *r);
void reader_scratch_give(struct report *r, struct scratch *s);

/* index.c: what is where */
/* Adds a block; -ENOMEM. Entries of the same block share it. */
int index_block(struct report *r, const uint8_t *base, uint64_t size, uint64_t offset, uint32_t *ret);
int index_group(struct report *r, uint32_t block, const struct entry *entry, uint32_t skip);
int index_texts(struct report *r, uint32_t block, const struct entry *entry);
int index_directory(struct report *r, const struct footer *footer, struct error *err);
/* Gives every row of the directory in turn; goes on while the result is 0. */
typedef int (*directory_fn)(struct report *r, const struct entry *entry, void *context);
int directory_walk(struct report *r, const struct footer *footer, directory_fn take, void *context, struct error *err);

/* scan.c: files without a directory, and journals */
int scan_file(struct report *r, uint64_t from);

/* journal.c */
char *journal_path_of(const char *part_path);
/* A copy of the journal beside a .part; none is not an error. */
int journal_read(const char *part_path, uint8_t **ret, uint64_t *ret_size);

/* texts.c */
void text_store_release(struct text_store *s);

#endif
