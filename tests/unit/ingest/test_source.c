/* Files in windows: plain, packed, packed in parts, cut off, damaged. What was released is given back. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include <cmocka.h>

#include "ingest/input/trace_file.h"

#define SIZE ((size_t)40 << 20)

/* Eight bytes per line, numbered, so that every place is known. */
static char byte_at(size_t at)
{
	return at % 8 == 7 ? '\n' : (char)('0' + at / 8 / (size_t[]){ 1, 10, 100, 1000, 10000, 100000, 1000000 }[at % 8] % 10);
}

static char *made(size_t size)
{
	char *text = malloc(size);

	for (size_t i = 0; i < size; i++)
		text[i] = byte_at(i);
	return text;
}

static size_t pack(const char *text, size_t size, char *out, size_t room)
{
	z_stream z = {
		.next_in = (Bytef *)(uintptr_t)text, .avail_in = (unsigned)size, .next_out = (Bytef *)out, .avail_out = (unsigned)room
	};

	assert_int_equal(deflateInit2(&z, 1, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
	assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
	deflateEnd(&z);
	return room - z.avail_out;
}

static void write_file(char *path, const char *data, size_t size)
{
	int fd;

	strcpy(path, "/tmp/sonde-source-XXXXXX");
	fd = mkstemp(path);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, data, size), size);
	close(fd);
}

static long own_memory_kb(void)
{
	FILE *status = fopen("/proc/self/status", "r");
	char line[256];
	long kb = 0;

	while (status && fgets(line, sizeof(line), status))
		if (sscanf(line, "RssAnon: %ld", &kb) == 1)
			break;
	if (status)
		fclose(status);
	return kb;
}

/* Reads all there is; the text must be as it was made. */
static size_t read_all(const char *path, const char **ret_trouble, long *ret_most_kb)
{
	size_t at = 0, held = 0;
	struct source s;
	struct error err;
	long before = own_memory_kb(), now;

	*ret_most_kb = 0;
	assert_int_equal(source_open(&s, path, &err), 0);
	do {
		for (; at < s.len; at++)
			if (s.text[at] != byte_at(at))
				fail_msg("byte %zu is wrong", at);
		assert_int_equal(source_line(&s, s.text + at), at / 8 + 1);
		source_release(&s, s.text + at);
		assert_true(at - s.released <= SOURCE_WINDOW + 4096);
		held = s.len - s.released > held ? s.len - s.released : held;
		now = own_memory_kb() - before;
		*ret_most_kb = now > *ret_most_kb ? now : *ret_most_kb;
	} while (source_more(&s));
	*ret_trouble = s.trouble;
	source_close(&s);
	return at;
}

static void plain(void **state)
{
	char path[64], *text = made(SIZE);
	const char *trouble;
	long most;

	write_file(path, text, SIZE - 5);
	assert_int_equal(read_all(path, &trouble, &most), SIZE - 5);
	assert_null(trouble);
	unlink(path);
	free(text);
}

static void packed(void **state)
{
	char path[64], *text = made(SIZE), *data = malloc(SIZE);
	size_t first = pack(text, SIZE / 3, data, SIZE);
	size_t size = first + pack(text + SIZE / 3, SIZE - SIZE / 3, data + first, SIZE - first);
	const char *trouble;
	long most;

	write_file(path, data, size);
	assert_int_equal(read_all(path, &trouble, &most), SIZE);
	assert_null(trouble);
#ifndef __SANITIZE_ADDRESS__
	/* Less than what was unpacked: it is given back on the way. */
	assert_true(most < 30 << 10);
#endif
	unlink(path);
	write_file(path, data, first + (size - first) / 2);
	assert_in_range(read_all(path, &trouble, &most), SIZE / 3, SIZE - 1);
	assert_string_equal(trouble, "the gzip data ends early");
	unlink(path);
	memset(data + size / 2, 0xff, 64);
	write_file(path, data, size);
	{
		struct source s;
		struct error err;

		assert_int_equal(source_open(&s, path, &err), 0);
		while (source_more(&s))
			source_release(&s, s.text + s.len);
		assert_string_equal(s.trouble, "the gzip data is damaged");
		source_close(&s);
	}
	unlink(path);
	free(text);
	free(data);
}

/* Whoever holds everything gets no more; whoever leaves early leaves nothing behind. */
static void limits(void **state)
{
	char path[64], *text = made(SIZE), *data = malloc(SIZE);
	size_t size = pack(text, SIZE, data, SIZE);
	struct source s;
	struct error err;

	write_file(path, data, size);
	assert_int_equal(source_open(&s, path, &err), 0);
	while (source_more(&s))
		;
	assert_in_range(s.len, SOURCE_MOST_HELD, SIZE - 1);
	source_release(&s, s.text + s.len);
	assert_true(source_more(&s));
	source_close(&s);
	assert_int_equal(source_open(&s, path, &err), 0);
	source_close(&s);
	assert_int_equal(source_open(&s, path, &err), 0);
	source_hold_all(&s);
	assert_int_equal(s.len, SIZE);
	assert_memory_equal(s.text, text, SIZE);
	source_close(&s);
	unlink(path);
	assert_true(source_open(&s, path, &err) < 0);
	source_close(&s);
	free(text);
	free(data);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(plain),
		cmocka_unit_test(packed),
		cmocka_unit_test(limits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
