/* Writes small reports, finished and not, as seeds for fuzz_report.
 * Usage: make_report_corpus FOLDER */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "report/write/internal.h"

static void provisional(struct report_writer *w, void *context)
{
	int64_t values[] = { 1000000, 1000001 };

	(void)context;
	report_append_provisional(report_track(w, TABLE_SLICE, 1), values, 3);
}

static void fill(struct report_writer *w, int rows)
{
	uint64_t name = report_string(w, "name", 4), later = report_string_later(w);
	int64_t host[] = { (int64_t)report_string(w, "host", 4), (int64_t)report_string(w, "box", 3) };

	report_append(report_track(w, TABLE_META, 0), host, 3);
	for (int i = 0; i < rows; i++) {
		int64_t slice[] = { i * 300 + i % 7, i * 300 + 100 + i * i % 100, (int64_t)(i % 5 ? name : later), i % 3, i % 4 * 1000000 };
		int64_t count[] = { i * 10, i * i, i };

		report_append(report_track(w, TABLE_SLICE, 1 + (uint32_t)i % 3), slice, i % 4 ? 7 : 31);
		report_append(report_track(w, TABLE_COUNTER, 9), count, i % 2 ? 3 : 5);
	}
	report_string_define(w, later, "later", 5);
	report_blob(w, "bytes", 5);
}

static void copy_file(const char *path, FILE *out)
{
	static char data[1 << 20];
	FILE *f = fopen(path, "r");

	if (!f)
		exit(1);
	fwrite(data, 1, fread(data, 1, sizeof(data), f), out);
	fclose(f);
}

/* The file of a flight recorder: most of it is given up. */
static void make_ring(struct report_writer *w)
{
	int64_t slice[] = { 0, 0 };

	report_writer_keep_last(w, 1000000000, 0);
	for (int64_t i = 0; i < 60; i++) {
		slice[0] = slice[1] = 1000000 + i * 100000000;
		report_append(report_track(w, TABLE_SLICE, 7), slice, 3);
		report_blob(w, "passing", 7);
		report_writer_tick(w, provisional, NULL, NULL);
		report_writer_trim(w, slice[1], 1);
	}
}

/* Puts the file and its journal together as the target expects them. */
static void make_seed(const char *folder, const char *name, int rows, int finish, int ring)
{
	char report[4096], part[4200], journal[4200], path[4200];
	struct report_writer *w;
	uint64_t size;
	FILE *out;

	snprintf(report, sizeof(report), "%s/seed.sonde", folder);
	snprintf(part, sizeof(part), "%s.part", report);
	snprintf(journal, sizeof(journal), "%s.journal", report);
	snprintf(path, sizeof(path), "%s/%s", folder, name);
	if (report_writer_open(&w, report, 1, NULL, 0, NULL) < 0)
		exit(1);
	fill(w, rows);
	report_writer_tick(w, provisional, NULL, NULL);
	if (ring)
		make_ring(w);
	else if (!finish)
		flush_track(w, report_track(w, TABLE_SLICE, 2));
	size = w->size;
	out = fopen(path, "w");
	if (!out)
		exit(1);
	if (finish) {
		size = UINT64_MAX;
		fwrite(&size, 1, sizeof(size), out);
		if (report_writer_finish(w, NULL) < 0)
			exit(1);
		copy_file(report, out);
		unlink(report);
	} else {
		fwrite(&size, 1, sizeof(size), out);
		report_writer_abandon(w);
		copy_file(part, out);
		copy_file(journal, out);
		unlink(part);
		unlink(journal);
	}
	fclose(out);
}

int main(int argc, char **argv)
{
	if (argc != 2)
		return 1;
	make_seed(argv[1], "finished-empty", 0, 1, 0);
	make_seed(argv[1], "finished-small", 20, 1, 0);
	make_seed(argv[1], "finished-groups", 2000, 1, 0);
	make_seed(argv[1], "part-small", 20, 0, 0);
	make_seed(argv[1], "part-groups", 2000, 0, 0);
	make_seed(argv[1], "part-skips", 2000, 0, 1);
	make_seed(argv[1], "part-skips-small", 20, 0, 1);
	return 0;
}
