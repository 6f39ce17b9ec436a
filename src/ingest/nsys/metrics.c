/* Hardware counters and context switches of GPUs. Metrics are many and come in order from SQLite, so they go to the
 * report at once. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "ingest/nsys/internal.h"

/* typeId = HW:8 | VM:8 | source:16 | type:32, whose lowest byte is the GPU. */
#define SOURCE_OF(type) ((type) >> 32 & 0xffff)
#define GPU_OF(type) ((type)&0xff)

static int64_t metric_key(int64_t type, int64_t metric)
{
	return (int64_t)((uint64_t)type * UINT64_C(0x9e3779b97f4a7c15) ^ (uint64_t)metric);
}

static void read_metric_names(struct nsys *n, struct nsys_map *ret)
{
	enum {
		TYPE = NSYS_AT(TARGET_INFO_GPU_METRICS, typeId),
		METRIC = NSYS_AT(TARGET_INFO_GPU_METRICS, metricId),
		NAME = NSYS_AT(TARGET_INFO_GPU_METRICS, metricName)
	};
	struct nsys_rows rows;
	uint64_t name;

	if (!nsys_rows_open(&rows, n, &nsys_tables[NSYS_TARGET_INFO_GPU_METRICS]))
		return;
	while (nsys_rows_next(&rows)) {
		name = nsys_text(&rows, NAME);
		if (name && nsys_map_put(ret, metric_key(nsys_number_or(&rows, TYPE, 0), nsys_number_or(&rows, METRIC, 0)), name) < 0)
			n->sink.result = -ENOMEM;
	}
	nsys_rows_close(&rows);
}

static struct report_track *begin_metric(struct nsys *n, int64_t type, int64_t metric, uint64_t name)
{
	uint32_t present = SINK_BIT(COLUMN_GPU_METRIC_TRACK) | SINK_BIT(COLUMN_GPU_METRIC_GPU) | SINK_BIT(COLUMN_GPU_METRIC_SOURCE) |
			   SINK_BIT(COLUMN_GPU_METRIC_ID) | SINK_BIT(COLUMN_GPU_METRIC_NAME);
	int64_t v[TABLE_MAX_COLUMNS], t[TABLE_MAX_COLUMNS];
	char text[40];

	if (!name) {
		snprintf(text, sizeof(text), "Metric %lld", (long long)metric);
		name = sink_text(&n->sink, text);
	}
	t[COLUMN_TRACK_ID] = ++n->sink.next_track;
	t[COLUMN_TRACK_KIND] = TRACK_GPU_METRIC;
	t[COLUMN_TRACK_DOMAIN] = GPU_OF(type) + 1;
	t[COLUMN_TRACK_DEPTH] = 0;
	t[COLUMN_TRACK_NAME] = (int64_t)name;
	sink_row(&n->sink, TABLE_TRACK, t,
		 SINK_BIT(COLUMN_TRACK_ID) | SINK_BIT(COLUMN_TRACK_KIND) | SINK_BIT(COLUMN_TRACK_DOMAIN) | SINK_BIT(COLUMN_TRACK_DEPTH) |
			 SINK_BIT(COLUMN_TRACK_NAME));
	v[COLUMN_GPU_METRIC_TRACK] = t[COLUMN_TRACK_ID];
	v[COLUMN_GPU_METRIC_GPU] = GPU_OF(type) + 1;
	v[COLUMN_GPU_METRIC_SOURCE] = SOURCE_OF(type);
	v[COLUMN_GPU_METRIC_ID] = metric;
	v[COLUMN_GPU_METRIC_NAME] = (int64_t)name;
	sink_row(&n->sink, TABLE_GPU_METRIC, v, present);
	return report_track(n->sink.writer, TABLE_COUNTER, n->sink.next_track);
}

