/* Messages of the process that reads the GPUs: good ones become rows, all others are counted and do no harm. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "record/gpu/monitor.h"
#include "record/gpu/wire.h"
#include "record/session/gpus.h"
#include "support.h"

struct wire {
	struct gpu_monitor m;
	int fd; /* the other side */
};

/* A process that lives as long as the test wants: the test speaks for it. */
static void open_wire(struct wire *w, struct bench *b)
{
	int pair[2];
	pid_t pid;

	memset(w, 0, sizeof(*w));
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair), 0);
	w->fd = pair[1];
	pid = fork();
	if (pid == 0) {
		close(pair[1]);
		pause();
		_exit(0);
	}
	assert_int_equal(gpu_monitor_attach(&w->m, &b->session, pair[0], pid), 0);
}

static void report(struct wire *w, const void *message, size_t size)
{
	assert_int_equal(send(w->fd, message, size, 0), (ssize_t)size);
	gpu_monitor_round(&w->m);
}

static struct gpu_wire_device device(uint32_t index)
{
	/* clang-format off */
	struct gpu_wire_device d = { .head = { .kind = GPU_WIRE_DEVICE, .gpu = index }, .name = "One", .memory = 5, .clock = INT64_MIN,
				     .major = INT64_MIN, .minor = INT64_MIN, .mig = 0, .mps = 0 };
	/* clang-format on */

	snprintf(d.uuid, sizeof(d.uuid), "GPU-%u", index);
	return d;
}

static struct gpu_wire_metric metric(uint32_t number, int real)
{
	/* clang-format off */
	struct gpu_wire_metric d = { .head = { .kind = GPU_WIRE_METRIC, .number = number }, .source = real ? 2 : 1, .id = number, .hz = 10,
				     .real = (uint32_t)real, .name = "Metric", .metric = "m", .unit = "%" };
	/* clang-format on */

	return d;
}

static void send_value(struct wire *w, uint32_t number, int64_t raw, int64_t value)
{
	struct {
		struct gpu_wire_head head;
		struct gpu_wire_value value;
	} m = { { .kind = GPU_WIRE_VALUES, .count = 1 }, { number, 0, raw, value } };

	report(w, &m, sizeof(m));
}

static void end(struct wire *w)
{
	struct gpu_wire_head bye = { .kind = GPU_WIRE_END };

	report(w, &bye, sizeof(bye));
	close(w->fd);
	gpu_monitor_finish(&w->m);
	gpu_monitor_release(&w->m);
}

static void rows(void **state)
{
	struct bench *b = *state;
	struct wire w;
	struct row counters[8], metrics[8], gpus[2];
	struct gpu_wire_device d = device(0);
	struct gpu_wire_metric whole = metric(0, 0), real = metric(1, 1);
	struct gpu_wire_clock clock = { { .kind = GPU_WIRE_CLOCK }, 5000, b->session.time.start + 1000, 10 };
	struct {
		struct gpu_wire_head head;
		uint32_t metrics;
		uint32_t pad;
		uint64_t data[4];
	} samples = { { .kind = GPU_WIRE_SAMPLES, .count = 2, .number = 1 }, 1, 0, { 6000, 0, 7000, 0 } };
	double first = 12.3456789, nothing = NAN, got;

	open_wire(&w, b);
	report(&w, &d, sizeof(d));
	report(&w, &whole, sizeof(whole));
	report(&w, &real, sizeof(real));
	send_value(&w, 0, b->session.time.start + 500, 42);
	report(&w, &clock, sizeof(clock));
	memcpy(&samples.data[1], &first, sizeof(first));
	memcpy(&samples.data[3], &nothing, sizeof(nothing));
	report(&w, &samples, sizeof(samples));
	assert_int_equal(w.m.damaged, 0);
	end(&w);
	gpus_finish(&b->session);
	bench_finish(b);
	assert_int_equal(bench_rows(b, TABLE_GPU, gpus, 2), 1);
	assert_int_equal(gpus[0].values[COLUMN_GPU_MEMORY], 5);
	assert_int_equal(bench_rows(b, TABLE_GPU_METRIC, metrics, 8), 2);
	assert_string_equal(bench_text(b, &metrics[0], COLUMN_GPU_METRIC_NAME), "Metric");
	assert_int_equal(bench_rows(b, TABLE_COUNTER, counters, 8), 2);
	assert_int_equal(counters[0].values[COLUMN_COUNTER_TIME], 500);
	assert_int_equal(counters[0].values[COLUMN_COUNTER_INTEGER], 42);
	/* 1000 ns after the reading, by a timer that runs as ours. */
	assert_int_equal(counters[1].values[COLUMN_COUNTER_TIME], 2000);
	memcpy(&got, &counters[1].values[COLUMN_COUNTER_REAL], sizeof(got));
	assert_true(fabs(got - first) < 0.005);
	assert_true(counters[1].nulls[COLUMN_COUNTER_INTEGER]);
}

