/* Finding and copying the journal of a .part that may be growing. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "report/read/internal.h"

#define TRIES 20
#define MAX_JOURNAL (1ull << 30)

/* X.part -> X.journal, X.part.3 -> X.journal.3; NULL for other names. */
char *journal_path_of(const char *part_path)
{
	const char *part = NULL;
	char *path;

	for (const char *at = strstr(part_path, ".part"); at; at = strstr(at + 1, ".part"))
		part = at;
	if (!part || (part[5] && (part[5] != '.' || part[6 + strspn(part + 6, "0123456789")])))
		return NULL;
	path = malloc(strlen(part_path) + 4);
	if (!path)
		return NULL;
	memcpy(path, part_path, (size_t)(part - part_path));
	strcpy(path + (part - part_path), ".journal");
	strcat(path, part + 5);
	return path;
}

static int read_header(int fd, struct file_header *ret)
{
	return pread(fd, ret, sizeof(*ret), 0) == (ssize_t)sizeof(*ret);
}

static int read_bytes(int fd, uint8_t *bytes, uint64_t size, uint64_t *ret_got)
{
	uint64_t got = 0;
	ssize_t n = 1;

	while (got < size && n > 0) {
		n = pread(fd, bytes + got, size - got, (off_t)got);
		if (n > 0)
			got += (uint64_t)n;
	}
	*ret_got = got;
	return n < 0 ? -errno : 0;
}

/* -EAGAIN when the journal was emptied meanwhile. */
static int read_once(int fd, uint8_t **ret, uint64_t *ret_size)
{
	struct file_header before, after;
	uint8_t *bytes;
	struct stat st;
	int rc;

	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || (uint64_t)st.st_size > MAX_JOURNAL)
		return -EINVAL;
	if (!read_header(fd, &before))
		return -EAGAIN;
	bytes = malloc((size_t)st.st_size + 1);
	if (!bytes)
		return -ENOMEM;
	rc = read_bytes(fd, bytes, (uint64_t)st.st_size, ret_size);
	if (rc == 0 && (!read_header(fd, &after) || memcmp(&before, &after, sizeof(before))))
		rc = -EAGAIN;
	if (rc < 0) {
		free(bytes);
		return rc;
	}
	*ret = bytes;
	return 0;
}

int journal_read(const char *part_path, uint8_t **ret, uint64_t *ret_size)
{
	const struct timespec pause = { 0, 1000000 };
	char *path = journal_path_of(part_path);
	int fd = path ? open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK) : -1;
	int rc = fd < 0 ? -ENOENT : -EAGAIN;

	*ret = NULL;
	*ret_size = 0;
	free(path);
	for (int i = 0; i < TRIES && rc == -EAGAIN; i++) {
		rc = read_once(fd, ret, ret_size);
		if (rc == -EAGAIN)
			nanosleep(&pause, NULL);
	}
	if (fd >= 0)
		close(fd);
	return rc == -ENOMEM ? rc : 0; /* a report without its journal is still a report */
}
