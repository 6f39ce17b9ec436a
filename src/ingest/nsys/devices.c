/* GPUs, and the devices, contexts and streams of processes. */
#include <string.h>

#include "ingest/nsys/internal.h"

#define MOST_GPUS 4096
/* NVTX's types of what may have a name. */
enum { NVTX_DEVICE = 262145, NVTX_CONTEXT = 262146, NVTX_STREAM = 262147 };
enum { RESOURCE_NAMED = 1 };

static uint32_t number_nsys_key(struct keymap *keys, const int64_t *key, size_t size, uint32_t *ret_count)
{
	*ret_count = keys->count;
	return keymap_number(keys, key, size);
}

static int64_t context_key(uint64_t process, int64_t context)
{
	return (int64_t)(process << 40 ^ (uint64_t)context);
}

uint64_t nsys_context(struct nsys *n, uint64_t process, int64_t device, int64_t id)
{
	const int64_t key[] = { (int64_t)process, id };
	uint32_t count, number = number_nsys_key(&n->context_keys, key, sizeof(key), &count);

	if (number == KEYMAP_NONE)
		return 0;
	if (number == count) {
		if (nsys_room(n, &n->contexts, number, sizeof(*n->contexts)) < 0)
			return 0;
		n->contexts[number] = (struct nsys_context){ process,       NSYS_NOT_TOLD, id,           NSYS_NOT_TOLD, NSYS_NOT_TOLD,
							     NSYS_NOT_TOLD, NSYS_NOT_TOLD, NSYS_NOT_TOLD };
	}
	if (n->contexts[number].device == NSYS_NOT_TOLD) {
		n->contexts[number].device = device;
		if (device >= 0)
			nsys_map_put(&n->context_devices, context_key(process, id), (uint64_t)device + 1);
	}
	return number + 1;
}

static struct nsys_device *find_nsys_device(struct nsys *n, uint64_t process, int64_t id)
{
	const int64_t key[] = { (int64_t)process, id };
	uint32_t count, number = number_nsys_key(&n->device_keys, key, sizeof(key), &count);

	if (number == KEYMAP_NONE)
		return NULL;
	if (number == count) {
		if (nsys_room(n, &n->devices, number, sizeof(*n->devices)) < 0)
			return NULL;
		n->devices[number] = (struct nsys_device){ process, id, 0, 0, NSYS_NOT_TOLD };
	}
	return &n->devices[number];
}

/* Streams are listed without their device: the first of that number is it. */
static void note_any_device(struct nsys *n, uint32_t stream)
{
	const struct nsys_stream *s = &n->streams[stream];
	const int64_t key[] = { (int64_t)s->process, s->context, s->id };
	uint32_t count, number = number_nsys_key(&n->any_device_keys, key, sizeof(key), &count);

	if (number == count && nsys_room(n, &n->of_any_device, number, sizeof(*n->of_any_device)) == 0)
		n->of_any_device[number] = stream;
}

static uint64_t find_stream(struct nsys *n, uint64_t process, int64_t device, int64_t context, int64_t id)
{
	const int64_t key[] = { (int64_t)process, device, context, id };
	uint32_t count, number = number_nsys_key(&n->stream_keys, key, sizeof(key), &count);

	if (number == KEYMAP_NONE)
		return 0;
	if (number == count) {
		if (nsys_room(n, &n->streams, number, sizeof(*n->streams)) < 0)
			return 0;
		n->streams[number] = (struct nsys_stream){ process, device, context, id, NSYS_NOT_TOLD, NSYS_NOT_TOLD, NSYS_NOT_TOLD };
		note_any_device(n, number);
	}
	return number + 1;
}

uint64_t nsys_stream(struct nsys *n, uint64_t process, int64_t device, int64_t context, int64_t green, int64_t id)
{
	uint64_t uid;

	if (green > 0) {
		uid = nsys_context(n, process, device, green);
		if (uid) {
			n->contexts[uid - 1].green = 1;
			n->contexts[uid - 1].parent = context;
		}
		context = green;
	}
	if (device != NSYS_NOT_TOLD)
		find_nsys_device(n, process, device);
	return find_stream(n, process, device, context, id);
}

