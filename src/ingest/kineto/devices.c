/* Rows of devices, contexts and streams. */
#include "ingest/kineto/internal.h"

#include <stdio.h>
#include <string.h>

#include "base/macros.h"

static void put_kineto_column(int64_t *values, uint32_t *present, unsigned column, int known, int64_t value)
{
	values[column] = value;
	*present |= known ? SINK_BIT(column) : 0;
}

static void gpu_row(struct kineto *k, const struct kineto_members *properties, int64_t id, const char *otherwise)
{
	struct json_value name = { 0 }, memory = { 0 }, major = { 0 }, minor = { 0 }, sms = { 0 }, number = { 0 };
	const struct kineto_known known[] = { KINETO_KNOWN("id", &number),
					      KINETO_KNOWN("name", &name),
					      KINETO_KNOWN("totalGlobalMem", &memory),
					      KINETO_KNOWN("computeMajor", &major),
					      KINETO_KNOWN("computeMinor", &minor),
					      KINETO_KNOWN("numSms", &sms),
					      KINETO_KNOWN_END };
	const struct kineto_event as_event = { .members = properties };
	uint64_t attributes = kineto_args(k, &as_event, known);
	struct kineto_device *device;
	int64_t v[TABLE_MAX_COLUMNS];
	uint32_t present = SINK_BIT(COLUMN_GPU_UID) | SINK_BIT(COLUMN_GPU_NAME) | SINK_BIT(COLUMN_GPU_INDEX);

	json_integer(&number, &id);
	device = kineto_device(k, id);
	if (!device || device->gpu)
		return;
	device->gpu = (uint64_t)(device - k->devices) + 1;
	v[COLUMN_GPU_UID] = (int64_t)device->gpu;
	v[COLUMN_GPU_NAME] = (int64_t)(name.kind ? kineto_text(k, &name) : sink_text(&k->sink, otherwise));
	v[COLUMN_GPU_INDEX] = id;
	present |= json_integer(&memory, &v[COLUMN_GPU_MEMORY]) ? SINK_BIT(COLUMN_GPU_MEMORY) : 0;
	present |= json_integer(&major, &v[COLUMN_GPU_MAJOR]) ? SINK_BIT(COLUMN_GPU_MAJOR) : 0;
	present |= json_integer(&minor, &v[COLUMN_GPU_MINOR]) ? SINK_BIT(COLUMN_GPU_MINOR) : 0;
	if (json_integer(&sms, &v[COLUMN_GPU_SM_COUNT])) {
		present |= SINK_BIT(COLUMN_GPU_SM_COUNT);
		device->sm_count = v[COLUMN_GPU_SM_COUNT];
	}
	put_kineto_column(v, &present, COLUMN_GPU_ATTRIBUTES, attributes != 0, (int64_t)attributes);
	sink_row(&k->sink, TABLE_GPU, v, present);
}

void kineto_device_properties(struct kineto *k, const struct json_value *list)
{
	struct json j;
	int first = 1;

	if (list->kind != JSON_ARRAY)
		return;
	json_begin(&j, list->text, list->len);
	for (int64_t id = 0; json_next_element(&j, &first) > 0 && json_peek(&j) == '{'; id++)
		if (kineto_read_members(&j, &k->members) == 0)
			gpu_row(k, &k->members, id, "GPU");
}

/* Once per process. */
static void write_kineto_device(struct kineto *k, const struct kineto_device *d, uint64_t process)
{
	uint32_t present = SINK_BIT(COLUMN_CUDA_DEVICE_ID) | SINK_BIT(COLUMN_CUDA_DEVICE_GPU);
	const int64_t key[] = { d->id, (int64_t)process };
	uint32_t count = k->owner_keys.count, number = keymap_number(&k->owner_keys, key, sizeof(key));
	int64_t v[TABLE_MAX_COLUMNS];

	if (number != count)
		return;
	v[COLUMN_CUDA_DEVICE_ID] = d->id;
	v[COLUMN_CUDA_DEVICE_GPU] = (int64_t)d->gpu;
	put_kineto_column(v, &present, COLUMN_CUDA_DEVICE_PROCESS, process != 0, (int64_t)process);
	put_kineto_column(v, &present, COLUMN_CUDA_DEVICE_SM_COUNT, d->sm_count >= 0, d->sm_count);
	sink_row(&k->sink, TABLE_CUDA_DEVICE, v, present);
}

static void context_row(struct kineto *k, const struct kineto_stream *s)
{
	uint32_t present = SINK_BIT(COLUMN_CUDA_CONTEXT_UID) | SINK_BIT(COLUMN_CUDA_CONTEXT_ID);
	const int64_t key[] = { s->context, (int64_t)s->process };
	uint32_t count = k->context_keys.count, number;
	int64_t v[TABLE_MAX_COLUMNS];

	number = s->context == INT64_MIN ? KEYMAP_NONE : keymap_number(&k->context_keys, key, sizeof(key));
	if (number == KEYMAP_NONE || number < count)
		return;
	v[COLUMN_CUDA_CONTEXT_UID] = number + 1;
	v[COLUMN_CUDA_CONTEXT_ID] = s->context;
	put_kineto_column(v, &present, COLUMN_CUDA_CONTEXT_PROCESS, s->process != 0, (int64_t)s->process);
	put_kineto_column(v, &present, COLUMN_CUDA_CONTEXT_DEVICE, s->device != INT64_MIN, s->device);
	sink_row(&k->sink, TABLE_CUDA_CONTEXT, v, present);
}

static void write_kineto_stream(struct kineto *k, const struct kineto_stream *s, uint64_t uid)
{
	uint32_t present = SINK_BIT(COLUMN_CUDA_STREAM_UID);
	int64_t v[TABLE_MAX_COLUMNS];

	v[COLUMN_CUDA_STREAM_UID] = (int64_t)uid;
	put_kineto_column(v, &present, COLUMN_CUDA_STREAM_PROCESS, s->process != 0, (int64_t)s->process);
	put_kineto_column(v, &present, COLUMN_CUDA_STREAM_ID, s->id >= 0, s->id);
	put_kineto_column(v, &present, COLUMN_CUDA_STREAM_CONTEXT, s->context != INT64_MIN, s->context);
	put_kineto_column(v, &present, COLUMN_CUDA_STREAM_DEVICE, s->device != INT64_MIN, s->device);
	sink_row(&k->sink, TABLE_CUDA_STREAM, v, present);
}

static void stream_rows(struct kineto *k, const struct kineto_stream *s, uint64_t uid)
{
	struct sink_track *const tracks[] = { s->kernels, s->copies, s->sets, s->syncs };

	if (s->device != INT64_MIN)
		write_kineto_device(k, kineto_device(k, s->device), s->process);
	context_row(k, s);
	write_kineto_stream(k, s, uid);
	for (unsigned i = 0; i < COUNT_OF(tracks); i++)
		if (tracks[i])
			tracks[i]->process = s->process;
}

void kineto_gpu_finish(struct kineto *k)
{
	uint64_t otherwise = k->likely_owner;
	char name[48];

	for (uint32_t i = 0; i < k->device_keys.count; i++) {
		snprintf(name, sizeof(name), "GPU %lld", (long long)k->devices[i].id);
		if (!k->devices[i].gpu)
			gpu_row(k, NULL, k->devices[i].id, name);
		if (!k->devices[i].has_streams)
			write_kineto_device(k, &k->devices[i], otherwise);
	}
	for (uint32_t i = 0; i < k->stream_keys.count && !k->sink.result; i++)
		stream_rows(k, &k->streams[i], i + 1);
}
