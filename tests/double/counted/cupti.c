/* libcupti.so.13: a range profiler whose counters are sums of letters. A config holds the names of its metrics; each pass has
 * PER_PASS of them, or all of a set in a few passes. The value of a metric is the number of letters of its name and of the kernel's,
 * and only where every one of its passes saw the same kernels, as many as there is room for. A range of the user's is as long as its
 * name and those of its kernels. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config.h"
#include "counted.h"
#include "source.h"
#include "vendor/cupti/cupti.h"
#include "vendor/cupti/activity.h"
#include "vendor/cupti/callbacks.h"
#include "vendor/cupti/host.h"
#include "vendor/cupti/range.h"

#define EXPORT __attribute__((visibility("default")))
#define RANGES 64

struct image {
	uint64_t magic;
	size_t ranges;
	char kernels[RANGES][NAME];
	int spoilt;
	uint64_t passes; /* that were made, a bit for each */
	struct config counted;
};

#define CUPTI_FUNCTION(needed, name, parameters) int name parameters;
#include "vendor/cupti/functions.def"
#undef CUPTI_FUNCTION
int cuptiProfilerHostGetSupportedChips(struct host_chips *);
int cuptiProfilerHostGetBaseMetrics(struct pm_base_metrics *);
int cuptiProfilerHostGetSubMetrics(struct host_sub_metrics *);
int cuptiProfilerHostGetMetricProperties(struct host_properties *);
int cuptiProfilerHostGetMaxNumHardwareMetricsPerPass(struct host_most_per_pass *);
#define RANGE_FUNCTION(name, parameters) int name(struct parameters *);
#include "vendor/cupti/range_functions.def"
#undef RANGE_FUNCTION

static cupti_callback *callback;
static void *callback_user;
static uint8_t wanted[COUNTED_CALLS];
static int wants_modules;
static int initialized;
static int wants_contexts;
static int destroy_wanted; /* callbacks before a context ends */
static cupti_buffer_requested *buffer_requested;
static cupti_buffer_completed *buffer_completed;
static int kernels_recorded;
static __thread uint32_t launch_number;
static struct cupti_kernel recorded;
static uint8_t wanted_of_runtime[COUNTED_CALLS];
static struct profiler {
	struct config config;
	int has_config;
	int enabled; /* in this context */
	struct image *image;
	size_t most; /* ranges */
	size_t pass;
	int by_runs;
	int graph_ran; /* while each kernel was to be a range, which CUPTI cannot bear */
	int by_user;   /* ranges are what is pushed and popped */
	int pushed;
	int started;
	int spoilt;   /* for good */
	size_t count; /* kernels of this pass */
	char kernels[RANGES][NAME];
	size_t first_count; /* and of the first */
	char first[RANGES][NAME];
} profilers[COUNTED_DEVICES];

/* clang-format off */
static const char *const names[COUNTED_CALLS] = { [COUNTED_ALLOC] = "cuMemAlloc_v2", [COUNTED_FREE] = "cuMemFree_v2",
						  [COUNTED_SET] = "cuMemsetD8_v2", [COUNTED_COPY] = "cuMemcpyHtoD_v2",
						  [COUNTED_LAUNCH] = "cuLaunchKernel", [COUNTED_LAUNCH_EX] = "cuLaunchKernelEx",
						  [COUNTED_COOPERATIVE] = "cuLaunchCooperativeKernel", [COUNTED_START] = "cuProfilerStart",
						  [COUNTED_STOP] = "cuProfilerStop", [COUNTED_SYNC] = "cuCtxSynchronize",
						  [COUNTED_GRAPH] = "cuGraphLaunch", [COUNTED_RESET] = "cuDevicePrimaryCtxReset_v2",
						  [COUNTED_INSTANTIATE] = "cuGraphInstantiateWithFlags",
						  [COUNTED_EXEC_UPDATE] = "cuGraphExecUpdate_v2",
						  [COUNTED_EXEC_CHANGE] = "cuGraphExecKernelNodeSetParams_v2",
						  [COUNTED_EXEC_DESTROY] = "cuGraphExecDestroy", [COUNTED_COPY_3D] = "cuMemcpy3D_v2",
						  [COUNTED_SET_2D] = "cuMemsetD2D8_v2",
						  [COUNTED_BEGIN_CAPTURE] = "cuStreamBeginCapture_v2",
						  [COUNTED_END_CAPTURE] = "cuStreamEndCapture",
						  [COUNTED_KERNEL_FUNCTION] = "cuKernelGetFunction" };
