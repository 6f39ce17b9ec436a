/* A thread of our own that follows the gate and fetches what CUPTI has finished. It lives as long
 * as the process, and sleeps while no window is open. */
#include <errno.h>
#include <linux/futex.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <time.h>

#include "agent/core/syscalls.h"
#include "agent/cuda/records/buffers.h"
#include "agent/cuda/life/life.h"
#include "base/macros.h"

#define MS 1000000ll
#define USUAL_INTERVAL_MS 1000u
/* Work that was under way when a window closed is fetched again after these times, if it has ended
 * by then. After the first the recorder is told that the window is complete. */
static const uint32_t after_close_ms[] = { 50, 500, 1000, 2000 };
#define AFTER_CLOSE COUNT_OF(after_close_ms)
/* A recorder that has read nothing for so long does not read. */
#define SILENCE_MS 10000u
/* Between the program's letting go of CUPTI and our taking it again. */
#define COME_BACK_MS 1000u
#define RELEASE_CHECK_MS 250u

/* Flushes asked for, and done. */
static _Atomic uint32_t asked, done;
static _Atomic uint32_t running;
/* The thread, by the kernel's number, until another one is started. */
static _Atomic uint32_t thread;

#define STOP_MS 10000u
#define STOP_PAUSE_NS 500000l

struct watcher {
	uint64_t next_flush; /* ms; 0 = none is due */
	uint64_t close_seen; /* the end of a window that is being fetched */
	unsigned close_step;
	uint64_t close_records; /* decoded when the window was first fetched */
	uint32_t rounds;        /* of the recorder */
	uint64_t rounds_at;
};

static uint64_t interval(void)
{
	uint32_t ms = cuda_agent.core->session->cuda_flush_ms;

	return ms ? ms : USUAL_INTERVAL_MS;
}

static void watch_recorder(struct watcher *w, uint64_t now)
{
	uint32_t rounds = cuda_agent.core->recorder_rounds();

	if (rounds != w->rounds || !w->rounds_at) {
		w->rounds = rounds;
		w->rounds_at = now;
		atomic_fetch_and(&cuda_life.holds, ~(uint32_t)CUDA_HOLD_SILENCE);
	} else if (now - w->rounds_at > SILENCE_MS) {
		atomic_fetch_or(&cuda_life.holds, CUDA_HOLD_SILENCE);
	}
}

static void flush_while_open(struct watcher *w, uint64_t now)
{
	if (!w->next_flush)
		w->next_flush = now + interval();
	if (now < w->next_flush)
		return;
	cuda_flush(0);
	w->next_flush = now + interval();
}

/* Where nothing has come since the first fetch, nothing is under way. */
static unsigned next_step(struct watcher *w)
{
	uint64_t records = cuda_buffers_records();

	if (w->close_step == 0)
		w->close_records = records;
	return w->close_step == 2 && records == w->close_records ? AFTER_CLOSE : w->close_step + 1;
}

static void flush_after_close(struct watcher *w, uint64_t now)
{
	uint64_t closed = atomic_load(&cuda_life.closed_at);

	w->next_flush = 0;
	if (!closed) {
		cuda_away_look(now, &w->next_flush);
		return;
	}
	if (closed != w->close_seen) {
		w->close_seen = closed;
		w->close_step = 0;
		cuda_flush(0);
	}
	if (w->close_step < AFTER_CLOSE && now - closed >= after_close_ms[w->close_step]) {
		cuda_flush(0);
		cuda_agent.core->cuda_is(RING_CUDA_HERE);
		w->close_step = next_step(w);
	}
	if (w->close_step < AFTER_CLOSE)
		w->next_flush = closed + after_close_ms[w->close_step];
	else
		atomic_store(&cuda_life.closed_at, 0);
	if (w->close_step >= AFTER_CLOSE)
		cuda_away_look(now, &w->next_flush);
}

static void come_back(struct watcher *w, uint64_t now)
{
	uint64_t released_at = atomic_load(&cuda_life.released_at);

	w->next_flush = released_at ? released_at + COME_BACK_MS : now + RELEASE_CHECK_MS;
	if (!released_at || now < released_at + COME_BACK_MS || !cuda_take_turn(1000 * MS))
		return;
	atomic_store(&cuda_life.released_at, 0);
	atomic_fetch_and(&cuda_life.holds, ~(uint32_t)CUDA_HOLD_OTHER);
	if (cuda_take() == 0)
		cuda_agent.core->diagnose(DIAGNOSTIC_INFO, "The program has released CUPTI: CUDA is recorded again.");
	else
		atomic_fetch_or(&cuda_life.holds, CUDA_HOLD_OTHER);
	cuda_give_turn();
	cuda_follow();
}

