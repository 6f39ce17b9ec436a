/* Which metrics fit into one pass: sampling has only one. CUPTI says how many passes a list would take, so each metric is tried together with those
 * chosen before it. All of a list must be given at once: one by one CUPTI makes a pass for each. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "record/gpu/counters.h"

void *counter_host(const struct cupti_pm *pm, const char *chip, const uint8_t *availability, int *ret_result)
{
	struct pm_host_initialize p = PM_PARAMETERS(pm_host_initialize, host);

	p.type = PM_PROFILER_TYPE;
	p.chip = chip;
	p.availability = availability;
	*ret_result = pm->cuptiProfilerHostInitialize(&p);
	return *ret_result ? NULL : p.host;
}

void counter_host_free(const struct cupti_pm *pm, void *host)
{
	struct pm_host_deinitialize p = PM_PARAMETERS(pm_host_deinitialize, host);

	p.host = host;
	pm->cuptiProfilerHostDeinitialize(&p);
}

static int create_config_image(const struct cupti_pm *pm, void *host, struct counter_choice *choice, size_t *ret_passes)
{
	struct pm_add_metrics add = PM_PARAMETERS(pm_add_metrics, count);
	struct pm_image_size size = PM_PARAMETERS(pm_image_size, image_size);
	struct pm_image image = PM_PARAMETERS(pm_image, image);
	struct pm_passes passes = PM_PARAMETERS(pm_passes, passes);
	int r;

	add.host = size.host = image.host = host;
	add.names = choice->names;
	add.count = choice->count;
	r = pm->cuptiProfilerHostConfigAddMetrics(&add);
	if (r == 0)
		r = pm->cuptiProfilerHostGetConfigImageSize(&size);
	if (r)
		return r;
	free(choice->image);
	choice->image = calloc(1, size.image_size);
	choice->image_size = size.image_size;
	if (!choice->image)
		return -1;
	image.image = passes.image = choice->image;
	image.image_size = passes.image_size = size.image_size;
	r = pm->cuptiProfilerHostGetConfigImage(&image);
	if (r == 0)
		r = pm->cuptiProfilerHostGetNumOfPasses(&passes);
	*ret_passes = passes.passes;
	return r;
}

/* A host object keeps what it was given: every list takes a new one. */
static int try_list(const struct cupti_pm *pm, const char *chip, const uint8_t *availability, struct counter_choice *choice,
		    size_t *ret_passes)
{
	int r;
	void *host = counter_host(pm, chip, availability, &r);

	if (!host)
		return r;
	r = create_config_image(pm, host, choice, ret_passes);
	counter_host_free(pm, host);
	return r;
}

static void append_metric_title(char *list, size_t size, const char *title)
{
	size_t len = strlen(list);

	snprintf(list + len, size - len, "%s%s", len ? ", " : "", title);
}

int counter_choose(const struct cupti_pm *pm, const char *chip, const uint8_t *availability, const struct metric_set *set,
		   struct counter_choice *ret)
{
	size_t passes, i;
	int r = 0;
	void *host = counter_host(pm, chip, availability, &r);

	memset(ret, 0, sizeof(*ret));
	if (!host)
		return r;
	counter_host_free(pm, host);
	for (i = 0; i < set->count; i++) {
		ret->names[ret->count] = set->entries[i].metric;
		ret->entries[ret->count++] = (uint32_t)i;
		passes = 0;
		r = try_list(pm, chip, availability, ret, &passes);
		if (r == 0 && passes == 1)
			continue;
		ret->count--;
		if (r)
			append_metric_title(ret->unknown, sizeof(ret->unknown), set->entries[i].title);
		else
			append_metric_title(ret->left_out, sizeof(ret->left_out), set->entries[i].title);
	}
	if (!ret->count)
		return -1;
	return try_list(pm, chip, availability, ret, &passes);
}
