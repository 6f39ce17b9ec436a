/* The part of libcupti.so.13 that looks at single instructions and at time, with what it found out known in advance:
 *
 * PC sampling, only in the continuous mode, only told when it ends, and only of kernels that ran first while it was enabled: a kernel has three instructions; that at 16 * i has
 * 10 * (i + 1) + letters of its name samples, half of them (rounded down) waiting for memory, the others waiting; the scheduler issued nothing in one of each.
 * SASS metrics: one config for good; the value of metric n at 16 * i is 100 * n + i.
 * PM sampling: three idle samples, four of the kernel, two idle ones; a metric's values are its letters and the sample's number. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "counted.h"
#include "source.h"
#include "vendor/cupti/callbacks.h"
#include "vendor/cupti/source.h"

#define INSTRUCTIONS 3
#define BUSY 26
#define SAMPLES 9
#define FUNCTIONS 64

#define SOURCE_FUNCTION(name, parameters) int name(struct parameters *);
#include "vendor/cupti/source_functions.def"
#undef SOURCE_FUNCTION
#define PM_FUNCTION(needed, name, parameters) int name(struct parameters *);
#include "vendor/cupti/pm_functions.def"
#undef PM_FUNCTION

static const struct {
	uint32_t index;
	const char *name;
} reasons[] = { { 0, "smsp__pcsamp_sample_count" },
		{ 14, "smsp__pcsamp_warps_issue_stalled_long_scoreboard" },
		{ 15, "smsp__pcsamp_warps_issue_stalled_long_scoreboard_not_issued" },
		{ 37, "smsp__pcsamp_warps_issue_stalled_wait_not_issued" },
		{ 36, "smsp__pcsamp_warps_issue_stalled_wait" } };
#define REASONS (sizeof(reasons) / sizeof(reasons[0]))

static struct {
	int enabled;
	int continuous;
	uint32_t period;
	struct pc_data *data;
} pc;
static struct {
	int configured, enabled;
	struct sass_config configs[32];
	size_t count;
} sass;
static struct {
	int enabled, started;
} pm;
static const char *seen[FUNCTIONS], *known[FUNCTIONS]; /* known to PC sampling: it was enabled when they ran first */
static size_t seen_count, known_count;
static unsigned kernels;
static char kernel[256];
static int range_is_enabled;

static int is_among(const char *const *list, size_t count, const char *symbol)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(list[i], symbol) == 0)
			return 1;
	return 0;
}

void source_ran(const char *symbol)
{
	if (!is_among(seen, seen_count, symbol) && seen_count < FUNCTIONS) {
		seen[seen_count++] = symbol;
		if (pc.enabled)
			known[known_count++] = symbol;
	}
	kernels++;
	snprintf(kernel, sizeof(kernel), "%s", symbol);
}

void source_range_enabled(int enabled)
{
	range_is_enabled = enabled;
}

static uint64_t crc_of(const void *image, size_t size)
{
	uint64_t crc = 7;

	for (size_t i = 0; i < size; i++)
		crc = (crc * 31 + ((const uint8_t *)image)[i]) & UINT32_MAX;
	return crc;
}

const void *source_image(size_t *size)
{
	static uint8_t image[1 << 20];
	static size_t have;
	const char *path = getenv("COUNTED_CUBIN");
	FILE *file = path && !have ? fopen(path, "rb") : NULL;

	if (file) {
		have = fread(image, 1, sizeof(image), file);
		fclose(file);
	}
	*size = have;
	return image;
}

static uint64_t crc(void)
{
	size_t size;
	const void *image = source_image(&size);

	return crc_of(image, size);
}

COUNTED_FUNCTION(cuptiGetCubinCrc, (struct cubin_crc * p), (p))
{
	p->crc = crc_of(p->image, p->image_size);
	return 0;
}

COUNTED_FUNCTION(cuptiPCSamplingGetNumStallReasons, (struct pc_reason_count * p), (p))
{
	*p->count = REASONS;
	return pc.enabled ? 0 : 7;
}

COUNTED_FUNCTION(cuptiPCSamplingGetStallReasons, (struct pc_reason_names * p), (p))
{
	for (size_t i = 0; i < REASONS && i < p->count; i++) {
		p->indexes[i] = reasons[i].index;
		snprintf(p->names[i], PC_REASON_NAME, "%s", reasons[i].name);
	}
	return pc.enabled ? 0 : 7;
}

