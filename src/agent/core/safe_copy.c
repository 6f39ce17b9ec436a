/* Copies of memory that may not be there, or be gone the next moment: beyond the end of a stack lie others, whose
 * threads protect and unmap them. The kernel copies, and stops where a load would fault. */
#include <sys/auxv.h>
#include <sys/uio.h>

#include "agent/core/state.h"
#include "agent/core/syscalls.h"
#include "base/macros.h"

#define PAGE 4096u
/* The kernel keeps 128 MiB free for the first thread's stack; what is usual is less. */
#define FIRST_STACK_BYTES (8u << 20)

static long copy_by_kernel(void *to, uintptr_t from, uint32_t size)
{
	struct iovec parts[RING_CHUNK_DATA / PAGE + 2], whole = { to, size };
	unsigned count = 0;
	uint32_t done = 0, length;

	/* What is not there ends the copy at the piece it is in. */
	while (done < size && count < COUNT_OF(parts)) {
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

/* Bytes from here to the end of the first thread's stack, where the kernel put the program's name; 0 for memory that is
 * elsewhere. Nothing else is near it, and it never shrinks. */
static uintptr_t left_of_first_stack(uintptr_t from)
{
	uintptr_t end = getauxval(AT_EXECFN);

	return from < end && end - from < FIRST_STACK_BYTES ? end - from : 0;
}

static uint32_t copy_at_most(void *to, uintptr_t from, uint32_t size, uintptr_t limit)
{
	size = size < limit ? size : (uint32_t)limit;
	arch_copy(to, (const void *)from, size);
	return size;
}

uint32_t agent_copy_stack(void *to, uintptr_t from, uint32_t size)
{
	uintptr_t left = left_of_first_stack(from);
	long copied;

	if (left)
		return copy_at_most(to, from, size, left);
	copied = copy_by_kernel(to, from, size);
	if (copied >= 0)
		return (uint32_t)copied;
	/* Some containers forbid that call. A page is there as a whole. */
	if (copied != -EFAULT && raw_readable((const void *)from))
		return copy_at_most(to, from, size, PAGE - from % PAGE);
	return 0;
}
