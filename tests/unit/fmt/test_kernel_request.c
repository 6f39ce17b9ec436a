/* Requests of `sonde kernel`: what is written is what is read, and what nobody wrote is refused. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fmt/kernel_request.h"

#define ROOM 256

static char *write_all(const struct kernel_request *r, int result)
{
	char *text = NULL;
	size_t size;
	FILE *file = open_memstream(&text, &size);

	assert_non_null(file);
	assert_int_equal(kernel_request_write(file, r), result);
	fclose(file);
	return text;
}

static int read_text(struct kernel_request *ret, char *text, const char **room, size_t lines)
{
	char why[200] = "";
	int r = kernel_request_read(ret, text, room, lines, why, sizeof(why));

	assert_true(r == 0 ? !*why : r == -1 && strncmp(why, "a request of another version of Sonde: '", 40) == 0);
	return r;
}

/* A value of its own for each word: no other field of the same kind has it. */
struct values {
	char texts[ROOM][32];
	const char *lists[ROOM][3];
	uint8_t bytes[ROOM][3];
};

static void set(void *field, const struct kernel_request_word *w, size_t number, struct values *v)
{
	const char **list = v->lists[number];

	snprintf(v->texts[number], sizeof(v->texts[number]), "text %zu", number);
	switch (w->kind) {
	case REQUEST_TEXT: *(const char **)field = v->texts[number]; break;
	case REQUEST_TEXTS:
	case REQUEST_LIST:
		list[0] = "the first";
		list[1] = "";
		list[2] = v->texts[number];
		*(struct kernel_request_list *)field = (struct kernel_request_list){ list, 3 };
		break;
	case REQUEST_INTEGER: *(int *)field = number % 2 ? (int)number : -(int)number; break;
	case REQUEST_NUMBER: *(uint64_t *)field = UINT64_MAX - number; break;
	case REQUEST_CHOICE: *(int *)field = 2; break;
	case REQUEST_BYTES:
		memcpy(v->bytes[number], (uint8_t[]){ 0, 0xff, (uint8_t)number }, 3);
		*(struct kernel_request_bytes *)field = (struct kernel_request_bytes){ v->bytes[number], 3 };
	}
}

static void check(const void *field, const struct kernel_request_word *w, size_t number)
{
	const struct kernel_request_list *list = field;
	const struct kernel_request_bytes *bytes = field;
	char text[32];

	snprintf(text, sizeof(text), "text %zu", number);
	switch (w->kind) {
	case REQUEST_TEXT: assert_string_equal(*(const char *const *)field, text); break;
	case REQUEST_TEXTS:
	case REQUEST_LIST:
		assert_int_equal(list->count, 3);
		assert_string_equal(list->items[0], "the first");
		assert_string_equal(list->items[1], "");
		assert_string_equal(list->items[2], text);
		break;
	case REQUEST_INTEGER: assert_int_equal(*(const int *)field, number % 2 ? (int)number : -(int)number); break;
	case REQUEST_NUMBER: assert_true(*(const uint64_t *)field == UINT64_MAX - number); break;
	case REQUEST_CHOICE: assert_int_equal(*(const int *)field, 2); break;
	case REQUEST_BYTES:
		assert_int_equal(bytes->size, 3);
		assert_memory_equal(bytes->data, ((uint8_t[]){ 0, 0xff, (uint8_t)number }), 3);
	}
}

/* Fields of all words, those of parts with a number for each part. */
static void each_field(struct kernel_request *r, struct values *v)
{
	size_t number = 1;

	for (const struct kernel_request_word *w = kernel_request_words; w < kernel_request_words + kernel_request_word_count; w++) {
		for (size_t i = 0; i < (w->is_of_part ? KERNEL_REQUEST_PARTS : 1); i++, number++) {
			void *field = (w->is_of_part ? (char *)&r->parts[i] : (char *)r) + w->offset;

			if (v)
				set(field, w, number, v);
			else
				check(field, w, number);
		}
	}
	assert_in_range(number, kernel_request_word_count, ROOM);
}

static void every_word(void **state)
{
	struct kernel_request written = { .part_count = KERNEL_REQUEST_PARTS }, read;
	struct values *values = calloc(1, sizeof(*values));
	const char *room[ROOM];
	char *text;

	(void)state;
	assert_non_null(values);
	each_field(&written, values);
	text = write_all(&written, 0);
	free(values);
	assert_int_equal(read_text(&read, text, room, ROOM), 0);
	assert_int_equal(read.part_count, KERNEL_REQUEST_PARTS);
	each_field(&read, NULL);
	assert_int_equal(kernel_request_metrics_before(&read, 0), 0);
	assert_int_equal(kernel_request_metrics_before(&read, 3), 9);
	free(text);
}