/* What was read before the end of a window was noticed, or behind it. */
static void outside_windows(void **state)
{
	struct bench *b = *state;
	int64_t start = b->session.time.start;
	struct wire w;
	struct row counters[8];
	struct gpu_wire_device d = device(0);
	struct gpu_wire_metric whole = metric(0, 0);

	open_wire(&w, b);
	report(&w, &d, sizeof(d));
	report(&w, &whole, sizeof(whole));
	atomic_store(&b->session.window_start, start + 100);
	send_value(&w, 0, start + 150, 1);
	atomic_store(&b->session.window_end, start + 200);
	send_value(&w, 0, start + 200, 2);
	send_value(&w, 0, start + 201, 3);
	atomic_store(&b->session.window_before, start + 200);
	atomic_store(&b->session.window_start, start + 300);
	atomic_store(&b->session.window_end, 0);
	send_value(&w, 0, start + 299, 4);
	send_value(&w, 0, start + 300, 5);
	assert_int_equal(w.m.damaged, 0);
	end(&w);
	gpus_finish(&b->session);
	bench_finish(b);
	assert_int_equal(bench_rows(b, TABLE_COUNTER, counters, 8), 3);
	assert_int_equal(counters[0].values[COLUMN_COUNTER_INTEGER], 1);
	assert_int_equal(counters[1].values[COLUMN_COUNTER_INTEGER], 2);
	assert_int_equal(counters[2].values[COLUMN_COUNTER_INTEGER], 5);
}

static void switches(void **state)
{
	struct bench *b = *state;
	struct wire w;
	struct row found[8], tracks[4];
	struct gpu_wire_device d = device(3);
	struct gpu_wire_clock clock = { { .kind = GPU_WIRE_CLOCK, .gpu = 3 }, 5000, b->session.time.start + 1000, 10 };
	struct gpu_wire_lost lost = { { .kind = GPU_WIRE_LOST, .gpu = 3, .number = GPU_LOST_SWITCHES }, 9 };
	struct {
		struct gpu_wire_head head;
		struct gpu_wire_switch switches[3];
	} m = { { .kind = GPU_WIRE_SWITCHES, .gpu = 3, .count = 3 },
		{ { 6000, 11, 1234, 65535, 1 }, { 7000, 11, 1234, 0, 0 }, { 6900, 0, 0, 1, 1 } } };

	open_wire(&w, b);
	report(&w, &d, sizeof(d));
	report(&w, &m, sizeof(m)); /* no clock yet */
	report(&w, &clock, sizeof(clock));
	report(&w, &m, sizeof(m) - 1);
	report(&w, &m, sizeof(m.head));
	m.head.count = 0xffffffff;
	report(&w, &m, sizeof(m));
	m.head.gpu = 4;
	m.head.count = 3;
	report(&w, &m, sizeof(m));
	assert_int_equal(w.m.damaged, 5);
	m.head.gpu = 3;
	report(&w, &m, sizeof(m)); /* good */
	report(&w, &lost, sizeof(lost));
	lost.head.number = 2;
	report(&w, &lost, sizeof(lost)); /* of what? */
	assert_int_equal(w.m.damaged, 6);
	end(&w);
	bench_finish(b);
	assert_int_equal(bench_rows(b, TABLE_GPU_SWITCH, found, 8), 3);
	assert_int_equal(found[0].values[COLUMN_GPU_SWITCH_TIME], 2000);
	assert_int_equal(found[0].values[COLUMN_GPU_SWITCH_TAG], 8);
	assert_int_equal(found[0].values[COLUMN_GPU_SWITCH_CONTEXT], 11);
	assert_int_equal(found[0].values[COLUMN_GPU_SWITCH_PID], 1234);
	assert_int_equal(found[0].values[COLUMN_GPU_SWITCH_SEQUENCE], 65535);
	assert_int_equal(found[1].values[COLUMN_GPU_SWITCH_TIME], 3000);
	assert_int_equal(found[1].values[COLUMN_GPU_SWITCH_TAG], 7);
	/* Another user's, whose time is only about right: after the one told before. */
	assert_int_equal(found[2].values[COLUMN_GPU_SWITCH_TIME], 3000);
	assert_int_equal(found[2].values[COLUMN_GPU_SWITCH_PID], 0);
	assert_int_equal(bench_rows(b, TABLE_TRACK, tracks, 4), 1);
	assert_int_equal(tracks[0].values[COLUMN_TRACK_KIND], TRACK_GPU_SWITCH);
	assert_int_equal(bench_loss(b, LOSS_GPU_SWITCHES), 9);
	assert_int_equal(bench_loss(b, LOSS_GPU_SAMPLES), 0);
}

