/* The handful of tables that say how, where and when the recording was made. They are small: ordinary tables in memory. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/buf.h"
#include "base/macros.h"
#include "query/nsys/facts.h"
#include "query/engine/function.h"

/* The schema of nsys whose shape the tables follow. */
#define SCHEMA_MAJOR "3"
#define SCHEMA_MINOR "25"
#define SCHEMA_MICRO "0"

#define CAPTURE nsys_declared[NSYS_META_DATA_CAPTURE].name

int facts_execute(struct query *q, const char *format, ...)
{
	va_list args;
	char *sql;
	int r;

	va_start(args, format);
	sql = sqlite3_vmprintf(format, args);
	va_end(args);
	if (!sql)
		return SQLITE_NOMEM;
	r = sqlite3_exec(q->db, sql, NULL, NULL, NULL);
	sqlite3_free(sql);
	return r;
}

static int64_t meta_number(struct query *q, const char *key, int64_t otherwise)
{
	const char *text = report_meta(q->report, key);

	return text && *text ? strtoll(text, NULL, 10) : otherwise;
}

/* name and value; nothing where the report does not say. */
static int add_pair(struct query *q, const char *table, const char *name, const char *value)
{
	if (!value)
		return SQLITE_OK;
	return facts_execute(q, "INSERT INTO %s VALUES(%Q, %Q)", table, name, value);
}

/* Lists of the report become rows. Text that is not JSON is kept as one value. */
static int add_list(struct query *q, const char *name, const char *list)
{
	if (!list)
		return SQLITE_OK;
	return facts_execute(q,
			     "INSERT INTO %s SELECT %Q, value FROM "
			     "json_each(CASE WHEN json_valid(%Q) THEN %Q ELSE json_array(%Q) END)",
			     CAPTURE, name, list, list, list);
}

/* The first element of the command is the program. */
static int add_command(struct query *q, const char *command)
{
	if (!command)
		return SQLITE_OK;
	return facts_execute(q,
			     "INSERT INTO %s SELECT CASE key WHEN 0 THEN 'PROCESS_0:COMMAND' "
			     "ELSE 'PROCESS_0:ARGUMENT_' || (key - 1) END, value FROM "
			     "json_each(CASE WHEN json_valid(%Q) THEN %Q ELSE json_array(%Q) END)",
			     CAPTURE, command, command, command);
}

static int add_sources(struct query *q, const char *trace)
{
	if (!trace)
		return SQLITE_OK;
	return facts_execute(q,
			     "INSERT INTO %s SELECT 'CAPTURE_EVENT_TYPE', CASE value WHEN 'nvtx' THEN "
			     "'NvtxEvents' ELSE value END FROM json_each('[\"' || replace(replace(%Q, '\"', ''), ',', "
			     "'\",\"') || '\"]')",
			     CAPTURE, trace);
}

static int fill_capture(struct query *q, const struct fact_table *t)
{
	static const struct {
		const char *name;
		const char *key;
	} facts[] = {
		{ "PROCESS_0:WORKING_DIR", "cwd" },
		{ "PROCESS_0:EXIT_STATUS", "exit_status" },
		{ "CAPTURE_CLOCK", "clock" },
		{ "CAPTURE_CLOCK_HZ", "tsc_hz" },
		{ "CAPTURE_OUTPUT", "output" },
		{ "CAPTURE_PRODUCT_VERSION", "sonde_version" },
		{ "COST_PER_RANGE_PS", "cost_pair_ps" },
		{ "COST_OF_CLOCK_PS", "cost_clock_ps" },
		{ "SAMPLING_EVENT", "sampling.event" },
		{ "SAMPLING_UNIT", "sampling.unit" },
		{ "SAMPLING_PERIOD", "sampling.period" },
		{ "SAMPLING_FREQUENCY", "sampling.frequency" },
		{ "SAMPLING_BACKTRACE", "sampling.backtrace" },
	};
	int r = facts_execute(q,
			      "INSERT INTO %s SELECT substr(key, length(%Q) + 2), value FROM sonde_meta "
			      "WHERE substr(key, 1, length(%Q) + 1) = %Q || ':'",
			      CAPTURE, CAPTURE, CAPTURE, CAPTURE);

	if (r != SQLITE_OK || sqlite3_changes(q->db) > 0)
		return r; /* an imported report says how it was recorded in nsys's words */
	r = add_sources(q, report_meta(q->report, "trace"));
	if (r == SQLITE_OK)
		r = add_command(q, report_meta(q->report, "command"));
	if (r == SQLITE_OK)
		r = add_list(q, "PROCESS_0:ENVIRONMENT_VARIABLE", report_meta(q->report, "environment"));
	for (size_t i = 0; r == SQLITE_OK && i < COUNT_OF(facts); i++)
		r = add_pair(q, CAPTURE, facts[i].name, report_meta(q->report, facts[i].key));
	return r;
}

