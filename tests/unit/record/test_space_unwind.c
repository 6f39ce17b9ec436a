/* Whole stacks from copies of them. The truth is GCC's own unwinder (what glibc's backtrace() uses): another
 * implementation, run on the living stack at the same instruction. */
#include "support.h"

#include <alloca.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>
#include <unwind.h>

#include "record/session/address_space.h"
#include "record/session/address_space_internal.h"

#define DEPTH 128
#define STACK_ROOM 49152

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define RUNNING_CHECKED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define RUNNING_CHECKED 1
#endif
#endif
#ifndef RUNNING_CHECKED
#define RUNNING_CHECKED 0
#endif

/* One moment: registers, stack, and what GCC's unwinder said in the same function. */
struct moment {
	struct stack_copy copy;
	uint32_t truth_count;
	void *truth[DEPTH];
};

static const int dwarf_order[ARCH_DWARF_REGISTERS] = { REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI, REG_RBP, REG_RSP, REG_R8,
						       REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15, REG_RIP };

static uint8_t *arena;
static size_t arena_used;
#define ARENA_SIZE (192u << 20)

/* Not memcpy(): a checker of memory accesses need not like what lies between frames. */
static void copy_stack(struct stack_copy *copy, size_t room)
{
	struct iovec to = { arena + arena_used, room };
	struct iovec from = { (void *)(uintptr_t)copy->registers[ARCH_DWARF_STACK], room };
	ssize_t size = process_vm_readv(getpid(), &to, 1, &from, 1, 0);

	copy->bytes = to.iov_base;
	copy->size = size > 0 ? (size_t)size : 0;
	arena_used += copy->size;
}

static void take_registers(struct stack_copy *copy, const ucontext_t *context)
{
	for (unsigned i = 0; i < ARCH_DWARF_REGISTERS; i++)
		copy->registers[i] = (uint64_t)context->uc_mcontext.gregs[dwarf_order[i]];
}

static _Unwind_Reason_Code add_frame(struct _Unwind_Context *context, void *data)
{
	struct moment *m = data;

	/* It tells the root's caller, which is nothing, too. */
	if (m->truth_count == DEPTH || !_Unwind_GetIP(context))
		return _URC_END_OF_STACK;
	m->truth[m->truth_count++] = (void *)_Unwind_GetIP(context);
	return _URC_NO_REASON;
}

static struct moment here_and_now;

__attribute__((noinline)) static int capture(void)
{
	ucontext_t context;

	getcontext(&context);
	take_registers(&here_and_now.copy, &context);
	arena_used = 0;
	copy_stack(&here_and_now.copy, STACK_ROOM);
	here_and_now.truth_count = 0;
	_Unwind_Backtrace(add_frame, &here_and_now);
	return 0;
}

static void unwind_moment(struct bench *b, const struct moment *m, struct stack_walk *walk)
{
	walk->count = walk->kernel = walk->cut = 0;
	space_unwind(&b->session, space_of(&b->session, 1, (uint32_t)getpid()), &m->copy, walk);
}

/* From the first caller on; both begin in the same function, at different instructions. */
static void check_here(struct bench *b)
{
	const struct moment *m = &here_and_now;
	struct stack_walk walk;

	unwind_moment(b, m, &walk);
	assert_in_range(m->truth_count, 3, DEPTH - 1);
	for (uint32_t i = 1; i < m->truth_count && i < walk.count; i++)
		if (walk.pcs[i] != (uint64_t)(uintptr_t)m->truth[i])
			fail_msg("frame %u: %llx instead of %p", i, (unsigned long long)walk.pcs[i], m->truth[i]);
	assert_int_equal(walk.count, m->truth_count);
	assert_int_equal(walk.cut, 0);
}

static int compare_deep(const void *a, const void *b);

