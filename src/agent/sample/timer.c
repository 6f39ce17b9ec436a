/* The timers, and what is done when one ticks.
 *
 * The handler runs with all signals blocked, calls nothing outside the agent and makes no system call
 * but the one that wakes the recorder (a program may have forbidden itself the others). */
#include <errno.h>
#include <sys/auxv.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "agent/core/old_glibc.h"
#include "agent/core/syscalls.h"
#include "agent/sample/sample.h"

#define SECOND 1000000000ull
#define PAGE 4096u
/* What is below the program's own stack for this far is nobody else's: the kernel keeps
 * 128 MiB free for it. */
#define MAIN_STACK_LIMIT (64u << 20)
/* A thread whose stack has no room for the kernel's frame, our handler and the thread itself has no
 * timer. The smallest stack that pthread_attr_setstacksize() takes has (16 KiB, and the frame
 * takes 3). */
#define STACK_BESIDES_FRAME (12u << 10)
#define USUAL_SIGNAL_FRAME 4096u
/* Less than this is not worth the rest of a chunk. */
#define SMALLEST_PIECE 512u

static struct {
	_Atomic uint32_t running;
	uint64_t period; /* ns of CPU time */
	size_t smallest_stack;
	_Atomic uint32_t reported_small;
	/* The timer of the thread that forked, until its first tick. */
	struct agent_sample_thread forked;
} sampling;

/* Its address tells our ticks from all other signals. */
static const char mark;

/* Ticks after `first` ns of CPU time and then each period; 0 stops it. */
static void set_timer(const struct agent_sample_thread *mine, uint64_t first)
{
	struct itimerspec when = {
		.it_interval = { .tv_sec = (time_t)(sampling.period / SECOND), .tv_nsec = (long)(sampling.period % SECOND) },
		.it_value = { .tv_sec = (time_t)(first / SECOND), .tv_nsec = (long)(first % SECOND) },
	};

	raw_syscall(SYS_timer_settime, (long)mine->timer - 1, 0, (long)&when, 0, 0, 0);
}

static uint64_t cpu_time(void)
{
	struct timespec t = { 0 };

	raw_syscall(SYS_clock_gettime, CLOCK_THREAD_CPUTIME_ID, (long)&t, 0, 0, 0, 0);
	return (uint64_t)t.tv_sec * SECOND + (uint64_t)t.tv_nsec;
}

static void run_timer(struct agent_sample_thread *mine)
{
	mine->paused = 0;
	mine->next = mine->spent < sampling.period ? sampling.period - mine->spent : 1;
	mine->counted = cpu_time();
	set_timer(mine, mine->next);
}

static int signal_blocked(void)
{
	uint64_t blocked = 0;

	raw_syscall(SYS_rt_sigprocmask, 0, 0, (long)&blocked, sizeof(blocked), 0, 0);
	return blocked >> (SAMPLE_SIGNAL - 1) & 1;
}

static int new_timer(long clock, int tid, int *ret)
{
	struct sigevent event = { .sigev_signo = SAMPLE_SIGNAL,
				  .sigev_notify = SIGEV_THREAD_ID,
				  .sigev_value = { .sival_ptr = (void *)&mark } };

	event._sigev_un._tid = tid;
	return (int)raw_syscall(SYS_timer_create, clock, (long)&event, (long)ret, 0, 0, 0);
}

int sample_make_timer(long clock, int tid, int *ret_timer)
{
	int result = new_timer(clock, tid, ret_timer);

	if (result == 0)
		set_timer(&(struct agent_sample_thread){ .timer = (uint32_t)*ret_timer + 1 }, sampling.period);
	return result;
}

/* A timer for the calling thread; its ticks begin at once unless it blocks the signal. */
static int make_timer(struct agent_sample_thread *mine)
{
	int timer = 0, result = new_timer(CLOCK_THREAD_CPUTIME_ID, raw_gettid(), &timer);

	if (result < 0)
		return result;
	mine->timer = (uint32_t)timer + 1;
	mine->spent = 0;
	mine->paused = 1;
	if (!signal_blocked())
		run_timer(mine);
	return 0;
}

