/* Floating-point operations by the shapes of an operator's inputs. */
#ifndef SONDE_QUERY_TORCH_FLOPS_H
#define SONDE_QUERY_TORCH_FLOPS_H

#include "query/torch/ops.h"

#define TORCH_MOST_DIMS 8

struct torch_dims {
	uint64_t sizes[TORCH_MOST_DIMS];
	unsigned count;
};

/* Of "[[2, 3], [4]]" the argument of that number; false where it has no shape. */
int torch_shape_of(const char *shapes, unsigned number, struct torch_dims *ret);
/* Of ["", "[1, 1]"] the argument of that number; false where it is not numbers. */
int torch_input_of(const char *inputs, unsigned number, struct torch_dims *ret);
/* 0 where it does not fit. */
uint64_t torch_multiply(const uint64_t *factors, unsigned count);
/* How many places a convolution's kernel takes along one side. */
uint64_t torch_places(uint64_t size, uint64_t kernel, uint64_t stride, uint64_t padding, uint64_t dilation);

/* flops_own.c: formulas of ours for operators that torch has none for (docs/torch.md). */
struct torch_own_formula;
/* NULL: none. */
const struct torch_own_formula *torch_own_formula_of(const char *name);
/* As torch_flops(). */
int64_t torch_own_flops(const struct torch_own_formula *formula, const char *shapes, const char *inputs);

#endif