static int64_t global_pid(int64_t hardware, int64_t vm, int64_t pid)
{
	uint64_t h = (uint64_t)hardware & 255, v = (uint64_t)vm;

	/* Some tables have it in its place, some as a number. */
	v = v >> 48 ? v >> 48 & 255 : v & 255;
	return (int64_t)(h << 56 | v << 48 | ((uint64_t)pid & 0xffffff) << 24);
}

#define GPU_AT(column) NSYS_AT(TARGET_INFO_GPU, column)

static void gpu(struct nsys_rows *rows)
{
	uint32_t present = SINK_BIT(COLUMN_GPU_UID) | SINK_BIT(COLUMN_GPU_INDEX);
	int64_t v[TABLE_MAX_COLUMNS], id = nsys_number_or(rows, GPU_AT(id), -1), device;
	uint64_t set;

	if (id < 0 || id >= MOST_GPUS) {
		rows->n->odd++;
		return;
	}
	v[COLUMN_GPU_NAME] = (int64_t)nsys_text(rows, GPU_AT(name));
	v[COLUMN_GPU_UUID] = (int64_t)nsys_text(rows, GPU_AT(uuid));
	present |= (v[COLUMN_GPU_NAME] ? SINK_BIT(COLUMN_GPU_NAME) : 0) | (v[COLUMN_GPU_UUID] ? SINK_BIT(COLUMN_GPU_UUID) : 0);
	nsys_put(rows, GPU_AT(smMajor), v, &present, COLUMN_GPU_MAJOR); /* the compute capability, where there is one, comes after it */
	nsys_put(rows, GPU_AT(smMinor), v, &present, COLUMN_GPU_MINOR);
	nsys_fill(rows, v, &present);
	v[COLUMN_GPU_UID] = id + 1;
	v[COLUMN_GPU_INDEX] = id;
	set = nsys_extras(rows);
	if (nsys_number_or(rows, GPU_AT(isDiscrete), 1) == 0)
		nsys_arg_number(rows->n, &set, "integrated", 1);
	v[COLUMN_GPU_ATTRIBUTES] = (int64_t)set;
	present |= set ? SINK_BIT(COLUMN_GPU_ATTRIBUTES) : 0;
	sink_row(&rows->n->sink, TABLE_GPU, v, present);
	device = nsys_number_or(rows, GPU_AT(cuDevice), id);
	if (!nsys_map_find(&rows->n->gpus, device))
		nsys_map_put(&rows->n->gpus, device, (uint64_t)id + 1);
}

#define DEVICE_AT(column) NSYS_AT(TARGET_INFO_CUDA_DEVICE, column)

static void device(struct nsys_rows *rows)
{
	uint64_t process = nsys_process_uid(rows->n, global_pid(0, 1, nsys_number_or(rows, DEVICE_AT(pid), 0)));
	struct nsys_device *d = find_nsys_device(rows->n, process, nsys_number_or(rows, DEVICE_AT(cudaId), 0));
	int64_t of;

	if (!d)
		return;
	if (nsys_number(rows, DEVICE_AT(gpuId), &of) && of >= 0 && of < MOST_GPUS)
		d->gpu = of + 1;
	d->uuid = nsys_text(rows, DEVICE_AT(uuid));
	d->sm_count = nsys_number_or(rows, DEVICE_AT(numMultiprocessors), NSYS_NOT_TOLD);
}

/* The process: the same columns in all of these tables. */
#define PLACE_IN(TABLE) \
	_Static_assert(NSYS_AT(TABLE, hwId) == 1 && NSYS_AT(TABLE, vmId) == 2 && NSYS_AT(TABLE, processId) == 3, \
		       "find_device_process() reads them")
