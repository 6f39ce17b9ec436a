/* /api/tiles */
#include <errno.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "view/request/routes.h"
#include "view/internal.h"
#include "view/events/lines.h"
#include "view/tiles/tile.h"

#define MAX_TILES 4096

static int write_heat(struct view_report *r, const struct row *row, struct tile *t, struct buf *out)
{
	CLEANUP_FREE const struct view_track **tracks = calloc(row->track_count + 1u, sizeof(struct view_track *));

	if (!tracks)
		return -ENOMEM;
	for (uint32_t i = 0; i < row->track_count; i++)
		tracks[i] = &r->tracks[row->tracks[i]];
	t->among = row->kind == ROW_CPUS ? row->track_count : 1;
	TRY(tile_add_heat(t, r, tracks, row->track_count));
	return tile_write(t, r, out);
}

static int write_row_tiles(struct view_report *r, uint32_t id, struct tile *t, struct buf *out)
{
	const struct row *row = &r->rows[id];

	TRY(tile_write_head(out, id, row->draw == DRAW_GROUP ? 1 : row_line_count(row), t->index));
	if (row->draw == DRAW_GROUP)
		return write_heat(r, row, t, out);
	for (uint32_t i = 0; i < row_line_count(row); i++) {
		tile_clear(t);
		if (row->draw == DRAW_PLOT) {
			TRY(plot_write(t, r, &r->tracks[row->tracks[i]], row->held, out));
			continue;
		}
		TRY(row->line_count ? tile_add_line(t, r, row, i) : tile_add_track(t, r, &r->tracks[row->tracks[i]]));
		TRY(tile_write(t, r, out));
	}
	return 0;
}

static int write_tiles(struct view_report *r, unsigned level, const char *list, struct tile *t, struct buf *out, struct error *err)
{
	int64_t row, index;
	int rc = 0;

	for (unsigned count = 0; *list && rc == 0; count++) {
		if (count == MAX_TILES)
			return error_set(err, EINVAL, "There are more than %d tiles in one request", MAX_TILES);
		if (!params_number(&list, 0, (int64_t)r->row_count - 1, &row) || *list++ != ':' ||
		    !params_number(&list, INT64_MIN, INT64_MAX, &index) || (*list && *list++ != ','))
			return error_set(err, EINVAL, "tiles is not a list of ROW:INDEX with rows of this report");
		if (!tile_init(t, level, index))
			return error_set(err, EINVAL, "A tile is outside of all times");
		rc = write_row_tiles(r, (uint32_t)row, t, out);
	}
	return rc;
}

int answer_tiles(struct view *v, struct params *p, struct answer *a, struct error *err)
{
	const char *list = params_text(p, "tiles");
	struct view_report *report;
	CLEANUP_FREE struct tile *t = NULL;
	int64_t level;

	TRY(view_asked_report(v, p, &report, err));
	TRY(params_integer(p, "level", 0, TILE_MAX_LEVEL, &level, err));
	TRY(params_all_used(p, err));
	if (!list)
		return error_set(err, EINVAL, "tiles is missing");
	t = malloc(sizeof(*t));
	a->type = "application/octet-stream";
	return t ? write_tiles(report, (unsigned)level, list, t, &a->body, err) : -ENOMEM;
}
