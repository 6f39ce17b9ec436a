/* The kernel's symbols: found, hidden, and files that are none. */
#include "support.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "symbol/kallsyms.h"

static const char some[] = "0000000000000000 A fixed_percpu_data\n"
			   "ffffffff81000000 T _stext\n"
			   "ffffffff81000000 T _text\n"
			   "ffffffff81000000 T startup_64\n"
			   "ffffffff81000040 t helper\n"
			   "ffffffff81000100 t do_read\n"
			   "ffffffff81000100 T sys_read\n"
			   "ffffffff81000100 W weak_read\n"
			   "ffffffff81000180 d not_code\n"
			   "ffffffff81000200 T last_function\n"
			   "ffffffff81000300 T _etext\n"
			   "ffffffff82000000 D jiffies\n"
			   "ffffffffc0001000 t nic_poll\t[nic]\n"
			   "ffffffffc0000800 t nic_open\t[nic]\n"
			   "ffffffffc0005000 t bpf_prog_abc\t[bpf]\n";

static struct kallsyms *load(void **state, const char *text)
{
	struct kallsyms *k = NULL;
	struct error err;

	assert_int_equal(kallsyms_load(&k, write_text(state, "kallsyms", text), &err), 0);
	return k;
}

static void expect(const struct kallsyms *k, uint64_t address, const char *name, uint64_t start, const char *module)
{
	struct kernel_symbol symbol;

	assert_int_equal(kallsyms_find(k, address, &symbol), 0);
	assert_string_equal(symbol.name, name);
	assert_int_equal(symbol.start, start);
	if (module)
		assert_string_equal(symbol.module, module);
	else
		assert_null(symbol.module);
}

static void test_addresses_are_named(void **state)
{
	struct kallsyms *k = load(state, some);
	struct kernel_symbol symbol;

	assert_int_equal(kallsyms_text_start(k), 0xffffffff81000000);
	expect(k, 0xffffffff81000000, "startup_64", 0xffffffff81000000, NULL);
	expect(k, 0xffffffff8100003f, "startup_64", 0xffffffff81000000, NULL);
	expect(k, 0xffffffff81000040, "helper", 0xffffffff81000040, NULL);
	/* A global name before a local and a weak one; data is not between functions. */
	expect(k, 0xffffffff810001ff, "sys_read", 0xffffffff81000100, NULL);
	expect(k, 0xffffffff810002ff, "last_function", 0xffffffff81000200, NULL);
	assert_int_equal(kallsyms_find(k, 0xffffffff81000300, &symbol), -ENOENT);
	assert_int_equal(kallsyms_find(k, 0x1000, &symbol), -ENOENT);
	kallsyms_free(k);
}

static void test_modules_are_named(void **state)
{
	struct kallsyms *k = load(state, some);
	struct kernel_symbol symbol;

	expect(k, 0xffffffffc0000fff, "nic_open", 0xffffffffc0000800, "nic");
	expect(k, 0xffffffffc0001010, "nic_poll", 0xffffffffc0001000, "nic");
	/* The gap to the next module belongs to nobody. */
	assert_int_equal(kallsyms_find(k, 0xffffffffc0004000, &symbol), -ENOENT);
	expect(k, 0xffffffffc0005004, "bpf_prog_abc", 0xffffffffc0005000, "bpf");
	assert_int_equal(kallsyms_find(k, 0xffffffffffffffff, &symbol), -ENOENT);
	assert_int_equal(kallsyms_module_start(k, "nic"), 0xffffffffc0000800);
	assert_int_equal(kallsyms_module_start(k, "none"), 0);
	kallsyms_free(k);
}

static void expect_error(void **state, const char *text, int code, const char *word)
{
	struct kallsyms *k;
	struct error err;

	assert_int_equal(kallsyms_load(&k, write_text(state, "kallsyms", text), &err), -code);
	assert_non_null(strstr(err.text, word));
}

static void test_hidden_and_foreign(void **state)
{
	struct kallsyms *k;
	struct error err;
	char *line = malloc(200001);

	expect_error(state, "0000000000000000 T _stext\n0000000000000000 t helper\n", EACCES, "kptr_restrict");
	expect_error(state, "", ENODATA, "no function");
	expect_error(state, "hello\nworld\n\n\xff\xff\n", ENODATA, "no function");
	expect_error(state, "ffffffff81000000 T", ENODATA, "no function");
	expect_error(state, "ffffffff81000000ff T too_long_an_address\n", ENODATA, "no function");
	expect_error(state, "ffffffff81000000 D data\n", ENODATA, "no function");
	memset(line, 'a', 200000);
	line[200000] = '\0';
	expect_error(state, line, ENODATA, "no function");
	free(line);
	assert_int_equal(kallsyms_load(&k, in_folder(state, "absent"), &err), -ENOENT);
}

/* Lines lie across the ends of what is read at once. */
static void test_many(void **state)
{
	size_t size;
	char *text, name[32];
	FILE *f = open_memstream(&text, &size);
	struct kallsyms *k;

	for (unsigned i = 0; i < 100000; i++)
		fprintf(f, "%016llx t function_%u\n", 0xffffffff81000000ull + 16 * i, i);
	fclose(f);
	k = load(state, text);
	for (unsigned i = 0; i < 100000; i += 7) {
		snprintf(name, sizeof(name), "function_%u", i);
		expect(k, 0xffffffff81000000ull + 16 * i + i % 16, name, 0xffffffff81000000ull + 16 * i, NULL);
	}
	kallsyms_free(k);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_addresses_are_named, folder_set_up, folder_tear_down),
		cmocka_unit_test_setup_teardown(test_modules_are_named, folder_set_up, folder_tear_down),
		cmocka_unit_test_setup_teardown(test_hidden_and_foreign, folder_set_up, folder_tear_down),
		cmocka_unit_test_setup_teardown(test_many, folder_set_up, folder_tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
