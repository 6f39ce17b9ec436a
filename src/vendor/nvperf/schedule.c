#include "vendor/nvperf/schedule.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/macros.h"
#include "vendor/cupti/pm.h"
#include "vendor/dl.h"

#define LIBRARY "libnvperf_host.so"
#define MOST_DOMAINS 64u
#define MOST_OF_A_METRIC 1024u

static int fill_schedule_functions(struct nvperf_schedule *s)
{
	static const struct {
		const char *name;
		size_t offset;
	} functions[] = {
#define SCHEDULE_FUNCTION(name, parameters) { #name, offsetof(struct nvperf_schedule, name) },
#include "vendor/nvperf/schedule_functions.def"
#undef SCHEDULE_FUNCTION
	};
	void *function;

	for (size_t i = 0; i < COUNT_OF(functions); i++) {
		function = dlsym(s->library, functions[i].name);
		if (!function)
			return -1;
		memcpy((char *)s + functions[i].offset, &function, sizeof(function));
	}
	return 0;
}

static int make_evaluator(struct nvperf_schedule *s)
{
	struct nvperf_scratch_size size = PM_PARAMETERS(nvperf_scratch_size, scratch_size);
	struct nvperf_evaluator_initialize p = PM_PARAMETERS(nvperf_evaluator_initialize, evaluator);

	size.chip = p.chip = s->chip;
	size.availability = p.availability = s->availability;
	if (s->NVPW_CUDA_MetricsEvaluator_CalculateScratchBufferSize(&size) != 0)
		return -1;
	p.scratch = s->scratch = malloc(size.scratch_size + 1);
	p.scratch_size = size.scratch_size;
	if (!p.scratch || s->NVPW_CUDA_MetricsEvaluator_Initialize(&p) != 0)
		return -1;
	s->evaluator = p.evaluator;
	return 0;
}

int nvperf_schedule_open(struct nvperf_schedule *s, const char *cupti, const char *chip, const uint8_t *availability)
{
	struct nvperf_initialize p = PM_PARAMETERS(nvperf_initialize, priv);
	const char *slash = strrchr(cupti, '/');
	char path[1024];

	*s = (struct nvperf_schedule){ .chip = chip, .availability = availability };
	snprintf(path, sizeof(path), "%.*s" LIBRARY, slash ? (int)(slash + 1 - cupti) : 0, cupti);
	s->library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	/* The one that CUPTI has found elsewhere. */
	if (!s->library)
		s->library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
	if (s->library && fill_schedule_functions(s) == 0 && s->NVPW_InitializeHost(&p) == 0 && make_evaluator(s) == 0)
		return 0;
	nvperf_schedule_close(s);
	return -1;
}

void nvperf_schedule_close(struct nvperf_schedule *s)
{
	struct nvperf_evaluator_destroy p = PM_PARAMETERS(nvperf_evaluator_destroy, evaluator);

	p.evaluator = s->evaluator;
	if (s->evaluator)
		s->NVPW_MetricsEvaluator_Destroy(&p);
	free(s->scratch);
	if (s->library)
		dlclose(s->library);
	memset(s, 0, sizeof(*s));
}

/* In the order of the metrics, which decides how they are packed. */
struct counters {
	struct nvperf_counter *list;
	size_t count;
	size_t room;
};

static int add_counter(struct counters *c, const char *name)
{
	struct nvperf_counter *larger;

	for (size_t i = c->count; i > 0; i--)
		if (strcmp(c->list[i - 1].name, name) == 0)
			return 0;
	if (c->count == c->room) {
		c->room = c->room ? 2 * c->room : 64;
		larger = realloc(c->list, c->room * sizeof(*larger));
		if (!larger)
			return -1;
		c->list = larger;
	}
	c->list[c->count++] = (struct nvperf_counter){ .name = name };
	return 0;
}