static void delete_timer(struct agent_sample_thread *mine)
{
	uint32_t timer = mine->timer;

	mine->timer = 0;
	if (timer)
		raw_syscall(SYS_timer_delete, (long)timer - 1, 0, 0, 0, 0, 0);
}

static struct agent_sample_thread *this_thread(void)
{
	return agent_tls.levels ? &agent_memory()->sample : NULL;
}

static struct agent_sample_thread *this_thread_with_slot(void)
{
	if (!agent_tls.levels)
		agent_take_slot();
	return this_thread();
}

static struct agent_sample_thread *thread_with_timer(void)
{
	struct agent_sample_thread *mine = this_thread();

	if (mine && mine->timer)
		return mine;
	return sampling.forked.timer && raw_gettid() == raw_getpid() ? &sampling.forked : NULL;
}

int agent_sample_wanted(void)
{
	return atomic_load_explicit(&sampling.running, memory_order_relaxed) && (agent_attached() || agent_revive(0));
}

static void delete_timers(void)
{
	struct agent_thread_memory *memory;
	uint32_t position = 0;

	delete_timer(&sampling.forked);
	sample_late_leave();
	while (agent_attached() && (memory = agent_each_memory(&position)))
		delete_timer(&memory->sample);
}

void agent_sample_leave(void)
{
	if (!atomic_exchange(&sampling.running, 0))
		return;
	delete_timers();
	sample_uninstall();
}

static void halt_timer(struct agent_sample_thread *mine)
{
	uint64_t now;

	set_timer(mine, 0);
	mine->paused = 1;
	now = cpu_time();
	mine->spent += now > mine->counted ? now - mine->counted : 0;
}

void sample_pause(void)
{
	struct agent_sample_thread *mine = thread_with_timer();

	if (mine && !mine->paused)
		halt_timer(mine);
}

void sample_resume(void)
{
	struct agent_sample_thread *mine = thread_with_timer();

	if (mine && mine->paused && !signal_blocked())
		run_timer(mine);
}

/* A thread that was there before us takes its timer over. */
static struct agent_sample_thread *adopt_late(uint32_t timer)
{
	struct agent_sample_thread *mine;

	/* What it has may be of a recording that is over. */
	if (!agent_thread_is_current())
		agent_forget_thread();
	mine = this_thread();
	if ((mine && mine->timer) || !sample_is_late(timer))
		return mine;
	mine = this_thread_with_slot();
	if (mine)
		*mine = (struct agent_sample_thread){ .timer = timer, .next = sampling.period, .counted = cpu_time() };
	return mine;
}

/* A forked child joins the recording at its first tick: most run another program before. */
static struct agent_sample_thread *adopt(const siginfo_t *info)
{
	struct agent_sample_thread *mine;

	if (!sampling.forked.timer || sampling.forked.timer != (uint32_t)info->si_timerid + 1)
		return agent_comes_again() && agent_attached() ? adopt_late((uint32_t)info->si_timerid + 1) : this_thread();
	if (!agent_attached() && !agent_revive(0))
		return NULL;
	mine = this_thread_with_slot();
	if (!mine)
		return NULL;
	*mine = sampling.forked;
	sampling.forked.timer = 0;
	return mine;
}

struct sample {
	uint64_t time;
	uint64_t weight; /* ns */
	const ucontext_t *context;
	uintptr_t stack; /* bytes from here */
	uint32_t size;
	int own_stack; /* they are there */
};

static void put_piece(struct record_sample *record, const struct sample *s, uint32_t at, uint32_t size, uint32_t more)
{
	record->at.time = s->time;
	arch_context_registers(s->context, record->at.registers);
	record->cpu = arch_cpu();
	record->overrun = (uint32_t)(s->weight > sampling.period ? s->weight / sampling.period - 1 : 0);
	record->weight = s->weight;
	if (s->own_stack)
		arch_copy(record + 1, (const void *)(s->stack + at), size);
	else
		size = agent_copy_readable(record + 1, s->stack + at, size);
	size += (uint32_t)sizeof(*record);
	agent_end(record, record_head(RECORD_SAMPLE, 0, size, more, 0), size);
}

