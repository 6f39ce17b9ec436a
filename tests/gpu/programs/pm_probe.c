/* Says what PM sampling can do on this machine: chips, metrics, passes, rates, and which clock the samples are stamped with.
 *
 *   gcc -O1 -Wall -D_GNU_SOURCE -Isrc -o /tmp/pm_probe tests/gpu/programs/pm_probe.c -ldl
 *   /tmp/pm_probe [-d device] [-c chip] [-m pattern] [-s seconds] [-x] [path of libcupti.so]
 *
 * The library: as given, else SONDE_CUPTI, else by its usual names. -c asks the host side about a chip (GH100) without a GPU and
 * samples nothing; -m lists the base metrics that contain a text; -x makes a CUDA context, to compare the samples' clock with
 * cuptiDeviceGetTimestamp(). */
#include <dlfcn.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "vendor/cupti/pm.h"

static const char *wanted[] = {
	"gpc__cycles_elapsed.avg.per_second",
	"sys__cycles_elapsed.avg.per_second",
	"gr__cycles_active.avg.pct_of_peak_sustained_elapsed",
	"gr__cycles_active.sum.pct_of_peak_sustained_elapsed",
	"gr__dispatch_count.avg.pct_of_peak_sustained_elapsed",
	"sm__cycles_active.avg.pct_of_peak_sustained_elapsed",
	"sm__inst_executed_realtime.avg.pct_of_peak_sustained_elapsed",
	"sm__inst_issued.avg.pct_of_peak_sustained_elapsed",
	"sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed",
	"sm__inst_executed_pipe_tensor.avg.pct_of_peak_sustained_elapsed",
	"sm__inst_executed_pipe_tensor_realtime.avg.pct_of_peak_sustained_elapsed",
	"sm__pipe_tensor_op_hmma_cycles_active.avg.pct_of_peak_sustained_elapsed",
	"sm__warps_active.avg.pct_of_peak_sustained_elapsed",
	"sm__warps_active.avg.per_cycle_elapsed",
	"tpc__warps_inactive_sm_active_realtime.avg.pct_of_peak_sustained_elapsed",
	"dram__cycles_elapsed.avg.per_second",
	"dram__read_throughput.avg.pct_of_peak_sustained_elapsed",
	"dram__write_throughput.avg.pct_of_peak_sustained_elapsed",
	"dram__throughput.avg.pct_of_peak_sustained_elapsed",
	"dram__bytes_read.sum.per_second",
	"dram__bytes_write.sum.per_second",
	"pcie__read_bytes.sum.per_second",
	"pcie__write_bytes.sum.per_second",
	"pcie__read_bytes.avg.pct_of_peak_sustained_elapsed",
	"pcie__write_bytes.avg.pct_of_peak_sustained_elapsed",
	"pcie__rx_requests_aperture_bar1_op_read.sum",
	"nvlrx__bytes.sum.per_second",
	"nvltx__bytes.sum.per_second",
	"nvlrx__bytes.avg.pct_of_peak_sustained_elapsed",
	"nvltx__bytes.avg.pct_of_peak_sustained_elapsed",
	"lts__average_t_sector_hit_rate_realtime.pct",
	"gr__ctas_launched.sum",
};
#define WANTED (sizeof(wanted) / sizeof(wanted[0]))

static struct cupti_pm pm;
static void *driver;

static const char *why(int result)
{
	const char *text = NULL;

	if (pm.cuptiGetResultString)
		pm.cuptiGetResultString(result, &text);
	return text ? text : "?";
}

