/* Triggers of the flight recorder: which marks and ranges ask for a report, and which do not. */
#include "support.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fmt/record.h"
#include "record/session/trigger.h"

#define MS 1000000ll

struct listener {
	struct flight_options options;
	int fd;
	char last[256];
	int64_t time; /* of the last */
};

static void listen_in(struct bench *b, struct listener *l)
{
	int ends[2];

	assert_int_equal(pipe2(ends, O_NONBLOCK), 0);
	l->fd = ends[0];
	b->session.triggers = triggers_new(&b->session, &l->options, ends[1]);
	assert_non_null(b->session.triggers);
}

static void listen_out(struct bench *b, struct listener *l)
{
	close(l->fd);
	close(b->session.triggers->fd);
	triggers_free(b->session.triggers);
	b->session.triggers = NULL;
}

/* Triggers since the last call. */
static int heard(struct listener *l)
{
	struct trigger_message message;
	int count = 0;

	while (read(l->fd, &message, sizeof(message)) == (ssize_t)sizeof(message)) {
		snprintf(l->last, sizeof(l->last), "%s", message.text);
		l->time = message.time;
		count++;
	}
	return count;
}

static struct nvtx_capture named(const char *range, const char *domain)
{
	struct nvtx_capture name = { .any_domain = strcmp(domain, "*") == 0 };

	snprintf(name.range, sizeof(name.range), "%s", range);
	snprintf(name.domain, sizeof(name.domain), "%s", name.any_domain ? "" : domain);
	return name;
}

static void write_define(struct fake_writer *w, unsigned kind, unsigned domain, uint64_t id, const char *text)
{
	struct record_define define = { record_head(RECORD_DEFINE, kind, (unsigned)(sizeof(define) + strlen(text)), 0, domain), 1, id, 0 };
	uint8_t bytes[256];

	memcpy(bytes, &define, sizeof(define));
	memcpy(bytes + sizeof(define), text, strlen(text));
	assert_true(fake_write(w, bytes, (uint32_t)(sizeof(define) + strlen(text))));
}

static void write_mark(struct fake_writer *w, uint64_t time, unsigned domain, unsigned flags, const void *tail, size_t size)
{
	struct record_nvtx_event event = { .time = time };
	uint8_t bytes[256];

	event.head = record_head(RECORD_NVTX_MARK, flags, (unsigned)(sizeof(event) + size), 0, domain);
	memcpy(bytes, &event, sizeof(event));
	memcpy(bytes + sizeof(event), tail, size);
	assert_true(fake_write(w, bytes, (uint32_t)(sizeof(event) + size)));
}

static void test_marks(void **state)
{
	struct bench *b = *state;
	struct listener l = { .options = { .mark_count = 3 } };
	struct fake_writer w;
	uint64_t string = 5;

	l.options.marks[0] = named("plain", "");
	l.options.marks[1] = named("there", "heat");
	l.options.marks[2] = named("late", "*");
	listen_in(b, &l);
	assert_true(fake_open(&w, b->pool, 100, 1));
	write_define(&w, DEFINE_DOMAIN, 0, 3, "heat");
	write_define(&w, DEFINE_DOMAIN, 0, 4, "cold");
	write_mark(&w, 10, 0, 0, "plain", 5);
	bench_drain(b);
	assert_int_equal(heard(&l), 1);
	assert_string_equal(l.last, "the mark 'plain'");
	/* Other names, other domains. */
	write_mark(&w, 11, 0, 0, "plai", 4);
	write_mark(&w, 12, 0, 0, "plainer", 7);
	write_mark(&w, 13, 3, 0, "plain", 5);
	write_mark(&w, 14, 0, 0, "there", 5);
	write_mark(&w, 15, 4, 0, "there", 5);
	bench_drain(b);
	assert_int_equal(heard(&l), 0);
	write_mark(&w, 16, 3, 0, "there", 5);
	bench_drain(b);
	assert_int_equal(heard(&l), 1);
	/* A registered string whose text comes after its first use: from then on. */
	write_mark(&w, 17, 4, NVTX_FLAG_REGISTERED, &string, sizeof(string));
	write_define(&w, DEFINE_STRING, 4, 5, "late");
	write_mark(&w, 18, 4, NVTX_FLAG_REGISTERED, &string, sizeof(string));
	bench_drain(b);
	assert_int_equal(heard(&l), 1);
	assert_string_equal(l.last, "the mark 'late'");
	listen_out(b, &l);
}

static int compare(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return x < y ? -1 : x > y;
}

