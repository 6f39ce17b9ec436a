#include "base/system/cache_folder.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* A folder of the path, ours and closed to others. */
static int make_folder(const char *path)
{
	struct stat st;

	if (mkdir(path, 0700) < 0 && errno != EEXIST)
		return -ENOENT;
	if (lstat(path, &st) < 0 || !S_ISDIR(st.st_mode) || st.st_uid != geteuid() || (st.st_mode & 022))
		return -ENOENT;
	return 0;
}

int cache_folder(const char *name, char *ret, size_t size)
{
	const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
	static const char *const steps[] = { "", "/sonde", "/sonde/" };
	char base[PATH_MAX];
	int r = 0, n;

	if (cache && cache[0] == '/')
		snprintf(base, sizeof(base), "%s", cache);
	else if (home && home[0] == '/')
		snprintf(base, sizeof(base), "%s/.cache", home);
	else
		return -ENOENT;
	for (size_t i = 0; i < 3 && r == 0; i++) {
		n = snprintf(ret, size, "%s%s%s", base, steps[i], i == 2 ? name : "");
		r = n < 0 || (size_t)n >= size ? -ENOENT : make_folder(ret);
	}
	return r;
}
