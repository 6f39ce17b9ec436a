#include "record/gpu/collector.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "record/gpu/counters.h"
#include "record/gpu/switches.h"
#include "ring/ring_layout.h"

/* Diagnostics have the numbers of the agents' (fmt/record.h). */
#include "fmt/record.h"

/* How often hardware counters and context switches are fetched, and how soon an opened window is seen. */
#define FETCH_MS 20
#define CLOSED_MS 5

int64_t collector_raw(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC_RAW, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

int collector_window(const struct collector *c)
{
	return (atomic_load(&c->page->gate) & ~(uint32_t)RING_GATE_WARM) != 0;
}

void collector_send(struct collector *c, const void *message, size_t size)
{
	ssize_t n;

	do
		n = send(c->fd, message, size, MSG_NOSIGNAL);
	while (n < 0 && errno == EINTR);
	if (n < 0 && errno != EMSGSIZE)
		_exit(0);
}

void collector_ring(struct collector *c)
{
	if (atomic_exchange(&c->doorbell->sleeping, 0))
		syscall(SYS_futex, &c->doorbell->sleeping, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

void collector_diagnose(struct collector *c, int severity, const char *format, ...)
{
	struct gpu_wire_text m = { .head = { .kind = GPU_WIRE_DIAGNOSTIC, .number = (uint32_t)severity } };
	va_list args;

	va_start(args, format);
	vsnprintf(m.text, sizeof(m.text), format, args);
	va_end(args);
	collector_send(c, &m, sizeof(m));
}

uint32_t collector_metric(struct collector *c, struct gpu_wire_metric *m)
{
	m->head.kind = GPU_WIRE_METRIC;
	m->head.number = atomic_fetch_add(&c->next_metric, 1);
	collector_send(c, m, sizeof(*m));
	return m->head.number;
}

void collector_clock(struct collector *c, const struct gpu_device *g, uint64_t ticks, int64_t raw, int64_t error)
{
	struct gpu_wire_clock m = { .head = { .kind = GPU_WIRE_CLOCK, .gpu = g->index }, .ticks = ticks, .raw = raw, .error = error };

	collector_send(c, &m, sizeof(m));
}

/* The narrowest of a few. What the driver says of our clock is believed where it lies in the bracket. */
void collector_read_timer(struct collector *c, const struct gpu_device *g, const struct nvidia_subdevice *t)
{
	int64_t before, after, raw, best_raw = 0, best = INT64_MAX;
	uint64_t ticks, best_ticks = 0;

	for (int i = 0; i < 3; i++) {
		before = collector_raw();
		if (nvidia_timer_read(t, &ticks, &raw) < 0)
			break;
		after = collector_raw();
		if (after - before >= best)
			continue;
		best = after - before;
		best_raw = raw >= before && raw <= after ? raw : before + best / 2;
		best_ticks = ticks;
	}
	if (best != INT64_MAX)
		collector_clock(c, g, best_ticks, best_raw, best);
}

static void describe_gpu_device(struct collector *c, struct gpu_device *g)
{
	/* clang-format off */
	struct gpu_wire_device m = { .head = { .kind = GPU_WIRE_DEVICE, .gpu = g->index }, .memory = INT64_MIN,
				     .clock = INT64_MIN, .major = INT64_MIN, .minor = INT64_MIN, .mig = INT64_MIN };
	/* clang-format on */
	const struct nvml *n = &c->nvml;
	struct nvml_memory memory;
	unsigned current, pending, mhz;
	int major, minor;

	memcpy(m.name, g->name, sizeof(m.name));
	memcpy(m.uuid, g->uuid, sizeof(m.uuid));
	memcpy(m.bus, g->bus, sizeof(m.bus));
	if (n->nvmlDeviceGetMemoryInfo && n->nvmlDeviceGetMemoryInfo(g->nvml, &memory) == NVML_OK)
		m.memory = (int64_t)memory.total;
	if (n->nvmlDeviceGetMaxClockInfo && n->nvmlDeviceGetMaxClockInfo(g->nvml, NVML_CLOCK_SM, &mhz) == NVML_OK)
		m.clock = (int64_t)mhz * 1000000;
	if (n->nvmlDeviceGetCudaComputeCapability && n->nvmlDeviceGetCudaComputeCapability(g->nvml, &major, &minor) == NVML_OK) {
		m.major = major;
		m.minor = minor;
	}
	if (n->nvmlDeviceGetMigMode && n->nvmlDeviceGetMigMode(g->nvml, &current, &pending) == NVML_OK)
		m.mig = current != 0;
	m.mps = nvml_has_mps(c, g);
	collector_send(c, &m, sizeof(m));
}

static int open_gpu(struct collector *c, unsigned index)
{
	struct gpu_device *g = &c->gpus[c->gpu_count];
	int result = c->nvml.nvmlDeviceGetHandleByIndex_v2(index, &g->nvml);

	if (result == NVML_OK)
		result = c->nvml.nvmlDeviceGetPciInfo_v3(g->nvml, &g->pci);
	if (result == NVML_OK)
		result = c->nvml.nvmlDeviceGetUUID(g->nvml, g->uuid, sizeof(g->uuid));
	if (result != NVML_OK)
		return result;
	if (c->nvml.nvmlDeviceGetName(g->nvml, g->name, sizeof(g->name)) != NVML_OK)
		snprintf(g->name, sizeof(g->name), "GPU %u", index);
	snprintf(g->bus, sizeof(g->bus), "%04x:%02x:%02x.0", g->pci.domain, g->pci.bus, g->pci.device);
	g->index = index;
	c->gpu_count++;
	return NVML_OK;
}

int collector_open(struct collector *c, char *why, size_t why_size)
{
	unsigned count = 0;
	int result = nvml_load(&c->nvml, why, why_size), lost = NVML_OK;

	if (result < 0)
		return result;
	result = c->nvml.nvmlDeviceGetCount_v2(&count);
	for (unsigned i = 0; result == NVML_OK && i < count && c->gpu_count < COLLECTOR_MAX_GPUS; i++) {
		lost = open_gpu(c, i);
		/* One that fell off the bus, or belongs to somebody else: the others are still there. */
		if (lost != NVML_OK && c->fd >= 0)
			collector_diagnose(c, DIAGNOSTIC_WARNING, "GPU %u cannot be read: %s.", i, nvml_text(&c->nvml, lost));
	}
	if (c->gpu_count)
		return 0;
	snprintf(why, why_size, "NVML sees no GPU (%s)", nvml_text(&c->nvml, result ? result : lost));
	return -ENODEV;
}

/* Nothing of the recorder's stays open, and none of its signals are ours. */
static void become_collector(struct collector *c)
{
	struct sigaction normal = { .sa_handler = SIG_DFL };
	struct rlimit none = { 0, 0 };
	sigset_t empty;
	int fd = dup2(c->fd, 3);

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_NAME, "sonde-gpu");
	/* A crash in a vendor library is told of; it leaves no core file in somebody's folder. */
	setrlimit(RLIMIT_CORE, &none);
	close_range(4, ~0u, 0);
	c->fd = fd;
	sigaction(SIGINT, &normal, NULL);
	sigaction(SIGTERM, &normal, NULL);
	sigemptyset(&empty);
	sigprocmask(SIG_SETMASK, &empty, NULL);
	/* Our own agent has nothing to look for here. */
	unsetenv("CUDA_INJECTION64_PATH");
	unsetenv("NVTX_INJECTION64_PATH");
	unsetenv("LD_PRELOAD");
}

/* The recorder says by closing its side that it wants no more. */
static int recorder_is_done(const struct collector *c, int timeout_ms)
{
	struct pollfd fd = { .fd = c->fd, .events = POLLIN };

	return poll(&fd, 1, timeout_ms) > 0 && fd.revents;
}

static void send_plain(struct collector *c, uint32_t kind)
{
	struct gpu_wire_head m = { .kind = kind };

	collector_send(c, &m, sizeof(m));
	collector_ring(c);
}

struct work {
	struct counters *counters; /* NULL: not wanted, or not possible; as the next */
	struct switches *switches;
};

static void window(const struct work *w, int open)
{
	if (w->counters)
		counters_window(w->counters, open);
	if (w->switches)
		switches_window(w->switches, open);
}

static void fetch_gpu_values(const struct work *w)
{
	if (w->counters)
		counters_fetch(w->counters);
	if (w->switches)
		switches_fetch(w->switches);
}

static void collect_gpu_values(struct collector *c, const struct work *w)
{
	int any = w->counters || w->switches, open = 0;

	while (!recorder_is_done(c, any && open ? FETCH_MS : any ? CLOSED_MS : -1)) {
		if (any && open != collector_window(c)) {
			open = !open;
			window(w, open);
		}
		if (open)
			fetch_gpu_values(w);
	}
	if (open)
		window(w, 0);
}

_Noreturn void collector_main(struct collector *c)
{
	struct work work = { 0 };
	char why[512] = "";

	become_collector(c);
	if (collector_open(c, why, sizeof(why)) < 0) {
		collector_diagnose(c, DIAGNOSTIC_WARNING, "The state of GPUs is not recorded%s: %s.",
				   c->options->context_switches ? ", and GPU context switches are not recorded" : "", why);
	} else {
		for (uint32_t i = 0; i < c->gpu_count; i++)
			describe_gpu_device(c, &c->gpus[i]);
		if (c->options->metrics_devices)
			work.counters = counters_open(c);
		if (c->options->context_switches)
			work.switches = switches_open(c);
		if (atomic_load(&c->nvml_hz))
			nvml_values_start(c);
	}
	send_plain(c, GPU_WIRE_READY);
	collect_gpu_values(c, &work);
	send_plain(c, GPU_WIRE_END);
	_exit(0);
}