static int fill_export(struct query *q, const struct fact_table *t)
{
	static const char *const facts[][2] = {
		{ "EXPORT_PRODUCT_NAME", "Sonde" },
		{ "EXPORT_PRODUCT_VERSION", SONDE_VERSION },
		{ "EXPORT_SCHEMA_VERSION", SCHEMA_MAJOR "." SCHEMA_MINOR "." SCHEMA_MICRO },
		{ "EXPORT_SCHEMA_VERSION_MAJOR", SCHEMA_MAJOR },
		{ "EXPORT_SCHEMA_VERSION_MINOR", SCHEMA_MINOR },
		{ "EXPORT_SCHEMA_VERSION_MICRO", SCHEMA_MICRO },
		{ "EXPORT_PLATFORM", "Linux" },
		{ "EXPORT_PARAM_LAZY", "true" },
	};
	int r = SQLITE_OK;

	for (size_t i = 0; r == SQLITE_OK && i < COUNT_OF(facts); i++)
		r = add_pair(q, nsys_declared[t->id].name, facts[i][0], facts[i][1]);
	return r;
}

static int add_system(struct query *q, const char *table)
{
	/* Numbers of the properties are nsys's; above 10000 they are Sonde's own. */
	static const struct {
		const char *name;
		int number;
		const char *key;
	} facts[] = {
		{ "CpuCores", 1, "cpu_count" },     { "CpuDescription", 13, "cpu" }, { "OsDescription", 605, "os" },
		{ "KernelVersion", 882, "kernel" }, { "Hostname", 619, "host" },     { "BootId", 10001, "boot_id" },
	};
	const char *value;
	int r = facts_execute(q,
			      "INSERT INTO %s SELECT %lld, 'Local (CLI)', substr(rest, instr(rest, ':') + 1), "
			      "CAST(rest AS INTEGER), ifnull(value, '') FROM (SELECT substr(key, length(%Q) + 2) AS rest, value FROM "
			      "sonde_meta WHERE substr(key, 1, length(%Q) + 1) = %Q || ':')",
			      table, (long long)index_global_id(&q->index, 0), table, table, table);

	if (r != SQLITE_OK || sqlite3_changes(q->db) > 0)
		return r; /* an imported report has all of it in nsys's words */
	for (size_t i = 0; r == SQLITE_OK && i < COUNT_OF(facts); i++) {
		value = report_meta(q->report, facts[i].key);
		if (value)
			r = facts_execute(q, "INSERT INTO %s VALUES(%lld, 'Local (CLI)', %Q, %d, %Q)", table,
					  (long long)index_global_id(&q->index, 0), facts[i].name, facts[i].number, value);
	}
	return r;
}

static int fill_system(struct query *q, const struct fact_table *t)
{
	const char *table = nsys_declared[t->id].name;
	int r = add_system(q, table);

	if (r == SQLITE_OK)
		r = facts_execute(q,
				  "INSERT OR IGNORE INTO %s SELECT %lld, 'Local (CLI)', 'CudaDriverVersion', 611, "
				  "driver FROM sonde_cuda_clock WHERE driver IS NOT NULL LIMIT 1",
				  table, (long long)index_global_id(&q->index, 0));
	return r;
}

