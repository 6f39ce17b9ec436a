/* Where work runs: devices, contexts, streams; and the modules that are loaded there. */
#include "record/cuda/internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "record/session/gpus.h"

#define CONTEXT_WIDE(context) (UINT64_C(1) << 32 | (context))
#define UNIFIED_MEMORY(device) (UINT64_C(2) << 32 | (device))

static int64_t known_or_null(uint64_t value)
{
	return value && value != UINT64_MAX ? (int64_t)value : GPU_NOT_KNOWN;
}

static uint64_t gpu_of(struct session *s, const struct cuda_wire_device *w, const char *name)
{
	char uuid[GPU_UUID_TEXT], bus[32];
	struct gpu_facts facts;

	gpu_uuid_text("GPU-", w->uuid, uuid);
	gpu_facts_init(&facts, uuid);
	snprintf(bus, sizeof(bus), "%04x:%02x:%02x.0", w->pci_domain, w->pci_bus & 0xff, w->pci_device & 0xff);
	facts.bus = w->pci_domain == CUDA_NO_ID || w->pci_bus == CUDA_NO_ID ? NULL : bus;
	facts.mig = w->mig ? 1 : GPU_NOT_KNOWN;
	/* A part of a GPU says nothing about the whole. */
	if (!w->mig) {
		facts.name = name;
		facts.memory = known_or_null(w->memory);
		facts.bandwidth = known_or_null(w->bandwidth);
		facts.clock = known_or_null(w->clock);
		facts.sm_count = known_or_null(w->sm_count);
		facts.l2 = known_or_null(w->l2);
		facts.attributes = w->attributes;
	}
	facts.major = w->major;
	facts.minor = w->minor;
	return gpu_row(s, &facts);
}

int cuda_define_device(struct cuda_decoder *d, uint64_t id, const uint8_t *body, size_t size)
{
	uint32_t present = BITS_TO(COLUMN_CUDA_DEVICE_COMPUTE_INSTANCE);
	char name[128], uuid[GPU_UUID_TEXT];
	int64_t v[TABLE_MAX_COLUMNS];
	struct cuda_wire_device w;
	uint64_t gpu;

	if (size < sizeof(w))
		return -EBADMSG;
	memcpy(&w, body, sizeof(w));
	snprintf(name, sizeof(name), "%.*s", (int)(size - sizeof(w)), (const char *)body + sizeof(w));
	/* Told again once the driver has said where it is. */
	gpu = gpu_of(d->s, &w, name);
	if (idmap_get(&d->c->devices, id) != IDMAP_NONE || d->c->devices.count >= CUDA_MAX_PLACES)
		return 0;
	idmap_put(&d->c->devices, id, gpu);
	gpu_uuid_text(w.mig ? "MIG-" : "GPU-", w.mig ? w.mig_uuid : w.uuid, uuid);
	v[COLUMN_CUDA_DEVICE_PROCESS] = (int64_t)d->p->uid;
	v[COLUMN_CUDA_DEVICE_ID] = (int64_t)id;
	v[COLUMN_CUDA_DEVICE_GPU] = (int64_t)gpu;
	v[COLUMN_CUDA_DEVICE_UUID] = (int64_t)session_text(d->s, uuid);
	v[COLUMN_CUDA_DEVICE_SM_COUNT] = w.sm_count;
	v[COLUMN_CUDA_DEVICE_GPU_INSTANCE] = w.gpu_instance;
	v[COLUMN_CUDA_DEVICE_COMPUTE_INSTANCE] = w.compute_instance;
	if (!w.mig)
		present &= ~(BIT(COLUMN_CUDA_DEVICE_GPU_INSTANCE) | BIT(COLUMN_CUDA_DEVICE_COMPUTE_INSTANCE));
	if (!gpu)
		present &= ~BIT(COLUMN_CUDA_DEVICE_GPU);
	session_row(d->s, TABLE_CUDA_DEVICE, v, present);
	return 0;
}

struct cuda_context *cuda_context_at(struct cuda_decoder *d, uint32_t id, uint32_t device)
{
	struct cuda_session *all = cuda_session(d->s);
	struct cuda_context *context = cuda_list_find(&d->c->contexts, id);

	if (!context && all) {
		context = cuda_list_add(&d->c->contexts, id, sizeof(*context));
		if (context) {
			context->id = id;
			context->uid = ++all->next_context;
			context->device = CUDA_NO_ID;
			context->last.end = INT64_MIN;
		}
	}
	if (context && context->device == CUDA_NO_ID)
		context->device = device;
	return context;
}

