/* Finding the folders that hold named reports. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/macros.h"
#include "stats/stats.h"

static int add_stats_folder(struct stats_folders *folders, const char *name, size_t len)
{
	if (len == 0 || folders->count == COUNT_OF(folders->names))
		return 0;
	folders->names[folders->count] = strndup(name, len);
	return folders->names[folders->count] ? (int)++folders->count : -ENOMEM;
}

static int add_list(struct stats_folders *folders, const char *list, const char *separators)
{
	size_t len;
	int r = 0;

	while (r >= 0 && list && *list) {
		len = strcspn(list, separators);
		r = add_stats_folder(folders, list, len);
		list += len + (list[len] != '\0');
	}
	return r;
}

/* share/sql beside the program (a copied folder), or where `make install` puts it, or in
 * the source tree above the build folder. */
static int add_own(struct stats_folders *folders)
{
	static const char *const places[] = { "share/sql", "../share/sonde/sql", "../share/sql" };
	char program[PATH_MAX], name[PATH_MAX + 64], resolved[PATH_MAX];
	ssize_t len = readlink("/proc/self/exe", program, sizeof(program) - 1);
	int r = 0;

	if (len <= 0)
		return 0;
	program[len] = '\0';
	for (size_t i = 0; r >= 0 && i < COUNT_OF(places); i++) {
		snprintf(name, sizeof(name), "%.*s/%s", (int)(strrchr(program, '/') - program), program, places[i]);
		if (realpath(name, resolved))
			r = add_stats_folder(folders, resolved, strlen(resolved));
	}
	return r;
}

int stats_folders_find(struct stats_folders *ret, const char *const *given, size_t given_count, struct error *err)
{
	int r = 0;

	memset(ret, 0, sizeof(*ret));
	for (size_t i = 0; r >= 0 && i < given_count; i++)
		r = add_list(ret, given[i], ",");
	if (r >= 0)
		r = add_list(ret, getenv("SONDE_STATS_REPORT_PATH"), ":");
	if (r >= 0)
		r = add_own(ret);
	if (r < 0) {
		stats_folders_release(ret);
		return error_set(err, ENOMEM, "Not enough memory");
	}
	return 0;
}

void stats_folders_release(struct stats_folders *folders)
{
	for (size_t i = 0; i < folders->count; i++)
		free(folders->names[i]);
	memset(folders, 0, sizeof(*folders));
}
