#include <string.h>

#include "agent/cuda/records/decode.h"
#include "agent/cuda/records/names.h"

#define NO_CARVEOUT 0xff

static struct cuda_graph_place graph_place(uint64_t node, uint32_t graph, uint32_t channel, uint32_t type)
{
	return (struct cuda_graph_place){ node, node ? graph : 0, (channel & 0xffffff) | type << 24 };
}

/* All bytes count when two launches are compared: those between the fields are zero. */
static uint32_t launch_number(const struct cuda_source *s)
{
	const struct cupti_kernel *k = s->record;
	int occupancy = CUDA_HAS(s, cupti_kernel, cluster_potential);
	struct cuda_wire_launch launch;

	memset(&launch, 0, sizeof(launch));
	launch.function = cuda_function_number(k->name);
	memcpy(launch.grid, k->grid, sizeof(launch.grid));
	memcpy(launch.block, k->block, sizeof(launch.block));
	launch.static_shared = k->static_shared;
	launch.dynamic_shared = k->dynamic_shared;
	launch.shared_executed = k->shared_executed;
	launch.local_per_thread = k->local_per_thread;
	launch.local_total = k->local_total;
	memcpy(launch.cluster, k->cluster, sizeof(launch.cluster));
	launch.cluster_policy = k->cluster_policy;
	launch.cluster_potential = occupancy ? k->cluster_potential : CUDA_NO_ID;
	launch.cluster_active = occupancy ? k->cluster_active : CUDA_NO_ID;
	launch.priority = INT32_MIN;
	launch.registers = k->registers;
	launch.cache_config = k->cache_config;
	launch.shared_config = k->shared_config;
	launch.shared_limit = (uint8_t)k->shared_limit;
	launch.carveout = k->carveout_requested ? k->carveout : NO_CARVEOUT;
	launch.launch_type = k->launch_type;
	launch.from_device = k->from_device;
	return cuda_launch_number(&launch);
}

static void decode_kernel(const struct cuda_source *s)
{
	const struct cupti_kernel *k = s->record;
	struct record_cuda_kernel *record;
	uint32_t launch;

	if (cuda_work_is_left_out(cuda_at(s, k->start), cuda_correlation(k->correlation)))
		return;
	launch = launch_number(s);
	record = cuda_begin(sizeof(*record));
	if (!record)
		return;
	record->time = cuda_at(s, k->start);
	record->end = cuda_at(s, k->end);
	record->place = (struct cuda_place){ k->device, k->context, k->stream, cuda_correlation(k->correlation) };
	record->graph = graph_place(k->graph_node, k->graph, k->channel, k->channel_type);
	record->grid = (uint64_t)k->grid_id;
	record->queued = cuda_at(s, k->queued);
	record->submitted = cuda_at(s, k->submitted);
	record->launch = launch;
	record->pad = 0;
	cuda_end(record, RECORD_CUDA_KERNEL, 0, 0, sizeof(*record));
}

static void decode_copy(const struct cuda_source *s)
{
	const struct cupti_memcpy *c = s->record;
	struct record_cuda_copy *record = cuda_begin_work(s, c->start, c->correlation, sizeof(*record));

	if (!record)
		return;
	record->time = cuda_at(s, c->start);
	record->end = cuda_at(s, c->end);
	record->place = (struct cuda_place){ c->device, c->context, c->stream, cuda_correlation(c->correlation) };
	record->graph = graph_place(c->graph_node, c->graph, c->channel, c->channel_type);
	record->bytes = c->bytes;
	record->count = c->count;
	record->kind = c->copy_kind;
	record->source = c->source_kind;
	record->target = c->target_kind;
	record->flags = c->flags;
	record->source_device = record->source_context = CUDA_NO_ID;
	record->target_device = record->target_context = CUDA_NO_ID;
	record->pad = 0;
	cuda_end(record, RECORD_CUDA_COPY, 0, 0, sizeof(*record));
}

static void decode_peer(const struct cuda_source *s)
{
	const struct cupti_memcpy2 *c = s->record;
	struct record_cuda_copy *record = cuda_begin_work(s, c->start, c->correlation, sizeof(*record));

	if (!record)
		return;
	record->time = cuda_at(s, c->start);
	record->end = cuda_at(s, c->end);
	record->place = (struct cuda_place){ c->device, c->context, c->stream, cuda_correlation(c->correlation) };
	record->graph = graph_place(c->graph_node, c->graph, c->channel, c->channel_type);
	record->bytes = c->bytes;
	record->count = 0;
	record->kind = c->copy_kind;
	record->source = c->source_kind;
	record->target = c->target_kind;
	record->flags = c->flags;
	record->source_device = c->source_device;
	record->source_context = c->source_context;
	record->target_device = c->target_device;
	record->target_context = c->target_context;
	record->pad = 0;
	cuda_end(record, RECORD_CUDA_COPY, 0, 0, sizeof(*record));
}

static void decode_set(const struct cuda_source *s)
{
	const struct cupti_memset *m = s->record;
	struct record_cuda_set *record = cuda_begin_work(s, m->start, m->correlation, sizeof(*record));

	if (!record)
		return;
	record->time = cuda_at(s, m->start);
	record->end = cuda_at(s, m->end);
	record->place = (struct cuda_place){ m->device, m->context, m->stream, cuda_correlation(m->correlation) };
	record->graph = graph_place(m->graph_node, m->graph, m->channel, m->channel_type);
	record->bytes = m->bytes;
	record->value = m->value;
	record->memory = m->memory_kind;
	record->flags = m->flags;
	cuda_end(record, RECORD_CUDA_SET, 0, 0, sizeof(*record));
}

static void decode_graph(const struct cuda_source *s)
{
	const struct cupti_graph_trace *g = s->record;
	struct record_cuda_graph *record = cuda_begin_work(s, g->start, g->correlation, sizeof(*record));

	if (!record)
		return;
	record->time = cuda_at(s, g->start);
	record->end = cuda_at(s, g->end);
	record->place = (struct cuda_place){ g->device, g->context, g->stream, cuda_correlation(g->correlation) };
	record->graph = g->graph;
	record->exec = CUDA_NO_ID;
	cuda_end(record, RECORD_CUDA_GRAPH, 0, 0, sizeof(*record));
}

const struct cuda_kind cuda_work_kinds[] = {
	{ CUPTI_KIND_CONCURRENT_KERNEL, 1, decode_kernel, 0, "kernels" },
	{ CUPTI_KIND_MEMCPY, 1, decode_copy, 0, "copies" },
	{ CUPTI_KIND_MEMCPY2, 1, decode_peer, 0, NULL },
	{ CUPTI_KIND_MEMSET, 1, decode_set, 0, NULL },
	{ CUPTI_KIND_GRAPH_TRACE, 0, decode_graph, 0, NULL },
	{ 0 },
};
