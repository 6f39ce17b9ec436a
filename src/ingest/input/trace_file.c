#include "ingest/input/trace_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/system/arch.h"
#include "ingest/input/unpack.h"

#define PAGE 4096u
#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22 /* Linux 5.14 */
#endif

static int map_file(struct source *s, int fd, const char *path, struct error *err)
{
	struct stat st;
	void *text;

	if (fstat(fd, &st) < 0)
		return error_set_errno(err, errno, "'%s' cannot be read", path);
	if (!S_ISREG(st.st_mode))
		return error_set(err, EINVAL, "'%s' is not a file.", path);
	s->size = (size_t)st.st_size;
	if (!s->size)
		return 0;
	text = mmap(NULL, s->size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (text == MAP_FAILED)
		return error_set_errno(err, errno, "'%s' cannot be mapped", path);
	madvise(text, s->size, MADV_SEQUENTIAL);
	s->text = text;
	s->mapped = 1;
	return 0;
}

/* The packed file's mapping is the unpacker's from here on. */
static int begin_unpacking(struct source *s, const char *path, struct error *err)
{
	struct source packed = *s;
	int r = unpack_begin(&s->unpacker, packed.text, packed.size, &s->text);

	s->size = 0;
	s->mapped = 0;
	if (r < 0) {
		munmap((void *)(uintptr_t)packed.text, packed.size);
		s->text = "";
		return error_set_errno(err, -r, "'%s' cannot be unpacked", path);
	}
	return 0;
}

int source_open(struct source *ret, const char *path, struct error *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), r;

	source_of_text(ret, "", 0);
	if (fd < 0)
		return error_set_errno(err, errno, "'%s' cannot be opened", path);
	r = map_file(ret, fd, path, err);
	close(fd);
	if (r == 0 && ret->size > 2 && memcmp(ret->text, "\x1f\x8b", 2) == 0)
		r = begin_unpacking(ret, path, err);
	if (r == 0)
		source_more(ret);
	return r;
}

void source_of_text(struct source *ret, const char *text, size_t len)
{
	*ret = (struct source){ .text = text, .size = len, .window = SOURCE_WINDOW, .most_held = SOURCE_MOST_HELD };
}

void source_close(struct source *s)
{
	if (s->unpacker)
		unpack_end(s->unpacker);
	if (s->mapped)
		munmap((void *)(uintptr_t)s->text, s->size);
	*s = (struct source){ .text = "" };
}

int source_more(struct source *s)
{
	size_t before = s->len;

	if (s->len - s->released >= s->most_held)
		return 0;
	if (s->unpacker)
		s->len = unpack_more(s->unpacker, s->len, &s->trouble);
	else
		s->len = s->size - s->len > s->window ? s->len + s->window : s->size;
	/* At once, instead of fault by fault; where the kernel does not know this they come one by one. */
	if (s->mapped && s->len > before)
		madvise((void *)(uintptr_t)(s->text + before), s->len - before, MADV_POPULATE_READ);
	return s->len > before;
}

void source_hold_all(struct source *s)
{
	s->most_held = SIZE_MAX;
	while (source_more(s))
		;
}

void source_release(struct source *s, const char *at)
{
	size_t upto = (size_t)(at - s->text) & ~(size_t)(PAGE - 1);

	if (upto < s->released + (s->window < SOURCE_WINDOW ? PAGE : SOURCE_WINDOW))
		return;
	s->lines += arch_count_bytes(s->text + s->released, s->text + upto, '\n');
	if (s->unpacker)
		unpack_release(s->unpacker, upto);
	else if (s->mapped)
		madvise((void *)(uintptr_t)(s->text + s->released), upto - s->released, MADV_DONTNEED);
	s->released = upto;
}

size_t source_line(const struct source *s, const char *at)
{
	return 1 + s->lines + arch_count_bytes(s->text + s->released, at, '\n');
}