/* clang-format on */
static const char *const runtime_names[COUNTED_CALLS] = {
	[COUNTED_START] = "cudaProfilerStart_v4000", [COUNTED_STOP] = "cudaProfilerStop_v4000"
};

/* Before the first call that anybody listens to. */
static void show_module(void)
{
	static int shown;
	struct cupti_module_data module = { .module = 23 };
	struct cupti_resource_data data = { .context = counted_context(0), .descriptor = &module };

	module.cubin = source_image(&module.size);
	if (!callback || !wants_modules || shown || !module.size)
		return;
	shown = 1;
	callback(callback_user, CUPTI_DOMAIN_RESOURCE, CUPTI_MODULE_LOADED, &data);
}

/* Before the first call in it. */
static void show_context(int device)
{
	static int shown[COUNTED_DEVICES];
	struct cupti_resource_data data = { .context = counted_context(device) };

	if (!callback || !wants_contexts || __atomic_exchange_n(&shown[device], 1, __ATOMIC_RELAXED))
		return;
	callback(callback_user, CUPTI_DOMAIN_RESOURCE, CUPTI_CONTEXT_CREATED, &data);
}

static void on_event(const struct counted_event *e)
{
	struct cupti_call_data data = { .site = e->leaving ? CUPTI_SITE_EXIT : CUPTI_SITE_ENTER,
					.name = names[e->call],
					.parameters = e->parameters,
					.result = e->result,
					.symbol = e->symbol,
					.context = counted_context(e->device),
					.context_id = (uint32_t)e->device + 1,
					.kept = e->kept,
					.correlation = e->correlation };

	show_context(e->device);
	show_module();
	if (callback && (e->is_runtime ? wanted_of_runtime : wanted)[e->call])
		callback(callback_user, e->is_runtime ? CUPTI_DOMAIN_RUNTIME : CUPTI_DOMAIN_DRIVER, e->call, &data);
	/* Calls that whoever listens made have numbers, too. */
	launch_number = e->correlation;
}

static void on_reset(void)
{
	struct cupti_resource_data data = { .context = counted_context(0) };

	if (callback && destroy_wanted)
		callback(callback_user, CUPTI_DOMAIN_RESOURCE, CUPTI_CONTEXT_DESTROY, &data);
	profilers[0].enabled = 0;
}

static void on_load(void)
{
	struct cupti_module_data module = { .module = 24 };
	struct cupti_resource_data data = { .context = counted_context(0), .descriptor = &module };

	if (callback && wants_modules)
		callback(callback_user, CUPTI_DOMAIN_RESOURCE, CUPTI_MODULE_LOADED, &data);
}

/* A kernel takes a thousand ns for each letter of its name; the last one is remembered. */
static void on_kernel(const char *symbol)
{
	struct profiler *f = &profilers[counted_device()];

	source_ran(symbol);
	recorded = (struct cupti_kernel){
		.kind = CUPTI_KIND_CONCURRENT_KERNEL, .start = 5000, .end = 5000 + 1000 * strlen(symbol), .correlation = launch_number
	};
	if (!f->started || (f->by_user && !f->pushed))
		return;
	if (f->by_user) {
		strncat(f->kernels[f->count - 1], symbol, NAME - 1 - strlen(f->kernels[f->count - 1]));
		return;
	}
	f->graph_ran |= strcmp(symbol, COUNTED_GRAPH_NAME) == 0;
	if (f->count < RANGES)
		snprintf(f->kernels[f->count], NAME, "%s", symbol);
	f->count++;
}

COUNTED_FUNCTION(cuptiGetVersion, (uint32_t * version), (version))
{
	*version = 130000;
	return 0;
}

EXPORT int cuptiGetResultString(int result, const char **text)
{
	*text = result == 999 ? "CUPTI_ERROR_UNKNOWN" : "CUPTI_ERROR_OF_THE_DOUBLE";
	return 0;
}

COUNTED_FUNCTION(cuptiSubscribe, (void **subscriber, cupti_callback *function, void *user), (subscriber, function, user))
{
	int result = counted_fails("cuptiSubscribe");

	if (result != 0)
		return result;
	callback = function;
	callback_user = user;
	*subscriber = profilers;
	counted_listen(on_event, on_kernel);
	counted_on_reset(on_reset);
	counted_on_load(on_load);
	return 0;
}

