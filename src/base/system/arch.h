/* Everything that depends on the CPU: the cycle counter and whether it can be trusted, texts
 * by blocks of a vector register, system calls, what the C library calls its first
 * version. A port to another CPU fills in this file. */
#ifndef SONDE_BASE_SYSTEM_ARCH_H
#define SONDE_BASE_SYSTEM_ARCH_H

#include <errno.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__x86_64__)

#include <cpuid.h>
#include <ucontext.h>
#include <x86intrin.h>

#define ARCH_ELF_MACHINE 62 /* EM_X86_64 */
/* The version of glibc's symbols that were there from the beginning. */
#define ARCH_GLIBC_FIRST "GLIBC_2.2.5"
#define ARCH_NAME "x86_64"
/* The version since which condition variables are as they are. */
#define ARCH_GLIBC_CONDITIONS "GLIBC_2.3.2"
/* long double has 80 bits, in 16 bytes. */
#define ARCH_LONG_DOUBLE_X87 1

/* Registers by DWARF number, as unwinding counts them. */
#define ARCH_DWARF_REGISTERS 17
#define ARCH_DWARF_FRAME 6   /* rbp */
#define ARCH_DWARF_STACK 7   /* rsp */
#define ARCH_DWARF_RETURN 16 /* rip */

/* Relocations that fill the slots stubs jump through. */
#define ARCH_RELOC_GLOB_DAT 6
#define ARCH_RELOC_JUMP_SLOT 7

/* The slot a stub of a procedure linkage table at `address` jumps through (jmp *DISPLACEMENT(%rip)). 0: none is seen. */
static inline int arch_stub_slot(const uint8_t *code, size_t size, uint64_t address, uint64_t *ret)
{
	for (size_t i = 0; i + 6 <= size; i++) {
		if (code[i] != 0xff || code[i + 1] != 0x25)
			continue;
		*ret = address + i + 6 +
		       (uint64_t)(int64_t)(int32_t)((uint32_t)code[i + 2] | (uint32_t)code[i + 3] << 8 | (uint32_t)code[i + 4] << 16 |
						    (uint32_t)code[i + 5] << 24);
		return 1;
	}
	return 0;
}

/* Registers a perf sample carries, as the kernel numbers them, and in this order their
 * DWARF numbers: ax bx cx dx si di bp sp ip, r8 to r15. */
#define ARCH_PERF_REGISTERS 0xff01ffull
/* clang-format off */
#define ARCH_PERF_TO_DWARF { 0, 3, 2, 1, 4, 5, 6, 7, 16, 8, 9, 10, 11, 12, 13, 14, 15 }
/* clang-format on */

static inline long arch_syscall(long number, long a, long b, long c, long d, long e, long f)
{
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	register long r9 __asm__("r9") = f;
	long result;

	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "0"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return result;
}

static inline uint64_t arch_cycles(void)
{
	return __rdtsc();
}

/* Constant rate in all power states (CPUID 80000007h EDX bit 8). */
static inline int arch_cycles_invariant(void)
{
	unsigned a, b, c, d;

	return __get_cpuid(0x80000007u, &a, &b, &c, &d) && (d >> 8 & 1);
}

/* About where this function's frame is. */
static inline uintptr_t arch_stack_pointer(void)
{
	uintptr_t here;

	__asm__ volatile("mov %%rsp, %0" : "=r"(here));
	return here;
}

/* What a signal interrupted: its registers by DWARF number. */
static inline void arch_context_registers(const ucontext_t *context, uint64_t *registers)
{
	static const uint8_t order[ARCH_DWARF_REGISTERS] = {
		REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI, REG_RBP, REG_RSP, REG_R8,
		REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15, REG_RIP,
	};

	for (unsigned i = 0; i < ARCH_DWARF_REGISTERS; i++)
		registers[i] = (uint64_t)context->uc_mcontext.gregs[order[i]];
}

static inline uintptr_t arch_context_pc(const ucontext_t *context)
{
	return (uintptr_t)context->uc_mcontext.gregs[REG_RIP];
}

