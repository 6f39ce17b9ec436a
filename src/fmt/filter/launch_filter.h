/* Which launches and which processes are meant, as `sonde kernel` takes it and agents apply it. All parsers return -1 with a sentence in
 * `why`, and then nothing is to be released. */
#ifndef SONDE_FMT_FILTER_LAUNCH_FILTER_H
#define SONDE_FMT_FILTER_LAUNCH_FILTER_H

#include <stdint.h>

#include "fmt/filter/name_pattern.h"

/* A number, or an expression for it or for the name that NVTX gave; nothing: any. */
struct id_pattern {
	int is_any;
	int is_number;
	uint64_t number;
	struct name_pattern pattern;
};

int id_pattern_parse(struct id_pattern *ret, const char *text, char *why, size_t why_size);
/* `name` may be NULL. */
int id_pattern_matches(const struct id_pattern *p, uint64_t id, const char *name);
void id_pattern_release(struct id_pattern *p);

/* CONTEXT:STREAM:[regex:]NAME:INVOCATION, each of which may be empty. */
struct kernel_id {
	struct id_pattern context, stream;
	int has_name;
	struct name_pattern name;
	struct id_pattern invocation; /* from 1, of those that match the rest */
};

int kernel_id_parse(struct kernel_id *ret, const char *text, char *why, size_t why_size);
void kernel_id_release(struct kernel_id *id);

/* [yes|no]:[instances between cuProfilerStart and Stop]:[instances of NVTX ranges] */
struct range_numbers {
	int restarts; /* NVTX ranges are counted anew from each cuProfilerStart on */
	struct id_pattern profiler;
	struct id_pattern nvtx;
};

int range_numbers_parse(struct range_numbers *ret, const char *text, char *why, size_t why_size);
void range_numbers_release(struct range_numbers *f);

/* NAME, regex:EXPRESSION, exclude:NAME, exclude-tree:NAME with commas between them. */
enum process_choice { PROCESS_TAKEN, PROCESS_PASSED_OVER, PROCESS_TREE_PASSED_OVER };
int process_filter_check(const char *text, char *why, size_t why_size);
/* The first that matches one of the names (the second may be NULL) decides; where names to be taken are given, others are passed over. */
enum process_choice process_filter_choose(const char *text, const char *name, const char *other_name);

#define DEVICES_MAX 64u
/* "0,2": bits. 0: wrong. */
uint64_t devices_parse(const char *text);

#endif
