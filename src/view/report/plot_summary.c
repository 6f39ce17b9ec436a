/* Level 0 of counters, checked: it is what the values of a group come to, or it is not used. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "view/report/view_report.h"
#include "view/report/store_items.h"

enum { READ_TABLE, READ_ROWS, READ_START, READ_WIDTH, READ_LEAST, READ_MOST, READ_MEAN, READ_LAST, READ_COUNT };

static int read_plot_columns(struct view_report *r, const struct row_group *p, uint32_t rows, int64_t *values)
{
	static const uint8_t columns[READ_COUNT] = { COLUMN_LOD_TABLE, COLUMN_LOD_ROWS, COLUMN_LOD_START, COLUMN_LOD_WIDTH,
						     COLUMN_LOD_LEAST, COLUMN_LOD_MOST, COLUMN_LOD_MEAN,  COLUMN_LOD_LAST };

	for (unsigned c = 0; c < READ_COUNT; c++)
		TRY(report_column(group_report(r, p), TABLE_LOD, p->summary, columns[c], values + (size_t)c * rows, NULL));
	return 0;
}

static double bits_to_real(int64_t bits)
{
	double value;

	memcpy(&value, &bits, sizeof(value));
	return value;
}

/* The i-th of each column. */
static bool is_right(const struct row_group *p, const int64_t *values, uint32_t rows, uint32_t i)
{
	int64_t at[READ_COUNT], width = INT64_C(1) << p->summary_level;

	for (unsigned c = 0; c < READ_COUNT; c++)
		at[c] = values[(size_t)c * rows + i];
	return at[READ_TABLE] == p->table && at[READ_WIDTH] == width && !(at[READ_START] & (width - 1)) && at[READ_START] <= p->time_max &&
	       at[READ_START] >= p->time_min - (p->time_min & (width - 1)) &&
	       (i == 0 || at[READ_START] > values[(size_t)READ_START * rows + i - 1]) && at[READ_ROWS] > 0 && at[READ_ROWS] <= p->rows &&
	       isfinite(bits_to_real(at[READ_LEAST])) && isfinite(bits_to_real(at[READ_MOST])) && isfinite(bits_to_real(at[READ_MEAN])) &&
	       isfinite(bits_to_real(at[READ_LAST]));
}

/* In the order of the structure. */
static struct store_item *fill_item(const struct row_group *p, const int64_t *values, uint32_t rows)
{
	size_t size = sizeof(struct store_item) + rows * (5 * sizeof(double) + sizeof(uint32_t));
	struct store_item *item = calloc(1, size);
	int64_t *start = (int64_t *)(void *)(item + 1);
	double *reals = (double *)(start + rows);
	uint32_t *begins = (uint32_t *)(void *)(reals + 4 * (size_t)rows);

	if (!item)
		return NULL;
	item->size = size;
	memcpy(start, values + (size_t)READ_START * rows, rows * sizeof(*start));
	memcpy(reals, values + (size_t)READ_LEAST * rows, 4 * (size_t)rows * sizeof(*reals));
	for (uint32_t i = 0; i < rows; i++)
		begins[i] = (uint32_t)values[(size_t)READ_ROWS * rows + i];
	/* clang-format off */
	item->content.plot = (struct plot_summary){ .count = rows, .level = p->summary_level, .start = start, .rows = begins,
						    .least = reals, .most = reals + rows, .mean = reals + 2 * (size_t)rows,
						    .last = reals + 3 * (size_t)rows };
	/* clang-format on */
	return item;
}

int plot_summary_make(struct view_report *r, const struct row_group *p, struct store_item **ret)
{
	uint32_t rows = report_group(group_report(r, p), TABLE_LOD, p->summary)->rows;
	int64_t *values = malloc(rows * READ_COUNT * sizeof(*values) + 1);
	int rc = values ? read_plot_columns(r, p, rows, values) : -ENOMEM;

	for (uint32_t i = 0; i < rows && rc >= 0; i++)
		if (!is_right(p, values, rows, i))
			rc = -EBADMSG;
	if (rc >= 0) {
		*ret = fill_item(p, values, rows);
		rc = *ret ? 0 : -ENOMEM;
	}
	free(values);
	return rc;
}
