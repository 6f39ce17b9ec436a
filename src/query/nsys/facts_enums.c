/* The ENUM_ tables: names of enumerated values. */
#include "base/macros.h"
#include "query/nsys/facts.h"
#include "query/index/file_calls.h"

struct enum_name {
	int id;
	const char *name;
	const char *label;
};

#define ENUM(table) static const struct enum_name table##_names[] = {
#define VALUE(id, name, label) { id, name, label },
#define END \
	} \
	;
#include "query/nsys/enums.def"
#undef ENUM
#undef VALUE
#undef END

/* nsys does not document the values of these. */
static const struct enum_name ENUM_STACK_UNWIND_METHOD_names[] = {
	{ 0, "Unknown", "Unknown" },
	{ 1, "FramePointers", "Frame pointers" },
	{ 2, "UnwindTables", "Unwind tables" },
	{ 3, "BranchRecords", "Branch records" },
};
/* Values are those of enum run_after; a sample is of a thread that runs on. */
static const struct enum_name ENUM_SAMPLING_THREAD_STATE_names[] = {
	{ RUN_AFTER_UNKNOWN, "Unknown", "Unknown" }, { RUN_PREEMPTED, "Preempted", "Preempted" }, { RUN_BLOCKED, "Blocked", "Blocked" },
	{ RUN_EXITED, "Exited", "Exited" },          { RUN_STILL, "Running", "Running" },
};
static const struct enum_name ENUM_SCHEDULING_THREAD_BLOCK_names[] = {
	{ 0, "Unknown", "Unknown" },
	{ 1, "SystemCall", "System call" },
};
static const struct enum_name ENUM_OSRT_FILE_ACCESS_EVENT_TYPE_names[] = {
	{ FILE_CALL_OTHER, "Other", "Other" }, { FILE_CALL_OPEN, "Open", "Open" },    { FILE_CALL_CLOSE, "Close", "Close" },
	{ FILE_CALL_READ, "Read", "Read" },    { FILE_CALL_WRITE, "Write", "Write" },
};

#define NAMES(table) #table, table##_names, COUNT_OF(table##_names)

/* Each with the tables that use it. */
static const struct {
	const char *table;
	const struct enum_name *names;
	size_t count;
	const struct mapped_table *users[6];
} enums[] = {
#define USED_BY(NAME) &mapped_tables[NSYS_##NAME]
#define ENUM_TABLE(table, ...) { NAMES(table), { __VA_ARGS__ } },
#include "fmt/nsys/enum_tables.def"
#undef ENUM_TABLE
};
#define ENUM_COUNT COUNT_OF(enums)

static int insert_name(sqlite3_stmt *insert, const struct enum_name *name)
{
	int r = sqlite3_bind_int64(insert, 1, name->id);

	if (r == SQLITE_OK)
		r = sqlite3_bind_text(insert, 2, name->name, -1, SQLITE_STATIC);
	if (r == SQLITE_OK)
		r = sqlite3_bind_text(insert, 3, name->label, -1, SQLITE_STATIC);
	if (r == SQLITE_OK) {
		sqlite3_step(insert);
		r = sqlite3_reset(insert); /* says what went wrong in the step */
	}
	return r;
}

static int create_enum(struct query *q, const char *schema, unsigned i)
{
	int r = facts_execute(q, "CREATE TABLE %s.%s(id INTEGER NOT NULL PRIMARY KEY, name TEXT, label TEXT)", schema, enums[i].table);
	char *sql = sqlite3_mprintf("INSERT INTO %s.%s VALUES(?, ?, ?)", schema, enums[i].table);
	sqlite3_stmt *insert = NULL;

	if (!sql)
		return SQLITE_NOMEM;
	if (r == SQLITE_OK)
		r = sqlite3_prepare_v2(q->db, sql, -1, &insert, NULL);
	for (size_t n = 0; r == SQLITE_OK && n < enums[i].count; n++)
		r = insert_name(insert, &enums[i].names[n]);
	sqlite3_finalize(insert);
	sqlite3_free(sql);
	return r;
}

static int is_used(struct query *q, const struct mapped_table *const *users)
{
	if (!*users)
		return mapped_table_has_rows(q, query_table(q, "sonde_cuda_stream"));
	for (; *users; users++)
		if (mapped_table_has_rows(q, *users))
			return 1;
	return 0;
}

static const char *enum_table(struct query *q, unsigned i)
{
	return i < ENUM_COUNT ? enums[i].table : NULL;
}

static int make_enum(struct query *q, unsigned i)
{
	return create_enum(q, listed_schema(is_used(q, enums[i].users)), i);
}

const struct listed_family enum_family = { enum_table, make_enum };
