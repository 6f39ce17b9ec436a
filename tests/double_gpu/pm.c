/* In place of the CUDA driver and of CUPTI, as far as hardware counters go.
 *
 * The GPU's timer began at another time and gains 50 parts per million on ours. A sample counts, for every metric of the name
 *   double__time.us          the time it began, microseconds of our clock within a second
 *   double__sm.pct           75 % (0.75 x 100)
 *   double__clock.hz         1980000000
 *   double__noise...         0 to 100, as if by chance
 *   double__second_pass      needs a pass of its own
 * Other names are not known. Words: gpus:N (2), denied (no permission), old (architecture), pm_crash:N (at the Nth decoding), overflow:N (at the Nth
 * decoding the buffer was full, and what came since the one before is lost), long:N (what came before the Nth decoding is one long sample), slow:N (the Nth
 * decoding takes half a second), late:N (the same, and it decodes what came meanwhile), front (decoding begins at the image's front each time),
 * no_cuda (cuInit fails).
 *
 * As the real one does: what does not fit into the image is lost, samples come behind those in the image, and asking for the size of another image
 * makes the old one useless. What came before a stop is decoded after it.
 *
 * Notes, each with NVML's number of the GPU: interval NS; start RAW LOST (samples since the buffer was full); put TICKS COUNT (samples, one after the
 * other from there on); decode LOST WAITED (for a processor, since the one before); long; overflow; stop RAW WAITED (since the start); crash. */
#include <math.h>
#include <signal.h>

#include "double_gpu.h"
#include "vendor/cupti/pm.h"

#define OFFSET 1700000000000000000ull
#define GAIN 50e-6
#define MAX_SAMPLES 65536u
#define TIMER_OF(raw) (OFFSET + (uint64_t)(raw) + (uint64_t)((double)(raw)*GAIN))

struct image {
	uint64_t count;
	uint64_t starts[MAX_SAMPLES + 1]; /* the last one's end, too */
};

struct device {
	uint64_t interval;
	uint64_t next; /* start of the sample that is not over yet; 0: stopped */
	uint64_t end;  /* when it was stopped; 0: it runs */
	int full;      /* the hardware's buffer was */
	long long waited_at_start, waited_at_decode;
	unsigned decodes;
	size_t image_size; /* that was told last */
};

static struct device devices[8];

static uint64_t timer(void)
{
	return TIMER_OF(raw_now());
}

static int64_t raw_of(uint64_t ticks)
{
	return (int64_t)((double)(ticks - OFFSET) / (1 + GAIN));
}

int cuInit(unsigned flags);
int cuInit(unsigned flags)
{
	return told("no_cuda", 0) ? 100 : 0;
}

int cuGetErrorString(int result, const char **text);
int cuGetErrorString(int result, const char **text)
{
	*text = "no CUDA-capable device is detected";
	return 0;
}

int cuDeviceGetCount(int *count);
int cuDeviceGetCount(int *count)
{
	*count = getenv("CUDA_VISIBLE_DEVICES") ? 1 : (int)told("gpus", 2);
	return 0;
}

/* CUDA_VISIBLE_DEVICES names one; else all, in the order of the bus if that is asked for. */
static int physical(int device)
{
	const char *visible = getenv("CUDA_VISIBLE_DEVICES"), *order = getenv("CUDA_DEVICE_ORDER");

	if (visible)
		return atoi(visible);
	return order && strcmp(order, "PCI_BUS_ID") == 0 ? device : 1 - device;
}

int cuDeviceGetPCIBusId(char *text, int size, int device);
int cuDeviceGetPCIBusId(char *text, int size, int device)
{
	snprintf(text, (size_t)size, "0000:%02x:00.0", 6 + physical(device));
	return 0;
}

int cuptiGetVersion(uint32_t *version);
int cuptiGetVersion(uint32_t *version)
{
	*version = 130001;
	return 0;
}

int cuptiGetResultString(int result, const char **text);
int cuptiGetResultString(int result, const char **text)
{
	*text = result == 35 ? "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES" :
		result == 1  ? "CUPTI_ERROR_INVALID_PARAMETER" :
			       "CUPTI_ERROR_UNKNOWN";
	return 0;
}

