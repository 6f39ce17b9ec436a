/* The page: files of web/, in the binary. */
#ifndef SONDE_VIEW_SERVER_WEB_H
#define SONDE_VIEW_SERVER_WEB_H

#include <stddef.h>

#include "base/buf.h"

struct web_file {
	const char *path; /* "/index.html" */
	const char *type;
	const unsigned char *data;
	size_t size;
};

/* Made by tools/embed_web; in order of their paths, the last has none. */
extern const struct web_file web_files[];

/* NULL where there is none. */
const struct web_file *web_find(const char *path);
/* A file of a folder instead, while the page is being written. -ENOENT. */
int web_read(const char *folder, const char *path, struct buf *ret, const char **ret_type);

#endif
