/* Whose the work of a device is. A trace of one process says so by itself; where traces of several were joined,
 * a call and the work it started have a correlation id in common, which other processes use, too: of
 * the calls with the id the last before the work counts, and of all the work on a stream the majority.
 *
 * Memory is bounded by sampling: calls and work are kept where the hash of their id ends in enough zeros, so that
 * of the two always both are kept. */
#include "ingest/kineto/internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MAX_SAMPLES 65536u

struct kineto_sample {
	int64_t correlation;
	int64_t time;
	uint64_t of; /* uid of the process that called; number of the stream of the work */
};

static int is_sampled(const struct kineto *k, int64_t correlation)
{
	uint64_t hash = (uint64_t)correlation * UINT64_C(0x9e3779b97f4a7c15);

	return !k->sample_shift || !(hash >> (64 - k->sample_shift));
}

static uint32_t thin_samples(const struct kineto *k, struct kineto_sample *samples, uint32_t count)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < count; i++)
		if (is_sampled(k, samples[i].correlation))
			samples[kept++] = samples[i];
	return kept;
}

static void add_sample(struct kineto *k, struct kineto_sample **samples, uint32_t *count, const struct kineto_sample *s)
{
	if (!is_sampled(k, s->correlation))
		return;
	while (*count == MAX_SAMPLES && k->sample_shift < 63) {
		k->sample_shift++;
		k->call_count = thin_samples(k, k->calls, k->call_count);
		k->work_count = thin_samples(k, k->work, k->work_count);
	}
	if (*count == MAX_SAMPLES || !is_sampled(k, s->correlation) || kineto_room(k, samples, *count, sizeof(**samples)) < 0)
		return;
	(*samples)[(*count)++] = *s;
}

void kineto_owner_call(struct kineto *k, uint64_t process, int64_t correlation, int64_t time)
{
	const struct kineto_sample s = { correlation, time, process };

	add_sample(k, &k->calls, &k->call_count, &s);
}

void kineto_owner_work(struct kineto *k, const struct kineto_stream *stream, int64_t correlation, int64_t time)
{
	const struct kineto_sample s = { correlation, time, (uint64_t)(stream - k->streams) };

	add_sample(k, &k->work, &k->work_count, &s);
}

static int compare_samples(const void *a, const void *b)
{
	const struct kineto_sample *x = a, *y = b;

	if (x->correlation != y->correlation)
		return x->correlation < y->correlation ? -1 : 1;
	return (x->time > y->time) - (x->time < y->time);
}

/* Index behind the last call that is not after `work` in the order of both. */
static uint32_t calls_up_to(const struct kineto *k, const struct kineto_sample *work)
{
	uint32_t low = 0, high = k->call_count, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (compare_samples(&k->calls[middle], work) <= 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Clocks of CPU and GPU may differ a little: without a call before the work the first behind it counts. */
static uint64_t caller_of(const struct kineto *k, const struct kineto_sample *work)
{
	uint32_t at = calls_up_to(k, work);

	if (at && k->calls[at - 1].correlation == work->correlation)
		return k->calls[at - 1].of;
	return at < k->call_count && k->calls[at].correlation == work->correlation ? k->calls[at].of : 0;
}

static int compare_votes(const void *a, const void *b)
{
	const struct kineto_sample *x = a, *y = b;

	if (x->of != y->of)
		return x->of < y->of ? -1 : 1;
	return (x->correlation > y->correlation) - (x->correlation < y->correlation);
}

/* Work becomes votes, `correlation` the uid of who called; those for nobody are left out. */
static void make_votes(struct kineto *k)
{
	uint32_t kept = 0;
	uint64_t uid;

	for (uint32_t i = 0; i < k->work_count; i++) {
		uid = caller_of(k, &k->work[i]);
		if (!uid)
			continue;
		k->work[kept] = k->work[i];
		k->work[kept++].correlation = (int64_t)uid;
	}
	k->work_count = kept;
	if (kept)
		qsort(k->work, kept, sizeof(*k->work), compare_votes);
}

/* Of votes for one stream, [from, to). */
static void elect(struct kineto *k, uint32_t from, uint32_t to)
{
	uint32_t most = 0, run = 0;

	for (uint32_t i = from; i < to; i++) {
		run = i > from && k->work[i].correlation == k->work[i - 1].correlation ? run + 1 : 1;
		if (run > most) {
			most = run;
			k->streams[k->work[i].of].process = (uint64_t)k->work[i].correlation;
		}
	}
	k->foreign += to - from - most;
}

/* Streams of which nothing is known are their row's. */
static void share_by_row(struct kineto *k)
{
	uint64_t otherwise = k->likely_owner, *owner;

	for (uint32_t i = 0; i < k->stream_keys.count; i++) {
		owner = &k->processes[k->streams[i].row].gpu_owner;
		*owner = *owner ? *owner : k->streams[i].process;
	}
	for (uint32_t i = 0; i < k->stream_keys.count; i++) {
		owner = &k->streams[i].process;
		*owner = *owner ? *owner : k->processes[k->streams[i].row].gpu_owner;
		*owner = *owner ? *owner : otherwise;
	}
}

void kineto_owners_finish(struct kineto *k)
{
	uint32_t from = 0;

	if (k->call_count)
		qsort(k->calls, k->call_count, sizeof(*k->calls), compare_samples);
	make_votes(k);
	for (uint32_t i = 1; i <= k->work_count; i++) {
		if (i < k->work_count && k->work[i].of == k->work[from].of)
			continue;
		elect(k, from, i);
		from = i;
	}
	share_by_row(k);
	if (k->foreign)
		sink_diagnose(&k->sink, 2,
			      "Some streams have work of several processes (at least %llu events); it counts for the process with "
			      "most of it.",
			      (unsigned long long)k->foreign);
}
