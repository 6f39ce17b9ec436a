/* System calls that were interrupted by a stop. */
#ifndef SONDE_INJECT_RESTART_H
#define SONDE_INJECT_RESTART_H

/* What they return to the kernel itself, which calls them again unless a signal handler is to run.
 * Told in no header for programs. */
#define ERESTARTSYS 512
#define ERESTARTNOINTR 513
#define ERESTARTNOHAND 514
#define ERESTART_RESTARTBLOCK 516

/* Whether such a result is pending. */
int restart_pending(long result);
/* Whether a call that returns EINTR after a mere stop (signal(7)) may be made again: it has done
 * nothing yet. */
int restart_allowed(long call);

#endif
