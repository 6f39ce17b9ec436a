/* The request: a text file, a line for each thing, the word first. The agent keeps its mapping. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/core/syscalls.h"
#include "agent/cuda/kernel/kernel.h"
#include "fmt/launch_filter.h"

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

/* One of three words. */
static int number_of(const char *const words[3], const char *value)
{
	for (int i = 0; i < 3; i++)
		if (strcmp(value, words[i]) == 0)
			return i;
	return -1;
}

static int set_base(struct kernel_request *r, const char *value)
{
	static const char *const bases[3] = { "function", "demangled", "mangled" };
	int base = number_of(bases, value);

	r->name_base = (enum kernel_name_base)base;
	return base < 0 ? -1 : 0;
}

static int set_mode(struct kernel_request *r, const char *value)
{
	static const char *const modes[3] = { "global", "per-gpu", "per-launch-config" };
	int mode = number_of(modes, value);

	r->filter_mode = (enum kernel_filter_mode)mode;
	return mode < 0 ? -1 : 0;
}

static int add_text(struct kernel_texts *texts, const char *value)
{
	if (texts->count == KERNEL_MOST_TEXTS)
		return -1;
	texts->items[texts->count++] = value;
	return 0;
}

/* Which launches: `sonde kernel` has checked them all. 1: it is another word. */
static int take_filter(struct kernel_request *r, const char *word, const char *value)
{
	if (strcmp(word, "name") == 0)
		r->pattern = value;
	else if (strcmp(word, "base") == 0)
		return set_base(r, value);
	else if (strcmp(word, "id") == 0)
		return add_text(&r->ids, value);
	else if (strcmp(word, "rename") == 0)
		add_text(&r->renames, value); /* what finds no room keeps its name */
	else if (strcmp(word, "devices") == 0)
		r->devices = devices_parse(value);
	else if (strcmp(word, "filter-mode") == 0)
		return set_mode(r, value);
	else if (strcmp(word, "waits") == 0)
		r->waits = atoi(value);
	else if (strcmp(word, "ignores-profiler") == 0)
		r->ignores_profiler = atoi(value);
	else if (strcmp(word, "range-filter") == 0)
		r->range_filter = value;
	else if (strcmp(word, "nvtx") == 0)
		r->nvtx = atoi(value);
	else if (strcmp(word, "call-stack") == 0)
		r->call_stack = atoi(value);
	else if (strcmp(word, "parent") == 0)
		r->parent = (uint32_t)strtoul(value, NULL, 10);
	else if (strcmp(word, "processes") == 0)
		r->processes = value;
	else if (strcmp(word, "python-include") == 0)
		return add_text(&r->python_include, value);
	else if (strcmp(word, "python-exclude") == 0)
		return add_text(&r->python_exclude, value);
	else if (strcmp(word, "nvtx-include") == 0)
		return add_text(&r->include, value);
	else if (strcmp(word, "nvtx-exclude") == 0)
		return add_text(&r->exclude, value);
	else
		return 1;
	return 0;
}

static int take_source(struct kernel_source_request *s, const char *word, const char *value)
{
	if (strcmp(word, "sampling") == 0) {
		s->sampling = 1;
		s->sampling_interval = strcmp(value, "auto") == 0 ? -1 : atoi(value);
	} else if (strcmp(word, "sampling-buffer") == 0)
		s->sampling_buffer = strtoull(value, NULL, 10);
	else if (strcmp(word, "sampling-passes") == 0)
		s->sampling_passes = atoi(value);
	else if (strcmp(word, "sass") == 0)
		s->sass = atoi(value);
	else if (strcmp(word, "series") == 0)
		s->series[s->series_count++] = value;
	else if (strcmp(word, "series-interval") == 0)
		s->series_interval = strtoull(value, NULL, 10);
	else if (strcmp(word, "series-buffer") == 0)
		s->series_buffer = strtoull(value, NULL, 10);
	else if (strcmp(word, "series-passes") == 0)
		s->series_passes = strtoull(value, NULL, 10);
	else if (strcmp(word, "code") == 0)
		s->code = value;
	else
		return -1;
	return 0;
}

static int take(struct kernel_request *r, const char *word, char *value)
{
	int taken = kernel_engine_take(r, word, value), filter;

	if (taken)
		return taken < 0 ? -1 : 0;
	filter = take_filter(r, word, value);
	if (filter <= 0)
		return filter;
	if (strcmp(word, "skip-before") == 0)
		r->skip_before = strtoull(value, NULL, 10);
	else if (strcmp(word, "skip") == 0)
		r->skip = strtoull(value, NULL, 10);
	else if (strcmp(word, "count") == 0)
		r->count = strtoull(value, NULL, 10);
	else if (strcmp(word, "kill") == 0)
		r->kill = atoi(value);
	else
		return take_source(&r->source, word, value);
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
	ret->source.series = cuda_agent.core->permanent(count_lines(text) * sizeof(*ret->source.series));
	for (line = text; line && *line && ret->source.series; line = next) {
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
	return ret->source.series ? 0 : -1;
}
