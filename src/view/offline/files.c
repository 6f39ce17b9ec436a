/* Files in memory, for the few functions of the C library that the readers of reports and of share/ use. Nothing can be
 * written; a file is mapped where it lies. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kernel/metrics/share_folder.h"
#include "stats/stats.h"
#include "view/offline/engine.h"

#define FIRST_FD 100
#define FIRST_SHARE_FD 1000

static struct memory_file *files;
static int file_count;

int memory_file_add(const char *name, const void *data, size_t size)
{
	struct memory_file *grown = realloc(files, ((size_t)file_count + 1) * sizeof(*files));

	if (!grown || file_count == FIRST_SHARE_FD - FIRST_FD)
		return -ENOMEM;
	files = grown;
	files[file_count++] = (struct memory_file){ name, data, size };
	return 0;
}

static const struct memory_file *find_memory_file(int fd)
{
	if (fd >= FIRST_SHARE_FD)
		return &share_files[fd - FIRST_SHARE_FD];
	return fd >= FIRST_FD && fd - FIRST_FD < file_count ? &files[fd - FIRST_FD] : NULL;
}

/* The last of a name: what was opened later takes its place. */
int open(const char *path, int flags, ...)
{
	size_t folder = strlen(SHARE_FOLDER "/");

	for (int i = file_count; i-- > 0;)
		if (strcmp(files[i].name, path) == 0)
			return FIRST_FD + i;
	for (int i = 0; strncmp(path, SHARE_FOLDER "/", folder) == 0 && share_files[i].name; i++)
		if (strcmp(share_files[i].name, path + folder) == 0)
			return FIRST_SHARE_FD + i;
	errno = ENOENT;
	return -1;
}

int close(int fd)
{
	return 0;
}

int access(const char *path, int mode)
{
	return open(path, O_RDONLY) < 0 ? -1 : 0;
}

int fstat(int fd, struct stat *ret)
{
	const struct memory_file *file = find_memory_file(fd);

	memset(ret, 0, sizeof(*ret));
	if (!file)
		return -1;
	ret->st_mode = S_IFREG | 0444;
	ret->st_size = (off_t)file->size;
	return 0;
}

ssize_t pread(int fd, void *data, size_t size, off_t offset)
{
	const struct memory_file *file = find_memory_file(fd);

	if (!file || offset < 0 || (uint64_t)offset >= file->size)
		return 0;
	size = size < file->size - (size_t)offset ? size : file->size - (size_t)offset;
	memcpy(data, (const char *)file->data + offset, size);
	return (ssize_t)size;
}

void *mmap(void *address, size_t size, int protection, int flags, int fd, off_t offset)
{
	const struct memory_file *file = find_memory_file(fd);

	return file ? (void *)(uintptr_t)file->data : MAP_FAILED;
}

int munmap(void *address, size_t size)
{
	return 0;
}

int stats_folders_find(struct stats_folders *ret, const char *const *given, size_t given_count, struct error *err)
{
	*ret = (struct stats_folders){ { strdup(SHARE_FOLDER "/sql") }, 1 };
	return ret->names[0] ? 0 : error_set(err, ENOMEM, "Not enough memory");
}

void stats_folders_release(struct stats_folders *folders)
{
	free(folders->names[0]);
	memset(folders, 0, sizeof(*folders));
}

int share_folder(const char *name, char *ret, size_t size)
{
	snprintf(ret, size, SHARE_FOLDER "/%s", name);
	return 0;
}

FILE *fdopen(int fd, const char *mode)
{
	const struct memory_file *file = find_memory_file(fd);

	return file ? fmemopen((void *)(uintptr_t)file->data, file->size, "r") : NULL;
}

FILE *fopen(const char *path, const char *mode)
{
	return fdopen(open(path, O_RDONLY), mode);
}

struct _DIR {
	const char *folder; /* below SHARE_FOLDER, or whole */
	bool is_given;      /* not of share/ */
	size_t next;
	struct dirent *entry;
};

DIR *opendir(const char *path)
{
	bool is_given = strncmp(path, GIVEN_FOLDER "/", strlen(GIVEN_FOLDER "/")) == 0;
	bool is_share = strncmp(path, SHARE_FOLDER "/", strlen(SHARE_FOLDER "/")) == 0;
	struct _DIR *dir = is_given || is_share ? calloc(1, sizeof(*dir)) : NULL;

	if (dir)
		*dir = (struct _DIR){ is_given ? path : path + strlen(SHARE_FOLDER "/"), is_given, 0,
				      calloc(1, sizeof(*dir->entry) + 256) };
	if (dir && dir->entry)
		return dir;
	free(dir);
	errno = ENOENT;
	return NULL;
}

/* NULL behind the last. */
static const struct memory_file *next_file(DIR *dir)
{
	const struct memory_file *f = dir->is_given ? &files[dir->next] : &share_files[dir->next];

	return (dir->is_given ? dir->next < (size_t)file_count : f->name != NULL) ? (dir->next++, f) : NULL;
}

struct dirent *readdir(DIR *dir)
{
	const struct memory_file *f;
	size_t len = strlen(dir->folder);

	while ((f = next_file(dir))) {
		if (strncmp(f->name, dir->folder, len) != 0 || f->name[len] != '/')
			continue;
		snprintf(dir->entry->d_name, 256, "%s", f->name + len + 1);
		return dir->entry;
	}
	return NULL;
}

int closedir(DIR *dir)
{
	free(dir->entry);
	free(dir);
	return 0;
}

/* They are in order of their names already. */
int scandir(const char *path, struct dirent ***ret, int (*filter)(const struct dirent *),
	    int (*order)(const struct dirent **, const struct dirent **))
{
	DIR *dir = opendir(path);
	struct dirent *entry, **all = NULL, **grown;
	int count = 0;

	while (dir && (entry = readdir(dir))) {
		grown = realloc(all, ((size_t)count + 1) * sizeof(*all));
		if (!grown)
			break;
		all = grown;
		all[count] = malloc(sizeof(*entry) + 256);
		if (!all[count])
			break;
		memcpy(all[count++], entry, sizeof(*entry) + 256);
	}
	if (dir)
		closedir(dir);
	*ret = all;
	return dir ? count : -1;
}
