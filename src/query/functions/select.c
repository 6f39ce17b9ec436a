#include "query/functions/select.h"

#include <math.h>
#include <stdlib.h>

#define SMALL 600 /* below this, sampling costs more than it saves */

#define SELECT_TYPE int64_t
#define SELECT_NAME(x) wide_##x
#include "query/functions/select_width.h"
#undef SELECT_TYPE
#undef SELECT_NAME

#define SELECT_TYPE uint32_t
#define SELECT_NAME(x) narrow_##x
#include "query/functions/select_width.h"

int64_t select_nth(int64_t *values, size_t count, size_t k)
{
	wide_select_range(values, 0, (ptrdiff_t)count - 1, (ptrdiff_t)k);
	return values[k];
}

void select_quantiles(int64_t *values, size_t count, const double *fractions, size_t fraction_count, struct quantile *ret)
{
	wide_select_quantiles(values, count, fractions, fraction_count, ret);
}

void select_quantiles_narrow(uint32_t *values, size_t count, const double *fractions, size_t fraction_count, struct quantile *ret)
{
	narrow_select_quantiles(values, count, fractions, fraction_count, ret);
}
