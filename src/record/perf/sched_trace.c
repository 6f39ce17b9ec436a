#include "record/perf/sched_trace.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/mount.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Inode of the first pid namespace of a machine. */
#define FIRST_PID_NAMESPACE 0xeffffffcu

int trace_point_parse(const char *format, struct trace_point *ret)
{
	const char *id = strstr(format, "\nID: "), *field = strstr(format, "field:pid_t pid;");
	unsigned offset, size;

	if (!id || !field || sscanf(field, "field:pid_t pid;\toffset:%u;\tsize:%u;", &offset, &size) != 2)
		return -EINVAL;
	ret->id = strtoull(id + 5, NULL, 10);
	ret->pid_offset = offset;
	return ret->id && size == 4 && offset < 4096 ? 0 : -EINVAL;
}

static int private_mount(void)
{
	int fs = (int)syscall(SYS_fsopen, "tracefs", FSOPEN_CLOEXEC), mount = -1;

	if (fs < 0)
		return -errno;
	if (syscall(SYS_fsconfig, fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0) == 0)
		mount = (int)syscall(SYS_fsmount, fs, FSMOUNT_CLOEXEC, MOUNT_ATTR_RDONLY);
	if (mount < 0)
		mount = -errno;
	close(fs);
	return mount;
}

static int read_format(int folder, const char *name, struct trace_point *ret)
{
	char path[96], text[4096];
	ssize_t len;
	int fd;

	snprintf(path, sizeof(path), "events/sched/%s/format", name);
	fd = openat(folder, path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	len = read(fd, text, sizeof(text) - 1);
	close(fd);
	if (len < 0)
		return -EIO;
	text[len] = '\0';
	return trace_point_parse(text, ret);
}

int trace_point_find(const char *name, struct trace_point *ret)
{
	static const char *const folders[] = { "/sys/kernel/tracing", "/sys/kernel/debug/tracing" };
	int folder, result = -ENOENT;

	for (size_t i = 0; i < 3 && result < 0; i++) {
		folder = i < 2 ? open(folders[i], O_PATH | O_DIRECTORY | O_CLOEXEC) : private_mount();
		if (folder < 0)
			continue;
		result = read_format(folder, name, ret);
		close(folder);
	}
	return result;
}

int trace_point_woken(const struct trace_point *point, const uint8_t *raw, size_t size, uint32_t *ret)
{
	uint32_t length;

	if (size < sizeof(length))
		return -EINVAL;
	memcpy(&length, raw, sizeof(length));
	if (length > size - sizeof(length) || point->pid_offset + sizeof(*ret) > length)
		return -EINVAL;
	memcpy(ret, raw + sizeof(length) + point->pid_offset, sizeof(*ret));
	return 0;
}

int trace_numbers_are_ours(void)
{
	struct stat st;

	return stat("/proc/self/ns/pid", &st) == 0 && st.st_ino == FIRST_PID_NAMESPACE;
}