static void update_cuda_state(struct watcher *w, uint64_t now)
{
	uint32_t state = atomic_load(&cuda_agent.state);

	if (state == CUDA_OPEN || atomic_load(&cuda_life.holds) & CUDA_HOLD_SILENCE)
		watch_recorder(w, now);
	else
		w->rounds_at = 0;
	cuda_follow();
	state = atomic_load(&cuda_agent.state);
	if (state == CUDA_OPEN)
		flush_while_open(w, now);
	else if (state == CUDA_CLOSED)
		flush_after_close(w, now);
	else if (state == CUDA_AWAY)
		w->next_flush = 0;
	else
		come_back(w, now);
	if (atomic_load(&cuda_life.holds) & CUDA_HOLD_SILENCE)
		w->next_flush = now + USUAL_INTERVAL_MS;
}

static void serve_flush_request(void)
{
	uint32_t request = atomic_load(&asked);

	if (request == atomic_load(&done))
		return;
	cuda_flush(1);
	atomic_store(&done, request);
	raw_futex_wake(&done);
}

void cuda_watch_wake(void)
{
	raw_syscall(SYS_futex, (long)&cuda_agent.core->session->gate, FUTEX_WAKE, INT32_MAX, 0, 0, 0);
}

/* The thread waits for the gate, which is not ours to change: it is woken again until it has seen
 * the request. */
void cuda_watch_flush(int64_t ns)
{
	uint32_t request = atomic_fetch_add(&asked, 1) + 1, seen;
	uint64_t until = cuda_milliseconds() + (uint64_t)(ns / MS);

	while ((int32_t)((seen = atomic_load(&done)) - request) < 0 && cuda_milliseconds() < until) {
		cuda_watch_wake();
		cuda_wait(&done, seen, 2 * MS);
	}
}

static void *watch_session_gate(void *unused)
{
	const _Atomic uint32_t *gate = &cuda_agent.core->session->gate;
	struct watcher w = { 0 };
	uint64_t now;
	uint32_t seen;

	(void)unused;
	raw_syscall(SYS_prctl, PR_SET_NAME, (long)"sonde-cuda", 0, 0, 0, 0);
	atomic_store(&thread, (uint32_t)raw_gettid());
	for (;;) {
		seen = atomic_load(gate);
		serve_flush_request();
		if (atomic_load(&cuda_life.holds) & (CUDA_HOLD_EXIT | CUDA_HOLD_DETACHED))
			break;
		now = cuda_milliseconds();
		update_cuda_state(&w, now);
		now = cuda_milliseconds();
		if (!w.next_flush)
			cuda_wait(gate, seen, 0);
		else if (w.next_flush > now)
			cuda_wait(gate, seen, (int64_t)(w.next_flush - now) * MS);
	}
	/* Whoever leaves may not have had the turn for that, as this thread had it. */
	if (atomic_load(&cuda_life.holds) & CUDA_HOLD_DETACHED)
		cuda_follow();
	atomic_store(&running, 0);
	raw_futex_wake(&running);
	return NULL;
}

int cuda_watch_start(void)
{
	int result;

	atomic_store(&thread, 0);
	atomic_store(&running, 1);
	result = cuda_agent.core->start_thread(watch_session_gate, NULL);
	if (result)
		atomic_store(&running, 0);
	return result;
}

/* Behind its last line it still runs CUPTI's destructor of its data. */
static int is_gone(void)
{
	uint32_t tid = atomic_load(&thread);

	return !tid || raw_syscall(SYS_tgkill, raw_getpid(), (long)tid, 0, 0, 0, 0) == -ESRCH;
}

int cuda_watch_stop(void)
{
	const struct timespec pause = { .tv_nsec = STOP_PAUSE_NS };
	uint64_t until = cuda_milliseconds() + STOP_MS;

	while (atomic_load(&running) && cuda_milliseconds() < until) {
		cuda_watch_wake();
		cuda_wait(&running, 1, 2 * MS);
	}
	while (!is_gone() && cuda_milliseconds() < until)
		raw_syscall(SYS_nanosleep, (long)&pause, 0, 0, 0, 0, 0);
	return !atomic_load(&running) && is_gone();
}
