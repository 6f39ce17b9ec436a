/* Where the output goes: written beside its place and moved there when it is complete. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/macros.h"
#include "base/text/ending.h"
#include "export/internal.h"

static const char *const report_endings[] = { ".sonde", ".nsys-rep", ".sonde.part" };

int export_name_beside(const char *input, const char *ending, char *ret, size_t size)
{
	size_t len = strlen(input);

	for (size_t i = 0; i < COUNT_OF(report_endings); i++)
		if (text_has_ending(input, report_endings[i])) {
			len -= strlen(report_endings[i]);
			break;
		}
	return snprintf(ret, size, "%.*s%s", (int)len, input, ending);
}

/* -1 where the name is that of no folder, or of a link to one. */
static int open_tables(const struct export *e, const char *name)
{
	return openat(e->place.folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

static bool is_table(const char *name)
{
	return text_has_ending(name, ".csv");
}

/* Files of a folder that holds nothing but tables. */
static bool is_table_folder(const struct export *e)
{
	int fd = open_tables(e, e->place.name);
	DIR *folder = fd >= 0 ? fdopendir(fd) : NULL;
	struct dirent *entry;
	bool only_tables = folder != NULL;

	while (only_tables && (entry = readdir(folder)) != NULL)
		only_tables = strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0 || is_table(entry->d_name);
	if (folder)
		closedir(folder);
	else if (fd >= 0)
		close(fd);
	return only_tables;
}

static int check_taken(const struct export *e, const struct export_format *format, struct error *err)
{
	const char *path = e->place.path;
	struct stat place, input;

	if (output_path_stat(&e->place, &place) < 0)
		return 0;
	if (stat(e->request->input, &input) == 0 && input.st_dev == place.st_dev && input.st_ino == place.st_ino)
		return error_set(err, EEXIST, "'%s' is the report itself", path);
	/* Devices and pipes (/dev/null) are not ours to replace. */
	if (!S_ISREG(place.st_mode) && !S_ISDIR(place.st_mode))
		return error_set(err, EEXIST, "'%s' is not a file; '-o -' writes to standard output", path);
	if (!e->request->overwrite)
		return error_set(err, EEXIST, "'%s' exists; -f replaces it", path);
	if (S_ISDIR(place.st_mode) != format->is_folder)
		return error_set(err, EEXIST, "'%s' is %s folder", path, format->is_folder ? "no" : "a");
	if (format->is_folder && !is_table_folder(e))
		return error_set(err, EEXIST, "'%s' has files that are not tables", path);
	return 0;
}

int export_place_choose(struct export *e, const struct export_format *format, struct error *err)
{
	char path[PATH_MAX];
	size_t len;
	int r;

	if (e->request->output)
		len = (size_t)snprintf(path, sizeof(path), "%s", e->request->output);
	else
		len = (size_t)export_name_beside(e->request->input, e->ending, path, sizeof(path));
	if (len >= sizeof(path))
		return error_set(err, ENAMETOOLONG, "The name of the output is too long");
	while (len > 1 && path[len - 1] == '/')
		path[--len] = '\0';
	TRY(output_path_find(&e->place, path, err));
	r = check_taken(e, format, err);
	if (r < 0)
		export_place_release(e);
	return r;
}

bool export_has_place(const struct export *e)
{
	return e->place.part[0];
}

void export_place_release(struct export *e)
{
	output_path_release(&e->place);
	e->place.part[0] = '\0';
}

/* Nothing else than tables, whatever was moved to this name in the meantime. */
static void remove_tables(struct export *e)
{
	int fd = open_tables(e, e->place.part);
	DIR *folder = fd >= 0 ? fdopendir(fd) : NULL;
	struct dirent *entry;

	while (folder && (entry = readdir(folder)) != NULL)
		if (is_table(entry->d_name))
			unlinkat(fd, entry->d_name, 0);
	if (folder)
		closedir(folder);
	else if (fd >= 0)
		close(fd);
	unlinkat(e->place.folder, e->place.part, AT_REMOVEDIR);
}

void export_place_remove(struct export *e)
{
	if (unlinkat(e->place.folder, e->place.part, 0) < 0 && (errno == EISDIR || errno == EPERM))
		remove_tables(e);
}

int export_place_make_folder(struct export *e)
{
	int fd;

	export_place_remove(e);
	if (mkdirat(e->place.folder, e->place.part, 0777) < 0)
		return -errno;
	fd = open_tables(e, e->place.part);
	return fd < 0 ? -errno : fd;
}

/* A folder with files in it cannot be replaced by renaming: the two change places. */
static int swap_folders(struct export *e)
{
	if (renameat2(e->place.folder, e->place.part, e->place.folder, e->place.name, RENAME_EXCHANGE) < 0)
		return -errno;
	remove_tables(e);
	return 0;
}

int export_place_finish(struct export *e, const struct export_format *format, struct error *err)
{
	int r = output_path_keep(&e->place, false);

	if (r == -EEXIST && e->request->overwrite)
		r = format->is_folder ? swap_folders(e) : output_path_keep(&e->place, true);
	if (r == -EEXIST)
		return error_set(err, EEXIST, "'%s' exists; -f replaces it", e->place.path);
	return r < 0 ? error_set_errno(err, -r, "'%s' cannot be written", e->place.path) : 0;
}
