/* Every table of the report under its own name, straight from the schema. */
#include "query/internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

static const struct {
	const char *declaration;
	enum convert convert;
} by_type[] = {
	[COLUMN_TYPE_TIME] = { "INTEGER", CONVERT_NUMBER }, [COLUMN_TYPE_DUR] = { "INTEGER", CONVERT_NUMBER },
	[COLUMN_TYPE_INT] = { "INTEGER", CONVERT_NUMBER },  [COLUMN_TYPE_REAL] = { "REAL", CONVERT_REAL },
	[COLUMN_TYPE_STR] = { "TEXT", CONVERT_TEXT },       [COLUMN_TYPE_BLOB] = { "BLOB", CONVERT_BLOB },
	[COLUMN_TYPE_REF] = { "INTEGER", CONVERT_NUMBER },  [COLUMN_TYPE_FLAG] = { "INTEGER", CONVERT_NUMBER },
};

/* Beside those of the schema: the track, and the duration. */
#define MORE_COLUMNS 2

static void add_native_column(struct native_table *n, struct mapped_column **at, const char *name, const char *declaration,
			      struct mapped_cell cell)
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
		add_native_column(
			n, at, schema->columns[c].name, by_type[schema->columns[c].type].declaration,
			(struct mapped_cell){ .convert = (uint8_t)by_type[schema->columns[c].type].convert, .column = (uint8_t)c });
	if (schema->kind != TABLE_KIND_PLAIN)
		add_native_column(n, at, "track", "INTEGER", (struct mapped_cell){ .convert = CONVERT_TRACK });
	if (schema->kind == TABLE_KIND_SPAN)
		add_native_column(
			n, at, "duration", "INTEGER HIDDEN",
			(struct mapped_cell){ .convert = CONVERT_DURATION, .column = 1, .other = (uint8_t)table_open_column(schema->id) });
}

/* Adds the columns of a source, by name. */
static void more_columns(struct more_table *m, enum table_id table)
{
	const struct table_schema *schema = table_schema(table);

	for (unsigned c = 0; c < schema->column_count && m->table.column_count < MAPPED_MAX_COLUMNS; c++)
		if (schema->columns[c].roles & ROLE_MORE && mapped_column_find(&m->table, schema->columns[c].name) < 0)
			m->columns[m->table.column_count++] = (struct mapped_column){
				.name = schema->columns[c].name, .declaration = by_type[schema->columns[c].type].declaration
			};
}

static struct mapped_cell more_cell(enum table_id table, const char *name)
{
	const struct table_schema *schema = table_schema(table);

	for (unsigned c = 0; c < schema->column_count; c++)
		if (schema->columns[c].roles & ROLE_MORE && strcmp(schema->columns[c].name, name) == 0)
			return (struct mapped_cell){ .convert = (uint8_t)by_type[schema->columns[c].type].convert, .column = (uint8_t)c };
	return (struct mapped_cell){ .convert = CONVERT_NULL };
}

static void more_cells(struct more_table *m)
{
	struct mapped_cell *cell = m->cells;

	for (unsigned s = 0; s < m->of->source_count; s++) {
		m->sources[s] = m->of->sources[s];
		m->sources[s].cells = cell;
		for (unsigned c = 0; c < m->table.column_count; c++)
			*cell++ = c < m->of->column_count ? *mapped_cell(m->of, s, c) :
							    more_cell(m->of->sources[s].table, m->columns[c].name);
	}
}

static bool has_more(const struct mapped_table *t)
{
	bool found = false;

	for (unsigned s = 0; s < t->source_count; s++)
		found = found || table_column(t->sources[s].table, ROLE_MORE) >= 0;
	return found;
}

static int make_more(struct native_tables *n, const struct mapped_table *of)
{
	struct more_table *m = has_more(of) ? LIST_ADD(n->more, n->more_count) : NULL;

	if (!m)
		return has_more(of) ? -ENOMEM : 0;
	*m = (struct more_table){ .of = of, .table = *of };
	m->sources = calloc(of->source_count, sizeof(*m->sources));
	m->columns = calloc(MAPPED_MAX_COLUMNS, sizeof(*m->columns));
	m->cells = calloc((size_t)of->source_count * MAPPED_MAX_COLUMNS, sizeof(*m->cells));
	if (!m->sources || !m->columns || !m->cells)
		return -ENOMEM;
	memcpy(m->columns, of->columns, of->column_count * sizeof(*of->columns));
	m->table.columns = m->columns;
	m->table.sources = m->sources;
	for (unsigned s = 0; s < of->source_count; s++)
		more_columns(m, of->sources[s].table);
	more_cells(m);
	return 0;
}

int native_tables_make(struct native_tables *ret)
{
	int r = 0;

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
	for (unsigned i = 0; r >= 0 && i < mapped_table_count; i++)
		r = make_more(ret, &mapped_tables[i]);
	return r;
}

void native_tables_release(struct native_tables *n)
{
	for (unsigned i = 0; i < n->more_count; i++) {
		free(n->more[i].sources);
		free(n->more[i].columns);
		free(n->more[i].cells);
	}
	free(n->more);
	free(n->tables);
	free(n->columns);
}