COUNTED_FUNCTION(cuptiUnsubscribe, (void *subscriber), (subscriber))
{
	callback = NULL;
	return subscriber == profilers ? 0 : 1;
}

COUNTED_FUNCTION(cuptiEnableCallback, (uint32_t enable, void *subscriber, int domain, uint32_t id), (enable, subscriber, domain, id))
{
	if (domain == CUPTI_DOMAIN_DRIVER && id < COUNTED_CALLS && subscriber == profilers)
		wanted[id] = (uint8_t)enable;
	if (domain == CUPTI_DOMAIN_RESOURCE && id == CUPTI_CONTEXT_DESTROY)
		destroy_wanted = (int)enable;
	if (domain == CUPTI_DOMAIN_RUNTIME && id < COUNTED_CALLS && subscriber == profilers)
		wanted_of_runtime[id] = (uint8_t)enable;
	if (domain == CUPTI_DOMAIN_RESOURCE && id == CUPTI_MODULE_LOADED)
		wants_modules = (int)enable;
	if (domain == CUPTI_DOMAIN_RESOURCE && id == CUPTI_CONTEXT_CREATED)
		wants_contexts = (int)enable;
	return 0;
}

COUNTED_FUNCTION(cuptiEnableDomain, (uint32_t enable, void *subscriber, int domain), (enable, subscriber, domain))
{
	return enable && subscriber && domain ? 0 : 1;
}

COUNTED_FUNCTION(cuptiGetCallbackName, (int domain, uint32_t id, const char **name), (domain, id, name))
{
	const char *const *all = domain == CUPTI_DOMAIN_DRIVER ? names : runtime_names;

	if ((domain != CUPTI_DOMAIN_DRIVER && domain != CUPTI_DOMAIN_RUNTIME) || id >= COUNTED_CALLS || !all[id])
		return 1;
	*name = all[id];
	return 0;
}

COUNTED_FUNCTION(cuptiGetContextId, (void *context, uint32_t *id), (context, id))
{
	*id = (uint32_t)counted_device_of(context) + 1;
	return context ? 0 : 1;
}

COUNTED_FUNCTION(cuptiGetDeviceId, (void *context, uint32_t *id), (context, id))
{
	*id = (uint32_t)counted_device_of(context);
	return context ? 0 : 1;
}

COUNTED_FUNCTION(cuptiGetStreamIdEx, (void *context, void *stream, uint8_t per_thread, uint32_t *id), (context, stream, per_thread, id))
{
	*id = (uint32_t)(uintptr_t)stream + 7 + per_thread;
	return context ? 0 : 1;
}

/* Of activities, the kernel that ran last. */
COUNTED_FUNCTION(cuptiActivityRegisterCallbacks, (cupti_buffer_requested * requested, cupti_buffer_completed *completed),
		 (requested, completed))
{
	buffer_requested = requested;
	buffer_completed = completed;
	return requested && completed ? 0 : 1;
}

COUNTED_FUNCTION(cuptiActivityEnable, (int kind), (kind))
{
	kernels_recorded |= kind == CUPTI_KIND_CONCURRENT_KERNEL;
	return kind ? 0 : 1;
}

COUNTED_FUNCTION(cuptiActivityDisable, (int kind), (kind))
{
	return kind ? 0 : 1;
}

COUNTED_FUNCTION(cuptiActivityGetNextRecord, (uint8_t * buffer, size_t valid, struct cupti_record **record), (buffer, valid, record))
{
	uint8_t *next = *record ? (uint8_t *)*record + sizeof(recorded) : buffer;

	if (next >= buffer + valid)
		return CUPTI_MAX_LIMIT_REACHED;
	*record = (struct cupti_record *)(void *)next;
	return 0;
}
COUNTED_FUNCTION(cuptiActivityGetNumDroppedRecords, (void *context, uint32_t stream, size_t *dropped), (context, stream, dropped))
{
	*dropped = context && stream ? 0 : 0;
	return 0;
}
COUNTED_FUNCTION(cuptiActivityFlushAll, (uint32_t flag), (flag))
{
	struct cupti_kernel other = recorded;
	uint8_t *buffer = NULL;
	size_t size = 0, most;

	if (!kernels_recorded || !buffer_requested)
		return flag > 1;
	buffer_requested(&buffer, &size, &most);
	if (size < 2 * sizeof(recorded))
		return 8;
	/* One of another call goes first. */
	other.correlation += 1000;
	other.end += 1;
	memcpy(buffer, &other, sizeof(other));
	memcpy(buffer + sizeof(other), &recorded, sizeof(recorded));
	buffer_completed(NULL, 0, buffer, size, 2 * sizeof(recorded));
	return flag > 1;
}

