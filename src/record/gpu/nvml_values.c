/* Values of NVML, at a steady rate. What a GPU does not have is asked for once. */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>

#include "base/array.h"
#include "base/macros.h"
#include "base/system/monotonic.h"
#include "record/gpu/collector.h"

#define SECOND 1000000000ll
/* Calls that take tens of milliseconds each (they measure that long). */
#define SLOW_HZ 1
#define MAX_PROCESSES 256
#define KIB 1024
#define KB 1000

struct gpu_values;

struct value {
	const char *name;
	const char *metric;
	const char *unit;
	int slow;
	/* NVML's result. */
	int (*read)(struct gpu_values *v, int64_t *ret);
};

struct tracked_process {
	uint32_t pid;
	uint32_t metric;
};

/* The last reading of a counter that only grows. */
struct rate {
	int64_t count;
	int64_t raw;   /* 0: none yet */
	int64_t width; /* how long the reading took: it is that uncertain when the counter had this value */
};
/* A rate is told where the times of its two readings are uncertain by no more than this part of the time between them. */
#define RATE_PRECISION 20

#define MAX_VALUES 24

struct gpu_values {
	struct collector *collector;
	const struct nvml *nvml;
	const struct gpu_device *gpu;
	uint32_t metrics[MAX_VALUES]; /* number + 1; 0: not described yet */
	uint8_t missing[MAX_VALUES];
	struct nvml_utilization busy;
	int busy_result;
	struct rate received, sent;
	struct tracked_process *processes;
	uint32_t process_count;
	struct nvml_process list[MAX_PROCESSES];
};

static int read_gpu_busy(struct gpu_values *v, int64_t *ret)
{
	int (*read)(void *, struct nvml_utilization *) = v->nvml->nvmlDeviceGetUtilizationRates;

	v->busy_result = read ? read(v->gpu->nvml, &v->busy) : NVML_NOT_SUPPORTED;
	*ret = v->busy.gpu;
	return v->busy_result;
}

/* The other half of what was read just before. */
static int read_memory_busy(struct gpu_values *v, int64_t *ret)
{
	*ret = v->busy.memory;
	return v->busy_result;
}

static int read_memory(struct gpu_values *v, int64_t *ret)
{
	struct nvml_memory m = { 0, 0, 0 };
	int result = v->nvml->nvmlDeviceGetMemoryInfo ? v->nvml->nvmlDeviceGetMemoryInfo(v->gpu->nvml, &m) : NVML_NOT_SUPPORTED;

	*ret = (int64_t)m.used;
	return result;
}

static int64_t field_number(const struct nvml_field *f)
{
	switch (f->type) {
	case NVML_DOUBLE: return (int64_t)f->value.real;
	case NVML_UNSIGNED: return f->value.number;
	case NVML_SIGNED: return (int32_t)f->value.number;
	default: return f->value.signed_wide;
	}
}

static int read_field(struct gpu_values *v, unsigned id, unsigned scope, int64_t *ret)
{
	struct nvml_field f = { .id = id, .scope = scope };
	int result = v->nvml->nvmlDeviceGetFieldValues ? v->nvml->nvmlDeviceGetFieldValues(v->gpu->nvml, 1, &f) : NVML_NOT_SUPPORTED;

	*ret = field_number(&f);
	return result ? result : f.result;
}

/* As it is now where the GPU tells; else its mean, over a second on newer ones. */
static int read_power(struct gpu_values *v, int64_t *ret)
{
	unsigned mw = 0;
	int result = read_field(v, NVML_FIELD_POWER_INSTANT, 0, ret);

	if (result == NVML_OK)
		return result;
	result = v->nvml->nvmlDeviceGetPowerUsage ? v->nvml->nvmlDeviceGetPowerUsage(v->gpu->nvml, &mw) : NVML_NOT_SUPPORTED;
	*ret = mw;
	return result;
}

static int read_energy(struct gpu_values *v, int64_t *ret)
{
	unsigned long long mj = 0;
	int result = v->nvml->nvmlDeviceGetTotalEnergyConsumption ? v->nvml->nvmlDeviceGetTotalEnergyConsumption(v->gpu->nvml, &mj) :
								    NVML_NOT_SUPPORTED;

	*ret = (int64_t)mj;
	return result;
}

