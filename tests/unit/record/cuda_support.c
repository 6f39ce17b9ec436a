#include "cuda_support.h"

#include <stdlib.h>
#include <string.h>

void put_record(struct fake_writer *w, unsigned type, unsigned flags, unsigned domain, void *record, size_t size, const char *text)
{
	uint8_t bytes[4096];
	size_t length = strlen(text);

	*(uint64_t *)record = record_head(type, flags, (unsigned)(size + length), 0, domain);
	memcpy(bytes, record, size);
	memcpy(bytes + size, text, length);
	assert_true(fake_write(w, bytes, (uint32_t)(size + length)));
}

void put_definition(struct fake_writer *w, unsigned kind, uint64_t time, uint64_t id, uint64_t extra, const void *body, size_t size,
		    const char *text)
{
	size_t length = strlen(text);
	struct record_define define = { record_head(RECORD_DEFINE, kind, (unsigned)(sizeof(define) + size + length), 0, 0), time, id,
					extra };
	uint8_t bytes[8000];

	memcpy(bytes, &define, sizeof(define));
	if (size)
		memcpy(bytes + sizeof(define), body, size);
	memcpy(bytes + sizeof(define) + size, text, length);
	assert_true(fake_write(w, bytes, (uint32_t)(sizeof(define) + size + length)));
}

void put_api(struct fake_writer *w, uint32_t tid, unsigned call, uint32_t correlation, uint64_t start, uint64_t end)
{
	struct record_cuda_api r = { .time = start, .end = end, .tid = tid, .correlation = correlation };

	put_record(w, RECORD_CUDA_API, 0, call, &r, sizeof(r), "");
}

void put_kernel(struct fake_writer *w, uint32_t stream, uint32_t launch, uint32_t correlation, uint64_t start, uint64_t end)
{
	struct record_cuda_kernel r = {
		.time = start, .end = end, .launch = launch, .grid = 1000 + correlation, .place = { DEVICE, CONTEXT, stream, correlation }
	};

	put_record(w, RECORD_CUDA_KERNEL, 0, 0, &r, sizeof(r), "");
}

void put_sync(struct fake_writer *w, uint32_t kind, uint32_t stream, uint32_t correlation, uint64_t start, uint64_t end)
{
	struct record_cuda_sync r = {
		.time = start, .end = end, .kind = kind, .event = CUDA_NO_ID, .place = { CUDA_NO_ID, CONTEXT, stream, correlation }
	};

	put_record(w, RECORD_CUDA_SYNC, 1, 0, &r, sizeof(r), "");
}

void put_batch(struct fake_writer *w, uint64_t dropped)
{
	struct record_cuda_batch r = { .time = NOW, .dropped = dropped };

	put_record(w, RECORD_CUDA_BATCH, 0, 0, &r, sizeof(r), "");
}

void put_launch(struct fake_writer *w, uint32_t launch, uint32_t function, int32_t grid_x)
{
	/* clang-format off */
	struct cuda_wire_launch body = { .function = function, .grid = { grid_x, 2, 3 }, .block = { 64, 1, 1 },
					 .registers = 40, .priority = INT32_MIN, .carveout = 0xff,
					 .cluster_potential = CUDA_NO_ID, .cluster_active = CUDA_NO_ID };
	/* clang-format on */

	put_definition(w, DEFINE_CUDA_LAUNCH, 20, launch, 0, &body, sizeof(body), "");
}

void put_function(struct fake_writer *w, uint32_t function, const char *name)
{
	put_definition(w, DEFINE_CUDA_FUNCTION, 20, function, 0, NULL, 0, name);
}

void put_call(struct fake_writer *w, unsigned call, const char *name)
{
	put_definition(w, DEFINE_CUDA_CALL, 20, call, 0, NULL, 0, name);
}

static int by_first(const void *pa, const void *pb)
{
	const struct row *a = pa, *b = pb;

	return a->values[0] < b->values[0] ? -1 : a->values[0] > b->values[0];
}

size_t count_rows(struct bench *b, enum table_id table)
{
	size_t count = 0;

	for (size_t g = 0; g < report_group_count(b->report, table); g++)
		count += report_group(b->report, table, g)->rows;
	return count;
}

struct row *rows_of(struct bench *b, enum table_id table, size_t *ret_count)
{
	size_t count = count_rows(b, table);
	struct row *rows = calloc(count + 1, sizeof(*rows));

	assert_int_equal(bench_rows(b, table, rows, count), count);
	qsort(rows, count, sizeof(*rows), by_first);
	*ret_count = count;
	return rows;
}

struct row row_where(struct bench *b, enum table_id table, unsigned column, int64_t value)
{
	size_t count, found = 0;
	struct row *rows = rows_of(b, table, &count), row;

	memset(&row, 0, sizeof(row));
	for (size_t i = 0; i < count; i++) {
		if (rows[i].nulls[column] || rows[i].values[column] != value)
			continue;
		row = rows[i];
		found++;
	}
	free(rows);
	if (found != 1)
		fail_msg("%zu rows of %s with column %u = %lld", found, table_schema(table)->name, column, (long long)value);
	return row;
}

struct row track_of(struct bench *b, uint32_t track)
{
	return row_where(b, TABLE_TRACK, COLUMN_TRACK_ID, track);
}
