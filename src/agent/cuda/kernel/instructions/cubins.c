/* Cubins, by their checksum: CUPTI shows them when a module is loaded, and not again. They are written into a private folder of the
 * recorder, as it is not known yet which of them has a kernel that is read. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>

#include "agent/core/syscalls.h"
#include "agent/cuda/kernel/instructions/passes.h"
#include "agent/cuda/life/life.h"
#include "vendor/dl.h"

#define MOST_BYTES (64ull << 20)
#define MOST_IN_ALL (1ull << 30)

static void write_cubin(const char *path, const char *bytes, size_t size)
{
	long fd = raw_syscall(SYS_openat, AT_FDCWD, (long)path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600, 0, 0),
	     wrote = 1;

	if (fd < 0)
		return;
	while (size && wrote > 0) {
		wrote = raw_syscall(SYS_write, fd, (long)bytes, (long)size, 0, 0, 0);
		bytes += wrote > 0 ? wrote : 0;
		size -= wrote > 0 ? (size_t)wrote : 0;
	}
	raw_close((int)fd);
	if (size)
		raw_syscall(SYS_unlinkat, AT_FDCWD, (long)path, 0, 0, 0, 0);
}

static void save_cubin(const void *image, size_t size)
{
	static uint64_t all;
	struct cubin_crc crc = { .size = sizeof(crc), .image_size = size, .image = image };
	const char *folder = kernel_agent.request.code;
	char path[4096];
	int kept_errno = errno;

	if (!folder || !image || !size || size > MOST_BYTES || __atomic_add_fetch(&all, size, __ATOMIC_RELAXED) > MOST_IN_ALL)
		return;
	if (!kernel_cupti.cuptiGetCubinCrc)
		cupti_source_fill(&kernel_cupti, cuda_agent.cupti.library);
	if (kernel_cupti.cuptiGetCubinCrc && kernel_cupti.cuptiGetCubinCrc(&crc) == CUPTI_OK &&
	    snprintf(path, sizeof(path), "%s/%llx.cubin", folder, (unsigned long long)crc.crc) < (int)sizeof(path))
		write_cubin(path, image, size);
	errno = kept_errno;
}

void kernel_module_loaded(const struct cupti_resource_data *data)
{
	const struct cupti_module_data *module = data->descriptor;

	kernel_batch_module_loaded();
	kernel_range_module_loaded();
	if (module)
		save_cubin(module->cubin, module->size);
}
