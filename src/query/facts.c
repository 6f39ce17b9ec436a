/* The handful of tables that say how, where and when the recording was made. They are small: ordinary tables in memory. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "query/facts.h"
#include "base/macros.h"

/* The schema of nsys whose shape the tables follow. */
#define SCHEMA_MAJOR "3"
#define SCHEMA_MINOR "25"
#define SCHEMA_MICRO "0"

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
	return facts_execute(q, "INSERT INTO META_DATA_CAPTURE SELECT %Q, value FROM "
			  "json_each(CASE WHEN json_valid(%Q) THEN %Q ELSE json_array(%Q) END)", name, list, list, list);
}

/* The first element of the command is the program. */
static int add_command(struct query *q, const char *command)
{
	if (!command)
		return SQLITE_OK;
	return facts_execute(q, "INSERT INTO META_DATA_CAPTURE SELECT CASE key WHEN 0 THEN 'PROCESS_0:COMMAND' "
			  "ELSE 'PROCESS_0:ARGUMENT_' || (key - 1) END, value FROM "
			  "json_each(CASE WHEN json_valid(%Q) THEN %Q ELSE json_array(%Q) END)", command, command, command);
}

static int add_sources(struct query *q, const char *trace)
{
	if (!trace)
		return SQLITE_OK;
	return facts_execute(q, "INSERT INTO META_DATA_CAPTURE SELECT 'CAPTURE_EVENT_TYPE', CASE value WHEN 'nvtx' THEN "
			  "'NvtxEvents' ELSE value END FROM json_each('[\"' || replace(replace(%Q, '\"', ''), ',', "
			  "'\",\"') || '\"]')", trace);
}

static int create_capture(struct query *q)
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
	int r = facts_execute(q, "CREATE TABLE META_DATA_CAPTURE(name TEXT NOT NULL, value TEXT)");

	if (r == SQLITE_OK)
		r = facts_execute(q, "INSERT INTO META_DATA_CAPTURE SELECT substr(key, 19), value FROM sonde_meta "
				     "WHERE substr(key, 1, 18) = 'META_DATA_CAPTURE:'");
	if (r != SQLITE_OK || sqlite3_changes(q->db) > 0)
		return r; /* an imported report says how it was recorded in nsys's words */
	if (r == SQLITE_OK)
		r = add_sources(q, report_meta(q->report, "trace"));
	if (r == SQLITE_OK)
		r = add_command(q, report_meta(q->report, "command"));
	if (r == SQLITE_OK)
		r = add_list(q, "PROCESS_0:ENVIRONMENT_VARIABLE", report_meta(q->report, "environment"));
	for (size_t i = 0; r == SQLITE_OK && i < COUNT_OF(facts); i++)
		r = add_pair(q, "META_DATA_CAPTURE", facts[i].name, report_meta(q->report, facts[i].key));
	return r;
}

static int create_export(struct query *q)
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
	int r = facts_execute(q, "CREATE TABLE META_DATA_EXPORT(name TEXT NOT NULL, value TEXT)");

	for (size_t i = 0; r == SQLITE_OK && i < COUNT_OF(facts); i++)
		r = add_pair(q, "META_DATA_EXPORT", facts[i][0], facts[i][1]);
	return r;
}

static int create_system(struct query *q)
{
	/* Numbers of the properties are nsys's; above 10000 they are Sonde's own. */
	static const struct {
		const char *name;
		int number;
		const char *key;
	} facts[] = {
		{ "CpuCores", 1, "cpu_count" }, { "CpuDescription", 13, "cpu" },
		{ "OsDescription", 605, "os" }, { "KernelVersion", 882, "kernel" },
		{ "Hostname", 619, "host" }, { "BootId", 10001, "boot_id" },
	};
	const char *value;
	int r = facts_execute(q, "CREATE TABLE TARGET_INFO_SYSTEM_ENV(globalVid INTEGER, devStateName TEXT NOT NULL, "
			   "name TEXT NOT NULL, nameEnum INTEGER NOT NULL, value TEXT NOT NULL)");

	if (r == SQLITE_OK)
		r = facts_execute(q, "INSERT INTO TARGET_INFO_SYSTEM_ENV SELECT %lld, 'Local (CLI)', substr(rest, instr(rest, ':') + 1), "
				     "CAST(rest AS INTEGER), ifnull(value, '') FROM (SELECT substr(key, 24) AS rest, value FROM "
				     "sonde_meta WHERE substr(key, 1, 23) = 'TARGET_INFO_SYSTEM_ENV:')",
				  (long long)index_global_id(&q->index, 0));
	if (r != SQLITE_OK || sqlite3_changes(q->db) > 0)
		return r; /* an imported report has all of it in nsys's words */
	for (size_t i = 0; r == SQLITE_OK && i < COUNT_OF(facts); i++) {
		value = report_meta(q->report, facts[i].key);
		if (value)
			r = facts_execute(q, "INSERT INTO TARGET_INFO_SYSTEM_ENV VALUES(%lld, 'Local (CLI)', %Q, %d, %Q)",
				    (long long)index_global_id(&q->index, 0), facts[i].name, facts[i].number, value);
	}
	return r;
}

