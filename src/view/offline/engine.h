/* What answers requests, in a browser: docs/view.md, "Offline". Built for WebAssembly by tools/build_offline, not by Meson. */
#ifndef SONDE_VIEW_OFFLINE_ENGINE_H
#define SONDE_VIEW_OFFLINE_ENGINE_H

#include <stddef.h>
#include <stdint.h>

/* A file that can be opened under this name. Its bytes and its name stay where they are. */
struct memory_file {
	const char *name;
	const void *data;
	size_t size;
};

/* files.c */
int memory_file_add(const char *name, const void *data, size_t size);

/* Files of share/, by their names below it; made by tools/build_offline, the last has no name. */
extern const struct memory_file share_files[];
#define SHARE_FOLDER "/share"
/* Below it, folders of the user's own, called by numbers. */
#define GIVEN_FOLDER "/given"

#endif
