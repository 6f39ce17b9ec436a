/* Parts of paths. Allocates nothing, so agents may use it, too. */
#ifndef SONDE_BASE_TEXT_PATH_H
#define SONDE_BASE_TEXT_PATH_H

#include <string.h>

/* What stands behind the last slash; nothing, if that ends the path. */
static inline const char *path_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

#endif
