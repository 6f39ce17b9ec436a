/* Every kind of annotation once, all values known. Prints the readings of the
 * clocks around the moments that can be held against a report:
 *
 *   NAME RAW_BEFORE RAW_AFTER REAL_BEFORE REAL_AFTER */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>
#include <wchar.h>

#include "sonde/annotate.h"

/* Wide calls of the core module and of domains, which the header leaves out. */
enum { MARK_W = 3, START_W = 6, PUSH_W = 10, NAME_CATEGORY_A = 12, NAME_THREAD_W = 15 };
enum { DOMAIN_NAME_CATEGORY_W = 9, REGISTER_STRING_W = 11, DOMAIN_CREATE_W = 13 };

typedef void (*mark_w)(const wchar_t *);
typedef uint64_t (*start_w)(const wchar_t *);
typedef int (*push_w)(const wchar_t *);
typedef void (*category_a)(uint32_t, const char *);
typedef void (*category_w)(sonde_domain, uint32_t, const wchar_t *);
typedef sonde_string (*register_w)(sonde_domain, const wchar_t *);
typedef sonde_domain (*create_w)(const wchar_t *);

#define WIDE(type, module, index) ((type)sonde_nvtx_get(module, index))

static int64_t clock_ns(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

struct reading {
	int64_t raw, real;
};

static struct reading look(void)
{
	struct reading r = { clock_ns(CLOCK_MONOTONIC_RAW), clock_ns(CLOCK_REALTIME) };

	return r;
}

static void tell(const char *name, struct reading before, struct reading after)
{
	printf("%s %lld %lld %lld %lld\n", name, (long long)before.raw, (long long)after.raw, (long long)before.real,
	       (long long)after.real);
}

static void rest(long ms)
{
	struct timespec pause = { 0, ms * 1000000 };

	nanosleep(&pause, NULL);
}

static void timed_range(void)
{
	struct reading a = look(), b;

	sonde_range_push("timed");
	b = look();
	tell("push", a, b);
	rest(20);
	a = look();
	sonde_range_pop();
	b = look();
	tell("pop", a, b);
	a = look();
	sonde_mark("timed mark");
	b = look();
	tell("mark", a, b);
}

/* outer > middle > inner twice, and a second child of outer. */
static void nested(void)
{
	sonde_range_push("outer");
	sonde_range_push("middle");
	for (int i = 0; i < 2; i++) {
		sonde_range_push("inner");
		rest(1);
		sonde_range_pop();
	}
	sonde_range_pop();
	sonde_range_push("second");
	sonde_range_pop();
	sonde_range_pop();
}

static void payloads(sonde_domain domain)
{
	struct sonde_event e = sonde_event_named("uint64");

	sonde_event_uint64(&e, 18446744073709551615u);
	sonde_event_color(&e, 0xff102030u);
	sonde_event_category(&e, 3);
	sonde_domain_push_event(domain, &e);
	sonde_domain_range_pop(domain);
	e = sonde_event_named("int64");
	sonde_event_int64(&e, -9223372036854775807 - 1);
	sonde_domain_push_event(domain, &e);
	sonde_domain_range_pop(domain);
	e = sonde_event_named("double");
	sonde_event_double(&e, -0.1);
	sonde_domain_push_event(domain, &e);
	sonde_domain_range_pop(domain);
	e = sonde_event_named("uint32");
	sonde_event_uint32(&e, 4294967295u);
	sonde_domain_mark_event(domain, &e);
	e = sonde_event_named("int32");
	sonde_event_int32(&e, -2147483647 - 1);
	sonde_domain_mark_event(domain, &e);
	e = sonde_event_named("float");
	sonde_event_float(&e, 1.5f);
	sonde_domain_range_end(domain, sonde_domain_start_event(domain, &e));
}

static void *end_range(void *id)
{
	sonde_name_thread("the ender");
	sonde_range_end(*(sonde_range_id *)id);
	return NULL;
}

static void across_threads(void)
{
	sonde_range_id first = sonde_range_start("crossing"), second = sonde_range_start("overlapping");
	pthread_t thread;

	pthread_create(&thread, NULL, end_range, &first);
	pthread_join(thread, NULL);
	rest(2);
	sonde_range_end(second);
}

static void wide(void)
{
	sonde_domain domain;
	struct sonde_event e;

	if (!sonde_nvtx_on())
		return;
	domain = WIDE(create_w, SONDE_NVTX_CORE2, DOMAIN_CREATE_W)(L"weite Dom\u00e4ne");
	WIDE(mark_w, SONDE_NVTX_CORE, MARK_W)(L"\u20ac mark");
	WIDE(push_w, SONDE_NVTX_CORE, PUSH_W)(L"breit \U0001f600");
	sonde_range_pop();
	sonde_range_end(WIDE(start_w, SONDE_NVTX_CORE, START_W)(L"\u4e2d\u6587"));
	WIDE(category_w, SONDE_NVTX_CORE2, DOMAIN_NAME_CATEGORY_W)(domain, 9, L"Kategorie \u00df");
	e = sonde_event_of(WIDE(register_w, SONDE_NVTX_CORE2, REGISTER_STRING_W)(domain, L"registriert \u00f6"));
	sonde_event_category(&e, 9);
	sonde_domain_mark_event(domain, &e);
	WIDE(category_a, SONDE_NVTX_CORE, NAME_CATEGORY_A)(4, "plain category");
}

int main(void)
{
	sonde_domain domain = sonde_domain_create("library"), gone = sonde_domain_create("short-lived");
	sonde_string text = sonde_register_string(domain, "registered");
	struct sonde_event e = sonde_event_of(text);

	sonde_name_thread("the main one");
	sonde_name_category(domain, 3, "third category");
	timed_range();
	nested();
	payloads(domain);
	across_threads();
	for (int i = 0; i < 5; i++) {
		sonde_domain_push_event(domain, &e);
		sonde_domain_range_pop(domain);
	}
	sonde_domain_mark(gone, "in a short-lived domain");
	sonde_domain_destroy(gone);
	wide();
	return 0;
}
