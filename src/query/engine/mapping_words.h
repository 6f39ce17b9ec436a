/* The words in which tables are described. */
#ifndef SONDE_QUERY_ENGINE_MAPPING_WORDS_H
#define SONDE_QUERY_ENGINE_MAPPING_WORDS_H

#include <stddef.h>

#include "base/macros.h"
#include "query/engine/mapping.h"

/* clang-format off */
#define SHOWN(its_name, type, ...) { .name = (its_name), .declaration = (type), .cell = __VA_ARGS__ }
#define KEY(its_name, type, ...) { .name = (its_name), .declaration = (type), .is_key = 1, .cell = __VA_ARGS__ }
#define FROM(kind, from) { .convert = CONVERT_##kind, .column = (from) }
#define WITH(kind, from, with) { .convert = CONVERT_##kind, .column = (from), .other = (with) }
#define CONSTANT(number) { .convert = CONVERT_CONSTANT, .constant = (number) }
#define NOTHING { .convert = CONVERT_NULL }
/* What a source has to say itself, or is null. */
#define OF_SOURCE { .convert = CONVERT_UNTOLD }
/* clang-format on */
/* A list of columns, COLUMN(name, type, cell), as columns, and as members of a struct whose offsets are their numbers: sources say
 * by these which cells are theirs. */
#define AS_COLUMN(its_name, type, ...) SHOWN(#its_name, type, __VA_ARGS__),
#define AS_MEMBER(its_name, ...) char its_name;
#define CELLS_AT(places) .cells = (const struct mapped_cell[sizeof(struct places)])
#define MAPPED(id, sql_name) \
	const struct mapped_table id = { sql_name, id##_columns, COUNT_OF(id##_columns), id##_sources, COUNT_OF(id##_sources), 0 }

#endif