static int read_temperature(struct gpu_values *v, int64_t *ret)
{
	unsigned celsius = 0;
	int result = v->nvml->nvmlDeviceGetTemperature ? v->nvml->nvmlDeviceGetTemperature(v->gpu->nvml, NVML_SENSOR_GPU, &celsius) :
							 NVML_NOT_SUPPORTED;

	*ret = celsius;
	return result;
}

static int read_clock(struct gpu_values *v, int clock, int64_t *ret)
{
	unsigned mhz = 0;
	int result = v->nvml->nvmlDeviceGetClockInfo ? v->nvml->nvmlDeviceGetClockInfo(v->gpu->nvml, clock, &mhz) : NVML_NOT_SUPPORTED;

	*ret = mhz;
	return result;
}

static int read_sm_clock(struct gpu_values *v, int64_t *ret)
{
	return read_clock(v, NVML_CLOCK_SM, ret);
}

static int read_memory_clock(struct gpu_values *v, int64_t *ret)
{
	return read_clock(v, NVML_CLOCK_MEMORY, ret);
}

/* The same under two names. */
static int read_clock_reasons(struct gpu_values *v, int64_t *ret)
{
	int (*read)(void *, unsigned long long *) = v->nvml->nvmlDeviceGetCurrentClocksEventReasons;
	unsigned long long reasons = 0;
	int result;

	if (!read)
		read = v->nvml->nvmlDeviceGetCurrentClocksThrottleReasons;
	result = read ? read(v->gpu->nvml, &reasons) : NVML_NOT_SUPPORTED;
	*ret = (int64_t)reasons;
	return result;
}

static int read_encoder(struct gpu_values *v, int64_t *ret)
{
	unsigned percent = 0, period;
	int result = v->nvml->nvmlDeviceGetEncoderUtilization ? v->nvml->nvmlDeviceGetEncoderUtilization(v->gpu->nvml, &percent, &period) :
								NVML_NOT_SUPPORTED;

	*ret = percent;
	return result;
}

static int read_decoder(struct gpu_values *v, int64_t *ret)
{
	unsigned percent = 0, period;
	int result = v->nvml->nvmlDeviceGetDecoderUtilization ? v->nvml->nvmlDeviceGetDecoderUtilization(v->gpu->nvml, &percent, &period) :
								NVML_NOT_SUPPORTED;

	*ret = percent;
	return result;
}

static int read_pcie(struct gpu_values *v, int counter, int64_t *ret)
{
	unsigned kilobytes = 0;
	int result = v->nvml->nvmlDeviceGetPcieThroughput ? v->nvml->nvmlDeviceGetPcieThroughput(v->gpu->nvml, counter, &kilobytes) :
							    NVML_NOT_SUPPORTED;

	*ret = (int64_t)kilobytes * KB;
	return result;
}

static int read_pcie_received(struct gpu_values *v, int64_t *ret)
{
	return read_pcie(v, NVML_PCIE_RX, ret);
}

static int read_pcie_sent(struct gpu_values *v, int64_t *ret)
{
	return read_pcie(v, NVML_PCIE_TX, ret);
}

/* There is a rate from the second reading on; -1 until then, and where a thread without a processor read so slowly that the rate would be wrong. */
static int read_nvlink(struct gpu_values *v, unsigned field, struct rate *last, int64_t *ret)
{
	int64_t before = collector_raw(), elapsed;
	struct rate now = { 0 };
	int result = read_field(v, field, NVML_ALL_LINKS, &now.count), known;

	if (result != NVML_OK)
		return result;
	now.width = collector_raw() - before;
	now.raw = before + now.width / 2;
	elapsed = now.raw - last->raw;
	known = last->raw && elapsed > 0 && now.count >= last->count;
	if (known && (now.width + last->width) / 2 > elapsed / RATE_PRECISION) {
		*last = now.width < last->width ? now : *last;
		return -1;
	}
	if (known)
		*ret = (int64_t)((double)(now.count - last->count) * KIB * 1e9 / (double)elapsed);
	*last = now;
	return known ? NVML_OK : -1;
}

static int read_nvlink_received(struct gpu_values *v, int64_t *ret)
{
	return read_nvlink(v, NVML_FIELD_NVLINK_RX, &v->received, ret);
}

