#include "record/gpu/counters.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fmt/record.h"
#include "vendor/cuda/driver.h"
#include "vendor/cupti/cupti.h"

/* What the hardware fills until it is fetched. A sample takes some KB there: every unit of the chip writes its own counters. */
#define BUFFER_SIZE (256u << 20)
#define BUFFER_SIZE_FAST (512u << 20)
#define BUFFER_SIZE_LEAST (16u << 20)
#define FAST_HZ 50000
/* Samples that are decoded lie in an image in our memory, about 16 KB each. CUPTI throws away what does not fit, so that it has room for
 * whatever may come while nobody decodes: a fifth of a second, and more once that was not enough. */
#define SAMPLES_LEAST 256u
#define SAMPLES_MOST 16384u
#define SAMPLES_PER_SECOND_SHARE 5u
/* More than are expected, as hardware and we count time differently. */
#define SAMPLES_SPARE 64u
/* NVML's values change no more often than this. */
#define NVML_HZ_INSTEAD 50

/* Results of CUPTI that there is more to say about. */
enum { CUPTI_INVALID_OPERATION = 7, CUPTI_VIRTUAL_PRIVILEGES = 40, CUPTI_MIG_DEVICE = 43, CUPTI_UNKNOWN = 999 };

struct sampler {
	struct collector *collector;
	const struct cupti_pm *pm;
	const struct gpu_device *gpu;
	const struct metric_set *set;
	struct counter_choice choice;
	struct nvidia_subdevice timer; /* fd -1: there is none */
	void *host;
	void *object;      /* CUPTI's */
	uint8_t *counters; /* the image, CUPTI's, and how many samples fit into it */
	size_t counters_size;
	uint32_t room;
	size_t taken; /* of the samples in the image, and the end of its first */
	uint64_t first_end;
	uint64_t interval; /* ns */
	uint32_t first_metric;
	int running;
	uint64_t last_end;  /* 0: this window has no sample yet */
	uint32_t overflows; /* of the hardware's buffer, in this window; of the image */
	uint32_t image_overflows;
	int64_t last_fetch; /* when it began, and the longest time from one to the next */
	int64_t longest_pause;
	int failed;
};

struct counters {
	struct collector *collector;
	struct cuda_driver driver;
	struct cupti_pm pm;
	struct metric_set set;
	uint32_t count;
	struct sampler samplers[COLLECTOR_MAX_GPUS];
	struct gpu_wire_samples *message;
	int list_to; /* for counters_list() */
	uint8_t listed[COLLECTOR_MAX_GPUS];
};

static void set_reason(char *why, size_t size, const char *format, ...) __attribute__((format(printf, 3, 4)));

static void set_reason(char *why, size_t size, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(why, size, format, args);
	va_end(args);
}

/* A result of CUPTI and what to do about it. */
static void explain_sampling_result(const struct cupti_pm *pm, int result, const char *call, char *why, size_t size)
{
	const char *advice = "";

	switch (result) {
	case CUPTI_INSUFFICIENT_PRIVILEGES:
	case CUPTI_VIRTUAL_PRIVILEGES:
		advice = ": the driver keeps its counters for administrators; run as root, or load it with "
			 "NVreg_RestrictProfilingToAdminUsers=0";
		break;
	case CUPTI_MIG_DEVICE: advice = ": in MIG mode the counters of the whole GPU are not available"; break;
	case CUPTI_INVALID_OPERATION:
	case CUPTI_HARDWARE_BUSY:
	case CUPTI_UNKNOWN: advice = ": another tool may use the counters (ncu, nsys, DCGM: 'dcgmi profile --pause')"; break;
	}
	set_reason(why, size, "%s says %s%s", call, cupti_pm_text(pm, result), advice);
}

