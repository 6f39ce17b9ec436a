#include "inject/ending.h"

#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* The kernel's struct pidfd_info as it first was; the C library's headers are older. */
struct end_info {
	uint64_t mask;
	uint64_t control_group;
	uint32_t ids[11];
	int32_t exit_code;
};
#define END_INFO_EXIT (1ull << 3)
#define END_INFO_GET _IOWR(0xff, 11, struct end_info)

int ending_watch(pid_t pid)
{
	return (int)syscall(SYS_pidfd_open, pid, 0);
}

/* One that nobody has waited for yet: the last field of its line. */
static int status_of_zombie(pid_t pid)
{
	char path[64], line[2048], *end;
	int status = -1;
	size_t n;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	f = fopen(path, "re");
	if (!f)
		return -1;
	n = fread(line, 1, sizeof(line) - 1, f);
	fclose(f);
	line[n] = '\0';
	end = strrchr(line, ')');
	if (end && (strncmp(end, ") Z", 3) == 0 || strncmp(end, ") X", 3) == 0) && (end = strrchr(end, ' ')))
		status = (int)strtol(end, NULL, 10);
	return status;
}

static int status_kept(int watch)
{
	struct end_info info = { .mask = END_INFO_EXIT };

	return watch >= 0 && ioctl(watch, END_INFO_GET, &info) == 0 && info.mask & END_INFO_EXIT ? info.exit_code : -1;
}

enum ending ending_of(pid_t pid, int watch, int status)
{
	if (status < 0)
		status = status_kept(watch);
	if (status < 0)
		status = status_of_zombie(pid);
	if (status < 0)
		return ENDING_UNKNOWN;
	switch (WIFSIGNALED(status) ? WTERMSIG(status) : 0) {
	case SIGSEGV:
	case SIGBUS:
	case SIGILL:
	case SIGFPE:
	case SIGTRAP:
	case SIGSYS:
	case SIGABRT: return ENDING_FAULT;
	default: return ENDING_BY_ITSELF;
	}
}
