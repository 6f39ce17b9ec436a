/* Copies of memory that may not be there, or be gone the next moment: beyond the end of a stack lie others, whose
 * threads protect and unmap them. The kernel copies, and stops where a load would fault. */
#include <sys/auxv.h>
#include <sys/uio.h>

#include "agent/core/state.h"
#include "agent/core/syscalls.h"

#define PAGE 4096u
/* Further apart than any one stack reaches. */
#define SAME_STACK_BYTES (8u << 20)

static long copy_by_kernel(void *to, uintptr_t from, uint32_t size)
{
	struct iovec parts[RING_CHUNK_DATA / PAGE + 2], whole = { to, size };
	unsigned count = 0;
	uint32_t done = 0, length;

	/* What is not there ends the copy at the piece it is in. */
	while (done < size && count < sizeof(parts) / sizeof(parts[0])) {
		length = PAGE - (uint32_t)((from + done) % PAGE);
		length = length < size - done ? length : size - done;
		parts[count++] = (struct iovec){ (void *)(from + done), length };
		done += length;
	}
	return raw_syscall(SYS_process_vm_readv, raw_getpid(), (long)&whole, 1, (long)parts, count, 0);
}

uint32_t agent_copy_readable(void *to, uintptr_t from, uint32_t size)
{
	long copied = copy_by_kernel(to, from, size);

	return copied > 0 ? (uint32_t)copied : 0;
}

/* As far as memory stays there without doubt. The first thread's stack has its end, and nothing else near it, where
 * the kernel put the program's name; of another stack no more is known than that a page is there as a whole. */
static uint32_t bytes_without_doubt(uintptr_t from, uint32_t size)
{
	uintptr_t end = getauxval(AT_EXECFN);

	if (end < from || end - from > SAME_STACK_BYTES)
		end = (from | (PAGE - 1)) + 1;
	return end - from < size ? (uint32_t)(end - from) : size;
}

uint32_t agent_copy_stack(void *to, uintptr_t from, uint32_t size)
{
	long copied = copy_by_kernel(to, from, size);

	if (copied >= 0 || copied == -EFAULT)
		return copied > 0 ? (uint32_t)copied : 0;
	/* Some containers forbid that call. */
	if (!raw_readable((const void *)from))
		return 0;
	size = bytes_without_doubt(from, size);
	arch_copy(to, (const void *)from, size);
	return size;
}
