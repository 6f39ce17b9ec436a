/* Is busy with what its first word says while it is visited: what comes out is known. Writes "ready PID" before, and when a line comes from
 * standard input "right" or what was wrong. */
#include <dlfcn.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/time.h>
#include <unistd.h>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

static void ready(void)
{
	printf("ready %d\n", (int)getpid());
	fflush(stdout);
}

static int told_to_end(void)
{
	struct pollfd p = { 0, POLLIN, 0 };

	return poll(&p, 1, 0) == 1;
}

static volatile int stopping;

static void *nothing(void *argument)
{
	return argument;
}

static uint64_t mix(uint64_t x)
{
	x ^= x << 13;
	x ^= x >> 7;
	return x ^ x << 17;
}

static int wrong_blocks;

#define BLOCKS 64

static int is_filled(const unsigned char *block, size_t size, unsigned char with)
{
	for (size_t i = 0; i < size; i++)
		if (block[i] != with)
			return 0;
	return 1;
}

static void *hammer(void *argument)
{
	unsigned char *blocks[BLOCKS] = { NULL };
	size_t sizes[BLOCKS] = { 0 };
	uint64_t x = 88172645463325252ull + (uintptr_t)argument;
	unsigned which = (unsigned)(uintptr_t)argument;

	for (unsigned round = 0; !stopping; round++) {
		unsigned i = (unsigned)((x = mix(x)) % BLOCKS);
		size_t size = 1 + (x >> 20) % (round % 50 == 0 ? 300000 : 2000), kept = size < sizes[i] ? size : sizes[i];

		blocks[i] = round % 3 ? realloc(blocks[i], size) : (free(blocks[i]), kept = 0, malloc(size));
		if (!blocks[i] || !is_filled(blocks[i], kept, (unsigned char)(i + which)))
			__atomic_add_fetch(&wrong_blocks, 1, __ATOMIC_SEQ_CST);
		memset(blocks[i], (int)(i + which), size);
		sizes[i] = size;
		if (which % 4 == 1 && round % 16 == 0) {
			void *library = dlopen(getenv("HAMMERED_LIBRARY"), RTLD_NOW);

			if (!library || !dlsym(library, "plugin_ranges"))
				__atomic_add_fetch(&wrong_blocks, 1, __ATOMIC_SEQ_CST);
			if (library)
				dlclose(library);
		}
		if (which % 4 == 2 && round % 16 == 0) {
			pthread_t thread;
			void *result = NULL;

			if (pthread_create(&thread, NULL, nothing, blocks) != 0 || pthread_join(thread, &result) != 0 || result != blocks)
				__atomic_add_fetch(&wrong_blocks, 1, __ATOMIC_SEQ_CST);
		}
	}
	for (unsigned i = 0; i < BLOCKS; i++)
		free(blocks[i]);
	return NULL;
}

static int hammering(int threads)
{
	pthread_t list[16];

	for (int i = 0; i < threads; i++)
		pthread_create(&list[i], NULL, hammer, (void *)(uintptr_t)i);
	ready();
	while (!told_to_end())
		free(malloc(100));
	stopping = 1;
	for (int i = 0; i < threads; i++)
		pthread_join(list[i], NULL);
	if (wrong_blocks)
		printf("%d wrong\n", wrong_blocks);
	else
		puts("right");
	return 0;
}

static volatile sig_atomic_t ticks;

static void tick(int number)
{
	ticks++;
}

static uint64_t sum_of(uint64_t turns)
{
	uint64_t x = 42;

	for (uint64_t i = 0; i < turns; i++)
		x = mix(x) + i;
	return x;
}

/* A thousand signals a second, on the stack of the one thread there is. */
static int ticking(void)
{
	struct itimerval each = { { 0, 1000 }, { 0, 1000 } };
	struct sigaction action = { .sa_handler = tick, .sa_flags = SA_RESTART };
	uint64_t want = sum_of(200000);
	int wrong = 0;

	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &each, NULL);
	ready();
	while (!told_to_end())
		wrong += sum_of(200000) != want;
	puts(wrong ? "another sum" : ticks < 10 ? "no ticks" : "right");
	return 0;
}

/* No system call until SIGTERM comes. */
static int spinning(void)
{
	signal(SIGTERM, tick);
	ready();
	while (!ticks)
		;
	puts("right");
	return 0;
}

/* What it had done with SIGTRAP is still so. */
static int trapping(void)
{
	struct sigaction action;
	sigset_t mask;

	signal(SIGTRAP, SIG_IGN);
	sigemptyset(&mask);
	sigaddset(&mask, SIGTRAP);
	sigaddset(&mask, SIGSEGV);
	sigprocmask(SIG_BLOCK, &mask, NULL);
	ready();
	while (!told_to_end())
		sum_of(1000);
	sigaction(SIGTRAP, NULL, &action);
	sigprocmask(SIG_BLOCK, NULL, &mask);
	puts(action.sa_handler == SIG_IGN && sigismember(&mask, SIGTRAP) && sigismember(&mask, SIGSEGV) && !sigismember(&mask, SIGUSR1) ?
		     "right" :
		     "its signals were changed");
	return 0;
}

