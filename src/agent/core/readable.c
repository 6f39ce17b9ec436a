/* Copies of memory that may not be there, or be gone the next moment: beyond the end of a stack lie others, whose
 * threads protect and unmap them. The kernel copies, and stops where a load would fault. */
#include <sys/uio.h>
#include <unistd.h>

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

/* Where the thread's own stack ends, if `from` is in it; otherwise the end of its page. The C library keeps its own data
 * of a thread at the end of its stack. At the end of the first thread's lies the environment. */
static uintptr_t end_of_own_stack(uintptr_t from)
{
	uintptr_t ends[] = { (uintptr_t)pthread_self(), (uintptr_t)environ };

	for (unsigned i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
		if (ends[i] > from && ends[i] - from < SAME_STACK_BYTES)
			return ends[i];
	return (from | (PAGE - 1)) + 1;
}

/* For as long as pages are there, asked for one by one. */
static uint32_t readable_bytes(uintptr_t from, uint32_t size)
{
	for (uintptr_t page = (from | (PAGE - 1)) + 1; page < from + size; page += PAGE)
		if (!raw_readable((const void *)page))
			return (uint32_t)(page - from);
	return size;
}

uint32_t agent_copy_stack(void *to, uintptr_t from, uint32_t size)
{
	long copied = copy_by_kernel(to, from, size);
	uintptr_t end;

	if (copied >= 0 || copied == -EFAULT)
		return copied > 0 ? (uint32_t)copied : 0;
	/* Some containers forbid that call. */
	end = end_of_own_stack(from);
	size = readable_bytes(from, end - from < size ? (uint32_t)(end - from) : size);
	arch_copy(to, (const void *)from, size);
	return size;
}
