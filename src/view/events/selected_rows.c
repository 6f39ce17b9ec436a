#include "view/events/selected_rows.h"

#include <errno.h>
#include <stdlib.h>

/* What was made shows other rows once more: it counts where it is asked for. */
enum { CHOSEN_AS_ALL = 1, CHOSEN_BY_NAME };

int rows_selected(struct view_report *r, const char *list, uint8_t **ret, struct error *err)
{
	uint8_t *selected = calloc(r->row_count + 1, 1);
	bool all = !list || !*list;
	int64_t row;

	if (!selected)
		return -ENOMEM;
	while (list && *list) {
		if (!params_number(&list, 0, (int64_t)r->row_count - 1, &row) || (*list && *list++ != ',')) {
			free(selected);
			return error_set(err, EINVAL, "rows is not a list of numbers of rows");
		}
		selected[row] = CHOSEN_BY_NAME;
	}
	for (size_t i = 0; i < r->row_count; i++)
		if (r->rows[i].parent != ROW_NO_PARENT && selected[r->rows[i].parent])
			selected[i] = selected[r->rows[i].parent];
		else if (all)
			selected[i] = CHOSEN_AS_ALL;
	for (size_t i = 0; i < r->row_count; i++)
		if (r->rows[i].draw != DRAW_SLICES && r->rows[i].draw != DRAW_POINTS)
			selected[i] = 0;
	*ret = selected;
	return 0;
}

int param_rows(struct params *p, struct view_report *r, uint8_t **ret, struct error *err)
{
	const char *rows = params_text(p, "rows"), *row = params_text(p, "row");

	if (rows && row)
		return error_set(err, EINVAL, "Either row or rows");
	return rows_selected(r, rows ? rows : row, ret, err);
}

static bool is_track_selected(const struct view_track *track, const uint8_t *selected)
{
	if (track->row == TRACK_NO_ROW)
		return false;
	return selected[track->row] == CHOSEN_BY_NAME || (selected[track->row] && !track->derived);
}

uint32_t *chosen_tracks(const struct view_report *r, const uint8_t *selected, size_t *ret_count)
{
	uint32_t *tracks = calloc(r->track_count + 1, sizeof(*tracks));

	*ret_count = 0;
	for (size_t i = 0; tracks && i < r->track_count; i++)
		if (is_track_selected(&r->tracks[i], selected))
			tracks[(*ret_count)++] = (uint32_t)i;
	return tracks;
}
