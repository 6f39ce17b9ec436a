#include "symbol/perf_map.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "symbol/elf/symtab_internal.h"

#define MAP_LIMIT (256u << 20)
#define PIECE (64u << 10)

/* The last number of "NSpid:": what the process calls itself. */
static uint32_t own_number(uint32_t pid)
{
	char path[64], line[256], *last;
	unsigned long number = pid;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%u/status", pid);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f))
		if (strncmp(line, "NSpid:", 6) == 0 && (last = strrchr(line, '\t')))
			number = strtoul(last + 1, NULL, 10);
	if (f)
		fclose(f);
	return (uint32_t)number;
}

void perf_map_path(uint32_t pid, char *ret, size_t size, uid_t *ret_owner)
{
	char map[32];
	struct stat st;

	*ret_owner = geteuid();
	snprintf(ret, size, "/proc/%u", pid);
	if (stat(ret, &st) == 0)
		*ret_owner = st.st_uid;
	snprintf(map, sizeof(map), "/tmp/perf-%u.map", own_number(pid));
	snprintf(ret, size, "/proc/%u/root%s", pid, map);
	if (access(ret, F_OK) != 0)
		snprintf(ret, size, "/tmp/perf-%u.map", pid);
}

static const char *hexadecimal(const char *at, const char *end, uint64_t *ret)
{
	const char *digits;
	uint64_t value = 0;

	if (end - at > 2 && at[0] == '0' && (at[1] == 'x' || at[1] == 'X'))
		at += 2;
	for (digits = at; at < end; at++) {
		unsigned c = (unsigned char)*at | 0x20u;

		if (c >= '0' && c <= '9')
			value = value << 4 | (c - '0');
		else if (c >= 'a' && c <= 'f')
			value = value << 4 | (c - 'a' + 10);
		else
			break;
	}
	*ret = value;
	return at > digits && at - digits <= 16 && at < end && *at == ' ' ? at + 1 : NULL;
}

static int take_perf_map_line(struct symbol_search *s, const char *at, const char *end)
{
	struct candidate c = { .sized = 1, .function = 1, .source = SYMBOL_PERF_MAP };
	uint64_t size;
	size_t from, to, len;

	at = hexadecimal(at, end, &c.start);
	at = at ? hexadecimal(at, end, &size) : NULL;
	if (!at || at == end || !size || c.start + size < c.start)
		return 0;
	c.end = c.start + size;
	from = search_first(s, c.start);
	to = search_first(s, c.end);
	if (from == to)
		return 0;
	if (s->work < to - from)
		return -EBADMSG;
	s->work -= to - from;
	len = (size_t)(end - at) < sizeof(s->scratch) ? (size_t)(end - at) : sizeof(s->scratch) - 1;
	memcpy(s->scratch, at, len);
	s->scratch[len] = '\0';
	return search_settle(s, &c, from, to);
}

/* Takes the whole lines at the front; *ret is how many bytes they were. */
static int take_lines(struct symbol_search *s, const char *data, size_t size, size_t *ret)
{
	const char *at = data, *end = data + size, *newline;
	int r = 0;

	while (r == 0 && at < end && (newline = memchr(at, '\n', (size_t)(end - at)))) {
		r = take_perf_map_line(s, at, newline);
		at = newline + 1;
	}
	*ret = (size_t)(at - data);
	return r;
}

/* Returns 1 when the map goes on beyond the limit. A last line without its end is one being written. */
static int take_all(struct symbol_search *s, int fd)
{
	char *piece = malloc(PIECE);
	size_t held = 0, total = 0, taken;
	ssize_t n;
	int r = piece ? 0 : -ENOMEM;

	while (r == 0) {
		n = read(fd, piece + held, PIECE - held);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		total += (size_t)n;
		held += (size_t)n;
		r = take_lines(s, piece, held, &taken);
		held -= taken;
		memmove(piece, piece + taken, held);
		if (held == PIECE)
			held = 0; /* no name is that long */
		if (r == 0 && total > MAP_LIMIT)
			r = 1;
	}
	free(piece);
	return r;
}

int symbol_search_perf_map(struct symbol_search *s, const char *path, uid_t owner, struct error *err)
{
	int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC), r;
	struct stat st;

	if (fd < 0 && errno == ELOOP)
		return error_set(err, EPERM, "%s is a link and was not read", path);
	if (fd < 0)
		return error_set_errno(err, errno, "%s", path);
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		r = error_set(err, EPERM, "%s is not a plain file and was not read", path);
	else if (st.st_uid != 0 && st.st_uid != owner && st.st_uid != geteuid())
		r = error_set(err, EPERM, "%s belongs to another user and was not read", path);
	else
		r = take_all(s, fd);
	close(fd);
	if (r == 1)
		error_set(err, EFBIG, "%s was read up to %u MB only", path, MAP_LIMIT >> 20);
	else if (r < 0 && r != -EPERM)
		error_set(err, -r, "%s is not valid, or there is no memory for it: some of its names are missing", path);
	return r;
}
