/* Kernels of a report whose counters were read: how each was launched, and what was counted. */
#ifndef SONDE_KERNEL_RESULTS_RESULTS_H
#define SONDE_KERNEL_RESULTS_RESULTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "report/reader.h"

enum value_kind {
	VALUE_NONE, /* asked for, but there is none */
	VALUE_INTEGER,
	VALUE_REAL,
	VALUE_TEXT
};

/* Texts are the report's, or constants. */
struct metric_value {
	const char *name;
	const char *unit; /* "" for none */
	enum value_kind kind;
	union {
		int64_t integer;
		double real;
		const char *text;
	};
};

/* A row of a section that another tool printed: its name is a label. */
struct section_value {
	const char *section;
	struct metric_value value;
};

/* One of the values that a metric is made of. */
struct metric_instance {
	const char *name; /* of the metric */
	int64_t number;
	const char *label; /* "" for none */
	int64_t offset;    /* of a sample over time: ns since the first; -1 for others */
	struct metric_value value;
};

/* What a rule made of the values. */
struct kernel_rule {
	const char *section; /* id */
	const char *name;
	const char *type; /* OPT, INF, WRN ... */
	const char *text;
	const char *gain_type; /* "global", "local" or "" */
	double gain;           /* percent; NaN for none */
	const char *metrics;   /* that it looked at, with commas between them; NULL: not known */
};

/* An NVTX range that was open when the kernel was launched. Push/pop ranges of a domain stand behind each other, outermost first. */
struct kernel_range {
	const char *domain; /* "" for the default one */
	const char *name;
	int64_t level; /* of push/pop ranges, from 0; -1: start/end */
};

/* Of the call by which the kernel was launched. */
struct kernel_frame {
	const char *function; /* "" where it is not known */
	const char *module;   /* its path */
};

/* A function of Python that it was made in. */
struct kernel_python {
	const char *function;
	const char *file;
	int64_t line; /* 0: not known */
	int64_t number;
};

struct kernel_process {
	int64_t uid;
	int64_t pid;
	const char *name;
};

struct kernel_device {
	int64_t process; /* uid; 0: of all */
	int64_t id;
	int64_t gpu;      /* uid */
	const char *name; /* "" where it is not known */
	const char *chip;
	unsigned major, minor; /* 0.0: not known */
	int64_t sm_count;      /* 0: not known */
	int64_t memory;        /* bytes; 0: not known */
};

struct kernel_result {
	int64_t id;
	int64_t number;
	int64_t function_id;                  /* 0: not known */
	const struct kernel_process *process; /* NULL: not known */
	const char *host;
	const char *name;     /* demangled */
	const char *function; /* without name spaces, templates and parameters */
	const char *mangled;
	int64_t context, stream, device; /* -1: not known */
	uint32_t grid[3], block[3];
	const struct kernel_device *facts; /* NULL: not known */
	unsigned major, minor;
	struct metric_value *values; /* by name */
	size_t value_count, value_capacity;
	struct section_value *rows; /* as they stood in the table that was imported */
	size_t row_count;
	struct metric_instance *instances; /* by name and number */
	size_t instance_count;
	struct kernel_rule *rules;
	size_t rule_count;
	struct kernel_range *ranges;
	size_t range_count;
	const char *operator;        /* of PyTorch, from a trace; NULL: not known */
	int64_t between, range;      /* numbers of ranges as --range-filter counts them; 0: in none */
	int64_t thread;              /* whose push/pop ranges they are */
	int64_t stack;               /* stack.id; 0: not known */
	struct kernel_frame *frames; /* of the call, innermost first */
	size_t frame_count;
	struct kernel_python *python; /* the same, innermost first */
	size_t python_count;
	const char *verdict; /* "" where there is none */
};

struct kernel_results {
	struct report *report;
	int is_imported;
	struct kernel_result *items; /* in the order of the launches */
	size_t count;
	struct kernel_process *processes;
	size_t process_count;
	struct kernel_device *devices;
	size_t device_count;
	char **names; /* made here */
	size_t name_count;
};

/* The report must stay open as long as the results are used. */
int kernel_results_load(struct kernel_results *ret, struct report *report, struct error *err);
void kernel_results_release(struct kernel_results *results);
/* Only the first so many are left. */
void kernel_results_keep(struct kernel_results *results, size_t count);

/* Values of passes before which the caches were left as they were (--cache-control both) have the metric's name with this behind it. */
#define WARM_SUFFIX ".warm"
bool is_warm(const char *name);
bool results_have_warm(const struct kernel_results *results);
/* The one that belongs to a metric; not a number where there is none. */
double result_warm(const struct kernel_result *k, const char *name);

/* NULL where the kernel has none of this name. */
const struct metric_value *result_find(const struct kernel_result *k, const char *name);
/* Not a number where there is none. */
double result_number(const struct kernel_result *k, const char *name);
double value_number(const struct metric_value *v);
/* Those of one metric, in order. */
const struct metric_instance *result_instances(const struct kernel_result *k, const char *name, size_t *ret_count);

/* The greatest gain that a rule expects of the whole kernel, in percent; not a number: none. */
double result_gain(const struct kernel_result *k);
/* Whether no kernel before that one ran on the same device in the same process. */
bool results_are_first_of_device(const struct kernel_results *results, size_t at);

/* A text that lives as long as the results; NULL: no memory. */
const char *results_keep(struct kernel_results *results, const char *text);
int result_add_rule(struct kernel_result *k, struct kernel_rule rule);
/* Adds values; names must outlive the results. -ENOMEM. After the last, result_sort(). */
int result_add(struct kernel_result *k, struct metric_value value);
void result_sort(struct kernel_result *k);

#endif
