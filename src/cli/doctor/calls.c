/* The system calls behind the probes, tried for real and undone at once. */
#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/system/confine.h"
#include "cli/doctor/doctor.h"
#include "record/gpu/monitor.h"

#ifndef MADV_WIPEONFORK
#define MADV_WIPEONFORK 18
#endif

static int close_result(int fd)
{
	if (fd < 0)
		return -errno;
	close(fd);
	return 0;
}

static int try_perf_event(uint32_t type, uint64_t config)
{
	/* clang-format off */
	struct perf_event_attr attr = {
		.type = type, .size = sizeof(attr), .config = config, .disabled = 1,
		.exclude_kernel = 1, .exclude_hv = 1,
	};
	/* clang-format on */

	return close_result((int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC));
}

static int try_memfd(void)
{
	return close_result(memfd_create("sonde-doctor", MFD_CLOEXEC | MFD_ALLOW_SEALING));
}

/* An address of the length of the family alone asks the kernel for a free name. */
static int try_abstract_socket(void)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	socklen_t len = sizeof(address);
	int server = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0), client, r = 0;

	if (server < 0)
		return -errno;
	client = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (client < 0 || bind(server, (struct sockaddr *)&address, sizeof(address.sun_family)) < 0 || listen(server, 1) < 0 ||
	    getsockname(server, (struct sockaddr *)&address, &len) < 0 || connect(client, (struct sockaddr *)&address, len) < 0)
		r = -errno;
	if (client >= 0)
		close(client);
	close(server);
	return r;
}

static int try_wipe_on_fork(void)
{
	size_t size = (size_t)sysconf(_SC_PAGESIZE);
	void *page = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int r;

	if (page == MAP_FAILED)
		return -errno;
	r = madvise(page, size, MADV_WIPEONFORK) < 0 ? -errno : 0;
	munmap(page, size);
	return r;
}

static uint64_t memlock_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_MEMLOCK, &limit) < 0 || limit.rlim_cur == RLIM_INFINITY)
		return UINT64_MAX;
	return limit.rlim_cur;
}

static char *list_gpus(void)
{
	return gpu_monitor_devices_help(NULL);
}

const struct doctor_calls doctor_real_calls = {
	.perf_event = try_perf_event,
	.memfd = try_memfd,
	.abstract_socket = try_abstract_socket,
	.wipe_on_fork = try_wipe_on_fork,
	.memlock_limit = memlock_limit,
	.landlock = confine_landlock_version,
	.call_filter = confine_seccomp_works,
	.gpu_devices = list_gpus,
};
