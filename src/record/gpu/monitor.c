#include "record/gpu/monitor.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "base/macros.h"
#include "record/gpu/collector.h"
#include "record/gpu/gpu_clock.h"
#include "record/gpu/wire.h"
#include "record/session/gpus.h"
#include "record/session/session.h"

#define MAX_GPUS COLLECTOR_MAX_GPUS
#define MAX_METRICS 65536u
/* Starting CUDA and CUPTI on a machine with many GPUs takes seconds. */
#define READY_MS 20000
/* Stopping the counters and fetching the last of them. */
#define END_MS 2000
/* For the status of one that crashed at the very end, 5 ms each. */
#define GONE_TRIES 100
#define NOTES_MOST 4096u
#define ROUND_BYTES (8u << 20)
#define SOCKET_BYTES (4 << 20)
/* Domains of the clock table: those of GPUs' timers begin here, others are few. */
#define CLOCK_DOMAIN_FIRST 1000
/* nsys's names for them are not published; these are its numbers. */
#define GPU_SWITCH_ENDS 7
#define GPU_SWITCH_BEGINS 8

struct monitor_gpu {
	uint64_t uid; /* gpu.uid; 0: not told of yet */
	uint32_t index;
	char uuid[GPU_UUID_TEXT * 2];
	struct gpu_clock clock;
	struct report_track *switches; /* NULL: none yet */
	int64_t last_switch;
};

struct monitor_metric {
	struct report_track *track;
	struct monitor_gpu *gpu;
	struct gpu_wire_metric *waiting; /* for the process it belongs to: its agent may attach later */
	int64_t last_time;
	uint8_t real;
	uint8_t known;
};

