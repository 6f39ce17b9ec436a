/* A small trace cut at every byte, and with bytes replaced: no crash, and what came whole is kept. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "ingest/kineto.h"

static const char trace[] =
	"{\"deviceProperties\":[{\"id\":0,\"name\":\"G\"}],\"traceEvents\":["
	"{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"a\\\"\",\"pid\":1,\"tid\":2,\"ts\":5.5,\"dur\":1,\"args\":{\"x\":[1]}},"
	"{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k<1>()\",\"pid\":0,\"tid\":7,\"ts\":6,\"dur\":2,"
	"\"args\":{\"grid\":[1,2,3],\"correlation\":9,\"stream\":7}},"
	"{\"ph\":\"C\",\"name\":\"c\",\"pid\":1,\"ts\":6,\"args\":{\"v\":1.5}},"
	"{\"ph\":\"B\",\"name\":\"b\",\"pid\":1,\"tid\":2,\"ts\":7}]}";

static uint64_t import(const char *text, size_t len, int *ret_whole)
{
	char folder[] = "/tmp/sonde-ingest-XXXXXX", path[64], *copy = malloc(len ? len : 1);
	struct report_writer *writer;
	struct kineto_result result;
	struct source source;
	struct error err;

	memcpy(copy, text, len);
	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/t.sonde", folder);
	assert_int_equal(report_writer_open(&writer, path, 0, NULL, 0, &err), 0);
	source_of_text(&source, copy, len);
	assert_int_equal(kineto_import(&source, writer, &result, &err), 0);
	report_writer_abandon(writer);
	snprintf(path, sizeof(path), "%s/t.sonde.part", folder);
	unlink(path);
	snprintf(path, sizeof(path), "%s/t.sonde.journal", folder);
	unlink(path);
	rmdir(folder);
	free(copy);
	*ret_whole = !result.trouble;
	assert_true(result.trouble == NULL || result.offset <= len);
	return result.events;
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
		cmocka_unit_test(bytes_replaced),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