static uint32_t context_values(const struct cuda_decoder *d, const struct cuda_context *context, int64_t *v)
{
	const struct cuda_wire_context *w = &context->reported;
	uint32_t present = BIT(COLUMN_CUDA_CONTEXT_UID) | BIT(COLUMN_CUDA_CONTEXT_PROCESS) | BIT(COLUMN_CUDA_CONTEXT_ID);

	v[COLUMN_CUDA_CONTEXT_UID] = (int64_t)context->uid;
	v[COLUMN_CUDA_CONTEXT_PROCESS] = (int64_t)d->p->uid;
	v[COLUMN_CUDA_CONTEXT_ID] = context->id;
	v[COLUMN_CUDA_CONTEXT_DEVICE] = context->device;
	present |= context->device != CUDA_NO_ID ? BIT(COLUMN_CUDA_CONTEXT_DEVICE) : 0;
	v[COLUMN_CUDA_CONTEXT_END] = context->end;
	present |= context->ended ? BIT(COLUMN_CUDA_CONTEXT_END) : 0;
	if (!context->defined)
		return present;
	v[COLUMN_CUDA_CONTEXT_NULL_STREAM] = w->null_stream;
	v[COLUMN_CUDA_CONTEXT_PARENT] = w->parent;
	v[COLUMN_CUDA_CONTEXT_GREEN] = w->green != 0;
	v[COLUMN_CUDA_CONTEXT_SM_COUNT] = w->sm_count;
	v[COLUMN_CUDA_CONTEXT_TIME] = context->time;
	present |= BIT(COLUMN_CUDA_CONTEXT_GREEN);
	present |= context->has_time ? BIT(COLUMN_CUDA_CONTEXT_TIME) : 0;
	present |= w->null_stream != CUDA_NO_ID ? BIT(COLUMN_CUDA_CONTEXT_NULL_STREAM) : 0;
	present |= w->parent ? BIT(COLUMN_CUDA_CONTEXT_PARENT) : 0;
	present |= w->sm_count ? BIT(COLUMN_CUDA_CONTEXT_SM_COUNT) : 0;
	v[COLUMN_CUDA_CONTEXT_HANDLE] = (int64_t)w->handle;
	present |= w->handle ? BIT(COLUMN_CUDA_CONTEXT_HANDLE) : 0;
	return present;
}

/* A callback knows the time, CUPTI's record (its time is 0) the rest. */
static void context_reported(struct cuda_context *context, const struct cuda_wire_context *w, const int64_t *time)
{
	struct cuda_wire_context *reported = &context->reported;

	if (!context->defined)
		reported->null_stream = CUDA_NO_ID;
	context->defined = 1;
	reported->null_stream = w->null_stream != CUDA_NO_ID ? w->null_stream : reported->null_stream;
	reported->parent = w->parent ? w->parent : reported->parent;
	reported->green |= w->green;
	reported->sm_count = w->sm_count ? w->sm_count : reported->sm_count;
	reported->handle = w->handle ? w->handle : reported->handle;
	if (time && !context->has_time) {
		context->time = *time;
		context->has_time = 1;
	}
}

int cuda_define_context(struct cuda_decoder *d, uint64_t id, const uint8_t *body, size_t size, const int64_t *time)
{
	struct cuda_context *context;
	struct cuda_wire_context w;

	if (size < sizeof(w))
		return -EBADMSG;
	memcpy(&w, body, sizeof(w));
	context = cuda_context_at(d, (uint32_t)id, w.device);
	if (!context)
		return -ENOMEM;
	if (!w.ended)
		context_reported(context, &w, time);
	if (w.ended && time && !context->ended) {
		context->ended = 1;
		context->end = *time;
	}
	return 0;
}

static struct cuda_stream *stream_under(struct cuda_decoder *d, uint64_t key)
{
	struct cuda_session *all = cuda_session(d->s);
	struct cuda_stream *stream = cuda_list_find(&d->c->streams, key);

	if (stream || !all)
		return stream;
	stream = cuda_list_add(&d->c->streams, key, sizeof(*stream));
	if (stream) {
		stream->id = key >> 32 ? CUDA_NO_ID : (uint32_t)key;
		stream->uid = ++all->next_stream;
		stream->device = CUDA_NO_ID;
		stream->last.end = INT64_MIN;
	}
	return stream;
}

