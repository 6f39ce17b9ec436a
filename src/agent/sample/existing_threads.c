/* Threads that were there before us: each gets a timer from outside. It is taken over by the thread when it first ticks. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "agent/core/syscalls.h"
#include "agent/sample/sample.h"

#define LATE_TIMERS 4096u
#define BLOCK 4096u

/* The kernel's numbers of timers + 1: numbers are not given twice. */
static struct {
	int pid; /* timers are not inherited */
	uint32_t count;
	uint32_t *timers;
} late;

/* Linux counts the CPU time of a thread by a clock that is named after it. */
static long clock_of(int tid)
{
	return (long)(int)(~(unsigned)tid << 3 | 6);
}

static void add_timer(int timer)
{
	if (!late.timers)
		late.timers = agent_permanent(LATE_TIMERS * sizeof(*late.timers));
	if (late.timers && late.count < LATE_TIMERS)
		late.timers[late.count++] = (uint32_t)timer + 1;
	else
		raw_syscall(SYS_timer_delete, timer, 0, 0, 0, 0, 0);
}

/* "SigBlk:\t0000000000010000" in what the kernel says of a thread. One that cannot be asked is left alone. */
static int blocks_signal(const char *tid)
{
	char path[64] = "/proc/self/task/", text[BLOCK];
	const char *line;
	long got;
	int fd;

	strcat(strncat(path, tid, 16), "/status");
	fd = (int)raw_syscall(SYS_openat, AT_FDCWD, (long)path, O_RDONLY | O_CLOEXEC, 0, 0, 0);
	if (fd < 0)
		return 1;
	got = raw_syscall(SYS_read, fd, (long)text, sizeof(text) - 1, 0, 0, 0);
	raw_close(fd);
	text[got > 0 ? got : 0] = '\0';
	line = strstr(text, "\nSigBlk:");
	return !line || strtoull(line + 8, NULL, 16) >> (SAMPLE_SIGNAL - 1) & 1;
}

static void give_timer(const char *name)
{
	int tid = atoi(name), timer = 0;

	if (tid <= 0 || tid == raw_gettid() || blocks_signal(name))
		return;
	if (sample_make_timer(clock_of(tid), tid, &timer) == 0)
		add_timer(timer);
}

/* As getdents64() gives them. */
struct entry {
	uint64_t inode;
	int64_t next;
	unsigned short size;
	unsigned char type;
	char name[];
};

void sample_late_start(void)
{
	int folder = (int)raw_syscall(SYS_openat, AT_FDCWD, (long)"/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0, 0, 0);
	_Alignas(8) char block[BLOCK];
	long got;

	late.pid = raw_getpid();
	late.count = 0;
	if (folder < 0)
		return;
	while ((got = raw_syscall(SYS_getdents64, folder, (long)block, sizeof(block), 0, 0, 0)) > 0)
		for (long at = 0; at < got;) {
			const struct entry *entry = (const struct entry *)(block + at);

			give_timer(entry->name);
			at += entry->size;
		}
	raw_close(folder);
}

int sample_is_late(uint32_t timer)
{
	for (uint32_t i = 0; i < late.count; i++)
		if (late.timers[i] == timer)
			return late.pid == raw_getpid();
	return 0;
}

void sample_late_leave(void)
{
	for (uint32_t i = 0; i < late.count && late.pid == raw_getpid(); i++)
		raw_syscall(SYS_timer_delete, (long)late.timers[i] - 1, 0, 0, 0, 0, 0);
	late.count = 0;
}
