/* The request: a text file (docs/formats/kernel-request.md). The agent keeps what it read. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "agent/core/syscalls.h"
#include "agent/cuda/kernel/kernel.h"

#define MOST_BYTES (16u << 20)

/* A copy with a 0 behind it; NULL when it cannot be read. */
static char *read_request_text(const char *path)
{
	long fd = raw_syscall(SYS_openat, AT_FDCWD, (long)path, O_RDONLY | O_CLOEXEC, 0, 0, 0), got = 1;
	long size = fd < 0 ? 0 : raw_syscall(SYS_lseek, fd, 0, SEEK_END, 0, 0, 0), have = 0;
	char *text = size > 0 && size < MOST_BYTES ? cuda_agent.core->permanent((size_t)size + 1) : NULL;

	if (fd >= 0)
		raw_syscall(SYS_lseek, fd, 0, SEEK_SET, 0, 0, 0);
	while (text && have < size && got > 0) {
		got = raw_syscall(SYS_read, fd, (long)(text + have), size - have, 0, 0, 0);
		have += got > 0 ? got : 0;
	}
	if (text)
		text[have] = '\0';
	if (fd >= 0)
		raw_close((int)fd);
	return text;
}

static size_t count_lines(const char *text)
{
	size_t count = 1;

	for (; *text; text++)
		count += *text == '\n';
	return count;
}

int kernel_request_load(struct kernel_request *ret, const char *path, char *why)
{
	char *text = read_request_text(path);
	size_t lines = text ? count_lines(text) : 0;
	const char **room = text ? cuda_agent.core->permanent(lines * sizeof(*room)) : NULL;

	if (!room) {
		snprintf(why, KERNEL_WHY_SIZE, "%.180s cannot be read", path);
		return -1;
	}
	return kernel_request_read(ret, text, room, lines, why, KERNEL_WHY_SIZE);
}
