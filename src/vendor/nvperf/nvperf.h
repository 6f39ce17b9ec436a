/* NVPerf (libnvperf_host.so), the library below CUPTI: blocks of parameters, laid out as its headers have them and begun as CUPTI's are
 * (PM_PARAMETERS). */
#ifndef SONDE_VENDOR_NVPERF_NVPERF_H
#define SONDE_VENDOR_NVPERF_NVPERF_H

#include <stddef.h>
#include <stdint.h>

struct nvperf_initialize {
	size_t size;
	void *priv;
};

struct nvperf_scratch_size {
	size_t size;
	void *priv;
	const char *chip;
	const uint8_t *availability;
	size_t scratch_size; /* out */
};

struct nvperf_evaluator_initialize {
	size_t size;
	void *priv;
	uint8_t *scratch;
	size_t scratch_size;
	const char *chip;
	const uint8_t *availability;
	const uint8_t *counters;
	size_t counters_size;
	void *evaluator; /* out */
};

struct nvperf_evaluator_destroy {
	size_t size;
	void *priv;
	void *evaluator;
};

/* All names of one type in one text. */
struct nvperf_metric_names {
	size_t size;
	void *priv;
	void *evaluator;
	uint8_t type;
	const char *names;     /* out: each ends with a NUL */
	const size_t *offsets; /* out */
	size_t count;          /* out */
};

struct nvperf_type_and_index {
	size_t size;
	void *priv;
	void *evaluator;
	const char *metric;
	uint8_t type; /* out */
	size_t index; /* out: among the names of its type */
};

struct nvperf_throughput {
	size_t size;
	void *priv;
	void *evaluator;
	size_t index;
	const char *description; /* out, as all that follows */
	uint32_t unit;
	size_t counter_count;
	const size_t *counters; /* indexes among counters */
	size_t part_count;
	const size_t *parts; /* indexes among throughputs */
};

/* A metric as the evaluator knows it: NVPW_MetricEvalRequest. */
struct nvperf_metric {
	size_t index;
	uint8_t type;
	uint8_t rollup;
	uint16_t submetric;
};

struct nvperf_convert {
	size_t size;
	void *priv;
	void *evaluator;
	const char *name;
	struct nvperf_metric *metric; /* is filled */
	size_t metric_size;
};

/* Counters that metrics are made of: their names, or how many where there is no room. */
struct nvperf_dependencies {
	size_t size;
	void *priv;
	void *evaluator;
	const struct nvperf_metric *metrics;
	size_t metric_count;
	size_t metric_size;
	size_t metric_stride;
	const char **counters;
	size_t counter_count;
	const char **optional;
	size_t optional_count;
};

struct nvperf_config_create {
	size_t size;
	void *priv;
	const char *chip;
	const uint8_t *availability;
	uint32_t kind; /* enum nvperf_kind */
	void *config;  /* out */
};

/* Destroying, and making the image. */
struct nvperf_config_command {
	size_t size;
	void *priv;
	void *config;
};

struct nvperf_domains {
	size_t size;
	void *priv;
	void *config;
	size_t count;
	int *domains;
};

/* Between its begin and its end counters are packed into the same passes. */
struct nvperf_pass_group {
	size_t size;
	void *priv;
	void *config;
	size_t count;
	const int *domains;
};

struct nvperf_counter {
	void *priv;
	const char *name;
	uint32_t domain; /* 0: any */
	uint8_t keeps_instances;
};

struct nvperf_add_counters {
	size_t size;
	void *priv;
	void *config;
	size_t counter_size;
	size_t count;
	const struct nvperf_counter *counters;
};

struct nvperf_config_image {
	size_t size;
	void *priv;
	void *config;
	size_t room;
	uint8_t *image;
	size_t image_size; /* out */
};

struct nvperf_passes {
	size_t size;
	void *priv;
	void *config;
	size_t passes; /* out */
};

#endif
