#include "view/events/chosen_rows.h"

#include <errno.h>
#include <stdlib.h>

/* What was made shows other rows once more: it counts where it is asked for. */
enum { CHOSEN_AS_ALL = 1, CHOSEN_BY_NAME };

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
		chosen[row] = CHOSEN_BY_NAME;
	}
	for (size_t i = 0; i < r->row_count; i++)
		if (r->rows[i].parent != ROW_NO_PARENT && chosen[r->rows[i].parent])
			chosen[i] = chosen[r->rows[i].parent];
		else if (all)
			chosen[i] = CHOSEN_AS_ALL;
	for (size_t i = 0; i < r->row_count; i++)
		if (r->rows[i].draw != DRAW_SLICES && r->rows[i].draw != DRAW_POINTS)
			chosen[i] = 0;
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

static bool is_track_selected(const struct lane *lane, const uint8_t *chosen)
{
	if (lane->row == LANE_NO_ROW)
		return false;
	return chosen[lane->row] == CHOSEN_BY_NAME || (chosen[lane->row] && !lane->made);
}

uint32_t *chosen_lanes(const struct recording *r, const uint8_t *chosen, size_t *ret_count)
{
	uint32_t *lanes = calloc(r->lane_count + 1, sizeof(*lanes));

	*ret_count = 0;
	for (size_t i = 0; lanes && i < r->lane_count; i++)
		if (is_track_selected(&r->lanes[i], chosen))
			lanes[(*ret_count)++] = (uint32_t)i;
	return lanes;
}
