/* Rows of torch's table, as key_averages() has them. */
#ifndef SONDE_CLI_TORCH_ROWS_H
#define SONDE_CLI_TORCH_ROWS_H

#include <stdbool.h>

#include "query/query.h"

/* Times in ns, memory in bytes. */
struct torch_row {
	char *name;
	char *shapes; /* "" where rows are not told apart by them */
	char *stack;  /* a function of Python a line, the innermost first */
	bool on_device;
	bool is_annotation;
	bool is_nested;
	bool is_async;
	int64_t first; /* its place among the rows, in the order in which they first appear */
	int64_t count;
	int64_t cpu, self_cpu;
	int64_t device, self_device;
	int64_t cpu_memory, self_cpu_memory;
	int64_t device_memory, self_device_memory;
	int64_t flops;
};

struct torch_rows {
	struct torch_row *rows;
	size_t count;
	bool has_memory;
	bool has_flops;         /* recorded with with_flops=True */
	int64_t device_work;    /* ns of GPU work */
	int64_t device_unowned; /* of that without an operator */
};

struct torch_asked {
	bool by_shapes;
	int64_t stack; /* by so many functions of Python; 0: not by them */
	const char
		*sort; /* a key of sort_by; "none": in the order in which they first appear; NULL: by GPU time, or CPU time without a GPU */
};

/* -EINVAL and a sentence where the key is none. The caller releases. */
int torch_rows_load(struct torch_rows *ret, struct query *q, const struct torch_asked *asked, struct error *err);
void torch_rows_release(struct torch_rows *rows);

#endif
