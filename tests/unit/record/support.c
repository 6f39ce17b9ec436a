#include "support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "record/cuda/cuda.h"
#include "record/drain/decode.h"
#include "record/nvtx/definitions.h"
#include "record/session/gpus.h"
#include "record/drain/osrt.h"
#include "record/perf/sched.h"
#include "record/session/address_space.h"
#include "record/stacks/stacks.h"
#include "ring/wire.h"

#define MAX_ROWS 4096

struct traced_process *bench_process(struct bench *b, uint64_t uid, const struct process_info *info)
{
	struct ring_pool_size size = { .slots = 64, .chunks = 64, .initial_chunks = 32, .reserve = 2 };
	struct traced_process *p = process_new(uid, info);
	int fd;

	assert_non_null(p);
	assert_int_equal(ring_reader_create(&p->reader, &size, &fd, NULL), 0);
	close(fd);
	p->reader.owner = p;
	process_begin(&b->session, p);
	return p;
}

int bench_set_up(void **state)
{
	struct bench *b = calloc(1, sizeof(*b));
	struct clock_snapshot first = { .ticks = 0, .raw = 0 };
	struct clock_snapshot last = { .ticks = NOW, .raw = NOW };
	struct process_info info = { .pid = 1000, .inner_pid = 1000, .origin = WIRE_ORIGIN_EXEC, .name = "bench" };
	struct error err;

	strcpy(b->folder, "sonde-test-XXXXXX");
	assert_non_null(mkdtemp(b->folder));
	snprintf(b->path, sizeof(b->path), "%s/r.sonde", b->folder);
	assert_int_equal(report_writer_open(&b->session.writer, b->path, 0, NULL, 0, &err), 0);
	timebase_init(&b->session.time, 0, 0);
	assert_int_equal(timebase_add(&b->session.time, &first), 1);
	assert_true(timebase_add(&b->session.time, &last) >= 0);
	b->session.now = NOW;
	roster_init(&b->session.roster);
	b->batch = ring_batch_new();
	b->process = bench_process(b, 1, &info);
	b->pool = ring_reader_pool(&b->process->reader);
	*state = b;
	return 0;
}

int bench_tear_down(void **state)
{
	struct bench *b = *state;

	if (b->session.writer)
		bench_finish(b);
	report_close(b->report);
	for (uint32_t i = 0; i < SESSION_DEAD_DEFINITIONS; i++)
		definitions_unref(b->session.dead_definitions[i]);
	sched_release(&b->session);
	roster_release(&b->session.roster);
	osrt_session_release(&b->session);
	stacks_release(&b->session);
	cuda_session_release(&b->session);
	spaces_release(&b->session);
	idmap_release(&b->session.process_uids);
	timebase_release(&b->session.time);
	ring_batch_free(b->batch);
	unlink(b->path);
	rmdir(b->folder);
	free(b);
	return 0;
}

static void decode(struct bench *b)
{
	decode_batch(&b->session, b->batch);
	b->batch->used = b->batch->count = 0;
}

void bench_drain(struct bench *b)
{
	for (struct traced_process *p = b->session.processes; p; p = p->next) {
		while (ring_reader_collect(&p->reader, b->batch))
			decode(b);
		decode(b);
	}
}

void bench_finish(struct bench *b)
{
	struct error err = { "" };
	int r;

	bench_drain(b);
	while (b->session.processes)
		process_end(&b->session, b->session.processes, NOW);
	gpus_finish(&b->session);
	r = report_writer_finish(b->session.writer, &err);
	b->session.writer = NULL;
	if (r < 0)
		fail_msg("finish: %s", err.text);
	if (report_open(&b->report, b->path, &err) < 0)
		fail_msg("open: %s", err.text);
}

static size_t group_rows(struct bench *b, enum table_id table, size_t g, struct row *rows, size_t cap)
{
	const struct report_group *group = report_group(b->report, table, g);
	int64_t *values = calloc(group->rows, sizeof(*values));
	uint8_t *nulls = calloc(group->rows, 1);

	assert_true(group->rows <= cap);
	for (unsigned c = 0; c < table_schema(table)->column_count; c++) {
		assert_int_equal(report_column(b->report, table, g, c, values, nulls), 0);
		for (uint32_t i = 0; i < group->rows; i++) {
			rows[i].track = group->track;
			rows[i].values[c] = values[i];
			rows[i].nulls[c] = nulls[i];
		}
	}
	free(values);
	free(nulls);
	return group->rows;
}

size_t bench_rows(struct bench *b, enum table_id table, struct row *rows, size_t cap)
{
	size_t count = 0;

	for (size_t g = 0; g < report_group_count(b->report, table); g++)
		count += group_rows(b, table, g, rows + count, cap - count);
	return count;
}

const char *bench_text(struct bench *b, const struct row *row, unsigned column)
{
	return row->nulls[column] ? NULL : report_text(b->report, (uint64_t)row->values[column], NULL);
}

struct row bench_slice(struct bench *b, const char *name)
{
	struct row *rows = calloc(MAX_ROWS, sizeof(*rows)), found;
	size_t count = bench_rows(b, TABLE_SLICE, rows, MAX_ROWS), matches = 0;
	const char *text;

	for (size_t i = 0; i < count; i++) {
		text = bench_text(b, &rows[i], COLUMN_SLICE_NAME);
		if (text && strcmp(text, name) == 0) {
			found = rows[i];
			matches++;
		}
	}
	free(rows);
	if (matches != 1)
		fail_msg("%zu slices named %s", matches, name);
	return found;
}

int64_t bench_loss(struct bench *b, enum loss_reason reason)
{
	struct row *rows = calloc(MAX_ROWS, sizeof(*rows));
	size_t count = bench_rows(b, TABLE_LOSS, rows, MAX_ROWS);
	int64_t sum = 0;

	for (size_t i = 0; i < count; i++)
		if (rows[i].values[COLUMN_LOSS_REASON] == (int64_t)reason)
			sum += rows[i].values[COLUMN_LOSS_COUNT];
	free(rows);
	return sum;
}