#define PM_FUNCTION(needed, name, parameters) int name(struct parameters *p);
#include "vendor/cupti/pm_functions.def"
#undef PM_FUNCTION

int cuptiProfilerInitialize(struct pm_initialize *p)
{
	return p->size == 16 ? 0 : 1;
}

int cuptiProfilerDeviceSupported(struct pm_device_supported *p)
{
	p->supported = told("old", 0) ? PM_UNSUPPORTED : PM_SUPPORTED;
	p->architecture = p->supported;
	p->sli = p->vgpu = p->confidential = p->mining = p->wsl = PM_SUPPORTED;
	return p->api == PM_PROFILER_API ? 0 : 1;
}

int cuptiDeviceGetChipName(struct pm_chip_name *p)
{
	p->chip = "MU100";
	return 0;
}

struct host {
	int passes;
};

int cuptiProfilerHostInitialize(struct pm_host_initialize *p)
{
	p->host = calloc(1, sizeof(struct host));
	return p->type == PM_PROFILER_TYPE && strcmp(p->chip, "MU100") == 0 ? 0 : 46;
}

int cuptiProfilerHostDeinitialize(struct pm_host_deinitialize *p)
{
	free(p->host);
	return 0;
}

int cuptiProfilerHostGetBaseMetrics(struct pm_base_metrics *p)
{
	return 1;
}

int cuptiProfilerHostConfigAddMetrics(struct pm_add_metrics *p)
{
	struct host *h = p->host;

	/* As the real one: a pass for each call. */
	h->passes++;
	for (size_t i = 0; i < p->count; i++) {
		if (strncmp(p->names[i], "double__", 8) != 0)
			return 1;
		if (strcmp(p->names[i], "double__second_pass") == 0 && p->count > 1)
			h->passes++;
	}
	return 0;
}

int cuptiProfilerHostGetConfigImageSize(struct pm_image_size *p)
{
	p->image_size = 64;
	return 0;
}

int cuptiProfilerHostGetConfigImage(struct pm_image *p)
{
	p->image[0] = (uint8_t)((struct host *)p->host)->passes;
	return 0;
}

int cuptiProfilerHostGetNumOfPasses(struct pm_passes *p)
{
	p->passes = p->image[0];
	return 0;
}

int cuptiProfilerHostEvaluateToGpuValues(struct pm_evaluate *p)
{
	const struct image *image = (const void *)p->counters;

	for (size_t i = 0; i < p->count; i++) {
		p->values[i] = NAN;
		if (strcmp(p->names[i], "double__time.us") == 0)
			p->values[i] = (double)(raw_of(image->starts[p->index]) / 1000 % 1000000);
		else if (strcmp(p->names[i], "double__sm.pct") == 0)
			p->values[i] = 75;
		else if (strcmp(p->names[i], "double__clock.hz") == 0)
			p->values[i] = 1980000000;
		else if (strncmp(p->names[i], "double__noise", 13) == 0)
			p->values[i] = (double)((image->starts[p->index] + i) * 2654435761u % 1000003) / 1e4;
	}
	return 0;
}

int cuptiPmSamplingGetCounterAvailability(struct pm_availability *p)
{
	p->image_size = 16;
	return 0;
}

int cuptiPmSamplingEnable(struct pm_enable *p)
{
	if (told("denied", 0))
		return 35;
	p->sampler = &devices[p->device];
	return 0;
}

int cuptiPmSamplingDisable(struct pm_command *p)
{
	return 0;
}

static int number_of(const struct device *d)
{
	return physical((int)(d - devices));
}

int cuptiPmSamplingSetConfig(struct pm_set_config *p)
{
	struct device *d = p->sampler;

	d->interval = p->interval;
	note("interval %d %llu\n", number_of(d), (unsigned long long)p->interval);
	return p->image[0] == 1 && p->trigger == PM_TRIGGER_TIME && p->buffer_size ? 0 : 27;
}

int cuptiPmSamplingStart(struct pm_command *p)
{
	struct device *d = p->sampler;

	uint64_t now = timer();

	if (d->next && !d->end)
		return 7;
	note("start %d %lld %llu\n", number_of(d), (long long)raw_of(now),
	     d->full ? (unsigned long long)((now - d->next + d->interval / 2) / d->interval) : 0);
	d->next = now;
	d->end = 0;
	d->full = 0;
	d->waited_at_start = d->waited_at_decode = waited();
	return 0;
}

