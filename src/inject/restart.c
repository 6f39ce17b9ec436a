#include "inject/restart.h"

#include <stddef.h>
#include <sys/syscall.h>

#include "base/macros.h"

int restart_pending(long result)
{
	return result == -ERESTARTSYS || result == -ERESTARTNOINTR || result == -ERESTARTNOHAND || result == -ERESTART_RESTARTBLOCK;
}

int restart_allowed(long call)
{
	static const long calls[] = {
#ifdef SYS_epoll_wait
		SYS_epoll_wait,
#endif
#ifdef SYS_epoll_pwait2
		SYS_epoll_pwait2,
#endif
		SYS_epoll_pwait,
		SYS_rt_sigtimedwait,
		SYS_semop,
		SYS_semtimedop,
		SYS_io_getevents,
		SYS_io_pgetevents,
		/* Of sockets with a time limit. */
		SYS_read,
		SYS_readv,
		SYS_recvfrom,
		SYS_recvmsg,
		SYS_recvmmsg,
		SYS_accept,
		SYS_accept4,
		SYS_write,
		SYS_writev,
		SYS_sendto,
		SYS_sendmsg,
	};

	for (size_t i = 0; i < COUNT_OF(calls); i++)
		if (call == calls[i])
			return 1;
	return 0;
}
