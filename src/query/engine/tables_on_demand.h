/* Tables with nsys's names. They are made when a statement first names them, or asks what there is: making all takes
 * longer than most statements. Those for which the report has something are in `main`, where sqlite_master lists them;
 * the others are in `temp`: they can be asked, and are empty. */
#ifndef SONDE_QUERY_ENGINE_TABLES_ON_DEMAND_H
#define SONDE_QUERY_ENGINE_TABLES_ON_DEMAND_H

struct query;

struct listed_family {
	const char *(*name)(struct query *q, unsigned i); /* NULL behind the last */
	int (*make)(struct query *q, unsigned i);         /* an SQLite result code */
};

extern const struct listed_family mapped_family;    /* mapped_vtab.c */
extern const struct listed_family string_family;    /* string_ids.c */
extern const struct listed_family callchain_family; /* callchains.c */
extern const struct listed_family fact_family;      /* facts.c */
extern const struct listed_family note_family;
extern const struct listed_family enum_family;  /* facts_enums.c */
extern const struct listed_family other_family; /* nsys/unrecorded.c */

/* Database of SQLite that a table belongs in. */
const char *listed_schema(int has_rows);

/* A virtual table of that module. An SQLite result code. */
int listed_create(struct query *q, int has_rows, const char *name, const char *module);

/* Makes the tables named in a statement that are not there yet; all, where it may list them. An SQLite result code. */
int listed_make_named(struct query *q, const char *text, const char *end, int *ret_any);

#endif
