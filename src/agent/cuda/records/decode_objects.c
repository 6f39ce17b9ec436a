/* Devices, contexts and streams. A device is told again when the driver has said where it is; contexts and
 * streams are also told by callbacks, which know the time and less of the rest (resources.c). */
#include <string.h>

#include "agent/cuda/records/decode.h"
#include "agent/cuda/records/driver.h"
#include "agent/cuda/lock.h"
#include "agent/cuda/records/definitions.h"

#define DEVICES 64u
#define NAME_BYTES 96u

struct device {
	struct cuda_wire_device wire;
	struct cuda_driver_device driver;
	char name[NAME_BYTES];
	int recorded; /* CUPTI's record has come */
	int placed;   /* the driver has answered */
};

static struct device devices[DEVICES];
static struct cuda_lock devices_lock;
static _Atomic int asked[DEVICES];

static void fill_attributes(uint32_t *a, const struct cupti_device *d)
{
	memset(a, 0xff, CUDA_WIRE_ATTRIBUTES * sizeof(*a));
	a[CUDA_ATTRIBUTE_CONSTANT_MEMORY] = d->constant_memory;
	a[CUDA_ATTRIBUTE_MAX_IPC] = d->max_ipc;
	a[CUDA_ATTRIBUTE_REGISTERS_PER_BLOCK] = d->registers_per_block;
	a[CUDA_ATTRIBUTE_SHARED_PER_BLOCK] = d->shared_per_block;
	a[CUDA_ATTRIBUTE_SHARED_PER_SM] = d->shared_per_sm;
	a[CUDA_ATTRIBUTE_REGISTERS_PER_SM] = d->registers_per_sm;
	a[CUDA_ATTRIBUTE_THREADS_PER_WARP] = d->threads_per_warp;
	a[CUDA_ATTRIBUTE_ASYNC_ENGINES] = d->copy_engines;
	a[CUDA_ATTRIBUTE_WARPS_PER_SM] = d->warps_per_sm;
	a[CUDA_ATTRIBUTE_BLOCKS_PER_SM] = d->blocks_per_sm;
	a[CUDA_ATTRIBUTE_THREADS_PER_BLOCK] = d->threads_per_block;
	a[CUDA_ATTRIBUTE_BLOCK_X] = d->block[0];
	a[CUDA_ATTRIBUTE_BLOCK_Y] = d->block[1];
	a[CUDA_ATTRIBUTE_BLOCK_Z] = d->block[2];
	a[CUDA_ATTRIBUTE_GRID_X] = d->grid[0];
	a[CUDA_ATTRIBUTE_GRID_Y] = d->grid[1];
	a[CUDA_ATTRIBUTE_GRID_Z] = d->grid[2];
	a[CUDA_ATTRIBUTE_ECC] = d->ecc;
}

static void fill_device(struct device *device, const struct cupti_device *d)
{
	struct cuda_wire_device *w = &device->wire;

	memset(w, 0, sizeof(*w));
	memcpy(w->uuid, d->uuid, sizeof(w->uuid));
	w->memory = d->memory;
	w->bandwidth = d->bandwidth * 1000;
	w->clock = (uint64_t)d->clock * 1000;
	w->sm_count = d->sm_count;
	w->l2 = d->l2;
	w->major = d->major;
	w->minor = d->minor;
	w->mig = d->mig;
	if (d->mig) {
		memcpy(w->mig_uuid, d->mig_uuid, sizeof(w->mig_uuid));
		w->gpu_instance = d->gpu_instance;
		w->compute_instance = d->compute_instance;
	}
	fill_attributes(w->attributes, d);
	strncpy(device->name, d->name ? d->name : "", NAME_BYTES - 1);
	device->recorded = 1;
}

