/* CUDA records as an agent writes them. */
#ifndef SONDE_TESTS_RECORD_CUDA_SUPPORT_H
#define SONDE_TESTS_RECORD_CUDA_SUPPORT_H

#include "fmt/cuda_wire.h"
#include "support.h"

/* Any record: the head is put in, `extra` bytes of text follow. */
void put_record(struct fake_writer *w, unsigned type, unsigned flags, unsigned domain, void *record, size_t size, const char *text);
void put_definition(struct fake_writer *w, unsigned kind, uint64_t time, uint64_t id, uint64_t extra, const void *body, size_t size,
		    const char *text);

void put_api(struct fake_writer *w, uint32_t tid, unsigned call, uint32_t correlation, uint64_t start, uint64_t end);
void put_kernel(struct fake_writer *w, uint32_t stream, uint32_t launch, uint32_t correlation, uint64_t start, uint64_t end);
void put_sync(struct fake_writer *w, uint32_t kind, uint32_t stream, uint32_t correlation, uint64_t start, uint64_t end);
void put_batch(struct fake_writer *w, uint64_t dropped);
void put_launch(struct fake_writer *w, uint32_t launch, uint32_t function, int32_t grid_x);
void put_function(struct fake_writer *w, uint32_t function, const char *name);
void put_call(struct fake_writer *w, unsigned call, const char *name);

/* The rows of a table, sorted by their first column; freed by the caller. */
struct row *rows_of(struct bench *b, enum table_id table, size_t *ret_count);
/* The only row of a table whose column has that value. */
struct row row_where(struct bench *b, enum table_id table, unsigned column, int64_t value);
size_t count_rows(struct bench *b, enum table_id table);
/* TRACK's row. */
struct row track_of(struct bench *b, uint32_t track);

#define CONTEXT 1u
#define DEVICE 0u

#endif
