/* The part of arch.h about a thread of another process: its registers, calling a function in it,
 * and what runs there. */
#ifndef SONDE_BASE_SYSTEM_ARCH_BORROW_H
#define SONDE_BASE_SYSTEM_ARCH_BORROW_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/user.h>

#include "base/system/arch.h"

#if defined(__x86_64__)

#define ARCH_RED_ZONE 128u
#define ARCH_CODE_SEGMENT 0x33 /* of 64-bit code */

typedef struct user_regs_struct arch_thread_registers;

static inline void arch_thread_dwarf(const arch_thread_registers *r, uint64_t *registers)
{
	const uint64_t order[ARCH_DWARF_REGISTERS] = {
		r->rax, r->rdx, r->rcx, r->rbx, r->rsi, r->rdi, r->rbp, r->rsp, r->r8,
		r->r9,  r->r10, r->r11, r->r12, r->r13, r->r14, r->r15, r->rip,
	};

	memcpy(registers, order, sizeof(order));
}

static inline uint64_t arch_thread_pc(const arch_thread_registers *r)
{
	return r->rip;
}

static inline uint64_t arch_thread_stack(const arch_thread_registers *r)
{
	return r->rsp;
}

/* Where the thread keeps its own variables. */
static inline uint64_t arch_thread_local(const arch_thread_registers *r)
{
	return r->fs_base;
}

/* Whether it runs code of our kind at all. */
static inline int arch_thread_native(const arch_thread_registers *r)
{
	return r->cs == ARCH_CODE_SEGMENT;
}

/* The system call it was in when it was stopped; -1: none. */
static inline long arch_thread_call(const arch_thread_registers *r)
{
	return (long)r->orig_rax;
}

static inline long arch_thread_result(const arch_thread_registers *r)
{
	return (long)r->rax;
}

static inline void arch_thread_set_result(arch_thread_registers *r, long value)
{
	r->rax = (uint64_t)value;
}

static inline uint64_t arch_thread_call_argument(const arch_thread_registers *r, unsigned i)
{
	const uint64_t arguments[6] = { r->rdi, r->rsi, r->rdx, r->r10, r->r8, r->r9 };

	return arguments[i];
}

/* Lets a system call begin anew by itself: the instruction is executed once more. */
static inline void arch_thread_repeat_call(arch_thread_registers *r, long call)
{
	r->rax = (uint64_t)call;
	r->rip -= ARCH_CALL_SIZE;
	r->orig_rax = (uint64_t)-1;
}

/* It is in no system call, whatever its registers hold. */
static inline void arch_thread_no_call(arch_thread_registers *r)
{
	r->orig_rax = (uint64_t)-1;
}

/* As if function(a[0] ... a[5]) had been called by what `stack` points to: its first word is where
 * it returns to. */
static inline void arch_thread_enter(arch_thread_registers *r, uint64_t function, uint64_t stack, const uint64_t a[6])
{
	r->rdi = a[0];
	r->rsi = a[1];
	r->rdx = a[2];
	r->rcx = a[3];
	r->r8 = a[4];
	r->r9 = a[5];
	r->rax = 0;
	r->rip = function;
	r->rsp = stack;
	r->rbp = 0;
	r->eflags &= ~(uint64_t)0x400; /* the direction of strings, as functions expect it */
	r->orig_rax = (uint64_t)-1;
}

/* What the kernel reads when a signal handler returns (struct rt_sigframe). The C library's
 * trampoline, which the handler returns to, is "mov $SYS_rt_sigreturn, %rax; syscall". */
/* clang-format off */
#define ARCH_TRAMPOLINE { 0x48, 0xc7, 0xc0, 0x0f, 0x00, 0x00, 0x00, 0x0f, 0x05 }
/* clang-format on */
#define ARCH_TRAMPOLINE_SIZE 9u

struct arch_signal_frame {
	uint64_t return_address;
	uint64_t uc_flags, uc_link;
	uint64_t alternate_stack;
	uint32_t alternate_flags, padding;
	uint64_t alternate_size;
	uint64_t r8, r9, r10, r11, r12, r13, r14, r15, rdi, rsi, rbp, rbx, rdx, rax, rcx, rsp, rip, eflags;
	uint16_t cs, gs, fs, ss;
	uint64_t error, trap, old_mask, address;
	uint64_t vectors;
	uint64_t reserved[8];
	uint64_t mask;
};