PLACE_IN(TARGET_INFO_CUDA_CONTEXT_INFO);
PLACE_IN(TARGET_INFO_CUDA_STREAM);
PLACE_IN(TARGET_INFO_NVTX_CUDA_CONTEXT);
PLACE_IN(TARGET_INFO_NVTX_CUDA_STREAM);

static uint64_t find_device_process(const struct nsys_rows *rows)
{
	return nsys_process_uid(rows->n, global_pid(nsys_number_or(rows, 1, 0), nsys_number_or(rows, 2, 1), nsys_number_or(rows, 3, 0)));
}

#define CONTEXT_AT(column) NSYS_AT(TARGET_INFO_CUDA_CONTEXT_INFO, column)

static void context(struct nsys_rows *rows)
{
	uint64_t uid = nsys_context(rows->n, find_device_process(rows), nsys_number_or(rows, CONTEXT_AT(deviceId), NSYS_NOT_TOLD),
				    nsys_number_or(rows, CONTEXT_AT(contextId), 0));
	struct nsys_context *c;

	if (!uid)
		return;
	c = &rows->n->contexts[uid - 1];
	c->null_stream = nsys_number_or(rows, CONTEXT_AT(nullStreamId), NSYS_NOT_TOLD);
	c->parent = nsys_number_or(rows, CONTEXT_AT(parentContextId), c->parent);
	c->green = nsys_number_or(rows, CONTEXT_AT(isGreenContext), c->green);
	c->sm_count = nsys_number_or(rows, CONTEXT_AT(numMultiprocessors), NSYS_NOT_TOLD);
}

/* A context that only streams name is not made up: readers would see it listed. */
static int64_t device_of_context(const struct nsys *n, uint64_t process, int64_t context)
{
	uint64_t found = nsys_map_find(&n->context_devices, context_key(process, context));

	return found ? (int64_t)found - 1 : NSYS_NOT_TOLD;
}

static struct nsys_stream *listed_stream(struct nsys *n, uint64_t process, int64_t context, int64_t id)
{
	const int64_t key[] = { (int64_t)process, context, id };
	uint32_t count = n->any_device_keys.count, number = keymap_number(&n->any_device_keys, key, sizeof(key));
	uint64_t uid;

	if (number == KEYMAP_NONE)
		return NULL;
	if (number < count)
		return &n->streams[n->of_any_device[number]];
	if (nsys_room(n, &n->of_any_device, number, sizeof(*n->of_any_device)) < 0)
		return NULL;
	n->of_any_device[number] = n->stream_keys.count;
	uid = find_stream(n, process, device_of_context(n, process, context), context, id);
	return uid ? &n->streams[uid - 1] : NULL;
}

#define STREAM_AT(column) NSYS_AT(TARGET_INFO_CUDA_STREAM, column)

static void stream(struct nsys_rows *rows)
{
	struct nsys_stream *s = listed_stream(rows->n, find_device_process(rows), nsys_number_or(rows, STREAM_AT(contextId), 0),
					      nsys_number_or(rows, STREAM_AT(streamId), 0));

	if (!s)
		return;
	/* Without a sign: what looks like 4294967295 is -1. */
	s->priority = (int32_t)nsys_number_or(rows, STREAM_AT(priority), 0);
	s->flag = nsys_number_or(rows, STREAM_AT(flag), NSYS_NOT_TOLD);
}

/* Names that a program gave. Its handles are not in the file: a number of our own stands in. */
static void resource(struct nsys *n, uint64_t process, int64_t type, int64_t handle, uint64_t name)
{
	int64_t v[TABLE_MAX_COLUMNS];

	v[COLUMN_NVTX_RESOURCE_PROCESS] = (int64_t)process;
	v[COLUMN_NVTX_RESOURCE_DOMAIN] = 0;
	v[COLUMN_NVTX_RESOURCE_IDENTIFIER_TYPE] = type;
	v[COLUMN_NVTX_RESOURCE_IDENTIFIER] = handle;
	v[COLUMN_NVTX_RESOURCE_NAME] = (int64_t)name;
	v[COLUMN_NVTX_RESOURCE_KIND] = RESOURCE_NAMED;
	sink_row(&n->sink, TABLE_NVTX_RESOURCE, v,
		 SINK_BIT(COLUMN_NVTX_RESOURCE_DOMAIN) | SINK_BIT(COLUMN_NVTX_RESOURCE_IDENTIFIER_TYPE) |
			 SINK_BIT(COLUMN_NVTX_RESOURCE_IDENTIFIER) | SINK_BIT(COLUMN_NVTX_RESOURCE_NAME) |
			 SINK_BIT(COLUMN_NVTX_RESOURCE_KIND) | (process ? SINK_BIT(COLUMN_NVTX_RESOURCE_PROCESS) : 0));
}

