/* Formulas of ours: matrix products, convolutions and attention that torch's table has no FLOPs for. A multiplication and an addition
 * are two operations; what a mask or a causal triangle leaves out is counted, as torch.utils.flop_counter does. */
#include <string.h>

#include "base/macros.h"
#include "query/torch/flops.h"

#define NOT_TOLD 255

enum own_kind {
	OWN_LINEAR,
	OWN_MATMUL,
	OWN_GROUPED,            /* matrices by groups of rows, columns or depth */
	OWN_CONV,               /* input, weight; settings say where */
	OWN_CONV_TRANSPOSED,    /* input, weight */
	OWN_CONV_EITHER,        /* OWN_CONV, or transposed where an argument says so */
	OWN_CONV_BACKWARD,      /* gradient, input, weight */
	OWN_ATTENTION,          /* query, key, value: batch, heads, length, size */
	OWN_ATTENTION_BACKWARD, /* the same */
};

/* Numbers of arguments. */
struct torch_own_formula {
	const char *name;
	enum own_kind kind;
	uint8_t first;
	uint8_t stride, padding, dilation; /* of convolutions */
	uint8_t transposed;                /* of those that may be */
	uint8_t heads_inside;              /* of attention: batch, length, heads, size */
	uint8_t lengths; /* of attention: where this argument has a shape, sequences of several lengths lie in one batch */
};

