/* Maps of code made while running: good ones, and ones made to mislead. */
#include "support.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "symbol/perf_map.h"

static const uint64_t addresses[] = { 0x1000, 0x1010, 0x1050, 0x2000, 0x3000, 0x7fffffff0000, UINT64_MAX };
#define COUNT (sizeof(addresses) / sizeof(addresses[0]))

static int search(void **state, const char *path, uid_t owner, struct symbol_search **ret)
{
	struct error err = { "" };
	int r;

	assert_int_equal(symbol_search_new(ret, addresses, COUNT), 0);
	r = symbol_search_perf_map(*ret, path, owner, &err);
	assert_int_equal(r != 0, err.text[0] != '\0');
	return r;
}

static void expect(struct symbol_search *s, size_t i, const char *name)
{
	struct symbol_match match;

	assert_int_equal(symbol_search_result(s, i, &match), name ? 0 : -ENOENT);
	if (!name)
		return;
	assert_string_equal(match.name, name);
	assert_int_equal(match.source, SYMBOL_PERF_MAP);
	assert_true(match.start <= addresses[i] && addresses[i] - match.start < match.size);
}

static void test_names(void **state)
{
	struct symbol_search *s;
	const char *path = write_text(state, "map",
				      "1000 20 first version\n"
				      "0x1000 0x10 second version\n"
				      "1050 8 LazyCompile:*work /app/main.js:10\n"
				      "2000 100 outer\n"
				      "2000 10 inner\n"
				      "2000 100 outer again\n"
				      "7fffffff0000 1000 \xc3\xa9t\xc3\xa9\n");

	assert_int_equal(search(state, path, geteuid(), &s), 0);
	expect(s, 0, "second version");
	expect(s, 1, "first version");
	expect(s, 2, "LazyCompile:*work /app/main.js:10");
	expect(s, 3, "outer again");
	expect(s, 4, NULL);
	expect(s, 5, "\xc3\xa9t\xc3\xa9");
	expect(s, 6, NULL);
	symbol_search_free(s);
}

static void test_nonsense(void **state)
{
	struct symbol_search *s;
	char *long_line = malloc(300000);
	const char *path = write_text(state, "map",
				      "\n\n  \n1000\n1000 \n1000 10\n1000 10 \n1000 0 empty\nxyz 10 no\n1000 zz no\n-1000 10 no\n"
				      "11111111111111111000 10 too many digits\nffffffffffffffff 10 beyond the end\n"
				      "1000 ffffffffffffffff whole world\n3000 1000 good\n2000 10 no end of line");

	assert_int_equal(search(state, path, geteuid(), &s), 0);
	expect(s, 0, NULL);
	expect(s, 3, NULL); /* still being written */
	expect(s, 4, "good");
	symbol_search_free(s);

	memset(long_line, 'x', 299999);
	memcpy(long_line, "1000 10 ", 8);
	memcpy(long_line + 200000, "\n3000 10 after\n", 15);
	long_line[200015] = '\0';
	assert_int_equal(search(state, write_text(state, "map", long_line), geteuid(), &s), 0);
	expect(s, 4, "after");
	symbol_search_free(s);
	free(long_line);
}

/* Anybody may put a file into /tmp. */
static void test_not_believed(void **state)
{
	struct symbol_search *s;
	const char *path = write_text(state, "map", "1000 10 name\n");

	assert_int_equal(search(state, in_folder(state, "none"), geteuid(), &s), -ENOENT);
	symbol_search_free(s);
	assert_int_equal(shell(state, "ln -s map link; mkfifo pipe; mkdir folder"), 0);
	assert_int_equal(search(state, in_folder(state, "link"), geteuid(), &s), -EPERM);
	symbol_search_free(s);
	assert_int_equal(search(state, in_folder(state, "pipe"), geteuid(), &s), -EPERM);
	symbol_search_free(s);
	assert_int_equal(search(state, in_folder(state, "folder"), geteuid(), &s), -EPERM);
	symbol_search_free(s);
	if (geteuid() != 0)
		return; /* cannot make a file of somebody else */
	assert_int_equal(chown(path, 12345, 12345), 0);
	assert_int_equal(search(state, path, 54321, &s), -EPERM);
	expect(s, 0, NULL);
	symbol_search_free(s);
	assert_int_equal(search(state, path, 12345, &s), 0);
	expect(s, 0, "name");
	symbol_search_free(s);
}

static void test_path(void **state)
{
	char path[64], wanted[64];
	uid_t owner;

	perf_map_path((uint32_t)getpid(), path, sizeof(path), &owner);
	snprintf(wanted, sizeof(wanted), "perf-%d.map", (int)getpid());
	assert_string_equal(strrchr(path, '/') + 1, wanted);
	assert_int_equal(owner, geteuid());
	perf_map_path(4194303, path, sizeof(path), &owner); /* nobody */
	assert_string_equal(path, "/tmp/perf-4194303.map");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_names, folder_set_up, folder_tear_down),
		cmocka_unit_test_setup_teardown(test_nonsense, folder_set_up, folder_tear_down),
		cmocka_unit_test_setup_teardown(test_not_believed, folder_set_up, folder_tear_down),
		cmocka_unit_test_setup_teardown(test_path, folder_set_up, folder_tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
