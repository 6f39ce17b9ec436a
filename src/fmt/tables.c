#include "fmt/tables.h"

#include <stddef.h>
#include <string.h>

#include "base/macros.h"

/* One column array per table: each TABLE closes the array before it. */
/* clang-format off */
#define TABLE(id, NAME, name, kind) }; static const struct column_schema columns_of_##name[] = {
/* clang-format on */
#define COLUMN(TABLE, NAME, name, type, roles, help) { #name, COLUMN_TYPE_##type, roles, help },
static const struct column_schema columns_before_first[] __attribute__((unused)) = {
	{ NULL, COLUMN_TYPE_INT, 0, NULL },
#include "fmt/tables.def"
};
#undef TABLE
#undef COLUMN

#define TABLE(id, NAME, name, kind) [id] = { id, #name, TABLE_KIND_##kind, COUNT_OF(columns_of_##name), columns_of_##name },
#define COLUMN(...)
static const struct table_schema schemas[TABLE_ID_LIMIT] = {
#include "fmt/tables.def"
};
#undef TABLE
#undef COLUMN

#define TRACKS(NAME, number, ...) _Static_assert(number < TRACK_KIND_LIMIT, "a kind of track for " #NAME);
#define TABLE(...)
#define COLUMN(...)
#include "fmt/tables.def"
static const struct table_tracks tracks[TABLE_ID_LIMIT] = {
#define TRACKS(NAME, number, place, word, category) [TABLE_##NAME] = { number, TRACKS_OF_##place, word, category },
#include "fmt/tables.def"
#undef TABLE
#undef COLUMN
};

const struct table_tracks *table_tracks(unsigned table)
{
	return table < TABLE_ID_LIMIT && tracks[table].kind ? &tracks[table] : NULL;
}

unsigned table_of_tracks(unsigned track_kind)
{
	for (unsigned table = 0; track_kind && table < TABLE_ID_LIMIT; table++)
		if (tracks[table].kind == track_kind)
			return table;
	return 0;
}

const struct table_schema *table_schema(unsigned id)
{
	if (id >= TABLE_ID_LIMIT || !schemas[id].name)
		return NULL;
	return &schemas[id];
}

const struct table_schema *table_schema_by_name(const char *name)
{
	for (unsigned id = 0; id < TABLE_ID_LIMIT; id++)
		if (schemas[id].name && strcmp(schemas[id].name, name) == 0)
			return &schemas[id];
	return NULL;
}

int table_column(unsigned table, uint32_t roles)
{
	const struct table_schema *schema = table_schema(table);

	for (unsigned i = 0; schema && i < schema->column_count; i++)
		if (schema->columns[i].roles & roles)
			return (int)i;
	return -1;
}

int table_open_column(unsigned table)
{
	const struct table_schema *schema = table_schema(table);

	return schema && schema->kind == TABLE_KIND_SPAN ? table_column(table, ROLE_FLAGS) : -1;
}
