/* A process that reads what others made gives up what it does not need: files by Landlock, calls by seccomp. Neither can be
 * taken back, and programs it starts inherit both. Called while there is one thread. docs/security.md says who keeps what. */
#ifndef SONDE_BASE_SYSTEM_CONFINE_H
#define SONDE_BASE_SYSTEM_CONFINE_H

#include <stdbool.h>
#include <stddef.h>

enum confine_access {
	CONFINE_READ = 1,
	CONFINE_WRITE = 2, /* of a folder: to make and to remove files below it, too */
	CONFINE_RUN = 4
};

#define CONFINE_MOST_PLACES 64

struct confinement {
	bool accepts; /* connections at a socket that listens already */
	bool runs;    /* programs may be started, where a place has CONFINE_RUN; without Landlock any */
	size_t count;
	struct confine_place {
		char *path;
		unsigned access;
	} places[CONFINE_MOST_PLACES];
};

/* A place that is not there, or NULL, is left out; the first that finds no room makes confine_files() do nothing. */
void confine_allow(struct confinement *c, unsigned access, const char *path);
/* The folder that a file is in, or will be in. */
void confine_allow_folder_of(struct confinement *c, unsigned access, const char *path);
/* What C libraries and SQLite need: time zones, names of users, shared libraries, folders for temporary files. */
void confine_allow_usual(struct confinement *c);
void confine_release(struct confinement *c);

/* Confines this process, and releases `c`. What the kernel does not have is left out. */
void confine_enter(struct confinement *c);

/* What confine_enter() can do here, for sonde doctor: Landlock's version, -errno without it; 0 where calls can be refused. */
int confine_landlock_version(void);
int confine_seccomp_works(void);

#endif
