/* What torch's table is grouped and sorted by. */
#ifndef SONDE_QUERY_TORCH_ASKED_H
#define SONDE_QUERY_TORCH_ASKED_H

#include "base/error.h"
#include "query/torch/ops.h"

struct torch_by {
	int shapes;
	int kernel; /* rows are GPU work by name and by the operator that started it */
	int module;
	int folds;      /* numbers in names */
	unsigned stack; /* by so many of Python's functions, the innermost first; 0: not by them */
};

/* A comma list of name, shapes, kernel, module and stack=N; # behind it folds. NULL is name. -EINVAL and a sentence. */
int torch_by_parse(struct torch_by *ret, const char *text, struct error *err);

enum torch_sort {
	TORCH_UNSORTED,
	TORCH_BY_CPU_AVERAGE,
	TORCH_BY_DEVICE_AVERAGE,
	TORCH_BY_COUNT,
	TORCH_BY_FLOPS,
	TORCH_BY_FIGURE /* from here on: of struct torch_figures, in its order */
};

/* A key of torch's sort_by; "cuda", "xpu" and "privateuse1" in it mean "device". NULL and "": unsorted. -EINVAL and a sentence. */
int torch_sort_parse(enum torch_sort *ret, const char *text, struct error *err);

#endif
