/* Where CUPTI is looked for, in folders made for the purpose; and which libraries are taken. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "vendor/cupti/cupti.h"

static const char *const variables[] = { "SONDE_CUPTI", "CUDA_HOME", "CUDA_PATH", "CUDA_ROOT", "VIRTUAL_ENV", "CONDA_PREFIX", "HOME" };

struct tree {
	char root[64];
	struct cupti_places places;
};

static int make_tree(void **state)
{
	struct tree *tree = calloc(1, sizeof(*tree));

	for (size_t i = 0; i < sizeof(variables) / sizeof(variables[0]); i++)
		unsetenv(variables[i]);
	strcpy(tree->root, "/tmp/cupti_find_XXXXXX");
	*state = tree;
	return mkdtemp(tree->root) ? 0 : -1;
}

static int remove_tree(void **state)
{
	struct tree *tree = *state;
	char command[100];
	int r;

	snprintf(command, sizeof(command), "rm -rf %s", tree->root);
	r = system(command);
	free(tree);
	return r;
}

/* An empty file, with the folders it is in. */
static void put(struct tree *tree, const char *path)
{
	char full[600];
	FILE *file;

	snprintf(full, sizeof(full), "%s%s", tree->root, path);
	for (char *slash = strchr(full + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		mkdir(full, 0700);
		*slash = '/';
	}
	file = fopen(full, "w");
	assert_non_null(file);
	fclose(file);
}

static void assert_found(struct tree *tree, unsigned place, const char *path)
{
	char full[600];

	cupti_find(&tree->places, tree->root);
	snprintf(full, sizeof(full), "%s%s", tree->root, path);
	assert_true(tree->places.count > place);
	assert_string_equal(tree->places.paths[place], full);
}

static void test_nothing(void **state)
{
	struct tree *tree = *state;

	cupti_find(&tree->places, tree->root);
	assert_int_equal(tree->places.count, 0);
	/* Without a root the loader is asked by name at last, newest first. */
	cupti_find(&tree->places, "");
	assert_true(tree->places.count >= 4);
	assert_string_equal(tree->places.paths[tree->places.count - 4], "libcupti.so.13");
	assert_string_equal(tree->places.paths[tree->places.count - 2], "libcupti.so.11.8");
}

static void test_given(void **state)
{
	struct tree *tree = *state;

	put(tree, "/usr/local/cuda/extras/CUPTI/lib64/libcupti.so.13");
	put(tree, "/own/libcupti.so.12");
	setenv("SONDE_CUPTI", "/own", 1);
	assert_found(tree, 0, "/own/libcupti.so.12");
	assert_int_equal(tree->places.count, 1);
	/* A file is taken as it is named, and tried even where there is none. */
	setenv("SONDE_CUPTI", "/nowhere/libcupti.so.13", 1);
	cupti_find(&tree->places, tree->root);
	assert_int_equal(tree->places.count, 1);
	assert_string_equal(tree->places.paths[0], "/nowhere/libcupti.so.13");
}

static void test_order(void **state)
{
	struct tree *tree = *state;

	put(tree, "/usr/lib/x86_64-linux-gnu/libcupti.so.12");
	assert_found(tree, 0, "/usr/lib/x86_64-linux-gnu/libcupti.so.12");
	put(tree, "/usr/local/cuda-12.4/extras/CUPTI/lib64/libcupti.so.12");
	assert_found(tree, 0, "/usr/local/cuda-12.4/extras/CUPTI/lib64/libcupti.so.12");
	put(tree, "/usr/local/cuda/targets/x86_64-linux/lib/libcupti.so.13");
	assert_found(tree, 0, "/usr/local/cuda/targets/x86_64-linux/lib/libcupti.so.13");
	put(tree, "/env/lib/python3.11/site-packages/nvidia/cuda_cupti/lib/libcupti.so.12");
	setenv("VIRTUAL_ENV", "/env", 1);
	assert_found(tree, 0, "/env/lib/python3.11/site-packages/nvidia/cuda_cupti/lib/libcupti.so.12");
	put(tree, "/env/lib/python3.11/site-packages/nvidia/cu13/lib/libcupti.so.13");
	assert_found(tree, 0, "/env/lib/python3.11/site-packages/nvidia/cu13/lib/libcupti.so.13");
	put(tree, "/toolkit/lib64/libcupti.so.11.8");
	setenv("CUDA_HOME", "/toolkit", 1);
	assert_found(tree, 0, "/toolkit/lib64/libcupti.so.11.8");
	/* The newest in one folder. */
	put(tree, "/toolkit/lib64/libcupti.so.12");
	put(tree, "/toolkit/lib64/libcupti.so");
	assert_found(tree, 0, "/toolkit/lib64/libcupti.so.12");
	/* All of them, one after the other: the first may not work. */
	assert_found(tree, 1, "/env/lib/python3.11/site-packages/nvidia/cu13/lib/libcupti.so.13");
	assert_int_equal(tree->places.count, 6);
}

static void test_conda_and_home(void **state)
{
	struct tree *tree = *state;

	put(tree, "/home/user/.local/lib/python3.10/site-packages/nvidia/cuda_cupti/lib/libcupti.so.12");
	setenv("HOME", "/home/user", 1);
	assert_found(tree, 0, "/home/user/.local/lib/python3.10/site-packages/nvidia/cuda_cupti/lib/libcupti.so.12");
	put(tree, "/opt/conda/lib/python3.12/site-packages/nvidia/cu13/lib/libcupti.so.13");
	assert_found(tree, 0, "/opt/conda/lib/python3.12/site-packages/nvidia/cu13/lib/libcupti.so.13");
	put(tree, "/prefix/lib/libcupti.so.12");
	setenv("CONDA_PREFIX", "/prefix", 1);
	assert_found(tree, 0, "/prefix/lib/libcupti.so.12");
}

/* Paths that do not fit are left out, not cut. */
static void test_long_paths(void **state)
{
	struct tree *tree = *state;
	char path[900];

	memset(path, 'a', sizeof(path) - 1);
	path[0] = '/';
	path[sizeof(path) - 1] = '\0';
	setenv("CUDA_HOME", path, 1);
	setenv("VIRTUAL_ENV", path, 1);
	setenv("HOME", path, 1);
	cupti_find(&tree->places, tree->root);
	assert_int_equal(tree->places.count, 0);
}

static void test_many_places(void **state)
{
	struct tree *tree = *state;
	char path[100];

	for (int i = 0; i < 2 * CUPTI_PLACES; i++) {
		snprintf(path, sizeof(path), "/usr/local/cuda-%d/lib64/libcupti.so.12", i);
		put(tree, path);
	}
	cupti_find(&tree->places, tree->root);
	assert_int_equal(tree->places.count, CUPTI_PLACES);
}

static void test_load(void **state)
{
	struct cupti cupti;
	char why[300] = "";

	assert_int_equal(cupti_load(&cupti, TINY_GOOD, why, sizeof(why)), 0);
	assert_int_equal(cupti.version, 18);
	assert_string_equal(cupti.path, TINY_GOOD);
	assert_non_null(cupti.cuptiActivityFlushAll);
	assert_null(cupti.cuptiSubscribe_v2);
	assert_int_equal(cupti.cuptiActivityFlushAll(0), 0);
	cupti_unload(&cupti);
	assert_null(cupti.library);
}

static void assert_refused(const char *path, const char *part)
{
	struct cupti cupti;
	char why[300] = "";

	assert_true(cupti_load(&cupti, path, why, sizeof(why)) < 0);
	assert_null(cupti.library);
	if (!strstr(why, part))
		fail_msg("'%s' is not in '%s'", part, why);
}

static void test_refused(void **state)
{
	assert_refused(TINY_OLD, "older than CUDA 11.8 (its version is 17)");
	assert_refused(TINY_LACKING, "has no cuptiActivityFlushAll");
	assert_refused(TINY_MUTE, "does not report its version (error 999)");
	assert_refused("/nonexistent/libcupti.so", "No such file");
	assert_refused("/proc/self/status", "/proc/self/status");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make_tree, remove_tree)

int main(void)
{
	/* clang-format off */
	const struct CMUnitTest tests[] = {
		TEST(test_nothing), TEST(test_given), TEST(test_order), TEST(test_conda_and_home),
		TEST(test_long_paths), TEST(test_many_places),
		cmocka_unit_test(test_load), cmocka_unit_test(test_refused),
	};
	/* clang-format on */

	return cmocka_run_group_tests(tests, NULL, NULL);
}