/* Whether a signal ended a system call that is now about to return EINTR: the instruction
 * leaves the address behind it in rcx. */
static inline int arch_call_interrupted(const ucontext_t *context)
{
	const greg_t *r = context->uc_mcontext.gregs;
	const uint8_t *pc = (const uint8_t *)r[REG_RIP];

	return r[REG_RAX] == -EINTR && r[REG_RCX] == r[REG_RIP] && pc[-2] == 0x0f && pc[-1] == 0x05;
}

/* Length of a move between registers, or from the stack, that leaves eax alone; 0 for any
 * other instruction. */
static inline unsigned arch_move_length(const uint8_t *code)
{
	unsigned rex = (code[0] & 0xf0) == 0x40, mode = code[rex + 1];
	unsigned target = code[rex] == 0x89 ? mode & 7 : mode >> 3 & 7;

	if ((code[rex] != 0x89 && code[rex] != 0x8b) || target == 0)
		return 0;
	if (mode >> 6 == 3)
		return rex + 2;
	if (code[rex] != 0x8b || (mode & 7) != 4)
		return 0;
	return rex + (mode >> 6 == 0 ? 3 : mode >> 6 == 1 ? 4 : 7);
}

/* The number of the system call made by the instruction at `call`, from "mov $number, %eax" and at most a few moves before it; -1
 * where the code looks otherwise. Nothing before `first` is looked at. */
#define ARCH_CALL_CODE 32u /* so many bytes are enough */
#define ARCH_CALL_SIZE 2u  /* of the instruction itself */
static inline long arch_number_before(const uint8_t *call, const uint8_t *first)
{
	const uint8_t *at;
	unsigned length;

	for (const uint8_t *load = call - 5; load >= first && load > call - ARCH_CALL_CODE; load--) {
		if (load[0] != 0xb8 || load[3] || load[4])
			continue;
		for (at = load + 5; at < call && (length = arch_move_length(at)) != 0; at += length)
			;
		if (at == call)
			return load[1] | load[2] << 8;
	}
	return -1;
}

/* The number of that call. */
static inline long arch_interrupted_number(const ucontext_t *context)
{
	const uint8_t *call = (const uint8_t *)context->uc_mcontext.gregs[REG_RIP] - ARCH_CALL_SIZE;

	return arch_number_before(call, (const uint8_t *)((uintptr_t)call & ~(uintptr_t)4095));
}

/* Lets the call begin anew when the handler returns; its arguments are still in their registers. */
static inline void arch_call_again(ucontext_t *context, long number)
{
	context->uc_mcontext.gregs[REG_RAX] = number;
	context->uc_mcontext.gregs[REG_RIP] -= 2;
}

/* The CPU this runs on, as the kernel keeps it for the vDSO in the limit of a segment; UINT32_MAX
 * where it does not. */
static inline uint32_t arch_cpu(void)
{
	uint32_t limit = UINT32_MAX;

	__asm__ volatile("lsl %1, %0" : "+r"(limit) : "r"(0x7b) : "cc");
	return limit == UINT32_MAX ? limit : limit & 0xfff;
}

/* The registers that unwinding from here needs, by DWARF number; the others are left as they are. */
static inline __attribute__((always_inline)) void arch_unwind_registers(uint64_t *registers)
{
	__asm__ volatile("movq %%rbx, 24(%0)\n\t"
			 "movq %%rbp, 48(%0)\n\t"
			 "movq %%rsp, 56(%0)\n\t"
			 "movq %%r12, 96(%0)\n\t"
			 "movq %%r13, 104(%0)\n\t"
			 "movq %%r14, 112(%0)\n\t"
			 "movq %%r15, 120(%0)\n\t"
			 "leaq 0(%%rip), %%rax\n\t"
			 "movq %%rax, 128(%0)"
			 :
			 : "c"(registers)
			 : "rax", "memory");
}

/* Reads whole 16-byte blocks around a text: harmless within a page, but nothing
 * a checker of memory accesses can know. */
#define ARCH_UNCHECKED __attribute__((no_sanitize_address, no_sanitize_thread))

