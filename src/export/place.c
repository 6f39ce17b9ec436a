/* Where the output goes: written beside its place and moved there when it is complete. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "export/internal.h"

static const char *const report_endings[] = { ".sonde", ".nsys-rep", ".sonde.part" };

int export_name_beside(const char *input, const char *ending, char *ret, size_t size)
{
	size_t len = strlen(input), end;

	for (size_t i = 0; i < sizeof(report_endings) / sizeof(report_endings[0]); i++) {
		end = strlen(report_endings[i]);
		if (len > end && strcmp(input + len - end, report_endings[i]) == 0) {
			len -= end;
			break;
		}
	}
	return snprintf(ret, size, "%.*s%s", (int)len, input, ending);
}

/* Files of a folder that holds nothing but tables. */
static bool is_table_folder(const char *path)
{
	DIR *folder = opendir(path);
	struct dirent *entry;
	bool only_tables = folder != NULL;
	size_t len;

	while (only_tables && (entry = readdir(folder)) != NULL) {
		len = strlen(entry->d_name);
		only_tables = strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0 ||
			      (len > 4 && strcmp(entry->d_name + len - 4, ".csv") == 0);
	}
	if (folder)
		closedir(folder);
	return only_tables;
}

static int check_taken(const struct export *e, const struct export_format *format, struct error *err)
{
	struct stat place, target, input;

	if (lstat(e->path, &place) < 0)
		return 0;
	/* A link that leads to no name leads to a pipe, or nowhere. */
	if (S_ISLNK(place.st_mode) && stat(e->path, &target) == 0)
		place = target;
	if (stat(e->request->input, &input) == 0 && input.st_dev == place.st_dev && input.st_ino == place.st_ino)
		return error_set(err, EEXIST, "'%s' is the report itself", e->path);
	/* Devices and pipes (/dev/null) are not ours to replace. */
	if (!S_ISREG(place.st_mode) && !S_ISDIR(place.st_mode) && !S_ISLNK(place.st_mode))
		return error_set(err, EEXIST, "'%s' is not a file; '-o -' writes to standard output", e->path);
	if (!e->request->overwrite)
		return error_set(err, EEXIST, "'%s' exists; -f replaces it", e->path);
	if (S_ISDIR(place.st_mode) != format->is_folder)
		return error_set(err, EEXIST, "'%s' is %s folder", e->path, format->is_folder ? "no" : "a");
	if (format->is_folder && !is_table_folder(e->path))
		return error_set(err, EEXIST, "'%s' holds other files than tables", e->path);
	return 0;
}

/* What a link leads to is replaced, not the link: /dev/stdout is one. */
static int follow_link(struct export *e, int len)
{
	struct stat place;
	char *target = lstat(e->path, &place) == 0 && S_ISLNK(place.st_mode) ? realpath(e->path, NULL) : NULL;

	if (target)
		len = snprintf(e->path, sizeof(e->path), "%s", target);
	free(target);
	return len;
}

int export_place_choose(struct export *e, const struct export_format *format, struct error *err)
{
	int len;

	if (e->request->output)
		len = snprintf(e->path, sizeof(e->path), "%s", e->request->output);
	else
		len = export_name_beside(e->request->input, format->ending, e->path, sizeof(e->path));
	while (len > 1 && (size_t)len < sizeof(e->path) && e->path[len - 1] == '/')
		e->path[--len] = '\0';
	len = (size_t)len < sizeof(e->path) ? follow_link(e, len) : len;
	/* SQLite has names of its own (:memory:); none of them begins so. */
	if ((size_t)len >= sizeof(e->path) ||
	    (size_t)snprintf(e->part_path, sizeof(e->part_path), "%s%s.part-%d", e->path[0] == '/' ? "" : "./", e->path,
			     (int)getpid()) >= sizeof(e->part_path))
		return error_set(err, ENAMETOOLONG, "The name of the output is too long");
	export_place_remove(e->part_path);
	return check_taken(e, format, err);
}

static void remove_folder(const char *path)
{
	DIR *folder = opendir(path);
	struct dirent *entry;

	while (folder && (entry = readdir(folder)) != NULL)
		unlinkat(dirfd(folder), entry->d_name, 0);
	if (folder)
		closedir(folder);
	rmdir(path);
}

void export_place_remove(const char *path)
{
	if (unlink(path) < 0 && (errno == EISDIR || errno == EPERM))
		remove_folder(path);
}

/* A folder with files in it cannot be replaced by renaming: the two change places. */
static int swap_folders(struct export *e)
{
	if (renameat2(AT_FDCWD, e->part_path, AT_FDCWD, e->path, RENAME_EXCHANGE) < 0)
		return -errno;
	remove_folder(e->part_path);
	return 0;
}

int export_place_finish(struct export *e, const struct export_format *format, struct error *err)
{
	int r = renameat2(AT_FDCWD, e->part_path, AT_FDCWD, e->path, RENAME_NOREPLACE) < 0 ? -errno : 0;

	/* Not every file system can refuse by itself. */
	if (r == -EINVAL && access(e->path, F_OK) < 0)
		r = rename(e->part_path, e->path) < 0 ? -errno : 0;
	if ((r == -EEXIST || r == -EINVAL) && e->request->overwrite)
		r = format->is_folder ? swap_folders(e) : rename(e->part_path, e->path) < 0 ? -errno : 0;
	if (r == -EEXIST)
		return error_set(err, EEXIST, "'%s' exists; -f replaces it", e->path);
	return r < 0 ? error_set_errno(err, -r, "'%s' cannot be written", e->path) : 0;
}
