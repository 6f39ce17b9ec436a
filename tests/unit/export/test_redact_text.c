/* Texts without people and places: what becomes of each kind, and what stays as it is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "export/redact/text.h"

static void expect(struct redactor *r, enum text_role role, const char *text, const char *want)
{
	struct buf b = BUF_INIT;

	assert_int_equal(redactor_text(r, role, text, strlen(text), &b), 0);
	assert_string_equal(buf_cstr(&b), want);
	buf_release(&b);
}

static struct redactor *with_words(void)
{
	struct redactor *r = redactor_new();

	assert_non_null(r);
	assert_int_equal(redactor_add_host(r, "node17.example.org"), 0);
	assert_int_equal(redactor_add_host(r, "127.0.0.1"), 0);
	assert_int_equal(redactor_add_user(r, "joe"), 0);
	assert_int_equal(redactor_add_user(r, "root"), 0);
	assert_int_equal(redactor_add_folder(r, "/zz/jobs/"), 0);
	return r;
}

static void test_words(void **state)
{
	struct redactor *r = with_words();

	(void)state;
	expect(r, TEXT_NAME, "joe", "user-1");
	expect(r, TEXT_NAME, "joe's joey, by (joe)", "user-1's joey, by (user-1)");
	expect(r, TEXT_NAME, "root of all", "root of all");
	expect(r, TEXT_HOST, "node17.example.org", "host-1");
	expect(r, TEXT_NAME, "on node17: xnode17x", "on host-2: xhost-2x");
	expect(r, TEXT_KEPT, "joe", "joe");
	expect(r, TEXT_NAME, "", "");
	redactor_free(r);
}

static void test_addresses(void **state)
{
	struct redactor *r = redactor_new();

	(void)state;
	expect(r, TEXT_NAME, "10.1.2.3:29500 and 10.1.2.4, 10.1.2.3", "ip-1:29500 and ip-2, ip-1");
	expect(r, TEXT_NAME, "fe80::1 2001:db8::1", "ip-3 ip-4");
	expect(r, TEXT_NAME, "127.0.0.1 libx.so.1.2.3.4 1.2.3 v1.2.3.4 300.1.1.1", "127.0.0.1 libx.so.1.2.3.4 1.2.3 v1.2.3.4 300.1.1.1");
	expect(r, TEXT_NAME, "a1::b2::c3 abc::def dead::beef ::x", "a1::b2::c3 abc::def dead::beef ::x");
	expect(r, TEXT_NAME, "GPU-01234567-89ab-cdef-0123-456789abcdef", "GPU-00000000-0000-0000-0000-000000000001");
	expect(r, TEXT_NAME, "01:23:45:67:89:ab 12:34:56", "00:00:00:00:00:01 12:34:56");
	redactor_free(r);
}

static void test_paths(void **state)
{
	struct redactor *r = with_words();

	(void)state;
	expect(r, TEXT_PATH, "/a/b/libx.so", "libx.so");
	expect(r, TEXT_PATH, "/c/libx.so", "2/libx.so");
	expect(r, TEXT_PATH, "/a/b/libx.so", "libx.so");
	expect(r, TEXT_PATH, "[vdso]", "[vdso]");
	expect(r, TEXT_PATH, "/dev/nvidia0", "/dev/nvidia0");
	expect(r, TEXT_PATH, "/dev/shm/buffer", "buffer");
	expect(r, TEXT_PATH, "/zz/jobs", "folder-1");
	expect(r, TEXT_NAME,
	       "open /home/"
	       "joe/x y",
	       "open x y");
	expect(r, TEXT_NAME, "/api/v1/users", "/api/v1/users");
	expect(r, TEXT_NAME, "/zz/jobs/made", "made");
	expect(r, TEXT_NAME, "a/b * c/d", "a/b * c/d");
	expect(r, TEXT_NAME, "pkg/part/module.py(12): f", "module.py(12): f");
	expect(r, TEXT_NAME, "https://host/a/b.py", "https://host/a/b.py");
	expect(r, TEXT_PROSE, "no /q/r/s here", "no s here");
	expect(r, TEXT_LINE, "/q/app --in=d/e.bin --password x https://u:p@h/z", "app --in=e.bin --password <secret> <secret>");
	expect(r, TEXT_WORDS, "[\"/q/app\",\"-e\",\"HF_TOKEN=x\"]", "[\"app\",\"-e\",\"HF_TOKEN=<secret>\"]");
	expect(r, TEXT_INLINED, "f(a/b)\t/a/k.cuh\t12\ng\t/b/k.cuh\t3", "f(a/b)\tk.cuh\t12\ng\t2/k.cuh\t3");
	redactor_free(r);
}

/* Names that others begin with: the longest counts, and a short one only as a word of its own. */
static void test_nested_words(void **state)
{
	struct redactor *r = redactor_new();

	(void)state;
	assert_int_equal(redactor_add_user(r, "abcdefgh"), 0);
	assert_int_equal(redactor_add_user(r, "abc"), 0);
	assert_int_equal(redactor_add_user(r, "abcdef"), 0);
	expect(r, TEXT_NAME, "abcdefgh abcdefg abcde abc-d abc", "user-1 user-3g abcde user-2-d user-2");
	expect(r, TEXT_NAME, "ab abd abcdeg xabcdefx", "ab abd abcdeg xuser-3x");
	assert_int_equal(redactor_add_user(r, "abcde"), 0);
	assert_int_equal(redactor_add_user(r, "\xff\xfe"), 0);
	expect(r, TEXT_NAME, "abcde abcdex \xff\xfe", "user-4 abcdex user-5");
	redactor_free(r);
}

/* A report may name as many machines and folders as it likes. In seconds of the processor's time: it took minutes. */
static void test_many_words(void **state)
{
	enum { WORDS = 60000, SIZE = 4 << 20 };
	struct redactor *r = redactor_new();
	char *text = malloc(SIZE), name[32];
	struct buf b = BUF_INIT;
	clock_t begin = clock();

	(void)state;
	assert_non_null(text);
	for (unsigned i = 0; i < WORDS; i++) {
		snprintf(name, sizeof(name), "/h/%u", i);
		assert_int_equal(redactor_add_folder(r, name), 0);
		assert_int_equal(redactor_add_host(r, name + 1), 0);
	}
	for (size_t i = 0; i < SIZE; i++)
		text[i] = "/h/ "[i % 4];
	assert_int_equal(redactor_text(r, TEXT_NAME, text, SIZE, &b), 0);
	redactor_blob(r, text, SIZE);
	assert_true(clock() - begin < 20 * CLOCKS_PER_SEC);
	buf_release(&b);
	free(text);
	redactor_free(r);
}

static void test_blobs(void **state)
{
	char data[] = "\x01\x02/home/"
		      "joe/src/k.cu\0node17\0joe /zz/jobs/x";
	struct redactor *r = with_words();

	(void)state;
	redactor_blob(r, data, sizeof(data) - 1);
	assert_memory_equal(data, "\x01\x02xxxxxxxxxxxxx/k.cu\0xxxxxx\0joe xxxxxxxx/x", sizeof(data) - 1);
	redactor_blob(r, data, 0);
	redactor_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_words), cmocka_unit_test(test_addresses),    cmocka_unit_test(test_paths),
		cmocka_unit_test(test_blobs), cmocka_unit_test(test_nested_words), cmocka_unit_test(test_many_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
