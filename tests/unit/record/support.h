/* A session without a recorder around it: one process, its pool, a report in a
 * temporary folder, and a clock whose ticks are nanoseconds of the session. */
#ifndef SONDE_TESTS_RECORD_SUPPORT_H
#define SONDE_TESTS_RECORD_SUPPORT_H

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>

#include <cmocka.h>

#include "fake_writer.h"
#include "record/drain/process.h"
#include "record/session/session.h"
#include "report/reader.h"

#define NOW 1000000000 /* every stamp of a test lies before */

struct bench {
	char folder[64];
	char path[128];
	struct session session;
	struct ring_batch *batch;
	struct traced_process *process;
	struct ring_pool *pool;
	struct report *report;
};

int bench_set_up(void **state);
int bench_tear_down(void **state);

struct traced_process *bench_process(struct bench *b, uint64_t uid, const struct process_info *info);
/* Reads and decodes what was written. */
void bench_drain(struct bench *b);
/* Ends all processes, finishes the report and opens it. */
void bench_finish(struct bench *b);

/* The finished report, a row at a time, in the order of the table. */
struct row {
	uint32_t track;
	int64_t values[TABLE_MAX_COLUMNS];
	uint8_t nulls[TABLE_MAX_COLUMNS];
};

size_t bench_rows(struct bench *b, enum table_id table, struct row *rows, size_t cap);
const char *bench_text(struct bench *b, const struct row *row, unsigned column);
/* The only slice of that name; fails the test when there is none or more. */
struct row bench_slice(struct bench *b, const char *name);
/* Sum of LOSS.count of that reason. */
int64_t bench_loss(struct bench *b, enum loss_reason reason);

#endif