static int read_nvlink_sent(struct gpu_values *v, int64_t *ret)
{
	return read_nvlink(v, NVML_FIELD_NVLINK_TX, &v->sent, ret);
}

static const struct value values[] = {
	{ "GPU Utilization", "utilization.gpu", "%", 0, read_gpu_busy },
	{ "Memory Utilization", "utilization.memory", "%", 0, read_memory_busy },
	{ "Memory Used", "memory.used", "B", 0, read_memory },
	{ "Power", "power", "mW", 0, read_power },
	{ "Energy", "energy", "mJ", 0, read_energy },
	{ "Temperature", "temperature", "C", 0, read_temperature },
	{ "SM Clock", "clock.sm", "MHz", 0, read_sm_clock },
	{ "Memory Clock", "clock.memory", "MHz", 0, read_memory_clock },
	{ "Clock Event Reasons", "clock.reasons", "bits", 0, read_clock_reasons },
	{ "Encoder Utilization", "utilization.encoder", "%", 0, read_encoder },
	{ "Decoder Utilization", "utilization.decoder", "%", 0, read_decoder },
	{ "NVLink RX", "nvlink.rx", "B/s", 0, read_nvlink_received },
	{ "NVLink TX", "nvlink.tx", "B/s", 0, read_nvlink_sent },
	{ "PCIe RX", "pcie.rx", "B/s", 1, read_pcie_received },
	{ "PCIe TX", "pcie.tx", "B/s", 1, read_pcie_sent },
};
#define VALUE_COUNT COUNT_OF(values)
_Static_assert(VALUE_COUNT <= MAX_VALUES, "room for all values");

/* A struct gpu_wire_values with room. */
struct batch {
	struct gpu_wire_head head;
	struct gpu_wire_value values[MAX_VALUES + MAX_PROCESSES];
};

static uint32_t describe_nvml_counter(struct gpu_values *v, const char *name, const char *metric, const char *unit, uint32_t id,
				      uint32_t pid, uint32_t hz)
{
	struct gpu_wire_metric m = { .head = { .gpu = v->gpu->index }, .source = GPU_SOURCE_NVML, .id = id, .pid = pid, .hz = hz };

	snprintf(m.name, sizeof(m.name), "%s", name);
	snprintf(m.metric, sizeof(m.metric), "%s", metric);
	snprintf(m.unit, sizeof(m.unit), "%s", unit);
	return collector_metric(v->collector, &m);
}

static void put_nvml_value(struct batch *b, uint32_t metric, int64_t raw, int64_t value)
{
	b->values[b->head.count++] = (struct gpu_wire_value){ .metric = metric, .raw = raw, .value = value };
}

static void read_value(struct gpu_values *v, struct batch *b, uint32_t i, uint32_t hz)
{
	int64_t number = 0, before, after;
	int result;

	before = collector_raw();
	result = values[i].read(v, &number);
	after = collector_raw();
	/* Errors that may pass are asked again. */
	if (result == NVML_NOT_SUPPORTED || result == NVML_NO_PERMISSION)
		v->missing[i] = 1;
	if (result != NVML_OK)
		return;
	if (!v->metrics[i])
		v->metrics[i] = 1 + describe_nvml_counter(v, values[i].name, values[i].metric, values[i].unit, i, 0, hz);
	put_nvml_value(b, v->metrics[i] - 1, before + (after - before) / 2, number);
}

static int list_processes(const struct nvml *n, const struct gpu_device *g, struct nvml_process *list, unsigned *count)
{
	if (n->nvmlDeviceGetComputeRunningProcesses_v3)
		return n->nvmlDeviceGetComputeRunningProcesses_v3(g->nvml, count, list);
	if (n->nvmlDeviceGetComputeRunningProcesses_v2)
		return n->nvmlDeviceGetComputeRunningProcesses_v2(g->nvml, count, list);
	return NVML_NOT_SUPPORTED;
}

static struct tracked_process *track(struct gpu_values *v, uint32_t pid, uint32_t hz)
{
	for (uint32_t i = 0; i < v->process_count; i++)
		if (v->processes[i].pid == pid)
			return &v->processes[i];
	if (v->process_count == MAX_PROCESSES)
		return NULL;
	if (!LIST_ROOM(v->processes, v->process_count))
		return NULL;
	v->processes[v->process_count].pid = pid;
	v->processes[v->process_count].metric = describe_nvml_counter(v, "Process Memory", "process.memory", "B", VALUE_COUNT, pid, hz);
	return &v->processes[v->process_count++];
}

