#include "support.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int folder_setup(void **state)
{
	char folder[] = "./report-test-XXXXXX";
	char *path;

	if (!mkdtemp(folder) || asprintf(&path, "%s/x.sonde", folder) < 0)
		return -1;
	*state = path;
	return 0;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *where)
{
	(void)st;
	(void)type;
	(void)where;
	return remove(path);
}

int folder_teardown(void **state)
{
	char *path = *state;

	*strrchr(path, '/') = '\0';
	nftw(path, remove_one, 8, FTW_DEPTH | FTW_PHYS);
	free(path);
	return 0;
}

const char *beside(const char *path, const char *suffix)
{
	static char names[8][512];
	static unsigned next;
	char *name = names[next++ % 8];

	snprintf(name, sizeof(names[0]), "%s%s", path, suffix);
	return name;
}

int exists(const char *path)
{
	return access(path, F_OK) == 0;
}

void write_bytes(const char *path, const void *data, size_t size)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	assert_int_equal(fwrite(data, 1, size, f), size);
	assert_int_equal(fclose(f), 0);
}

void *read_bytes(const char *path, size_t *ret_size)
{
	FILE *f = fopen(path, "r");
	struct stat st;
	char *data;

	assert_non_null(f);
	assert_int_equal(fstat(fileno(f), &st), 0);
	data = malloc((size_t)st.st_size + 1);
	assert_non_null(data);
	assert_int_equal(fread(data, 1, (size_t)st.st_size, f), st.st_size);
	fclose(f);
	*ret_size = (size_t)st.st_size;
	return data;
}

struct report_writer *open_writer(const char *path)
{
	struct report_writer *w;
	struct error err = { "" };

	if (report_writer_open(&w, path, 0, NULL, 0, &err) < 0)
		fail_msg("%s", err.text);
	return w;
}

struct report *open_report(const char *path)
{
	struct report *r;
	struct error err = { "" };

	if (report_open(&r, path, &err) < 0)
		fail_msg("%s", err.text);
	return r;
}

void add_slice(struct report_writer *w, uint32_t track, int64_t start, int64_t end, uint64_t name)
{
	int64_t values[] = { start, end, (int64_t)name };

	assert_int_equal(report_append(report_track(w, TABLE_SLICE, track), values, 7), 0);
}

int64_t *whole_column(const struct report *r, enum table_id table, unsigned column, uint8_t *nulls)
{
	int64_t *values = calloc(report_row_count(r, table) + 1, sizeof(*values));

	assert_non_null(values);
	for (size_t i = 0; i < report_group_count(r, table); i++) {
		uint64_t first = report_group(r, table, i)->first_row;

		assert_int_equal(report_column(r, table, i, column, values + first, nulls ? nulls + first : NULL), 0);
	}
	return values;
}

uint64_t next_random(uint64_t *state)
{
	uint64_t z = (*state += 0x9e3779b97f4a7c15u);

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return z ^ z >> 31;
}