/* clang-format off */
static const struct torch_own_formula own_formulas[] = {
	{ "aten::linear", OWN_LINEAR, 0, .lengths = NOT_TOLD },
	{ "aten::matmul", OWN_MATMUL, 0, .lengths = NOT_TOLD },
	{ "aten::mv", OWN_MATMUL, 0, .lengths = NOT_TOLD },
	{ "aten::addmv", OWN_MATMUL, 1, .lengths = NOT_TOLD },
	{ "aten::dot", OWN_MATMUL, 0, .lengths = NOT_TOLD },
	{ "aten::addbmm", OWN_MATMUL, 1, .lengths = NOT_TOLD },
	{ "aten::_int_mm", OWN_MATMUL, 0, .lengths = NOT_TOLD },
	{ "aten::_scaled_mm", OWN_MATMUL, 0, .lengths = NOT_TOLD },
	{ "aten::_scaled_mm_v2", OWN_MATMUL, 0, .lengths = NOT_TOLD },
	{ "aten::_addmm_activation", OWN_MATMUL, 1, .lengths = NOT_TOLD },
	{ "aten::_grouped_mm", OWN_GROUPED, 0, .lengths = NOT_TOLD },
	{ "aten::_scaled_grouped_mm", OWN_GROUPED, 0, .lengths = NOT_TOLD },
	{ "aten::_scaled_grouped_mm_v2", OWN_GROUPED, 0, .lengths = NOT_TOLD },
	{ "aten::conv1d", OWN_CONV, 0, 3, 4, 5, NOT_TOLD, .lengths = NOT_TOLD },
	{ "aten::conv2d", OWN_CONV, 0, 3, 4, 5, NOT_TOLD, .lengths = NOT_TOLD },
	{ "aten::conv3d", OWN_CONV, 0, 3, 4, 5, NOT_TOLD, .lengths = NOT_TOLD },
	{ "aten::convolution", OWN_CONV_EITHER, 0, 3, 4, 5, 6, .lengths = NOT_TOLD },
	{ "aten::_convolution", OWN_CONV_EITHER, 0, 3, 4, 5, 6, .lengths = NOT_TOLD },
	{ "aten::cudnn_convolution", OWN_CONV, 0, 3, 2, 4, NOT_TOLD, .lengths = NOT_TOLD },
	{ "aten::conv_transpose1d", OWN_CONV_TRANSPOSED, 0, .lengths = NOT_TOLD },
	{ "aten::conv_transpose2d", OWN_CONV_TRANSPOSED, 0, .lengths = NOT_TOLD },
	{ "aten::conv_transpose3d", OWN_CONV_TRANSPOSED, 0, .lengths = NOT_TOLD },
	{ "aten::cudnn_convolution_transpose", OWN_CONV_TRANSPOSED, 0, .lengths = NOT_TOLD },
	{ "aten::convolution_backward", OWN_CONV_BACKWARD, 0, .transposed = 7, .lengths = NOT_TOLD },
	{ "aten::scaled_dot_product_attention", OWN_ATTENTION, 0, .lengths = NOT_TOLD },
	{ "aten::_scaled_dot_product_attention_math", OWN_ATTENTION, 0, .lengths = NOT_TOLD },
	{ "aten::_scaled_dot_product_flash_attention", OWN_ATTENTION, 0, .lengths = NOT_TOLD },
	{ "aten::_scaled_dot_product_flash_attention_for_cpu", OWN_ATTENTION, 0, .lengths = NOT_TOLD },
	{ "aten::_scaled_dot_product_efficient_attention", OWN_ATTENTION, 0, .lengths = NOT_TOLD },
	{ "aten::_scaled_dot_product_cudnn_attention", OWN_ATTENTION, 0, .lengths = NOT_TOLD },
	{ "aten::_cudnn_attention_forward", OWN_ATTENTION, 0, .lengths = 4 },
	{ "aten::_flash_attention_forward", OWN_ATTENTION, 0, .heads_inside = 1, .lengths = 3 },
	{ "aten::_efficient_attention_forward", OWN_ATTENTION, 0, .heads_inside = 1, .lengths = 4 },
	{ "flash_attn::_flash_attn_forward", OWN_ATTENTION, 0, .heads_inside = 1, .lengths = NOT_TOLD },
	{ "aten::_scaled_dot_product_flash_attention_backward", OWN_ATTENTION_BACKWARD, 1, .lengths = 6 },
	{ "aten::_scaled_dot_product_flash_attention_for_cpu_backward", OWN_ATTENTION_BACKWARD, 1, .lengths = NOT_TOLD },
	{ "aten::_scaled_dot_product_efficient_attention_backward", OWN_ATTENTION_BACKWARD, 1, .lengths = NOT_TOLD },
	{ "aten::_scaled_dot_product_cudnn_attention_backward", OWN_ATTENTION_BACKWARD, 1, .lengths = 9 },
	{ "aten::_flash_attention_backward", OWN_ATTENTION_BACKWARD, 1, .heads_inside = 1, .lengths = 6 },
	{ "aten::_efficient_attention_backward", OWN_ATTENTION_BACKWARD, 1, .heads_inside = 1, .lengths = 6 },
	{ "flash_attn::_flash_attn_backward", OWN_ATTENTION_BACKWARD, 1, .heads_inside = 1, .lengths = NOT_TOLD },
};
/* clang-format on */

const struct torch_own_formula *torch_own_formula_of(const char *name)
{
	for (unsigned i = 0; name && i < COUNT_OF(own_formulas); i++)
		if (strcmp(name, own_formulas[i].name) == 0)
			return &own_formulas[i];
	return NULL;
}

static uint64_t count_elements(const struct torch_dims *d, unsigned from)
{
	return torch_multiply(d->sizes + from, d->count - from);
}

/* Two for each element of the input and each output feature; a weight of one dimension makes one. */
static uint64_t linear_flops(const struct torch_dims *input, const struct torch_dims *weight)
{
	uint64_t factors[] = { 2, count_elements(input, 0), weight->count > 1 ? weight->sizes[0] : 1 };

	return torch_multiply(factors, 3);
}

/* The batch of both sides: dimensions of size 1 are repeated. */
static uint64_t broadcast_batch(const struct torch_dims *left, const struct torch_dims *right)
{
	uint64_t batch[TORCH_MOST_DIMS], a, b;
	unsigned count = 0;

	for (unsigned i = 3; i <= left->count || i <= right->count; i++) {
		a = i <= left->count ? left->sizes[left->count - i] : 1;
		b = i <= right->count ? right->sizes[right->count - i] : 1;
		batch[count++] = a > b ? a : b;
	}
	return torch_multiply(batch, count);
}