/* Whose processes these are the recorder knows. One that no longer uses the GPU may come again, as another. */
static void read_processes(struct gpu_values *v, struct batch *b, uint32_t hz)
{
	unsigned count = MAX_PROCESSES;
	struct tracked_process *p;
	int64_t raw;

	if (list_processes(v->nvml, v->gpu, v->list, &count) != NVML_OK || count > MAX_PROCESSES)
		return;
	raw = collector_raw();
	for (unsigned i = 0; i < count; i++) {
		p = v->list[i].memory == UINT64_MAX ? NULL : track(v, v->list[i].pid, hz);
		if (p && b->head.count < MAX_VALUES + MAX_PROCESSES)
			put_nvml_value(b, p->metric, raw, (int64_t)v->list[i].memory);
	}
}

int nvml_has_mps(const struct collector *c, const struct gpu_device *g)
{
	struct nvml_process *list = calloc(MAX_PROCESSES, sizeof(*list));
	unsigned count = MAX_PROCESSES;
	char path[64], name[32];
	int found = 0;
	FILE *f;

	if (!list || list_processes(&c->nvml, g, list, &count) != NVML_OK)
		count = 0;
	for (unsigned i = 0; i < count && i < MAX_PROCESSES && !found; i++) {
		snprintf(path, sizeof(path), "/proc/%u/comm", list[i].pid);
		f = fopen(path, "re");
		/* The kernel keeps 15 characters of nvidia-cuda-mps-server. */
		found = f && fgets(name, sizeof(name), f) && strncmp(name, "nvidia-cuda-mps", 15) == 0;
		if (f)
			fclose(f);
	}
	free(list);
	return found;
}

static void sweep(struct gpu_values *v, int slow, uint32_t hz)
{
	struct batch b = { .head = { .kind = GPU_WIRE_VALUES, .gpu = v->gpu->index } };

	for (uint32_t i = 0; i < VALUE_COUNT; i++)
		if (values[i].slow == slow && !v->missing[i])
			read_value(v, &b, i, hz);
	if (!slow)
		read_processes(v, &b, hz);
	if (b.head.count)
		collector_send(v->collector, &b, sizeof(b.head) + b.head.count * sizeof(b.values[0]));
}

/* Sleeps to the next multiple of the period; those that were missed are left out. */
static void wait_for_turn(int64_t *next, int64_t period)
{
	int64_t now = monotonic_ns();
	struct timespec t;

	*next += period;
	if (*next <= now)
		*next = now + period - (now - *next) % period;
	t.tv_sec = *next / SECOND;
	t.tv_nsec = *next % SECOND;
	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) == EINTR)
		;
}

static void read_steadily(struct collector *c, int slow)
{
	struct gpu_values *all = calloc(c->gpu_count, sizeof(*all));
	uint32_t hz = slow ? SLOW_HZ : atomic_load(&c->nvml_hz);
	int64_t next = 0;

	for (uint32_t i = 0; all && i < c->gpu_count; i++) {
		all[i].collector = c;
		all[i].nvml = &c->nvml;
		all[i].gpu = &c->gpus[i];
	}
	while (all) {
		for (uint32_t i = 0; i < c->gpu_count && collector_window(c); i++)
			sweep(&all[i], slow, hz);
		wait_for_turn(&next, SECOND / hz);
	}
}

static void *fast_main(void *collector)
{
	prctl(PR_SET_NAME, "sonde-nvml");
	read_steadily(collector, 0);
	return NULL;
}

static void *slow_main(void *collector)
{
	prctl(PR_SET_NAME, "sonde-nvml-slow");
	read_steadily(collector, 1);
	return NULL;
}

void nvml_values_start(struct collector *c)
{
	pthread_t thread;

	/* The process ends with its main thread, whatever they do then. */
	if (pthread_create(&thread, NULL, fast_main, c) == 0)
		pthread_detach(thread);
	if (pthread_create(&thread, NULL, slow_main, c) == 0)
		pthread_detach(thread);
}
