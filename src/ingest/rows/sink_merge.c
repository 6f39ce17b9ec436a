/* Rows in the file: written as sorted runs, read back merged. */
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "ingest/rows/sink_store.h"
#include "report/format/varint.h"

#define OUTPUT_BYTES (1u << 20)
#define WIDEST_ROW ((STORE_COLUMNS + 1) * VARINT_MAX) /* bytes, in the file */

static int open_unnamed(const char *folder)
{
	char path[PATH_MAX];
	int fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	if (fd >= 0 || snprintf(path, sizeof(path), "%s/.sonde-rows-XXXXXX", folder) >= (int)sizeof(path))
		return fd;
	/* Not every file system has files without a name. */
	fd = mkostemp(path, O_CLOEXEC);
	if (fd >= 0)
		unlink(path);
	return fd;
}

static int open_store_file(const struct store *s)
{
	const char *otherwise = getenv("TMPDIR");
	char folder[PATH_MAX];
	int fd = -1;

	if (s->beside && snprintf(folder, sizeof(folder), "%s", s->beside) < (int)sizeof(folder))
		fd = open_unnamed(dirname(folder));
	return fd >= 0 ? fd : open_unnamed(otherwise && otherwise[0] ? otherwise : "/tmp");
}

int store_output_begin(struct store_output *out, struct store *s)
{
	*out = (struct store_output){ .store = s, .begin = s->size };
	if (s->fd < 0)
		s->fd = open_store_file(s);
	if (s->fd < 0)
		return -errno;
	out->bytes = malloc(OUTPUT_BYTES);
	return out->bytes ? 0 : -ENOMEM;
}

static void write_out(struct store_output *out)
{
	size_t done = 0;
	ssize_t n;

	while (done < out->used && !out->result) {
		n = pwrite(out->store->fd, out->bytes + done, out->used - done, (off_t)(out->store->size + done));
		if (n > 0)
			done += (size_t)n;
		else if (n == 0 || errno != EINTR)
			out->result = n < 0 ? -errno : -EIO;
	}
	out->store->size += out->used;
	out->used = 0;
}

void store_output_row(struct store_output *out, const int64_t *row, int is_span)
{
	uint32_t present = (uint32_t)row[0];
	const int64_t *value = row + 1;
	uint8_t *at;

	if (out->used + WIDEST_ROW > OUTPUT_BYTES)
		write_out(out);
	at = out->bytes + out->used;
	at += varint_write(at, present);
	for (; present; present &= present - 1, value++) {
		unsigned column = (unsigned)__builtin_ctz(present);
		int64_t before = column == 1 && is_span ? row[1] : out->before[column];

		at += varint_write(at, zigzag((int64_t)((uint64_t)*value - (uint64_t)before)));
		out->before[column] = *value;
	}
	out->used = (size_t)(at - out->bytes);
}

void store_output_run(struct store_output *out, struct store_run **runs, uint32_t *count, uint32_t *capacity)
{
	uint64_t end = out->store->size + out->used;

	if (!ARRAY_ROOM(*runs, *count, *capacity, 1)) {
		out->result = -ENOMEM;
		return;
	}
	(*runs)[(*count)++] = (struct store_run){ out->begin, end - out->begin };
	out->begin = end;
	memset(out->before, 0, sizeof(out->before));
}

int store_output_end(struct store_output *out)
{
	write_out(out);
	free(out->bytes);
	return out->result;
}

/* A run being read: a part of the store's memory holds what comes next of it. */
struct input {
	uint8_t *bytes;
	size_t at, count, room;
	uint64_t offset, left; /* in the file */
	int64_t before[STORE_COLUMNS];
	int64_t row[STORE_COLUMNS + 1];
};

struct merge {
	struct store *store;
	int is_span;
	struct input inputs[STORE_FAN];
	uint32_t heap[STORE_FAN];
	uint32_t count;
};

static const int64_t *head(const struct merge *m, uint32_t input)
{
	return m->inputs[input].row;
}

static int refill(struct merge *m, struct input *in)
{
	size_t kept = in->count - in->at, room;
	ssize_t n;

	memmove(in->bytes, in->bytes + in->at, kept);
	in->at = 0;
	in->count = kept;
	while (in->left && in->count < in->room) {
		room = in->room - in->count;
		n = pread(m->store->fd, in->bytes + in->count, room < in->left ? room : (size_t)in->left, (off_t)in->offset);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -EIO;
		in->count += (size_t)n;
		in->offset += (uint64_t)n;
		in->left -= (uint64_t)n;
	}
	return 0;
}

