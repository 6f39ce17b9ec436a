/* Buffers of activity records: filled on the program's threads, delivered by threads of the double. */
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "double.h"

struct buffer {
	struct buffer *next;
	uint8_t *bytes;
	size_t size, valid;
};

/* Work that the GPU has not finished. */
struct pending {
	uint64_t ready;
	uint16_t size, began, ended; /* offsets of its times */
	uint8_t bytes[RECORD_MAX];
};

static struct {
	struct buffer current;
	struct buffer *first, **last; /* complete ones */
	unsigned waiting;
	uint64_t completed, delivered; /* how many */
	bool flushing;
	unsigned delivering; /* buffers that are being handed over */
	size_t dropped;
	uint64_t gpu_records;
	struct pending *pending;
	size_t pending_first, pending_count, pending_room;
	pthread_cond_t work, idle;
	pid_t workers_of;
} b = { .last = &b.first, .work = PTHREAD_COND_INITIALIZER, .idle = PTHREAD_COND_INITIALIZER };

static __thread bool is_worker;

/* Records change places within groups, as those of several engines do. */
static void shuffle(struct buffer *buffer, unsigned group)
{
	uint8_t *copy = malloc(buffer->valid);
	size_t offsets[256], count, at = 0, out = 0;
	static uint32_t random = 12345;

	if (group > 256)
		group = 256;
	while (copy && at < buffer->valid) {
		for (count = 0; count < group && at < buffer->valid; count++) {
			offsets[count] = at;
			at += double_record_size(*(const uint32_t *)(buffer->bytes + at));
		}
		while (count) {
			size_t i = (random = random * 1103515245u + 12345u) / 65536u % count;
			size_t size = double_record_size(*(const uint32_t *)(buffer->bytes + offsets[i]));

			memcpy(copy + out, buffer->bytes + offsets[i], size);
			out += size;
			offsets[i] = offsets[--count];
		}
	}
	if (copy)
		memcpy(buffer->bytes, copy, buffer->valid);
	free(copy);
}

/* Under the lock. */
static void complete_current(void)
{
	struct buffer *buffer;

	if (!b.current.bytes)
		return;
	buffer = malloc(sizeof(*buffer));
	if (!buffer)
		abort();
	*buffer = b.current;
	buffer->next = NULL;
	memset(&b.current, 0, sizeof(b.current));
	if (cupti_double.settings.shuffle)
		shuffle(buffer, cupti_double.settings.shuffle);
	*b.last = buffer;
	b.last = &buffer->next;
	b.waiting++;
	b.completed++;
	pthread_cond_signal(&b.work);
}

static struct buffer *take(void)
{
	struct buffer **from = &b.first, *buffer;

	if (cupti_double.settings.swapped) {
		if (b.waiting < 2 && !b.flushing)
			return NULL;
		if (b.first && b.first->next && b.waiting % 2 == 0)
			from = &b.first->next;
	}
	buffer = *from;
	if (!buffer)
		return NULL;
	*from = buffer->next;
	if (!buffer->next)
		b.last = from;
	b.waiting--;
	return buffer;
}

/* Under the lock, given up meanwhile. */
static bool deliver_one(void)
{
	struct buffer *buffer = take();
	cupti_buffer_completed *completed = cupti_double.client.completed;

	if (!buffer)
		return false;
	b.delivering++;
	pthread_mutex_unlock(&cupti_double.lock);
	if (completed)
		completed(NULL, 0, buffer->bytes, buffer->size, buffer->valid);
	free(buffer);
	pthread_mutex_lock(&cupti_double.lock);
	b.delivering--;
	b.delivered++;
	pthread_cond_broadcast(&b.idle);
	return true;
}

static void *work(void *unused)
{
	is_worker = true;
	pthread_mutex_lock(&cupti_double.lock);
	for (;;) {
		if (cupti_double.settings.flush == FLUSH_LATE && b.first) {
			pthread_mutex_unlock(&cupti_double.lock);
			usleep(20000);
			pthread_mutex_lock(&cupti_double.lock);
		}
		if (!deliver_one())
			pthread_cond_wait(&b.work, &cupti_double.lock);
	}
	return unused;
}

void double_workers_start(void)
{
	pthread_attr_t attributes;
	pthread_t thread;

	if (b.workers_of == getpid())
		return;
	b.workers_of = getpid();
	pthread_attr_init(&attributes);
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	for (unsigned i = 0; i < cupti_double.settings.workers; i++)
		if (pthread_create(&thread, &attributes, work, NULL))
			abort();
}