/* `device` is a copy: the lock is not held while the recorder is waited for. */
static void report_device(uint32_t id, struct device *device, enum cuda_reporter reporter)
{
	struct cuda_wire_device *w = &device->wire;
	int placed = device->placed;

	w->pci_domain = placed ? device->driver.pci_domain : CUDA_NO_ID;
	w->pci_bus = placed ? device->driver.pci_bus : CUDA_NO_ID;
	w->pci_device = placed ? device->driver.pci_device : CUDA_NO_ID;
	w->attributes[CUDA_ATTRIBUTE_SHARED_PER_BLOCK_OPTIN] = placed ? device->driver.shared_optin : CUDA_NO_ID;
	w->attributes[CUDA_ATTRIBUTE_INTEGRATED] = placed ? device->driver.integrated : CUDA_NO_ID;
	cuda_report(&(struct cuda_definition){ .kind = DEFINE_CUDA_DEVICE,
					       .reporter = reporter,
					       .time = cuda_agent.core->now(),
					       .id = id,
					       .body = w,
					       .body_size = sizeof(*w),
					       .text = device->name });
}

static void decode_device(const struct cuda_source *s)
{
	const struct cupti_device *d = s->record;
	struct device copy;

	if (d->id >= DEVICES || !cuda_lock_take(&devices_lock))
		return;
	fill_device(&devices[d->id], d);
	copy = devices[d->id];
	cuda_lock_release(&devices_lock);
	report_device(d->id, &copy, CUDA_REPORTER_OURS);
}

static void place_device(uint32_t id, const struct cuda_driver_device *driver)
{
	struct device copy;

	if (!cuda_lock_take(&devices_lock))
		return;
	devices[id].driver = *driver;
	devices[id].placed = 1;
	copy = devices[id];
	cuda_lock_release(&devices_lock);
	if (copy.recorded)
		report_device(id, &copy, CUDA_REPORTER_PROGRAM);
}

void cuda_device_seen(uint32_t id)
{
	struct cuda_driver_device driver;

	if (id >= DEVICES || atomic_exchange_explicit(&asked[id], 1, memory_order_relaxed))
		return;
	if (cuda_driver_device(id, &driver) == 0)
		place_device(id, &driver);
	else
		atomic_store_explicit(&asked[id], 0, memory_order_relaxed);
}

/* CUPTI may tell of a device only when the driver is initialised. Whether nothing was known of it: where it was seen before, that was not told. */
static int describe_device(uint32_t id)
{
	struct device fresh = { .recorded = 1 };
	int is_new;

	if (cuda_driver_describe(id, &fresh.wire, fresh.name, NAME_BYTES) < 0 || !cuda_lock_take(&devices_lock))
		return 0;
	is_new = !devices[id].recorded;
	if (is_new)
		devices[id] = fresh;
	cuda_lock_release(&devices_lock);
	return is_new;
}

int cuda_devices_look(void)
{
	struct cuda_driver_device driver;
	uint32_t count = 0;

	while (count < DEVICES && cuda_driver_device(count, &driver) == 0) {
		if (describe_device(count))
			atomic_store_explicit(&asked[count], 0, memory_order_relaxed);
		cuda_device_seen(count++);
	}
	return count > 0;
}

void cuda_devices_forget(void)
{
	if (!cuda_lock_take(&devices_lock))
		return;
	for (uint32_t i = 0; i < DEVICES; i++) {
		devices[i].recorded = 0;
		atomic_store_explicit(&asked[i], 0, memory_order_relaxed);
	}
	cuda_lock_release(&devices_lock);
}

static void decode_context(const struct cuda_source *s)
{
	const struct cupti_context *c = s->record;
	struct cuda_wire_context body = { .device = c->device,
					  .null_stream = c->null_stream,
					  .parent = c->green ? c->parent : 0,
					  .green = c->green,
					  .sm_count = c->sm_count };

	cuda_report(&(struct cuda_definition){ .kind = DEFINE_CUDA_CONTEXT, .id = c->context, .body = &body, .body_size = sizeof(body) });
}

static void decode_stream(const struct cuda_source *s)
{
	const struct cupti_stream *t = s->record;
	struct cuda_wire_stream body = { .context = t->context, .device = CUDA_NO_ID, .priority = (int32_t)t->priority, .flag = t->flag };

	cuda_report(&(struct cuda_definition){ .kind = DEFINE_CUDA_STREAM, .id = t->stream, .body = &body, .body_size = sizeof(body) });
}

const struct cuda_kind cuda_object_kinds[] = {
	{ CUPTI_KIND_DEVICE, 0, decode_device, 0, NULL },
	{ CUPTI_KIND_CONTEXT, 0, decode_context, 0, NULL },
	{ CUPTI_KIND_STREAM, 0, decode_stream, 0, NULL },
	{ 0 },
};
