/* How, where and when it was recorded; what the program printed; what the profiler had to say. */
#include <stdlib.h>
#include <string.h>

#include "ingest/nsys/internal.h"

/* Rows of name and value as they stand, and those that readers look for by a name of their own. */
static void read_pairs(struct nsys *n, const struct nsys_table *table)
{
	enum { NAME = NSYS_AT(META_DATA_CAPTURE, name), VALUE = NSYS_AT(META_DATA_CAPTURE, value) };
	static const char *const samplings[][2] = {
		{ "SAMPLING_UNIT", "sampling.unit" },           { "SAMPLING_EVENT", "sampling.event" },
		{ "SAMPLING_PERIOD", "sampling.period" },       { "SAMPLING_FREQUENCY", "sampling.frequency" },
		{ "SAMPLING_BACKTRACE", "sampling.backtrace" },
	};
	const char *name, *value;
	struct nsys_rows rows;
	size_t len;

	if (!nsys_rows_open(&rows, n, table))
		return;
	while (nsys_rows_next(&rows)) {
		name = nsys_cell_text(&rows, NAME, &len);
		value = nsys_cell_text(&rows, VALUE, &len);
		if (!name)
			continue;
		buf_clear(&n->text);
		if (buf_printf(&n->text, "%s:%s", table->name, name) >= 0)
			sink_meta_text(&n->sink, buf_cstr(&n->text), value, len, NULL);
		n->is_ours |= value && strcmp(name, "EXPORT_PRODUCT_NAME") == 0 && strcmp(value, "Sonde") == 0;
		for (unsigned i = 0; value && i < COUNT_OF(samplings); i++)
			if (strcmp(name, samplings[i][0]) == 0)
				sink_meta_text(&n->sink, samplings[i][1], value, len, NULL);
	}
	nsys_rows_close(&rows);
}

static void read_system(struct nsys *n)
{
	enum {
		NAME = NSYS_AT(TARGET_INFO_SYSTEM_ENV, name),
		NUMBER = NSYS_AT(TARGET_INFO_SYSTEM_ENV, nameEnum),
		VALUE = NSYS_AT(TARGET_INFO_SYSTEM_ENV, value)
	};
	const struct nsys_table *table = &nsys_tables[NSYS_TARGET_INFO_SYSTEM_ENV];
	static const char *const own[][2] = {
		{ "CpuCores", "cpu_count" },   { "CpuDescription", "cpu" }, { "OsDescription", "os" },
		{ "KernelVersion", "kernel" }, { "Hostname", "host" },      { "BootId", "boot_id" },
	};
	const char *name, *value;
	struct nsys_rows rows;
	size_t len;

	if (!nsys_rows_open(&rows, n, table))
		return;
	while (nsys_rows_next(&rows)) {
		name = nsys_cell_text(&rows, NAME, &len);
		value = nsys_cell_text(&rows, VALUE, &len);
		if (!name)
			continue;
		buf_clear(&n->text);
		if (buf_printf(&n->text, "%s:%lld:%s", table->name, (long long)nsys_number_or(&rows, NUMBER, 0), name) >= 0)
			sink_meta_text(&n->sink, buf_cstr(&n->text), value, len, NULL);
		for (unsigned i = 0; value && i < COUNT_OF(own); i++)
			if (strcmp(name, own[i][0]) == 0)
				sink_meta_text(&n->sink, own[i][1], value, len, NULL);
	}
	nsys_rows_close(&rows);
}

static void read_session(struct nsys *n)
{
	enum {
		UTC = NSYS_AT(TARGET_INFO_SESSION_START_TIME, utcEpochNs),
		CLOCK = NSYS_AT(TARGET_INFO_SESSION_START_TIME, systemClockNs),
		LOCAL = NSYS_AT(TARGET_INFO_SESSION_START_TIME, localTime)
	};
	enum { DURATION = NSYS_AT(ANALYSIS_DETAILS, duration), START = NSYS_AT(ANALYSIS_DETAILS, startTime) };
	int64_t number, begin = 0;
	int has_begin = 0;
	struct nsys_rows rows;
	const char *local;
	size_t len;

	if (nsys_rows_open(&rows, n, &nsys_tables[NSYS_TARGET_INFO_SESSION_START_TIME])) {
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
	if (nsys_rows_open(&rows, n, &nsys_tables[NSYS_ANALYSIS_DETAILS])) {
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
	sqlite3_stmt *row = nsys_string_row(n, id);
	const char *text = row ? (const char *)sqlite3_column_text(row, 0) : NULL;
	uint64_t blob = text ? report_blob(n->sink.writer, text, (size_t)sqlite3_column_bytes(row, 0)) : 0;

	sqlite3_finalize(row);
	return blob;
}

/* `file`: its number, from 1; 0 for what a process printed. */
static void put_output(struct nsys_rows *rows, uint64_t process, uint64_t name, int64_t content, int64_t file)
{
	uint64_t blob = content == NSYS_NOT_TOLD ? 0 : content_blob(rows->n, content);
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

#define STREAM_AT(column) NSYS_AT(ProcessStreams, column)
static void output(struct nsys_rows *rows)
{
	put_output(rows, nsys_row_process(rows, STREAM_AT(globalPid)), nsys_string(rows, STREAM_AT(filenameId)),
		   nsys_number_or(rows, STREAM_AT(contentId), NSYS_NOT_TOLD), 0);
}

#define FILE_AT(column) NSYS_AT(ANALYSIS_FILE, column)
static void file(struct nsys_rows *rows)
{
	put_output(rows, nsys_row_process(rows, FILE_AT(globalPid)), nsys_text(rows, FILE_AT(filename)),
		   nsys_number_or(rows, FILE_AT(contentId), NSYS_NOT_TOLD), nsys_number_or(rows, FILE_AT(id), 0) + 1);
}

static void diagnostic(struct nsys_rows *rows)
{
	int64_t v[TABLE_MAX_COLUMNS], id;
	uint32_t present = 0;

	nsys_fill(rows, v, &present);
	if (nsys_time(rows, NSYS_AT(DIAGNOSTIC_EVENT, timestamp), &v[COLUMN_DIAGNOSTIC_TIME]))
		present |= SINK_BIT(COLUMN_DIAGNOSTIC_TIME);
	/* Ids of hosts are no processes. */
	if (nsys_number(rows, NSYS_AT(DIAGNOSTIC_EVENT, globalPid), &id)) {
		unsigned at = id > 0 && id >> 24 & 0xffffff ? COLUMN_DIAGNOSTIC_PROCESS : COLUMN_DIAGNOSTIC_ELSEWHERE;

		v[at] = at == COLUMN_DIAGNOSTIC_PROCESS ? (int64_t)nsys_process_uid(rows->n, id) : id;
		present |= SINK_BIT(at);
	}
	sink_row(&rows->n->sink, TABLE_DIAGNOSTIC, v, present);
}

void nsys_read_info(struct nsys *n)
{
	static const struct nsys_reading tables[] = {
		{ NSYS_ProcessStreams, output },
		{ NSYS_ANALYSIS_FILE, file },
		{ NSYS_DIAGNOSTIC_EVENT, diagnostic },
	};

	sink_meta(&n->sink, "sonde_version", SONDE_VERSION);
	sink_meta(&n->sink, "imported", "nsys-sqlite");
	read_session(n);
	read_pairs(n, &nsys_tables[NSYS_META_DATA_CAPTURE]);
	read_pairs(n, &nsys_tables[NSYS_META_DATA_EXPORT]);
	read_system(n);
	nsys_read_tables(n, tables, COUNT_OF(tables));
}
