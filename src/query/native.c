/* Every table of the report under its own name, straight from the schema. */
#include "query/mapping.h"

#include <stdio.h>
#include <string.h>

static const struct {
	const char *declaration;
	enum convert convert;
} by_type[] = {
	[COLUMN_TYPE_TIME] = { "INTEGER", CONVERT_NUMBER },
	[COLUMN_TYPE_DUR] = { "INTEGER", CONVERT_NUMBER },
	[COLUMN_TYPE_INT] = { "INTEGER", CONVERT_NUMBER },
	[COLUMN_TYPE_REAL] = { "REAL", CONVERT_REAL },
	[COLUMN_TYPE_STR] = { "TEXT", CONVERT_TEXT },
	[COLUMN_TYPE_BLOB] = { "BLOB", CONVERT_BLOB },
	[COLUMN_TYPE_REF] = { "INTEGER", CONVERT_NUMBER },
	[COLUMN_TYPE_FLAG] = { "INTEGER", CONVERT_NUMBER },
};

static void add_column(struct native_table *n, const char *name, const char *declaration,
		       enum convert convert, unsigned column)
{
	unsigned i = n->table.column_count++;

	n->columns[i] = (struct mapped_column){ name, declaration, NULL, 0 };
	n->cells[i] = (struct mapped_cell){ .convert = (uint8_t)convert, .column = (uint8_t)column };
}

void native_table_init(struct native_table *n, const struct table_schema *schema)
{
	memset(n, 0, sizeof(*n));
	snprintf(n->name, sizeof(n->name), "sonde_%s", schema->name);
	n->source.table = (enum table_id)schema->id;
	n->source.cells = n->cells;
	n->table.name = n->name;
	n->table.columns = n->columns;
	n->table.sources = &n->source;
	n->table.source_count = 1;
	for (unsigned c = 0; c < schema->column_count; c++)
		add_column(n, schema->columns[c].name, by_type[schema->columns[c].type].declaration,
			   by_type[schema->columns[c].type].convert, c);
	if (schema->kind != TABLE_KIND_PLAIN)
		add_column(n, "track", "INTEGER", CONVERT_TRACK, 0);
	if (schema->kind == TABLE_KIND_SPAN) {
		add_column(n, "duration", "INTEGER HIDDEN", CONVERT_DURATION, 1);
		n->cells[n->table.column_count - 1].other =
			schema->id == TABLE_SLICE ? COLUMN_SLICE_FLAGS :
			schema->id == TABLE_OSRT ? COLUMN_OSRT_FLAGS :
			schema->id == TABLE_CUDA_API ? COLUMN_CUDA_API_FLAGS : UINT8_MAX;
	}
}