static int check_device(const struct cupti_pm *pm, int device, char *why, size_t size)
{
	struct pm_device_supported p = PM_PARAMETERS(pm_device_supported, api);
	int r;

	if (!pm->cuptiProfilerDeviceSupported)
		return 0;
	p.device = device;
	p.api = PM_PROFILER_API;
	r = pm->cuptiProfilerDeviceSupported(&p);
	if (r == CUPTI_INSUFFICIENT_PRIVILEGES) {
		explain_sampling_result(pm, r, "cuptiProfilerDeviceSupported", why, size);
		return -1;
	}
	/* Not knowing is no reason not to try. */
	if (r || p.supported == PM_SUPPORTED || p.supported == PM_UNKNOWN)
		return 0;
	set_reason(why, size, "the GPU cannot be sampled%s%s%s%s%s",
		   p.architecture == PM_UNSUPPORTED ? ": its architecture is too old, PM sampling requires Turing or later" : "",
		   p.vgpu == PM_DISABLED    ? ": profiling of this virtual GPU is switched off on its host" :
		   p.vgpu == PM_UNSUPPORTED ? ": it is a virtual GPU without profiling" :
					      "",
		   p.confidential == PM_UNSUPPORTED ? ": confidential computing is on" : "",
		   p.wsl == PM_UNSUPPORTED ? ": WSL does not support it" : "", p.sli == PM_UNSUPPORTED ? ": SLI is on" : "");
	return -1;
}

static int find_chip_name(const struct cupti_pm *pm, int device, char *ret, size_t size, char *why, size_t why_size)
{
	struct pm_chip_name p = PM_PARAMETERS(pm_chip_name, chip);
	int r;

	p.device = (size_t)device;
	r = pm->cuptiDeviceGetChipName(&p);
	if (r) {
		explain_sampling_result(pm, r, "cuptiDeviceGetChipName", why, why_size);
		return -1;
	}
	snprintf(ret, size, "%s", p.chip ? p.chip : "");
	return 0;
}

/* Units that were cut from this very chip. NULL does no harm: the chip's name says nearly all. */
static uint8_t *availability_of(const struct cupti_pm *pm, int device)
{
	struct pm_availability p = PM_PARAMETERS(pm_availability, image);

	p.device = (size_t)device;
	if (!pm->cuptiPmSamplingGetCounterAvailability || pm->cuptiPmSamplingGetCounterAvailability(&p) || !p.image_size)
		return NULL;
	p.image = calloc(1, p.image_size);
	if (p.image && pm->cuptiPmSamplingGetCounterAvailability(&p)) {
		free(p.image);
		p.image = NULL;
	}
	return p.image;
}

static int select_gpu_counters(struct sampler *s, int device, const char *chip, char *why, size_t size)
{
	uint8_t *availability = availability_of(s->pm, device);
	int r = counter_choose(s->pm, chip, availability, s->set, &s->choice);

	if (r == 0)
		s->host = counter_host(s->pm, chip, availability, &r);
	free(availability);
	if (r == 0)
		return 0;
	if (r == -1)
		set_reason(why, size, "the chip %s has none of the metrics in the set '%s'", chip, s->set->name);
	else
		set_reason(why, size, "CUPTI does not know the chip %s (%s); a newer CUPTI may", chip, cupti_pm_text(s->pm, r));
	return -1;
}

/* A smaller buffer is better than none: it is memory that cannot be paged out. */
static int set_sampler_config(struct sampler *s, int trigger, uint64_t interval)
{
	struct pm_set_config p = PM_PARAMETERS(pm_set_config, append);
	int r = CUPTI_OUT_OF_MEMORY;

	p.sampler = s->object;
	p.image = s->choice.image;
	p.image_size = s->choice.image_size;
	p.interval = interval;
	p.trigger = trigger;
	p.append = PM_KEEP_OLDEST;
	for (p.buffer_size = s->collector->options->metrics_hz > FAST_HZ ? BUFFER_SIZE_FAST : BUFFER_SIZE;
	     r == CUPTI_OUT_OF_MEMORY && p.buffer_size >= BUFFER_SIZE_LEAST; p.buffer_size /= 2)
		r = s->pm->cuptiPmSamplingSetConfig(&p);
	return r;
}

/* Intervals in time where the hardware can (not Turing, not GA100), else in clocks of about the rate asked for. */
static int configure_sampler(struct sampler *s)
{
	const struct nvml *n = &s->collector->nvml;
	unsigned mhz = 1500;
	int r = set_sampler_config(s, PM_TRIGGER_TIME, s->interval);

	if (r == 0 || r == CUPTI_INSUFFICIENT_PRIVILEGES)
		return r;
	if (n->nvmlDeviceGetMaxClockInfo)
		n->nvmlDeviceGetMaxClockInfo(s->gpu->nvml, NVML_CLOCK_SM, &mhz);
	return set_sampler_config(s, PM_TRIGGER_CLOCKS, s->interval * mhz / 1000);
}