static void named_device(struct nsys_rows *rows)
{
	resource(rows->n, 0, NVTX_DEVICE, nsys_number_or(rows, NSYS_AT(TARGET_INFO_NVTX_CUDA_DEVICE, deviceId), 0),
		 nsys_text(rows, NSYS_AT(TARGET_INFO_NVTX_CUDA_DEVICE, name)));
}

#define NAMED_CONTEXT_AT(column) NSYS_AT(TARGET_INFO_NVTX_CUDA_CONTEXT, column)
static void named_context(struct nsys_rows *rows)
{
	uint64_t process = find_device_process(rows), uid;

	uid = nsys_context(rows->n, process, nsys_number_or(rows, NAMED_CONTEXT_AT(deviceId), NSYS_NOT_TOLD),
			   nsys_number_or(rows, NAMED_CONTEXT_AT(contextId), 0));
	if (!uid)
		return;
	rows->n->contexts[uid - 1].handle = (int64_t)uid;
	resource(rows->n, process, NVTX_CONTEXT, (int64_t)uid, nsys_text(rows, NAMED_CONTEXT_AT(name)));
}

#define NAMED_STREAM_AT(column) NSYS_AT(TARGET_INFO_NVTX_CUDA_STREAM, column)
static void named_stream(struct nsys_rows *rows)
{
	uint64_t process = find_device_process(rows);
	struct nsys_stream *s = listed_stream(rows->n, process, nsys_number_or(rows, NAMED_STREAM_AT(contextId), 0),
					      nsys_number_or(rows, NAMED_STREAM_AT(streamId), 0));

	if (!s)
		return;
	s->handle = s - rows->n->streams + 1;
	if (s->device == NSYS_NOT_TOLD)
		s->device = nsys_number_or(rows, NAMED_STREAM_AT(deviceId), NSYS_NOT_TOLD);
	resource(rows->n, process, NVTX_STREAM, s->handle, nsys_text(rows, NAMED_STREAM_AT(name)));
}

/* After the work, which says on which device a stream is. */
void nsys_read_devices(struct nsys *n)
{
	static const struct nsys_reading tables[] = {
		{ NSYS_TARGET_INFO_GPU, gpu },
		{ NSYS_TARGET_INFO_CUDA_DEVICE, device },
		{ NSYS_TARGET_INFO_CUDA_CONTEXT_INFO, context },
		{ NSYS_TARGET_INFO_CUDA_STREAM, stream },
		{ NSYS_TARGET_INFO_NVTX_CUDA_DEVICE, named_device },
		{ NSYS_TARGET_INFO_NVTX_CUDA_CONTEXT, named_context },
		{ NSYS_TARGET_INFO_NVTX_CUDA_STREAM, named_stream },
	};

	nsys_read_tables(n, tables, COUNT_OF(tables));
}

static void put_reported(int64_t *values, uint32_t *present, unsigned column, int64_t value)
{
	values[column] = value;
	*present |= value != NSYS_NOT_TOLD ? SINK_BIT(column) : 0;
}

