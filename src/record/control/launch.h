/* Starting the target: its environment, and the moment before its exec. */
#ifndef SONDE_RECORD_CONTROL_LAUNCH_H
#define SONDE_RECORD_CONTROL_LAUNCH_H

#include <signal.h>
#include <sys/types.h>

#include "base/error.h"
#include "record/control/recorder.h"

/* What the calling process changed for itself and the target must not see. */
struct launch_signals {
	sigset_t mask;
	struct sigaction child;
};

struct launch {
	pid_t pid;
	int go;     /* one byte here lets the target run; closing it makes it go away */
	int failed; /* the errno of a failed exec comes from here; end of file: it runs */
};

/* A NULL-terminated environment for the target; freed with launch_free_environment(). */
char **launch_environment(const struct profile_options *options, const struct secret *secret, enum elf_peek_kind kind);
void launch_free_environment(char **environment);

/* How agents find the recorder: the value of WIRE_ENV. */
#define LAUNCH_SESSION_SIZE (4 + WIRE_NAME_HEX + 2 * WIRE_TOKEN_SIZE)
void launch_session_text(const struct secret *secret, char *ret, size_t size);

/* LD_PRELOAD is a list: a path with a space or colon in it cannot be said. */
int launch_can_preload(const char *agent);

/* Forks the target; it waits. */
int launch_prepare(struct launch *l, const struct profile_options *options, char **environment, const struct captured *captured,
		   const struct launch_signals *signals, struct error *err);
/* Lets it run its program. */
int launch_go(struct launch *l, const struct profile_options *options, struct error *err);
/* Makes it go away without having run anything. */
void launch_cancel(struct launch *l);

#endif