/* One record, or as many as the stack needs; the first fills what is left of the chunk. */
static int put_stack_sample(const struct sample *s)
{
	const uint32_t most = RING_CHUNK_DATA - sizeof(struct record_sample);
	uint32_t room = (uint32_t)(agent_tls.end - agent_tls.write), at = 0, size, left;
	struct record_sample *record;

	room = room < sizeof(*record) + SMALLEST_PIECE ? most : room - (uint32_t)sizeof(*record);
	room &= ~7u;
	do {
		left = s->size - at;
		size = left < room ? left : room;
		record = at ? agent_begin_piece(size + (uint32_t)sizeof(*record)) : agent_begin(size + (uint32_t)sizeof(*record));
		if (!record)
			return at > 0;
		put_piece(record, s, at, size, (left - size + most - 1) / most);
		at += size;
		room = most;
	} while (at < s->size);
	return 1;
}

static void take_sample(struct agent_sample_thread *mine, const ucontext_t *context)
{
	const uint32_t most = RING_CHUNK_DATA - sizeof(struct record_sample);
	struct sample s = { .time = agent_now(), .weight = mine->spent, .context = context, .size = agent_pages.session.sample_stack_size };
	uint64_t registers[ARCH_DWARF_REGISTERS];

	arch_context_registers(context, registers);
	s.stack = registers[ARCH_DWARF_STACK];
	s.own_stack = s.stack >= mine->stack_low && s.stack < mine->stack_end;
	if (s.own_stack && s.size > mine->stack_end - s.stack)
		s.size = (uint32_t)(mine->stack_end - s.stack);
	/* Somebody else's stack: one piece, which ends where memory does. */
	if (!s.own_stack && s.size > most)
		s.size = most;
	s.size = agent_room_for_stack(s.size, sizeof(struct record_sample));
	if (put_stack_sample(&s))
		mine->spent = 0;
}

static void count_time(struct agent_sample_thread *mine, const siginfo_t *info)
{
	uint64_t passed;

	if (!mine)
		return;
	passed = mine->next + (uint64_t)info->si_overrun * sampling.period;
	mine->spent += passed;
	mine->counted += passed;
	mine->next = sampling.period;
}

static int gate_open(void)
{
	return (atomic_load_explicit(&agent_pages.attached, memory_order_relaxed) & RING_GATE_SAMPLE &
		atomic_load_explicit(&agent_pages.session.gate, memory_order_relaxed)) != 0;
}

static void on_timer_signal(int number, siginfo_t *info, void *interrupted)
{
	ucontext_t *context = interrupted;
	struct agent_sample_thread *mine;

	(void)number;
	if (info->si_code != SI_TIMER || info->si_value.sival_ptr != (void *)&mark) {
		sample_forward(info, context);
		return;
	}
	/* In the middle of the agent's own work its state may be anything. */
	if (agent_owns_code(arch_context_pc(context)) || agent_tls.busy) {
		count_time(this_thread(), info);
		return;
	}
	mine = adopt(info);
	sample_restart(context);
	if (!mine || !mine->timer)
		return;
	count_time(mine, info);
	if (gate_open())
		take_sample(mine, context);
	else
		mine->spent = 0;
}

/* Of the program's first thread: what the kernel put at its end, strings last, is no part of
 * any frame. */