struct cuda_stream *cuda_stream_at(struct cuda_decoder *d, const struct cuda_place *place)
{
	struct cuda_stream *stream = d->c->last_stream;

	if (stream && stream->id == place->stream && stream->context && stream->context->id == place->context)
		return stream;
	stream = stream_under(d, place->stream == CUDA_NO_ID ? CONTEXT_WIDE(place->context) : place->stream);
	if (!stream)
		return NULL;
	if (!stream->context)
		stream->context = cuda_context_at(d, place->context, place->device);
	if (stream->device == CUDA_NO_ID)
		stream->device = place->device != CUDA_NO_ID || !stream->context ? place->device : stream->context->device;
	d->c->last_stream = stream;
	return stream;
}

struct cuda_stream *cuda_unified_stream(struct cuda_decoder *d, uint32_t device)
{
	struct cuda_stream *stream = stream_under(d, UNIFIED_MEMORY(device));

	if (stream)
		stream->device = device;
	return stream;
}

static uint32_t stream_values(const struct cuda_decoder *d, const struct cuda_stream *stream, int64_t *v)
{
	uint32_t present = BIT(COLUMN_CUDA_STREAM_UID) | BIT(COLUMN_CUDA_STREAM_PROCESS);

	v[COLUMN_CUDA_STREAM_UID] = (int64_t)stream->uid;
	v[COLUMN_CUDA_STREAM_PROCESS] = (int64_t)d->p->uid;
	v[COLUMN_CUDA_STREAM_ID] = stream->id;
	v[COLUMN_CUDA_STREAM_CONTEXT] = stream->context ? stream->context->id : 0;
	v[COLUMN_CUDA_STREAM_DEVICE] = stream->device;
	present |= stream->id != CUDA_NO_ID ? BIT(COLUMN_CUDA_STREAM_ID) : 0;
	present |= stream->context ? BIT(COLUMN_CUDA_STREAM_CONTEXT) : 0;
	present |= stream->device != CUDA_NO_ID ? BIT(COLUMN_CUDA_STREAM_DEVICE) : 0;
	v[COLUMN_CUDA_STREAM_PRIORITY] = stream->priority;
	v[COLUMN_CUDA_STREAM_FLAG] = stream->flag;
	v[COLUMN_CUDA_STREAM_TIME] = stream->time;
	v[COLUMN_CUDA_STREAM_HANDLE] = (int64_t)stream->handle;
	present |= stream->handle ? BIT(COLUMN_CUDA_STREAM_HANDLE) : 0;
	present |= stream->has_rest && stream->priority != INT32_MIN ? BIT(COLUMN_CUDA_STREAM_PRIORITY) : 0;
	present |= stream->has_rest ? BIT(COLUMN_CUDA_STREAM_FLAG) : 0;
	present |= stream->has_time ? BIT(COLUMN_CUDA_STREAM_TIME) : 0;
	return present;
}

static void write_cuda_stream(struct cuda_decoder *d, struct cuda_stream *stream)
{
	int64_t v[TABLE_MAX_COLUMNS];

	if (!stream->written)
		session_row(d->s, TABLE_CUDA_STREAM, v, stream_values(d, stream, v));
	stream->written = 1;
}

int cuda_define_stream(struct cuda_decoder *d, uint64_t id, const uint8_t *body, size_t size, const int64_t *time)
{
	struct cuda_wire_stream w;
	struct cuda_place place;
	struct cuda_stream *stream;

	if (size < sizeof(w))
		return -EBADMSG;
	if (id >= CUDA_NO_ID)
		return 0;
	memcpy(&w, body, sizeof(w));
	place = (struct cuda_place){ .device = w.device, .context = w.context, .stream = (uint32_t)id };
	stream = cuda_stream_at(d, &place);
	if (!stream || stream->written)
		return stream ? 0 : -ENOMEM;
	if (time && !stream->has_time) {
		stream->time = *time;
		stream->has_time = 1;
	}
	if (w.handle)
		stream->handle = w.handle;
	if (w.priority != INT32_MIN || w.flag || !time) {
		stream->priority = w.priority;
		stream->flag = w.flag;
		stream->has_rest = 1;
	}
	if (stream->has_time && stream->has_rest)
		write_cuda_stream(d, stream);
	return 0;
}

struct cuda_rows *cuda_work_rows(struct cuda_stream *stream, enum table_id table)
{
	struct cuda_rows *rows;

