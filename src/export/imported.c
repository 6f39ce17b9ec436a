/* Events of other tools (operators, Python functions ...) in exports that are tables: rows of NVTX_EVENTS, which is
 * what readers of nsys's files look at. Each category is a domain. What has no place there is said. */
#include <errno.h>
#include <string.h>

#include "base/idmap.h"
#include "export/internal.h"
#include "query/nsys/unrecorded.h"
#include "report/reader.h"

/* All but those of tables of nsys that are exported under their own names (query/nsys/unrecorded.h). */
#define TABLES_OF_NSYS "FROM sonde_meta WHERE substr(key, 1, length('" NSYS_COLUMNS_KEY "')) = '" NSYS_COLUMNS_KEY "'"
#define NO_TABLE \
	"(domainName IS NULL OR domainName NOT IN (SELECT name FROM main.sqlite_master WHERE type = 'table' AND name IN " \
	"(SELECT substr(key, length('" NSYS_COLUMNS_KEY "') + 1) " TABLES_OF_NSYS ")))"
/* What belongs to no thread may overlap: ranges with a start and an end. Domains are named by a row of their own. */
#define CREATE_RANGES \
	"CREATE TEMP VIEW IF NOT EXISTS sonde_imported_ranges AS SELECT \"start\", \"end\", CASE WHEN eventType = 59 AND " \
	"ifnull(threadUid, 0) = 0 THEN 60 ELSE eventType END AS eventType, rangeId, category, color, text, " \
	"globalTid, endGlobalTid, textId, ifnull(domainId, 0) AS domainId, uint64Value, int64Value, doubleValue, " \
	"uint32Value, int32Value, floatValue, jsonTextId, jsonText, binaryData FROM sonde_imported WHERE " NO_TABLE " UNION ALL " \
	"SELECT min(\"start\"), NULL, 75, NULL, NULL, NULL, domainName, min(globalTid), NULL, NULL, domainId, NULL, " \
	"NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL FROM sonde_imported WHERE domainId IS NOT NULL AND " NO_TABLE " " \
	"GROUP BY processUid, domainId"

bool export_is_imported(const struct export *e, const char *table)
{
	return e->imported > 0 && strcmp(table, "NVTX_EVENTS") == 0;
}

/* Reckoned from sizes of groups where it can be. */
static uint64_t ask_count(struct export *e, const char *sql)
{
	sqlite3_stmt *statement;
	uint64_t count = 0;

	if (query_prepare(e->q, sql, &statement, NULL) == SQLITE_OK && sqlite3_step(statement) == SQLITE_ROW)
		count = (uint64_t)sqlite3_column_int64(statement, 0);
	sqlite3_finalize(statement);
	return count;
}

int export_imported_load(struct export *e, struct error *err)
{
	/* Without a condition it is told without reading. */
	e->imported = ask_count(e, "SELECT count(*) FROM sonde_imported");
	e->has_nsys_tables = e->imported && ask_count(e, "SELECT count(*) " TABLES_OF_NSYS);
	if (e->has_nsys_tables)
		e->imported = ask_count(e, "SELECT count(*) FROM sonde_imported WHERE " NO_TABLE);
	return e->imported ? export_execute(e, err, "%s", CREATE_RANGES) : 0;
}

/* Those of tables of nsys are columns there. */
static uint64_t argument_count(struct export *e)
{
	if (!e->has_nsys_tables)
		return report_row_count(query_report(e->q), TABLE_ARG);
	return ask_count(e, "SELECT count(*) FROM sonde_arg WHERE \"set\" IN (SELECT r.args FROM (SELECT args, class AS domainName FROM "
			    "sonde_nsys_rows) r WHERE " NO_TABLE ")");
}

static int read_counter_tracks(struct export *e, struct idmap *ret)
{
	sqlite3_stmt *statement;
	int r = query_prepare(e->q, "SELECT id FROM sonde_track WHERE kind = 4", &statement, NULL) == SQLITE_OK ? 0 : -EIO;

	while (r >= 0 && sqlite3_step(statement) == SQLITE_ROW)
		r = idmap_put(ret, (uint64_t)sqlite3_column_int64(statement, 0), 1);
	sqlite3_finalize(statement);
	return r;
}

/* Rows of sonde_counter that are no metrics of GPUs. Not by a join: that goes through all groups for each track. */
static uint64_t counter_values(struct export *e)
{
	struct report *report = query_report(e->q);
	struct idmap tracks = { 0 };
	uint64_t count = 0;

	if (read_counter_tracks(e, &tracks) >= 0)
		for (size_t i = 0; i < report_group_count(report, TABLE_COUNTER); i++) {
			const struct report_group *group = report_group(report, TABLE_COUNTER, i);

			if (idmap_get(&tracks, group->track) != IDMAP_NONE)
				count += group->rows;
		}
	idmap_release(&tracks);
	return count;
}

static int put_count(struct buf *note, uint64_t count, const char *what)
{
	return count ? buf_printf(note, "%s%llu %s", note->len ? ", " : "", (unsigned long long)count, what) : 0;
}

/* One line; none where the tables hold everything. */
int export_imported_note(struct export *e, struct buf *ret)
{
	struct report *report = query_report(e->q);
	struct buf left = BUF_INIT;
	int r = put_count(&left, e->imported ? argument_count(e) : 0, "arguments of events");

	if (r >= 0 && report_row_count(report, TABLE_COUNTER))
		r = put_count(&left, counter_values(e), "values of counters");
	if (r >= 0)
		r = put_count(&left, report_row_count(report, TABLE_KERNEL_METRIC), "hardware counters of kernels");
	if (r >= 0 && e->imported)
		r = buf_printf(ret, "%llu events of other tools are rows of NVTX_EVENTS, their categories its domains",
			       (unsigned long long)e->imported);
	if (r >= 0 && left.len)
		r = buf_printf(ret, "%snsys's tables have no place for %s", ret->len ? "; " : "", buf_cstr(&left));
	buf_release(&left);
	return r < 0 ? -ENOMEM : 0;
}
