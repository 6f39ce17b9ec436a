/* A program that runs already when Sonde comes: it does what its input says, one line after the other, and tells the result of each
 * in one line. `enter` and `leave` load and call the agent as an injected thread would. */
#include <dirent.h>
#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/system/arch.h"
#include "fmt/attach.h"
#include "sonde/annotate.h"

#define THREADS 8

static struct attach_request request = { .magic = ATTACH_MAGIC, .version = ATTACH_VERSION };
static int zero;
static void *plugin;

#ifdef MUCH_TLS
static __thread volatile char much[1 << 20];
#endif

struct visit {
	const char *function;
	char answer[600];
};

/* On a thread that ends afterwards. */
static void *visit(void *argument)
{
	struct visit *v = argument;
	void *library = dlopen(request.agent_path, RTLD_NOW);
	int (*function)(const struct attach_request *) = NULL;

	errno = 0;
	if (library)
		function = (int (*)(const struct attach_request *))dlsym(library, v->function);
	if (function)
		snprintf(v->answer, sizeof(v->answer), "%d", function(&request));
	else
		snprintf(v->answer, sizeof(v->answer), "%s", dlerror());
	return NULL;
}

static void call_agent(const char *function)
{
	struct visit v = { .function = function };
	pthread_t thread;

	pthread_create(&thread, NULL, visit, &v);
	pthread_join(thread, NULL);
	printf("%s\n", v.answer);
}

static void do_reads(long count)
{
	char byte;
	long sum = 0;

	for (long i = 0; i < count; i++)
		sum += read(zero, &byte, 1);
	printf("%ld\n", sum);
}

static void do_ranges(long count)
{
	for (long i = 0; i < count; i++) {
		sonde_range_push("late");
		sonde_range_pop();
	}
	printf("%ld\n", count);
}

/* Names that were given once. */
static void do_named(long count)
{
	static sonde_domain domain;
	static sonde_string name;
	struct sonde_event event;

	if (!domain) {
		domain = sonde_domain_create("given");
		name = sonde_register_string(domain, "registered");
		sonde_name_category(domain, 7, "seventh");
	}
	event = sonde_event_of(name);
	sonde_event_category(&event, 7);
	for (long i = 0; i < count; i++) {
		sonde_domain_push_event(domain, &event);
		sonde_domain_range_pop(domain);
	}
	printf("%ld\n", count);
}

static unsigned count_lines(const char *path)
{
	FILE *f = fopen(path, "r");
	unsigned lines = 0;
	int c;

	while ((c = getc(f)) != EOF)
		lines += c == '\n';
	fclose(f);
	return lines;
}

static unsigned count_entries(const char *path)
{
	DIR *folder = opendir(path);
	unsigned entries = 0;

	while (readdir(folder))
		entries++;
	closedir(folder);
	return entries;
}

/* All import slots: where, of what, what they hold, and whose that is. */
static void show_table(FILE *out, uintptr_t base, const ElfW(Rela) *first, size_t bytes, const ElfW(Sym) *symbols, const char *strings)
{
	for (size_t i = 0; i < bytes / sizeof(*first); i++) {
		unsigned type = (unsigned)ELF64_R_TYPE(first[i].r_info);
		void **slot = (void **)(base + first[i].r_offset);
		Dl_info info = { 0 };

		if (type != ARCH_RELOC_JUMP_SLOT && type != ARCH_RELOC_GLOB_DAT)
			continue;
		dladdr(*slot, &info);
		fprintf(out, "%p %s %p %s\n", (void *)slot, strings + symbols[ELF64_R_SYM(first[i].r_info)].st_name, *slot,
			info.dli_fname ? basename(info.dli_fname) : "-");
	}
}

static int show_object(struct dl_phdr_info *info, size_t size, void *out)
{
	uintptr_t at[DT_NUM] = { 0 };

	(void)size;
	/* The C library and the linker bind their own as they like. */
	if (strstr(info->dlpi_name, "libsonde") || strstr(info->dlpi_name, "vdso") || strstr(info->dlpi_name, "/libc.so") ||
	    strstr(info->dlpi_name, "/ld-"))
		return 0;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Dyn) *d = (const ElfW(Dyn) *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);

		for (; info->dlpi_phdr[i].p_type == PT_DYNAMIC && d->d_tag != DT_NULL; d++)
			if (d->d_tag < DT_NUM)
				at[d->d_tag] = d->d_un.d_val;
	}
	show_table(out, info->dlpi_addr, (const ElfW(Rela) *)at[DT_JMPREL], at[DT_PLTRELSZ], (const ElfW(Sym) *)at[DT_SYMTAB],
		   (const char *)at[DT_STRTAB]);
	show_table(out, info->dlpi_addr, (const ElfW(Rela) *)at[DT_RELA], at[DT_RELASZ], (const ElfW(Sym) *)at[DT_SYMTAB],
		   (const char *)at[DT_STRTAB]);
	return 0;
}

