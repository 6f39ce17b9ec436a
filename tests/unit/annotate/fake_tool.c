/* An NVTX tool that prints what it is told: the other side of the protocol, written from its
 * description alone, so that annotate.h and NVIDIA's headers are held against the same thing.
 *
 * FAKE_TOOL=print    a line per call (default)
 * FAKE_TOOL=count    calls are counted, from any thread, and told at the end
 * FAKE_TOOL=refuse   init says no
 * FAKE_TOOL=slow     as count, and init takes a while
 * FAKE_TOOL=fork     init forks and the child calls back into the program */
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

typedef void (*function)(void);

struct callbacks {
	size_t struct_size;
	int (*get_module_function_table)(int module, function ***table, unsigned *size);
};

struct version_info {
	size_t struct_size;
	uint32_t version;
	uint32_t reserved;
	void (*set_injection_version)(uint32_t version);
};

struct attributes {
	uint16_t version, size;
	uint32_t category;
	int32_t color_type;
	uint32_t color;
	int32_t payload_type, reserved;
	union {
		uint64_t u64;
		int64_t i64;
		double f64;
		uint32_t u32;
		int32_t i32;
		float f32;
	} payload;
	int32_t message_type;
	union {
		const char *ascii;
		void *registered;
	} message;
};

static atomic_int inits, pushes, pops;
static int counting;
static int levels;
static uint64_t ranges;
static char names[16][64]; /* domains and registered strings; a handle is the address of a name */
static int name_count;

static void *handle(const char *text)
{
	snprintf(names[name_count], sizeof(names[0]), "%s", text);
	return names[name_count++];
}

static void print_payload(const struct attributes *a)
{
	switch (a->payload_type) {
	case 0: break;
	case 1: printf(" u64=%llu", (unsigned long long)a->payload.u64); break;
	case 2: printf(" i64=%lld", (long long)a->payload.i64); break;
	case 3: printf(" double=%g", a->payload.f64); break;
	case 4: printf(" u32=%u", a->payload.u32); break;
	case 5: printf(" i32=%d", a->payload.i32); break;
	case 6: printf(" float=%g", (double)a->payload.f32); break;
	default: printf(" payload?%d", a->payload_type);
	}
}

static void print_event(const char *call, const void *domain, const struct attributes *a)
{
	printf("%s domain=%s v%u/%u", call, domain ? (const char *)domain : "default", a->version, a->size);
	if (a->message_type == 1)
		printf(" text=%s", a->message.ascii);
	else if (a->message_type == 3)
		printf(" registered=%s", (const char *)a->message.registered);
	else
		printf(" message?%d", a->message_type);
	if (a->color_type)
		printf(" color%d=%08x", a->color_type, a->color);
	if (a->category)
		printf(" category=%u", a->category);
	print_payload(a);
	printf("\n");
}

static void mark(const char *text)
{
	printf("mark %s\n", text);
}
static uint64_t range_start(const char *text)
{
	printf("start %s\n", text);
	return ++ranges;
}
static void range_end(uint64_t id)
{
	printf("end %d\n", (int)id);
}

static int range_push(const char *text)
{
	atomic_fetch_add(&pushes, 1);
	if (!counting)
		printf("push %s\n", text);
	return counting ? 0 : levels++;
}

static int range_pop(void)
{
	atomic_fetch_add(&pops, 1);
	if (!counting)
		printf("pop\n");
	return counting ? 0 : --levels;
}

static void name_thread(uint32_t tid, const char *name)
{
	printf("thread %s %s\n", tid == (uint32_t)syscall(SYS_gettid) ? "self" : "other", name);
}

static void domain_mark(void *d, const struct attributes *a)
{
	print_event("domain mark", d, a);
}
static uint64_t domain_start(void *d, const struct attributes *a)
{
	print_event("domain start", d, a);
	return ++ranges;
}
static void domain_end(void *d, uint64_t id)
{
	printf("domain end domain=%s %d\n", d ? (char *)d : "default", (int)id);
}
static int domain_push(void *d, const struct attributes *a)
{
	print_event("domain push", d, a);
	return levels++;
}
static int domain_pop(void *d)
{
	printf("domain pop domain=%s\n", d ? (char *)d : "default");
	return --levels;
}
static void domain_category(void *d, uint32_t c, const char *name)
{
	printf("category domain=%s %u %s\n", d ? (char *)d : "default", c, name);
}
static void *domain_string(void *d, const char *text)
{
	printf("register domain=%s %s\n", d ? (char *)d : "default", text);
	return handle(text);
}
static void *domain_create(const char *name)
{
	printf("create %s\n", name);
	return handle(name);
}
static void domain_destroy(void *d)
{
	printf("destroy %s\n", (char *)d);
}

static void fill(const struct callbacks *callbacks)
{
	/* clang-format off */
	static const struct { int module; unsigned index; function function; } wanted[] = {
		{ 1, 2, (function)mark }, { 1, 5, (function)range_start }, { 1, 7, (function)range_end },
		{ 1, 9, (function)range_push }, { 1, 11, (function)range_pop }, { 1, 14, (function)name_thread },
		{ 5, 1, (function)domain_mark }, { 5, 2, (function)domain_start }, { 5, 3, (function)domain_end },
		{ 5, 4, (function)domain_push }, { 5, 5, (function)domain_pop }, { 5, 8, (function)domain_category },
		{ 5, 10, (function)domain_string }, { 5, 12, (function)domain_create }, { 5, 14, (function)domain_destroy },
	};
	/* clang-format on */
	function **table;
	unsigned size;
	size_t i;

	for (i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++)
		if (callbacks->get_module_function_table(wanted[i].module, &table, &size) && size > wanted[i].index)
			*table[wanted[i].index] = wanted[i].function;
}

static void print_tables(const struct callbacks *callbacks, const struct version_info *info)
{
	function **table;
	unsigned size;
	int module;

	printf("init callbacks=%zu version=%zu/%u tables", callbacks->struct_size, info->struct_size, info->version);
	for (module = 0; module < 8; module++) {
		int found = callbacks->get_module_function_table(module, &table, &size);

		printf(" %d", found ? (int)size : -1);
	}
	printf("\n");
}

static void fork_and_call_back(void)
{
	void (*back)(void) = (void (*)(void))dlsym(RTLD_DEFAULT, "called_in_forked_child");
	pid_t child = fork();
	int status;

	if (child == 0) {
		back();
		_exit(0);
	}
	waitpid(child, &status, 0);
	printf("child %d\n", status);
}

__attribute__((visibility("default"))) int InitializeInjectionNvtx2(const void *(*get)(uint32_t id));
int InitializeInjectionNvtx2(const void *(*get)(uint32_t id))
{
	const char *mode = getenv("FAKE_TOOL") ? getenv("FAKE_TOOL") : "print";
	const struct callbacks *callbacks = get(1);
	const struct version_info *info = get(3);

	counting = !strcmp(mode, "count") || !strcmp(mode, "slow") || !strcmp(mode, "fork");
	atomic_fetch_add(&inits, 1);
	if (!strcmp(mode, "refuse")) {
		printf("refused\n");
		return 0;
	}
	if (!strcmp(mode, "slow"))
		usleep(100000);
	if (!strcmp(mode, "fork"))
		fork_and_call_back();
	if (!counting)
		print_tables(callbacks, info);
	info->set_injection_version(3);
	fill(callbacks);
	return 1;
}

__attribute__((destructor)) static void report_counts(void)
{
	if (counting)
		printf("inits=%d pushes=%d pops=%d\n", inits, pushes, pops);
}
