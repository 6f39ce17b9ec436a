/* The words in which mapping_*.c describe tables. */
#ifndef SONDE_QUERY_MAPPING_WORDS_H
#define SONDE_QUERY_MAPPING_WORDS_H

#include <stddef.h>

#include "query/mapping.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))
#define SHOWN(its_name, type) { .name = (its_name), .declaration = (type) }
#define KEY(its_name, type) { .name = (its_name), .declaration = (type), .is_key = 1 }
#define BEHIND(its_name, type, its_short_name) { .name = (its_name), .declaration = type " HIDDEN", .short_name = (its_short_name) }
/* The same with where their values come from. */
#define SHOWN_AS(its_name, type, ...) { .name = (its_name), .declaration = (type), .cell = __VA_ARGS__ }
#define KEY_AS(its_name, type, ...) { .name = (its_name), .declaration = (type), .is_key = 1, .cell = __VA_ARGS__ }
#define BEHIND_AS(its_name, type, its_short_name, ...) \
	{ .name = (its_name), .declaration = type " HIDDEN", .short_name = (its_short_name), .cell = __VA_ARGS__ }
#define FROM(kind, from) { .convert = CONVERT_##kind, .column = (from) }
#define WITH(kind, from, with) { .convert = CONVERT_##kind, .column = (from), .other = (with) }
#define CONSTANT(number) { .convert = CONVERT_CONSTANT, .constant = (number) }
#define NOTHING { .convert = CONVERT_NULL }
#define SOURCE(from, its_cells) { .table = TABLE_##from, .cells = its_cells }
#define MAPPED(id, sql_name)                                                                     \
	const struct mapped_table id = { sql_name, id##_columns, COUNT(id##_columns),            \
					 id##_sources, COUNT(id##_sources), 0 }

#endif