static int add_schedule_metric(const struct nvperf_schedule *s, struct counters *c, const char *name)
{
	struct nvperf_convert convert = PM_PARAMETERS(nvperf_convert, metric_size);
	struct nvperf_dependencies p = PM_PARAMETERS(nvperf_dependencies, optional_count);
	const char *needed[MOST_OF_A_METRIC], *optional[MOST_OF_A_METRIC];
	struct nvperf_metric metric = { 0 };
	int result = 0;

	convert.evaluator = p.evaluator = s->evaluator;
	convert.name = name;
	convert.metric = &metric;
	convert.metric_size = p.metric_size = offsetof(struct nvperf_metric, submetric) + sizeof(metric.submetric);
	p.metrics = &metric;
	p.metric_count = 1;
	p.metric_stride = sizeof(metric);
	p.counters = needed;
	p.optional = optional;
	p.counter_count = p.optional_count = MOST_OF_A_METRIC;
	if (s->NVPW_MetricsEvaluator_ConvertMetricNameToMetricEvalRequest(&convert) != 0 ||
	    s->NVPW_MetricsEvaluator_GetMetricRawDependencies(&p) != 0)
		return -1;
	for (size_t i = 0; i < p.counter_count && result == 0; i++)
		result = add_counter(c, needed[i]);
	return result;
}

static int pack(const struct nvperf_schedule *s, void *config, const struct counters *c)
{
	struct nvperf_domains domains = PM_PARAMETERS(nvperf_domains, domains);
	struct nvperf_pass_group group = PM_PARAMETERS(nvperf_pass_group, domains);
	struct nvperf_add_counters add = PM_PARAMETERS(nvperf_add_counters, counters);
	int all[MOST_DOMAINS];

	domains.config = group.config = add.config = config;
	domains.count = MOST_DOMAINS;
	domains.domains = all;
	if (s->NVPW_RawCounterConfig_GetAllAvailableRawCounterDomains(&domains) != 0)
		return -1;
	group.count = domains.count;
	group.domains = all;
	add.counter_size = offsetof(struct nvperf_counter, keeps_instances) + 1;
	add.count = c->count;
	add.counters = c->list;
	return s->NVPW_RawCounterConfig_BeginPassGroup(&group) == 0 && s->NVPW_RawCounterConfig_AddRawCounters(&add) == 0 &&
			       s->NVPW_RawCounterConfig_EndPassGroup(&group) == 0 ?
		       0 :
		       -1;
}

static int fetch_schedule_config(const struct nvperf_schedule *s, void *config, struct nvperf_config *ret)
{
	struct nvperf_config_command generate = PM_PARAMETERS(nvperf_config_command, config);
	struct nvperf_config_image image = PM_PARAMETERS(nvperf_config_image, image_size);
	struct nvperf_passes passes = PM_PARAMETERS(nvperf_passes, passes);

	generate.config = image.config = passes.config = config;
	if (s->NVPW_RawCounterConfig_GenerateConfigImage(&generate) != 0 || s->NVPW_RawCounterConfig_GetConfigImage(&image) != 0 ||
	    s->NVPW_RawCounterConfig_GetNumPasses(&passes) != 0)
		return -1;
	image.room = image.image_size;
	image.image = malloc(image.room + 1);
	if (image.image && s->NVPW_RawCounterConfig_GetConfigImage(&image) == 0) {
		*ret = (struct nvperf_config){ image.image, image.image_size, passes.passes };
		return 0;
	}
	free(image.image);
	return -1;
}

int nvperf_schedule_make(const struct nvperf_schedule *s, enum nvperf_kind kind, const char *const *names, size_t count,
			 struct nvperf_config *ret)
{
	struct nvperf_config_create create = PM_PARAMETERS(nvperf_config_create, config);
	struct nvperf_config_command destroy = PM_PARAMETERS(nvperf_config_command, config);
	struct counters counters = { 0 };
	int result = 0;

	create.chip = s->chip;
	create.availability = s->availability;
	create.kind = kind;
	for (size_t i = 0; i < count && result == 0; i++)
		result = add_schedule_metric(s, &counters, names[i]);
	if (result == 0)
		result = s->NVPW_CUDA_RawCounterConfig_Create(&create) == 0 ? 0 : -1;
	if (result == 0) {
		result = pack(s, create.config, &counters) == 0 ? fetch_schedule_config(s, create.config, ret) : -1;
		destroy.config = create.config;
		s->NVPW_RawCounterConfig_Destroy(&destroy);
	}
	free(counters.list);
	return result;
}
