#include "base/system/output_path.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"

#define MOST_LINKS 40 /* as the kernel */

struct walk {
	const char *path; /* for messages */
	unsigned links;
	struct error *err;
};

/* Whether nobody but root and us can have put a link there that has this owner. A second name of it may lie somewhere else. */
static bool is_trusted(const struct stat *folder, const struct stat *link)
{
	uid_t us = geteuid();

	if (link->st_uid == us)
		return true;
	if (link->st_uid != 0 || link->st_nlink != 1 || (folder->st_uid != 0 && folder->st_uid != us))
		return false;
	return !(folder->st_mode & (S_IWGRP | S_IWOTH)) || (folder->st_mode & S_ISVTX);
}

static int refuse_foreign_link(const struct walk *w, const char *name)
{
	return error_set(w->err, EPERM, "'%s' cannot be written: '%s' is a link that another user may have made; name its target", w->path,
			 name);
}

/* Where the link leads to; 1 when another user may have made it. */
static int read_output_link(struct walk *w, int folder, const char *name, const struct stat *link, char ret[PATH_MAX])
{
	struct stat place;
	ssize_t len = readlinkat(folder, name, ret, PATH_MAX - 1);

	if (len < 0 || fstat(folder, &place) < 0)
		return error_set_errno(w->err, errno, "'%s' cannot be written", w->path);
	if (++w->links > MOST_LINKS)
		return error_set_errno(w->err, ELOOP, "'%s' cannot be written", w->path);
	ret[len] = '\0';
	return !is_trusted(&place, link);
}

static int open_folder(struct walk *w, int at, const char *path);

static int follow_to_folder(struct walk *w, int at, const char *name, const struct stat *link)
{
	char target[PATH_MAX];
	struct stat place;
	int foreign = read_output_link(w, at, name, link, target), fd;

	TRY(foreign);
	fd = open_folder(w, at, target);
	if (fd < 0 || !foreign || (fstat(fd, &place) == 0 && place.st_uid == link->st_uid))
		return fd;
	close(fd);
	return refuse_foreign_link(w, name);
}