static void words_differ(void **state)
{
	(void)state;
	for (size_t i = 0; i < kernel_request_word_count; i++) {
		const char *word = kernel_request_words[i].word;

		assert_string_not_equal(word, KERNEL_REQUEST_PART);
		assert_null(strpbrk(word, " \n"));
		for (size_t k = 0; k < i; k++)
			assert_string_not_equal(word, kernel_request_words[k].word);
	}
}

/* What people see when they look into the file. */
static void as_text(void **state)
{
	const char *metrics[] = { "a.sum", "b.avg" };
	struct kernel_request r = {
		.pattern = "regex:a b", .graphs = KERNEL_GRAPHS_NONE, .count = UINT64_MAX, .sampling_interval = -1, .part_count = 1
	};
	static const char *const lines[] = { "name regex:a b\n",         "\ngraphs none\n",
					     "\nranges none\n",          "\ncount 18446744073709551615\n",
					     "\nsampling-interval -1\n", "\npart 0\nmetric a.sum\nmetric b.avg\npasses 3\nconfig 0aff\n" };
	char *text;

	(void)state;
	r.parts[0] = (struct kernel_wanted){ .metrics = { metrics, 2 }, .passes = 3, .config = { (const uint8_t[]){ 10, 255 }, 2 } };
	text = write_all(&r, 0);
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		assert_non_null(strstr(text, lines[i]));
	assert_null(strstr(text, "range-filter"));
	free(text);
}

static void line_breaks_are_not_written(void **state)
{
	const char *metrics[] = { "a.sum", "b\nkill 1" };
	struct kernel_request text = { .code = "/tmp/a\nkill 1" }, list = { .part_count = 1 };

	(void)state;
	list.parts[0].metrics = (struct kernel_request_list){ metrics, 2 };
	free(write_all(&text, -EINVAL));
	free(write_all(&list, -EINVAL));
}

static void wrong_texts(void **state)
{
	/* clang-format off */
	static const char *const wrong[] = {
		"kill",			/* no value */
		"kill ",		/* no number */
		"kill 1x", "kill --1", "kill +1", "kill 2147483648", "kill 0x10", " kill 1",
		"\nkill 1", "kill 1\n\nwarm 1", "kill 1\nwar", /* cut off */
		"kills 1", "kil 1", "Kill 1", "kill\t1",
		"count -1", "count  1", "count 1 ",
		"graphs nodes", "graphs nod", "graphs ", "graphs node|graph", "graphs node|",
		"part 1", "part -1", "part x", "part 0\npart 0", "part 0\npart 2", "part 0\npart 1\npart 2\npart 3\npart 4",
		"metric a", "passes 1", "config 00",	/* of no part */
		"part 0\nconfig 0", "part 0\nconfig 0g", "part 0\nconfig 0A", "part 0\nconfig 00 00",
		"id a\nrename b\nid c", /* another list in between */
		"part 0\nmetric a\nschedule b\nmetric c",
	};
	/* clang-format on */
	struct kernel_request r;
	const char *room[ROOM];
	char text[200];

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		snprintf(text, sizeof(text), "%s", wrong[i]);
		if (read_text(&r, text, room, ROOM) != -1)
			fail_msg("'%s' was read", wrong[i]);
	}
}

static void little_texts(void **state)
{
	static const char *const right[] = { "",      "kill 1",    "kill 1\n",          "kill -1\nkill 1",
					     "name ", "name a b ", "part 0\nconfig \n", "id a\nkill 1\nid b\n" };
	struct kernel_request r;
	const char *room[ROOM];
	char text[200];

	(void)state;
	for (size_t i = 0; i < sizeof(right) / sizeof(right[0]); i++) {
		snprintf(text, sizeof(text), "%s", right[i]);
		if (read_text(&r, text, room, ROOM) != 0)
			fail_msg("'%s' was not read", right[i]);
	}
}

/* More than there is room for is refused: of one list, or of all. */
static void too_many(void **state)
{
	static const struct {
		size_t lines, room;
		int result;
	} cases[] = {
		{ KERNEL_REQUEST_TEXTS, KERNEL_REQUEST_TEXTS, 0 }, { KERNEL_REQUEST_TEXTS + 1, ROOM, -1 }, { 4, 3, -1 }, { 1, 0, -1 }
	};
	struct kernel_request r;
	const char *room[ROOM];
	char text[5 * (KERNEL_REQUEST_TEXTS + 1) + 1];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		text[0] = '\0';
		for (size_t k = 0; k < cases[i].lines; k++)
			strcat(text, "id a\n");
		assert_int_equal(read_text(&r, text, room, cases[i].room), cases[i].result);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_word),  cmocka_unit_test(words_differ),
		cmocka_unit_test(as_text),     cmocka_unit_test(line_breaks_are_not_written),
		cmocka_unit_test(wrong_texts), cmocka_unit_test(little_texts),
		cmocka_unit_test(too_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