COUNTED_FUNCTION(cuptiPCSamplingSetConfigurationAttribute, (struct pc_configuration * p), (p))
{
	pc.period = 11;
	for (size_t i = 0; i < p->count; i++) {
		if (p->attributes[i].type == PC_MODE)
			pc.continuous = p->attributes[i].number == PC_CONTINUOUS;
		else if (p->attributes[i].type == PC_DATA)
			pc.data = p->attributes[i].data;
		else if (p->attributes[i].type == PC_PERIOD)
			pc.period = p->attributes[i].number;
	}
	counted_log("sample");
	return counted_fails("cuptiPCSamplingSetConfigurationAttribute");
}

COUNTED_FUNCTION(cuptiPCSamplingGetConfigurationAttribute, (struct pc_configuration * p), (p))
{
	p->attributes[0].number = pc.period;
	return 0;
}

COUNTED_FUNCTION(cuptiPCSamplingEnable, (struct pc_command * p), (p))
{
	int result = counted_fails("cuptiPCSamplingEnable");

	if (result != 0 || pc.enabled || !p->context)
		return result ? result : BUSY;
	pc.enabled = 1;
	pc.data = NULL;
	kernels = 0;
	return 0;
}

static void put_record(struct pc_record *r, uint32_t i)
{
	uint32_t all = 10 * (i + 1) + (uint32_t)strlen(kernel), memory = all / 2;
	struct pc_reason reported[] = { { 14, memory }, { 15, 1 }, { 36, all - memory }, { 37, 1 } };

	r->crc = crc();
	r->pc = 16 * i;
	r->function = strdup(kernel);
	r->reason_count = 4;
	memcpy(r->reasons, reported, sizeof(reported));
}

COUNTED_FUNCTION(cuptiPCSamplingDisable, (struct pc_command * p), (p))
{
	if (!pc.enabled || !p->context)
		return 7;
	pc.enabled = 0;
	if (!pc.data)
		return 0;
	counted_log("sampled %u", kernels);
	/* As long as the range profiler is enabled, nothing is found. */
	if (pc.continuous && kernels == 1 && !range_is_enabled && !is_among(known, known_count, kernel)) {
		pc.data->others = 100;
	} else if (pc.continuous && kernels == 1 && !range_is_enabled) {
		for (uint32_t i = 0; i < INSTRUCTIONS; i++)
			put_record(&pc.data->records[i], i);
		pc.data->count = INSTRUCTIONS;
		pc.data->full = (uint8_t)(counted_fails("full") != 0);
	}
	return 0;
}

COUNTED_FUNCTION(cuptiSassMetricsGetProperties, (struct sass_properties * p), (p))
{
	static const char *const counted[] = { "smsp__sass_inst_executed", "smsp__sass_thread_inst_executed",
					       "smsp__sass_sectors_mem_global", "smsp__sass_sectors_mem_global_ideal",
					       "smsp__sass_thread_inst_executed_pred_on" };

	for (size_t i = 0; i < sizeof(counted) / sizeof(counted[0]); i++)
		if (strcmp(p->name, counted[i]) == 0) {
			p->metric.id = i + 1;
			return 0;
		}
	return 1;
}

COUNTED_FUNCTION(cuptiSassMetricsSetConfig, (struct sass_set_config * p), (p))
{
	if (sass.configured || p->count > 32)
		return 8;
	sass.configured = 1;
	sass.count = p->count;
	memcpy(sass.configs, p->configs, p->count * sizeof(*p->configs));
	return counted_fails("cuptiSassMetricsSetConfig");
}

COUNTED_FUNCTION(cuptiSassMetricsEnable, (struct sass_enable * p), (p))
{
	if (sass.enabled || !sass.configured || !p->context)
		return 7;
	sass.enabled = 1 + p->lazily;
	kernels = 0;
	counted_log("patch%s", p->lazily ? "" : " all");
	return 0;
}

COUNTED_FUNCTION(cuptiSassMetricsDisable, (struct sass_disable * p), (p))
{
	if (!sass.enabled || !p->context)
		return 7;
	sass.enabled = 0;
	counted_log("patched %u", kernels);
	return 0;
}

