/* Ranges that are open now: those of this thread in order, those of others not, started ones of all. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "agent/nvtx/open.h"
#include "fake_agent.h"

static struct nvtx_text text(const char *name)
{
	return nvtx_text_ascii(name);
}

static int push(const char *domain, const char *name)
{
	struct nvtx_text t = text(name);

	return nvtx_open_push(domain ? nvtx_domain_create_a(domain) : NULL, &t, 0);
}

static int pop(const char *domain)
{
	return nvtx_open_pop(domain ? nvtx_domain_create_a(domain) : NULL);
}

static uint64_t start(const char *name)
{
	struct nvtx_text t = text(name);

	return nvtx_open_start(NULL, &t, 0x11223344);
}

/* "A D@B <C", as in tests/unit/fmt/test_nvtx_filter.c. */
static const char *now(void)
{
	static char line[8192];
	struct nvtx_open_range ranges[2048];
	size_t count = fake_agent.view->ranges(ranges, 2048), at = 0;

	line[0] = '\0';
	for (size_t i = 0; i < count; i++)
		at += (size_t)snprintf(line + at, sizeof(line) - at, "%s%s%s%s%s", i ? " " : "", ranges[i].is_pushed ? "" : "<",
				       ranges[i].domain, *ranges[i].domain ? "@" : "", ranges[i].name ? ranges[i].name : "-");
	return line;
}

static int reset(void **state)
{
	(void)state;
	fake_agent_reset();
	agent_pages.session.cuda_flags = RING_CUDA_NVTX;
	nvtx_open_provide();
	while (pop(NULL) >= 0 || pop("D") >= 0)
		;
	return 0;
}

static void nested(void **state)
{
	(void)state;
	assert_int_equal(pop(NULL), NVTX_FAILED);
	assert_string_equal(now(), "");
	assert_int_equal(push(NULL, "A"), 0);
	assert_int_equal(push(NULL, "B"), 1);
	assert_string_equal(now(), "A B");
	assert_int_equal(pop(NULL), 1);
	assert_int_equal(push(NULL, NULL), 1);
	assert_string_equal(now(), "A -");
	assert_int_equal(pop(NULL), 1);
	assert_int_equal(pop(NULL), 0);
	assert_int_equal(pop(NULL), NVTX_FAILED);
	assert_string_equal(now(), "");
}

static void domains(void **state)
{
	(void)state;
	assert_int_equal(push(NULL, "A"), 0);
	assert_int_equal(push("D", "X"), 0);
	assert_int_equal(push(NULL, "B"), 1);
	assert_string_equal(now(), "A D@X B");
	/* Not the one on top. */
	assert_int_equal(pop("D"), 0);
	assert_string_equal(now(), "A B");
	assert_int_equal(pop("D"), NVTX_FAILED);
	assert_string_equal(now(), "A B");
}

static void deep(void **state)
{
	char name[16];

	(void)state;
	for (int i = 0; i < 100; i++) {
		snprintf(name, sizeof(name), "%d", i);
		push(NULL, name);
	}
	assert_non_null(strstr(now(), "0 1 2 "));
	for (int i = 0; i < 99; i++)
		assert_true(pop(NULL) >= 0);
	assert_string_equal(now(), "0");
}

