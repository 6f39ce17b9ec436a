#include "record/stacks/symbol_rows.h"

#include <errno.h>
#include <string.h>

#include "base/macros.h"

static void append_symbol_row(struct symbol_rows *rows, enum table_id table, const int64_t *values, uint32_t present)
{
	struct report_track *track = report_track(rows->writer, table, 0);
	int r = track ? report_append(track, values, present) : -ENOMEM;

	if (r < 0 && !rows->failed)
		rows->failed = r;
}

void symbol_rows_symbol(void *context, const struct namer_symbol *symbol)
{
	struct symbol_rows *rows = context;
	struct report_writer *w = rows->writer;
	uint32_t present = BIT(COLUMN_SYMBOL_ID) | BIT(COLUMN_SYMBOL_MODULE) | BIT(COLUMN_SYMBOL_NAME) | BIT(COLUMN_SYMBOL_OFFSET) |
			   BIT(COLUMN_SYMBOL_SOURCE);
	int64_t values[TABLE_MAX_COLUMNS];

	values[COLUMN_SYMBOL_ID] = (int64_t)symbol->id;
	values[COLUMN_SYMBOL_MODULE] = symbol->module;
	values[COLUMN_SYMBOL_NAME] = (int64_t)report_string(w, symbol->name, strlen(symbol->name));
	values[COLUMN_SYMBOL_OFFSET] = (int64_t)symbol->offset;
	values[COLUMN_SYMBOL_SOURCE] = symbol->source;
	if (symbol->linkage) {
		values[COLUMN_SYMBOL_LINKAGE] = (int64_t)report_string(w, symbol->linkage, strlen(symbol->linkage));
		present |= BIT(COLUMN_SYMBOL_LINKAGE);
	}
	if (symbol->size) {
		values[COLUMN_SYMBOL_SIZE] = (int64_t)symbol->size;
		present |= BIT(COLUMN_SYMBOL_SIZE);
	}
	append_symbol_row(rows, TABLE_SYMBOL, values, present);
}

void symbol_rows_frame(void *context, uint32_t frame, uint64_t symbol)
{
	const int64_t values[TABLE_MAX_COLUMNS] = { [COLUMN_FRAME_SYMBOL_FRAME] = frame, [COLUMN_FRAME_SYMBOL_SYMBOL] = (int64_t)symbol };

	append_symbol_row(context, TABLE_FRAME_SYMBOL, values, BIT(COLUMN_FRAME_SYMBOL_FRAME) | BIT(COLUMN_FRAME_SYMBOL_SYMBOL));
}