static void nonsense(void **state)
{
	struct bench *b = *state;
	struct wire w;
	struct gpu_wire_device d = device(0);
	struct gpu_wire_metric whole = metric(0, 0), real = metric(1, 1), far = metric(1u << 30, 0), again = metric(0, 1);
	struct gpu_wire_samples samples = { .head = { .kind = GPU_WIRE_SAMPLES, .count = 0xffffffff, .number = 1 }, .metrics = 1 };
	struct gpu_wire_values count = { .head = { .kind = GPU_WIRE_VALUES, .count = 7 } };
	struct gpu_wire_head kind = { .kind = 77 };
	struct gpu_wire_lost lost = { { .kind = GPU_WIRE_LOST, .gpu = 9 }, 5 };
	struct gpu_wire_clock clock = { { .kind = GPU_WIRE_CLOCK }, 5000, 1000, -1 };
	struct gpu_wire_text text = { .head = { .kind = GPU_WIRE_DIAGNOSTIC, .number = 2 } };
	struct row diagnostics[8];
	size_t n;

	open_wire(&w, b);
	report(&w, &whole, sizeof(whole)); /* of a GPU nobody has told of */
	report(&w, &d, sizeof(d) - 1);
	report(&w, &d, sizeof(d));
	report(&w, &far, sizeof(far));
	report(&w, &whole, sizeof(whole)); /* good */
	report(&w, &again, sizeof(again));
	report(&w, &real, sizeof(real));       /* good */
	report(&w, &samples, sizeof(samples)); /* no clock yet, and no data */
	report(&w, &count, sizeof(count));
	report(&w, &kind, sizeof(kind));
	report(&w, &kind, 3);
	report(&w, &lost, sizeof(lost));
	report(&w, &clock, sizeof(clock));
	clock.error = 1;
	report(&w, &clock, sizeof(clock)); /* good */
	report(&w, &samples, sizeof(samples));
	samples.metrics = 0;
	report(&w, &samples, sizeof(samples));
	samples.metrics = 2;
	samples.head.count = 0;
	report(&w, &samples, sizeof(samples)); /* of a metric that there is none of */
	send_value(&w, 5, 0, 0);
	send_value(&w, 1, 0, 0); /* not a whole number */
	memset(text.text, 'x', sizeof(text.text));
	report(&w, &text, sizeof(text)); /* good, cut */
	assert_int_equal(w.m.damaged, 15);
	end(&w);
	bench_finish(b);
	n = bench_rows(b, TABLE_DIAGNOSTIC, diagnostics, 8);
	assert_int_equal(n, 2);
	assert_non_null(strstr(bench_text(b, &diagnostics[1], COLUMN_DIAGNOSTIC_TEXT), "15 messages"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(rows, bench_set_up, bench_tear_down),
		cmocka_unit_test_setup_teardown(outside_windows, bench_set_up, bench_tear_down),
		cmocka_unit_test_setup_teardown(switches, bench_set_up, bench_tear_down),
		cmocka_unit_test_setup_teardown(nonsense, bench_set_up, bench_tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
