/* The bytes of a .sonde file, its .part and its journal; docs/formats/report.md
 * describes them for people who write another reader. Everything is little-endian. */
#ifndef SONDE_REPORT_FORMAT_FILE_FORMAT_H
#define SONDE_REPORT_FORMAT_FILE_FORMAT_H

#include <stdint.h>

#define FORMAT_MAJOR 1 /* raised when an old reader could misread the file */
#define FORMAT_MINOR 2 /* raised when something skippable is added */

#define FILE_MAGIC "SONDE\r\n\x1a"
#define JOURNAL_MAGIC "SONDEJ\r\n"
#define BLOCK_MAGIC 0x4b4c4253u  /* "SBLK" */
#define FOOTER_MAGIC 0x444e4553u /* "SEND" */

/* Also the journal's header, with its own magic and the .part's id. */
struct file_header {
	char magic[8];
	uint16_t major;
	uint16_t minor;
	uint32_t size; /* of this header */
	uint8_t id[16];
	int64_t created;     /* REALTIME ns */
	uint64_t generation; /* journal: raised whenever it is emptied */
	uint64_t reserved;
	uint64_t checksum; /* XXH3-64 of the bytes before it */
};

enum block_kind {
	BLOCK_GROUP = 1,   /* row sets */
	BLOCK_STRINGS = 2, /* texts */
	BLOCK_BLOBS = 3,   /* the same layout, bytes */
	BLOCK_DIRECTORY = 4,
	BLOCK_FOOTER = 5,
	BLOCK_SKIP = 6,  /* blocks that were given up: only the header counts */
	BLOCK_ABSENT = 7 /* in a directory: a group whose rows are not in the file, only its level 0 is */
};

enum block_flags {
	BLOCK_META = 1,       /* outlives a dropped segment */
	BLOCK_COMPRESSED = 2, /* the payload is one zstd frame */
	BLOCK_LATE = 4        /* string ids out of order, to be looked for last */
};

struct block_header {
	uint32_t magic;
	uint8_t kind;
	uint8_t table; /* of the only row set; 0 where there are several */
	uint16_t flags;
	uint32_t segment;  /* journal: generation, low 32 bits */
	uint32_t items;    /* row sets, strings or blobs inside */
	uint64_t size;     /* payload bytes in the file, without the padding to 8 */
	uint64_t raw_size; /* payload bytes after decompression */
	uint64_t first;    /* GROUP: rows; STRINGS, BLOBS: lowest id */
	uint64_t last;     /* GROUP: track of the only set; STRINGS, BLOBS: highest id */
	int64_t time_min;  /* GROUP */
	int64_t time_max;
	uint64_t checksum; /* of this header and the payload: see block_checksum() */
};

struct footer {
	uint64_t directory_offset;
	uint64_t directory_size; /* whole block, header and padding included */
	uint64_t file_size;
	uint64_t rows;
	uint64_t magic;
};

_Static_assert(sizeof(struct file_header) == 64, "file header");
_Static_assert(sizeof(struct block_header) == 72, "block header");
_Static_assert(sizeof(struct footer) == 40, "footer");
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the format is little-endian");

#define FOOTER_BLOCK_SIZE (sizeof(struct block_header) + sizeof(struct footer))

/* A row set holds at most this many rows, so that a reader's buffers are bounded. */
#define SET_MAX_ROWS 65536u
/* zstd's output is at most this much larger than its input: a small hostile file cannot
 * ask for much memory. A writer stores what compresses better than this plainly. */
#define MAX_RATIO 256u
#define RATIO_ALLOWANCE 65536u

enum set_flags {
	SET_PROVISIONAL = 1 /* journal: valid until the next block with sets */
};

/* How the non-null values of a column are stored. */
enum transform {
	TRANSFORM_CONST = 0,       /* one value */
	TRANSFORM_PLAIN = 1,       /* distance from the smallest */
	TRANSFORM_DELTA = 2,       /* difference to the value before */
	TRANSFORM_DICT = 3,        /* index into up to 256 values */
	TRANSFORM_GAP = 4,         /* start of a span: distance from the end of the one before */
	TRANSFORM_DURATION = 5,    /* end of a span: distance from its start */
	TRANSFORM_HAS_NULLS = 0x80 /* a bitmap of the rows precedes, then another of the above */
};

enum plane_method {
	PLANE_RAW = 0,
	PLANE_ZSTD = 1,
	PLANE_CONST = 2 /* one byte */
};

/* The directory is a row set of table 0 with these columns, one row per row set,
 * strings block and blobs block. */
#define DIRECTORY_TABLE 0
enum directory_column {
	DIRECTORY_KIND,
	DIRECTORY_ITS_TABLE,
	DIRECTORY_FLAGS,
	DIRECTORY_SEGMENT,
	DIRECTORY_OFFSET, /* of the block in the file */
	DIRECTORY_INSIDE, /* of the row set in the decompressed payload */
	DIRECTORY_BYTES,  /* of the row set */
	DIRECTORY_ITEMS,  /* rows, strings or blobs */
	DIRECTORY_TRACK,
	DIRECTORY_FIRST, /* index of the set's first row in its track; lowest id */
	DIRECTORY_LAST,  /* highest id */
	DIRECTORY_TIME_MIN,
	DIRECTORY_TIME_MAX,
	DIRECTORY_PRESENT, /* columns with any value */
	DIRECTORY_COLUMNS
};

/* One row of the directory in memory, and what the levels of detail need. */
struct entry {
	uint8_t kind;
	uint8_t table;
	uint16_t flags;
	uint32_t segment;
	uint64_t offset;
	uint32_t inside;
	uint32_t bytes;
	uint32_t items;
	uint32_t track;
	uint64_t first;
	uint64_t last;
	int64_t time_min;
	int64_t time_max;
	uint32_t present;
	uint32_t set_flags;
	int64_t busy;
	int64_t longest;
	uint64_t name;
	int64_t written; /* report_writer_trim()'s time when it came to the file */
};

static inline uint64_t align8(uint64_t n)
{
	return (n + 7) & ~(uint64_t)7;
}

#endif
