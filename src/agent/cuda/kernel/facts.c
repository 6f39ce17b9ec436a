/* What the driver tells of a launch and of its device. */
#include <math.h>
#include <string.h>

#include "agent/cuda/kernel/kernel.h"

/* Of CUlimit, CUdevResourceType and CUdevice_attribute. */
enum { LIMIT_STACK = 0, LIMIT_PERSISTING = 6, RESOURCE_SMS = 1, FIRST_ATTRIBUTE = 1, ATTRIBUTES = 160 };
#define RESOURCE_SIZE 512u /* more than CUdevResource has */
#define RESOURCE_SMS_AT 96u
#define DEVICES 64u

static uint64_t reported; /* devices; only while alone */

static void ask_limit(uint32_t *ret, int limit)
{
	size_t value;

	if (kernel_agent.driver.cuCtxGetLimit && kernel_agent.driver.cuCtxGetLimit(&value, limit) == 0 && value < KERNEL_NOT_KNOWN)
		*ret = (uint32_t)value;
}

static void ask_context(struct record_kernel *r, void *context)
{
	const struct cuda_launcher *d = &kernel_agent.driver;
	uint8_t resource[RESOURCE_SIZE] = { 0 };
	int value;

	ask_limit(&r->facts[KERNEL_FACT_STACK], LIMIT_STACK);
	ask_limit(&r->facts[KERNEL_FACT_PERSISTING], LIMIT_PERSISTING);
	if (d->cuCtxGetCacheConfig && d->cuCtxGetCacheConfig(&value) == 0)
		r->facts[KERNEL_FACT_CACHE] = (uint32_t)value;
	if (d->cuCtxGetDevResource && d->cuCtxGetDevResource(context, resource, RESOURCE_SMS) == 0)
		memcpy(&r->facts[KERNEL_FACT_SMS], resource + RESOURCE_SMS_AT, sizeof(uint32_t));
}

/* Clusters as large as this kernel could have, and as many as the GPU holds at once. */
static void ask_clusters(struct record_kernel *r, const struct kernel_launch *l, void *function)
{
	const struct cuda_launcher *d = &kernel_agent.driver;
	struct cuda_launch_attribute cluster = { .id = CUDA_LAUNCH_CLUSTER };
	struct cuda_launch_config config = { .shared = l->shared, .stream = l->stream, .attributes = &cluster };
	int value;

	memcpy(config.grid, l->grid, sizeof(config.grid));
	memcpy(config.block, l->block, sizeof(config.block));
	memcpy(cluster.value, l->cluster, sizeof(l->cluster));
	if (d->cuOccupancyMaxPotentialClusterSize && d->cuOccupancyMaxPotentialClusterSize(&value, function, &config) == 0)
		r->cluster_potential = (uint32_t)value;
	config.attribute_count = l->cluster[0] > 0;
	if (config.attribute_count && d->cuOccupancyMaxActiveClusters && d->cuOccupancyMaxActiveClusters(&value, function, &config) == 0)
		r->clusters_active = (uint32_t)value;
}

void kernel_facts_ask(struct record_kernel *r, const struct kernel_launch *l, void *function)
{
	const struct cuda_launch_kernel_ex *ex = l->parameters;

	r->clusters_active = r->cluster_potential = KERNEL_NOT_KNOWN;
	for (unsigned i = 0; i < KERNEL_FACTS; i++)
		r->facts[i] = KERNEL_NOT_KNOWN;
	ask_context(r, l->context);
	if (function)
		ask_clusters(r, l, function);
	if (l->call != KERNEL_CALL_KERNEL_EX || !ex->config || !ex->config->attributes)
		return;
	for (uint32_t i = 0; i < ex->config->attribute_count; i++)
		if (ex->config->attributes[i].id == CUDA_LAUNCH_SCHEDULING)
			r->facts[KERNEL_FACT_SCHEDULING] = ex->config->attributes[i].value[0];
}

void kernel_facts_report_device(const struct record_kernel *r)
{
	double values[ATTRIBUTES];
	uint32_t device = r->place.device;
	int value;

	if (device >= DEVICES || reported >> device & 1)
		return;
	reported |= UINT64_C(1) << device;
	for (int i = 0; i < ATTRIBUTES; i++)
		values[i] = kernel_agent.driver.cuDeviceGetAttribute(&value, FIRST_ATTRIBUTE + i, (int)device) == 0 ? (double)value : NAN;
	kernel_report_some(KERNEL_VALUES_DEVICE, r->number, r->time, FIRST_ATTRIBUTE, values, ATTRIBUTES);
}
