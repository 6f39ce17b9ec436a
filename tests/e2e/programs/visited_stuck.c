/* Stands, for as long as nothing comes from standard input, where it must not be borrowed: its first word says where. It writes "ready PID" when it
 * stands there, and "right" at the end. */
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

static void stand(void)
{
	char text[] = "ready 00000000\n", c;

	for (int i = 13, pid = (int)getpid(); i > 5; i--, pid /= 10)
		text[i] = (char)('0' + pid % 10);
	if (write(1, text, sizeof(text) - 1) < 0 || read(0, &c, 1) < 0)
		_exit(2);
}

static uintptr_t allocator_begin, allocator_end;
static volatile int stood;

/* Stands where the signal came, if that was in the allocator. */
static void in_handler(int number, siginfo_t *info, void *context)
{
	uintptr_t pc = (uintptr_t)((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];

	if (stood || pc < allocator_begin || pc >= allocator_end)
		return;
	stood = 1;
	stand();
}

static void every_millisecond(int flags)
{
	struct itimerval each = { { 0, 1000 }, { 0, 1000 } };
	struct sigaction action = { .sa_sigaction = in_handler, .sa_flags = SA_SIGINFO | SA_RESTART | flags };

	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &each, NULL);
}

/* All of its parts lie between two of its functions that have names, in whatever order. */
static void find_allocator(void)
{
	static const char *const names[] = { "malloc", "free", "calloc", "realloc", "memalign", "malloc_trim", "malloc_usable_size" };

	allocator_begin = UINTPTR_MAX;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		uintptr_t at = (uintptr_t)dlsym(RTLD_NEXT, names[i]);

		allocator_begin = at && at < allocator_begin ? at : allocator_begin;
		allocator_end = at > allocator_end ? at : allocator_end;
	}
}

static void in_malloc(void)
{
	find_allocator();
	every_millisecond(0);
	while (!stood) {
		void *volatile blocks[64];

		for (int i = 0; i < 64; i++)
			blocks[i] = malloc((size_t)(i * 37 % 5000) + 1);
		for (int i = 0; i < 64; i++)
			free(blocks[i * 29 % 64]);
	}
}

static void in_any_handler(int flags)
{
	allocator_end = UINTPTR_MAX;
	every_millisecond(flags);
	while (!stood)
		;
}

/* On a stack that is not the thread's. */
static void on_signal_stack(void)
{
	static char place[65536 * 4];
	stack_t stack = { .ss_sp = place, .ss_size = sizeof(place) };

	sigaltstack(&stack, NULL);
	in_any_handler(SA_ONSTACK);
}

static void in_fork(void)
{
	pthread_atfork(stand, NULL, NULL);
	if (fork() == 0)
		_exit(0);
	wait(NULL);
}

/* A coroutine's. */
static void on_own_stack(void)
{
	static char place[65536 * 4];
	static ucontext_t here, there;

	getcontext(&there);
	there.uc_stack.ss_sp = place;
	there.uc_stack.ss_size = sizeof(place);
	there.uc_link = &here;
	makecontext(&there, stand, 0);
	swapcontext(&here, &there);
}

int main(int argc, char **argv)
{
	const char *where = argc > 1 ? argv[1] : "";

	if (strcmp(where, "malloc") == 0)
		in_malloc();
	else if (strcmp(where, "signal_stack") == 0)
		on_signal_stack();
	else if (strcmp(where, "handler") == 0)
		in_any_handler(0);
	else if (strcmp(where, "fork") == 0)
		in_fork();
	else if (strcmp(where, "coroutine") == 0)
		on_own_stack();
	else if (strcmp(where, "linker") == 0)
		dlclose(dlopen(argv[2], RTLD_NOW));
	else if (strcmp(where, "allocator") == 0)
		free(*(void *volatile *)&(void *){ malloc(123457) });
	else
		stand();
	puts("right");
	return 0;
}
