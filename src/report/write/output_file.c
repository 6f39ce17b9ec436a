/* The file of a writer: private, created under a name nobody else has, locked before it
 * can be seen, appended block by block, published by a rename that destroys nothing. */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/system/output_path.h"
#include "base/text/path.h"
#include "report/write/internal.h"

#define CREATE_FLAGS (O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC)
#define SYNC_STEP (16ull << 20)
#define ASIDE_MAX 10000

char *path_with(const char *path, const char *suffix)
{
	char *joined = NULL;

	if (asprintf(&joined, "%s%s", path, suffix) < 0)
		return NULL;
	return joined;
}

int fill_random(void *bytes, size_t size)
{
	return getrandom(bytes, size, 0) == (ssize_t)size ? 0 : -EIO;
}

int output_open_name(const struct report_writer *w, const char *path, int flags)
{
	return openat(w->folder, path_name(path), flags, 0600);
}

int output_rename(const struct report_writer *w, const char *from, const char *to)
{
	return renameat(w->folder, path_name(from), w->folder, path_name(to));
}

int output_unlink(const struct report_writer *w, const char *path)
{
	return unlinkat(w->folder, path_name(path), 0);
}

static bool has_output_name(const struct report_writer *w, const char *path)
{
	return faccessat(w->folder, path_name(path), F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

/* Renames without ever replacing. */
static int rename_new(const struct report_writer *w, const char *from, const char *to)
{
	if (renameat2(w->folder, path_name(from), w->folder, path_name(to), RENAME_NOREPLACE) == 0)
		return 0;
	if (errno != EINVAL && errno != ENOSYS)
		return -errno;
	if (linkat(w->folder, path_name(from), w->folder, path_name(to), 0) == 0) {
		output_unlink(w, from);
		return 0;
	}
	return -errno;
}

/* The same where neither way exists (FAT): there a moment is left in which a file
 * that appears would be replaced. */
static int rename_if_free(const struct report_writer *w, const char *from, const char *to)
{
	int r = rename_new(w, from, to);

	if (r != -EPERM && r != -EOPNOTSUPP && r != -ENOSYS)
		return r;
	if (has_output_name(w, to))
		return -EEXIST;
	return output_rename(w, from, to) < 0 ? -errno : 0;
}

/* 0 when locked, 1 where the filesystem has no locks, -EBUSY when another has it. */
static int lock_file(int fd)
{
	if (flock(fd, LOCK_EX | LOCK_NB) == 0)
		return 0;
	if (errno == EWOULDBLOCK)
		return -EBUSY;
	return 1;
}

/* Moves what a dead recorder left to the first free X.part.N / X.journal.N. */
static int move_aside(struct report_writer *w, char *ret_note, size_t note_size)
{
	char suffix[32];
	char *part = NULL, *journal = NULL;
	int r = -EEXIST;

	for (int n = 1; n <= ASIDE_MAX && r == -EEXIST; n++) {
		snprintf(suffix, sizeof(suffix), ".%d", n);
		free(part);
		free(journal);
		part = path_with(w->part_path, suffix);
		journal = path_with(w->journal_path, suffix);
		if (!part || !journal)
			r = -ENOMEM;
		else if (!has_output_name(w, journal))
			r = rename_if_free(w, w->part_path, part);
	}
	if (r == 0) {
		rename_if_free(w, w->journal_path, journal);
		if (ret_note)
			snprintf(ret_note, note_size,
				 "%s was left by an earlier recording and is now %s; "
				 "'sonde recover %s' makes a report of it",
				 w->part_path, part, part);
	}
	free(part);
	free(journal);
	return r;
}

/* Deals with a .part that is already there. */
static int clear_the_way(struct report_writer *w, char *ret_note, size_t note_size, struct error *err)
{
	int fd = output_open_name(w, w->part_path, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
	int r;

	if (fd < 0 && errno == ENOENT)
		return 0;
	if (fd < 0)
		return error_set_errno(err, errno, "cannot open %s", w->part_path);
	r = lock_file(fd);
	if (r == 0)
		r = move_aside(w, ret_note, note_size);
	close(fd);
	if (r > 0)
		return error_set(err, EBUSY,
				 "%s exists, and on this file system it is not known whether it is still being recorded: 'sonde "
				 "recover' or remove it, or choose another name with -o",
				 w->part_path);
	if (r == -EBUSY)
		return error_set(err, EBUSY,
				 "%s belongs to a recording that is still going on; "
				 "choose another name with -o",
				 w->part_path);
	if (r < 0)
		return error_set_errno(err, -r, "cannot move %s aside", w->part_path);
	return 0;
}

static int create_random(const struct report_writer *w, const char *path, char **ret_name)
{
	unsigned long long number;
	char suffix[32];
	int fd;

	if (fill_random(&number, sizeof(number)) < 0)
		return -EIO;
	snprintf(suffix, sizeof(suffix), ".%016llx", number);
	*ret_name = path_with(path, suffix);
	if (!*ret_name)
		return -ENOMEM;
	fd = output_open_name(w, *ret_name, CREATE_FLAGS);
	if (fd < 0) {
		fd = -errno;
		free(*ret_name);
		*ret_name = NULL;
	}
	return fd;
}

/* Locked under a random name first: once it is the .part, nobody can take it for left over. */
static int create_part(struct report_writer *w, struct error *err)
{
	char *temporary;
	int fd = create_random(w, w->part_path, &temporary), r;

	if (fd < 0)
		return error_set_errno(err, -fd, "cannot create %s", w->part_path);
	lock_file(fd);
	r = rename_new(w, temporary, w->part_path);
	if (r < 0 && r != -EEXIST) { /* neither renameat2 nor links here */
		close(fd);
		fd = output_open_name(w, w->part_path, CREATE_FLAGS);
		r = fd < 0 ? -errno : 0;
		if (r == 0)
			lock_file(fd);
	}
	if (r < 0) {
		output_unlink(w, temporary);
		if (fd >= 0)
			close(fd);
		fd = -1;
	}
	free(temporary);
	if (r == -EEXIST)
		return error_set(err, EBUSY,
				 "%s was taken by another recording just now; "
				 "choose another name with -o",
				 w->part_path);
	if (r < 0)
		return error_set_errno(err, -r, "cannot create %s", w->part_path);
	w->fd = fd;
	return 0;
}

static int write_header(struct report_writer *w, struct error *err)
{
	struct file_header h = { .magic = FILE_MAGIC, .major = FORMAT_MAJOR, .minor = FORMAT_MINOR, .size = sizeof(h) };
	struct timespec now;
	int r;

	clock_gettime(CLOCK_REALTIME, &now);
	h.created = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
	memcpy(h.id, w->id, sizeof(h.id));
	file_header_seal(&h);
	buf_clear(&w->block);
	r = buf_append(&w->block, &h, sizeof(h));
	if (r == 0)
		r = output_append(w);
	room_measure(w);
	return r < 0 ? error_set_errno(err, -r, "cannot write %s", w->part_path) : 0;
}

/* A file that could not even get its header is not left behind. */
static int begin_file(struct report_writer *w, struct error *err)
{
	int r = write_header(w, err);

	if (r < 0)
		output_unlink(w, w->part_path);
	return r;
}

int output_begin(struct report_writer *w, struct error *err)
{
	return write_header(w, err);
}

/* Finds the folder, and whether the name may be taken. */
static int check_target(struct report_writer *w, struct error *err)
{
	struct stat st;

	if (w->folder < 0)
		w->folder = output_path_folder(w->path, err);
	if (w->folder < 0)
		return w->folder;
	if (fstatat(w->folder, path_name(w->path), &st, AT_SYMLINK_NOFOLLOW) < 0)
		return 0;
	if (S_ISDIR(st.st_mode))
		return error_set(err, EISDIR, "%s is a directory; name a file with -o", w->path);
	if (!w->overwrite)
		return error_set(err, EEXIST,
				 "%s exists; overwrite it with -f true or choose "
				 "another name with -o",
				 w->path);
	return 0;
}

int output_open(struct report_writer *w, char *ret_note, size_t note_size, struct error *err)
{
	TRY(check_target(w, err));
	TRY(clear_the_way(w, ret_note, note_size, err));
	TRY(create_part(w, err));
	return begin_file(w, err);
}

int output_open_temporary(struct report_writer *w, struct error *err)
{
	char *temporary;
	int fd, r = check_target(w, err);

	if (r < 0)
		return r;
	fd = output_create_beside(w, w->path, &temporary);
	if (fd < 0)
		return error_set_errno(err, -fd, "cannot create a file beside %s", w->path);
	free(w->part_path);
	w->part_path = temporary;
	w->fd = fd;
	return begin_file(w, err);
}

int output_create_beside(const struct report_writer *w, const char *path, char **ret_name)
{
	int fd = create_random(w, path, ret_name);

	if (fd >= 0)
		lock_file(fd);
	return fd;
}

int output_read(int fd, void *data, size_t size, uint64_t offset)
{
	uint8_t *at = data;
	ssize_t n;

	while (size) {
		n = pread(fd, at, size, (off_t)offset);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -EIO;
		at += n;
		size -= (size_t)n;
		offset += (uint64_t)n;
	}
	return 0;
}

static int write_output_bytes(int fd, const char *data, size_t size, uint64_t offset)
{
	while (size) {
		ssize_t n = pwrite(fd, data, size, (off_t)offset);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -EIO;
		data += n;
		size -= (size_t)n;
		offset += (uint64_t)n;
	}
	return 0;
}

/* Lets the kernel write in the background, so that the sync at the end is short. */
static void start_writeback(struct report_writer *w)
{
	if (w->size - w->synced < SYNC_STEP)
		return;
	sync_file_range(w->fd, (off_t)w->synced, (off_t)(w->size - w->synced), SYNC_FILE_RANGE_WRITE);
	w->synced = w->size;
}

int output_append(struct report_writer *w)
{
	int r = write_output_bytes(w->fd, w->block.data, w->block.len, w->size);

	if (r < 0) {
		if (ftruncate(w->fd, (off_t)w->size) < 0)
			return r; /* readers stop at the torn block */
		w->reserved = 0;
		return r;
	}
	w->size += w->block.len;
	start_writeback(w);
	return 0;
}

int output_overwrite(struct report_writer *w, const void *data, size_t size, uint64_t offset)
{
	return write_output_bytes(w->fd, data, size, offset);
}

static void sync_folder(const struct report_writer *w)
{
	int fd = openat(w->folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return;
	fsync(fd);
	close(fd);
}

/* Who removed our file may have begun another recording of the name, which must not be taken for ours. */
static bool is_still_ours(const struct report_writer *w)
{
	struct stat own, named;

	return fstat(w->fd, &own) == 0 && fstatat(w->folder, path_name(w->part_path), &named, AT_SYMLINK_NOFOLLOW) == 0 &&
	       own.st_dev == named.st_dev && own.st_ino == named.st_ino;
}

/* The complete file gets its name. */
int output_publish(struct report_writer *w, struct error *err)
{
	int r;

	if (ftruncate(w->fd, (off_t)w->size) < 0 || fdatasync(w->fd) < 0)
		return error_set_errno(err, errno, "cannot write %s", w->part_path);
	if (!is_still_ours(w))
		return error_set(err, ENOENT, "%s was removed while it was recorded; no report was written", w->part_path);
	if (w->overwrite)
		r = output_rename(w, w->part_path, w->path) < 0 ? -errno : 0;
	else
		r = rename_if_free(w, w->part_path, w->path);
	if (r == -EEXIST)
		return error_set(err, EEXIST, "%s was made by somebody else meanwhile; the report is complete in %s", w->path,
				 w->part_path);
	if (r < 0)
		return error_set_errno(err, -r, "cannot rename %s to %s", w->part_path, w->path);
	sync_folder(w);
	return 0;
}