COUNTED_FUNCTION(cuptiGetTimestamp, (uint64_t * time), (time))
{
	*time = 0;
	return 0;
}

COUNTED_FUNCTION(cuptiProfilerInitialize, (struct pm_initialize * p), (p))
{
	initialized = 1;
	return p->size < sizeof(*p);
}

/* COUNTED_LACKS: what the device is not fit for. */
COUNTED_FUNCTION(cuptiProfilerDeviceSupported, (struct pm_device_supported * p), (p))
{
	const char *lacks = getenv("COUNTED_LACKS");

	p->architecture = lacks && strcmp(lacks, "architecture") == 0 ? PM_UNSUPPORTED : PM_SUPPORTED;
	p->vgpu = lacks && strcmp(lacks, "vgpu") == 0 ? PM_DISABLED : PM_SUPPORTED;
	p->confidential = lacks && strcmp(lacks, "confidential") == 0 ? PM_UNSUPPORTED : PM_SUPPORTED;
	p->mining = lacks && strcmp(lacks, "mining") == 0 ? PM_UNSUPPORTED : PM_SUPPORTED;
	p->sli = lacks && strcmp(lacks, "sli") == 0 ? PM_UNSUPPORTED : PM_SUPPORTED;
	p->wsl = lacks && strcmp(lacks, "wsl") == 0 ? PM_UNSUPPORTED : PM_SUPPORTED;
	p->supported = lacks ? PM_UNSUPPORTED : PM_SUPPORTED;
	return 0;
}

COUNTED_FUNCTION(cuptiProfilerGetCounterAvailability, (struct range_availability * p), (p))
{
	if (p->image)
		memset(p->image, 1, p->image_size);
	p->image_size = 16;
	return 0;
}

/* As the real one does: it ends the process where it is asked too early. */
COUNTED_FUNCTION(cuptiDeviceGetChipName, (struct pm_chip_name * p), (p))
{
	if (!initialized)
		abort();
	p->chip = p->device % 2 ? "COUNTED2" : "COUNTED1";
	return 0;
}

/* What the command line asks of a chip. */
static const char *counters[] = { "t__apples", "t__pears", "t__plums", "t__figs", "t__limes", "pcie__kiwis" };
#define COUNTERS (sizeof(counters) / sizeof(counters[0]))

COUNTED_FUNCTION(cuptiProfilerHostGetSupportedChips, (struct host_chips * p), (p))
{
	static const char *const chips[] = { "COUNTED1", "COUNTED2" };

	p->count = 2;
	p->names = chips;
	return 0;
}

COUNTED_FUNCTION(cuptiProfilerHostGetBaseMetrics, (struct pm_base_metrics * p), (p))
{
	p->names = counters;
	p->count = p->type == HOST_COUNTER ? COUNTERS : 0;
	return 0;
}

COUNTED_FUNCTION(cuptiProfilerHostGetSubMetrics, (struct host_sub_metrics * p), (p))
{
	p->count = 0;
	return 0;
}

COUNTED_FUNCTION(cuptiProfilerHostGetMetricProperties, (struct host_properties * p), (p))
{
	size_t size = strcspn(p->metric, ".");

	p->description = p->unit = p->dimension = "";
	p->type = HOST_COUNTER;
	for (size_t i = 0; i < COUNTERS; i++)
		if (strlen(counters[i]) == size && strncmp(counters[i], p->metric, size) == 0)
			return 0;
	return 1;
}

COUNTED_FUNCTION(cuptiProfilerHostGetMaxNumHardwareMetricsPerPass, (struct host_most_per_pass * p), (p))
{
	p->count = PER_PASS;
	return 0;
}

COUNTED_FUNCTION(cuptiProfilerHostInitialize, (struct pm_host_initialize * p), (p))
{
	if (strncmp(p->chip, "COUNTED", 7) != 0 || (p->type != RANGE_PROFILER_TYPE && p->type != PM_PROFILER_TYPE))
		return 46;
	p->host = calloc(1, sizeof(struct config));
	return 0;
}

