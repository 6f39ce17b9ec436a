/* Cost of the NVTX module alone: a stand-in for the core that uses one chunk again and
 * again, as a recorder that keeps up would make it. Prints nanoseconds per pair. */
#include "agent/nvtx/nvtx.h"
#include "unit/agent/fake_agent.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define PAIRS 400000
#define RUNS 15

static double now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC_RAW, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* As the client code calls it: through a pointer it has to load. */
static int (*volatile push_a)(const char *) = nvtx_range_push_a;
static int (*volatile push_ex)(const struct nvtx_attributes *) = nvtx_range_push_ex;
static int (*volatile domain_push_ex)(struct nvtx_domain *, const struct nvtx_attributes *) = nvtx_domain_range_push_ex;
static int (*volatile domain_pop)(struct nvtx_domain *) = nvtx_domain_range_pop;
static int (*volatile pop)(void) = nvtx_range_pop;
static int empty_pop(void)
{
	return 0;
}
static int empty_push(const char *text)
{
	return text != NULL;
}
static int (*volatile no_pop)(void) = empty_pop;
static int (*volatile no_push)(const char *) = empty_push;

/* clang-format off */
static struct nvtx_attributes attributes = {
	.version = 3, .size = sizeof(attributes), .category = 7, .color_type = 1,
	.color = 0xff00ff00, .payload_type = NVTX_PAYLOAD_INT64, .payload = 42,
	.message_type = NVTX_MESSAGE_ASCII, .message.ascii = "twenty characters ab",
};
/* clang-format on */

static struct nvtx_domain *domain;

static void run_empty(void)
{
	no_push("twenty characters ab");
	no_pop();
}

static void run_clock(void)
{
	__asm__ volatile("" : : "r"(arch_cycles()));
	__asm__ volatile("" : : "r"(arch_cycles()));
}

static void run_push_a(void)
{
	push_a("twenty characters ab");
	pop();
}

static void run_push_ex(void)
{
	push_ex(&attributes);
	pop();
}

static void run_domain(void)
{
	domain_push_ex(domain, &attributes);
	domain_pop(domain);
}

static void run_registered(void)
{
	static struct nvtx_attributes registered;

	if (!registered.size) {
		registered = attributes;
		registered.message_type = NVTX_MESSAGE_REGISTERED;
		registered.message.string = nvtx_register_string_a(domain, "twenty characters ab");
	}
	domain_push_ex(domain, &registered);
	domain_pop(domain);
}

static void run_long(void)
{
	push_a("a text of one hundred characters that does not fit in the blocks which are copied "
	       "without measuring it.");
	pop();
}

static void run_start_end(void)
{
	nvtx_range_end(nvtx_range_start_a("twenty characters ab"));
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

#define MEASURE(name, body) \
	do { \
		double times[RUNS]; \
		for (int run = 0; run < RUNS; run++) { \
			double begin = now_ns(); \
			for (int i = 0; i < PAIRS; i++) \
				body(); \
			times[run] = (now_ns() - begin) / PAIRS; \
		} \
		qsort(times, RUNS, sizeof(times[0]), by_value); \
		printf("%-34s min %6.2f  median %6.2f ns\n", name, times[0], times[RUNS / 2]); \
	} while (0)

int main(void)
{
	fake_agent_reset();
	fake_agent.recycle = 1;
	domain = nvtx_domain_create_a("bench");
	MEASURE("empty functions (control)", run_empty);
	MEASURE("2 x rdtsc", run_clock);
	MEASURE("PushA 20 + Pop", run_push_a);
	MEASURE("PushEx colour category payload", run_push_ex);
	MEASURE("DomainPushEx", run_domain);
	MEASURE("DomainPushEx registered string", run_registered);
	MEASURE("PushA 100 + Pop", run_long);
	MEASURE("StartA + End", run_start_end);
	agent_pages.session.gate = 0;
	MEASURE("window closed: PushA + Pop", run_push_a);
	MEASURE("empty functions (control)", run_empty);
	return 0;
}
