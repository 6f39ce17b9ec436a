/* Tables of some rows, read a row at a time. */
#include <errno.h>
#include <stdlib.h>

#include "report/reader.h"

static int group_rows(const struct report *r, enum table_id table, size_t group, unsigned columns, report_row_fn take, void *context)
{
	uint32_t count = report_group(r, table, group)->rows, present;
	int64_t *values = malloc((size_t)count * columns * sizeof(*values)), row[TABLE_MAX_COLUMNS];
	uint8_t *nulls = malloc((size_t)count * columns);
	int rc = values && nulls ? 0 : -ENOMEM;

	for (unsigned c = 0; c < columns && rc == 0; c++)
		rc = report_column(r, table, group, c, values + (size_t)c * count, nulls + (size_t)c * count);
	for (uint32_t i = 0; i < count && rc == 0; i++) {
		present = 0;
		for (unsigned c = 0; c < columns; c++) {
			row[c] = values[(size_t)c * count + i];
			present |= (uint32_t)!nulls[(size_t)c * count + i] << c;
		}
		rc = take(context, row, present);
	}
	free(values);
	free(nulls);
	return rc;
}

int report_each_row(const struct report *r, enum table_id table, unsigned columns, report_row_fn take, void *context)
{
	int rc = 0;

	for (size_t g = 0; g < report_group_count(r, table) && rc == 0; g++)
		rc = group_rows(r, table, g, columns, take, context);
	return rc;
}