static void show_slots(const char *path)
{
	FILE *out = fopen(path, "w");

	dl_iterate_phdr(show_object, out);
	fclose(out);
	printf("shown\n");
}

/* Threads that use what is wrapped, with results that are known. */
static struct {
	pthread_t threads[THREADS];
	_Atomic int stop;
	pthread_mutex_t lock;
	uint64_t shared;      /* under the lock */
	_Atomic uint64_t own; /* the same, counted otherwise */
	_Atomic int wrong;
} hammer = { .lock = PTHREAD_MUTEX_INITIALIZER };

static void *hammer_away(void *unused)
{
	int pipes[2];
	char out = 0, in;

	(void)unused;
	if (pipe(pipes) != 0)
		abort();
	while (!hammer.stop) {
		pthread_mutex_lock(&hammer.lock);
		hammer.shared++;
		pthread_mutex_unlock(&hammer.lock);
		hammer.own++;
		out++;
		errno = EDOM;
		if (write(pipes[1], &out, 1) != 1 || read(pipes[0], &in, 1) != 1 || in != out || errno != EDOM)
			hammer.wrong = 1;
		if (read(-1, &in, 1) != -1 || errno != EBADF)
			hammer.wrong = 1;
		sonde_range_push("hammer");
		sonde_range_pop();
	}
	close(pipes[0]);
	close(pipes[1]);
	return NULL;
}

static void start_hammer(void)
{
	hammer.stop = 0;
	hammer.shared = 0;
	hammer.own = 0;
	for (int i = 0; i < THREADS; i++)
		pthread_create(&hammer.threads[i], NULL, hammer_away, NULL);
	printf("%d\n", THREADS);
}

/* Until they have made some turns. */
static void await_hammer(void)
{
	uint64_t until = hammer.own + 200;

	while (hammer.own < until)
		usleep(100);
	printf("%d\n", THREADS);
}

static void stop_hammer(void)
{
	hammer.stop = 1;
	for (int i = 0; i < THREADS; i++)
		pthread_join(hammer.threads[i], NULL);
	printf("%s\n", hammer.wrong || hammer.shared != hammer.own || !hammer.own ? "wrong" : "right");
}

/* A thread that waits in a call, and makes some more when it is over. */
static struct {
	pthread_t thread;
	int pipes[2];
	_Atomic long more;
} waiter;

static void *wait_for_byte(void *unused)
{
	char byte;

	(void)unused;
	pthread_setname_np(pthread_self(), "waiter");
	if (read(waiter.pipes[0], &byte, 1) != 1)
		abort();
	for (long i = 0; i < waiter.more; i++)
		if (read(zero, &byte, 1) != 1)
			abort();
	return NULL;
}

static void start_waiter(void)
{
	if (pipe(waiter.pipes) != 0)
		abort();
	pthread_create(&waiter.thread, NULL, wait_for_byte, NULL);
	printf("waits\n");
}

static void end_waiter(long more)
{
	waiter.more = more;
	if (write(waiter.pipes[1], "", 1) != 1)
		abort();
	pthread_join(waiter.thread, NULL);
	close(waiter.pipes[0]);
	close(waiter.pipes[1]);
	printf("%ld\n", more);
}

static void load_plugin(const char *path)
{
	plugin = dlopen(path, RTLD_NOW);
	printf("%s\n", plugin ? "loaded" : dlerror());
}

static void use_plugin(const char *function, long count)
{
	void (*call)(int) = (void (*)(int))dlsym(plugin, function);

	call((int)count);
	printf("%ld\n", count);
}

static void in_child(long count)
{
	int status = -1;
	pid_t child = fork();
	char byte;

	if (child == 0) {
		for (long i = 0; i < count; i++)
			if (read(zero, &byte, 1) != 1)
				_exit(1);
		exit(0);
	}
	waitpid(child, &status, 0);
	printf("%d\n", status);
}

/* What another program finds in its environment. */
static void show_variable(const char *name)
{
	int status = -1;
	pid_t child = fork();

	if (child == 0) {
		dup2(zero, 1); /* the answer is its status */
		execlp("printenv", "printenv", name, (char *)NULL);
		_exit(9);
	}
	waitpid(child, &status, 0);
	printf("%d\n", WIFEXITED(status) ? WEXITSTATUS(status) : -1);
}

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* So many milliseconds of this thread's CPU time. */
static long cpu_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static void burn(long ms)
{
	long until = cpu_ms() + ms;

	while (cpu_ms() < until)
		;
	printf("%ld\n", ms);
}

