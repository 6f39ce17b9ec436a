/* torch's table: the text that key_averages().table() gives. */
#ifndef SONDE_CLI_TORCH_TABLE_H
#define SONDE_CLI_TORCH_TABLE_H

#include <stdio.h>

#include "cli/torch/rows.h"

enum torch_unit { TORCH_UNIT_FITTING, TORCH_UNIT_S, TORCH_UNIT_MS, TORCH_UNIT_US };

/* Arguments of table(). Widths of 0: without a limit. */
struct torch_layout {
	int64_t row_limit; /* -1: all rows */
	int64_t name_width;
	int64_t shapes_width;
	int64_t source_width;
	const char *header; /* NULL: none */
	enum torch_unit unit;
	bool top_level;
	bool flops; /* the column, where any row has some */
};

/* -EIO or -EPIPE where `out` failed. */
int torch_write_result(FILE *out);

/* -ENOMEM, or as above. */
int torch_table_print(FILE *out, const struct torch_rows *rows, const struct torch_layout *layout);

/* What would move the cursor of a terminal is not passed on. */
void torch_write_visible(FILE *out, const char *text);

/* "1.234ms" */
void torch_format_time(char *ret, size_t size, double ns, enum torch_unit unit);

#endif
