/* Naming calls: one definition each, whether a window is open or not; one handle per content. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <cmocka.h>

#include "nvtx_decode.h"

static int reset(void **state)
{
	(void)state;
	fake_agent_reset();
	return 0;
}

static struct seen expect(const void **cursor, unsigned kind)
{
	struct seen seen = { .type = 0 };

	assert_true(nvtx_next(cursor, &seen));
	assert_int_equal(seen.type, RECORD_DEFINE);
	assert_int_equal(seen.flags, kind);
	return seen;
}

static void expect_end(const void **cursor)
{
	struct seen seen;

	assert_false(nvtx_next(cursor, &seen));
}

static void one_handle_per_domain_name(void **state)
{
	char name[] = "domain one";
	struct nvtx_domain *a, *b;
	const void *cursor = NULL;
	struct seen seen;

	(void)state;
	a = nvtx_domain_create_a("domain one");
	assert_non_null(a);
	assert_ptr_equal(nvtx_domain_create_a(name), a);
	assert_ptr_equal(nvtx_domain_create_w(L"domain one"), a);
	b = nvtx_domain_create_a("domain two");
	assert_ptr_not_equal(a, b);
	seen = expect(&cursor, DEFINE_DOMAIN);
	assert_string_equal(seen.text, "domain one");
	assert_int_equal(seen.id, nvtx_domain_id(a));
	seen = expect(&cursor, DEFINE_DOMAIN);
	assert_int_equal(seen.id, nvtx_domain_id(b));
	expect_end(&cursor);
	assert_null(nvtx_domain_create_a(NULL));
	assert_null(nvtx_domain_create_w(NULL));
}

static void destroyed_domain_can_come_back(void **state)
{
	struct nvtx_domain *domain = nvtx_domain_create_a("short-lived");
	const void *cursor = NULL;

	(void)state;
	nvtx_domain_destroy(domain);
	nvtx_domain_destroy(domain);
	nvtx_domain_destroy(NULL);
	assert_ptr_equal(nvtx_domain_create_a("short-lived"), domain);
	expect(&cursor, DEFINE_DOMAIN);
	assert_int_equal(expect(&cursor, DEFINE_DOMAIN_END).id, nvtx_domain_id(domain));
	assert_string_equal(expect(&cursor, DEFINE_DOMAIN).text, "short-lived");
	expect_end(&cursor);
}

static void one_handle_per_string_and_domain(void **state)
{
	struct nvtx_domain *domain = nvtx_domain_create_a("of strings");
	struct nvtx_string *here, *there;
	char buffer[] = "text";
	const void *cursor = NULL;
	struct seen seen;

	(void)state;
	here = nvtx_register_string_a(NULL, buffer);
	there = nvtx_register_string_a(domain, "text");
	assert_non_null(here);
	assert_ptr_not_equal(here, there);
	buffer[0] = 'n';
	assert_ptr_not_equal(nvtx_register_string_a(NULL, buffer), here);
	assert_ptr_equal(nvtx_register_string_w(NULL, L"text"), here);
	assert_null(nvtx_register_string_a(domain, NULL));
	expect(&cursor, DEFINE_DOMAIN);
	seen = expect(&cursor, DEFINE_STRING);
	assert_string_equal(seen.text, "text");
	assert_int_equal(seen.domain, 0);
	assert_int_equal(seen.id, here->id);
	assert_ptr_equal((const void *)(uintptr_t)seen.extra, here);
	seen = expect(&cursor, DEFINE_STRING);
	assert_int_equal(seen.domain, nvtx_domain_id(domain));
	assert_string_equal(expect(&cursor, DEFINE_STRING).text, "next");
	expect_end(&cursor);
}

static void registered_message_is_an_id(void **state)
{
	struct nvtx_string *string = nvtx_register_string_a(NULL, "registered");
	struct nvtx_attributes a = { .version = 3, .size = sizeof(a), .message_type = NVTX_MESSAGE_REGISTERED, .message.string = string };
	const void *cursor = NULL;
	struct seen seen = { .type = 0 };

	(void)state;
	assert_int_equal(nvtx_range_push_ex(&a), 0);
	nvtx_mark_ex(&a);
	expect(&cursor, DEFINE_STRING);
	assert_true(nvtx_next(&cursor, &seen));
	assert_int_equal(seen.type, RECORD_NVTX_PUSH_EX);
	assert_int_equal(seen.flags, NVTX_FLAG_REGISTERED);
	assert_int_equal(seen.string, string->id);
	assert_true(nvtx_next(&cursor, &seen));
	assert_int_equal(seen.string, string->id);
}

static void names_are_kept_outside_the_window(void **state)
{
	struct nvtx_domain *domain;
	const void *cursor = NULL;
	struct seen seen;

	(void)state;
	agent_pages.session.gate = 0;
	domain = nvtx_domain_create_a("before the window");
	nvtx_register_string_a(domain, "registered before");
	nvtx_name_category_a(4, "four");
	nvtx_domain_name_category_w(domain, 5, L"five");
	nvtx_name_category_w(6, L"six");
	nvtx_domain_name_category_a(domain, 7, "seven");
	nvtx_name_thread_a(1234, "worker");
	nvtx_name_thread_w(1235, L"other");
	nvtx_name_category_a(8, NULL);
	nvtx_name_thread_w(1, NULL);
	expect(&cursor, DEFINE_DOMAIN);
	expect(&cursor, DEFINE_STRING);
	seen = expect(&cursor, DEFINE_CATEGORY);
	assert_int_equal(seen.id, 4);
	assert_int_equal(seen.domain, 0);
	assert_string_equal(seen.text, "four");
	seen = expect(&cursor, DEFINE_CATEGORY);
	assert_int_equal(seen.id, 5);
	assert_int_equal(seen.domain, nvtx_domain_id(domain));
	assert_string_equal(seen.text, "five");
	assert_string_equal(expect(&cursor, DEFINE_CATEGORY).text, "six");
	assert_string_equal(expect(&cursor, DEFINE_CATEGORY).text, "seven");
	seen = expect(&cursor, DEFINE_THREAD_NAME);
	assert_int_equal(seen.id, 1234);
	assert_string_equal(seen.text, "worker");
	assert_string_equal(expect(&cursor, DEFINE_THREAD_NAME).text, "other");
	expect_end(&cursor);
}

static void resources_have_handle_and_name(void **state)
{
	struct nvtx_string *string = nvtx_register_string_a(NULL, "by handle");
	struct nvtx_resource_attributes a = { .version = 3,
					      .size = sizeof(a),
					      .identifier_type = 0x10001,
					      .identifier = 0xabcdef,
					      .message_type = NVTX_MESSAGE_ASCII,
					      .message.ascii = "a mutex" };
	struct nvtx_resource *one, *two;
	const void *cursor = NULL;
	uint64_t identifier;
	struct seen seen;

	(void)state;
	one = nvtx_resource_create(NULL, &a);
	a.message_type = NVTX_MESSAGE_REGISTERED;
	a.message.string = string;
	two = nvtx_resource_create(NULL, &a);
	assert_ptr_not_equal(one, two);
	nvtx_resource_destroy(one);
	nvtx_resource_destroy(NULL);
	assert_null(nvtx_resource_create(NULL, NULL));
	expect(&cursor, DEFINE_STRING);
	seen = expect(&cursor, DEFINE_RESOURCE);
	memcpy(&identifier, seen.text, 8);
	assert_int_equal(identifier, 0xabcdef);
	assert_int_equal(seen.extra, 0x10001ull << 32);
	assert_string_equal(seen.text + 8, "a mutex");
	assert_int_equal(seen.id, one->id);
	assert_string_equal(expect(&cursor, DEFINE_RESOURCE).text + 8, "by handle");
	assert_int_equal(expect(&cursor, DEFINE_RESOURCE_END).id, one->id);
	expect_end(&cursor);
}

static void expect_object(const void **cursor, uint32_t type, uint64_t handle, const char *name)
{
	struct seen seen = expect(cursor, DEFINE_RESOURCE);
	uint64_t identifier;

	memcpy(&identifier, seen.text, 8);
	assert_int_equal(seen.extra, (uint64_t)type << 32);
	assert_int_equal(identifier, handle);
	assert_string_equal(seen.text + 8, name);
	assert_int_equal(seen.id, 0);
}

static void cuda_and_opencl_objects(void **state)
{
	void *handle = (void *)0x77777000;
	const void *cursor = NULL;

	(void)state;
	nvtx_name_cu_device_a(3, "device");
	nvtx_name_cu_context_w(handle, L"context");
	nvtx_name_cu_stream_a(handle, "stream");
	nvtx_name_cu_event_a(handle, "event");
	nvtx_name_cuda_device_w(2, L"device rt");
	nvtx_name_cuda_stream_a(NULL, "default stream");
	nvtx_name_cuda_event_a(handle, "event rt");
	nvtx_name_cl_device_a(handle, "cl device");
	nvtx_name_cl_context_a(handle, "cl context");
	nvtx_name_cl_queue_w(handle, L"cl queue");
	nvtx_name_cl_memory_a(handle, "cl memory");
	nvtx_name_cl_sampler_a(handle, "cl sampler");
	nvtx_name_cl_program_a(handle, "cl program");
	nvtx_name_cl_event_a(handle, "cl event");
	nvtx_name_cuda_event_a(handle, NULL);
	expect_object(&cursor, 0x40001, 3, "device");
	expect_object(&cursor, 0x40002, 0x77777000, "context");
	expect_object(&cursor, 0x40003, 0x77777000, "stream");
	expect_object(&cursor, 0x40004, 0x77777000, "event");
	expect_object(&cursor, 0x50000, 2, "device rt");
	expect_object(&cursor, 0x50001, 0, "default stream");
	expect_object(&cursor, 0x50002, 0x77777000, "event rt");
	expect_object(&cursor, 0x60001, 0x77777000, "cl device");
	expect_object(&cursor, 0x60002, 0x77777000, "cl context");
	expect_object(&cursor, 0x60003, 0x77777000, "cl queue");
	expect_object(&cursor, 0x60004, 0x77777000, "cl memory");
	expect_object(&cursor, 0x60005, 0x77777000, "cl sampler");
	expect_object(&cursor, 0x60006, 0x77777000, "cl program");
	expect_object(&cursor, 0x60007, 0x77777000, "cl event");
	expect_end(&cursor);
}

static void synchronisation_objects(void **state)
{
	static const char *const names[] = { "my lock: acquire", "my lock: acquire failed", "my lock: acquire", "my lock: acquired",
					     "my lock: releasing" };
	struct nvtx_sync_attributes a = { .version = 3, .size = sizeof(a), .message_type = NVTX_MESSAGE_ASCII, .message.ascii = "my lock" };
	struct nvtx_domain *domain = nvtx_domain_create_a("of locks");
	struct nvtx_resource *lock = nvtx_sync_create(domain, &a);
	const char *texts[8] = { NULL };
	char kept[4][64];
	uint64_t ids[4];
	const void *cursor = NULL;
	struct seen seen;

	(void)state;
	assert_non_null(lock);
	nvtx_sync_acquire_start(lock);
	nvtx_sync_acquire_failed(lock);
	nvtx_sync_acquire_start(lock);
	nvtx_sync_acquire_success(lock);
	nvtx_sync_releasing(lock);
	nvtx_sync_destroy(lock);
	nvtx_sync_acquire_start(NULL);
	assert_null(nvtx_sync_create(domain, NULL));
	expect(&cursor, DEFINE_DOMAIN);
	seen = expect(&cursor, DEFINE_RESOURCE);
	assert_int_equal(seen.extra, (uint64_t)NVTX_WIRE_RESOURCE_SYNC << 32);
	assert_string_equal(seen.text + 8, "my lock");
	for (int i = 0; i < 4; i++) {
		seen = expect(&cursor, DEFINE_STRING);
		memcpy(kept[i], seen.text, sizeof(kept[i]) - 1);
		kept[i][sizeof(kept[i]) - 1] = 0;
		ids[i] = seen.id;
	}
	for (int i = 0; i < 5; i++) {
		assert_true(nvtx_next(&cursor, &seen));
		assert_int_equal(seen.type, RECORD_NVTX_MARK);
		assert_int_equal(seen.domain, nvtx_domain_id(domain));
		assert_int_equal(seen.payload, lock->id);
		for (int s = 0; s < 4; s++)
			if (ids[s] == seen.string)
				texts[i] = kept[s];
		assert_non_null(texts[i]);
		assert_string_equal(texts[i], names[i]);
	}
	assert_int_equal(expect(&cursor, DEFINE_RESOURCE_END).id, lock->id);
}

static void lost_definition_is_tried_again(void **state)
{
	struct nvtx_string *string;
	const void *cursor = NULL;

	(void)state;
	nvtx_range_push_a("slot");
	agent_tls.busy = 1;
	string = nvtx_register_string_a(NULL, "refused at first");
	assert_non_null(string);
	agent_tls.busy = 0;
	assert_ptr_equal(nvtx_register_string_a(NULL, "refused at first"), string);
	assert_ptr_equal(nvtx_register_string_a(NULL, "refused at first"), string);
	fake_agent_next(&cursor);
	assert_string_equal(expect(&cursor, DEFINE_STRING).text, "refused at first");
	expect_end(&cursor);
}

static void nothing_when_not_attached(void **state)
{
	const void *cursor = NULL;

	(void)state;
	agent_pages.attached = AGENT_OFF;
	assert_null(nvtx_domain_create_a("off"));
	assert_null(nvtx_register_string_a(NULL, "off"));
	nvtx_name_thread_a(1, "off");
	nvtx_name_category_a(1, "off");
	agent_pages.attached = 0; /* as in a forked child */
	assert_null(nvtx_domain_create_a("child"));
	assert_true(fake_agent.revived > 0);
	expect_end(&cursor);
}

