/* How many blocks of a kernel fit on one multiprocessor (SM), and what stops more of them. All of it is
 * arithmetic over published limits: no GPU is asked. */
#ifndef SONDE_KERNEL_OCCUPANCY_OCCUPANCY_H
#define SONDE_KERNEL_OCCUPANCY_OCCUPANCY_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

#define OCCUPANCY_WARP_SIZE 32u
#define OCCUPANCY_MAX_THREADS 1024u
#define OCCUPANCY_MAX_REGISTERS 255u
#define OCCUPANCY_MAX_STEPS 10u
#define OCCUPANCY_NO_LIMIT UINT32_MAX

/* What an SM of one compute capability has. */
struct occupancy_chip {
	unsigned major, minor;
	const char *chips;
	uint32_t warps;
	uint32_t blocks;
	uint32_t registers;
	uint32_t shared; /* bytes, of which each block loses `reserved` */
	uint32_t reserved;
	uint32_t shared_unit;      /* shared memory is given out in multiples of this */
	uint32_t barriers;         /* 0: they are no limit */
	uint32_t max_cluster;      /* blocks; 0: no clusters */
	uint32_t portable_cluster; /* larger ones must be asked for */
	/* KB of shared memory that the driver can set apart from the cache, rising. */
	uint16_t steps[OCCUPANCY_MAX_STEPS];
	unsigned step_count;
};

/* What one block of a kernel needs. */
struct occupancy_kernel {
	uint32_t threads;
	uint32_t registers;     /* of a thread */
	uint32_t shared;        /* bytes, static and dynamic, without what the driver reserves */
	uint32_t shared_config; /* bytes the SM has as shared memory; 0: as much as it can */
	uint32_t barriers;
};

enum occupancy_limit { OCCUPANCY_BLOCKS, OCCUPANCY_WARPS, OCCUPANCY_REGISTERS, OCCUPANCY_SHARED, OCCUPANCY_BARRIERS, OCCUPANCY_LIMITS };

struct occupancy {
	uint32_t limits[OCCUPANCY_LIMITS]; /* blocks, or OCCUPANCY_NO_LIMIT */
	unsigned limiters;                 /* bits: the smallest of them */
	uint32_t blocks;
	uint32_t warps_per_block;
	uint32_t warps;
	double percent;
	uint32_t registers_per_block; /* as given out */
	uint32_t shared_per_block;    /* as given out, with what is reserved */
	uint32_t shared_config;
};

/* The tables, by rising compute capability. */
const struct occupancy_chip *occupancy_chips(size_t *ret_count);
/* "9.0", "90", "sm_90a" ...; NULL with the nearest ones in the error. */
const struct occupancy_chip *occupancy_find_chip(const char *text, struct error *err);
const char *occupancy_limit_name(enum occupancy_limit limit);

/* -EINVAL with a sentence for what no chip takes: no threads, more than 1024, more than 255 registers ... */
int occupancy_check(const struct occupancy_chip *chip, const struct occupancy_kernel *kernel, struct error *err);
void occupancy_compute(const struct occupancy_chip *chip, const struct occupancy_kernel *kernel, struct occupancy *ret);
/* A limit as ncu prints it: never above the SM's own limit of blocks where there is none, or by barriers. */
uint32_t occupancy_limit_shown(const struct occupancy *occupancy, enum occupancy_limit limit);
/* The smallest size that can be configured and holds at least `wanted` bytes and one block of the kernel. */
uint32_t occupancy_shared_step(const struct occupancy_chip *chip, const struct occupancy_kernel *kernel, uint32_t wanted);
/* What the driver sets apart as shared memory where the program does not say, if `blocks` of the kernel fit on an SM otherwise. By what ncu
 * reports of launches: room for their own shared memory, and, where multiprocessors are large, for what is reserved for four times as
 * many blocks. */
uint32_t occupancy_shared_config(const struct occupancy_chip *chip, const struct occupancy_kernel *kernel, uint32_t blocks);
/* Clusters of `size` blocks that a GPC with this many SMs holds at once. */
uint32_t occupancy_clusters(const struct occupancy *occupancy, uint32_t size, uint32_t sms);

enum occupancy_curve { OCCUPANCY_BY_THREADS, OCCUPANCY_BY_REGISTERS, OCCUPANCY_BY_SHARED, OCCUPANCY_CURVES };

/* A stretch of values of one resource, the others as they are, with the same result. */
struct occupancy_stretch {
	uint32_t from, to;
	uint32_t blocks, warps;
	double percent;
};

/* Fills up to `capacity` stretches in order; returns how many there are. */
size_t occupancy_curve(const struct occupancy_chip *chip, const struct occupancy_kernel *kernel, enum occupancy_curve curve,
		       struct occupancy_stretch *ret, size_t capacity);
const char *occupancy_curve_name(enum occupancy_curve curve);

#endif
