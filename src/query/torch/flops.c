/* Floating-point operations by the shapes of an operator's inputs: torch's formulas, for the few operators that it has one for. */
#include <stdlib.h>
#include <string.h>

#include "base/macros.h"
#include "query/torch/flops.h"

enum torch_formula torch_formula_of(const char *name)
{
	static const struct {
		const char *name;
		enum torch_formula formula;
	} formulas[] = { { "aten::conv2d", TORCH_CONV2D }, { "aten::mm", TORCH_MM },         { "aten::bmm", TORCH_MM },
			 { "aten::addmm", TORCH_ADDMM },   { "aten::baddbmm", TORCH_ADDMM }, { "aten::mul", TORCH_ELEMENTS },
			 { "aten::add", TORCH_ELEMENTS } };

	for (unsigned i = 0; name && i < COUNT_OF(formulas); i++)
		if (strcmp(name, formulas[i].name) == 0)
			return formulas[i].formula;
	return TORCH_NO_FORMULA;
}

/* Numbers from "[2, 3]" or "2"; false where there are none, or other things. */
static int read_dims(const char *text, struct torch_dims *ret)
{
	char *end;
	int is_list = *text == '[';

	ret->count = 0;
	for (text += is_list; *text >= '0' && *text <= '9' && ret->count < TORCH_MOST_DIMS; text = end) {
		ret->sizes[ret->count++] = strtoull(text, &end, 10);
		end += is_list && *end == ',';
		end += is_list && *end == ' ';
	}
	return ret->count > 0 && (!is_list || *text == ']');
}

/* Of "[[2, 3], [4]]" the argument of that number. */
int torch_shape_of(const char *shapes, unsigned number, struct torch_dims *ret)
{
	const char *at = *shapes == '[' ? strchr(shapes + 1, '[') : NULL;

	for (; at && number; number--)
		at = strchr(at + 1, '[');
	return at ? read_dims(at, ret) : 0;
}

/* Of ["", "[1, 1]"] the argument of that number. */
int torch_input_of(const char *inputs, unsigned number, struct torch_dims *ret)
{
	const char *at = strchr(inputs, '"');

	for (; at && number; number--) {
		at = strchr(at + 1, '"');
		at = at ? strchr(at + 1, '"') : NULL;
	}
	return at ? read_dims(at + 1, ret) : 0;
}

uint64_t torch_multiply(const uint64_t *factors, unsigned count)
{
	uint64_t result = 1;

	for (unsigned i = 0; i < count; i++)
		if (__builtin_mul_overflow(result, factors[i], &result))
			return 0;
	return result;
}

/* Two for each product of numbers: those of the left for every column of the right. */
static uint64_t matrix_flops(const struct torch_dims *left, const struct torch_dims *right)
{
	uint64_t factors[] = { 2, torch_multiply(left->sizes, left->count), right->sizes[right->count - 1] };

	return left->count < 2 || right->count < 2 ? 0 : torch_multiply(factors, 3);
}

enum { CONV_STRIDE = 3, CONV_PADDING, CONV_DILATION, CONV_GROUPS };

/* How many places the kernel takes along one side. */
uint64_t torch_places(uint64_t size, uint64_t kernel, uint64_t stride, uint64_t padding, uint64_t dilation)
{
	uint64_t limit = UINT32_MAX;

	if (!stride || !kernel || size > limit || kernel > limit || padding > limit || dilation > limit ||
	    size + 2 * padding < dilation * (kernel - 1) + 1)
		return 0;
	return (size + 2 * padding - dilation * (kernel - 1) - 1) / stride + 1;
}

static uint64_t conv_flops(const struct torch_dims *input, const struct torch_dims *weight, const char *inputs)
{
	struct torch_dims settings[4];
	uint64_t factors[8];

	for (unsigned i = 0; i < 4; i++)
		if (!torch_input_of(inputs, CONV_STRIDE + i, &settings[i]))
			return 0;
	if (input->count != 4 || weight->count != 4 || !settings[3].sizes[0])
		return 0;
	factors[0] = 2;
	factors[1] = input->sizes[0];
	for (unsigned side = 0; side < 2; side++) {
		uint64_t at[3];

		for (unsigned i = 0; i < 3; i++)
			at[i] = settings[i].sizes[settings[i].count > side ? side : 0];
		factors[2 + side] = torch_places(input->sizes[2 + side], weight->sizes[2 + side], at[0], at[1], at[2]);
		factors[4 + side] = weight->sizes[2 + side];
	}
	factors[6] = input->sizes[1];
	factors[7] = weight->sizes[0];
	return torch_multiply(factors, 8) / settings[3].sizes[0];
}

int64_t torch_flops(enum torch_formula formula, const char *shapes, const char *inputs)
{
	unsigned first = formula == TORCH_ADDMM;
	struct torch_dims left, right;
	uint64_t flops = 0;

	if (formula == TORCH_NO_FORMULA || !shapes || !torch_shape_of(shapes, first, &left))
		return 0;
	if (formula == TORCH_ELEMENTS)
		flops = torch_multiply(left.sizes, left.count);
	else if (!torch_shape_of(shapes, first + 1, &right))
		flops = 0;
	else if (formula == TORCH_CONV2D)
		flops = inputs ? conv_flops(&left, &right, inputs) : 0;
	else
		flops = matrix_flops(&left, &right);
	return flops <= INT64_MAX ? (int64_t)flops : 0;
}