static void append_nsys_value(const struct nsys_rows *rows, unsigned column, struct report_track *track, int64_t time)
{
	int64_t v[TABLE_MAX_COLUMNS];
	uint32_t present = SINK_BIT(COLUMN_COUNTER_TIME);
	double real;

	v[COLUMN_COUNTER_TIME] = time;
	if (sqlite3_column_type(rows->statement, (int)column) == SQLITE_FLOAT) {
		nsys_real(rows, column, &real);
		memcpy(&v[COLUMN_COUNTER_REAL], &real, sizeof(real));
		present |= SINK_BIT(COLUMN_COUNTER_REAL);
	} else if (nsys_number(rows, column, &v[COLUMN_COUNTER_INTEGER])) {
		present |= SINK_BIT(COLUMN_COUNTER_INTEGER);
	}
	if (report_append(track, v, present) < 0)
		rows->n->untimed++;
	if (time > rows->n->sink.last)
		rows->n->sink.last = time;
}

static void read_values(struct nsys *n, const struct nsys_map *names)
{
	enum {
		TIME = NSYS_AT(GPU_METRICS, timestamp),
		TYPE = NSYS_AT(GPU_METRICS, typeId),
		METRIC = NSYS_AT(GPU_METRICS, metricId),
		VALUE = NSYS_AT(GPU_METRICS, value)
	};
	int64_t type = 0, metric = 0, time, its_type, its_metric;
	struct report_track *track = NULL;
	struct nsys_rows rows;

	if (!nsys_rows_open_sorted(&rows, n, &nsys_tables[NSYS_GPU_METRICS], (const unsigned[]){ TYPE, METRIC, TIME }, 3))
		return;
	while (nsys_rows_next(&rows)) {
		its_type = nsys_number_or(&rows, TYPE, -1);
		its_metric = nsys_number_or(&rows, METRIC, -1);
		if (!nsys_time(&rows, TIME, &time)) {
			n->untimed++;
			continue;
		}
		if (!track || its_type != type || its_metric != metric) {
			if (track)
				report_track_close(track);
			type = its_type;
			metric = its_metric;
			track = begin_metric(n, type, metric, nsys_map_find(names, metric_key(type, metric)));
		}
		if (track)
			append_nsys_value(&rows, VALUE, track, time);
		else
			n->sink.result = -ENOMEM;
	}
	if (track)
		report_track_close(track);
	nsys_rows_close(&rows);
}

static void read_gpu_switches(struct nsys *n)
{
	enum {
		TIME = NSYS_AT(GPU_CONTEXT_SWITCH_EVENTS, timestamp),
		GPU = NSYS_AT(GPU_CONTEXT_SWITCH_EVENTS, gpuId),
		PROCESS = NSYS_AT(GPU_CONTEXT_SWITCH_EVENTS, globalPid)
	};
	int64_t v[TABLE_MAX_COLUMNS], gpu, pid;
	struct nsys_rows rows;
	uint32_t present;

	if (!nsys_rows_open(&rows, n, &nsys_tables[NSYS_GPU_CONTEXT_SWITCH_EVENTS]))
		return;
	while (nsys_rows_next(&rows)) {
		present = SINK_BIT(COLUMN_GPU_SWITCH_TIME) | SINK_BIT(COLUMN_GPU_SWITCH_PID);
		if (!nsys_time(&rows, TIME, &v[0])) {
			n->untimed++;
			continue;
		}
		nsys_fill(&rows, v, &present);
		pid = nsys_number_or(&rows, PROCESS, 0);
		v[COLUMN_GPU_SWITCH_PID] = pid >> 24 & 0xffffff;
		gpu = nsys_number_or(&rows, GPU, -1);
		sink_event(&n->sink, nsys_track(n, TRACK_GPU_SWITCH, TABLE_GPU_SWITCH, 0, 0, gpu >= 0 ? (uint64_t)gpu + 1 : 0, 0), v,
			   present);
	}
	nsys_rows_close(&rows);
}

void nsys_read_metrics(struct nsys *n)
{
	struct nsys_map names = { 0 };

	read_metric_names(n, &names);
	read_values(n, &names);
	nsys_map_release(&names);
	read_gpu_switches(n);
}