int cuptiPmSamplingStop(struct pm_command *p)
{
	struct device *d = p->sampler;

	if (!d->next || d->end)
		return 7;
	d->end = timer();
	note("stop %d %lld %lld\n", number_of(d), (long long)raw_of(d->end), waited() - d->waited_at_start);
	return 0;
}

static int is_decoding(const struct device *d, const char *word)
{
	return d->decodes == (unsigned)told(word, 0);
}

static void take_half_a_second(void)
{
	const struct timespec half = { .tv_nsec = 500000000 };

	nanosleep(&half, NULL);
}

/* Returns how many had no room. */
static uint64_t put(struct image *image, const struct pm_decode *p, struct device *d, uint64_t now)
{
	uint64_t first = d->next, count = 0, lost = 0;

	for (; d->next && d->next + d->interval <= now && !lost; d->next += d->interval) {
		if ((image->count + 3) * sizeof(uint64_t) > p->counters_size) {
			lost = (now - d->next) / d->interval;
			d->next += (lost - 1) * d->interval;
			continue;
		}
		image->starts[image->count++] = d->next;
		image->starts[image->count] = d->next + d->interval;
		count++;
	}
	if (count)
		note("put %d %llu %llu\n", number_of(d), (unsigned long long)first, (unsigned long long)count);
	return lost;
}

static uint64_t now_of(const struct device *d)
{
	return d->end ? d->end : timer();
}

int cuptiPmSamplingDecodeData(struct pm_decode *p)
{
	struct device *d = p->sampler;
	struct image *image = (void *)p->counters;
	uint64_t now, lost;
	long long waited_so_far;

	d->decodes++;
	if (is_decoding(d, "pm_crash")) {
		note("crash %d\n", number_of(d));
		raise(SIGSEGV);
	}
	if (is_decoding(d, "late"))
		take_half_a_second();
	now = now_of(d);
	if (is_decoding(d, "slow"))
		take_half_a_second();
	if (told("front", 0))
		image->count = 0;
	p->overflow = 0;
	if (is_decoding(d, "overflow")) {
		p->overflow = 1;
		now = d->next;
		d->full = 1;
		note("overflow %d\n", number_of(d));
	}
	if (is_decoding(d, "long") && d->next && d->next + d->interval <= now) {
		image->starts[image->count++] = d->next;
		d->next += (now - d->next) / d->interval * d->interval;
		image->starts[image->count] = d->next;
		note("put %d %llu 1\nlong %d\n", number_of(d), (unsigned long long)image->starts[image->count - 1], number_of(d));
	}
	lost = put(image, p, d, now);
	p->stop_reason = lost ? PM_STOP_IMAGE_FULL : PM_STOP_END;
	waited_so_far = waited();
	note("decode %d %llu %lld\n", number_of(d), (unsigned long long)lost, waited_so_far - d->waited_at_decode);
	d->waited_at_decode = waited_so_far;
	return 0;
}

int cuptiPmSamplingGetCounterDataSize(struct pm_counters_size *p)
{
	struct device *d = p->sampler;

	d->image_size = p->counters_size = (p->max_samples + 2) * sizeof(uint64_t);
	return p->max_samples < MAX_SAMPLES ? 0 : 1;
}

int cuptiPmSamplingCounterDataImageInitialize(struct pm_counters_initialize *p)
{
	const struct device *d = p->sampler;

	if (p->counters_size != d->image_size)
		return 999;
	((struct image *)(void *)p->counters)->count = 0;
	return 0;
}

int cuptiPmSamplingGetCounterDataInfo(struct pm_counters_info *p)
{
	p->total = p->populated = p->completed = ((const struct image *)(const void *)p->counters)->count;
	return 0;
}

int cuptiPmSamplingCounterDataGetSampleInfo(struct pm_sample_info *p)
{
	const struct image *image = (const void *)p->counters;

	p->start = image->starts[p->index];
	p->end = image->starts[p->index + 1];
	return 0;
}
