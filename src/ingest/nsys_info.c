/* How, where and when it was recorded; what the program printed; what the profiler had to say. */
#include <stdlib.h>
#include <string.h>

#include "ingest/nsys_internal.h"

#define OTHER(name) { name, NSYS_OTHER, 0, 0 }
#define PUT(name, target) { name, NSYS_NUMBER, COLUMN_##target, 0 }

/* Rows of name and value as they stand, and those that readers look for by a name of their own. */
static void read_pairs(struct nsys *n, const char *table)
{
	enum { NAME, VALUE };
	static const struct nsys_column columns[] = { OTHER("name"), OTHER("value") };
	static const char *const samplings[][2] = {
		{ "SAMPLING_UNIT", "sampling.unit" }, { "SAMPLING_EVENT", "sampling.event" },
		{ "SAMPLING_PERIOD", "sampling.period" }, { "SAMPLING_FREQUENCY", "sampling.frequency" },
		{ "SAMPLING_BACKTRACE", "sampling.backtrace" },
	};
	const char *name, *value;
	struct nsys_rows rows;
	size_t len;

	if (!nsys_rows_open(&rows, n, table, columns, NSYS_COUNT(columns), NULL))
		return;
	while (nsys_rows_next(&rows)) {
		name = nsys_cell_text(&rows, NAME, &len);
		value = nsys_cell_text(&rows, VALUE, &len);
		if (!name)
			continue;
		buf_clear(&n->text);
		if (buf_printf(&n->text, "%s:%s", table, name) >= 0)
			sink_meta_text(&n->sink, buf_cstr(&n->text), value, len, NULL);
		n->is_ours |= value && strcmp(name, "EXPORT_PRODUCT_NAME") == 0 && strcmp(value, "Sonde") == 0;
		for (unsigned i = 0; value && i < NSYS_COUNT(samplings); i++)
			if (strcmp(name, samplings[i][0]) == 0)
				sink_meta_text(&n->sink, samplings[i][1], value, len, NULL);
	}
	nsys_rows_close(&rows);
}

static void read_system(struct nsys *n)
{
	enum { NAME, NUMBER, VALUE };
	static const struct nsys_column columns[] = { OTHER("name"), OTHER("nameEnum"), OTHER("value") };
	static const char *const own[][2] = {
		{ "CpuCores", "cpu_count" }, { "CpuDescription", "cpu" }, { "OsDescription", "os" },
		{ "KernelVersion", "kernel" }, { "Hostname", "host" }, { "BootId", "boot_id" },
	};
	const char *name, *value;
	struct nsys_rows rows;
	size_t len;

	if (!nsys_rows_open(&rows, n, "TARGET_INFO_SYSTEM_ENV", columns, NSYS_COUNT(columns), NULL))
		return;
	while (nsys_rows_next(&rows)) {
		name = nsys_cell_text(&rows, NAME, &len);
		value = nsys_cell_text(&rows, VALUE, &len);
		if (!name)
			continue;
		buf_clear(&n->text);
		if (buf_printf(&n->text, "TARGET_INFO_SYSTEM_ENV:%lld:%s", (long long)nsys_number_or(&rows, NUMBER, 0), name) >= 0)
			sink_meta_text(&n->sink, buf_cstr(&n->text), value, len, NULL);
		for (unsigned i = 0; value && i < NSYS_COUNT(own); i++)
			if (strcmp(name, own[i][0]) == 0)
				sink_meta_text(&n->sink, own[i][1], value, len, NULL);
	}
	nsys_rows_close(&rows);
}

static void read_session(struct nsys *n)
{
	enum { UTC, CLOCK, UTC_TEXT, LOCAL };
	static const struct nsys_column columns[] = { OTHER("utcEpochNs"), OTHER("systemClockNs"), OTHER("utcTime"),
						      OTHER("localTime") };
	enum { DURATION, START };
	static const struct nsys_column details[] = { OTHER("duration"), OTHER("startTime"), OTHER("stopTime"),
						      OTHER("globalVid") };
	int64_t number, begin = 0;
	int has_begin = 0;
	struct nsys_rows rows;
	const char *local;
	size_t len;

	if (nsys_rows_open(&rows, n, "TARGET_INFO_SESSION_START_TIME", columns, NSYS_COUNT(columns), NULL)) {
		if (nsys_rows_next(&rows)) {
			if (nsys_number(&rows, UTC, &number))
				sink_meta_number(&n->sink, "start_utc_ns", number);
			has_begin = nsys_number(&rows, CLOCK, &begin);
			local = nsys_cell_text(&rows, LOCAL, &len);
			if (local)
				sink_meta_text(&n->sink, "start_local_time", local, len, NULL);
		}
		nsys_rows_close(&rows);
	}
	if (nsys_rows_open(&rows, n, "ANALYSIS_DETAILS", details, NSYS_COUNT(details), NULL)) {
		if (nsys_rows_next(&rows)) {
			if (nsys_time(&rows, DURATION, &number) && number >= 0)
				n->duration = number;
			if (nsys_number(&rows, START, &number)) {
				begin = number;
				has_begin = 1;
			}
		}
		nsys_rows_close(&rows);
	}
	if (has_begin)
		sink_meta_number(&n->sink, "session_start_raw_ns", begin);
}