/* One step of a path. */
static int enter_path_step(struct walk *w, int at, const char *name)
{
	int fd = openat(at, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return error_set_errno(w->err, errno, "'%s' cannot be written", w->path);
	if (S_ISDIR(st.st_mode))
		return fd;
	close(fd);
	return S_ISLNK(st.st_mode) ? follow_to_folder(w, at, name, &st) :
				     error_set_errno(w->err, ENOTDIR, "'%s' cannot be written", w->path);
}

static int open_folder(struct walk *w, int at, const char *path)
{
	int fd = openat(at, path[0] == '/' ? "/" : ".", O_PATH | O_DIRECTORY | O_CLOEXEC), next;
	char name[NAME_MAX + 1];
	size_t len;

	if (fd < 0)
		return error_set_errno(w->err, errno, "'%s' cannot be written", w->path);
	for (path += strspn(path, "/"); fd >= 0 && *path; path += len + strspn(path + len, "/")) {
		len = strcspn(path, "/");
		if (len < sizeof(name)) {
			snprintf(name, sizeof(name), "%.*s", (int)len, path);
			next = enter_path_step(w, fd, name);
		} else {
			next = error_set_errno(w->err, ENAMETOOLONG, "'%s' cannot be written", w->path);
		}
		close(fd);
		fd = next;
	}
	return fd;
}

/* The folder of `path`, which begins in `at`, and the last name. */
static int split_output_name(struct walk *w, struct output_path *p, int at, char path[PATH_MAX])
{
	size_t len = strlen(path);
	char *last;

	while (len > 1 && path[len - 1] == '/')
		path[--len] = '\0';
	last = strrchr(path, '/');
	last = last ? last + 1 : path;
	if (strlen(last) >= sizeof(p->name))
		return error_set_errno(w->err, ENAMETOOLONG, "'%s' cannot be written", w->path);
	strcpy(p->name, *last ? last : ".");
	*last = '\0';
	p->folder = open_folder(w, at, path);
	return p->folder < 0 ? p->folder : 0;
}

/* 1 when the place is that of a link which leads to a file, a folder or to nothing yet, and is to be found there. */
static int follow(struct walk *w, struct output_path *p)
{
	char target[PATH_MAX];
	struct stat st;
	int folder = p->folder, r;

	if (fstatat(folder, p->name, &st, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISLNK(st.st_mode))
		return 0;
	r = read_output_link(w, folder, p->name, &st, target);
	TRY(r);
	if (r > 0)
		return refuse_foreign_link(w, p->name);
	/* Those of /proc that lead to a pipe have no name to go to. */
	if (fstatat(folder, p->name, &st, 0) == 0 && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode))
		return 0;
	r = split_output_name(w, p, folder, target);
	close(folder);
	TRY(r);
	return 1;
}

/* Where the links led to. */
static int name_path(struct output_path *p)
{
	char link[32], folder[PATH_MAX];
	ssize_t len;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", p->folder);
	len = readlink(link, folder, sizeof(folder) - 1);
	if (len <= 0)
		return 0;
	folder[len] = '\0';
	return (size_t)snprintf(p->path, sizeof(p->path), "%s%s%s", folder, len > 1 ? "/" : "", p->name) < sizeof(p->path) ? 0 :
															     -ENAMETOOLONG;
}

int output_path_find(struct output_path *ret, const char *path, struct error *err)
{
	struct walk w = { .path = path, .err = err };
	char rest[PATH_MAX];
	bool moved = false;
	int r;

	if (!*path)
		return error_set(err, ENOENT, "The name of the output is empty");
	if ((size_t)snprintf(rest, sizeof(rest), "%s", path) >= sizeof(rest))
		return error_set(err, ENAMETOOLONG, "The name of the output is too long");
	strcpy(ret->path, rest);
	r = split_output_name(&w, ret, AT_FDCWD, rest);
	while (r >= 0 && (r = follow(&w, ret)) > 0)
		moved = true;
	if (r >= 0 && (size_t)snprintf(ret->part, sizeof(ret->part), "%s.part-%d", ret->name, (int)getpid()) >= sizeof(ret->part))
		r = -ENAMETOOLONG;
	if (r >= 0 && moved)
		r = name_path(ret);
	if (r == -ENAMETOOLONG)
		error_set(err, ENAMETOOLONG, "The name of the output is too long");
	if (r < 0)
		output_path_release(ret);
	return r;
}

int output_path_folder(const char *path, struct error *err)
{
	struct walk w = { .path = path, .err = err };
	struct output_path p;
	char rest[PATH_MAX];

	if ((size_t)snprintf(rest, sizeof(rest), "%s", path) >= sizeof(rest))
		return error_set(err, ENAMETOOLONG, "The name of the output is too long");
	TRY(split_output_name(&w, &p, AT_FDCWD, rest));
	return p.folder;
}

void output_path_release(struct output_path *p)
{
	if (p->folder >= 0)
		close(p->folder);
	p->folder = -1;
}

int output_path_stat(const struct output_path *p, struct stat *ret)
{
	int r = fstatat(p->folder, p->name, ret, AT_SYMLINK_NOFOLLOW);

	if (r == 0 && S_ISLNK(ret->st_mode))
		r = fstatat(p->folder, p->name, ret, 0);
	return r < 0 ? -errno : 0;
}

int output_path_create(const struct output_path *p)
{
	int fd;

	/* Left by a process that had our number. */
	unlinkat(p->folder, p->part, 0);
	fd = openat(p->folder, p->part, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
	return fd < 0 ? -errno : fd;
}

FILE *output_path_open(const struct output_path *p)
{
	int fd = output_path_create(p);
	FILE *stream = fd < 0 ? NULL : fdopen(fd, "w");

	if (!stream && fd >= 0)
		close(fd);
	if (!stream)
		errno = fd < 0 ? -fd : ENOMEM;
	return stream;
}

int output_path_keep(const struct output_path *p, bool overwrite)
{
	struct stat st;

	if (!overwrite) {
		if (renameat2(p->folder, p->part, p->folder, p->name, RENAME_NOREPLACE) == 0)
			return 0;
		/* Not every file system can refuse by itself. */
		if (errno != EINVAL)
			return -errno;
		if (fstatat(p->folder, p->name, &st, AT_SYMLINK_NOFOLLOW) == 0)
			return -EEXIST;
	}
	return renameat(p->folder, p->part, p->folder, p->name) < 0 ? -errno : 0;
}

/* A second name of a file of ours may have been put into a folder of others. */
static bool may_empty(const struct output_path *p, const struct stat *file)
{
	struct stat folder;

	return file->st_nlink <= 1 || (fstat(p->folder, &folder) == 0 && (folder.st_uid == 0 || folder.st_uid == geteuid()) &&
				       !(folder.st_mode & (S_IWGRP | S_IWOTH)));
}

static int open_existing(const struct output_path *p)
{
	struct stat st;
	bool is_link = fstatat(p->folder, p->name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(st.st_mode);
	int fd = openat(p->folder, p->name, O_WRONLY | O_NOCTTY | O_CLOEXEC | (is_link ? 0 : O_NOFOLLOW));
	int r = fd < 0 || fstat(fd, &st) < 0 ? -errno : 0;

	if (r == 0 && S_ISREG(st.st_mode))
		r = is_link || !may_empty(p, &st) ? -EPERM : ftruncate(fd, 0) < 0 ? -errno : 0;
	if (r < 0 && fd >= 0)
		close(fd);
	TRY(r);
	return fd;
}

FILE *output_log_open(const char *path, struct error *err)
{
	struct output_path p;
	FILE *stream;
	int fd;

	if (output_path_find(&p, path, err) < 0)
		return NULL;
	fd = openat(p.folder, p.name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_NOCTTY | O_CLOEXEC, 0666);
	fd = fd >= 0 ? fd : errno == EEXIST ? open_existing(&p) : -errno;
	output_path_release(&p);
	stream = fd < 0 ? NULL : fdopen(fd, "w");
	if (stream)
		return stream;
	error_set_errno(err, fd < 0 ? -fd : ENOMEM, "'%s' cannot be written", path);
	if (fd >= 0)
		close(fd);
	return NULL;
}