static void long_name(void **state)
{
	struct nvtx_open_range range;
	char name[4000];

	(void)state;
	memset(name, 'n', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	push(NULL, name);
	assert_int_equal(fake_agent.view->ranges(&range, 1), 1);
	assert_int_equal(strlen(range.name), 255);
	assert_int_equal(fake_agent.view->ranges(&range, 0), 0);
}

static void *in_thread(void *unused)
{
	assert_string_equal(now(), "<S");
	push(NULL, "mine");
	assert_string_equal(now(), "mine <S");
	return unused;
}

static void threads(void **state)
{
	pthread_t thread;
	uint64_t id;

	(void)state;
	push(NULL, "A");
	id = start("S");
	/* The memory of the first may be that of the second: its ranges are not. */
	for (int i = 0; i < 8; i++) {
		pthread_create(&thread, NULL, in_thread, NULL);
		pthread_join(thread, NULL);
	}
	assert_string_equal(now(), "A <S");
	nvtx_open_end(id);
	assert_string_equal(now(), "A");
}

static void started(void **state)
{
	uint64_t ids[1100], again;
	size_t open = 0;

	(void)state;
	for (size_t i = 0; i < 1100; i++) {
		ids[i] = start("x");
		open += ids[i] != 0;
		for (size_t k = 0; k < i && ids[i]; k++)
			assert_true(ids[k] != ids[i]);
	}
	assert_int_equal(open, 1024);
	for (size_t i = 0; i < 1100; i++)
		nvtx_open_end(ids[i]);
	assert_string_equal(now(), "");
	again = start("again");
	/* One that has ended is not another that has its place. */
	nvtx_open_end(ids[0]);
	nvtx_open_end(0);
	nvtx_open_end(UINT64_MAX);
	assert_string_equal(now(), "<again");
	nvtx_open_end(again);
	nvtx_open_end(again);
	assert_string_equal(now(), "");
}

static void names(void **state)
{
	struct nvtx_text first = text("side"), second = text("other");
	int handle;

	(void)state;
	assert_null(fake_agent.view->name_of(&handle));
	nvtx_open_name(&handle, &first);
	assert_string_equal(fake_agent.view->name_of(&handle), "side");
	nvtx_open_name(&handle, &second);
	assert_string_equal(fake_agent.view->name_of(&handle), "other");
}

/* The program's tables, as its NVTX has them. */
static nvtx_function slots[NVTX_MODULE_COUNT][20];
static nvtx_function *tables[NVTX_MODULE_COUNT][20];

static int get_table(int module, nvtx_function ***table, unsigned *size)
{
	static const unsigned sizes[NVTX_MODULE_COUNT] = { 0, 16, 9, 15, 7, 16, 7 };

	*table = tables[module];
	*size = module > 0 && module < NVTX_MODULE_COUNT ? sizes[module] : 0;
	return *size > 0;
}

static const void *get_export(uint32_t id)
{
	static const struct nvtx_callbacks callbacks = { sizeof(callbacks), get_table };

	return id == NVTX_EXPORT_CALLBACKS ? &callbacks : NULL;
}

/* Through the functions that a program gets: names of every kind. */
static void calls(void **state)
{
	struct nvtx_domain *(*create)(const char *);
	struct nvtx_string *(*intern)(struct nvtx_domain *, const char *);
	struct nvtx_attributes attributes = { .version = 3, .size = sizeof(attributes), .message_type = NVTX_MESSAGE_REGISTERED };
	struct nvtx_open_range ranges[8];
	struct nvtx_domain *domain;
	uint64_t id;

	(void)state;
	for (int m = 0; m < NVTX_MODULE_COUNT; m++)
		for (int i = 1; i < 20; i++)
			tables[m][i] = &slots[m][i];
	agent_pages.session.modules = 0;
	assert_int_equal(InitializeInjectionNvtx2(get_export), 1);
	create = (struct nvtx_domain * (*)(const char *)) slots[NVTX_MODULE_CORE2][12];
	intern = (struct nvtx_string * (*)(struct nvtx_domain *, const char *)) slots[NVTX_MODULE_CORE2][10];
	domain = create("D");
	attributes.message.string = intern(domain, "kept");
	attributes.color_type = NVTX_COLOR_IS_ARGB;
	attributes.color = 0xff112233;
	assert_int_equal(((int (*)(struct nvtx_domain *, const struct nvtx_attributes *))slots[NVTX_MODULE_CORE2][4])(domain, &attributes),
			 0);
	assert_int_equal(((int (*)(const wchar_t *))slots[NVTX_MODULE_CORE][10])(L"w\u00efde"), 0);
	assert_int_equal(((int (*)(const char *))slots[NVTX_MODULE_CORE][9])("plain"), 1);
	attributes.size = 4; /* nothing of it */
	assert_int_equal(((int (*)(const struct nvtx_attributes *))slots[NVTX_MODULE_CORE][8])(&attributes), 2);
	assert_int_equal(((int (*)(const struct nvtx_attributes *))slots[NVTX_MODULE_CORE][8])(NULL), 3);
	id = ((uint64_t(*)(const char *))slots[NVTX_MODULE_CORE][5])("started");
	assert_string_equal(now(), "D@kept w\u00efde plain - - <started");
	assert_int_equal(fake_agent.view->ranges(ranges, 1), 1);
	assert_int_equal(ranges[0].color, 0xff112233);
	((void (*)(uint64_t))slots[NVTX_MODULE_CORE][7])(id);
	for (int i = 3; i >= 0; i--)
		assert_int_equal(((int (*)(void))slots[NVTX_MODULE_CORE][11])(), i);
	assert_int_equal(((int (*)(struct nvtx_domain *))slots[NVTX_MODULE_CORE2][5])(domain), 0);
	assert_string_equal(now(), "");
	((void (*)(void *, const char *))slots[NVTX_MODULE_CUDA][5])(&attributes, "side");
	assert_string_equal(fake_agent.view->name_of(&attributes), "side");
}

static void of_process(void **state)
{
	(void)state;
	agent_pages.session.cuda_flags |= RING_CUDA_NVTX_PROCESS;
	push(NULL, "A");
	assert_string_equal(now(), "A");
	assert_int_equal(pop(NULL), 0);
}

int main(void)
{
	/* clang-format off */
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(nested, reset),	  cmocka_unit_test_setup(domains, reset), cmocka_unit_test_setup(deep, reset),
		cmocka_unit_test_setup(long_name, reset), cmocka_unit_test_setup(threads, reset), cmocka_unit_test_setup(started, reset),
		cmocka_unit_test_setup(names, reset),	  cmocka_unit_test_setup(of_process, reset),
		cmocka_unit_test_setup(calls, reset),
	};
	/* clang-format on */

	return cmocka_run_group_tests(tests, NULL, NULL);
}
