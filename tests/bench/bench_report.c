/* Size and speed of the report on ranges whose truth is known: log-normal ones three deep,
 * and a tight loop. Prints one line per figure. Usage: bench_report [MILLION_RANGES [FOLDER]] */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "bench_support.h"
#include "report/reader.h"
#include "report/writer.h"

#define NAMES 200
#define TICK_ROWS 250000 /* 100 ms at 2.5 million rows a second */

struct row {
	int64_t start;
	int64_t end;
	uint32_t name;
	uint32_t track;
};

static int64_t log_normal(uint64_t *state)
{
	double normal = sqrt(-2 * log(uniform(state))) * cos(6.283185307179586 * uniform(state));

	return (int64_t)(20000 * exp(normal));
}

static int64_t jitter(uint64_t *state)
{
	return 50 + (int64_t)(next_random(state) % 251);
}

static void put(struct row *row, int64_t start, int64_t end, uint32_t track, uint64_t *seed)
{
	*row = (struct row){ start, end, (uint32_t)(next_random(seed) % NAMES), track };
}

/* Leaves are log-normal; two of them make a middle range, two of those an outer one. */
static void make_nested(struct row *rows, size_t count)
{
	uint64_t seed = 1;
	int64_t at = 1000;
	size_t n = 0;

	while (n + 7 <= count) {
		int64_t outer = at;

		at += jitter(&seed);
		for (int m = 0; m < 2; m++) {
			int64_t middle = at;

			for (int leaf = 0; leaf < 2; leaf++) {
				int64_t start = at += jitter(&seed);

				at += log_normal(&seed);
				put(&rows[n++], start, at, 3, &seed);
			}
			at += jitter(&seed);
			put(&rows[n++], middle, at, 2, &seed);
			at += jitter(&seed);
		}
		put(&rows[n++], outer, at, 1, &seed);
		at += jitter(&seed);
	}
	for (; n < count; n++) {
		int64_t start = at += jitter(&seed);

		at += log_normal(&seed);
		put(&rows[n], start, at, 3, &seed);
	}
}

static void make_tight(struct row *rows, size_t count)
{
	uint64_t seed = 2;
	int64_t at = 1000;

	for (size_t i = 0; i < count; i++) {
		int64_t start = at += 25 + (int64_t)(next_random(&seed) % 36);

		at += 25 + (int64_t)(next_random(&seed) % 36);
		rows[i] = (struct row){ start, at, 0, 1 };
	}
}

static void check(int r, const struct error *err)
{
	if (r < 0) {
		fprintf(stderr, "%s\n", err->text);
		exit(1);
	}
}

static void write_rows(const char *path, const struct row *rows, size_t count)
{
	struct report_track *tracks[4];
	struct report_writer *w;
	uint64_t names[NAMES];
	struct error err = { "" };
	double begin, cpu, done;
	char name[64];

	check(report_writer_open(&w, path, 1, NULL, 0, &err), &err);
	for (unsigned i = 0; i < NAMES; i++)
		names[i] = report_string(w, name, (size_t)snprintf(name, sizeof(name), "layer %u forward", i));
	for (unsigned i = 0; i < 4; i++)
		tracks[i] = report_track(w, TABLE_SLICE, i);
	begin = seconds_of(CLOCK_MONOTONIC);
	cpu = seconds_of(CLOCK_PROCESS_CPUTIME_ID);
	for (size_t i = 0; i < count; i++) {
		int64_t values[] = { rows[i].start, rows[i].end, (int64_t)names[rows[i].name] };

		check(report_append(tracks[rows[i].track], values, 7), &err);
		if (i % TICK_ROWS == TICK_ROWS - 1)
			check(report_writer_tick(w, NULL, NULL, &err), &err);
	}
	done = seconds_of(CLOCK_MONOTONIC);
	printf("  append, encode, tick  %6.1f ns/row (%.1f CPU)\n", (done - begin) * 1e9 / (double)count,
	       (seconds_of(CLOCK_PROCESS_CPUTIME_ID) - cpu) * 1e9 / (double)count);
	check(report_writer_finish(w, &err), &err);
	printf("  finish                %6.1f ms\n", (seconds_of(CLOCK_MONOTONIC) - done) * 1e3);
}

static void read_rows(const char *path, size_t count)
{
	static int64_t start[65536], end[65536], name[65536];
	struct error err = { "" };
	double begin = seconds_of(CLOCK_MONOTONIC), opened;
	uint64_t sum = 0, rows = 0;
	struct report *r;

	check(report_open(&r, path, &err), &err);
	opened = seconds_of(CLOCK_MONOTONIC);
	for (size_t g = 0; g < report_group_count(r, TABLE_SLICE); g++) {
		uint32_t n = report_group(r, TABLE_SLICE, g)->rows;

		check(report_column(r, TABLE_SLICE, g, COLUMN_SLICE_START, start, NULL), &err);
		check(report_column(r, TABLE_SLICE, g, COLUMN_SLICE_END, end, NULL), &err);
		check(report_column(r, TABLE_SLICE, g, COLUMN_SLICE_NAME, name, NULL), &err);
		for (uint32_t i = 0; i < n; i++)
			sum += (uint64_t)(end[i] - start[i]) ^ (uint64_t)name[i];
		rows += n;
	}
	printf("  open                  %6.2f ms\n  decode                %6.1f ms (%llu rows, %llx)\n", (opened - begin) * 1e3,
	       (seconds_of(CLOCK_MONOTONIC) - opened) * 1e3, (unsigned long long)rows, (unsigned long long)sum);
	report_close(r);
	if (rows != count)
		exit(1);
}

static void measure(const char *title, const char *path, const struct row *rows, size_t count)
{
	struct stat st;

	printf("%s, %zu ranges\n", title, count);
	write_rows(path, rows, count);
	if (stat(path, &st) == 0)
		printf("  size                  %6.3f bytes/range\n", (double)st.st_size / (double)count);
	read_rows(path, count);
	unlink(path);
}

int main(int argc, char **argv)
{
	size_t count = (argc > 1 ? strtoul(argv[1], NULL, 10) : 10) * 1000000;
	struct row *rows = malloc(count * sizeof(*rows));
	char path[4096];

	if (!rows || !count)
		return 1;
	snprintf(path, sizeof(path), "%s/bench.sonde", argc > 2 ? argv[2] : ".");
	make_nested(rows, count);
	measure("log-normal, three deep, 200 names", path, rows, count);
	make_tight(rows, count);
	measure("tight loop", path, rows, count);
	free(rows);
	return 0;
}