COUNTED_FUNCTION(cuptiProfilerHostDeinitialize, (struct pm_host_deinitialize * p), (p))
{
	free(p->host);
	return 0;
}

static unsigned link_of(const char *name)
{
	static const struct {
		const char *begin;
		unsigned link;
	} links[] = { { "pcie__", 1 }, { "nvlrx__", 2 }, { "nvltx__", 2 }, { "ctc__", 3 } };

	for (size_t i = 0; i < sizeof(links) / sizeof(links[0]); i++)
		if (strncmp(name, links[i].begin, strlen(links[i].begin)) == 0)
			return links[i].link;
	return 0;
}

/* Names that begin with "no" are those of another chip. */
COUNTED_FUNCTION(cuptiProfilerHostConfigAddMetrics, (struct pm_add_metrics * p), (p))
{
	struct config *c = p->host;

	counted_log("add %zu", p->count);
	c->magic = MAGIC;
	for (size_t i = 0; i < p->count; i++) {
		if (strncmp(p->names[i], "no", 2) == 0 || c->count == METRICS)
			return 1;
		snprintf(c->names[c->count++], NAME, "%s", p->names[i]);
	}
	return 0;
}

/* As the real one does: what is counted at a link cannot be counted with others. */
COUNTED_FUNCTION(cuptiProfilerHostGetConfigImageSize, (struct pm_image_size * p), (p))
{
	const struct config *c = p->host;

	for (size_t i = 1; i < c->count; i++)
		if (link_of(c->names[i]) != link_of(c->names[0]))
			return 27;
	p->image_size = sizeof(struct config);
	return 0;
}

COUNTED_FUNCTION(cuptiProfilerHostGetConfigImage, (struct pm_image * p), (p))
{
	memcpy(p->image, p->host, sizeof(struct config));
	return 0;
}

COUNTED_FUNCTION(cuptiProfilerHostGetNumOfPasses, (struct pm_passes * p), (p))
{
	const struct config *c = (const struct config *)(const void *)p->image;

	p->passes = passes_of(c);
	return c->magic != MAGIC;
}

/* Was it counted, in this or another rollup? */
static int has_metric(const struct image *image, const char *name)
{
	size_t size = strcspn(name, ".");

	for (size_t i = 0; i < image->counted.count; i++)
		if (strncmp(image->counted.names[i], name, size) == 0 && strcspn(image->counted.names[i], ".") == size)
			return 1;
	return 0;
}

COUNTED_FUNCTION(cuptiProfilerHostEvaluateToGpuValues, (struct pm_evaluate * p), (p))
{
	const struct image *image = (const struct image *)(const void *)p->counters;
	int good;

	for (size_t i = 0; source_is_series(p->counters) && i < p->count; i++)
		p->values[i] = source_series_value(p->names[i], p->index);
	if (source_is_series(p->counters))
		return 0;
	if (p->index >= image->ranges)
		return 1;
	for (size_t i = 0; i < p->count; i++) {
		good = !image->spoilt && has_metric(image, p->names[i]);
		p->values[i] = good ? (double)(strlen(p->names[i]) + strlen(image->kernels[p->index])) + (i % 2 ? 0.5 : 0) : -1;
	}
	return counted_fails("cuptiProfilerHostEvaluateToGpuValues");
}

COUNTED_FUNCTION(cuptiRangeProfilerEnable, (struct range_enable * p), (p))
{
	struct profiler *f = &profilers[counted_device_of(p->context)];
	int result = counted_fails("cuptiRangeProfilerEnable");

	p->profiler = f;
	f->spoilt = f->has_config = 0;
	f->pass = 0;
	source_range_enabled(1);
	f->enabled = result == 0;
	return result;
}

COUNTED_FUNCTION(cuptiRangeProfilerDisable, (struct range_command * p), (p))
{
	source_range_enabled(0);
	return p->profiler == NULL;
}

