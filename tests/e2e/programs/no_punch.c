/* Preloaded: a disk that does not take bytes back. */
#include <errno.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

int fallocate64(int fd, int mode, off64_t offset, off64_t size);

static int answer(int fd, int mode, off64_t offset, off64_t size)
{
	if (mode & FALLOC_FL_PUNCH_HOLE) {
		errno = EOPNOTSUPP;
		return -1;
	}
	return (int)syscall(SYS_fallocate, fd, mode, offset, size);
}

#undef fallocate
int fallocate64(int fd, int mode, off64_t offset, off64_t size)
{
	return answer(fd, mode, offset, size);
}
