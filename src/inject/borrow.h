/* One thread of another process, stopped, made to call functions, and let go where it was. */
#ifndef SONDE_INJECT_BORROW_H
#define SONDE_INJECT_BORROW_H

#include <stdint.h>
#include <sys/types.h>

#include "base/system/arch_borrow.h"
#include "inject/image.h"

struct borrowed {
	pid_t thread;
	const struct image *image;
	uint64_t trampoline;            /* the C library's way back from a signal handler */
	arch_thread_registers original; /* as they are to be when the thread goes on */
	uint64_t mask;                  /* of signals */
	uint64_t frame;                 /* in its stack: the way back without us; 0 = not written yet */
	uint8_t in_call;                /* stopped between the entry and the exit of a system call */
	uint8_t gone;                   /* it has ended, or was let go */
	int status;                     /* with which it ended, as of waitpid(); -1: not known */
	uint32_t vectors_size;
	uint8_t vectors[ARCH_VECTORS_LIMIT];
};

/* How much of the thread's stack is needed. */
#define BORROW_STACK (ARCH_VECTORS_LIMIT + 48u * 1024)

/* Stops the thread and reads its registers. -EAGAIN: not now (a signal was on its way, it does not
 * stop); -ESRCH, -EPERM. */
int borrow_stop(struct borrowed *ret, const struct image *image, pid_t thread);
/* Those that did not stop when they should have, and may have since: to be called now and then. */
void borrow_let_strays_go(void);
/* Lets a thread go that was only looked at. */
void borrow_release(struct borrowed *b);
/* Prepares it to call functions. -EFAULT: its stack cannot be written; it must be released then. */
int borrow_prepare(struct borrowed *b, uint64_t trampoline);
/* Calls a function and waits until it returns. *ret is what the last of the function's system calls
 * with this number returned (`or_call`: or with that one), -ENOSYS when there was none. -ESRCH: the
 * thread has ended. -EFAULT: it crashed, and is as it was. */
int borrow_call(struct borrowed *b, uint64_t function, const uint64_t arguments[6], long call, long or_call, int64_t *ret);
/* The thread goes on where it was. */
void borrow_end(struct borrowed *b);

#endif