/* Empties the image; what the hardware is still writing comes with the next decoding. */
static int empty_image(struct sampler *s)
{
	struct pm_counters_initialize init = PM_PARAMETERS(pm_counters_initialize, counters);

	init.sampler = s->object;
	init.counters = s->counters;
	init.counters_size = s->counters_size;
	s->taken = 0;
	s->first_end = 0;
	return s->pm->cuptiPmSamplingCounterDataImageInitialize(&init);
}

/* Asking for the size of another image makes CUPTI refuse the one there was: a new one takes its place. Without memory for it, it is
 * asked for the old size again. */
static int create_counter_image(struct sampler *s, uint32_t room)
{
	struct pm_counters_size size = PM_PARAMETERS(pm_counters_size, counters_size);
	uint8_t *counters;
	int r;

	size.sampler = s->object;
	size.names = s->choice.names;
	size.count = s->choice.count;
	size.max_samples = room;
	r = s->pm->cuptiPmSamplingGetCounterDataSize(&size);
	if (r)
		return r;
	counters = calloc(1, size.counters_size);
	if (!counters)
		return s->counters && room != s->room ? create_counter_image(s, s->room) : CUPTI_OUT_OF_MEMORY;
	free(s->counters);
	s->counters = counters;
	s->counters_size = size.counters_size;
	s->room = room;
	return empty_image(s);
}

static int make_first_image(struct sampler *s)
{
	uint64_t samples = (uint64_t)s->collector->options->metrics_hz / SAMPLES_PER_SECOND_SHARE;

	return create_counter_image(s, samples < SAMPLES_LEAST ? SAMPLES_LEAST : samples > SAMPLES_MOST ? SAMPLES_MOST : (uint32_t)samples);
}

/* Room in the image for all samples of the time since they were last decoded. */
static int make_image_room(struct sampler *s, int64_t now)
{
	uint64_t expected = (uint64_t)(now - s->last_fetch) / s->interval;
	uint32_t room = s->room;

	expected += expected / 4 + SAMPLES_SPARE;
	while (room < expected && room < SAMPLES_MOST)
		room = room < SAMPLES_MOST / 2 ? room * 2 : SAMPLES_MOST;
	if (room != s->room)
		return create_counter_image(s, room);
	return s->room - s->taken < expected ? empty_image(s) : 0;
}

static int enable_sampler(struct sampler *s, int device, char *why, size_t size)
{
	struct pm_enable p = PM_PARAMETERS(pm_enable, sampler);
	struct pm_command disable = PM_PARAMETERS(pm_command, sampler);
	const char *call = "cuptiPmSamplingEnable";
	int r;

	p.device = (size_t)device;
	r = s->pm->cuptiPmSamplingEnable(&p);
	s->object = disable.sampler = p.sampler;
	if (r == 0) {
		call = "cuptiPmSamplingSetConfig";
		r = configure_sampler(s);
	}
	if (r == 0) {
		call = "cuptiPmSamplingGetCounterDataSize";
		r = make_first_image(s);
	}
	if (r == 0)
		return 0;
	explain_sampling_result(s->pm, r, call, why, size);
	if (s->object)
		s->pm->cuptiPmSamplingDisable(&disable);
	s->object = NULL;
	return -1;
}

static void describe_metrics(struct sampler *s)
{
	struct gpu_wire_metric m;
	uint32_t number;

	for (size_t i = 0; i < s->choice.count; i++) {
		const struct metric_entry *e = &s->set->entries[s->choice.entries[i]];

		m = (struct gpu_wire_metric){ .head = { .gpu = s->gpu->index },
					      .source = GPU_SOURCE_COUNTERS,
					      .id = (uint32_t)i,
					      .real = 1,
					      .hz = (uint32_t)s->collector->options->metrics_hz };
		memcpy(m.name, e->title, sizeof(m.name));
		memcpy(m.metric, e->metric, sizeof(m.metric));
		memcpy(m.unit, e->unit, sizeof(m.unit));
		number = collector_metric(s->collector, &m);
		if (i == 0)
			s->first_metric = number;
	}
}

static void report_chip(struct sampler *s, const char *chip)
{
	/* clang-format off */
	struct gpu_wire_device m = { .head = { .kind = GPU_WIRE_DEVICE, .gpu = s->gpu->index }, .memory = INT64_MIN, .clock = INT64_MIN,
				     .major = INT64_MIN, .minor = INT64_MIN, .mig = INT64_MIN, .mps = INT64_MIN };
	/* clang-format on */

	memcpy(m.uuid, s->gpu->uuid, sizeof(m.uuid));
	snprintf(m.chip, sizeof(m.chip), "%s", chip);
	collector_send(s->collector, &m, sizeof(m));
}