/* Against sorting what came last. */
static void test_median(void **state)
{
	struct trigger_slow slow = { .factor = 2 };
	int64_t all[1000], last[TRIGGER_DURATIONS];
	unsigned random = 1;

	for (unsigned i = 0; i < 1000; i++) {
		unsigned count = i + 1 < TRIGGER_DURATIONS ? i + 1 : TRIGGER_DURATIONS;

		random = random * 1103515245u + 12345u;
		all[i] = random >> 16 & (i < 500 ? 7 : 1023);
		trigger_add_duration(&slow, all[i]);
		memcpy(last, all + i + 1 - count, count * sizeof(*last));
		qsort(last, count, sizeof(*last), compare);
		assert_int_equal(trigger_median(&slow), i + 1 < TRIGGER_FEWEST ? 0 : last[count / 2]);
	}
}

static void test_slow(void **state)
{
	struct bench *b = *state;
	struct listener l = { .options = { .slow_count = 1 } };
	struct fake_writer w;
	uint64_t at = 10;

	l.options.slow[0] = (struct flight_slow){ named("step", ""), 3 };
	listen_in(b, &l);
	assert_true(fake_open(&w, b->pool, 100, 1));
	/* Too few to judge by; then one that is long, and one that is not quite. */
	for (int i = 0; i < 12; i++) {
		int64_t length = i == 5 ? 50 * MS / 100 : i == 10 ? 29 * MS / 100 : i == 11 ? 31 * MS / 100 : 10 * MS / 100;

		assert_true(fake_push(&w, at, 0, 0, "step"));
		assert_true(fake_push(&w, at + 1, 0, 1, "other"));
		assert_true(fake_pop(&w, at + (uint64_t)length - 1, 0, 1));
		assert_true(fake_pop(&w, at + (uint64_t)length, 0, 0));
		at += (uint64_t)length + 10;
		bench_drain(b);
		assert_int_equal(heard(&l), i == 11);
	}
	assert_string_equal(l.last, "'step' took 0.310 ms, 3.1 times its median of 0.100 ms");
	/* In another domain it is another range. */
	assert_true(fake_push(&w, at, 7, 0, "step"));
	assert_true(fake_pop(&w, at + 50 * MS, 7, 0));
	bench_drain(b);
	assert_int_equal(heard(&l), 0);
	listen_out(b, &l);
}

static void test_hang(void **state)
{
	struct bench *b = *state;
	struct listener l = { .options = { .slow_count = 1 } };
	struct session *s = &b->session;
	struct fake_writer w;

	l.options.slow[0] = (struct flight_slow){ named("step", "*"), 3 };
	listen_in(b, &l);
	for (int i = 0; i < 20; i++)
		trigger_range(s, 0, s->triggers->slow[0].name.ids[0], 0, MS, 0);
	assert_true(fake_open(&w, b->pool, 100, 1));
	assert_true(fake_push(&w, 100, 0, 0, "other"));
	assert_true(fake_push(&w, 200, 0, 1, "step"));
	bench_drain(b);
	/* It may still end. */
	trigger_check_open(s, 900 * MS);
	assert_int_equal(heard(&l), 0);
	trigger_check_open(s, 1003 * MS + 201);
	assert_int_equal(heard(&l), 1);
	assert_non_null(strstr(l.last, "'step' has lasted 1003.000 ms, "));
	/* Once, and its end is no news. */
	trigger_check_open(s, 5000 * MS);
	assert_int_equal(heard(&l), 0);
	assert_true(fake_pop(&w, 900 * MS, 0, 1));
	bench_drain(b);
	assert_int_equal(heard(&l), 0);
	/* The next one is judged anew. */
	assert_true(fake_push(&w, 901 * MS, 0, 1, "step"));
	assert_true(fake_pop(&w, 990 * MS, 0, 1));
	bench_drain(b);
	assert_int_equal(heard(&l), 1);
	listen_out(b, &l);
}

/* Nobody reads: the target's events are taken all the same. */
static void test_full_pipe(void **state)
{
	struct bench *b = *state;
	struct listener l = { .options = { .mark_count = 1 } };
	int count;

	l.options.marks[0] = named("plain", "");
	listen_in(b, &l);
	for (int i = 0; i < 5000; i++)
		trigger_mark(&b->session, 0, b->session.triggers->marks[0].ids[0], 5);
	count = heard(&l);
	assert_true(count > 0 && count < 5000);
	assert_int_equal(l.time, 5);
	/* What led to it is not dropped before somebody has heard of it. */
	assert_int_equal(atomic_load(&b->session.keep_all), 1);
	assert_int_equal((uint32_t)count + b->session.triggers->unheard, 5000);
	listen_out(b, &l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_marks, bench_set_up, bench_tear_down),
		cmocka_unit_test(test_median),
		cmocka_unit_test_setup_teardown(test_slow, bench_set_up, bench_tear_down),
		cmocka_unit_test_setup_teardown(test_hang, bench_set_up, bench_tear_down),
		cmocka_unit_test_setup_teardown(test_full_pipe, bench_set_up, bench_tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
