/* How much address space the program's limit (RLIMIT_AS) leaves for us: it needs nearly all of it itself. */
#include <fcntl.h>
#include <sys/resource.h>

#include "agent/core/state.h"
#include "agent/core/syscalls.h"

/* Of what is left this part may be ours. */
#define OUR_PART 64

/* The first number in /proc/self/statm: pages. */
static uint64_t bytes_in_use(void)
{
	int fd = (int)raw_syscall(SYS_openat, AT_FDCWD, (long)"/proc/self/statm", O_RDONLY | O_CLOEXEC, 0, 0, 0);
	char text[32];
	uint64_t pages = 0;
	long size;

	if (fd < 0)
		return 0;
	size = raw_syscall(SYS_read, fd, (long)text, sizeof(text), 0, 0, 0);
	raw_close(fd);
	for (long i = 0; i < size && text[i] >= '0' && text[i] <= '9'; i++)
		pages = pages * 10 + (uint64_t)(text[i] - '0');
	return pages * RING_PAGE_SIZE;
}

uint64_t agent_address_room(void)
{
	struct rlimit limit = { RLIM_INFINITY, RLIM_INFINITY };
	uint64_t used, left;

	raw_syscall(SYS_prlimit64, 0, RLIMIT_AS, 0, (long)&limit, 0, 0);
	if (limit.rlim_cur == RLIM_INFINITY)
		return 0;
	used = bytes_in_use();
	left = limit.rlim_cur > used ? limit.rlim_cur - used : 0;
	return left / OUR_PART + 1;
}
