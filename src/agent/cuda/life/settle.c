/* A thread that is in CUPTI's own code is out of it within microseconds, unless it has to wait for a processor. So threads are looked at
 * twice: one that wants to run must have run for a while in between; one that sleeps does so elsewhere. */
#include "agent/cuda/life/settle.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

#include "agent/core/syscalls.h"

#define THREADS 1024u
#define ENOUGH_NS 50000
#define LIST_SIZE 4096
#define PATH_SIZE 64
#define STAT_SIZE 512

struct entry {
	uint64_t inode;
	int64_t offset;
	unsigned short size;
	unsigned char type;
	char name[];
};

struct thread {
	uint32_t id;
	int64_t ran;
};

/* Used by one thread at a time: who has the turn (life.h). */
static struct thread threads[THREADS];

/* -1: it has ended. */
static int64_t time_on_cpu(uint32_t id)
{
	struct timespec t;

	/* The kernel's number for the CPU clock of a thread. */
	if (raw_syscall(SYS_clock_gettime, (long)(int)(~id << 3 | 6), (long)&t, 0, 0, 0, 0) < 0)
		return -1;
	return t.tv_sec * 1000000000ll + t.tv_nsec;
}

static uint32_t parse_task_id(const char *text)
{
	uint32_t value = 0;

	for (; *text >= '0' && *text <= '9'; text++)
		value = value * 10 + (uint32_t)(*text - '0');
	return value;
}

/* -1: there are too many, or they cannot be listed. */
static int list_threads(void)
{
	_Alignas(struct entry) char list[LIST_SIZE];
	int directory = (int)raw_syscall(SYS_openat, AT_FDCWD, (long)"/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0, 0, 0);
	uint32_t self = (uint32_t)raw_gettid(), count = 0, id;
	long size = -1;

	while (directory >= 0 && (size = raw_syscall(SYS_getdents64, directory, (long)list, sizeof(list), 0, 0, 0)) > 0)
		for (long at = 0; at < size; at += ((struct entry *)(list + at))->size) {
			id = parse_task_id(((struct entry *)(list + at))->name);
			if (id && id != self && count < THREADS)
				threads[count++] = (struct thread){ id, time_on_cpu(id) };
		}
	if (directory >= 0)
		raw_close(directory);
	return size < 0 || count == THREADS ? -1 : (int)count;
}

static void format_task_path(uint32_t id, char *ret)
{
	char digits[12];
	unsigned n = 0;

	strcpy(ret, "/proc/self/task/");
	ret += strlen(ret);
	for (; id; id /= 10)
		digits[n++] = (char)('0' + id % 10);
	while (n)
		*ret++ = digits[--n];
	strcpy(ret, "/stat");
}

/* One that cannot be asked has ended. */
static int wants_to_run(uint32_t id)
{
	char path[PATH_SIZE], text[STAT_SIZE], *state;
	long size;
	int file;

	format_task_path(id, path);
	file = (int)raw_syscall(SYS_openat, AT_FDCWD, (long)path, O_RDONLY | O_CLOEXEC, 0, 0, 0);
	if (file < 0)
		return file != -ENOENT && file != -ESRCH;
	size = raw_syscall(SYS_read, file, (long)text, sizeof(text) - 1, 0, 0, 0);
	raw_close(file);
	text[size > 0 ? size : 0] = '\0';
	state = strrchr(text, ')');
	return size > 0 && (!state || state[1] != ' ' || state[2] == 'R');
}

int cuda_settled(long ns)
{
	const struct timespec pause = { .tv_nsec = ns };
	int count = list_threads();
	int64_t now;

	raw_syscall(SYS_nanosleep, (long)&pause, 0, 0, 0, 0, 0);
	for (int i = 0; i < count; i++) {
		now = time_on_cpu(threads[i].id);
		if (now >= 0 && now - threads[i].ran < ENOUGH_NS && wants_to_run(threads[i].id))
			return 0;
	}
	return count >= 0;
}