/* Under the lock. */
static bool make_room(size_t size)
{
	size_t max_records = 0;

	if (b.current.bytes && b.current.size - b.current.valid >= size)
		return true;
	complete_current();
	if (cupti_double.client.requested)
		cupti_double.client.requested(&b.current.bytes, &b.current.size, &max_records);
	if (b.current.bytes && b.current.size >= size)
		return true;
	memset(&b.current, 0, sizeof(b.current));
	b.dropped++;
	return false;
}

static void put(const uint8_t *bytes, size_t size)
{
	if (!make_room(size))
		return;
	memcpy(b.current.bytes + b.current.valid, bytes, size);
	b.current.valid += size;
}

static void put_pending(struct pending *p, bool finished)
{
	if (!finished) {
		memset(p->bytes + p->began, 0, 8);
		memset(p->bytes + p->ended, 0, 8);
	}
	put(p->bytes, p->size);
}

static void put_finished(uint64_t now)
{
	while (b.pending_count && b.pending[b.pending_first].ready <= now) {
		put_pending(&b.pending[b.pending_first], true);
		b.pending_first = (b.pending_first + 1) % b.pending_room;
		b.pending_count--;
	}
}

static struct pending *add_pending(void)
{
	if (b.pending_count == b.pending_room) {
		size_t room = b.pending_room ? 2 * b.pending_room : 1024;
		struct pending *larger = malloc(room * sizeof(*larger));

		if (!larger)
			abort();
		for (size_t i = 0; i < b.pending_count; i++)
			larger[i] = b.pending[(b.pending_first + i) % b.pending_room];
		free(b.pending);
		b.pending = larger;
		b.pending_room = room;
		b.pending_first = 0;
	}
	return &b.pending[(b.pending_first + b.pending_count++) % b.pending_room];
}

static void remember(struct pending *p, unsigned kind, const int64_t *values, uint64_t ready)
{
	static const uint16_t kernel_times[] = { 16, 24 }, graph_times[] = { 8, 16 };
	const uint16_t *times = kind == RECORD_KIND_GRAPH_TRACE ? graph_times : kernel_times;

	p->size = (uint16_t)double_record_make(kind, values, p->bytes);
	p->ready = ready;
	p->began = times[0];
	p->ended = times[1];
}

void double_append(unsigned kind, const int64_t *values, uint64_t ready)
{
	uint64_t now = double_stamp();
	uint8_t bytes[RECORD_MAX];

	pthread_mutex_lock(&cupti_double.lock);
	if (ready && cupti_double.settings.drop && ++b.gpu_records % cupti_double.settings.drop == 0)
		b.dropped++;
	else if (ready)
		remember(add_pending(), kind, values, ready);
	else
		put(bytes, double_record_make(kind, values, bytes));
	put_finished(now);
	pthread_mutex_unlock(&cupti_double.lock);
}

static void put_all_pending(uint64_t now, bool forced)
{
	size_t kept = 0;

	for (size_t i = 0; i < b.pending_count; i++) {
		struct pending *p = &b.pending[(b.pending_first + i) % b.pending_room];

		if (p->ready <= now || forced)
			put_pending(p, p->ready <= now);
		else
			b.pending[(b.pending_first + kept++) % b.pending_room] = *p;
	}
	b.pending_count = kept;
}

void double_flush(bool forced)
{
	uint64_t now = double_stamp(), wanted;

	pthread_mutex_lock(&cupti_double.lock);
	put_all_pending(now, forced);
	complete_current();
	/* Those that others complete meanwhile are not waited for. */
	wanted = b.completed;
	b.flushing = true;
	if (cupti_double.settings.flush == FLUSH_BY_CALLER) {
		while (b.delivered < wanted && deliver_one())
			;
	} else if (cupti_double.settings.flush == FLUSH_BY_WORKER && !is_worker && b.workers_of == getpid()) {
		pthread_cond_broadcast(&b.work);
		while (b.delivered < wanted)
			pthread_cond_wait(&b.idle, &cupti_double.lock);
	}
	b.flushing = cupti_double.settings.flush == FLUSH_LATE;
	pthread_cond_broadcast(&b.work);
	pthread_mutex_unlock(&cupti_double.lock);
}

bool double_delivers(void)
{
	bool delivers;

	pthread_mutex_lock(&cupti_double.lock);
	delivers = b.delivering > 0;
	pthread_mutex_unlock(&cupti_double.lock);
	return delivers;
}

size_t double_dropped(void)
{
	size_t dropped;

	pthread_mutex_lock(&cupti_double.lock);
	dropped = b.dropped;
	b.dropped = 0;
	pthread_mutex_unlock(&cupti_double.lock);
	return dropped;
}