static void a_million_strings(void **state)
{
	char text[32];
	struct nvtx_string *first;

	(void)state;
	fake_agent.recycle = 1;
	first = nvtx_register_string_a(NULL, "string number 0");
	for (int i = 0; i < 1000000; i++) {
		snprintf(text, sizeof(text), "string number %d", i);
		assert_non_null(nvtx_register_string_a(NULL, text));
	}
	assert_ptr_equal(nvtx_register_string_a(NULL, "string number 0"), first);
}

static void errno_is_kept(void **state)
{
	(void)state;
	errno = EDOM;
	nvtx_register_string_a(nvtx_domain_create_a("errno"), "errno");
	nvtx_name_thread_a(1, "x");
	assert_int_equal(errno, EDOM);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(one_handle_per_domain_name, reset),
		cmocka_unit_test_setup(destroyed_domain_can_come_back, reset),
		cmocka_unit_test_setup(one_handle_per_string_and_domain, reset),
		cmocka_unit_test_setup(registered_message_is_an_id, reset),
		cmocka_unit_test_setup(names_are_kept_outside_the_window, reset),
		cmocka_unit_test_setup(resources_have_handle_and_name, reset),
		cmocka_unit_test_setup(cuda_and_opencl_objects, reset),
		cmocka_unit_test_setup(synchronisation_objects, reset),
		cmocka_unit_test_setup(lost_definition_is_tried_again, reset),
		cmocka_unit_test_setup(nothing_when_not_attached, reset),
		cmocka_unit_test_setup(a_million_strings, reset),
		cmocka_unit_test_setup(errno_is_kept, reset),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
