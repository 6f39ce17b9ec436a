/* Records of the kernel, taken apart. Nothing in them is believed before it is checked. */
#ifndef SONDE_RECORD_PERF_EVENT_H
#define SONDE_RECORD_PERF_EVENT_H

#include <linux/perf_event.h>
#include <stddef.h>
#include <stdint.h>

/* What every record tells, at a place that depends on its type only. */
struct perf_stamp {
	uint64_t time; /* MONOTONIC_RAW */
	uint64_t id;   /* of the event that wrote it */
	uint32_t pid;
	uint32_t tid;
	uint32_t cpu;
};

struct perf_branch {
	uint64_t from;
	uint64_t to;
	uint64_t flags;
};

/* Pointers go into the record. */
struct perf_sample {
	uint64_t ip;
	uint64_t period;
	uint64_t chain_count;
	const uint64_t *chain;
	uint64_t branch_count;
	const struct perf_branch *branches;
	const uint64_t *registers; /* as many as the mask has; NULL: none */
	const uint8_t *stack;
	size_t stack_size;
};

struct perf_mapping {
	uint32_t pid;
	uint64_t address;
	uint64_t size;
	uint64_t offset;
	uint64_t device;
	uint64_t inode;
	const uint8_t *build_id;
	size_t build_id_size;
	const char *path;
};

/* All return 0, or -EINVAL when the record is not what it says it is. */
int perf_event_stamp(const struct perf_event_header *header, struct perf_stamp *ret);
int perf_event_sample(const struct perf_event_header *header, const struct perf_event_attr *attr, struct perf_sample *ret);
int perf_event_mapping(const struct perf_event_header *header, struct perf_mapping *ret);
/* The name is ended by a zero. */
int perf_event_comm(const struct perf_event_header *header, uint32_t *pid, uint32_t *tid, const char **name);
/* FORK and EXIT. */
struct perf_task {
	uint32_t pid;
	uint32_t ppid;
	uint32_t tid;
	uint32_t ptid;
	uint64_t time;
};
int perf_event_task(const struct perf_event_header *header, struct perf_task *ret);
/* LOST and LOST_SAMPLES. */
int perf_event_lost(const struct perf_event_header *header, uint64_t *count);

#endif
