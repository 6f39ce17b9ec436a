/* Where a file goes that a command writes for people.
 *
 * A link is followed only if nobody but this user (or root) can have put it there: to another user's link we answer with an error,
 * as the kernel does in sticky folders (protected_symlinks), so that nobody has us overwrite a file that only we may write. Folders
 * on the way that are links of another user may lead to folders of that same user, who can write there anyway.
 *
 * The folder stays open: what happens to its name in the meantime changes nothing. */
#ifndef SONDE_BASE_SYSTEM_OUTPUT_PLACE_H
#define SONDE_BASE_SYSTEM_OUTPUT_PLACE_H

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/stat.h>

#include "base/error.h"

struct output_path {
	int folder;              /* of the file; to be closed by output_place_release() */
	char name[NAME_MAX + 1]; /* in it; of a link to a file the name of that */
	char part[NAME_MAX + 1]; /* what it is called until it is complete */
	char path[PATH_MAX];     /* for messages: as it was given, or where a link leads to */
};

/* The folder must exist, the file need not. After an error nothing is to be released. */
int output_path_find(struct output_path *ret, const char *path, struct error *err);
void output_path_release(struct output_path *p);
/* Only the folder of `path`, for who makes several files there: a descriptor, or a negative errno. */
int output_path_folder(const char *path, struct error *err);

/* What has the name; a link among them leads to a pipe, a device or a socket, and *ret is of that. */
int output_path_stat(const struct output_path *p, struct stat *ret);

/* A new file under the name `part`: a descriptor to read and write, or a negative errno. */
int output_path_create(const struct output_path *p);
/* The same as a stream; NULL with errno set. */
FILE *output_path_open(const struct output_path *p);
/* The complete file gets its name. -EEXIST if that is taken and not to be replaced. */
int output_path_keep(const struct output_path *p, bool overwrite);

/* A stream whose readers do not wait until it is complete: a log. What is there is emptied; pipes and devices will do. */
FILE *output_log_open(const char *path, struct error *err);

#endif
