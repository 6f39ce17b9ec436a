#include "record/proc.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

void read_proc(uint32_t pid, const char *file, char *ret, size_t size)
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
	for (ssize_t i = 0; i < n; i++)
		if (ret[i] == '\0')
			ret[i] = ' ';
	ret[n] = '\0';
}

void read_proc_link(uint32_t pid, const char *file, char *ret, size_t size)
{
	char path[64];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%u/%s", pid, file);
	n = readlink(path, ret, size - 1);
	ret[n < 0 ? 0 : n] = '\0';
}
