#include "stats/row_pipe.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "query/index/parallel.h"

#define BATCH_ROWS 1024
#define BATCH_BYTES (256u << 10) /* of texts: one of them may be longer */

struct batch {
	struct cell *cells;
	struct buf texts; /* of the cells: `number` is the place of each */
	size_t rows;
	int full; /* the formatting thread's turn */
};

/* Two batches: one is filled, one is formatted. */
struct row_pipe {
	struct formatter *f;
	size_t column_count;
	struct batch batches[2];
	unsigned filling;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	pthread_t thread;
	int started;
	int alone; /* no thread is to be had */
	int over;
	int result; /* of formatting */
};

int row_pipe_open(struct row_pipe **ret, struct formatter *f, size_t column_count)
{
	struct row_pipe *p = calloc(1, sizeof(*p));

	if (!p)
		return -ENOMEM;
	p->f = f;
	p->column_count = column_count;
	p->alone = parallel_width(2) < 2;
	pthread_mutex_init(&p->lock, NULL);
	pthread_cond_init(&p->changed, NULL);
	for (unsigned i = 0; i < 2; i++) {
		p->batches[i].cells = calloc(BATCH_ROWS * (column_count + 1), sizeof(struct cell));
		if (!p->batches[i].cells) {
			row_pipe_close(p);
			return -ENOMEM;
		}
	}
	*ret = p;
	return 0;
}

static int format_batch(struct row_pipe *p, struct batch *b)
{
	size_t count = b->rows * p->column_count;
	int r = 0;

	for (size_t i = 0; i < count; i++)
		if (b->cells[i].kind == CELL_TEXT)
			b->cells[i].text = b->texts.data + b->cells[i].number;
	for (size_t i = 0; r >= 0 && i < b->rows; i++)
		r = formatter_row(p->f, b->cells + i * p->column_count);
	b->rows = 0;
	buf_clear(&b->texts);
	return r;
}

/* Batches are full in turn. */
static void *format_all(void *context)
{
	struct row_pipe *p = context;
	struct batch *b = &p->batches[0];
	int r;

	pthread_mutex_lock(&p->lock);
	for (;;) {
		while (!b->full && !p->over)
			pthread_cond_wait(&p->changed, &p->lock);
		if (!b->full)
			break;
		r = p->result;
		pthread_mutex_unlock(&p->lock);
		if (r >= 0)
			r = format_batch(p, b);
		pthread_mutex_lock(&p->lock);
		p->result = r;
		b->full = 0;
		pthread_cond_signal(&p->changed);
		b = b == &p->batches[0] ? &p->batches[1] : &p->batches[0];
	}
	pthread_mutex_unlock(&p->lock);
	return NULL;
}

/* Gives the batch away and waits for the other. */
static int hand_over(struct row_pipe *p)
{
	int r;

	if (!p->started && !p->alone) {
		p->started = pthread_create(&p->thread, NULL, format_all, p) == 0;
		p->alone = !p->started;
	}
	if (p->alone)
		return format_batch(p, &p->batches[p->filling]);
	pthread_mutex_lock(&p->lock);
	p->batches[p->filling].full = 1;
	pthread_cond_signal(&p->changed);
	p->filling ^= 1;
	while (p->batches[p->filling].full)
		pthread_cond_wait(&p->changed, &p->lock);
	r = p->result;
	pthread_mutex_unlock(&p->lock);
	p->batches[p->filling].rows = 0;
	buf_clear(&p->batches[p->filling].texts);
	return r;
}

int row_pipe_add(struct row_pipe *p, const struct cell *cells)
{
	struct batch *b = &p->batches[p->filling];
	struct cell *to = b->cells + b->rows * p->column_count;
	int r = 0;

	for (size_t i = 0; r >= 0 && i < p->column_count; i++) {
		to[i] = cells[i];
		if (cells[i].kind != CELL_TEXT)
			continue;
		to[i].number = (int64_t)b->texts.len;
		r = buf_append(&b->texts, cells[i].text, cells[i].len);
	}
	if (r < 0)
		return r;
	b->rows++;
	return b->rows == BATCH_ROWS || b->texts.len >= BATCH_BYTES ? hand_over(p) : 0;
}

static int finish_row_pipe(struct row_pipe *p)
{
	if (p->started) {
		pthread_mutex_lock(&p->lock);
		p->over = 1;
		pthread_cond_signal(&p->changed);
		pthread_mutex_unlock(&p->lock);
		pthread_join(p->thread, NULL);
	}
	return p->result < 0 ? p->result : format_batch(p, &p->batches[p->filling]);
}

int row_pipe_close(struct row_pipe *p)
{
	int r = finish_row_pipe(p);

	for (unsigned i = 0; i < 2; i++) {
		free(p->batches[i].cells);
		buf_release(&p->batches[i].texts);
	}
	pthread_cond_destroy(&p->changed);
	pthread_mutex_destroy(&p->lock);
	free(p);
	return r;
}