typedef char arch_block __attribute__((vector_size(16), aligned(1), may_alias));

ARCH_UNCHECKED static inline unsigned arch_zero_bytes(arch_block block)
{
	return (unsigned)__builtin_ia32_pmovmskb128((arch_block)(block == (arch_block){ 0 }));
}

static inline arch_block arch_each(char c)
{
	return (arch_block){ c, c, c, c, c, c, c, c, c, c, c, c, c, c, c, c };
}

/* The first byte of [p, end) that is `a` or `b`; `end` where there is none. */
static inline const char *arch_find_either(const char *p, const char *end, char a, char b)
{
	for (; end - p >= 16; p += 16) {
		arch_block block = *(const arch_block *)p;
		unsigned found = (unsigned)__builtin_ia32_pmovmskb128((arch_block)((block == arch_each(a)) | (block == arch_each(b))));

		if (found)
			return p + __builtin_ctz(found);
	}
	while (p < end && *p != a && *p != b)
		p++;
	return p;
}

/* How many bytes of [p, end) are `c`. */
static inline size_t arch_count_bytes(const char *p, const char *end, char c)
{
	typedef unsigned char sums_of_bytes __attribute__((vector_size(16)));
	size_t count = 0;

	while (end - p >= 16) {
		/* A byte of the sums holds up to 255; comparing gives -1 where it is true. */
		size_t blocks = (size_t)(end - p) / 16 < 255 ? (size_t)(end - p) / 16 : 255;
		sums_of_bytes sums = { 0 };

		for (; blocks--; p += 16)
			sums -= (sums_of_bytes)(*(const arch_block *)p == arch_each(c));
		for (unsigned i = 0; i < 16; i++)
			count += sums[i];
	}
	for (; p < end; p++)
		count += *p == c;
	return count;
}

/* Copies a text of less than ARCH_SHORT_TEXT bytes; `to` must have room for that
 * many. Returns its length, or -1 when it is longer or a block of it lies across the end
 * of a page: then nothing of `to` is to be used. */
#define ARCH_SHORT_TEXT 256
ARCH_UNCHECKED static inline int arch_copy_short_text(void *to, const char *from)
{
	const arch_block *source = (const arch_block *)from;
	arch_block *target = (arch_block *)to;

	for (int i = 0; i < ARCH_SHORT_TEXT / 16; i++) {
		arch_block block;
		unsigned zeros;

		if (__builtin_expect(((uintptr_t)&source[i] & 4095u) > 4096u - 16u, 0))
			return -1;
		block = source[i];
		zeros = arch_zero_bytes(block);
		target[i] = block;
		if (zeros)
			return i * 16 + __builtin_ctz(zeros);
	}
	return -1;
}

/* Whether `text` is what `stored` holds, a text of less than `room` bytes (a multiple of
 * 16). A text with a block across the end of a page is not compared: 0. */
ARCH_UNCHECKED static inline int arch_text_is(const char *stored, const char *text, unsigned room)
{
	const arch_block *a = (const arch_block *)stored, *b = (const arch_block *)text;

	for (unsigned i = 0; i < room / 16; i++) {
		unsigned zeros, differ;

		if (__builtin_expect(((uintptr_t)&b[i] & 4095u) > 4096u - 16u, 0))
			return 0;
		zeros = arch_zero_bytes(b[i]);
		differ = 0xffffu ^ (unsigned)__builtin_ia32_pmovmskb128((arch_block)(a[i] == b[i]));
		/* No difference up to the end of the text, its zero included. */
		if (zeros)
			return (differ & (zeros ^ (zeros - 1))) == 0;
		if (differ)
			return 0;
	}
	return 0;
}