static uint64_t matmul_flops(const struct torch_dims *left, const struct torch_dims *right)
{
	uint64_t factors[5] = { 2, broadcast_batch(left, right), left->count > 1 ? left->sizes[left->count - 2] : 1,
				left->sizes[left->count - 1], right->count > 1 ? right->sizes[right->count - 1] : 1 };

	return torch_multiply(factors, 5);
}

/* Groups are parts of one side of a matrix: together they are all of it. */
static uint64_t grouped_flops(const struct torch_dims *left, const struct torch_dims *right)
{
	uint64_t factors[4] = { 2, count_elements(left, 0), right->sizes[right->count - 1], 1 };

	if (left->count < 2 || left->count > 3 || right->count < 2 || right->count > 3)
		return 0;
	/* Groups on the left, columns of the right split among them: each column meets one group. */
	if (left->count == 3 && right->count == 2)
		factors[1] = torch_multiply(left->sizes + 1, 2);
	return torch_multiply(factors, 4);
}

/* 'same' and 'valid' stand for numbers. */
static int read_padding(const char *inputs, unsigned number, struct torch_dims *ret, int *ret_same)
{
	const char *at = inputs;

	*ret_same = 0;
	if (torch_input_of(inputs, number, ret))
		return 1;
	for (number = 2 * number + 1; at && number; number--)
		at = (at = strchr(at, '"')) ? at + 1 : NULL;
	*ret_same = at && strncmp(at, "same\"", 5) == 0;
	*ret = (struct torch_dims){ .count = 1 };
	return *ret_same || (at && strncmp(at, "valid\"", 6) == 0);
}

static uint64_t pick(const struct torch_dims *settings, unsigned side)
{
	return settings->sizes[settings->count > side ? side : 0];
}

/* Two for each element of the weight at each place; the weight has only its group's channels. */
static uint64_t conv_flops(const struct torch_own_formula *f, const struct torch_dims *input, const struct torch_dims *weight,
			   const char *inputs)
{
	struct torch_dims stride, padding, dilation;
	uint64_t factors[TORCH_MOST_DIMS + 3] = { 2, count_elements(weight, 0) };
	unsigned sides = weight->count - 2, count = 2;
	int same;

	if (weight->count < 3 || (input->count != weight->count && input->count + 1 != weight->count) || !inputs ||
	    !torch_input_of(inputs, f->stride, &stride) || !read_padding(inputs, f->padding, &padding, &same) ||
	    !torch_input_of(inputs, f->dilation, &dilation))
		return 0;
	factors[count++] = input->count == weight->count ? input->sizes[0] : 1;
	for (unsigned i = 0; i < sides; i++) {
		uint64_t size = input->sizes[input->count - sides + i], kernel = weight->sizes[2 + i];

		factors[count++] = same ? size : torch_places(size, kernel, pick(&stride, i), pick(&padding, i), pick(&dilation, i));
	}
	return torch_multiply(factors, count);
}

/* Each element of the input meets the whole weight of its channel. */
static uint64_t conv_transposed_flops(const struct torch_dims *input, const struct torch_dims *weight)
{
	uint64_t factors[3] = { 2, count_elements(input, 0), weight->count > 1 ? count_elements(weight, 1) : 0 };

	return weight->count > 2 ? torch_multiply(factors, 3) : 0;
}

/* Text of an argument: "True". */
static int input_is(const char *inputs, unsigned number, const char *text)
{
	const char *at = inputs;

	for (number = 2 * number + 1; at && number; number--)
		at = (at = strchr(at, '"')) ? at + 1 : NULL;
	return at && strncmp(at, text, strlen(text)) == 0;
}

