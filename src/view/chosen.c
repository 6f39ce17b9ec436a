#include "view/chosen.h"

#include <errno.h>
#include <stdlib.h>


int rows_chosen(struct recording *r, const char *list, uint8_t **ret, struct error *err)
{
	uint8_t *chosen = calloc(r->row_count + 1, 1);
	bool all = !list || !*list;
	int64_t row;

	if (!chosen)
		return -ENOMEM;
	while (list && *list) {
		if (!params_number(&list, 0, (int64_t)r->row_count - 1, &row) || (*list && *list++ != ',')) {
			free(chosen);
			return error_set(err, EINVAL, "rows is not a list of numbers of rows");
		}
		chosen[row] = 1;
	}
	for (size_t i = 0; i < r->row_count; i++)
		chosen[i] |= all || (r->rows[i].parent != ROW_NO_PARENT && chosen[r->rows[i].parent]);
	for (size_t i = 0; i < r->row_count; i++)
		chosen[i] &= r->rows[i].draw == DRAW_SLICES || r->rows[i].draw == DRAW_POINTS;
	*ret = chosen;
	return 0;
}

int param_rows(struct params *p, struct recording *r, uint8_t **ret, struct error *err)
{
	const char *rows = params_text(p, "rows"), *row = params_text(p, "row");

	if (rows && row)
		return error_set(err, EINVAL, "Either row or rows");
	return rows_chosen(r, rows ? rows : row, ret, err);
}

uint32_t *chosen_lanes(const struct recording *r, const uint8_t *chosen, size_t *ret_count)
{
	uint32_t *lanes = calloc(r->lane_count + 1, sizeof(*lanes));

	*ret_count = 0;
	for (size_t i = 0; lanes && i < r->lane_count; i++)
		if (chosen[r->lane_rows[i].row])
			lanes[(*ret_count)++] = (uint32_t)i;
	return lanes;
}
