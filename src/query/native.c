/* Every table of the report under its own name, straight from the schema. */
#include "query/mapping.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

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

/* Beside those of the schema: the track, and the duration. */
#define MORE_COLUMNS 2

static void add_column(struct native_table *n, struct mapped_column **at, const char *name, const char *declaration, struct mapped_cell cell)
{
	*(*at)++ = (struct mapped_column){ .name = name, .declaration = declaration, .cell = cell };
	n->table.column_count++;
}

static void init_table(struct native_table *n, struct mapped_column **at, const struct table_schema *schema)
{
	snprintf(n->name, sizeof(n->name), "sonde_%s", schema->name);
	n->source.table = (enum table_id)schema->id;
	n->table.name = n->name;
	n->table.columns = *at;
	n->table.sources = &n->source;
	n->table.source_count = 1;
	for (unsigned c = 0; c < schema->column_count; c++)
		add_column(n, at, schema->columns[c].name, by_type[schema->columns[c].type].declaration,
			   (struct mapped_cell){ .convert = (uint8_t)by_type[schema->columns[c].type].convert,
						 .column = (uint8_t)c });
	if (schema->kind != TABLE_KIND_PLAIN)
		add_column(n, at, "track", "INTEGER", (struct mapped_cell){ .convert = CONVERT_TRACK });
	if (schema->kind == TABLE_KIND_SPAN)
		add_column(n, at, "duration", "INTEGER HIDDEN",
			   (struct mapped_cell){ .convert = CONVERT_DURATION, .column = 1,
						 .other = (uint8_t)table_open_column(schema->id) });
}

int native_tables_make(struct native_tables *ret)
{
	unsigned tables = 0, columns = 0;
	struct mapped_column *at;

	for (unsigned id = 0; id < TABLE_ID_LIMIT; id++)
		if (table_schema(id)) {
			tables++;
			columns += table_schema(id)->column_count + MORE_COLUMNS;
		}
	ret->tables = calloc(tables, sizeof(*ret->tables));
	ret->columns = calloc(columns, sizeof(*ret->columns));
	if (!ret->tables || !ret->columns)
		return -ENOMEM;
	at = ret->columns;
	for (unsigned id = 0; id < TABLE_ID_LIMIT; id++)
		if (table_schema(id))
			init_table(&ret->tables[ret->count++], &at, table_schema(id));
	return 0;
}

void native_tables_release(struct native_tables *n)
{
	free(n->tables);
	free(n->columns);
}