static void write_nsys_device(struct nsys *n, const struct nsys_device *d)
{
	int64_t v[TABLE_MAX_COLUMNS], gpu_uid = d->gpu ? d->gpu : (int64_t)nsys_map_find(&n->gpus, d->id);
	uint32_t present = SINK_BIT(COLUMN_CUDA_DEVICE_ID);

	/* A number alone is no device that readers could name. */
	if (!gpu_uid && !d->uuid && d->sm_count == NSYS_NOT_TOLD)
		return;
	v[COLUMN_CUDA_DEVICE_ID] = d->id;
	put_reported(v, &present, COLUMN_CUDA_DEVICE_PROCESS, d->process ? (int64_t)d->process : NSYS_NOT_TOLD);
	put_reported(v, &present, COLUMN_CUDA_DEVICE_GPU, gpu_uid ? gpu_uid : NSYS_NOT_TOLD);
	put_reported(v, &present, COLUMN_CUDA_DEVICE_UUID, d->uuid ? (int64_t)d->uuid : NSYS_NOT_TOLD);
	put_reported(v, &present, COLUMN_CUDA_DEVICE_SM_COUNT, d->sm_count);
	sink_row(&n->sink, TABLE_CUDA_DEVICE, v, present);
}

static void context_row(struct nsys *n, const struct nsys_context *c)
{
	uint32_t present = SINK_BIT(COLUMN_CUDA_CONTEXT_UID) | SINK_BIT(COLUMN_CUDA_CONTEXT_ID);
	int64_t v[TABLE_MAX_COLUMNS];

	v[COLUMN_CUDA_CONTEXT_UID] = c - n->contexts + 1;
	v[COLUMN_CUDA_CONTEXT_ID] = c->id;
	put_reported(v, &present, COLUMN_CUDA_CONTEXT_PROCESS, c->process ? (int64_t)c->process : NSYS_NOT_TOLD);
	put_reported(v, &present, COLUMN_CUDA_CONTEXT_DEVICE, c->device);
	put_reported(v, &present, COLUMN_CUDA_CONTEXT_NULL_STREAM, c->null_stream);
	put_reported(v, &present, COLUMN_CUDA_CONTEXT_PARENT, c->parent);
	put_reported(v, &present, COLUMN_CUDA_CONTEXT_GREEN, c->green);
	put_reported(v, &present, COLUMN_CUDA_CONTEXT_SM_COUNT, c->sm_count);
	put_reported(v, &present, COLUMN_CUDA_CONTEXT_HANDLE, c->handle);
	sink_row(&n->sink, TABLE_CUDA_CONTEXT, v, present);
}

static void write_nsys_stream(struct nsys *n, const struct nsys_stream *s)
{
	uint32_t present = SINK_BIT(COLUMN_CUDA_STREAM_UID);
	int64_t v[TABLE_MAX_COLUMNS];

	v[COLUMN_CUDA_STREAM_UID] = s - n->streams + 1;
	put_reported(v, &present, COLUMN_CUDA_STREAM_PROCESS, s->process ? (int64_t)s->process : NSYS_NOT_TOLD);
	put_reported(v, &present, COLUMN_CUDA_STREAM_ID, s->id);
	put_reported(v, &present, COLUMN_CUDA_STREAM_CONTEXT, s->context);
	put_reported(v, &present, COLUMN_CUDA_STREAM_DEVICE, s->device);
	put_reported(v, &present, COLUMN_CUDA_STREAM_PRIORITY, s->priority);
	put_reported(v, &present, COLUMN_CUDA_STREAM_FLAG, s->flag);
	put_reported(v, &present, COLUMN_CUDA_STREAM_HANDLE, s->handle);
	sink_row(&n->sink, TABLE_CUDA_STREAM, v, present);
}

void nsys_devices_finish(struct nsys *n)
{
	for (uint32_t i = 0; i < n->device_keys.count && !n->sink.result; i++)
		write_nsys_device(n, &n->devices[i]);
	for (uint32_t i = 0; i < n->context_keys.count && !n->sink.result; i++)
		context_row(n, &n->contexts[i]);
	for (uint32_t i = 0; i < n->stream_keys.count && !n->sink.result; i++)
		write_nsys_stream(n, &n->streams[i]);
}