static void format_time(int64_t utc_ns, int local, char *text, size_t size)
{
	time_t seconds = (time_t)(utc_ns / 1000000000);
	struct tm parts;

	if ((local ? localtime_r(&seconds, &parts) : gmtime_r(&seconds, &parts)) == NULL ||
	    strftime(text, size, "%Y-%m-%dT%H:%M:%S", &parts) == 0)
		text[0] = '\0';
}

static int fill_start_time(struct query *q, const struct fact_table *t)
{
	int64_t utc = meta_number(q, "start_utc_ns", -1);
	const char *reported_local = report_meta(q->report, "start_local_time");
	char utc_text[32], local_text[64];

	if (utc < 0)
		return SQLITE_OK;
	format_time(utc, 0, utc_text, sizeof(utc_text));
	if (reported_local)
		snprintf(local_text, sizeof(local_text), "%s", reported_local);
	else
		format_time(utc, 1, local_text, sizeof(local_text));
	return facts_execute(q, "INSERT INTO %s VALUES(%lld, %Q, %Q, %lld)", nsys_declared[t->id].name, (long long)utc, utc_text,
			     local_text, (long long)meta_number(q, "session_start_raw_ns", 0));
}

static int fill_details(struct query *q, const struct fact_table *t)
{
	int64_t begin = meta_number(q, "session_start_raw_ns", 0);
	int64_t duration = meta_number(q, "duration_ns", -1);

	if (duration < 0)
		return SQLITE_OK;
	return facts_execute(q, "INSERT INTO %s VALUES(%lld, %lld, %lld, %lld)", nsys_declared[t->id].name,
			     (long long)index_global_id(&q->index, 0), (long long)duration, (long long)begin,
			     (long long)(begin + duration));
}

/* The first value of the first row; NULL where there is none. */
static int ask_text(struct query *q, const char *sql, char **ret)
{
	sqlite3_stmt *statement;
	int r = sqlite3_prepare_v2(q->db, sql, -1, &statement, NULL);

	*ret = NULL;
	if (r != SQLITE_OK)
		return r;
	if (sqlite3_step(statement) == SQLITE_ROW)
		*ret = sqlite3_mprintf("%s", sqlite3_column_text(statement, 0));
	return sqlite3_finalize(statement);
}

/* Only tables with rows are listed: an empty one goes to `temp`. */
static int set_aside_if_empty(struct query *q, const char *table)
{
	char *sql = sqlite3_mprintf("SELECT substr(sql, length('CREATE TABLE ')) FROM main.sqlite_master WHERE name = %Q "
				    "AND NOT EXISTS (SELECT 1 FROM main.%s)",
				    table, table);
	char *declaration = NULL;
	int r = sql ? ask_text(q, sql, &declaration) : SQLITE_NOMEM;

	if (r == SQLITE_OK && declaration)
		r = facts_execute(q, "DROP TABLE main.%s; CREATE TEMP TABLE%s", table, declaration);
	sqlite3_free(declaration);
	sqlite3_free(sql);
	return r;
}

/* What columns of the tables are made of. What should have one row for each id may have many in a damaged report: the first
 * counts, as everywhere. */
#define EACH_PROCESS "(SELECT uid, pid, machine, min(rowid) FROM sonde_process GROUP BY uid) p"
#define EACH_GPU "(SELECT uid, name, min(rowid) FROM sonde_gpu GROUP BY uid) g"
/* Those that a row comes of for each name of their handle: no program has so many. */
#define NAMED(what) "(SELECT * FROM sonde_cuda_" what " WHERE id IS NOT NULL AND process IN (SELECT uid FROM sonde_process))"
#define MOST_NAMES " LIMIT 65536"
/* A file of nsys's was imported: texts and lists are as it has them. */
#define OF_NSYS "EXISTS (SELECT 1 FROM sonde_meta WHERE key = 'imported' AND value = 'nsys-sqlite')"
/* nsys writes them without the first letters. */
#define SHOWN_UUID "CASE WHEN substr(uuid, 1, 4) = 'GPU-' AND NOT " OF_NSYS " THEN substr(uuid, 5) ELSE uuid END"
/* Where a compute capability is of one chip alone. */
#define SHOWN_CHIP \
	"coalesce(chip, CASE major * 10 + minor WHEN 60 THEN 'GP100' WHEN 62 THEN 'GP10B' WHEN 70 THEN 'GV100' " \
	"WHEN 72 THEN 'GV11B' WHEN 80 THEN 'GA100' WHEN 87 THEN 'GA10B' WHEN 90 THEN 'GH100' WHEN 100 THEN 'GB100' END)"

