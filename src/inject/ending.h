/* How a process ended that is not our child. */
#ifndef SONDE_INJECT_ENDING_H
#define SONDE_INJECT_ENDING_H

#include <sys/types.h>

enum ending {
	ENDING_BY_ITSELF, /* it exited, or somebody sent it a signal that ends programs */
	ENDING_FAULT,     /* of a signal that a fault of its code brings about */
	ENDING_UNKNOWN    /* whoever waits for it has been quicker, and the kernel does not keep the status (before 6.15) */
};

/* A descriptor of a process that lives, for ending_of(); -1: none, then less will be known. */
int ending_watch(pid_t pid);
/* `status`: as of waitpid(), -1 when it is not known; what the kernel says is asked for then. */
enum ending ending_of(pid_t pid, int watch, int status);

#endif