static void report_missing_counters(struct sampler *s)
{
	const struct counter_choice *c = &s->choice;

	if (c->unknown[0])
		collector_diagnose(s->collector, DIAGNOSTIC_INFO, "GPU %u does not have these metrics of the set '%s': %s.", s->gpu->index,
				   s->set->name, c->unknown);
	if (c->left_out[0])
		collector_diagnose(s->collector, DIAGNOSTIC_WARNING,
				   "GPU %u cannot count these metrics of the set '%s' together with those before them: %s.", s->gpu->index,
				   s->set->name, c->left_out);
}

/* Everything but starting. */
static int open_sampler(struct counters *all, struct sampler *s, const struct gpu_device *gpu, int device, char *chip, size_t chip_size,
			char *why, size_t size)
{
	struct error err = { "" };

	/* clang-format off */
	*s = (struct sampler){ .collector = all->collector, .pm = &all->pm, .gpu = gpu, .set = &all->set, .timer = { .fd = -1 },
			       .interval = (uint64_t)(1000000000 / all->collector->options->metrics_hz) };
	/* clang-format on */
	if (check_device(s->pm, device, why, size) < 0 || find_chip_name(s->pm, device, chip, chip_size, why, size) < 0)
		return -1;
	if (!all->set.count && metric_set_find(&all->set, all->collector->options->metrics_set, chip, &err) < 0) {
		set_reason(why, size, "%s", err.text);
		return -1;
	}
	if (!metric_set_fits(&all->set, chip)) {
		set_reason(why, size, "the set '%s' is not for the chip %s", all->set.name, chip);
		return -1;
	}
	if (select_gpu_counters(s, device, chip, why, size) < 0 || enable_sampler(s, device, why, size) < 0)
		return -1;
	if (nvidia_timer_open(&s->timer, gpu->pci.domain, gpu->pci.bus, gpu->pci.device) < 0)
		s->timer.fd = -1;
	return 0;
}

static int load_libraries(struct counters *all, char *why, size_t size)
{
	struct pm_initialize p = PM_PARAMETERS(pm_initialize, priv);
	int r;

	/* All GPUs, numbered as NVML does; or those that the program will see. */
	if (strcmp(all->collector->options->metrics_devices, "cuda-visible") != 0) {
		unsetenv("CUDA_VISIBLE_DEVICES");
		setenv("CUDA_DEVICE_ORDER", "PCI_BUS_ID", 1);
	}
	if (cuda_driver_load(&all->driver, why, size) < 0 || cupti_pm_load(&all->pm, why, size) < 0)
		return -1;
	r = all->pm.cuptiProfilerInitialize(&p);
	if (r == 0)
		return 0;
	explain_sampling_result(&all->pm, r, "cuptiProfilerInitialize", why, size);
	return -1;
}

static const struct gpu_device *gpu_at(const struct collector *c, const char *bus)
{
	unsigned domain, number, device;

	if (sscanf(bus, "%x:%x:%x", &domain, &number, &device) != 3)
		return NULL;
	for (uint32_t i = 0; i < c->gpu_count; i++)
		if (c->gpus[i].pci.domain == domain && c->gpus[i].pci.bus == number && c->gpus[i].pci.device == device)
			return &c->gpus[i];
	return NULL;
}

/* `list` is what --gpu-metrics-devices was given. */
static int is_wanted_gpu(const char *list, uint32_t index)
{
	char *end;

	if (strcmp(list, "all") == 0 || strcmp(list, "cuda-visible") == 0)
		return 1;
	for (; *list; list = *end ? end + 1 : end) {
		if (strtoul(list, &end, 10) == index && end != list)
			return 1;
		end += strcspn(end, ",");
	}
	return 0;
}

static void use_nvml_instead(struct counters *all)
{
	const struct gpu_options *o = all->collector->options;
	uint32_t hz = o->metrics_hz < NVML_HZ_INSTEAD ? (uint32_t)o->metrics_hz : NVML_HZ_INSTEAD;

	if (atomic_load(&all->collector->nvml_hz) < hz)
		atomic_store(&all->collector->nvml_hz, hz);
}

