/* Graphs and their nodes: who made them and when, so that what is replayed later has the names and ranges of
 * its capture. */
#include "agent/core/syscalls.h"
#include "agent/cuda/records/resources.h"
#include "agent/cuda/records/definitions.h"

/* cuda_graph.kind */
enum { GRAPH_CREATED = 1, GRAPH_CLONED = 2, GRAPH_EXECUTABLE = 3, GRAPH_DESTROYED = 4 };

static uint32_t graph_id(void *graph)
{
	uint32_t id = 0;

	if (!graph || !cuda_agent.cupti.cuptiGetGraphId || cuda_agent.cupti.cuptiGetGraphId(graph, &id) != CUPTI_OK)
		return 0;
	return id;
}

static uint32_t exec_id(void *exec)
{
	uint32_t id = 0;

	if (!exec || !cuda_agent.cupti.cuptiGetGraphExecId || cuda_agent.cupti.cuptiGetGraphExecId(exec, &id) != CUPTI_OK)
		return 0;
	return id;
}

static uint64_t node_id(void *node)
{
	uint64_t id = 0;

	if (!node || !cuda_agent.cupti.cuptiGetGraphNodeId || cuda_agent.cupti.cuptiGetGraphNodeId(node, &id) != CUPTI_OK)
		return 0;
	return id;
}

static void report_graph(const struct cupti_graph_data *data, unsigned kind)
{
	uint32_t exec = kind == GRAPH_EXECUTABLE || kind == GRAPH_DESTROYED ? exec_id(data->exec) : 0;
	uint32_t original = kind == GRAPH_CLONED ? graph_id(data->original_graph) : 0;
	uint32_t graph = graph_id(data->graph);

	if (!graph && !exec)
		return;
	cuda_report(&(struct cuda_definition){ .kind = DEFINE_CUDA_GRAPH,
					       .reporter = CUDA_REPORTER_PROGRAM,
					       .level = kind,
					       .time = cuda_agent.core->now(),
					       .id = graph,
					       .extra = (uint64_t)original << 32 | exec });
}

/* The stack at a node's making is its only one: when it is replayed there is none. */
static int write_stack(uint64_t time)
{
	const struct ring_session *session = cuda_agent.core->session;

	if (!(session->cuda_flags & RING_CUDA_BACKTRACES) || session->cuda_stack_threshold[RING_CUDA_CALL_KERNEL] == UINT64_MAX)
		return 0;
	cuda_agent.core->stack(time, session->cuda_stack_size);
	return 1;
}

static void report_node(const struct cupti_graph_data *data, int cloned)
{
	uint64_t time = cuda_agent.core->now();
	uint64_t node = node_id(data->node);
	struct cuda_wire_node body = { .original = cloned ? node_id(data->original_node) : 0,
				       .graph = graph_id(data->graph),
				       .type = data->node_type,
				       .tid = (uint32_t)raw_gettid() };

	if (!node)
		return;
	body.stack = !cloned && write_stack(time);
	cuda_report(&(struct cuda_definition){ .kind = DEFINE_CUDA_GRAPH_NODE,
					       .reporter = CUDA_REPORTER_PROGRAM,
					       .time = time,
					       .id = node,
					       .body = &body,
					       .body_size = sizeof(body) });
}

int cuda_graph_callback(uint32_t id, const struct cupti_graph_data *data)
{
	switch (id) {
	case CUPTI_GRAPH_CREATED: report_graph(data, GRAPH_CREATED); return 1;
	case CUPTI_GRAPH_CLONED: report_graph(data, GRAPH_CLONED); return 1;
	case CUPTI_GRAPH_EXEC_CREATED: report_graph(data, GRAPH_EXECUTABLE); return 1;
	case CUPTI_GRAPH_DESTROY:
	case CUPTI_GRAPH_EXEC_DESTROY: report_graph(data, GRAPH_DESTROYED); return 1;
	case CUPTI_GRAPH_NODE_CREATED:
	case CUPTI_GRAPH_NODE_CLONED: report_node(data, id == CUPTI_GRAPH_NODE_CLONED); return 1;
	default: return 0;
	}
}