/* The blob of a text among the strings; 0 where it is not in the file. */
static uint64_t content_blob(struct nsys *n, int64_t id)
{
	sqlite3_stmt *statement;
	const char *text;
	uint64_t blob = 0;

	if (sqlite3_prepare_v2(n->db, "SELECT value FROM StringIds WHERE id = ?", -1, &statement, NULL) != SQLITE_OK)
		return 0;
	sqlite3_bind_int64(statement, 1, id);
	text = sqlite3_step(statement) == SQLITE_ROW ? (const char *)sqlite3_column_text(statement, 0) : NULL;
	if (text)
		blob = report_blob(n->sink.writer, text, (size_t)sqlite3_column_bytes(statement, 0));
	sqlite3_finalize(statement);
	return blob;
}

/* `file`: its number, from 1; 0 for what a process printed. */
static void put_output(struct nsys_rows *rows, uint64_t name, int64_t content, int64_t file)
{
	uint64_t process = nsys_row_process(rows, 0), blob = content == NSYS_NOT_TOLD ? 0 : content_blob(rows->n, content);
	uint32_t present = SINK_BIT(COLUMN_OUTPUT_STREAM_PROCESS);
	int64_t v[TABLE_MAX_COLUMNS];

	rows->n->contentless += !blob && content != NSYS_NOT_TOLD;
	if (!blob && !file) /* an output without a text has none in nsys's tables */
		blob = report_blob(rows->n->sink.writer, "", 0);
	v[COLUMN_OUTPUT_STREAM_PROCESS] = (int64_t)process;
	v[COLUMN_OUTPUT_STREAM_NAME] = (int64_t)name;
	v[COLUMN_OUTPUT_STREAM_BLOB] = (int64_t)blob;
	v[COLUMN_OUTPUT_STREAM_FILE] = file;
	present |= (name ? SINK_BIT(COLUMN_OUTPUT_STREAM_NAME) : 0) | (blob ? SINK_BIT(COLUMN_OUTPUT_STREAM_BLOB) : 0) |
		   (file ? SINK_BIT(COLUMN_OUTPUT_STREAM_FILE) : 0);
	sink_row(&rows->n->sink, TABLE_OUTPUT_STREAM, v, present);
}

static void read_outputs(struct nsys *n)
{
	static const struct nsys_column columns[] = { OTHER("globalPid"), OTHER("filenameId"), OTHER("contentId") };
	static const struct nsys_column files[] = { OTHER("globalPid"), OTHER("filename"), OTHER("contentId"), OTHER("id") };
	struct nsys_rows rows;

	if (nsys_rows_open(&rows, n, "ProcessStreams", columns, NSYS_COUNT(columns), NULL)) {
		while (nsys_rows_next(&rows))
			put_output(&rows, nsys_string(&rows, 1), nsys_number_or(&rows, 2, NSYS_NOT_TOLD), 0);
		nsys_rows_close(&rows);
	}
	if (nsys_rows_open(&rows, n, "ANALYSIS_FILE", files, NSYS_COUNT(files), NULL)) {
		while (nsys_rows_next(&rows))
			put_output(&rows, nsys_text(&rows, 1), nsys_number_or(&rows, 2, NSYS_NOT_TOLD), nsys_number_or(&rows, 3, 0) + 1);
		nsys_rows_close(&rows);
	}
}

static void read_diagnostics(struct nsys *n)
{
	enum { TIME, PROCESS };
	static const struct nsys_column columns[] = {
		OTHER("timestamp"), OTHER("globalPid"), PUT("source", DIAGNOSTIC_SOURCE), PUT("severity", DIAGNOSTIC_SEVERITY),
		{ "text", NSYS_TEXT, COLUMN_DIAGNOSTIC_TEXT, 0 }, PUT("timestampType", DIAGNOSTIC_CLOCK),
	};
	int64_t v[TABLE_MAX_COLUMNS], id;
	struct nsys_rows rows;
	uint32_t present;

	if (!nsys_rows_open(&rows, n, "DIAGNOSTIC_EVENT", columns, NSYS_COUNT(columns), NULL))
		return;
	while (nsys_rows_next(&rows)) {
		present = 0;
		nsys_fill(&rows, v, &present);
		if (nsys_time(&rows, TIME, &v[COLUMN_DIAGNOSTIC_TIME]))
			present |= SINK_BIT(COLUMN_DIAGNOSTIC_TIME);
		/* Ids of hosts are no processes. */
		if (nsys_number(&rows, PROCESS, &id)) {
			unsigned at = id > 0 && id >> 24 & 0xffffff ? COLUMN_DIAGNOSTIC_PROCESS : COLUMN_DIAGNOSTIC_ELSEWHERE;

			v[at] = at == COLUMN_DIAGNOSTIC_PROCESS ? (int64_t)nsys_process_uid(n, id) : id;
			present |= SINK_BIT(at);
		}
		sink_row(&n->sink, TABLE_DIAGNOSTIC, v, present);
	}
	nsys_rows_close(&rows);
}

void nsys_read_info(struct nsys *n)
{
	sink_meta(&n->sink, "sonde_version", SONDE_VERSION);
	sink_meta(&n->sink, "imported", "nsys-sqlite");
	read_session(n);
	read_pairs(n, "META_DATA_CAPTURE");
	read_pairs(n, "META_DATA_EXPORT");
	read_system(n);
	read_outputs(n);
	read_diagnostics(n);
}