static int create_system_and_driver(struct query *q)
{
	int r = create_system(q);

	if (r == SQLITE_OK)
		r = facts_execute(q, "INSERT OR IGNORE INTO TARGET_INFO_SYSTEM_ENV SELECT %lld, 'Local (CLI)', 'CudaDriverVersion', 611, "
				     "driver FROM sonde_cuda_clock WHERE driver IS NOT NULL LIMIT 1",
				  (long long)index_global_id(&q->index, 0));
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

static int create_start_time(struct query *q)
{
	int64_t utc = meta_number(q, "start_utc_ns", -1);
	const char *told_local = report_meta(q->report, "start_local_time");
	char utc_text[32], local_text[64];
	int r = facts_execute(q, "CREATE TABLE TARGET_INFO_SESSION_START_TIME(utcEpochNs INTEGER, utcTime TEXT, localTime TEXT, "
				 "systemClockNs INTEGER)");

	if (r != SQLITE_OK || utc < 0)
		return r;
	format_time(utc, 0, utc_text, sizeof(utc_text));
	if (told_local)
		snprintf(local_text, sizeof(local_text), "%s", told_local);
	else
		format_time(utc, 1, local_text, sizeof(local_text));
	return facts_execute(q, "INSERT INTO TARGET_INFO_SESSION_START_TIME VALUES(%lld, %Q, %Q, %lld)",
			     (long long)utc, utc_text, local_text, (long long)meta_number(q, "session_start_raw_ns", 0));
}

static int create_details(struct query *q)
{
	int64_t begin = meta_number(q, "session_start_raw_ns", 0);
	int64_t duration = meta_number(q, "duration_ns", -1);
	int r = facts_execute(q, "CREATE TABLE ANALYSIS_DETAILS(globalVid INTEGER NOT NULL, duration INTEGER NOT NULL, "
				 "startTime INTEGER NOT NULL, stopTime INTEGER NOT NULL)");

	if (r != SQLITE_OK || duration < 0)
		return r;
	return facts_execute(q, "INSERT INTO ANALYSIS_DETAILS VALUES(%lld, %lld, %lld, %lld)",
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

int facts_set_aside_if_empty(struct query *q, const char *table)
{
	char *sql = sqlite3_mprintf("SELECT substr(sql, length('CREATE TABLE ')) FROM main.sqlite_master WHERE name = %Q "
				    "AND NOT EXISTS (SELECT 1 FROM main.%s)", table, table);
	char *declaration = NULL;
	int r = sql ? ask_text(q, sql, &declaration) : SQLITE_NOMEM;

	if (r == SQLITE_OK && declaration)
		r = facts_execute(q, "DROP TABLE main.%s; CREATE TEMP TABLE%s", table, declaration);
	sqlite3_free(declaration);
	sqlite3_free(sql);
	return r;
}

static const struct {
	const char *name;
	int (*create)(struct query *q);
} tables[] = {
	{ "META_DATA_CAPTURE", create_capture },
	{ "META_DATA_EXPORT", create_export },
	{ "TARGET_INFO_SYSTEM_ENV", create_system_and_driver },
	{ "TARGET_INFO_SESSION_START_TIME", create_start_time },
	{ "ANALYSIS_DETAILS", create_details },
};

static const char *fact_name(struct query *q, unsigned i)
{
	return i < COUNT_OF(tables) ? tables[i].name : NULL;
}

static int make_fact(struct query *q, unsigned i)
{
	int r = tables[i].create(q);

	return r == SQLITE_OK ? facts_set_aside_if_empty(q, tables[i].name) : r;
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
