/* /dev/nvidiactl of a machine with one GPU, where COUNTED_MANAGER is set: it empties L2, or refuses to (COUNTED_MANAGER=refuses). */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#include "counted.h"

#define EXPORT __attribute__((visibility("default")))

struct arguments {
	uint32_t client, parent, what_or_command, class;
	uint64_t parameters;
	uint32_t size, status;
};

static int descriptor = -1;

EXPORT int open64(const char *path, int flags, ...)
{
	int (*real)(const char *, int, ...) = dlsym(RTLD_NEXT, "open64");
	int mode, is_ours = getenv("COUNTED_MANAGER") && strcmp(path, "/dev/nvidiactl") == 0, fd;
	va_list args;

	va_start(args, flags);
	mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(args, int) : 0;
	va_end(args);
	fd = real(is_ours ? "/dev/null" : path, flags, mode);
	if (is_ours)
		descriptor = fd;
	return fd;
}

/* Of all of L2, what is dirty written back and nothing left: first of the host's memory, then of the device's. */
static uint32_t empty(const struct arguments *a, const uint8_t *p)
{
	static int host_is_done;
	uint32_t flags;

	memcpy(&flags, p + 4016, sizeof(flags));
	if (a->size != 4024 || flags != (host_is_done ? 0x1cu : 0x1du) || a->parent != 0x50de0002)
		return 0x1f;
	host_is_done = !host_is_done;
	if (host_is_done)
		return 0;
	if (strcmp(getenv("COUNTED_MANAGER"), "refuses") == 0)
		return 0x56;
	counted_log("empty");
	return counted_fails("empty") ? 0x56 : 0;
}

static uint32_t control(const struct arguments *a, uint8_t *p)
{
	uint32_t ids[] = { 6, UINT32_MAX };

	if (a->what_or_command == 0x201)
		memcpy(p, ids, sizeof(ids));
	else if (a->what_or_command == 0x2080130e)
		return empty(a, p);
	return 0;
}

EXPORT int ioctl(int fd, unsigned long request, ...)
{
	int (*real)(int, unsigned long, ...) = dlsym(RTLD_NEXT, "ioctl");
	struct arguments *a;
	va_list args;

	va_start(args, request);
	a = va_arg(args, void *);
	va_end(args);
	if (fd < 0 || fd != descriptor)
		return real(fd, request, a);
	if ((request & 0xff) == 0x2a)
		a->status = control(a, (uint8_t *)(uintptr_t)a->parameters);
	return 0;
}
