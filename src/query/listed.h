/* Tables that sqlite_master lists: those for which the report has something. They are made when a statement first names
 * them, or asks what there is: making all takes longer than most statements. */
#ifndef SONDE_QUERY_LISTED_H
#define SONDE_QUERY_LISTED_H

struct query;

struct listed_family {
	const char *schema; /* database of SQLite they are in: main, temp */
	const char *(*name)(unsigned i); /* NULL behind the last */
	int (*make)(struct query *q, unsigned i); /* nothing where the report has nothing for it; an SQLite result code */
};

extern const struct listed_family mapped_family;    /* mapped_vtab.c */
extern const struct listed_family string_family;    /* string_ids.c */
extern const struct listed_family callchain_family; /* callchains.c */
extern const struct listed_family fact_family;      /* facts.c */
extern const struct listed_family note_family;
extern const struct listed_family cuda_fact_family; /* facts_cuda.c */
extern const struct listed_family enum_family;      /* facts_enums.c */

int listed_exists(struct query *q, const char *schema, const char *name);

/* A virtual table of that module. An SQLite result code. */
int listed_create(struct query *q, const char *name, const char *module);

/* Makes the tables named in a statement that are not there yet; all, where it may list them. An SQLite result code. */
int listed_make_named(struct query *q, const char *text, const char *end, int *ret_any);

#endif