/* Where one that fits below `top` lies, so that a function that returns to it finds the stack as it
 * expects it. */
static inline uint64_t arch_frame_place(uint64_t top)
{
	return (top & ~(uint64_t)15) - 8;
}

/* Whether the thread is in the trampoline, with the frame before it. */
static inline int arch_frame_returned(const arch_thread_registers *r, uint64_t frame)
{
	return r->rsp == frame + 8;
}

#define ARCH_FRAME_EXTENDED 7u      /* extended registers; the stack segment is told and right */
#define ARCH_FRAME_KEEP_STACK 0x7fu /* no valid flags: the kernel leaves the alternate stack alone */

static inline void arch_frame_fill(struct arch_signal_frame *f, const arch_thread_registers *r, uint64_t trampoline, uint64_t vectors,
				   uint64_t mask)
{
	/* clang-format off */
	*f = (struct arch_signal_frame){
		.return_address = trampoline, .uc_flags = ARCH_FRAME_EXTENDED, .alternate_flags = ARCH_FRAME_KEEP_STACK,
		.r8 = r->r8, .r9 = r->r9, .r10 = r->r10, .r11 = r->r11, .r12 = r->r12, .r13 = r->r13, .r14 = r->r14,
		.r15 = r->r15, .rdi = r->rdi, .rsi = r->rsi, .rbp = r->rbp, .rbx = r->rbx, .rdx = r->rdx, .rax = r->rax,
		.rcx = r->rcx, .rsp = r->rsp, .rip = r->rip, .eflags = r->eflags,
		.cs = (uint16_t)r->cs, .gs = (uint16_t)r->gs, .fs = (uint16_t)r->fs, .ss = (uint16_t)r->ss,
		.vectors = vectors, .mask = mask,
	};
	/* clang-format on */
}

#define ARCH_VECTORS_SET 0x202 /* NT_X86_XSTATE: what ptrace calls them */
#define ARCH_VECTORS_LIMIT 16384u
#define ARCH_VECTORS_ALIGN 64u
#define ARCH_VECTORS_END 4u         /* bytes behind them in a signal frame */
#define ARCH_VECTORS_TILES 0x60000u /* AMX: a task without the permission has no room for them */

/* How many bytes of an XSAVE area these parts take, in the layout that CPUID tells. */
static inline uint32_t arch_vectors_extent(uint64_t parts)
{
	uint32_t extent = 576, size, offset, c, d;

	for (unsigned i = 2; i < 63; i++)
		if ((parts >> i & 1) && __get_cpuid_count(0xd, i, &size, &offset, &c, &d) && offset + size > extent)
			extent = offset + size;
	return extent;
}

/* From what ptrace gives (NT_X86_XSTATE) to what a signal frame holds, in place. Its size; 0 when
 * it does not look as expected. */
static inline uint32_t arch_vectors_for_frame(uint8_t *vectors, size_t size)
{
	struct {
		uint32_t magic, extended_size;
		uint64_t parts;
		uint32_t size, padding[7];
	} head = { .magic = 0x46505853 };
	const uint32_t end = 0x46505845;
	uint64_t used;

	if (size < 576)
		return 0;
	memcpy(&head.parts, vectors + 464, sizeof(head.parts));
	memcpy(&used, vectors + 512, sizeof(used));
	head.parts &= ~(uint64_t)ARCH_VECTORS_TILES | used;
	head.size = arch_vectors_extent(head.parts);
	head.extended_size = head.size + ARCH_VECTORS_END;
	if (head.size > size)
		return 0;
	memcpy(vectors + 464, &head, sizeof(head));
	memcpy(vectors + head.size, &end, sizeof(end));
	return head.extended_size;
}

/* What the thread of ours does in the other process: struct arch_visit is its only argument. It
 * ends by unmapping the pages it ran in when whoever sent it has said `leave`; where nobody does it
 * leaves them, after `patience` pauses. With `leave` set before the call is made, nothing is
 * called. Without `detach` it is a borrowed thread that runs here: no name, no waiting, nothing
 * unmapped. */