/* COUNTED_FAIL=missed:1:1: the first launch is not seen. */
COUNTED_FUNCTION(cuptiSassMetricsGetDataProperties, (struct sass_data_properties * p), (p))
{
	int missed = kernels != 1 || counted_fails("missed");

	p->records = missed ? 0 : INSTRUCTIONS * sass.count;
	p->instances = missed ? 0 : 1;
	return sass.enabled ? 0 : 7;
}

COUNTED_FUNCTION(cuptiSassMetricsFlushData, (struct sass_flush * p), (p))
{
	for (size_t i = 0; i < p->records; i++) {
		struct sass_record *r = &p->data[i];
		uint32_t at = (uint32_t)(i / sass.count);

		r->crc = (uint32_t)crc();
		r->function = kernel;
		r->pc = 16 * at;
		r->values[0].metric = sass.configs[i % sass.count].metric;
		r->values[0].value = 100 * r->values[0].metric + at;
	}
	return counted_fails("cuptiSassMetricsFlushData");
}

COUNTED_FUNCTION(cuptiPmSamplingGetCounterAvailability, (struct pm_availability * p), (p))
{
	if (range_is_enabled)
		return BUSY;
	if (p->image)
		memset(p->image, 1, p->image_size);
	p->image_size = 16;
	return 0;
}

COUNTED_FUNCTION(cuptiPmSamplingEnable, (struct pm_enable * p), (p))
{
	int result = counted_fails("cuptiPmSamplingEnable");

	if (range_is_enabled || pm.enabled)
		return BUSY;
	pm.enabled = result == 0;
	p->sampler = &pm;
	return result;
}

COUNTED_FUNCTION(cuptiPmSamplingDisable, (struct pm_command * p), (p))
{
	pm.enabled = 0;
	return p->sampler == &pm ? 0 : 1;
}

COUNTED_FUNCTION(cuptiPmSamplingSetConfig, (struct pm_set_config * p), (p))
{
	return p->sampler == &pm && p->interval >= 1000 ? 0 : 1;
}

COUNTED_FUNCTION(cuptiPmSamplingStart, (struct pm_command * p), (p))
{
	pm.started = 1;
	kernels = 0;
	counted_log("series");
	return p->sampler == &pm ? 0 : 1;
}

COUNTED_FUNCTION(cuptiPmSamplingStop, (struct pm_command * p), (p))
{
	pm.started = 0;
	counted_log("series ended %u", kernels);
	return p->sampler == &pm ? 0 : 1;
}

COUNTED_FUNCTION(cuptiPmSamplingGetCounterDataSize, (struct pm_counters_size * p), (p))
{
	p->counters_size = 64;
	return p->max_samples >= SAMPLES ? 0 : 1;
}

COUNTED_FUNCTION(cuptiPmSamplingCounterDataImageInitialize, (struct pm_counters_initialize * p), (p))
{
	memset(p->counters, 0x5a, p->counters_size);
	return 0;
}

COUNTED_FUNCTION(cuptiPmSamplingDecodeData, (struct pm_decode * p), (p))
{
	p->stop_reason = PM_STOP_END;
	return counted_fails("cuptiPmSamplingDecodeData");
}

COUNTED_FUNCTION(cuptiPmSamplingGetCounterDataInfo, (struct pm_counters_info * p), (p))
{
	p->total = p->populated = p->completed = kernels == 1 ? SAMPLES : 0;
	return 0;
}

COUNTED_FUNCTION(cuptiPmSamplingCounterDataGetSampleInfo, (struct pm_sample_info * p), (p))
{
	p->start = 5000000 + 1000 * p->index;
	p->end = p->start + 1000;
	return 0;
}

int source_is_series(const uint8_t *image)
{
	return image[0] == 0x5a && image[1] == 0x5a;
}

double source_series_value(const char *name, size_t sample)
{
	return sample >= 3 && sample < 7 ? (double)(strlen(name) + sample) : 0;
}

__attribute__((destructor)) static void look_at_end(void)
{
	counted_left("sampling", pc.enabled);
	counted_left("patches", sass.enabled);
	counted_left("series", pm.enabled || pm.started);
}
