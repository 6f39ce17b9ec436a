/* Files in memory, for the few functions of the C library that the readers of reports and of share/sql use. Nothing can be
 * written; a file is mapped where it lies. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "stats/stats.h"
#include "view/offline/engine.h"

#define MOST_FILES 32
#define FIRST_FD 100

static struct memory_file files[MOST_FILES];
static int file_count;

int memory_file_add(const char *name, const void *data, size_t size)
{
	if (file_count == MOST_FILES)
		return -ENOMEM;
	files[file_count++] = (struct memory_file){ name, data, size };
	return 0;
}

static const struct memory_file *file_of(int fd)
{
	return fd >= FIRST_FD && fd - FIRST_FD < file_count ? &files[fd - FIRST_FD] : NULL;
}

/* The last of a name: what was opened later takes its place. */
int open(const char *path, int flags, ...)
{
	for (int i = file_count; i-- > 0;)
		if (strcmp(files[i].name, path) == 0)
			return FIRST_FD + i;
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
	const struct memory_file *file = file_of(fd);

	memset(ret, 0, sizeof(*ret));
	if (!file)
		return -1;
	ret->st_mode = S_IFREG | 0444;
	ret->st_size = (off_t)file->size;
	return 0;
}

ssize_t pread(int fd, void *data, size_t size, off_t offset)
{
	const struct memory_file *file = file_of(fd);

	if (!file || offset < 0 || (uint64_t)offset >= file->size)
		return 0;
	size = size < file->size - (size_t)offset ? size : file->size - (size_t)offset;
	memcpy(data, (const char *)file->data + offset, size);
	return (ssize_t)size;
}

void *mmap(void *address, size_t size, int protection, int flags, int fd, off_t offset)
{
	const struct memory_file *file = file_of(fd);

	return file ? (void *)(uintptr_t)file->data : MAP_FAILED;
}

int munmap(void *address, size_t size)
{
	return 0;
}

int stats_folders_find(struct stats_folders *ret, const char *const *given, size_t given_count, struct error *err)
{
	*ret = (struct stats_folders){ { strdup(SQL_FOLDER) }, 1 };
	return ret->names[0] ? 0 : error_set(err, ENOMEM, "Not enough memory");
}

void stats_folders_release(struct stats_folders *folders)
{
	free(folders->names[0]);
	memset(folders, 0, sizeof(*folders));
}

FILE *fopen(const char *path, const char *mode)
{
	size_t folder = strlen(SQL_FOLDER "/");

	for (const struct memory_file *f = sql_files; f->name && strncmp(path, SQL_FOLDER "/", folder) == 0; f++)
		if (strcmp(f->name, path + folder) == 0)
			return fmemopen((void *)(uintptr_t)f->data, f->size, "r");
	errno = ENOENT;
	return NULL;
}

struct _DIR {
	size_t next;
	struct dirent *entry;
};

DIR *opendir(const char *path)
{
	struct _DIR *dir = strcmp(path, SQL_FOLDER) == 0 ? calloc(1, sizeof(*dir)) : NULL;

	if (dir)
		dir->entry = calloc(1, sizeof(*dir->entry) + 256);
	if (dir && dir->entry)
		return dir;
	free(dir);
	errno = ENOENT;
	return NULL;
}

struct dirent *readdir(DIR *dir)
{
	const struct memory_file *f = &sql_files[dir->next];

	if (!f->name)
		return NULL;
	dir->next++;
	snprintf(dir->entry->d_name, 256, "%s", f->name);
	return dir->entry;
}

int closedir(DIR *dir)
{
	free(dir->entry);
	free(dir);
	return 0;
}
