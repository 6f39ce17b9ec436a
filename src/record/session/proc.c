#include "record/session/proc.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define COMMAND_MOST 4096 /* what is looked at: a secret that is cut short may look like none */

/* Without NULs at its end. */
static size_t read_pid_file(uint32_t pid, const char *file, char *ret, size_t size)
{
	char path[64];
	ssize_t n = 0;
	int fd;

	snprintf(path, sizeof(path), "/proc/%u/%s", pid, file);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		n = read(fd, ret, size - 1);
		close(fd);
	}
	if (n < 0)
		n = 0;
	while (n > 0 && ret[n - 1] == '\0')
		n--;
	ret[n] = '\0';
	return (size_t)n;
}

static void put_spaces(char *text, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (text[i] == '\0')
			text[i] = ' ';
}

void read_proc(uint32_t pid, const char *file, char *ret, size_t size)
{
	put_spaces(ret, read_pid_file(pid, file, ret, size));
}

int16_t read_proc_priority(uint32_t pid, uint32_t tid)
{
	char file[40], text[512];
	const char *fields;
	int16_t priority;

	snprintf(file, sizeof(file), "task/%u/stat", tid);
	read_pid_file(pid, file, text, sizeof(text));
	fields = strrchr(text, ')'); /* the name before it may contain anything */
	if (!fields || sscanf(fields, ") %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %" SCNd16, &priority) != 1)
		return PRIORITY_UNKNOWN;
	return priority;
}

static void clean_words(const char *words, size_t len, struct buf *ret)
{
	struct secret_words state = { 0 };

	for (const char *word = words; word < words + len; word += strlen(word) + 1) {
		if (word > words)
			buf_puts(ret, " ");
		secret_words_clean(&state, word, ret);
	}
}

void read_proc_command(uint32_t pid, enum store_environment store, char *ret, size_t size)
{
	struct buf cleaned = BUF_INIT;
	char text[COMMAND_MOST];
	size_t len = read_pid_file(pid, "cmdline", text, sizeof(text));

	if (store == STORE_ALL) {
		put_spaces(text, len);
		buf_append(&cleaned, text, len);
	} else {
		clean_words(text, len, &cleaned);
	}
	snprintf(ret, size, "%s", buf_cstr(&cleaned));
	buf_release(&cleaned);
}

void read_proc_link(uint32_t pid, const char *file, char *ret, size_t size)
{
	char path[64];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%u/%s", pid, file);
	n = readlink(path, ret, size - 1);
	ret[n < 0 ? 0 : n] = '\0';
}