#define ROUNDS 200000

/* Nanoseconds of a lock and its unlock, of a read, of a push and its pop: the best of five. */
static void measure(void)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	uint64_t best[3] = { UINT64_MAX, UINT64_MAX, UINT64_MAX }, start, took;
	char byte;

	for (int round = 0; round < 15; round++) {
		start = now();
		for (int i = 0; i < ROUNDS; i++) {
			if (round % 3 == 0) {
				pthread_mutex_lock(&lock);
				pthread_mutex_unlock(&lock);
			} else if (round % 3 == 1) {
				if (read(zero, &byte, 1) != 1)
					abort();
			} else {
				sonde_range_push("cost");
				sonde_range_pop();
			}
		}
		took = now() - start;
		best[round % 3] = took < best[round % 3] ? took : best[round % 3];
	}
	printf("%.2f %.2f %.2f\n", (double)best[0] / ROUNDS, (double)best[1] / ROUNDS, (double)best[2] / ROUNDS);
}

static void set_text(char *to, size_t size, const char *text)
{
	snprintf(to, size, "%s", text);
	printf("set\n");
}

static void obey(const char *word, const char *argument)
{
	if (!strcmp(word, "agent"))
		set_text(request.agent_path, sizeof(request.agent_path), argument);
	else if (!strcmp(word, "cuda"))
		set_text(request.cuda_path, sizeof(request.cuda_path), argument);
	else if (!strcmp(word, "session"))
		set_text(request.session, sizeof(request.session), argument);
	else if (!strcmp(word, "modules"))
		printf("%u\n", request.modules = (uint32_t)atoi(argument));
	else if (!strcmp(word, "version"))
		printf("%u\n", request.version = (uint32_t)atoi(argument));
	else if (!strcmp(word, "enter"))
		call_agent(ATTACH_ENTER);
	else if (!strcmp(word, "leave"))
		call_agent(ATTACH_LEAVE);
	else if (!strcmp(word, "read"))
		do_reads(atol(argument));
	else if (!strcmp(word, "ranges"))
		do_ranges(atol(argument));
	else if (!strcmp(word, "named"))
		do_named(atol(argument));
	else if (!strcmp(word, "fork"))
		in_child(atol(argument));
	else if (!strcmp(word, "maps"))
		printf("%u\n", count_lines("/proc/self/maps"));
	else if (!strcmp(word, "descriptors"))
		printf("%u\n", count_entries("/proc/self/fd"));
	else if (!strcmp(word, "threads"))
		printf("%u\n", count_entries("/proc/self/task") - 2);
	else if (!strcmp(word, "slots"))
		show_slots(argument);
	else if (!strcmp(word, "hammer"))
		start_hammer();
	else if (!strcmp(word, "progress"))
		await_hammer();
	else if (!strcmp(word, "calm"))
		stop_hammer();
	else if (!strcmp(word, "wait"))
		start_waiter();
	else if (!strcmp(word, "wake"))
		end_waiter(atol(argument));
	else if (!strcmp(word, "load"))
		load_plugin(argument);
	else if (!strcmp(word, "unload"))
		printf("%d\n", dlclose(plugin));
	else if (!strcmp(word, "plugin_reads") || !strcmp(word, "plugin_ranges"))
		use_plugin(word, atol(argument));
	else if (!strcmp(word, "getenv"))
		printf("%s\n", getenv(argument) ? getenv(argument) : "-");
	else if (!strcmp(word, "printenv"))
		show_variable(argument);
	else if (!strcmp(word, "setenv"))
		printf("%d\n", setenv(argument, "1", 1));
	else if (!strcmp(word, "burn"))
		burn(atol(argument));
	else if (!strcmp(word, "measure"))
		measure();
	else
		printf("?\n");
}

int main(void)
{
	char line[8192], *argument;

	zero = open("/dev/zero", O_RDWR | O_CLOEXEC);
#ifdef MUCH_TLS
	much[sizeof(much) - 1] = 1;
#endif
	while (fgets(line, sizeof(line), stdin)) {
		line[strcspn(line, "\n")] = '\0';
		argument = strchr(line, ' ');
		if (argument)
			*argument++ = '\0';
		obey(line, argument ? argument : "");
		fflush(stdout);
	}
	return 0;
}