/* strnlen() without leaving the caller's code: libc's may be replaced. */
ARCH_UNCHECKED static inline size_t arch_text_length(const char *text, size_t max)
{
	uintptr_t skew = (uintptr_t)text & 15u;
	const arch_block *block = (const arch_block *)((uintptr_t)text - skew);
	unsigned zeros = arch_zero_bytes(*block) >> skew;
	size_t length = 0;

	if (zeros) {
		length = (size_t)__builtin_ctz(zeros);
	} else {
		for (length = 16 - skew; length < max; length += 16) {
			zeros = arch_zero_bytes(*++block);
			if (zeros) {
				length += (size_t)__builtin_ctz(zeros);
				break;
			}
		}
	}
	return length < max ? length : max;
}

/* memcpy() without leaving the caller's code. The empty assembly keeps the compiler from
 * seeing a memcpy() in the loop. */
static inline void arch_copy(void *to, const void *from, size_t size)
{
	uint8_t *target = to;
	const uint8_t *source = from;
	const size_t block = sizeof(arch_block);

	if (size > 512) {
		__asm__ volatile("rep movsb" : "+D"(target), "+S"(source), "+c"(size) : : "memory");
	} else if (size >= block) {
		for (size_t i = 0; i + block <= size; i += block) {
			*(arch_block *)(target + i) = *(const arch_block *)(source + i);
			__asm__ volatile("" : : : "memory");
		}
		*(arch_block *)(target + size - block) = *(const arch_block *)(source + size - block);
	} else {
		for (size_t i = 0; i < size; i++) {
			target[i] = source[i];
			__asm__ volatile("" : : : "memory");
		}
	}
}

/* Defines function `name`, which asks `choose` (a hidden function with the same first two arguments) where to go on, and jumps there:
 * whoever is jumped to sees our caller as its own. */
#define ARCH_JUMP_ENTRY(name, choose) \
	__asm__(".pushsection .text\n" \
		".globl " #name "\n.type " #name ", @function\n.balign 16\n" #name ":\n.cfi_startproc\nendbr64\n" \
		"pushq %rdi\n.cfi_adjust_cfa_offset 8\npushq %rsi\n.cfi_adjust_cfa_offset 8\n" \
		"subq $8, %rsp\n.cfi_adjust_cfa_offset 8\ncall " #choose "\n" \
		"addq $8, %rsp\n.cfi_adjust_cfa_offset -8\npopq %rsi\n.cfi_adjust_cfa_offset -8\n" \
		"popq %rdi\n.cfi_adjust_cfa_offset -8\njmp *%rax\n" \
		".cfi_endproc\n.size " #name ", . - " #name "\n.popsection\n")

/* Defines `count` hidden functions of ARCH_STUB_SIZE bytes each, one behind the other from `name` on. Each asks `choose` (a hidden function
 * of the stub's number) where to go on, and jumps there with the arguments it got, as long as those are whole numbers or addresses. */
#define ARCH_STUB_SIZE 16
#define ARCH_STUBS(name, count, choose) \
	__asm__(".pushsection .text\n.hidden " #name "\n.globl " #name "\n.balign 16\n" #name ":\n" \
		".set .Lstub, 0\n.rept " #count "\n.balign 16\n.cfi_startproc\nendbr64\npushq $.Lstub\n" \
		"jmp .Lcommon_" #name "\n.cfi_endproc\n.set .Lstub, .Lstub + 1\n.endr\n" \
		".Lcommon_" #name ":\n.cfi_startproc\n.cfi_def_cfa_offset 16\n" \
		"pushq %rdi\npushq %rsi\npushq %rdx\npushq %rcx\npushq %r8\npushq %r9\n" \
		".cfi_adjust_cfa_offset 48\nmovq 48(%rsp), %rdi\ncall " #choose "\n" \
		"popq %r9\npopq %r8\npopq %rcx\npopq %rdx\npopq %rsi\npopq %rdi\naddq $8, %rsp\n" \
		".cfi_adjust_cfa_offset -56\njmp *%rax\n.cfi_endproc\n.popsection\n")

#elif defined(__wasm32__)

/* Readers only, in a browser (src/view/offline), of reports that other CPUs made. */
#define ARCH_DWARF_REGISTERS 17
#define ARCH_LONG_DOUBLE_X87 1

#else
#error "src/base/system/arch.h: this CPU has not been filled in yet"
#endif

#endif