static void find_main_stack(struct agent_sample_thread *mine)
{
	struct rlimit limit = { .rlim_cur = MAIN_STACK_LIMIT };
	uintptr_t variables = (uintptr_t)environ;

	raw_syscall(SYS_prlimit64, 0, RLIMIT_STACK, 0, (long)&limit, 0, 0);
	if (limit.rlim_cur > MAIN_STACK_LIMIT)
		limit.rlim_cur = MAIN_STACK_LIMIT;
	mine->stack_end = getauxval(AT_EXECFN);
	/* Where the list of variables lies before the strings it is the first one, not a copy. */
	if (variables > (uintptr_t)&limit && variables < mine->stack_end)
		mine->stack_end = variables;
	mine->stack_low = mine->stack_end > limit.rlim_cur ? mine->stack_end - limit.rlim_cur : 0;
}

/* The C library keeps its own data of a thread at the end of its stack. */
static void find_stack(struct agent_sample_thread *mine, size_t size)
{
	mine->stack_end = (uintptr_t)pthread_self();
	mine->stack_low = size > PAGE && mine->stack_end > size ? mine->stack_end - size + PAGE : mine->stack_end;
}

/* The calling thread has the first timer. */
static int start_here(void)
{
	struct agent_sample_thread *mine = this_thread_with_slot();

	if (mine && raw_gettid() == raw_getpid())
		find_main_stack(mine);
	return mine ? make_timer(mine) : -EAGAIN;
}

void agent_sample_start(void)
{
	const struct ring_session *session = &agent_pages.session;
	size_t frame = getauxval(51 /* AT_MINSIGSTKSZ */);

	if (!(session->modules & RING_GATE_SAMPLE) || session->sample_hz == 0 || session->sample_hz > SECOND)
		return;
	sampling.period = SECOND / session->sample_hz;
	sampling.smallest_stack = (frame ? frame : USUAL_SIGNAL_FRAME) + STACK_BESIDES_FRAME;
	if (sample_install(on_timer_signal) < 0 || (!agent_comes_again() && start_here() < 0)) {
		agent_diagnose(DIAGNOSTIC_WARNING, "No samples of this process: the kernel does not allow timers.");
		return;
	}
	atomic_store(&sampling.running, 1);
	if (agent_comes_again())
		sample_late_start();
}

void agent_sample_forked(void)
{
	struct agent_sample_thread *mine = this_thread();

	if (!atomic_load(&sampling.running))
		return;
	sample_signals_forked();
	sampling.forked = mine ? *mine : (struct agent_sample_thread){ 0 };
	sampling.forked.timer = 0;
	make_timer(&sampling.forked);
}

void agent_sample_thread_begins(size_t stack_size)
{
	struct agent_sample_thread *mine;

	if (!agent_sample_wanted())
		return;
	if (stack_size < sampling.smallest_stack) {
		if (!atomic_exchange(&sampling.reported_small, 1))
			agent_diagnose(DIAGNOSTIC_INFO, "Threads with very small stacks are not sampled: a signal handler does not "
							"fit.");
		return;
	}
	if (!sample_installed()) {
		if (!atomic_exchange(&sampling.running, 0))
			return;
		delete_timers();
		agent_diagnose(DIAGNOSTIC_WARNING, "No more samples of this process: it took the signal (SIGURG) for itself.");
		return;
	}
	mine = this_thread_with_slot();
	if (!mine)
		return;
	find_stack(mine, stack_size);
	make_timer(mine);
}

/* Without it short threads would seem to have used less than they did. */
static void write_rest(const struct agent_sample_thread *mine)
{
	const uint32_t size = sizeof(struct record_sample);
	struct record_sample *record = agent_begin(size);

	if (!record)
		return;
	*record = (struct record_sample){ .at.time = agent_now(), .cpu = arch_cpu(), .weight = mine->spent };
	agent_end(record, record_head(RECORD_SAMPLE, SAMPLE_FLAG_REST, size, 0, 0), size);
}

void agent_sample_thread_ends(void)
{
	struct agent_sample_thread *mine = this_thread();

	if (!mine || !mine->timer)
		return;
	if (!mine->paused)
		halt_timer(mine);
	delete_timer(mine);
	if (mine->spent >= sampling.period && gate_open())
		write_rest(mine);
}