/* Into the report; what is worth a warning is shown when the recording is over, too. */
static void report_gpu_trouble(struct gpu_monitor *m, struct session *s, int severity, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

static void report_gpu_trouble(struct gpu_monitor *m, struct session *s, int severity, const char *format, ...)
{
	char text[1024];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	session_diagnose(s, SOURCE_RECORDER, severity, 0, "%s", text);
	if (severity >= DIAGNOSTIC_WARNING && m->notes.len < NOTES_MOST)
		buf_printf(&m->notes, "%s%s", m->notes.len ? "\n" : "", text);
}

static int64_t raw_start(const struct gpu_monitor *m)
{
	return m->session->time.start;
}

/* The process that reads GPUs sees late that a window has ended, later still where it gets no processor. `time` is the report's. */
static int is_outside_windows(const struct gpu_monitor *m, int64_t time)
{
	const struct session *s = m->session;
	int64_t raw = time + raw_start(m), end = atomic_load(&s->window_end), before = atomic_load(&s->window_before);

	return (end && raw > end) || (before && raw > before && raw < atomic_load(&s->window_start));
}

static struct monitor_gpu *gpu_by_index(struct gpu_monitor *m, uint32_t index)
{
	for (uint32_t i = 0; i < m->gpu_count; i++)
		if (m->gpus[i].index == index)
			return &m->gpus[i];
	return NULL;
}

static const char *text_or_null(char *text, size_t size)
{
	text[size - 1] = '\0';
	return text[0] ? text : NULL;
}

static int take_device(struct gpu_monitor *m, struct gpu_wire_device *d, size_t size)
{
	struct monitor_gpu *g = gpu_by_index(m, d->head.gpu);
	struct gpu_facts facts;

	if (size != sizeof(*d) || !text_or_null(d->uuid, sizeof(d->uuid)) || strlen(d->uuid) >= GPU_UUID_TEXT)
		return -1;
	if (!g && m->gpu_count == MAX_GPUS)
		return -1;
	gpu_facts_init(&facts, d->uuid);
	facts.name = text_or_null(d->name, sizeof(d->name));
	facts.bus = text_or_null(d->bus, sizeof(d->bus));
	facts.chip = text_or_null(d->chip, sizeof(d->chip));
	facts.index = d->head.gpu;
	facts.memory = d->memory;
	facts.clock = d->clock;
	facts.major = d->major;
	facts.minor = d->minor;
	facts.mig = d->mig;
	facts.mps = d->mps;
	if (!g) {
		g = &m->gpus[m->gpu_count++];
		*g = (struct monitor_gpu){ .index = d->head.gpu };
	}
	g->uid = gpu_row(m->session, &facts);
	return 0;
}

static void metric_row(struct gpu_monitor *m, const struct monitor_gpu *g, const struct gpu_wire_metric *d, uint64_t process)
{
	struct session *s = m->session;
	int64_t v[TABLE_MAX_COLUMNS];
	uint32_t present = BIT(COLUMN_GPU_METRIC_HZ + 1) - 1;

	v[COLUMN_GPU_METRIC_TRACK] = s->next_track;
	v[COLUMN_GPU_METRIC_GPU] = (int64_t)g->uid;
	v[COLUMN_GPU_METRIC_SOURCE] = d->source;
	v[COLUMN_GPU_METRIC_ID] = d->id;
	v[COLUMN_GPU_METRIC_NAME] = (int64_t)session_text(s, d->name);
	v[COLUMN_GPU_METRIC_METRIC] = (int64_t)session_text(s, d->metric);
	v[COLUMN_GPU_METRIC_UNIT] = (int64_t)session_text(s, d->unit);
	v[COLUMN_GPU_METRIC_PROCESS] = (int64_t)process;
	v[COLUMN_GPU_METRIC_HZ] = d->hz;
	if (!process)
		present &= ~BIT(COLUMN_GPU_METRIC_PROCESS);
	session_row(s, TABLE_GPU_METRIC, v, present);
}

static struct monitor_metric *metric_at(struct gpu_monitor *m, uint32_t number)
{
	if (number >= MAX_METRICS || !ARRAY_REACH(m->metrics, m->metric_cap, number))
		return NULL;
	if (number >= m->metric_count)
		m->metric_count = number + 1;
	return &m->metrics[number];
}

/* uid of a process of the session, 0 for others. */
static uint64_t find_gpu_process(struct session *s, uint32_t pid)
{
	struct roster_life *life;
	uint64_t uid = 0;

	for (struct traced_process *p = s->processes; p; p = p->next)
		if (p->info.pid == pid && p->uid > uid)
			uid = p->uid;
	if (uid)
		return uid;
	life = roster_last(s, pid);
	if (life)
		life->used = 1;
	return life ? life->uid : 0;
}

static void make_track(struct gpu_monitor *m, struct monitor_metric *metric, const struct gpu_wire_metric *d, uint64_t process)
{
	metric->track = session_track(m->session, TABLE_COUNTER, TRACK_GPU_METRIC, process, 0, metric->gpu->uid, d->id);
	if (metric->track)
		metric_row(m, metric->gpu, d, process);
}

/* Somebody else's process is looked for again with each value: there are few of either. */
static void find_process(struct gpu_monitor *m, struct monitor_metric *metric)
{
	uint64_t process = find_gpu_process(m->session, metric->waiting->pid);

	if (!process)
		return;
	make_track(m, metric, metric->waiting, process);
	free(metric->waiting);
	metric->waiting = NULL;
}

static int take_gpu_metric(struct gpu_monitor *m, struct gpu_wire_metric *d, size_t size)
{
	struct monitor_gpu *g = gpu_by_index(m, d->head.gpu);
	struct monitor_metric *metric;

	if (size != sizeof(*d) || !g || (d->source != GPU_SOURCE_NVML && d->source != GPU_SOURCE_COUNTERS))
		return -1;
	d->name[sizeof(d->name) - 1] = d->metric[sizeof(d->metric) - 1] = d->unit[sizeof(d->unit) - 1] = '\0';
	metric = metric_at(m, d->head.number);
	if (!metric || metric->known)
		return -1;
	*metric = (struct monitor_metric){ .gpu = g, .known = 1, .real = d->real != 0, .last_time = INT64_MIN };
	if (!d->pid) {
		make_track(m, metric, d, 0);
		return 0;
	}
	metric->waiting = malloc(sizeof(*d));
	if (metric->waiting)
		memcpy(metric->waiting, d, sizeof(*d));
	return 0;
}

/* Percentages are kept to a hundredth, everything else to seven digits: more is noise, and takes room. */
static double round_metric(double value)
{
	double step;

	if (value >= -1000 && value <= 1000)
		return round(value * 128) / 128;
	step = exp2(floor(log2(fabs(value))) - 23);
	return round(value / step) * step;
}

/* Returns -1 for what the report does not take any more. */
static int counter_row(struct gpu_monitor *m, struct monitor_metric *metric, int64_t time, int64_t bits)
{
	int64_t v[TABLE_MAX_COLUMNS];
	double real;
	int column = COLUMN_COUNTER_INTEGER;

	if (metric->waiting)
		find_process(m, metric);
	if (!metric->track || is_outside_windows(m, time))
		return 0;
	if (time < metric->last_time)
		time = metric->last_time;
	metric->last_time = time;
	v[COLUMN_COUNTER_TIME] = time;
	v[COLUMN_COUNTER_INTEGER] = bits;
	if (metric->real) {
		memcpy(&real, &bits, sizeof(real));
		/* The hardware had nothing to divide by. */
		if (!isfinite(real))
			return 0;
		real = round_metric(real);
		memcpy(&v[COLUMN_COUNTER_REAL], &real, sizeof(real));
		column = COLUMN_COUNTER_REAL;
	}
	return report_append(metric->track, v, BIT(COLUMN_COUNTER_TIME) | BIT((unsigned)column));
}

static struct monitor_metric *known_metric(struct gpu_monitor *m, uint32_t number)
{
	return number < m->metric_count && m->metrics[number].known ? &m->metrics[number] : NULL;
}

static int take_values(struct gpu_monitor *m, const struct gpu_wire_values *d, size_t size)
{
	struct monitor_metric *metric;
	uint64_t unwritten = 0;

	if (size < sizeof(*d) || (size - sizeof(*d)) / sizeof(d->values[0]) != d->head.count)
		return -1;
	for (uint32_t i = 0; i < d->head.count; i++) {
		metric = known_metric(m, d->values[i].metric);
		if (!metric || metric->real)
			return -1;
		unwritten += counter_row(m, metric, d->values[i].raw - raw_start(m), d->values[i].value) < 0;
	}
	session_loss(m->session, 0, 0, LOSS_GPU_SAMPLES, unwritten);
	return 0;
}

/* The time of a sample is when it began. */
static int take_samples(struct gpu_monitor *m, const struct gpu_wire_samples *d, size_t size)
{
	struct monitor_gpu *g = gpu_by_index(m, d->head.gpu);
	struct monitor_metric *metric;
	const uint64_t *row = d->data;
	uint64_t unwritten = 0;
	int64_t time;
	int r;

	if (size < sizeof(*d) || !g || !g->clock.started || !d->metrics || d->metrics > GPU_WIRE_MAX_METRICS ||
	    d->head.number > MAX_METRICS || size != sizeof(*d) + (uint64_t)d->head.count * (d->metrics + 1) * sizeof(row[0]))
		return -1;
	for (uint32_t i = 0; i < d->metrics; i++) {
		metric = known_metric(m, d->head.number + i);
		if (!metric || !metric->real)
			return -1;
	}
	for (uint32_t n = 0; n < d->head.count; n++, row += d->metrics + 1) {
		time = gpu_clock_raw(&g->clock, row[0]) - raw_start(m);
		r = 0;
		for (uint32_t i = 0; i < d->metrics; i++)
			r |= counter_row(m, &m->metrics[d->head.number + i], time, (int64_t)row[i + 1]);
		unwritten += r < 0;
	}
	session_loss(m->session, 0, 0, LOSS_GPU_SAMPLES, unwritten);
	return 0;
}

static void write_gpu_domain(struct gpu_monitor *m, const struct monitor_gpu *g)
{
	struct session *s = m->session;
	int64_t v[TABLE_MAX_COLUMNS];
	char name[64];

	snprintf(name, sizeof(name), "timer of GPU %u", g->index);
	v[COLUMN_CLOCK_DOMAIN_ID] = CLOCK_DOMAIN_FIRST + (int64_t)g->uid;
	v[COLUMN_CLOCK_DOMAIN_NAME] = (int64_t)session_text(s, name);
	session_row(s, TABLE_CLOCK_DOMAIN, v, BIT(COLUMN_CLOCK_DOMAIN_ID) | BIT(COLUMN_CLOCK_DOMAIN_NAME));
}

static int take_clock(struct gpu_monitor *m, const struct gpu_wire_clock *d, size_t size)
{
	struct monitor_gpu *g = gpu_by_index(m, d->head.gpu);
	struct gpu_reading reading = { d->ticks, d->raw, d->error }, kept;
	int64_t v[TABLE_MAX_COLUMNS];

	if (size != sizeof(*d) || !g || d->error < 0 || d->error > 1000000000)
		return -1;
	if (!g->clock.started)
		write_gpu_domain(m, g);
	if (!gpu_clock_add(&g->clock, &reading, &kept))
		return 0;
	v[COLUMN_CLOCK_DOMAIN] = CLOCK_DOMAIN_FIRST + (int64_t)g->uid;
	v[COLUMN_CLOCK_TICKS] = (int64_t)kept.ticks;
	v[COLUMN_CLOCK_RAW] = kept.raw;
	v[COLUMN_CLOCK_ERROR] = kept.error;
	session_row(m->session, TABLE_CLOCK, v,
		    BIT(COLUMN_CLOCK_DOMAIN) | BIT(COLUMN_CLOCK_TICKS) | BIT(COLUMN_CLOCK_RAW) | BIT(COLUMN_CLOCK_ERROR));
	return 0;
}

static int take_gpu_text(struct gpu_monitor *m, struct gpu_wire_text *d, size_t size)
{
	if (size != sizeof(*d))
		return -1;
	d->text[sizeof(d->text) - 1] = '\0';
	report_gpu_trouble(m, m->session, (int)d->head.number, "%s", d->text);
	return 0;
}

static int switch_row(struct gpu_monitor *m, struct monitor_gpu *g, const struct gpu_wire_switch *w)
{
	int64_t v[TABLE_MAX_COLUMNS], time = gpu_clock_raw(&g->clock, w->ticks) - raw_start(m);

	if (is_outside_windows(m, time))
		return 0;
	/* Times of other users' contexts are not exact: they may be told in another order. */
	if (time < g->last_switch)
		time = g->last_switch;
	g->last_switch = time;
	v[COLUMN_GPU_SWITCH_TIME] = time;
	v[COLUMN_GPU_SWITCH_TAG] = w->begins ? GPU_SWITCH_BEGINS : GPU_SWITCH_ENDS;
	v[COLUMN_GPU_SWITCH_CONTEXT] = w->context;
	v[COLUMN_GPU_SWITCH_PID] = w->pid;
	v[COLUMN_GPU_SWITCH_SEQUENCE] = w->sequence;
	return report_append(g->switches, v, BIT(COLUMN_GPU_SWITCH_SEQUENCE + 1) - 1);
}

static int take_switches(struct gpu_monitor *m, const struct gpu_wire_switches *d, size_t size)
{
	struct monitor_gpu *g = gpu_by_index(m, d->head.gpu);
	uint64_t unwritten = 0;

	if (!g || !g->clock.started || size != sizeof(*d) + (uint64_t)d->head.count * sizeof(d->switches[0]))
		return -1;
	if (!g->switches) {
		g->switches = session_track(m->session, TABLE_GPU_SWITCH, TRACK_GPU_SWITCH, 0, 0, g->uid, 0);
		g->last_switch = INT64_MIN;
	}
	for (uint32_t i = 0; i < d->head.count; i++)
		unwritten += !g->switches || switch_row(m, g, &d->switches[i]) < 0;
	session_loss(m->session, 0, 0, LOSS_GPU_SWITCHES, unwritten);
	return 0;
}

static int take_lost(struct gpu_monitor *m, const struct gpu_wire_lost *d, size_t size)
{
	struct monitor_gpu *g = gpu_by_index(m, d->head.gpu);

	if (size != sizeof(*d) || !g || d->count > 1u << 30 || d->head.number > GPU_LOST_SWITCHES)
		return -1;
	session_loss(m->session, 0, 0, d->head.number == GPU_LOST_SWITCHES ? LOSS_GPU_SWITCHES : LOSS_GPU_SAMPLES, d->count);
	return 0;
}

static int take_gpu_message(struct gpu_monitor *m, size_t size)
{
	void *message = m->buffer;
	const struct gpu_wire_head *head = message;

	if (size < sizeof(*head))
		return -1;
	switch (head->kind) {
	case GPU_WIRE_DEVICE: return take_device(m, message, size);
	case GPU_WIRE_METRIC: return take_gpu_metric(m, message, size);
	case GPU_WIRE_VALUES: return take_values(m, message, size);
	case GPU_WIRE_SAMPLES: return take_samples(m, message, size);
	case GPU_WIRE_CLOCK: return take_clock(m, message, size);
	case GPU_WIRE_SWITCHES: return take_switches(m, message, size);
	case GPU_WIRE_LOST: return take_lost(m, message, size);
	case GPU_WIRE_DIAGNOSTIC: return take_gpu_text(m, message, size);
	case GPU_WIRE_READY: m->ready = 1; return 0;
	case GPU_WIRE_END: m->ended = 1; return 0;
	}
	return -1;
}

static void abandon_gpu_monitor(struct gpu_monitor *m)
{
	close(m->fd);
	m->fd = -1;
	m->ready = 1;
}

/* Once it is gone: did it say so before? A driver may take its time to let go of a process, so nobody waits for it here. */
static void look_after(struct gpu_monitor *m)
{
	int status = 0;
	pid_t pid = waitpid(m->pid, &status, WNOHANG);

	if (pid == 0 || (pid < 0 && errno == EINTR))
		return;
	m->pid = 0;
	if (m->ended)
		return;
	if (pid > 0 && WIFSIGNALED(status))
		report_gpu_trouble(m, m->session, DIAGNOSTIC_WARNING,
				   "The process that reads the GPUs died of signal %d (%s): no values of GPUs are recorded from here on. "
				   "Everything else continues.",
				   WTERMSIG(status), strsignal(WTERMSIG(status)));
	else
		report_gpu_trouble(m, m->session, DIAGNOSTIC_WARNING,
				   "The process that reads the GPUs ended: no values of GPUs are recorded from here on.");
}

/* 1: a message was taken, 0: there is none now, -1: no more will come. */
static ssize_t take_one(struct gpu_monitor *m)
{
	ssize_t n;

	do
		n = recv(m->fd, m->buffer, GPU_WIRE_MAX, MSG_DONTWAIT);
	while (n < 0 && errno == EINTR);
	if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
		return 0;
	if (n <= 0) {
		abandon_gpu_monitor(m);
		return -1;
	}
	if (take_gpu_message(m, (size_t)n) < 0)
		m->damaged++;
	return n;
}

uint64_t gpu_monitor_round(struct gpu_monitor *m)
{
	uint64_t bytes = 0;
	ssize_t n;

	if (!m->pid)
		return 0;
	while (m->fd >= 0 && bytes < ROUND_BYTES && (n = take_one(m)) > 0)
		bytes += (uint64_t)n;
	if (m->fd < 0)
		look_after(m);
	return bytes;
}

static int64_t now_ms(void)
{
	return collector_raw() / 1000000;
}

/* Takes messages until `*flag`, the end of the process or the deadline. */
static void take_until(struct gpu_monitor *m, const int *flag, int64_t ms)
{
	int64_t until = now_ms() + ms, left;
	struct pollfd fd;

	while (m->fd >= 0 && !*flag && (left = until - now_ms()) > 0) {
		fd = (struct pollfd){ .fd = m->fd, .events = POLLIN };
		if (poll(&fd, 1, (int)left) > 0)
			take_one(m);
	}
}

void gpu_monitor_wait(struct gpu_monitor *m, const struct gpu_options *options)
{
	if (m->fd < 0 || (!options->metrics_devices && !options->context_switches))
		return;
	take_until(m, &m->ready, READY_MS);
	if (!m->ready)
		report_gpu_trouble(m, m->session, DIAGNOSTIC_WARNING, "GPUs were not ready after %d s: their metrics begin late.",
				   READY_MS / 1000);
}

static void report_clocks(struct gpu_monitor *m)
{
	char key[64];

	for (uint32_t i = 0; i < m->gpu_count; i++) {
		if (!m->gpus[i].clock.started)
			continue;
		snprintf(key, sizeof(key), "gpu%u_timer_error_ns", m->gpus[i].index);
		session_fact(m->session, key, gpu_clock_error(&m->gpus[i].clock));
	}
	if (m->damaged)
		report_gpu_trouble(m, m->session, DIAGNOSTIC_WARNING, "%u messages of the process that reads the GPUs were not valid.",
				   m->damaged);
}

void gpu_monitor_finish(struct gpu_monitor *m)
{
	const struct timespec moment = { .tv_nsec = 5000000 };

	if (!m->session)
		return;
	if (m->fd >= 0) {
		shutdown(m->fd, SHUT_WR);
		take_until(m, &m->ended, END_MS);
	}
	if (m->fd >= 0) {
		if (!m->ended)
			report_gpu_trouble(m, m->session, DIAGNOSTIC_WARNING,
					   "The process that reads the GPUs did not end in time: its last values are missing.");
		m->ended = 1;
		abandon_gpu_monitor(m);
	}
	if (m->pid)
		kill(m->pid, SIGKILL);
	for (int i = 0; i < GONE_TRIES && m->pid && !m->ended; i++) {
		look_after(m);
		nanosleep(&moment, NULL);
	}
	report_clocks(m);
}

void gpu_monitor_release(struct gpu_monitor *m)
{
	for (uint32_t i = 0; i < m->metric_count; i++)
		free(m->metrics[i].waiting);
	free(m->gpus);
	free(m->metrics);
	free(m->buffer);
	buf_release(&m->notes);
	*m = (struct gpu_monitor){ .fd = -1 };
}

/* Without a driver there is nothing to look for, and by default nothing to say either. */
static int worth_trying(const struct gpu_options *o)
{
	const char *given = getenv("SONDE_NVML");

	if (!o->nvml_hz && !o->metrics_devices && !o->context_switches)
		return 0;
	return o->nvml_given || o->metrics_devices || o->context_switches || (given && *given) || access("/dev/nvidiactl", F_OK) == 0 ||
	       access("/dev/dxg", F_OK) == 0;
}

int gpu_monitor_attach(struct gpu_monitor *m, struct session *s, int fd, pid_t pid)
{
	*m = (struct gpu_monitor){ .session = s, .fd = fd, .pid = pid, .notes = m->notes };
	m->gpus = calloc(MAX_GPUS, sizeof(*m->gpus));
	m->buffer = malloc(GPU_WIRE_MAX);
	if (m->gpus && m->buffer)
		return 0;
	gpu_monitor_release(m);
	return -ENOMEM;
}

/* Returns in the parent alone. */
static int fork_gpu_monitor(struct gpu_monitor *m, struct session *s, struct collector *c)
{
	int pair[2], size = SOCKET_BYTES;
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return -errno;
	if (setsockopt(pair[1], SOL_SOCKET, SO_SNDBUFFORCE, &size, sizeof(size)) < 0)
		setsockopt(pair[1], SOL_SOCKET, SO_SNDBUF, &size, sizeof(size));
	pid = fork();
	if (pid == 0) {
		close(pair[0]);
		c->fd = pair[1];
		collector_main(c);
	}
	close(pair[1]);
	if (pid > 0 && gpu_monitor_attach(m, s, pair[0], pid) == 0)
		return 0;
	/* A process that was started ends by itself. */
	close(pair[0]);
	return -ENOMEM;
}

void gpu_monitor_begin(struct gpu_monitor *m, struct session *s, const struct gpu_options *options, struct ring_session *page,
		       struct ring_doorbell *doorbell)
{
	struct collector *c;

	*m = (struct gpu_monitor){ .fd = -1 };
	if (!worth_trying(options))
		return;
	c = calloc(1, sizeof(*c));
	if (c) {
		c->options = options;
		c->page = page;
		c->doorbell = doorbell;
		atomic_store(&c->nvml_hz, (uint32_t)options->nvml_hz);
	}
	if (!c || fork_gpu_monitor(m, s, c) < 0)
		report_gpu_trouble(m, s, DIAGNOSTIC_WARNING, "The state of GPUs is not recorded: no process could be started.");
	free(c);
}
