#include "kernel/metrics/share_folder.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/macros.h"

int share_folder(const char *name, char *ret, size_t size)
{
	static const char *const places[] = { "share", "../share/sonde", "../share" };
	char program[PATH_MAX], path[PATH_MAX + 64], resolved[PATH_MAX];
	ssize_t len = readlink("/proc/self/exe", program, sizeof(program) - 1);

	if (len <= 0)
		return -ENOENT;
	program[len] = '\0';
	for (size_t i = 0; i < COUNT_OF(places); i++) {
		if ((size_t)snprintf(path, sizeof(path), "%.*s/%s/%s", (int)(strrchr(program, '/') - program), program, places[i], name) <
			    sizeof(path) &&
		    realpath(path, resolved) && strlen(resolved) < size) {
			strcpy(ret, resolved);
			return 0;
		}
	}
	return -ENOENT;
}