	if (!stream)
		return NULL;
	rows = cuda_rows_of(&stream->work[table_tracks(table)->kind], table, 0, stream->uid);
	if (rows)
		rows->stream = stream;
	return rows;
}

static uint32_t module_values(const struct cuda_decoder *d, const struct cuda_module *module, const int64_t *end, int64_t *v)
{
	v[COLUMN_CUDA_MODULE_PROCESS] = (int64_t)d->p->uid;
	v[COLUMN_CUDA_MODULE_CONTEXT] = module->context;
	v[COLUMN_CUDA_MODULE_ID] = module->id;
	v[COLUMN_CUDA_MODULE_TIME] = module->time;
	v[COLUMN_CUDA_MODULE_END] = end ? *end : 0;
	v[COLUMN_CUDA_MODULE_SIZE] = (int64_t)module->size;
	return BITS_TO(COLUMN_CUDA_MODULE_SIZE) & ~(end ? 0 : BIT(COLUMN_CUDA_MODULE_END)) &
	       ~(module->size ? 0 : BIT(COLUMN_CUDA_MODULE_SIZE));
}

/* A module that is loaded has no row yet, one that was unloaded is forgotten: its number may come again. */
int cuda_define_module(struct cuda_decoder *d, uint64_t id, const uint8_t *body, size_t size, int64_t time)
{
	struct cuda_module *module = cuda_list_find(&d->c->modules, id), *last;
	int64_t v[TABLE_MAX_COLUMNS];
	struct cuda_wire_module w;

	if (size < sizeof(w))
		return -EBADMSG;
	memcpy(&w, body, sizeof(w));
	if (!w.ended && !module) {
		module = cuda_list_add(&d->c->modules, id, sizeof(*module));
		if (module)
			*module = (struct cuda_module){ (uint32_t)id, w.context, w.size, time };
		return 0;
	}
	if (!w.ended || !module)
		return 0;
	session_row(d->s, TABLE_CUDA_MODULE, v, module_values(d, module, &time, v));
	last = d->c->modules.items[--d->c->modules.count];
	for (uint32_t i = 0; i < d->c->modules.count; i++)
		if (d->c->modules.items[i] == module)
			d->c->modules.items[i] = last;
	idmap_take(&d->c->modules.index, id);
	free(module);
	return 0;
}

/* Not modules: there may be thousands, and nothing refers to them. */
void cuda_places_provisional(struct cuda_decoder *d)
{
	struct report_track *contexts = report_track(d->s->writer, TABLE_CUDA_CONTEXT, 0);
	struct report_track *streams = report_track(d->s->writer, TABLE_CUDA_STREAM, 0);
	const struct cuda_stream *stream;
	int64_t v[TABLE_MAX_COLUMNS];

	for (uint32_t i = 0; contexts && i < d->c->contexts.count; i++)
		report_append_provisional(contexts, v, context_values(d, d->c->contexts.items[i], v));
	for (uint32_t i = 0; streams && i < d->c->streams.count; i++) {
		stream = d->c->streams.items[i];
		if (!stream->written)
			report_append_provisional(streams, v, stream_values(d, stream, v));
	}
}

void cuda_places_end(struct cuda_decoder *d)
{
	int64_t v[TABLE_MAX_COLUMNS];

	for (uint32_t i = 0; i < d->c->contexts.count; i++)
		session_row(d->s, TABLE_CUDA_CONTEXT, v, context_values(d, d->c->contexts.items[i], v));
	for (uint32_t i = 0; i < d->c->streams.count; i++)
		write_cuda_stream(d, d->c->streams.items[i]);
	for (uint32_t i = 0; i < d->c->modules.count; i++)
		session_row(d->s, TABLE_CUDA_MODULE, v, module_values(d, d->c->modules.items[i], NULL, v));
}

void cuda_places_free(struct cuda_process *c)
{
	struct cuda_context *context;
	struct cuda_stream *stream;

	for (uint32_t i = 0; i < c->contexts.count; i++) {
		context = c->contexts.items[i];
		cuda_rows_free(context->memory);
	}
	for (uint32_t i = 0; i < c->streams.count; i++) {
		stream = c->streams.items[i];
		for (unsigned work = 0; work < TRACK_KIND_LIMIT; work++)
			cuda_rows_free(stream->work[work]);
	}
	idmap_release(&c->devices);
}
