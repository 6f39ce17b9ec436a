#include "agent/core/attach/maps.h"

#include <errno.h>
#include <fcntl.h>

#include "agent/core/syscalls.h"

#define FIRST_ROOM (256u << 10)
#define MOST_ROOM (64u << 20)

static int grow_maps(struct agent_maps *maps)
{
	size_t room = maps->room ? 2 * maps->room : FIRST_ROOM;
	void *text;

	if (room > MOST_ROOM)
		return -ENOMEM;
	text = maps->room ? (void *)raw_syscall(SYS_mremap, (long)maps->text, (long)maps->room, (long)room, MREMAP_MAYMOVE, 0, 0) :
			    raw_mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (raw_failed(text))
		return -ENOMEM;
	maps->text = text;
	maps->room = room;
	return 0;
}

static int read_maps(struct agent_maps *maps, int fd)
{
	long got;

	for (;;) {
		if (maps->size == maps->room && grow_maps(maps) < 0)
			return -ENOMEM;
		got = raw_syscall(SYS_read, fd, (long)(maps->text + maps->size), (long)(maps->room - maps->size), 0, 0, 0);
		if (got == -EINTR)
			continue;
		if (got <= 0)
			return (int)got;
		maps->size += (size_t)got;
	}
}

int agent_maps_read(struct agent_maps *maps)
{
	int fd = (int)raw_syscall(SYS_openat, AT_FDCWD, (long)"/proc/self/maps", O_RDONLY | O_CLOEXEC, 0, 0, 0);
	int result;

	*maps = (struct agent_maps){ 0 };
	if (fd < 0)
		return fd;
	result = read_maps(maps, fd);
	raw_close(fd);
	if (result < 0)
		agent_maps_free(maps);
	return result;
}

void agent_maps_free(struct agent_maps *maps)
{
	if (maps->room)
		raw_syscall(SYS_munmap, (long)maps->text, (long)maps->room, 0, 0, 0, 0);
	*maps = (struct agent_maps){ 0 };
}

struct line {
	uintptr_t start;
	uintptr_t end;
	int protection;
};

static const char *read_hex(const char *at, const char *end, uintptr_t *ret)
{
	uintptr_t value = 0;

	for (; at < end; at++) {
		if (*at >= '0' && *at <= '9')
			value = value << 4 | (uintptr_t)(*at - '0');
		else if (*at >= 'a' && *at <= 'f')
			value = value << 4 | (uintptr_t)(*at - 'a' + 10);
		else
			break;
	}
	*ret = value;
	return at;
}

/* "start-end rwxp ..."; returns where the next line begins. */
static const char *read_maps_line(const char *at, const char *end, struct line *ret)
{
	at = read_hex(at, end, &ret->start);
	at = read_hex(at < end ? at + 1 : end, end, &ret->end);
	ret->protection = 0;
	if (end - at > 4)
		ret->protection = (at[1] == 'r' ? PROT_READ : 0) | (at[2] == 'w' ? PROT_WRITE : 0) | (at[3] == 'x' ? PROT_EXEC : 0);
	while (at < end && *at != '\n')
		at++;
	return at < end ? at + 1 : end;
}

int agent_maps_protection(const struct agent_maps *maps, uintptr_t start, uintptr_t end)
{
	const char *at = maps->text, *last = maps->text + maps->size;
	int protection = -ENOENT;
	struct line line;

	while (at < last && start < end) {
		at = read_maps_line(at, last, &line);
		if (start < line.start)
			return -ENOENT;
		if (start >= line.end)
			continue;
		if (protection >= 0 && line.protection != protection)
			return -EINVAL;
		protection = line.protection;
		start = line.end;
	}
	return start < end ? -ENOENT : protection;
}
