/* Contexts, streams and modules as they come and go: whether a window is open or not. What a callback does not
 * know CUPTI's own records add (decode_objects.c). */
#include "agent/cuda/records/resources.h"

#include "agent/cuda/records/decode.h"
#include "agent/cuda/records/definitions.h"

void cuda_resources_enable(int on)
{
	/* clang-format off */
	static const uint8_t ids[] = { CUPTI_CONTEXT_CREATED,	 CUPTI_CONTEXT_DESTROY,
				       CUPTI_STREAM_CREATED,	 CUPTI_DRIVER_READY,
				       CUPTI_MODULE_LOADED,	 CUPTI_MODULE_UNLOAD,
				       CUPTI_GRAPH_CREATED,	 CUPTI_GRAPH_DESTROY,
				       CUPTI_GRAPH_CLONED,	 CUPTI_GRAPH_NODE_CREATED,
				       CUPTI_GRAPH_EXEC_CREATED, CUPTI_GRAPH_EXEC_DESTROY,
				       CUPTI_GRAPH_NODE_CLONED };
	/* clang-format on */

	for (size_t i = 0; i < sizeof(ids); i++)
		cuda_agent.cupti.cuptiEnableCallback((uint32_t)on, cuda_agent.subscriber, CUPTI_DOMAIN_RESOURCE, ids[i]);
}

static uint32_t context_id(void *context)
{
	uint32_t id = 0;

	if (!context || !cuda_agent.cupti.cuptiGetContextId || cuda_agent.cupti.cuptiGetContextId(context, &id) != CUPTI_OK)
		return 0;
	return id;
}

static uint32_t device_id(void *context)
{
	uint32_t id = 0;

	if (!context || !cuda_agent.cupti.cuptiGetDeviceId || cuda_agent.cupti.cuptiGetDeviceId(context, &id) != CUPTI_OK)
		return CUDA_NO_ID;
	return id;
}

static uint32_t stream_id(void *context, void *stream)
{
	uint32_t id = 0;

	if (!cuda_agent.cupti.cuptiGetStreamIdEx || cuda_agent.cupti.cuptiGetStreamIdEx(context, stream, 0, &id) != CUPTI_OK)
		return CUDA_NO_ID;
	return id;
}

static void report_cuda_resource(enum define_kind kind, uint64_t id, const void *body, uint32_t size)
{
	cuda_report(&(struct cuda_definition){ .kind = kind,
					       .reporter = CUDA_REPORTER_PROGRAM,
					       .time = cuda_agent.core->now(),
					       .id = id,
					       .body = body,
					       .body_size = size });
}

static void context_changed(void *context, int ended)
{
	struct cuda_wire_context body = {
		.device = device_id(context), .null_stream = CUDA_NO_ID, .ended = (uint32_t)ended, .handle = (uintptr_t)context
	};
	uint32_t id = context_id(context);

	if (!id)
		return;
	report_cuda_resource(DEFINE_CUDA_CONTEXT, id, &body, sizeof(body));
	if (!ended)
		cuda_device_seen(body.device);
}

static void stream_created(const struct cupti_resource_data *data)
{
	struct cuda_wire_stream body = { .context = context_id(data->context),
					 .device = device_id(data->context),
					 .priority = INT32_MIN,
					 .handle = (uintptr_t)data->stream };
	uint32_t id = stream_id(data->context, data->stream);

	if (id != CUDA_NO_ID)
		report_cuda_resource(DEFINE_CUDA_STREAM, id, &body, sizeof(body));
}

static void module_changed(const struct cupti_resource_data *data, int ended)
{
	const struct cupti_module_data *module = data->descriptor;
	struct cuda_wire_module body = { .context = context_id(data->context), .ended = (uint32_t)ended };

	if (!module)
		return;
	body.size = module->size;
	report_cuda_resource(DEFINE_CUDA_MODULE, module->module, &body, sizeof(body));
}

void cuda_resource_callback(uint32_t id, const struct cupti_resource_data *data)
{
	switch (id) {
	case CUPTI_DRIVER_READY: cuda_activities_driver_ready(); break;
	case CUPTI_CONTEXT_CREATED:
		cuda_activities_driver_ready();
		context_changed(data->context, 0);
		break;
	case CUPTI_CONTEXT_DESTROY: context_changed(data->context, 1); break;
	case CUPTI_STREAM_CREATED: stream_created(data); break;
	case CUPTI_MODULE_LOADED:
	case CUPTI_MODULE_UNLOAD: module_changed(data, id == CUPTI_MODULE_UNLOAD); break;
	default:
		if (data->descriptor)
			cuda_graph_callback(id, data->descriptor);
	}
}
