#include "ingest/source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#define PIECE (1u << 20)
#define INPUT_STEP (1u << 30) /* zlib counts in unsigned int */

static int map_file(struct source *s, int fd, const char *path, struct error *err)
{
	struct stat st;
	void *text;

	if (fstat(fd, &st) < 0)
		return error_set_errno(err, errno, "'%s' cannot be read", path);
	if (!S_ISREG(st.st_mode))
		return error_set(err, EINVAL, "'%s' is no file.", path);
	s->len = (size_t)st.st_size;
	s->text = "";
	if (!s->len)
		return 0;
	text = mmap(NULL, s->len, PROT_READ, MAP_PRIVATE, fd, 0);
	if (text == MAP_FAILED)
		return error_set_errno(err, errno, "'%s' cannot be mapped", path);
	madvise(text, s->len, MADV_SEQUENTIAL);
	s->text = text;
	return 0;
}

static int write_all(int fd, const char *data, size_t len)
{
	ssize_t n;

	for (; len; data += n, len -= (size_t)n) {
		n = write(fd, data, len);
		if (n < 0 && errno == EINTR)
			n = 0;
		else if (n <= 0)
			return n < 0 ? -errno : -EIO;
	}
	return 0;
}

/* One stream behind the other, as gzip allows. */
static int unpack(const struct source *packed, int fd, char *piece, const char **ret_trouble)
{
	size_t left = packed->len;
	z_stream z = { .next_in = (Bytef *)(uintptr_t)packed->text };
	int status = inflateInit2(&z, 15 + 16), r = 0;

	if (status != Z_OK)
		return -ENOMEM;
	do {
		if (!z.avail_in) {
			z.avail_in = left < INPUT_STEP ? (unsigned)left : INPUT_STEP;
			left -= z.avail_in;
		}
		z.next_out = (Bytef *)piece;
		z.avail_out = PIECE;
		status = inflate(&z, Z_NO_FLUSH);
		r = write_all(fd, piece, PIECE - z.avail_out);
		if (status == Z_STREAM_END && (z.avail_in || left) && *z.next_in == 0x1f)
			status = inflateReset(&z);
	} while (r == 0 && status == Z_OK && (z.avail_in || left || !z.avail_out));
	if (status != Z_STREAM_END)
		*ret_trouble = status == Z_DATA_ERROR ? "the gzip data is damaged" : "the gzip data ends early";
	inflateEnd(&z);
	return r;
}

static int open_unpacked(struct source *s, const char *path, struct error *err)
{
	const char *folder = getenv("TMPDIR");
	int fd = open(folder && folder[0] ? folder : "/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600), r = -errno;
	struct source packed = *s;
	char *piece = malloc(PIECE);

	if (fd < 0)
		fd = memfd_create("unpacked", MFD_CLOEXEC);
	if (fd >= 0 && piece)
		r = unpack(&packed, fd, piece, &s->trouble);
	source_close(&packed);
	*s = (struct source){ .text = "", .trouble = s->trouble };
	r = r < 0 ? error_set_errno(err, -r, "'%s' cannot be unpacked", path) : map_file(s, fd, path, err);
	if (fd >= 0)
		close(fd);
	free(piece);
	return r;
}

int source_open(struct source *ret, const char *path, struct error *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), r;

	*ret = (struct source){ .text = "" };
	if (fd < 0)
		return error_set_errno(err, errno, "'%s' cannot be opened", path);
	r = map_file(ret, fd, path, err);
	close(fd);
	if (r == 0 && ret->len > 2 && memcmp(ret->text, "\x1f\x8b", 2) == 0)
		r = open_unpacked(ret, path, err);
	return r;
}

void source_close(struct source *s)
{
	if (s->len)
		munmap((void *)(uintptr_t)s->text, s->len);
	*s = (struct source){ .text = "" };
}