/* Through libc's functions, which call back. */
__attribute__((noinline)) static int recurse(int levels)
{
	int pair[2] = { levels - 1, levels - 1 };

	if (levels == 0)
		return capture();
	if (levels % 2)
		qsort(pair, 2, sizeof(int), compare_deep);
	else
		bsearch(&pair[0], pair, 2, sizeof(int), compare_deep);
	return pair[0];
}

static int depth_reached;

static int compare_deep(const void *a, const void *b)
{
	if (!depth_reached)
		recurse(*(const int *)a);
	depth_reached = 1;
	return 0;
}

static void through_callbacks_of_libc(void **state)
{
	depth_reached = 0;
	recurse(9);
	check_here(*state);
	assert_true(here_and_now.truth_count > 20);
}

static void use_bytes(void *bytes, size_t size)
{
	memset(bytes, 1, size);
	__asm__ volatile("" : : "r"(bytes) : "memory");
}

__attribute__((noinline)) static int variable_frame(int size)
{
	char *bytes = alloca((size_t)size);

	use_bytes(bytes, (size_t)size);
	return capture() + bytes[0];
}

__attribute__((noinline)) static int aligned_frame(int size)
{
	char bytes[256] __attribute__((aligned(128)));

	use_bytes(bytes, sizeof(bytes));
	return variable_frame(size) + bytes[size % 256];
}

__attribute__((noinline)) static int tail_call(int size)
{
	return aligned_frame(size + 1);
}

__attribute__((noinline)) static int calls_tail(int size)
{
	return tail_call(size) + 1;
}

static void frames_of_all_shapes(void **state)
{
	assert_int_equal(calls_tail(77), 3);
	check_here(*state);
	assert_int_equal(variable_frame(3000), 1);
	check_here(*state);
}

static void on_signal(int number)
{
	capture();
	__asm__ volatile(""); /* not the last thing it does, or it would have no frame */
}

/* The frame of the signal itself is unwound too. It and the one that was interrupted are addresses of
 * instructions, not of returns: they come plus one. */
static void through_a_signal_handler(void **state)
{
	struct bench *b = *state;
	struct sigaction action = { .sa_handler = on_signal }, before;
	const struct moment *m = &here_and_now;
	struct stack_walk walk;
	unsigned plus_one = 0, last = 0;

	/* A checker puts frames of its own around handlers. */
	if (RUNNING_CHECKED)
		skip();
	sigaction(SIGUSR1, &action, &before);
	raise(SIGUSR1);
	sigaction(SIGUSR1, &before, NULL);
	unwind_moment(b, m, &walk);
	assert_int_equal(walk.count, m->truth_count);
	assert_int_equal(walk.cut, 0);
	for (uint32_t i = 1; i < walk.count; i++) {
		uint64_t more = walk.pcs[i] - (uint64_t)(uintptr_t)m->truth[i];

		assert_in_range(more, 0, 1);
		plus_one += more == 1;
		last = more ? i : last;
	}
	assert_int_equal(plus_one, 2);
	/* capture, on_signal, trampoline, interrupted. */
	assert_int_equal(last, 3);
}

/* Every instruction of something: prologues, epilogues, PLT stubs, the loader's resolver, vector code. (No frame
 * that is aligned anew: GCC's tables are wrong for the last but one instruction of such a function.) */
#define MOMENTS 24000
static struct moment *moments;
static size_t moment_count;
static uint64_t stack_top;
static volatile int watching;

static void on_step(int number, siginfo_t *info, void *context)
{
	struct moment *m;

	if (!watching || moment_count == MOMENTS)
		return;
	m = &moments[moment_count];
	take_registers(&m->copy, context);
	if (arena_used + STACK_ROOM > ARENA_SIZE || m->copy.registers[ARCH_DWARF_STACK] >= stack_top)
		return;
	copy_stack(&m->copy, stack_top - m->copy.registers[ARCH_DWARF_STACK]);
	m->truth_count = 0;
	_Unwind_Backtrace(add_frame, m);
	moment_count++;
}

#define TRAP_FLAG 0x100ul