/* 1: the next row is there, 0: there is none. */
static int read_row(struct merge *m, struct input *in)
{
	struct cursor c;
	uint32_t present;
	int64_t *value = in->row + 1, before;

	if (in->left && in->count - in->at < WIDEST_ROW)
		TRY(refill(m, in));
	if (in->at == in->count)
		return 0;
	c = (struct cursor){ in->bytes + in->at, in->bytes + in->count, 0 };
	present = (uint32_t)get_varint(&c);
	in->row[0] = present;
	for (; present; present &= present - 1, value++) {
		unsigned column = (unsigned)__builtin_ctz(present);

		before = column == 1 && m->is_span ? in->row[1] : in->before[column];
		*value = (int64_t)((uint64_t)before + (uint64_t)get_zigzag(&c));
		in->before[column] = *value;
	}
	in->at = (size_t)(c.at - in->bytes);
	return c.failed ? -EIO : 1;
}

/* Runs are numbered in order of arrival. */
static int belongs_later(const struct merge *m, uint32_t a, uint32_t b)
{
	const int64_t *x = head(m, a), *y = head(m, b);

	if (store_out_of_order(x, y, m->is_span))
		return 1;
	return a > b && !store_out_of_order(y, x, m->is_span);
}

static void sift_run_down(struct merge *m, uint32_t at)
{
	uint32_t moved = m->heap[at], child;

	while ((child = 2 * at + 1) < m->count) {
		if (child + 1 < m->count && belongs_later(m, m->heap[child], m->heap[child + 1]))
			child++;
		if (!belongs_later(m, moved, m->heap[child]))
			break;
		m->heap[at] = m->heap[child];
		at = child;
	}
	m->heap[at] = moved;
}

static int open_inputs(struct merge *m, const struct store_run *runs, uint32_t count)
{
	size_t room = m->store->capacity * sizeof(*m->store->words) / count;
	struct input *in;
	int r = 1;

	m->count = count;
	for (uint32_t i = 0; i < count && r > 0; i++) {
		in = &m->inputs[i];
		memset(in, 0, sizeof(*in));
		in->bytes = (uint8_t *)m->store->words + i * room;
		in->room = room;
		in->offset = runs[i].offset;
		in->left = runs[i].bytes;
		m->heap[i] = i;
		r = read_row(m, in);
	}
	for (uint32_t i = count / 2; i-- && r > 0;)
		sift_run_down(m, i);
	TRY(r);
	return r ? 0 : -EIO; /* a run has at least one row */
}

/* Behind the row that was taken; a run that has ended leaves the heap. */
static int advance_merge(struct merge *m)
{
	int r = read_row(m, &m->inputs[m->heap[0]]);

	TRY(r);
	if (r == 0)
		m->heap[0] = m->heap[--m->count];
	if (m->count)
		sift_run_down(m, 0);
	return 0;
}

static int merge_runs(struct store *s, const struct store_run *runs, uint32_t count, int is_span, store_fn take, void *context)
{
	struct merge *m = malloc(sizeof(*m));
	int r;

	if (!m)
		return -ENOMEM;
	m->store = s;
	m->is_span = is_span;
	r = open_inputs(m, runs, count);
	while (m->count && r == 0) {
		take(context, head(m, m->heap[0]));
		r = advance_merge(m);
	}
	free(m);
	return r;
}

static void write_span(void *context, const int64_t *row)
{
	store_output_row(context, row, 1);
}

static void write_point(void *context, const int64_t *row)
{
	store_output_row(context, row, 0);
}

/* Of each STORE_FAN runs that follow each other one is made. */
static int make_fewer(struct store *s, struct store_track *t)
{
	struct store_run *runs = t->runs;
	uint32_t count = t->run_count, part;
	struct store_output out;
	int r = store_output_begin(&out, s);

	t->runs = NULL;
	t->run_count = t->run_capacity = 0;
	for (uint32_t i = 0; i < count && r == 0; i += part) {
		part = count - i < STORE_FAN ? count - i : STORE_FAN;
		r = merge_runs(s, runs + i, part, t->is_span, t->is_span ? write_span : write_point, &out);
		store_output_run(&out, &t->runs, &t->run_count, &t->run_capacity);
		if (r == 0)
			r = out.result;
	}
	free(runs);
	return r < 0 ? (store_output_end(&out), r) : store_output_end(&out);
}

int store_merge(struct store *s, struct store_track *t, store_fn take, void *context)
{
	int r = 0;

	while (t->run_count > STORE_FAN && r == 0)
		r = make_fewer(s, t);
	return r == 0 && t->run_count ? merge_runs(s, t->runs, t->run_count, t->is_span, take, context) : r;
}