static int is_transposed(const struct torch_own_formula *f, const char *inputs)
{
	return inputs && (input_is(inputs, f->transposed, "True\"") || input_is(inputs, f->transposed, "1\""));
}

/* As much as forward for each gradient that is asked for: of the input, of the weight. */
static uint64_t conv_backward_flops(const struct torch_own_formula *f, const char *shapes, const char *inputs)
{
	struct torch_dims gradient, input, weight;
	const char *mask;
	uint64_t once, gradients = 0;

	if (!inputs || !torch_shape_of(shapes, 0, &gradient) || !torch_shape_of(shapes, 1, &input) || !torch_shape_of(shapes, 2, &weight))
		return 0;
	mask = strrchr(inputs, '['); /* the last argument: [True, True, False] */
	for (unsigned i = 0; mask && i < 2; i++) {
		gradients += strncmp(mask + 1, "True", 4) == 0;
		mask = strchr(mask + 1, ' ');
	}
	once = conv_transposed_flops(is_transposed(f, inputs) ? &input : &gradient, &weight);
	return torch_multiply((uint64_t[]){ once, gradients }, 2);
}

/* Query by key, and weights by value; backward computes the first once more and has two products for each. */
static uint64_t attention_flops(const struct torch_own_formula *f, const char *shapes)
{
	unsigned length = f->heads_inside ? 3 : 2, by_key, by_value;
	struct torch_dims query, key, value, lengths;
	uint64_t factors[TORCH_MOST_DIMS + 3];

	if (!torch_shape_of(shapes, f->first, &query) || !torch_shape_of(shapes, f->first + 1, &key) ||
	    !torch_shape_of(shapes, f->first + 2, &value))
		return 0;
	if (query.count < (f->heads_inside ? 4U : 2U) || key.count != query.count || value.count != query.count ||
	    (f->lengths != NOT_TOLD && torch_shape_of(shapes, f->lengths, &lengths)))
		return 0;
	by_key = f->kind == OWN_ATTENTION ? 1 : 3;
	by_value = f->kind == OWN_ATTENTION ? 1 : 2;
	/* Batch, heads and length of the query, by the length of the key, by the sizes of key and value. */
	factors[0] = 2;
	factors[1] = torch_multiply(query.sizes, query.count - 1);
	factors[2] = key.sizes[key.count - length];
	factors[3] = by_key * query.sizes[query.count - 1] + by_value * value.sizes[value.count - 1];
	return torch_multiply(factors, 4);
}

static uint64_t of_two(const struct torch_own_formula *f, const char *shapes, const char *inputs)
{
	struct torch_dims left, right;

	if (!torch_shape_of(shapes, f->first, &left) || !torch_shape_of(shapes, f->first + 1, &right))
		return 0;
	switch (f->kind) {
	case OWN_LINEAR: return linear_flops(&left, &right);
	case OWN_MATMUL: return matmul_flops(&left, &right);
	case OWN_GROUPED: return grouped_flops(&left, &right);
	case OWN_CONV_TRANSPOSED: return conv_transposed_flops(&left, &right);
	case OWN_CONV_EITHER:
		if (is_transposed(f, inputs))
			return conv_transposed_flops(&left, &right);
		break;
	default: break;
	}
	return conv_flops(f, &left, &right, inputs);
}

int64_t torch_own_flops(const struct torch_own_formula *formula, const char *shapes, const char *inputs)
{
	uint64_t flops;

	if (!formula || !shapes)
		return 0;
	if (formula->kind == OWN_CONV_BACKWARD)
		flops = conv_backward_flops(formula, shapes, inputs);
	else if (formula->kind == OWN_ATTENTION || formula->kind == OWN_ATTENTION_BACKWARD)
		flops = attention_flops(formula, shapes);
	else
		flops = of_two(formula, shapes, inputs);
	return flops <= INT64_MAX ? (int64_t)flops : 0;
}