static int64_t now(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void load(const char *path)
{
	static const char *const names[] = { "libcupti.so.13", "libcupti.so.12", "libcupti.so", "/usr/local/cuda/lib64/libcupti.so",
					     "/usr/local/cuda/extras/CUPTI/lib64/libcupti.so" };

	driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL);
	if (!driver)
		printf("no driver: %s\n", dlerror());
	pm.library = path ? dlopen(path, RTLD_NOW) : NULL;
	for (size_t i = 0; !path && !pm.library && i < sizeof(names) / sizeof(names[0]); i++)
		pm.library = dlopen(names[i], RTLD_NOW);
	if (!pm.library) {
		printf("no CUPTI: %s\n", dlerror());
		exit(1);
	}
	pm.cuptiGetVersion = dlsym(pm.library, "cuptiGetVersion");
	pm.cuptiGetResultString = dlsym(pm.library, "cuptiGetResultString");
#define PM_FUNCTION(needed, name, parameters) \
	pm.name = dlsym(pm.library, #name); \
	if (!pm.name) \
		printf("missing function: " #name "\n");
#include "vendor/cupti/pm_functions.def"
#undef PM_FUNCTION
}

static uint8_t *availability(int device)
{
	struct pm_availability p = PM_PARAMETERS(pm_availability, image);
	int r;

	p.device = (size_t)device;
	r = pm.cuptiPmSamplingGetCounterAvailability(&p);
	printf("counter availability: %d (%s), %zu bytes\n", r, why(r), p.image_size);
	if (r)
		return NULL;
	p.image = calloc(1, p.image_size);
	r = pm.cuptiPmSamplingGetCounterAvailability(&p);
	printf("counter availability image: %d (%s)\n", r, why(r));
	return r ? NULL : p.image;
}

static void *new_host(const char *chip, const uint8_t *available, int loud)
{
	struct pm_host_initialize p = PM_PARAMETERS(pm_host_initialize, host);
	int r;

	p.type = PM_PROFILER_TYPE;
	p.chip = chip;
	p.availability = available;
	r = pm.cuptiProfilerHostInitialize(&p);
	if (r || loud)
		printf("host object for %s: %d (%s)\n", chip, r, why(r));
	return r ? NULL : p.host;
}

static void free_host(void *host)
{
	struct pm_host_deinitialize p = PM_PARAMETERS(pm_host_deinitialize, host);

	p.host = host;
	pm.cuptiProfilerHostDeinitialize(&p);
}

static void list_metrics(void *host, const char *pattern)
{
	static const char *const types[] = { "counter", "ratio", "throughput" };

	for (int type = 0; type < 3; type++) {
		struct pm_base_metrics p = PM_PARAMETERS(pm_base_metrics, count);
		int r;

		p.host = host;
		p.type = type;
		r = pm.cuptiProfilerHostGetBaseMetrics(&p);
		printf("%s metrics: %d (%s), %zu\n", types[type], r, why(r), p.count);
		for (size_t i = 0; r == 0 && pattern && i < p.count; i++)
			if (strstr(p.names[i], pattern))
				printf("  %s\n", p.names[i]);
	}
}

/* Passes needed for these; negative: a CUPTI error. A host object keeps what was added: each try takes a new one. */
static int passes_of(const char *chip, const uint8_t *available, const char **names, size_t count, uint8_t **ret_image, size_t *ret_size)
{
	struct pm_add_metrics add = PM_PARAMETERS(pm_add_metrics, count);
	struct pm_image_size size = PM_PARAMETERS(pm_image_size, image_size);
	struct pm_image image = PM_PARAMETERS(pm_image, image);
	struct pm_passes passes = PM_PARAMETERS(pm_passes, passes);
	void *host = new_host(chip, available, 0);
	int r;

	if (!host)
		return -1;
	add.host = size.host = image.host = host;
	add.names = names;
	add.count = count;
	r = pm.cuptiProfilerHostConfigAddMetrics(&add);
	if (r == 0)
		r = pm.cuptiProfilerHostGetConfigImageSize(&size);
	if (r == 0) {
		image.image_size = passes.image_size = size.image_size;
		image.image = passes.image = calloc(1, size.image_size);
		r = pm.cuptiProfilerHostGetConfigImage(&image);
	}
	if (r == 0)
		r = pm.cuptiProfilerHostGetNumOfPasses(&passes);
	free_host(host);
	if (r == 0 && ret_image) {
		*ret_image = image.image;
		*ret_size = image.image_size;
	} else {
		free(image.image);
	}
	return r ? -r : (int)passes.passes;
}

static size_t choose(const char *chip, const uint8_t *available, const char **ret)
{
	size_t count = 0;

	for (size_t i = 0; i < WANTED; i++) {
		int alone = passes_of(chip, available, &wanted[i], 1, NULL, NULL), together = 0;

		if (alone > 0) {
			ret[count] = wanted[i];
			together = passes_of(chip, available, ret, count + 1, NULL, NULL);
			if (together == 1)
				count++;
		}
		printf("  %-75s alone %3d%s%s, with those before %d%s\n", wanted[i], alone, alone < 0 ? " " : "",
		       alone < 0 ? why(-alone) : "", together, together == 1 ? "" : "  <- left out");
	}
	printf("one pass holds %zu of %zu\n", count, (size_t)WANTED);
	return count;
}

static void stamp(const char *what)
{
	int64_t raw = now(CLOCK_MONOTONIC_RAW), real = now(CLOCK_REALTIME);

	printf("    %-22s raw %" PRId64 " real %" PRId64 "\n", what, raw, real);
}

/* The driver's own interface (open-gpu-kernel-modules): the GPU's timer, without a CUDA context. */
struct rm_alloc {
	uint32_t root, parent, object, class;
	uint64_t parameters;
	uint32_t size_or_status, status;
};
struct rm_control {
	uint32_t client, object, command, flags;
	uint64_t parameters;
	uint32_t size, status;
};
struct rm_device {
	uint32_t device, share, target_client, target_device, flags, pad;
	uint64_t va[3];
	uint32_t va_mode, pad2;
};
struct rm_pair {
	uint64_t cpu, gpu;
};
struct rm_correlation {
	uint8_t clock, count, pad[6];
	struct rm_pair pairs[16];
};

static uint32_t rm_new(int fd, uint32_t root, uint32_t parent, uint32_t object, uint32_t class, void *parameters, const char *what)
{
	struct rm_alloc a = { root, parent, object, class, (uintptr_t)parameters, 0, 0 };
	int r = ioctl(fd, _IOWR('F', 0x2b, struct rm_alloc), &a);

	printf("  RM %s: ioctl %d, status %#x/%#x, handle %#x\n", what, r, a.size_or_status, a.status, a.object);
	return r || a.size_or_status || a.status ? 0 : a.object;
}

static int rm_call(int fd, uint32_t client, uint32_t object, uint32_t command, void *parameters, uint32_t size)
{
	struct rm_control c = { client, object, command, 0, (uintptr_t)parameters, size, 0 };
	int r = ioctl(fd, _IOWR('F', 0x2a, struct rm_control), &c);

	if (r || c.status)
		printf("  RM command %#x: ioctl %d, status %#x\n", command, r, c.status);
	return r || c.status;
}

static void rm_times(int fd, uint32_t client, uint32_t subdevice)
{
	for (int i = 0; i < 5; i++) {
		int64_t before = now(CLOCK_MONOTONIC_RAW), after;
		uint64_t gpu = 0;

		if (rm_call(fd, client, subdevice, 0x20800403, &gpu, sizeof(gpu)))
			break;
		after = now(CLOCK_MONOTONIC_RAW);
		printf("  RM timer: gpu %" PRIu64 ", raw %" PRId64 " in %" PRId64 " ns, gpu - realtime %" PRId64 " ns\n", gpu, before,
		       after - before, (int64_t)gpu - now(CLOCK_REALTIME));
	}
	for (uint8_t clock = 1; clock <= 3; clock++) {
		struct rm_correlation c = { clock, 4, { 0 }, { { 0, 0 } } };
		int64_t before = now(CLOCK_MONOTONIC_RAW), after;

		if (rm_call(fd, client, subdevice, 0x20800406, &c, sizeof(c)))
			continue;
		after = now(CLOCK_MONOTONIC_RAW);
		for (int i = 0; i < 4; i++)
			printf("  RM correlation, CPU clock %d: cpu %" PRIu64 " gpu %" PRIu64 " (raw %" PRId64 " .. %" PRId64 ")\n", clock,
			       c.pairs[i].cpu, c.pairs[i].gpu, before, after);
	}
}

static void rm_probe(int device)
{
	struct rm_device parameters = { 0 };
	struct {
		uint32_t ids[32];
	} attached = { { 0 } };
	struct {
		uint32_t id, flags, device, subdevice, sli, board, gpu_instance, numa;
	} info = { 0 };
	uint32_t client, object, subdevice_id = 0, subdevice;
	int fd = open("/dev/nvidiactl", O_RDWR | O_CLOEXEC), card;
	char path[64];

	snprintf(path, sizeof(path), "/dev/nvidia%d", device);
	card = open(path, O_RDWR | O_CLOEXEC);
	printf("RM: /dev/nvidiactl %d, %s %d\n", fd, path, card);
	if (fd < 0)
		return;
	client = rm_new(fd, 0, 0, 0, 0x41, NULL, "client");
	if (!client)
		return;
	rm_call(fd, client, client, 0x201, &attached, sizeof(attached));
	for (int i = 0; i < 32 && attached.ids[i] != 0xffffffff; i++) {
		info.id = attached.ids[i];
		if (rm_call(fd, client, client, 0x205, &info, sizeof(info)) == 0)
			printf("  RM GPU %d: id %#x, device %u, subdevice %u\n", i, info.id, info.device, info.subdevice);
		if (i == device)
			parameters.device = info.device;
	}
	object = rm_new(fd, client, client, 0x5d0001, 0x80, &parameters, "device");
	subdevice = object ? rm_new(fd, client, object, 0x5d0002, 0x2080, &subdevice_id, "subdevice") : 0;
	if (subdevice)
		rm_times(fd, client, subdevice);
	close(fd);
	if (card >= 0)
		close(card);
}

static void context_times(int device)
{
	int (*retain)(void **, int) = driver ? dlsym(driver, "cuDevicePrimaryCtxRetain") : NULL;
	int (*time_of)(void *, uint64_t *) = dlsym(pm.library, "cuptiDeviceGetTimestamp");
	void *context = NULL;
	uint64_t gpu = 0;

	if (!retain || !time_of || retain(&context, device)) {
		printf("no context, or no cuptiDeviceGetTimestamp\n");
		return;
	}
	for (int i = 0; i < 3; i++) {
		int64_t before = now(CLOCK_MONOTONIC_RAW);
		int r = time_of(context, &gpu);

		printf("  cuptiDeviceGetTimestamp: %d (%s), gpu %" PRIu64 ", raw %" PRId64 " in %" PRId64 " ns, gpu - realtime %" PRId64
		       "\n",
		       r, why(r), gpu, before, now(CLOCK_MONOTONIC_RAW) - before, (int64_t)gpu - now(CLOCK_REALTIME));
	}
}

struct sampling {
	void *sampler, *host;
	uint8_t *counters;
	size_t counters_size;
	const char **names;
	size_t count;
	double sums[WANTED];
	size_t samples, decodes, full, overflows;
	uint64_t first_start, last_end, shortest, longest, previous_end, gaps;
	int64_t decode_ns, longest_decode, evaluate_ns;
	int64_t upper, lower; /* of raw - gpu */
};

static void take_samples(struct sampling *s, uint64_t interval, int64_t before, int64_t after)
{
	struct pm_counters_info info = PM_PARAMETERS(pm_counters_info, completed);
	int64_t began = now(CLOCK_MONOTONIC_RAW);

	info.counters = s->counters;
	info.counters_size = s->counters_size;
	pm.cuptiPmSamplingGetCounterDataInfo(&info);
	for (size_t i = 0; i < info.completed; i++) {
		struct pm_sample_info sample = PM_PARAMETERS(pm_sample_info, end);
		struct pm_evaluate evaluate = PM_PARAMETERS(pm_evaluate, values);
		double values[WANTED];

		sample.sampler = s->sampler;
		sample.counters = evaluate.counters = s->counters;
		sample.counters_size = evaluate.counters_size = s->counters_size;
		sample.index = evaluate.index = i;
		pm.cuptiPmSamplingCounterDataGetSampleInfo(&sample);
		evaluate.host = s->host;
		evaluate.names = s->names;
		evaluate.count = s->count;
		evaluate.values = values;
		pm.cuptiProfilerHostEvaluateToGpuValues(&evaluate);
		for (size_t m = 0; m < s->count; m++)
			s->sums[m] += values[m];
		if (!s->samples)
			s->first_start = sample.start;
		else if (sample.start != s->previous_end)
			s->gaps++;
		s->previous_end = s->last_end = sample.end;
		if (s->samples && sample.end - sample.start < s->shortest)
			s->shortest = sample.end - sample.start;
		if (sample.end - sample.start > s->longest)
			s->longest = sample.end - sample.start;
		if (s->samples < 3)
			printf("    sample %zu: start %" PRIu64 " end %" PRIu64 " (%" PRIu64 " ns)\n", s->samples, sample.start, sample.end,
			       sample.end - sample.start);
		s->samples++;
	}
	s->evaluate_ns += now(CLOCK_MONOTONIC_RAW) - began;
	if (info.completed && after - (int64_t)s->last_end < s->upper)
		s->upper = after - (int64_t)s->last_end;
	if (info.completed && before - (int64_t)(s->last_end + interval) > s->lower)
		s->lower = before - (int64_t)(s->last_end + interval);
	if (s->decodes <= 5 || info.completed == 0)
		printf("    decode %zu: %zu samples (%zu populated), last end %" PRIu64 ", raw before %" PRId64 " after %" PRId64 "\n",
		       s->decodes, info.completed, info.populated, s->last_end, before, after);
}

static int decode(struct sampling *s, uint64_t interval)
{
	struct pm_decode p = PM_PARAMETERS(pm_decode, overflow);
	struct pm_counters_initialize init = PM_PARAMETERS(pm_counters_initialize, counters);
	int64_t before = now(CLOCK_MONOTONIC_RAW), after;
	int r;

	p.sampler = init.sampler = s->sampler;
	p.counters = init.counters = s->counters;
	p.counters_size = init.counters_size = s->counters_size;
	r = pm.cuptiPmSamplingDecodeData(&p);
	after = now(CLOCK_MONOTONIC_RAW);
	s->decodes++;
	s->decode_ns += after - before;
	if (after - before > s->longest_decode)
		s->longest_decode = after - before;
	s->full += p.stop_reason == PM_STOP_IMAGE_FULL;
	s->overflows += p.overflow;
	if (r) {
		printf("    decode: %d (%s), overflow %d\n", r, why(r), p.overflow);
		return -1;
	}
	take_samples(s, interval, before, after);
	pm.cuptiPmSamplingCounterDataImageInitialize(&init);
	return p.stop_reason == PM_STOP_IMAGE_FULL;
}

static void summary(const struct sampling *s, double seconds)
{
	printf("  %zu samples in %.2f s (%.0f a second), %zu decodes (mean %.3f ms, longest %.3f ms), evaluating %.2f us a sample\n",
	       s->samples, seconds, (double)s->samples / seconds, s->decodes, (double)s->decode_ns / (double)s->decodes / 1e6,
	       (double)s->longest_decode / 1e6, (double)s->evaluate_ns / 1e3 / (double)(s->samples ? s->samples : 1));
	printf("  lengths %" PRIu64 " .. %" PRIu64 " ns, %" PRIu64 " gaps, image full %zu times, overflow %zu times\n", s->shortest,
	       s->longest, s->gaps, s->full, s->overflows);
	printf("  samples span %.6f s; raw - gpu between %" PRId64 " and %" PRId64 " (%.3f ms)\n",
	       (double)(s->last_end - s->first_start) / 1e9, s->lower, s->upper, (double)(s->upper - s->lower) / 1e6);
	for (size_t m = 0; m < s->count; m++)
		printf("    mean %-72s %.6g\n", s->names[m], s->sums[m] / (double)(s->samples ? s->samples : 1));
}

static int set_up(struct sampling *s, int device, const uint8_t *image, size_t image_size, uint64_t interval)
{
	struct pm_enable enable = PM_PARAMETERS(pm_enable, sampler);
	struct pm_set_config config = PM_PARAMETERS(pm_set_config, append);
	struct pm_counters_size size = PM_PARAMETERS(pm_counters_size, counters_size);
	struct pm_counters_initialize init = PM_PARAMETERS(pm_counters_initialize, counters);
	int r;

	enable.device = (size_t)device;
	r = pm.cuptiPmSamplingEnable(&enable);
	printf("  enable: %d (%s)\n", r, why(r));
	if (r)
		return -1;
	s->sampler = config.sampler = size.sampler = init.sampler = enable.sampler;
	config.image = image;
	config.image_size = image_size;
	config.buffer_size = 64 << 20;
	config.interval = interval;
	config.trigger = PM_TRIGGER_TIME;
	config.append = PM_KEEP_OLDEST;
	r = pm.cuptiPmSamplingSetConfig(&config);
	printf("  set config: %d (%s)\n", r, why(r));
	if (r)
		return -1;
	size.names = s->names;
	size.count = s->count;
	size.max_samples = 4096;
	r = pm.cuptiPmSamplingGetCounterDataSize(&size);
	printf("  counter data: %d (%s), %zu bytes for %u samples\n", r, why(r), size.counters_size, size.max_samples);
	if (r)
		return -1;
	s->counters = init.counters = calloc(1, size.counters_size);
	s->counters_size = init.counters_size = size.counters_size;
	r = pm.cuptiPmSamplingCounterDataImageInitialize(&init);
	printf("  counter data initialised: %d (%s)\n", r, why(r));
	return r ? -1 : 0;
}

static void sample(int device, void *host, const char **names, size_t count, const uint8_t *image, size_t image_size, uint64_t interval,
		   double seconds)
{
	struct sampling s = {
		.host = host, .names = names, .count = count, .shortest = UINT64_MAX, .upper = INT64_MAX, .lower = INT64_MIN
	};
	struct pm_command command = PM_PARAMETERS(pm_command, sampler);
	const struct timespec pause = { .tv_nsec = 20000000 };
	int64_t began, until;
	int r;

	printf("sampling device %d every %" PRIu64 " ns\n", device, interval);
	if (set_up(&s, device, image, image_size, interval) < 0)
		return;
	command.sampler = s.sampler;
	stamp("before start");
	r = pm.cuptiPmSamplingStart(&command);
	stamp("after start");
	printf("  start: %d (%s)\n", r, why(r));
	began = now(CLOCK_MONOTONIC_RAW);
	until = began + (int64_t)(seconds * 1e9);
	while (r == 0 && now(CLOCK_MONOTONIC_RAW) < until) {
		nanosleep(&pause, NULL);
		while (decode(&s, interval) > 0)
			;
	}
	stamp("before stop");
	r = pm.cuptiPmSamplingStop(&command);
	stamp("after stop");
	printf("  stop: %d (%s)\n", r, why(r));
	while (decode(&s, interval) > 0)
		;
	printf("    first start %" PRIu64 ", last end %" PRIu64 "\n", s.first_start, s.last_end);
	summary(&s, (double)(now(CLOCK_MONOTONIC_RAW) - began) / 1e9);
	pm.cuptiPmSamplingDisable(&command);
	free(s.counters);
}

static void start_driver(int device, char *chip, size_t size)
{
	int (*init)(unsigned) = driver ? dlsym(driver, "cuInit") : NULL;
	int (*version)(int *) = driver ? dlsym(driver, "cuDriverGetVersion") : NULL;
	struct pm_initialize initialize = PM_PARAMETERS(pm_initialize, priv);
	struct pm_device_supported supported = PM_PARAMETERS(pm_device_supported, api);
	struct pm_chip_name name = PM_PARAMETERS(pm_chip_name, chip);
	int r, number = 0;

	printf("cuInit: %d\n", init ? init(0) : -1);
	if (version && version(&number) == 0)
		printf("driver: CUDA %d\n", number);
	r = pm.cuptiProfilerInitialize(&initialize);
	printf("cuptiProfilerInitialize: %d (%s)\n", r, why(r));
	supported.device = device;
	supported.api = PM_PROFILER_API;
	r = pm.cuptiProfilerDeviceSupported(&supported);
	printf("device supported: %d (%s): overall %d, architecture %d, sli %d, vgpu %d, confidential %d, mining %d, wsl %d\n", r, why(r),
	       supported.supported, supported.architecture, supported.sli, supported.vgpu, supported.confidential, supported.mining,
	       supported.wsl);
	name.device = (size_t)device;
	r = pm.cuptiDeviceGetChipName(&name);
	printf("chip: %d (%s) %s\n", r, why(r), r == 0 ? name.chip : "");
	if (r == 0)
		snprintf(chip, size, "%s", name.chip);
}

int main(int argc, char **argv)
{
	const char *pattern = NULL, *names[WANTED];
	char chip[64] = "";
	int device = 0, option, offline = 0, context = 0;
	double seconds = 1;
	uint8_t *available = NULL, *image = NULL;
	size_t count, image_size = 0;
	uint32_t version = 0;
	void *host;

	setvbuf(stdout, NULL, _IOLBF, 0);
	while ((option = getopt(argc, argv, "d:c:m:s:x")) != -1) {
		if (option == 'd')
			device = atoi(optarg);
		else if (option == 'm')
			pattern = optarg;
		else if (option == 's')
			seconds = atof(optarg);
		else if (option == 'x')
			context = 1;
		else if (option == 'c')
			offline = snprintf(chip, sizeof(chip), "%s", optarg) > 0;
	}
	load(optind < argc ? argv[optind] : getenv("SONDE_CUPTI"));
	if (pm.cuptiGetVersion)
		pm.cuptiGetVersion(&version);
	printf("CUPTI version %u\n", version);
	if (!offline)
		start_driver(device, chip, sizeof(chip));
	if (!offline)
		available = availability(device);
	host = *chip ? new_host(chip, available, 1) : NULL;
	if (!host)
		return 1;
	list_metrics(host, pattern);
	count = choose(chip, available, names);
	if (offline || !count)
		return 0;
	rm_probe(device);
	if (context)
		context_times(device);
	if (passes_of(chip, available, names, count, &image, &image_size) != 1)
		return 1;
	sample(device, host, names, count, image, image_size, 100000, seconds);
	rm_probe(device);
	sample(device, host, names, count, image, image_size, 20000, seconds);
	sample(device, host, names, count, image, image_size, 5000, seconds);
	return 0;
}
