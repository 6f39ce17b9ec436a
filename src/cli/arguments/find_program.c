#include "cli/arguments/find_program.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/macros.h"

/* 0, or why the file cannot be run. */
static int cannot_run(const char *path)
{
	struct stat st;

	if (stat(path, &st) < 0)
		return errno;
	if (S_ISDIR(st.st_mode))
		return EISDIR;
	return access(path, X_OK) < 0 ? errno : 0;
}

static int explain_missing_program(const char *path, int reason, struct error *err)
{
	if (reason == ENOENT)
		return error_set(err, reason, "Program '%s' was not found.", path);
	if (reason == EISDIR)
		return error_set(err, reason, "'%s' is a folder, not a program.", path);
	if (reason == EACCES)
		return error_set(err, reason, "'%s' is not executable; 'chmod +x %s' would make it so.", path, path);
	return error_set_errno(err, reason, "The program '%s' cannot be run", path);
}

static int search_path(const char *name, char *ret_path, size_t path_size, struct error *err)
{
	const char *folder = getenv("PATH");
	int reason, found = ENOENT;
	char denied[PATH_MAX] = "";
	size_t len;

	for (folder = folder ? folder : "/usr/local/bin:/usr/bin:/bin";; folder += len + 1) {
		len = strcspn(folder, ":");
		snprintf(ret_path, path_size, "%.*s%s%s", (int)len, folder, len ? "/" : "./", name);
		reason = cannot_run(ret_path);
		if (reason == 0)
			return 0;
		if (reason == EACCES && found == ENOENT) {
			found = EACCES;
			snprintf(denied, sizeof(denied), "%s", ret_path);
		}
		if (!folder[len])
			break;
	}
	if (found == EACCES)
		return explain_missing_program(denied, found, err);
	return error_set(err, ENOENT, "Program '%s' was not found in PATH%s", name,
			 cannot_run(name) == 0 ? "; './' before its name takes the one in this folder." : ".");
}

int find_program(const char *name, char *ret_path, size_t path_size, struct error *err)
{
	int reason;

	if (!*name)
		return error_set(err, ENOENT, "The program's name is empty.");
	if (!strchr(name, '/'))
		return search_path(name, ret_path, path_size, err);
	reason = cannot_run(name);
	if (reason)
		return explain_missing_program(name, reason, err);
	if (strlen(name) >= path_size)
		return explain_missing_program(name, ENAMETOOLONG, err);
	memcpy(ret_path, name, strlen(name) + 1);
	return 0;
}

int find_agent(const char *name, char *ret_path, size_t path_size)
{
	/* Beside the binary (a folder copied to a server), installed. */
	static const char *const places[] = { ".", "../lib/sonde", "../lib", "lib" };
	char self[PATH_MAX], candidate[PATH_MAX + 64], *resolved;
	ssize_t len = readlink("/proc/self/exe", self, sizeof(self) - 1);
	size_t i;

	if (len <= 0)
		return -ENOENT;
	self[len] = '\0';
	*strrchr(self, '/') = '\0';
	for (i = 0; i < COUNT_OF(places); i++) {
		snprintf(candidate, sizeof(candidate), "%s/%s/%s", self, places[i], name);
		resolved = realpath(candidate, NULL);
		if (!resolved)
			continue;
		snprintf(ret_path, path_size, "%s", resolved);
		free(resolved);
		return 0;
	}
	return -ENOENT;
}