static void add_sampler(struct counters *all, const struct gpu_device *gpu, int device)
{
	struct sampler *s = &all->samplers[all->count];
	char why[512] = "", chip[32] = "";

	if (open_sampler(all, s, gpu, device, chip, sizeof(chip), why, sizeof(why)) == 0) {
		all->count++;
		report_chip(s, chip);
		report_missing_counters(s);
		describe_metrics(s);
		return;
	}
	use_nvml_instead(all);
	collector_diagnose(all->collector, DIAGNOSTIC_WARNING,
			   "No hardware metrics of GPU %u: %s. NVML's values are recorded instead, %u times a second.", gpu->index, why,
			   atomic_load(&all->collector->nvml_hz));
}

/* Calls `visit` for each GPU that CUDA has and the options name. Returns how many. */
static int each_device(struct counters *all, void (*visit)(struct counters *all, const struct gpu_device *gpu, int device))
{
	const struct gpu_device *gpu;
	int count = 0, found = 0;
	char bus[32];

	if (all->driver.cuDeviceGetCount(&count))
		count = 0;
	for (int i = 0; i < count && found < COLLECTOR_MAX_GPUS; i++) {
		gpu = all->driver.cuDeviceGetPCIBusId(bus, sizeof(bus), i) ? NULL : gpu_at(all->collector, bus);
		if (!gpu || !is_wanted_gpu(all->collector->options->metrics_devices, gpu->index))
			continue;
		visit(all, gpu, i);
		found++;
	}
	return found;
}

static void release_counters(struct counters *all)
{
	free(all->message);
	free(all);
}

struct counters *counters_open(struct collector *c)
{
	struct counters *all = calloc(1, sizeof(*all));
	char why[512] = "";
	int found = -1;

	if (!all)
		return NULL;
	all->collector = c;
	all->message = calloc(1, GPU_WIRE_MAX);
	if (all->message && load_libraries(all, why, sizeof(why)) == 0)
		found = each_device(all, add_sampler);
	if (found == 0)
		snprintf(why, sizeof(why), "CUDA does not have the GPUs of --gpu-metrics-devices=%s", c->options->metrics_devices);
	if (found <= 0) {
		use_nvml_instead(all);
		collector_diagnose(c, DIAGNOSTIC_WARNING,
				   "No hardware metrics of GPUs: %s. NVML's values are recorded instead, %u times a second.", why,
				   atomic_load(&c->nvml_hz));
	}
	if (all->count)
		return all;
	release_counters(all);
	return NULL;
}

static void read_timer(struct sampler *s)
{
	collector_read_timer(s->collector, s->gpu, &s->timer);
}

static void flush(struct counters *all, struct sampler *s)
{
	struct gpu_wire_samples *m = all->message;

	if (!m->head.count)
		return;
	m->head.kind = GPU_WIRE_SAMPLES;
	m->head.gpu = s->gpu->index;
	m->head.number = s->first_metric;
	m->metrics = (uint32_t)s->choice.count;
	collector_send(all->collector, m, sizeof(*m) + m->head.count * (m->metrics + 1) * sizeof(m->data[0]));
	m->head.count = 0;
}

static int follows_sample(const struct sampler *s, uint64_t start)
{
	return s->last_end && start <= s->last_end + s->interval / 2;
}

static void count_lost(struct sampler *s, uint64_t start)
{
	struct gpu_wire_lost m = { .head = { .kind = GPU_WIRE_LOST, .gpu = s->gpu->index, .number = GPU_LOST_SAMPLES } };

	if (!s->last_end || follows_sample(s, start))
		return;
	m.count = (start - s->last_end + s->interval / 2) / s->interval;
	collector_send(s->collector, &m, sizeof(m));
}

