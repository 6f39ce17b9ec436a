#include "agent/cuda/records/clock.h"

#include <string.h>
#include <time.h>

#include "agent/cuda/records/driver.h"
#include "agent/cuda/lock.h"
#include "agent/cuda/records/definitions.h"

/* The least disturbed of so many comparisons counts. */
#define COMPARISONS 5

struct clock_state {
	_Atomic int fitted; /* CUPTI's times are its own: pairs are needed */
	_Atomic int given_back;
	struct cuda_lock lock;
	struct cuda_clock_fit fit;
	_Atomic uint64_t error; /* ns, at most */
	_Atomic uint64_t reported;
};

static struct clock_state state;

/* What CUPTI reads itself on Linux. */
static uint64_t real_time(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* CUPTI's times are whatever this gives: it cannot be taken back from CUPTI, so it has to go on being of use. */
static uint64_t stamp(void)
{
	if (atomic_load_explicit(&state.given_back, memory_order_relaxed))
		return real_time();
	return cuda_agent.core->now();
}

void cuda_clock_give_back(void)
{
	atomic_store_explicit(&state.given_back, 1, memory_order_relaxed);
}

/* a * b / c without losing bits; the result fits. */
static uint64_t scale(uint64_t a, uint64_t b, uint64_t c)
{
	return (uint64_t)((unsigned __int128)a * b / c);
}

/* Every second one of the older half goes: records are not old when they come, but a kernel may have begun long
 * ago. */
static void thin_out(struct cuda_clock_fit *fit)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < fit->count; i++)
		if (i % 2 == 0 || i >= fit->count / 2)
			fit->pairs[kept++] = fit->pairs[i];
	fit->count = kept;
}

void cuda_clock_add(struct cuda_clock_fit *fit, struct cuda_clock_pair pair)
{
	const struct cuda_clock_pair *last = fit->count ? &fit->pairs[fit->count - 1] : NULL;

	if (last && (pair.theirs <= last->theirs || pair.ticks <= last->ticks))
		return;
	if (fit->count == CUDA_CLOCK_PAIRS)
		thin_out(fit);
	fit->pairs[fit->count++] = pair;
}

/* Between the two pairs around it; outside of all of them on the line through the nearest two. */
uint64_t cuda_clock_convert(const struct cuda_clock_fit *fit, uint64_t time)
{
	const struct cuda_clock_pair *a = fit->pairs, *b;
	uint32_t low = 0, high = fit->count;
	uint64_t ticks, ns;

	if (fit->count == 1)
		return time > a->theirs ? a->ticks + (time - a->theirs) : a->ticks - (a->theirs - time);
	while (high - low > 1) {
		uint32_t middle = low + (high - low) / 2;

		if (fit->pairs[middle].theirs <= time)
			low = middle;
		else
			high = middle;
	}
	if (low == fit->count - 1)
		low--;
	a = &fit->pairs[low];
	b = a + 1;
	ticks = b->ticks - a->ticks;
	ns = b->theirs - a->theirs;
	return time >= a->theirs ? a->ticks + scale(time - a->theirs, ticks, ns) : a->ticks - scale(a->theirs - time, ticks, ns);
}

/* CUPTI's time lies between two readings of ours; half of what is between them is how far off it can be. */
static int read_pair(struct cuda_clock_pair *ret, uint64_t *width)
{
	uint64_t before, after, theirs;

	*width = UINT64_MAX;
	for (int i = 0; i < COMPARISONS; i++) {
		before = cuda_agent.core->now();
		if (cuda_agent.cupti.cuptiGetTimestamp(&theirs) != CUPTI_OK)
			return -1;
		after = cuda_agent.core->now();
		if (after - before >= *width)
			continue;
		*width = after - before;
		*ret = (struct cuda_clock_pair){ theirs, before + (after - before) / 2 };
	}
	return 0;
}

/* How far the line so far was off where the new pair is, and what the reading itself leaves open, in ns. */
static uint64_t error_of(const struct cuda_clock_fit *fit, struct cuda_clock_pair pair, uint64_t width)
{
	const struct cuda_clock_pair *first = &fit->pairs[0];
	uint64_t expected, off = width / 2 + 1;

	if (fit->count < 2 || pair.ticks <= first->ticks || pair.theirs <= first->theirs)
		return 0;
	expected = cuda_clock_convert(fit, pair.theirs);
	off += expected > pair.ticks ? expected - pair.ticks : pair.ticks - expected;
	return scale(off, pair.theirs - first->theirs, pair.ticks - first->ticks) + 1;
}

void cuda_clock_compare(void)
{
	struct cuda_clock_pair pair;
	uint64_t width, error;

	if (!atomic_load_explicit(&state.fitted, memory_order_acquire) || read_pair(&pair, &width) != 0 || !cuda_lock_take(&state.lock))
		return;
	error = error_of(&state.fit, pair, width);
	if (error > state.error)
		state.error = error;
	cuda_clock_add(&state.fit, pair);
	cuda_lock_release(&state.lock);
}

void cuda_clock_get(struct cuda_clock_fit *ret)
{
	ret->count = 0;
	if (!atomic_load_explicit(&state.fitted, memory_order_acquire) || !cuda_lock_take(&state.lock))
		return;
	ret->count = state.fit.count;
	memcpy(ret->pairs, state.fit.pairs, ret->count * sizeof(ret->pairs[0]));
	cuda_lock_release(&state.lock);
}

static void report_cuda_clock(uint32_t method, uint64_t error)
{
	struct cuda_wire_clock body = { .cupti = cuda_agent.cupti.version, .driver = cuda_driver_version(), .error = error };

	cuda_report(&(struct cuda_definition){ .kind = DEFINE_CUDA_CLOCK,
					       .reporter = CUDA_REPORTER_PROGRAM,
					       .time = cuda_agent.core->now(),
					       .id = method,
					       .body = &body,
					       .body_size = sizeof(body),
					       .text = cuda_agent.cupti.path });
}

void cuda_clock_report(void)
{
	uint64_t error = state.error;

	if (atomic_exchange_explicit(&state.reported, error, memory_order_relaxed) < error)
		report_cuda_clock(CUDA_CLOCK_FITTED, error);
}

/* Two pairs some time apart make the first line. */
static void start_fit(void)
{
	struct timespec pause = { 0, 2000000 };
	struct cuda_clock_pair pair;
	uint64_t width;

	for (int i = 0; i < 2; i++) {
		if (i)
			raw_syscall(SYS_nanosleep, (long)&pause, 0, 0, 0, 0, 0);
		if (read_pair(&pair, &width) == 0)
			cuda_clock_add(&state.fit, pair);
	}
}

void cuda_clock_start(void)
{
	const struct cupti *cupti = &cuda_agent.cupti;

	atomic_store_explicit(&state.fitted, 0, memory_order_relaxed);
	atomic_store_explicit(&state.given_back, 0, memory_order_relaxed);
	state.fit.count = 0;
	state.error = state.reported = 0;
	if (cupti->cuptiActivityRegisterTimestampCallback && cupti->cuptiActivityRegisterTimestampCallback(stamp) == CUPTI_OK) {
		report_cuda_clock(CUDA_CLOCK_SESSION, 0);
		return;
	}
	start_fit();
	atomic_store_explicit(&state.fitted, 1, memory_order_release);
	report_cuda_clock(CUDA_CLOCK_FITTED, 0);
}
