/* A small trace cut at every byte, and with bytes replaced: no crash, and what came whole is kept. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "ingest/kineto/kineto.h"

static const char trace[] =
	"{\"deviceProperties\":[{\"id\":0,\"name\":\"G\"}],\"traceEvents\":["
	"{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"a\\\"\",\"pid\":1,\"tid\":2,\"ts\":5.5,\"dur\":1,\"args\":{\"x\":[1]}},"
	"{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k<1>()\",\"pid\":0,\"tid\":7,\"ts\":6,\"dur\":2,"
	"\"args\":{\"grid\":[1,2,3],\"correlation\":9,\"stream\":7}},"
	"{\"ph\":\"C\",\"name\":\"c\",\"pid\":1,\"ts\":6,\"args\":{\"v\":1.5}},"
	"{\"ph\":\"B\",\"name\":\"b\",\"pid\":1,\"tid\":2,\"ts\":7}]}";

static uint64_t import_in_windows(const char *text, size_t len, size_t window, size_t most_held, struct kineto_result *ret)
{
	char folder[] = "/tmp/sonde-ingest-XXXXXX", path[64], *copy = malloc(len ? len : 1);
	struct report_writer *writer;
	struct source source;
	struct error err;
	int r;

	memcpy(copy, text, len);
	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/t.sonde", folder);
	assert_int_equal(report_writer_open(&writer, path, 0, NULL, 0, &err), 0);
	source_of_text(&source, copy, len);
	source.window = window;
	source.most_held = most_held;
	r = kineto_import(&source, writer, ret, &err);
	assert_int_equal(r, ret->events || ret->flows || ret->names ? 0 : -ENODATA);
	report_writer_abandon(writer);
	snprintf(path, sizeof(path), "%s/t.sonde.part", folder);
	unlink(path);
	snprintf(path, sizeof(path), "%s/t.sonde.journal", folder);
	unlink(path);
	rmdir(folder);
	free(copy);
	assert_true(ret->trouble == NULL || ret->offset <= len);
	return ret->events;
}

static uint64_t import(const char *text, size_t len, int *ret_whole)
{
	struct kineto_result result;
	uint64_t events = import_in_windows(text, len, 1 + len % 9, SOURCE_MOST_HELD, &result);

	*ret_whole = !result.trouble;
	return events;
}

static unsigned whole_events(size_t len)
{
	static const char *const last[] = { "[1]}}", "\"stream\":7}}", "1.5}}", "\"ts\":7}" };
	unsigned count = 0;

	for (unsigned i = 0; i < 4; i++)
		count += (size_t)(strstr(trace, last[i]) - trace) + strlen(last[i]) <= len;
	return count;
}

static void cut_at_every_byte(void **state)
{
	int whole;

	assert_int_equal(import(trace, sizeof(trace) - 1, &whole), 4);
	assert_true(whole);
	for (size_t len = 0; len < sizeof(trace) - 1; len++) {
		assert_int_equal(import(trace, len, &whole), whole_events(len));
		assert_false(whole);
	}
}

/* Pages are given back behind the reader, lines are counted before that, and an event that is longer than may be
 * held is left out. */
static void what_was_read_is_released(void **state)
{
	static const char event[] = "{\"ph\":\"X\",\"name\":\"n\",\"pid\":1,\"tid\":1,\"ts\":1,\"dur\":1},\n";
	const size_t count = 5000, size = sizeof(event) - 1, huge = 50000;
	char *text = malloc(count * size + huge + 64), *at = text;
	struct kineto_result result;

	*at++ = '[';
	for (size_t i = 0; i < count; i++, at += size)
		memcpy(at, event, size);
	at += sprintf(at, "{\"ph\":\"X\",,}]");
	assert_int_equal(import_in_windows(text, (size_t)(at - text), 1000, 20000, &result), count);
	assert_int_equal(result.troubles, 1);
	assert_int_equal(result.line, count + 1);
	assert_int_equal(result.offset, at - text - 3);
	at = text + 1 + 10 * size;
	at += sprintf(at, "{\"ph\":\"X\",\"name\":\"");
	memset(at, 'h', huge);
	at += huge;
	at += sprintf(at, "\"},");
	memcpy(at, event, size - 2);
	at += size - 2;
	*at++ = ']';
	assert_int_equal(import_in_windows(text, (size_t)(at - text), 1000, 20000, &result), 11);
	assert_string_equal(result.trouble, "a value is too long");
	assert_int_equal(result.before, 10);
	free(text);
}

static void bytes_replaced(void **state)
{
	static const char planted[] = "\"{]\\9";
	char text[sizeof(trace)];
	int whole;

	for (size_t at = 0; at < sizeof(trace) - 1; at += 7) {
		memcpy(text, trace, sizeof(trace));
		text[at] = planted[at % (sizeof(planted) - 1)];
		assert_true(import(text, sizeof(trace) - 1, &whole) <= 4);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cut_at_every_byte),
		cmocka_unit_test(what_was_read_is_released),
		cmocka_unit_test(bytes_replaced),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