static void take_sample(struct counters *all, struct sampler *s, size_t index)
{
	struct pm_sample_info info = PM_PARAMETERS(pm_sample_info, end);
	struct pm_evaluate evaluate = PM_PARAMETERS(pm_evaluate, values);
	size_t width = s->choice.count + 1;
	uint64_t *row = all->message->data + all->message->head.count * width;
	double numbers[METRIC_SET_MAX];

	info.sampler = s->object;
	info.counters = evaluate.counters = s->counters;
	info.counters_size = evaluate.counters_size = s->counters_size;
	info.index = evaluate.index = index;
	evaluate.host = s->host;
	evaluate.names = s->choice.names;
	evaluate.count = s->choice.count;
	evaluate.values = numbers;
	if (s->pm->cuptiPmSamplingCounterDataGetSampleInfo(&info) || !info.end || s->pm->cuptiProfilerHostEvaluateToGpuValues(&evaluate))
		return;
	/* The first of a window may have no begin. */
	if (!info.start || info.start >= info.end)
		info.start = info.end - s->interval;
	/* Or it began when the counters were set up: it says nothing about the window. One that follows another is merely long, as the
	 * hardware's clock stood still (a context is made, a GPU wakes up): nothing is missing. */
	if (info.end - info.start > 2 * s->interval && !follows_sample(s, info.start))
		return;
	count_lost(s, info.start);
	s->last_end = info.end;
	row[0] = info.start;
	for (size_t i = 0; i < s->choice.count; i++) {
		numbers[i] /= s->set->entries[s->choice.entries[i]].divisor;
		memcpy(&row[i + 1], &numbers[i], sizeof(row[0]));
	}
	if ((++all->message->head.count + 1) * width * sizeof(row[0]) + sizeof(*all->message) > GPU_WIRE_MAX)
		flush(all, s);
}

static uint64_t end_of_sample(const struct sampler *s, size_t index)
{
	struct pm_sample_info info = PM_PARAMETERS(pm_sample_info, end);

	info.sampler = s->object;
	info.counters = s->counters;
	info.counters_size = s->counters_size;
	info.index = index;
	return s->pm->cuptiPmSamplingCounterDataGetSampleInfo(&info) ? 0 : info.end;
}

/* Samples come behind those that are in the image already. If the first is another one, CUPTI has begun at the front again. */
static void take_samples(struct counters *all, struct sampler *s, int64_t before, int64_t after)
{
	struct pm_counters_info info = PM_PARAMETERS(pm_counters_info, completed);
	uint64_t first_end, last_end;

	info.counters = s->counters;
	info.counters_size = s->counters_size;
	if (s->pm->cuptiPmSamplingGetCounterDataInfo(&info) || !info.completed)
		return;
	first_end = end_of_sample(s, 0);
	if (first_end != s->first_end)
		s->taken = 0;
	s->first_end = first_end;
	last_end = s->taken < info.completed ? end_of_sample(s, info.completed - 1) : 0;
	/* Without the timer: the last sample was over when it was fetched, and the next one was not. */
	if (s->timer.fd < 0 && last_end)
		collector_clock(s->collector, s->gpu, last_end + s->interval / 2, before + (after - before) / 2,
				after - before + (int64_t)s->interval);
	for (; s->taken < info.completed; s->taken++)
		take_sample(all, s, s->taken);
	flush(all, s);
}

static void start_sampler(struct sampler *s)
{
	struct pm_command p = PM_PARAMETERS(pm_command, sampler);
	int r;

	p.sampler = s->object;
	if (s->timer.fd >= 0)
		read_timer(s);
	r = s->pm->cuptiPmSamplingStart(&p);
	s->running = r == 0;
	s->last_end = 0;
	s->last_fetch = collector_raw();
	if (r && !s->failed)
		collector_diagnose(s->collector, DIAGNOSTIC_WARNING, "Hardware metrics of GPU %u could not be started: %s.", s->gpu->index,
				   cupti_pm_text(s->pm, r));
	s->failed |= r;
}

static void stop_sampler(struct sampler *s)
{
	struct pm_command p = PM_PARAMETERS(pm_command, sampler);

	p.sampler = s->object;
	s->pm->cuptiPmSamplingStop(&p);
	s->running = 0;
}

static void note_pause(struct sampler *s, int64_t now)
{
	if (now - s->last_fetch > s->longest_pause)
		s->longest_pause = now - s->last_fetch;
	s->last_fetch = now;
}

static int decode_into_image(struct sampler *s, struct pm_decode *p)
{
	int64_t now = collector_raw();
	int r = make_image_room(s, now);

	note_pause(s, now);
	p->sampler = s->object;
	p->counters = s->counters;
	p->counters_size = s->counters_size;
	return r ? r : s->pm->cuptiPmSamplingDecodeData(p);
}

