#include "view/server/pool.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#define MAX_THREADS 8

enum { QUEUE_QUICK, QUEUE_SLOW, QUEUE_COUNT };

struct queue {
	struct pool_job *first;
	struct pool_job **end;
};

struct pool {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct queue queues[QUEUE_COUNT];
	struct queue done;
	int fd;
	bool stopping;
	unsigned alive;
	struct pool_thread {
		struct pool *pool;
		unsigned queue;
		pthread_t id;
	} threads[MAX_THREADS + 1];
	unsigned count;
};

static void queue_init(struct queue *q)
{
	q->first = NULL;
	q->end = &q->first;
}

static void queue_put(struct queue *q, struct pool_job *job)
{
	job->next = NULL;
	*q->end = job;
	q->end = &job->next;
}

static struct pool_job *queue_take(struct queue *q)
{
	struct pool_job *job = q->first;

	if (job)
		q->first = job->next;
	if (!q->first)
		q->end = &q->first;
	return job;
}

static void wake_event_loop(struct pool *p)
{
	(void)!eventfd_write(p->fd, 1);
}

static void *run_thread(void *context)
{
	struct pool_thread *t = context;
	struct pool *p = t->pool;
	struct pool_job *job;

	pthread_mutex_lock(&p->lock);
	while (!p->stopping) {
		job = queue_take(&p->queues[t->queue]);
		if (!job) {
			pthread_cond_wait(&p->changed, &p->lock);
			continue;
		}
		pthread_mutex_unlock(&p->lock);
		job->work(job);
		pthread_mutex_lock(&p->lock);
		queue_put(&p->done, job);
		wake_event_loop(p);
	}
	p->alive--;
	pthread_cond_broadcast(&p->changed);
	pthread_mutex_unlock(&p->lock);
	return NULL;
}

static int start_threads(struct pool *p, unsigned threads)
{
	int r = 0;

	for (unsigned i = 0; i <= threads && i <= MAX_THREADS && r == 0; i++) {
		p->threads[i] = (struct pool_thread){ .pool = p, .queue = i == 0 ? QUEUE_SLOW : QUEUE_QUICK };
		pthread_mutex_lock(&p->lock);
		r = -pthread_create(&p->threads[i].id, NULL, run_thread, &p->threads[i]);
		p->alive += r == 0;
		p->count += r == 0;
		pthread_mutex_unlock(&p->lock);
	}
	return p->count >= 2 ? 0 : r;
}

int pool_open(struct pool **ret, unsigned threads)
{
	struct pool *p = calloc(1, sizeof(*p));
	int r;

	if (!p)
		return -ENOMEM;
	for (unsigned i = 0; i < QUEUE_COUNT; i++)
		queue_init(&p->queues[i]);
	queue_init(&p->done);
	pthread_mutex_init(&p->lock, NULL);
	pthread_cond_init(&p->changed, NULL);
	p->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	r = p->fd < 0 ? -errno : start_threads(p, threads);
	if (r < 0) {
		pool_close(p, NULL);
		return r;
	}
	*ret = p;
	return 0;
}

int pool_fd(const struct pool *p)
{
	return p->fd;
}

void pool_add(struct pool *p, struct pool_job *job)
{
	pthread_mutex_lock(&p->lock);
	queue_put(&p->queues[job->slow ? QUEUE_SLOW : QUEUE_QUICK], job);
	pthread_cond_broadcast(&p->changed);
	pthread_mutex_unlock(&p->lock);
}

struct pool_job *pool_done(struct pool *p)
{
	struct pool_job *first;
	eventfd_t count;

	(void)!eventfd_read(p->fd, &count);
	pthread_mutex_lock(&p->lock);
	first = p->done.first;
	queue_init(&p->done);
	pthread_mutex_unlock(&p->lock);
	return first;
}

static bool wait_for_threads(struct pool *p)
{
	struct timespec until;
	bool ended;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_nsec += 500000000;
	until.tv_sec += until.tv_nsec / 1000000000;
	until.tv_nsec %= 1000000000;
	pthread_mutex_lock(&p->lock);
	p->stopping = true;
	pthread_cond_broadcast(&p->changed);
	while (p->alive && pthread_cond_timedwait(&p->changed, &p->lock, &until) == 0)
		;
	ended = p->alive == 0;
	pthread_mutex_unlock(&p->lock);
	return ended;
}

bool pool_close(struct pool *p, struct pool_job **ret_left)
{
	struct queue left;
	struct pool_job *job;

	if (!wait_for_threads(p))
		return false;
	for (unsigned i = 0; i < p->count; i++)
		pthread_join(p->threads[i].id, NULL);
	queue_init(&left);
	while ((job = queue_take(&p->done)) || (job = queue_take(&p->queues[QUEUE_QUICK])) || (job = queue_take(&p->queues[QUEUE_SLOW])))
		queue_put(&left, job);
	if (ret_left)
		*ret_left = left.first;
	if (p->fd >= 0)
		close(p->fd);
	pthread_cond_destroy(&p->changed);
	pthread_mutex_destroy(&p->lock);
	free(p);
	return true;
}