#if defined(__x86_64__)
/* Eight registers of some width, a carry, and one of the old floating point, held for a while in a loop that touches none of them. */
#define EACH(move, width, reg, n) move " " #n "*" #width "(%[in]), %%" reg #n "\n\t"
#define BACK(move, width, reg, n) move " %%" reg #n ", " #n "*" #width "(%[out])\n\t"
#define ALL(what, move, width, reg) \
	what(move, width, reg, 0) what(move, width, reg, 1) what(move, width, reg, 2) what(move, width, reg, 3) what(move, width, reg, 4) \
		what(move, width, reg, 5) what(move, width, reg, 6) what(move, width, reg, 7)
#define HOLD(name, move, width, reg) \
	static int name(uint64_t turns) \
	{ \
		unsigned char in[8 * width], out[8 * width] = { 0 }, carry = 0; \
		long double ten = 10.25L, after = 0; \
\
		for (unsigned i = 0; i < sizeof(in); i++) \
			in[i] = (unsigned char)(i * 7 + 3); \
		__asm__ volatile( \
			"fldt %[ten]\n\t" ALL(EACH, move, width, reg) "stc\n\t" \
								      "1: dec %[turns]\n\tjnz 1b\n\t" \
								      "setc %[carry]\n\t" ALL(BACK, move, width, reg) "fstpt %[after]" \
			: [turns] "+r"(turns), [carry] "+m"(carry), [after] "=m"(after) \
			: [in] "r"(in), [out] "r"(out), [ten] "m"(ten) \
			: "memory", "cc", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7"); \
		return carry && after == ten && memcmp(in, out, sizeof(in)) == 0; \
	}

HOLD(hold_sse, "movdqu", 16, "xmm")
HOLD(hold_avx, "vmovdqu", 32, "ymm")
HOLD(hold_avx512, "vmovdqu64", 64, "zmm")

static int hold(uint64_t turns)
{
	if (__builtin_cpu_supports("avx512f"))
		return hold_avx512(turns);
	return __builtin_cpu_supports("avx") ? hold_avx(turns) : hold_sse(turns);
}
#else
static int hold(uint64_t turns)
{
	double x = 1;

	while (turns--)
		x = x * 1.5 - 0.5;
	return x == 1;
}
#endif

static int holding(void)
{
	int wrong = 0;

	ready();
	while (!told_to_end())
		wrong += !hold(3000000);
	puts(wrong ? "registers were changed" : "right");
	return 0;
}

/* Waits in read() behind a filter that lets everything pass, or in strict mode. */
static int locked(int strict)
{
	struct sock_filter pass = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	struct sock_fprog program = { 1, &pass };
	char c;

	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	ready();
	if (prctl(PR_SET_SECCOMP, strict ? SECCOMP_MODE_STRICT : SECCOMP_MODE_FILTER, &program) < 0)
		return 1;
	return read(0, &c, 1) < 0;
}

/* The first thread ends; another one goes on. */
static void *go_on(void *argument)
{
	ready();
	while (!told_to_end())
		usleep(1000);
	puts("right");
	exit(0);
}

static int leaving(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, go_on, NULL);
	pthread_exit(NULL);
}

/* A child that still runs in its parent's memory. */
static int sharing(void)
{
	char c;
	pid_t child = vfork();

	if (child == 0) {
		char text[] = "ready 00000000\n";

		for (int i = 13, pid = (int)getpid(); i > 5; i--, pid /= 10)
			text[i] = (char)('0' + pid % 10);
		_exit(write(1, text, sizeof(text) - 1) < 0 || read(0, &c, 1) < 0);
	}
	puts("right");
	return child < 0;
}

static int waiting(void)
{
	char c;

	ready();
	if (read(0, &c, 1) < 0)
		return 1;
	puts("right");
	return 0;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	if (strcmp(what, "hammer") == 0)
		return hammering(8);
	if (strcmp(what, "ticks") == 0)
		return ticking();
	if (strcmp(what, "spin") == 0)
		return spinning();
	if (strcmp(what, "traps") == 0)
		return trapping();
	if (strcmp(what, "registers") == 0)
		return holding();
	if (strcmp(what, "filter") == 0 || strcmp(what, "strict") == 0)
		return locked(what[0] == 's');
	if (strcmp(what, "share") == 0)
		return sharing();
	if (strcmp(what, "leave") == 0)
		return leaving();
	return waiting();
}
