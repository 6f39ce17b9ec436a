/* What `sonde kernel` asks of the agents: one structure, which the command line fills and writes as a text file, and the agent reads.
 * Both go by the list of words (fmt/kernel_request.def); docs/formats/kernel-request.md describes the text. */
#ifndef SONDE_FMT_KERNEL_REQUEST_H
#define SONDE_FMT_KERNEL_REQUEST_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* How a value is written. */
enum kernel_request_kind {
	REQUEST_TEXT,    /* const char *; NULL: there is no line */
	REQUEST_TEXTS,   /* struct kernel_request_list: a line for each, KERNEL_REQUEST_TEXTS at most */
	REQUEST_LIST,    /* the same, KERNEL_REQUEST_LIST at most */
	REQUEST_INTEGER, /* int */
	REQUEST_NUMBER,  /* uint64_t */
	REQUEST_CHOICE,  /* int: which of the words */
	REQUEST_BYTES    /* struct kernel_request_bytes, as hexadecimal digits; none: there is no line */
};

#define KERNEL_REQUEST_TEXTS 64u
#define KERNEL_REQUEST_LIST 65536u

/* Metrics that can be counted together: CUPTI mixes those of links with no others. */
#define KERNEL_REQUEST_PARTS 4u

enum kernel_name_base { KERNEL_NAME_FUNCTION, KERNEL_NAME_DEMANGLED, KERNEL_NAME_MANGLED };
enum kernel_filter_mode { KERNEL_FILTER_GLOBAL, KERNEL_FILTER_PER_GPU, KERNEL_FILTER_PER_LAUNCH_CONFIG };
/* Kernels of CUDA graphs one by one, a graph as a whole, or neither. */
enum kernel_graphs { KERNEL_GRAPHS_NODES, KERNEL_GRAPHS_WHOLE, KERNEL_GRAPHS_NONE };
/* What is read are ranges: in runs of the program, or by making calls again. */
enum kernel_ranges { KERNEL_RANGES_NONE, KERNEL_RANGES_BY_RUNS, KERNEL_RANGES_BY_CALLS };
/* Bits. */
enum kernel_stack { KERNEL_STACK_NATIVE = 1, KERNEL_STACK_PYTHON = 2 };

struct kernel_request_list {
	const char *const *items;
	size_t count;
};

struct kernel_request_bytes {
	const uint8_t *data;
	size_t size;
};

#define REQUEST_TYPE_TEXT const char *
#define REQUEST_TYPE_TEXTS struct kernel_request_list
#define REQUEST_TYPE_LIST struct kernel_request_list
#define REQUEST_TYPE_INTEGER int
#define REQUEST_TYPE_NUMBER uint64_t
#define REQUEST_TYPE_BYTES struct kernel_request_bytes

/* A part of what is counted. */
struct kernel_wanted {
#define PART_WORD(kind, word, field) REQUEST_TYPE_##kind field;
#include "fmt/kernel_request.def"
};

/* Texts are whose they were: of who fills it, or of the text that was read. */
struct kernel_request {
#define WORD(kind, word, field) REQUEST_TYPE_##kind field;
#define CHOICE(word, field, words) int field;
#include "fmt/kernel_request.def"
	struct kernel_wanted parts[KERNEL_REQUEST_PARTS];
	size_t part_count;
};

/* The list itself. */
struct kernel_request_word {
	const char *word;
	const char *choices; /* with | between them */
	size_t offset;       /* of the field */
	enum kernel_request_kind kind;
	int is_of_part;
};

#define KERNEL_REQUEST_PART "part" /* begins a part: its number, from 0 */

extern const struct kernel_request_word kernel_request_words[];
extern const size_t kernel_request_word_count;

/* -EINVAL: a text has a line break; -EIO. */
int kernel_request_write(FILE *file, const struct kernel_request *request);

/* `text` is cut into pieces, which the request points into; `room` is for as many texts as it has lines, and stays in use. What has no line is 0.
 * -1: `why` names the line that is wrong, or of another version of Sonde. */
int kernel_request_read(struct kernel_request *ret, char *text, const char **room, size_t room_count, char *why, size_t why_size);

/* How many metrics the parts before this one have: the number of its first. */
size_t kernel_request_metrics_before(const struct kernel_request *request, size_t part);

#endif
