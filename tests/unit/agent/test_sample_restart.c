/* Calls that a tick ended: begun anew when it is sure which, and that nothing else ended them. */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>

#include <cmocka.h>

#include "agent/sample/sample.h"

/* What ran when the tick came: code that ends with the call, about to return EINTR. */
struct scene {
	uint8_t *page;
	uint8_t *after;
	ucontext_t context;
};

static void set_scene(struct scene *s, const void *code, size_t size)
{
	static uint8_t page[8192] __attribute__((aligned(4096)));

	memset(s, 0, sizeof(*s));
	memset(page, 0x90, sizeof(page));
	s->page = page;
	memcpy(page + 1000, code, size);
	memcpy(page + 1000 + size, "\x0f\x05", 2);
	s->after = page + 1000 + size + 2;
	s->context.uc_mcontext.gregs[REG_RIP] = s->context.uc_mcontext.gregs[REG_RCX] = (greg_t)s->after;
	s->context.uc_mcontext.gregs[REG_RAX] = -EINTR;
}

static void check_again(const void *code, size_t size, long number)
{
	struct scene s;

	set_scene(&s, code, size);
	sample_restart(&s.context);
	assert_int_equal(s.context.uc_mcontext.gregs[REG_RAX], number);
	assert_ptr_equal((void *)s.context.uc_mcontext.gregs[REG_RIP], s.after - 2);
}

static void check_left(struct scene *s)
{
	greg_t rax = s->context.uc_mcontext.gregs[REG_RAX];

	sample_restart(&s->context);
	assert_int_equal(s->context.uc_mcontext.gregs[REG_RAX], rax);
	assert_ptr_equal((void *)s->context.uc_mcontext.gregs[REG_RIP], s->after);
}

#define CODE(text) text, sizeof(text) - 1

static void known_calls_begin_anew(void **state)
{
	(void)state;
	check_again(CODE("\xb8\x07\x00\x00\x00"), SYS_poll);
	/* mov $281, %eax; mov 4(%rsp), %edi */
	check_again(CODE("\xb8\x19\x01\x00\x00\x8b\x7c\x24\x04"), SYS_epoll_pwait);
	/* mov $45, %eax; mov 8(%rsp), %rsi; mov %r12, %rdx */
	check_again(CODE("\xb8\x2d\x00\x00\x00\x48\x8b\x74\x24\x08\x4c\x89\xe2"), SYS_recvfrom);
}

static void calls_that_did_something_do_not(void **state)
{
	struct scene s;

	(void)state;
	set_scene(&s, CODE("\xb8\x2a\x00\x00\x00")); /* connect */
	check_left(&s);
	set_scene(&s, CODE("\xb8\x03\x00\x00\x00")); /* close */
	check_left(&s);
}

static void unknown_code_is_left_alone(void **state)
{
	struct scene s;

	(void)state;
	/* mov $7, %eax; mov 8(%rsp), %eax: another number */
	set_scene(&s, CODE("\xb8\x07\x00\x00\x00\x8b\x44\x24\x08"));
	check_left(&s);
	/* mov $7, %eax; add $1, %eax */
	set_scene(&s, CODE("\xb8\x07\x00\x00\x00\x83\xc0\x01"));
	check_left(&s);
	/* The number is in a register: mov %rdi, %rax */
	set_scene(&s, CODE("\x48\x89\xf8"));
	check_left(&s);
	/* At the beginning of a page what lies before is not looked at. */
	set_scene(&s, CODE("\x90"));
	s.after = s.page + 4096 + 2;
	memcpy(s.page + 4096 - 5, "\xb8\x07\x00\x00\x00\x0f\x05", 7);
	s.context.uc_mcontext.gregs[REG_RIP] = s.context.uc_mcontext.gregs[REG_RCX] = (greg_t)s.after;
	check_left(&s);
}

static void what_was_no_call_is_left_alone(void **state)
{
	struct scene s;

	(void)state;
	set_scene(&s, CODE("\xb8\x07\x00\x00\x00"));
	s.context.uc_mcontext.gregs[REG_RAX] = 1;
	check_left(&s);
	set_scene(&s, CODE("\xb8\x07\x00\x00\x00"));
	s.context.uc_mcontext.gregs[REG_RCX] = 0;
	check_left(&s);
	set_scene(&s, CODE("\xb8\x07\x00\x00\x00"));
	s.after[-1] = 0x0b;
	check_left(&s);
}

/* Its handler will run when ours has returned, and is why the call ends. */
static void another_signal_ends_the_call(void **state)
{
	struct timespec none = { 0, 0 };
	struct scene s;
	sigset_t usr1;

	(void)state;
	sigemptyset(&usr1);
	sigaddset(&usr1, SIGUSR1);
	sigprocmask(SIG_BLOCK, &usr1, NULL);
	raise(SIGUSR1);
	set_scene(&s, CODE("\xb8\x07\x00\x00\x00"));
	check_left(&s);
	/* Blocked where the call was: it ends nothing. */
	set_scene(&s, CODE("\xb8\x07\x00\x00\x00"));
	sigaddset(&s.context.uc_sigmask, SIGUSR1);
	sample_restart(&s.context);
	assert_int_equal(s.context.uc_mcontext.gregs[REG_RAX], SYS_poll);
	assert_int_equal(sigtimedwait(&usr1, NULL, &none), SIGUSR1);
	sigprocmask(SIG_UNBLOCK, &usr1, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(known_calls_begin_anew),       cmocka_unit_test(calls_that_did_something_do_not),
		cmocka_unit_test(unknown_code_is_left_alone),   cmocka_unit_test(what_was_no_call_is_left_alone),
		cmocka_unit_test(another_signal_ends_the_call),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