/* As the real one does: it stays with the first configuration, and goes on counting passes from where it was, whatever it is told. */
COUNTED_FUNCTION(cuptiRangeProfilerSetConfig, (struct range_set_config * p), (p))
{
	const struct config *config = (const struct config *)(const void *)p->image;
	struct profiler *f = p->profiler;

	if (!f->has_config) {
		f->config = *config;
		f->pass = p->pass;
	} else if (f->pass != p->pass) {
		f->spoilt = 1;
	}
	/* What belonged to a context goes with it. */
	if (!f->enabled)
		return 3;
	f->has_config = 1;
	f->by_runs = p->replay == RANGE_REPLAYED_BY_RUNS;
	f->by_user = p->range == RANGE_USER;
	f->image = (struct image *)(void *)p->counters;
	f->most = p->max_ranges;
	if ((p->range != RANGE_AUTO && !f->by_user) || (p->replay != RANGE_REPLAYED_BY_USER && !f->by_runs) || f->image->magic != MAGIC ||
	    config->magic != MAGIC)
		return 1;
	return counted_fails("cuptiRangeProfilerSetConfig");
}

COUNTED_FUNCTION(cuptiRangeProfilerStart, (struct range_command * p), (p))
{
	struct profiler *f = p->profiler;
	int result = counted_fails("cuptiRangeProfilerStart");

	if (result != 0 || f->started)
		return result ? result : 7;
	f->started = 1;
	f->count = 0;
	counted_log("start");
	return 0;
}

static int is_as_before(const struct profiler *f)
{
	if (f->count != f->first_count)
		return 0;
	for (size_t i = 0; i < f->count && i < RANGES; i++)
		if (strcmp(f->first[i], f->kernels[i]) != 0)
			return 0;
	return 1;
}

/* As the real one does: a pass in which no kernel ran counts, and its metrics are lost. */
COUNTED_FUNCTION(cuptiRangeProfilerStop, (struct range_stop * p), (p))
{
	struct profiler *f = p->profiler;
	struct image *image = f->image;

	if (!f->started)
		return 7;
	if (f->pushed)
		f->spoilt = 1;
	f->started = f->pushed = 0;
	counted_log("stop %zu", f->count);
	if (f->pass == 0 || f->by_runs) {
		f->first_count = f->count;
		memcpy(f->first, f->kernels, sizeof(f->first));
	}
	if (!f->count || f->count > f->most || !is_as_before(f))
		f->spoilt = 1;
	memcpy(image->kernels, f->kernels, sizeof(image->kernels));
	image->spoilt = f->spoilt;
	image->passes |= 1ull << f->pass;
	f->pass = (f->pass + 1) % passes_of(&f->config);
	p->pass = f->pass;
	p->all_submitted = f->pass == 0;
	return f->graph_ran ? 999 : counted_fails("cuptiRangeProfilerStop");
}

COUNTED_FUNCTION(cuptiRangeProfilerPushRange, (struct range_push * p), (p))
{
	struct profiler *f = p->profiler;

	if (!f->by_user || !f->started || f->pushed || f->count == RANGES)
		return 7;
	f->pushed = 1;
	snprintf(f->kernels[f->count++], NAME, "%s", p->name);
	counted_log("push");
	return counted_fails("cuptiRangeProfilerPushRange");
}

COUNTED_FUNCTION(cuptiRangeProfilerPopRange, (struct range_command * p), (p))
{
	struct profiler *f = p->profiler;

	if (!f->pushed)
		return 7;
	f->pushed = 0;
	counted_log("pop");
	return 0;
}

COUNTED_FUNCTION(cuptiRangeProfilerDecodeData, (struct range_decode * p), (p))
{
	struct profiler *f = p->profiler;

	f->image->ranges = f->image->passes == (1ull << passes_of(&f->config)) - 1 ? f->count : 0;
	f->image->counted = f->config;
	p->dropped = 0;
	return counted_fails("cuptiRangeProfilerDecodeData");
}

COUNTED_FUNCTION(cuptiRangeProfilerGetCounterDataSize, (struct range_counters_size * p), (p))
{
	p->counters_size = sizeof(struct image);
	return p->max_ranges > RANGES;
}

COUNTED_FUNCTION(cuptiRangeProfilerCounterDataImageInitialize, (struct range_counters_initialize * p), (p))
{
	memset(p->counters, 0, p->counters_size);
	((struct image *)(void *)p->counters)->magic = MAGIC;
	return 0;
}

COUNTED_FUNCTION(cuptiRangeProfilerGetCounterDataInfo, (struct range_counters_info * p), (p))
{
	p->ranges = ((const struct image *)(const void *)p->counters)->ranges;
	return 0;
}

/* Counters that still run. */
__attribute__((destructor)) static void look_at_end(void)
{
	for (int i = 0; i < COUNTED_DEVICES; i++)
		counted_left("counters", profilers[i].started);
}
