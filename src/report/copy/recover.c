/* Finishing what a killed recorder left: everything readable in the .part and its journal
 * is written again, to a file of its own; the .part goes only when that is complete. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "report/read/internal.h"
#include "report/write/internal.h"

/* X.part and X.part.3 become X. */
static int final_name(const char *part_path, char *ret, size_t size, struct error *err)
{
	char *journal = journal_path_of(part_path);
	const char *suffix = NULL;
	bool named = journal != NULL;
	int length;

	free(journal);
	for (const char *at = strstr(part_path, ".part"); at; at = strstr(at + 1, ".part"))
		suffix = at;
	if (!named || suffix == part_path)
		return error_set(err, EINVAL, "%s is not the .part file of a recording", part_path);
	length = snprintf(ret, size, "%.*s", (int)(suffix - part_path), part_path);
	if (length < 0 || (size_t)length >= size)
		return error_set(err, ENAMETOOLONG, "the name %s is too long", part_path);
	return 0;
}

/* Nobody may be writing it; the lock is held until the end. */
static int lock_part(const char *part_path, struct error *err)
{
	int fd = open(part_path, O_RDWR | O_NOFOLLOW | O_CLOEXEC);

	if (fd < 0 && errno == ENOENT)
		return error_set(err, ENOENT, "%s does not exist", part_path);
	if (fd < 0)
		return error_set_errno(err, errno, "cannot open %s", part_path);
	if (flock(fd, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK) {
		close(fd);
		return error_set(err, EBUSY, "%s is still being recorded; stop that recording first", part_path);
	}
	return fd;
}

static void remove_part(const char *part_path)
{
	char *journal = journal_path_of(part_path);

	unlink(part_path);
	if (journal)
		unlink(journal);
	free(journal);
}

int report_recover(const char *part_path, int overwrite, char *ret_path, size_t path_size, struct error *err)
{
	char room[4096];

	if (!ret_path) {
		ret_path = room;
		path_size = sizeof(room);
	}
	TRY(final_name(part_path, ret_path, path_size, err));
	return report_recover_to(part_path, ret_path, overwrite, err);
}

int report_recover_to(const char *part_path, const char *path, int overwrite, struct error *err)
{
	struct report *r = NULL;
	int rc, fd = lock_part(part_path, err);

	if (fd < 0)
		return fd;
	rc = report_open(&r, part_path, err);
	if (rc == 0)
		rc = report_copy(r, path, overwrite, NULL, err);
	if (rc == 0)
		remove_part(part_path);
	report_close(r);
	close(fd);
	return rc;
}
