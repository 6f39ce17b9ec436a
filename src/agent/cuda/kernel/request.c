/* The request: a text file, a line for each thing, the word first. The agent keeps its mapping. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/core/syscalls.h"
#include "agent/cuda/kernel/kernel.h"

#define MOST_BYTES (16u << 20)

/* A copy with a 0 behind it; NULL when it cannot be read. */
static char *read_all(const char *path)
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

static int set_base(struct kernel_request *r, const char *value)
{
	static const char *const bases[] = { "function", "demangled", "mangled" };

	for (unsigned i = 0; i < 3; i++)
		if (strcmp(value, bases[i]) == 0) {
			r->name_base = (enum kernel_name_base)i;
			return 0;
		}
	return -1;
}

static int take(struct kernel_request *r, const char *word, char *value)
{
	int taken = kernel_engine_take(r, word, value);

	if (taken)
		return taken < 0 ? -1 : 0;
	if (strcmp(word, "name") == 0 || strcmp(word, "regex") == 0) {
		r->pattern = value;
		r->pattern_is_regex = word[0] == 'r';
	} else if (strcmp(word, "base") == 0)
		return set_base(r, value);
	else if (strcmp(word, "skip-before") == 0)
		r->skip_before = strtoull(value, NULL, 10);
	else if (strcmp(word, "skip") == 0)
		r->skip = strtoull(value, NULL, 10);
	else if (strcmp(word, "count") == 0)
		r->count = strtoull(value, NULL, 10);
	else if (strcmp(word, "kill") == 0)
		r->kill = atoi(value);
	else
		return -1;
	return 0;
}

int kernel_request_read(struct kernel_request *ret, const char *path, char *why)
{
	char *text = read_all(path), *line, *next, *value;

	memset(ret, 0, sizeof(*ret));
	ret->count = UINT64_MAX;
	if (!text || kernel_engine_prepare(ret, count_lines(text)) < 0) {
		snprintf(why, KERNEL_WHY_SIZE, "%.180s cannot be read", path);
		return -1;
	}
	for (line = text; line && *line; line = next) {
		next = strchr(line, '\n');
		if (next)
			*next++ = '\0';
		value = strchr(line, ' ');
		if (value)
			*value++ = '\0';
		if (!value || take(ret, line, value) < 0) {
			snprintf(why, KERNEL_WHY_SIZE, "a request of another version of Sonde: '%.60s'", line);
			return -1;
		}
	}
	return 0;
}
