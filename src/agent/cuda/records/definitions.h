/* Writing definitions: what is told once and referred to by its number. */
#ifndef SONDE_AGENT_CUDA_RECORDS_DEFINITIONS_H
#define SONDE_AGENT_CUDA_RECORDS_DEFINITIONS_H

#include "agent/cuda/cuda.h"

enum cuda_reporter {
	CUDA_REPORTER_OURS,   /* a thread that hands out CUPTI's buffers: may wait for the recorder */
	CUDA_REPORTER_PROGRAM /* in a callback, on a thread of the program */
};

struct cuda_definition {
	enum define_kind kind;
	enum cuda_reporter reporter;
	unsigned level;
	uint64_t time; /* 0 = not known */
	uint64_t id;
	uint64_t extra;
	const void *body;
	uint32_t body_size;
	const char *text; /* NULL = none; cut where it does not fit into a record */
};

/* 0, or -1 when there was no room. */
int cuda_report(const struct cuda_definition *definition) __attribute__((visibility("hidden")));
/* Puts what there is room for behind a record of this size; its length. */
uint32_t cuda_text_room(uint32_t record_size, const char *text) __attribute__((visibility("hidden")));

#endif
