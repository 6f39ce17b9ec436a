#include "fake_cuda.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "agent/cuda/records/buffers.h"

struct fake_cuda fake_cuda;
struct cuda_agent cuda_agent;

static int attached(void)
{
	return 1;
}
static int on(unsigned module)
{
	(void)module;
	return !fake_cuda.closed;
}
static uint64_t now(void)
{
	return ++fake_cuda.now;
}
static void *begin(uint32_t size)
{
	return agent_begin_definition(size);
}
static void end(void *record, uint64_t head, uint32_t size)
{
	agent_end(record, head, size);
}
static void *permanent(size_t size)
{
	return fake_cuda.no_permanent ? NULL : agent_permanent(size);
}

static void stack(uint64_t time, uint32_t size)
{
	fake_cuda.stacks++;
	fake_cuda.stack_time = time;
	assert_int_equal(size, fake_cuda.session.cuda_stack_size);
}

static const struct agent_interface core = {
	.version = AGENT_INTERFACE_VERSION,
	.size = sizeof(core),
	.session = &fake_cuda.session,
	.attached = attached,
	.on = on,
	.now = now,
	.begin = begin,
	.begin_definition = begin,
	.begin_patiently = begin,
	.end = end,
	.stack = stack,
	.diagnose = agent_diagnose,
	.permanent = permanent,
};

static int result_string(int result, const char **text)
{
	(void)result;
	*text = "CUPTI_ERROR_OF_THE_TEST";
	return CUPTI_OK;
}

static int enable_callback(uint32_t enable, void *subscriber, int domain, uint32_t id)
{
	int *list = domain == CUPTI_DOMAIN_RUNTIME ? fake_cuda.runtime_callbacks :
		    domain == CUPTI_DOMAIN_DRIVER  ? fake_cuda.driver_callbacks :
						     fake_cuda.resource_callbacks;

	assert_ptr_equal(subscriber, &fake_cuda);
	assert_true(id < FAKE_CALLS);
	list[id] = (int)enable;
	return CUPTI_OK;
}

static int callback_name(int domain, uint32_t id, const char **name)
{
	const char **list = domain == CUPTI_DOMAIN_RUNTIME ? fake_cuda.runtime_names : fake_cuda.driver_names;

	if (id >= FAKE_CALLS || !list[id])
		return 1;
	*name = list[id];
	return CUPTI_OK;
}

static int enable_kind(int kind)
{
	if (kind == fake_cuda.refused_kind)
		return CUPTI_INVALID_KIND;
	fake_cuda.kinds[kind] = 1;
	return CUPTI_OK;
}

static int disable_kind(int kind)
{
	fake_cuda.kinds[kind] = 0;
	return CUPTI_OK;
}

static int register_callbacks(cupti_buffer_requested *requested, cupti_buffer_completed *completed)
{
	return requested == cuda_buffer_requested && completed == cuda_buffer_completed ? CUPTI_OK : 1;
}

/* In the word before each record is the way to the next. */
static int next_record(uint8_t *buffer, size_t valid, struct cupti_record **record)
{
	uint8_t *at = *record ? (uint8_t *)*record - 8 + ((uint64_t *)(void *)*record)[-1] : buffer;

	if (at >= buffer + valid)
		return CUPTI_MAX_LIMIT_REACHED;
	*record = (struct cupti_record *)(void *)(at + 8);
	return CUPTI_OK;
}

static int num_dropped(void *context, uint32_t stream, size_t *dropped)
{
	(void)context;
	(void)stream;
	*dropped = atomic_exchange(&fake_cuda.dropped, 0);
	return CUPTI_OK;
}

static int flush_all(uint32_t flag)
{
	fake_cuda.flushes++;
	fake_cuda.forced_flushes += flag == CUPTI_FLUSH_FORCED;
	return CUPTI_OK;
}

static int timestamp(uint64_t *time)
{
	*time = fake_cuda.cupti_time;
	return CUPTI_OK;
}

static int set_attribute(int attribute, size_t *size, void *value)
{
	if (attribute == CUPTI_ATTRIBUTE_ZEROED_BUFFERS && *size == 1)
		fake_cuda.zeroed = *(uint8_t *)value;
	return CUPTI_OK;
}

static int register_stamp(uint64_t (*stamp)(void))
{
	if (fake_cuda.refuse_clock)
		return 1;
	fake_cuda.stamp = stamp;
	return CUPTI_OK;
}

static int thread_id_type(int type)
{
	fake_cuda.thread_ids = type;
	return CUPTI_OK;
}

static int enable_runtime(uint32_t id, uint8_t enable)
{
	assert_true(id < FAKE_CALLS);
	fake_cuda.runtime_calls[id] = enable;
	return CUPTI_OK;
}

static int enable_driver(uint32_t id, uint8_t enable)
{
	assert_true(id < FAKE_CALLS);
	fake_cuda.driver_calls[id] = enable;
	return CUPTI_OK;
}