static void set_trap_flag(int on)
{
	unsigned long flags = __builtin_ia32_readeflags_u64();

	__builtin_ia32_writeeflags_u64(on ? flags | TRAP_FLAG : flags & ~TRAP_FLAG);
}

static void put_away(int *value)
{
	*value = 0;
}

static int order(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

__attribute__((noinline)) static int sort_and_print(int levels)
{
	const char *words[] = { "unwind", "sample", "thread", "module", "stack", "frame", "row" };
	int guarded __attribute__((cleanup(put_away))) = levels;
	char text[200];
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	qsort(words, 7, sizeof(words[0]), order);
	snprintf(text, sizeof(text), "%s %d %.3f %p", words[levels % 7], levels, 1.5 * levels, (void *)words);
	if (levels)
		return sort_and_print(levels - 1) + text[0] + guarded;
	free(strdup(getenv("PATH") ? getenv("PATH") : text));
	return (int)strtol("123", NULL, 10) + (int)now.tv_sec % 2;
}

__attribute__((noinline)) static int watched(int levels)
{
	volatile int result;

	watching = 1;
	result = sort_and_print(levels);
	watching = 0;
	return result;
}

__attribute__((noinline)) static int all_of_it(int levels)
{
	volatile int result;

	/* Setting the flag takes a push and a pop that no table knows of. */
	set_trap_flag(1);
	result = watched(levels);
	set_trap_flag(0);
	return result;
}

static int same_as_truth(const struct moment *m, const struct stack_walk *walk)
{
	/* The truth began in the handler: it, the return to the kernel, then what was interrupted. */
	const uint32_t skipped = 2;

	if (m->truth_count != walk->count + skipped || walk->cut)
		return 0;
	for (uint32_t i = 0; i < walk->count; i++)
		if (walk->pcs[i] != (uint64_t)(uintptr_t)m->truth[i + skipped])
			return 0;
	return 1;
}

static void show_moment(const struct moment *m, const struct stack_walk *walk)
{
	print_message("at %llx:\n", (unsigned long long)walk->pcs[0]);
	for (uint32_t i = 0; i + 2 < m->truth_count || i < walk->count; i++)
		print_message("  %2u %16llx %16llx\n", i, i + 2 < m->truth_count ? (unsigned long long)(uintptr_t)m->truth[i + 2] : 0,
			      i < walk->count ? (unsigned long long)walk->pcs[i] : 0);
}

static void every_instruction(void **state)
{
	struct bench *b = *state;
	struct sigaction action = { .sa_sigaction = on_step, .sa_flags = SA_SIGINFO }, before;
	struct stack_walk walk;
	unsigned wrong = 0;

	if (RUNNING_CHECKED)
		skip();
	moments = calloc(MOMENTS, sizeof(*moments));
	stack_top = (uint64_t)(uintptr_t)environ[0] & ~15ull;
	stack_top = arch_stack_pointer() + 16384 < stack_top ? arch_stack_pointer() + 16384 : stack_top;
	moment_count = arena_used = 0;
	here_and_now.truth_count = 0;
	_Unwind_Backtrace(add_frame, &here_and_now);
	sigaction(SIGTRAP, &action, &before);
	all_of_it(3);
	sigaction(SIGTRAP, &before, NULL);
	for (size_t i = 0; i < moment_count; i++) {
		unwind_moment(b, &moments[i], &walk);
		if (!same_as_truth(&moments[i], &walk) && wrong++ < 5)
			show_moment(&moments[i], &walk);
	}
	print_message("%zu instructions, %u other than the truth\n", moment_count, wrong);
	free(moments);
	assert_int_equal(wrong, 0);
	assert_true(moment_count > 5000);
}

static void hostile_stacks(void **state)
{
	struct bench *b = *state;
	uint64_t noise = 88172645463325252ull;
	struct moment m;
	uint64_t words[512];
	struct stack_walk walk;

	depth_reached = 0;
	recurse(9);
	for (unsigned round = 0; round < 3000; round++) {
		m = here_and_now;
		for (unsigned i = 0; i < 512; i++) {
			noise ^= noise << 13;
			noise ^= noise >> 7;
			noise ^= noise << 17;
			/* Return addresses, addresses of this stack, and nonsense. */
			words[i] = noise % 3 == 0 ? (uint64_t)(uintptr_t)m.truth[noise % m.truth_count] :
				   noise % 3 == 1 ? m.copy.registers[ARCH_DWARF_STACK] + (noise >> 20 & 4095) :
						    noise;
		}
		m.copy.bytes = (const uint8_t *)words;
		m.copy.size = round % 7 ? sizeof(words) - round % 64 : round % 5;
		m.copy.registers[ARCH_DWARF_RETURN] = (uint64_t)(uintptr_t)m.truth[round % m.truth_count];
		if (round % 11 == 0)
			m.copy.registers[ARCH_DWARF_STACK] = UINT64_MAX - 100;
		unwind_moment(b, &m, &walk);
		assert_in_range(walk.count, 1, STACK_MAX_FRAMES);
	}
}

/* A stack that leads in a circle, or downwards, ends. */
static void a_circle_of_frame_pointers(void **state)
{
	struct bench *b = *state;
	struct space *space = space_of(&b->session, 7, 0);
	struct space_mapping mapping = { .address = 0x10000, .size = 0x1000, .path = "//anon" };
	uint64_t words[8] = { 0 };
	struct stack_copy copy = { .bytes = (const uint8_t *)words, .size = sizeof(words) };
	struct stack_walk walk = { 0 };

	space_map(&b->session, space, &mapping);
	copy.registers[ARCH_DWARF_STACK] = 0x7000;
	copy.registers[ARCH_DWARF_FRAME] = 0x7010;
	copy.registers[ARCH_DWARF_RETURN] = 0x10010;
	words[2] = 0x7010;
	words[3] = 0x10020;
	space_unwind(&b->session, space, &copy, &walk);
	assert_int_equal(walk.count, 2);
	assert_int_equal(walk.pcs[1], 0x10020);
	assert_int_equal(walk.cut, 1);
}

/* Code without tables: frame pointers, down to the one that is 0. */
static void made_code_by_frame_pointers(void **state)
{
	struct bench *b = *state;
	struct space *space = space_of(&b->session, 7, 0);
	struct space_mapping mapping = { .address = 0x10000, .size = 0x1000, .path = "//anon" };
	uint64_t words[8] = { 0, 0, 0x7030, 0x10020, 0, 0, 0, 0x10030 };
	struct stack_copy copy = { .bytes = (const uint8_t *)words, .size = sizeof(words) };
	struct stack_walk walk = { 0 };

	space_map(&b->session, space, &mapping);
	copy.registers[ARCH_DWARF_STACK] = 0x7000;
	copy.registers[ARCH_DWARF_FRAME] = 0x7010;
	copy.registers[ARCH_DWARF_RETURN] = 0x10010;
	space_unwind(&b->session, space, &copy, &walk);
	assert_int_equal(walk.count, 3);
	assert_int_equal(walk.pcs[2], 0x10030);
	assert_int_equal(walk.cut, 0);
	/* A leaf that has not touched the stack yet. */
	walk = (struct stack_walk){ 0 };
	copy.registers[ARCH_DWARF_FRAME] = 0x123;
	words[0] = 0x10040;
	space_unwind(&b->session, space, &copy, &walk);
	assert_int_equal(walk.count, 2);
	assert_int_equal(walk.pcs[1], 0x10040);
}

static void copy_of_other(pid_t pid, struct stack_copy *copy)
{
	struct user_regs_struct r;
	struct iovec to = { arena, 1u << 20 }, from;
	ssize_t size;

	assert_int_equal(ptrace(PTRACE_GETREGS, pid, NULL, &r), 0);
	*copy = (struct stack_copy){ .registers = { r.rax, r.rdx, r.rcx, r.rbx, r.rsi, r.rdi, r.rbp, r.rsp, r.r8, r.r9, r.r10, r.r11, r.r12,
						    r.r13, r.r14, r.r15, r.rip } };
	from = (struct iovec){ (void *)(uintptr_t)r.rsp, to.iov_len };
	for (; (size = process_vm_readv(pid, &to, 1, &from, 1, 0)) < 0 && from.iov_len > 4096; from.iov_len /= 2)
		;
	copy->bytes = arena;
	copy->size = size > 0 ? (size_t)size : 0;
}

static uint64_t entry_point(pid_t pid)
{
	char path[64];
	uint64_t pair[2] = { 0, 0 };
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/auxv", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	while (fd >= 0 && read(fd, pair, sizeof(pair)) == (ssize_t)sizeof(pair) && pair[0] != AT_ENTRY)
		;
	close(fd);
	return pair[0] == AT_ENTRY ? pair[1] : 0;
}

static pid_t start_python(void)
{
	pid_t pid = fork();

	if (pid == 0) {
		execl("/usr/bin/python3", "python3", "-S", "-c",
		      "import re, json\n"
		      "def deep(n):\n"
		      "    return deep(n - 1) if n else sum(sorted(map(lambda x: len(re.sub('a', str(x), 'banana')),"
		      " range(50))))\n"
		      "while True: deep(40); json.dumps({'a': [deep(3)]})\n",
		      NULL);
		_exit(127);
	}
	return pid;
}

/* Whole stacks of an interpreter: each ends in _start. */
static void a_python_process(void **state)
{
	struct bench *b = *state;
	struct space *space;
	unsigned whole = 0, rounds = 60;
	pid_t pid = start_python();
	uint64_t entry;
	int status;

	usleep(300000);
	if (waitpid(pid, &status, WNOHANG) != 0 || ptrace(PTRACE_SEIZE, pid, NULL, NULL) < 0) {
		kill(pid, SIGKILL);
		skip();
	}
	entry = entry_point(pid);
	space = space_of(&b->session, 9, (uint32_t)pid);
	for (unsigned i = 0; i < rounds; i++) {
		struct stack_walk walk = { 0 };
		struct stack_copy copy;

		usleep(3000);
		ptrace(PTRACE_INTERRUPT, pid, NULL, NULL);
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_true(WIFSTOPPED(status));
		copy_of_other(pid, &copy);
		space_unwind(&b->session, space, &copy, &walk);
		whole += !walk.cut && walk.pcs[walk.count - 1] - entry < 64;
		ptrace(PTRACE_CONT, pid, NULL, NULL);
	}
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	print_message("%u of %u stacks are whole\n", whole, rounds);
	assert_true(whole >= rounds - 1);
}

static int group_set_up(void **state)
{
	arena = mmap(NULL, ARENA_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	return arena == MAP_FAILED ? -1 : 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(through_callbacks_of_libc, bench_set_up, bench_tear_down),
		cmocka_unit_test_setup_teardown(frames_of_all_shapes, bench_set_up, bench_tear_down),
		cmocka_unit_test_setup_teardown(through_a_signal_handler, bench_set_up, bench_tear_down),
		cmocka_unit_test_setup_teardown(every_instruction, bench_set_up, bench_tear_down),
		cmocka_unit_test_setup_teardown(hostile_stacks, bench_set_up, bench_tear_down),
		cmocka_unit_test_setup_teardown(a_circle_of_frame_pointers, bench_set_up, bench_tear_down),
		cmocka_unit_test_setup_teardown(made_code_by_frame_pointers, bench_set_up, bench_tear_down),
		cmocka_unit_test_setup_teardown(a_python_process, bench_set_up, bench_tear_down),
	};

	return cmocka_run_group_tests(tests, group_set_up, NULL);
}