/* Returns CUPTI's reason to stop, or -1. `overflow`: the hardware's buffer was full, nothing more comes into it. */
static int decode_gpu_samples(struct counters *all, struct sampler *s, int *overflow)
{
	struct pm_decode p = PM_PARAMETERS(pm_decode, overflow);
	int64_t before = collector_raw();
	int r = decode_into_image(s, &p);

	/* An image that has samples in it already may be refused. */
	if (r && r != CUPTI_OUT_OF_MEMORY && s->taken && empty_image(s) == 0)
		r = decode_into_image(s, &p);
	*overflow |= p.overflow || r == CUPTI_OUT_OF_MEMORY;
	if (r && r != CUPTI_OUT_OF_MEMORY) {
		if (!s->failed)
			collector_diagnose(s->collector, DIAGNOSTIC_WARNING, "Hardware metrics of GPU %u ended: %s.", s->gpu->index,
					   cupti_pm_text(s->pm, r));
		s->failed = 1;
		return -1;
	}
	take_samples(all, s, before, collector_raw());
	return r ? -1 : p.stop_reason;
}

/* Returns whether the hardware's buffer was full. What did not fit into the image is lost, and shows by the times. */
static int decode_all(struct counters *all, struct sampler *s)
{
	int overflow = 0;

	if (s->timer.fd >= 0)
		read_timer(s);
	while (decode_gpu_samples(all, s, &overflow) == PM_STOP_IMAGE_FULL)
		s->image_overflows++;
	return overflow;
}

static void report_overflows(struct sampler *s)
{
	if (s->overflows)
		collector_diagnose(s->collector, DIAGNOSTIC_WARNING,
				   "The hardware's buffer for metrics of GPU %u was full %u times, with up to %lld ms between two "
				   "reads: samples are missing. A lower --gpu-metrics-frequency needs less room.",
				   s->gpu->index, s->overflows, (long long)(s->longest_pause / 1000000));
	if (s->image_overflows)
		collector_diagnose(
			s->collector, DIAGNOSTIC_WARNING,
			"Samples of GPU %u were not fetched in time %u times, with up to %lld ms between two reads: some are missing. "
			"Use a lower --gpu-metrics-frequency, or a CPU that is less busy.",
			s->gpu->index, s->image_overflows, (long long)(s->longest_pause / 1000000));
	s->overflows = s->image_overflows = 0;
	s->longest_pause = 0;
}

static void fetch_gpu_samples(struct counters *all, struct sampler *s)
{
	uint64_t last = s->last_end;

	if (!decode_all(all, s))
		return;
	s->overflows++;
	/* Begins anew; what is missing in between shows by the times. */
	stop_sampler(s);
	last = s->last_end ? s->last_end : last;
	start_sampler(s);
	s->last_end = last;
}

void counters_fetch(struct counters *counters)
{
	for (uint32_t i = 0; i < counters->count; i++)
		if (counters->samplers[i].running && !counters->samplers[i].failed)
			fetch_gpu_samples(counters, &counters->samplers[i]);
	collector_ring(counters->collector);
}

void counters_window(struct counters *counters, int open)
{
	struct sampler *s;

	for (uint32_t i = 0; i < counters->count; i++) {
		s = &counters->samplers[i];
		if (open && !s->failed) {
			start_sampler(s);
		} else if (!open && s->running) {
			stop_sampler(s);
			decode_all(counters, s);
			report_overflows(s);
		}
	}
}

static void list_one(struct counters *all, const struct gpu_device *gpu, int device)
{
	struct sampler *s = &all->samplers[all->count];
	char why[512] = "", chip[32] = "";
	int r = open_sampler(all, s, gpu, device, chip, sizeof(chip), why, sizeof(why));

	dprintf(all->list_to, "    %u: %s (%s%s%s): %s%s\n", gpu->index, gpu->name, gpu->bus, *chip ? ", " : "", chip,
		r == 0 ? "can be sampled" : "cannot be sampled: ", why);
	all->listed[gpu - all->collector->gpus] = 1;
}

void counters_list(struct collector *c, int fd)
{
	struct counters *all = calloc(1, sizeof(*all));
	char why[512] = "CUDA does not have it";

	if (!all)
		return;
	all->collector = c;
	all->list_to = fd;
	if (load_libraries(all, why, sizeof(why)) == 0)
		each_device(all, list_one);
	for (uint32_t i = 0; i < c->gpu_count; i++)
		if (!all->listed[i])
			dprintf(fd, "    %u: %s (%s): cannot be sampled: %s\n", c->gpus[i].index, c->gpus[i].name, c->gpus[i].bus, why);
	release_counters(all);
}