static int configure_unified(void *config, uint32_t count)
{
	const struct cupti_unified_config *c = config;

	fake_cuda.unified_count = count;
	for (uint32_t i = 0; i < count; i++) {
		assert_int_equal(c[i].scope, CUPTI_UNIFIED_ALL_DEVICES);
		assert_int_equal(c[i].enable, 1);
		fake_cuda.unified_kinds[i] = c[i].kind;
	}
	return CUPTI_OK;
}

/* Handles of the test are ids. */
static int small_id(void *handle, uint32_t *id)
{
	*id = (uint32_t)(uintptr_t)handle;
	return CUPTI_OK;
}

static int device_of(void *context, uint32_t *id)
{
	*id = (uint32_t)(uintptr_t)context % 8;
	return CUPTI_OK;
}

static int stream_id(void *context, void *stream, uint8_t per_thread, uint32_t *id)
{
	(void)context;
	(void)per_thread;
	return small_id(stream, id);
}

static int node_id(void *node, uint64_t *id)
{
	*id = (uint64_t)(uintptr_t)node;
	return CUPTI_OK;
}

void fake_cuda_reset(uint32_t version)
{
	fake_agent_reset();
	memset(&fake_cuda, 0, sizeof(fake_cuda));
	fake_cuda.session.cuda_stack_size = 4096;
	memset(&cuda_agent, 0, sizeof(cuda_agent));
	cuda_agent.core = &core;
	cuda_agent.subscriber = &fake_cuda;
	cuda_agent.cupti = (struct cupti){
		.version = version,
		.path = "/somewhere/libcupti.so.13",
		.cuptiGetResultString = result_string,
		.cuptiEnableCallback = enable_callback,
		.cuptiGetCallbackName = callback_name,
		.cuptiActivityRegisterCallbacks = register_callbacks,
		.cuptiActivityEnable = enable_kind,
		.cuptiActivityDisable = disable_kind,
		.cuptiActivityGetNextRecord = next_record,
		.cuptiActivityGetNumDroppedRecords = num_dropped,
		.cuptiActivityFlushAll = flush_all,
		.cuptiGetTimestamp = timestamp,
		.cuptiActivitySetAttribute = set_attribute,
		.cuptiActivityRegisterTimestampCallback = register_stamp,
		.cuptiSetThreadIdType = thread_id_type,
		.cuptiActivityEnableRuntimeApi = enable_runtime,
		.cuptiActivityEnableDriverApi = enable_driver,
		.cuptiActivityConfigureUnifiedMemoryCounter = configure_unified,
		.cuptiGetContextId = small_id,
		.cuptiGetDeviceId = device_of,
		.cuptiGetStreamIdEx = stream_id,
		.cuptiGetGraphId = small_id,
		.cuptiGetGraphExecId = small_id,
		.cuptiGetGraphNodeId = node_id,
	};
}

void fake_buffer_take(struct fake_buffer *buffer)
{
	size_t size = 0, records = 1;

	cuda_buffer_requested(&buffer->bytes, &size, &records);
	buffer->used = 0;
	assert_non_null(buffer->bytes);
	assert_int_equal(size, CUDA_BUFFER_SIZE);
	assert_int_equal(records, 0);
}

void fake_buffer_add(struct fake_buffer *buffer, const void *record, size_t size)
{
	uint64_t way = 8 + ((size + 7) & ~(size_t)7);

	assert_true(buffer->used + way <= CUDA_BUFFER_SIZE);
	memcpy(buffer->bytes + buffer->used, &way, 8);
	memcpy(buffer->bytes + buffer->used + 8, record, size);
	buffer->used += way;
}

void fake_buffer_complete(struct fake_buffer *buffer)
{
	cuda_buffer_completed(NULL, 0, buffer->bytes, CUDA_BUFFER_SIZE, buffer->used);
}

unsigned fake_cuda_count(unsigned type)
{
	const void *cursor = NULL;
	const uint64_t *record;
	unsigned count = 0;

	while ((record = fake_agent_next(&cursor)))
		count += record_type(*record) == type;
	return count;
}

const void *fake_cuda_only(unsigned type)
{
	const void *cursor = NULL, *found = NULL;
	const uint64_t *record;

	while ((record = fake_agent_next(&cursor)))
		if (record_type(*record) == type) {
			assert_null(found);
			found = record;
		}
	assert_non_null(found);
	return found;
}

const struct record_define *fake_cuda_definition(unsigned kind, unsigned n)
{
	const void *cursor = NULL;
	const uint64_t *record;

	while ((record = fake_agent_next(&cursor)))
		if (record_type(*record) == RECORD_DEFINE && record_flags(*record) == kind && n-- == 0)
			return (const void *)record;
	return NULL;
}

const char *fake_cuda_text(const void *record, size_t fixed)
{
	static __thread char text[RING_CHUNK_DATA + 1];
	size_t size = record_size(*(const uint64_t *)record);

	assert_true(size >= fixed);
	memcpy(text, (const uint8_t *)record + fixed, size - fixed);
	text[size - fixed] = '\0';
	return text;
}