#define TABLE(NAME, ...) static const char *const NAME##_values[] = {
#define COLUMN(name, type, import, value) value,
#define INDEXED(...)
#define HIDDEN(...)
#define END(NAME) \
	} \
	;
#include "fmt/nsys/facts.def"

static const struct fact_table tables[] = {
#define ROWS_OF(what) .from = what
#define FILL(rows) .fill = fill_##rows
#define TABLE(NAME, ...) { .id = NSYS_##NAME, .values = NAME##_values, __VA_ARGS__ },
#define COLUMN(...)
#define INDEXED(...)
#define HIDDEN(...)
#define END(NAME)
#include "fmt/nsys/facts.def"
};

int facts_prepare(struct query *q, const struct fact_table *t, const char *from, sqlite3_stmt **ret)
{
	struct buf sql = BUF_INIT;
	int r = buf_printf(&sql, "INSERT OR IGNORE INTO %s SELECT ", nsys_declared[t->id].name);

	for (unsigned i = 0; r >= 0 && i < nsys_declared[t->id].count; i++)
		r = buf_printf(&sql, "%s%s", i ? ", " : "", t->values[i]);
	if (r >= 0)
		r = buf_printf(&sql, " FROM %s", from);
	r = r < 0 ? SQLITE_NOMEM : sqlite3_prepare_v2(q->db, buf_cstr(&sql), -1, ret, NULL);
	buf_release(&sql);
	if (r == SQLITE_OK && sqlite3_bind_parameter_index(*ret, "@vm"))
		r = sqlite3_bind_int64(*ret, sqlite3_bind_parameter_index(*ret, "@vm"), index_global_id(&q->index, 0));
	return r;
}

static int fill_from(struct query *q, const struct fact_table *t)
{
	sqlite3_stmt *statement = NULL;
	int r = facts_prepare(q, t, t->from, &statement), finished;

	if (r == SQLITE_OK)
		sqlite3_step(statement);
	finished = sqlite3_finalize(statement);
	return r == SQLITE_OK ? finished : r;
}

static const char *fact_name(struct query *q, unsigned i)
{
	return i < COUNT_OF(tables) ? nsys_declared[tables[i].id].name : NULL;
}

static int make_fact(struct query *q, unsigned i)
{
	const struct fact_table *t = &tables[i];
	char *declaration = nsys_declaration(t->id, nsys_declared[t->id].name);
	int r = declaration ? sqlite3_exec(q->db, declaration, NULL, NULL, NULL) : SQLITE_NOMEM;

	sqlite3_free(declaration);
	if (r == SQLITE_OK)
		r = t->from ? fill_from(q, t) : t->fill(q, t);
	return r == SQLITE_OK ? set_aside_if_empty(q, fact_name(q, i)) : r;
}

const struct listed_family fact_family = { fact_name, make_fact };

static const char *note_name(struct query *q, unsigned i)
{
	return i == 0 ? "sonde_note" : NULL;
}

/* What the reader itself had to leave out; a temporary table, so that it is not listed. */
static int make_notes(struct query *q, unsigned number)
{
	int r = facts_execute(q, "CREATE TEMP TABLE sonde_note(text TEXT NOT NULL)");

	for (size_t i = 0; r == SQLITE_OK && i < report_note_count(q->report); i++)
		r = facts_execute(q, "INSERT INTO sonde_note VALUES(%Q)", report_note(q->report, i));
	if (r == SQLITE_OK && report_is_partial(q->report))
		r = facts_execute(q, "INSERT INTO sonde_note VALUES('The recording was not finished: this is what had "
				     "been written when the report was opened.')");
	return r;
}

const struct listed_family note_family = { note_name, make_notes };