struct arch_visit {
	uint64_t detach, self; /* functions of the C library, in that process */
	uint64_t dlopen, dlsym, dlerror, munmap;
	uint64_t library, mode;
	uint64_t function, argument;
	int64_t result;
	uint64_t message; /* what dlerror() said */
	uint32_t state;   /* enum arch_visit_state */
	uint32_t leave;
	uint64_t pages, pages_size;
	uint64_t pause[2]; /* struct timespec */
	uint32_t patience, padding;
	char name[16];
};

enum arch_visit_state { VISIT_NOT_BEGUN, VISIT_BEGUN, VISIT_DONE, VISIT_NO_LIBRARY, VISIT_NO_FUNCTION, VISIT_CANCELLED };

_Static_assert(offsetof(struct arch_visit, library) == 48 && offsetof(struct arch_visit, state) == 96 &&
		       offsetof(struct arch_visit, pages) == 104 && offsetof(struct arch_visit, patience) == 136 &&
		       offsetof(struct arch_visit, name) == 144,
	       "the assembly below counts on it");

/* The last bytes of the code: a function that returns nothing, for one that the C library does not
 * have. */
#define ARCH_VISIT_NOTHING 3u

/* Defines the bytes [name_begin, name_end), to be copied: they refer to nothing but their argument. */
#define ARCH_VISIT_CODE(name) \
	__asm__(".pushsection .text\n.balign 16\n.hidden " #name "_begin\n.globl " #name "_begin\n" #name "_begin:\n" \
		"endbr64\npushq %rbx\nmovq %rdi, %rbx\n" \
		"cmpq $0, 0(%rbx)\nje 1f\n" \
		"movl $157, %eax\nmovl $15, %edi\nleaq 144(%rbx), %rsi\nsyscall\n" /* prctl(PR_SET_NAME) */ \
		"call *8(%rbx)\nmovq %rax, %rdi\ncall *0(%rbx)\n" \
		"1: movl $1, 96(%rbx)\n" \
		"movq 48(%rbx), %rdi\nmovq 56(%rbx), %rsi\ncall *16(%rbx)\n" \
		"testq %rax, %rax\njne 2f\n" \
		"call *32(%rbx)\nmovq %rax, 88(%rbx)\nmovl $3, 96(%rbx)\njmp 5f\n" \
		"2: movq %rax, %rdi\nmovq 64(%rbx), %rsi\ncall *24(%rbx)\n" \
		"testq %rax, %rax\njne 3f\n" \
		"call *32(%rbx)\nmovq %rax, 88(%rbx)\nmovl $4, 96(%rbx)\njmp 5f\n" \
		"3: cmpl $0, 100(%rbx)\nje 4f\nmovl $5, 96(%rbx)\njmp 5f\n" \
		"4: movq 72(%rbx), %rdi\ncall *%rax\ncltq\nmovq %rax, 80(%rbx)\nmovl $2, 96(%rbx)\n" \
		"5: cmpq $0, 0(%rbx)\nje 7f\n" \
		"6: cmpl $0, 100(%rbx)\njne 8f\nsubl $1, 136(%rbx)\nje 7f\n" \
		"movl $35, %eax\nleaq 120(%rbx), %rdi\nxorl %esi, %esi\nsyscall\njmp 6b\n" /* nanosleep() */ \
		"7: xorl %eax, %eax\npopq %rbx\nret\n" \
		"8: movq 40(%rbx), %rax\nmovq 104(%rbx), %rdi\nmovq 112(%rbx), %rsi\npopq %rbx\njmp *%rax\n" \
		"xorl %eax, %eax\nret\n" \
		".hidden " #name "_end\n.globl " #name "_end\n" #name "_end:\n.popsection\n"); \
	extern const uint8_t name##_begin[] __attribute__((visibility("hidden"))); \
	extern const uint8_t name##_end[] __attribute__((visibility("hidden")))

#else
#error "src/base/system/arch_borrow.h: this CPU has not been filled in yet"
#endif

#endif
