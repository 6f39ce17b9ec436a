/* While a program is attached to, a thread of ours looks a few times a second whether something was loaded, which gets our wrappers too,
 * and whether the recorder is still there: one that was killed must not leave the program slower than it was. */
#include <stddef.h>
#include <sys/prctl.h>
#include <time.h>

#include "agent/core/attach.h"
#include "agent/core/elf_object.h"
#include "agent/core/state.h"
#include "agent/core/syscalls.h"

#define LOOK_NS 100000000l
/* So many looks without a sign of life, and it is asked for. */
#define SILENT_LOOKS 20u
#define STOP_LOOKS 20u
#define LOOKS_AT_NEW 3u

/* Each thread has a number; one whose number is not that of `turn` ends. */
static struct {
	_Atomic uint32_t turn;  /* futex word */
	_Atomic uint32_t ended; /* the number of the last one that did; futex word */
	uint32_t process;       /* in a forked child there is no such thread */
	uint32_t modules;
} watching;

struct loads {
	unsigned long long added;
	unsigned long long removed;
};

static int read_loads(struct dl_phdr_info *info, size_t size, void *context)
{
	struct loads *loads = context;

	if (size >= offsetof(struct dl_phdr_info, dlpi_subs) + sizeof(info->dlpi_subs))
		*loads = (struct loads){ info->dlpi_adds, info->dlpi_subs };
	return 1;
}

struct seen {
	struct loads loads;
	unsigned again; /* what has just come may not be whole yet: it is looked at again */
};

static void look_for_objects(struct seen *seen)
{
	struct loads now = seen->loads;

	if (!agent_walk_objects(read_loads, &now))
		return;
	if (now.added != seen->loads.added || now.removed != seen->loads.removed)
		*seen = (struct seen){ now, LOOKS_AT_NEW };
	if (!seen->again)
		return;
	seen->again--;
	agent_got_patch(watching.modules);
}

struct signs {
	uint32_t rounds;
	uint32_t silent_looks;
};

/* Returns whether it is gone. */
static int recorder_is_gone(struct signs *signs)
{
	uint32_t rounds = atomic_load_explicit(&agent_pages.doorbell.rounds, memory_order_relaxed);

	if (rounds != signs->rounds)
		*signs = (struct signs){ .rounds = rounds };
	if (++signs->silent_looks < SILENT_LOOKS)
		return 0;
	signs->silent_looks = 0;
	return !agent_recorder_lives();
}

static void *watch_attached_target(void *argument)
{
	const struct timespec pause = { .tv_nsec = LOOK_NS };
	uint32_t number = (uint32_t)(uintptr_t)argument;
	struct seen seen = { .again = 1 };
	struct signs signs = { 0 };

	raw_syscall(SYS_prctl, PR_SET_NAME, (long)"sonde-attach", 0, 0, 0, 0);
	agent_walk_objects(read_loads, &seen.loads);
	if (watching.modules & RING_GATE_NVTX)
		agent_nvtx_units();
	for (;;) {
		raw_syscall(SYS_futex, (long)&watching.turn, FUTEX_WAIT | FUTEX_PRIVATE_FLAG, number, (long)&pause, 0, 0);
		if (atomic_load(&watching.turn) != number)
			break;
		look_for_objects(&seen);
		if (recorder_is_gone(&signs)) {
			agent_detach_from_dead();
			break;
		}
	}
	atomic_store(&watching.ended, number);
	raw_syscall(SYS_futex, (long)&watching.ended, FUTEX_WAKE | FUTEX_PRIVATE_FLAG, 1, 0, 0, 0);
	return NULL;
}

void agent_watch_start(uint32_t modules)
{
	uint32_t number = atomic_fetch_add(&watching.turn, 1) + 1;

	watching.modules = modules;
	watching.process = (uint32_t)raw_getpid();
	if (agent_start_thread(watch_attached_target, (void *)(uintptr_t)number) != 0)
		atomic_store(&watching.ended, number);
}

void agent_watch_stop(void)
{
	const struct timespec pause = { .tv_nsec = LOOK_NS };
	uint32_t number = atomic_fetch_add(&watching.turn, 1), ended;

	if (watching.process != (uint32_t)raw_getpid())
		return;
	raw_syscall(SYS_futex, (long)&watching.turn, FUTEX_WAKE | FUTEX_PRIVATE_FLAG, 1, 0, 0, 0);
	for (unsigned i = 0; i < STOP_LOOKS && (ended = atomic_load(&watching.ended)) != number; i++)
		raw_syscall(SYS_futex, (long)&watching.ended, FUTEX_WAIT | FUTEX_PRIVATE_FLAG, ended, (long)&pause, 0, 0);
}
