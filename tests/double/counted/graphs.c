/* Graphs of the driver: nodes with edges between them, done in an order that the edges allow. */
#include <stdlib.h>
#include <string.h>

#include "counted.h"
#include "vendor/cuda/launch.h"

int cuGraphInstantiateWithFlags(void **exec, void *graph, unsigned long long flags);
int cuGraphExecUpdate_v2(void *exec, void *graph, void *result);
int cuGraphExecKernelNodeSetParams_v2(void *exec, void *node, const struct cuda_node_kernel *kernel);
int cuGraphExecDestroy(void *exec);
int cuGraphLaunch(void *exec, void *stream);
int cuGraphClone(void **clone, void *graph);
int cuGraphDestroy(void *graph);
int cuGraphGetNodes(void *graph, void **nodes, size_t *count);
int cuGraphGetEdges(void *graph, void **from, void **to, size_t *count);
int cuGraphNodeGetType(void *node, int *type);
int cuGraphKernelNodeGetParams_v2(void *node, struct cuda_node_kernel *kernel);
int cuGraphKernelNodeGetAttribute(void *node, int id, void *value);
int cuGraphMemcpyNodeGetParams(void *node, struct cuda_copy *copy);
int cuGraphMemsetNodeGetParams(void *node, struct cuda_node_set *set);
int cuGraphChildGraphNodeGetGraph(void *node, void **graph);
int cuFuncGetName(const char **name, void *function);
int cuPointerGetAttribute(void *value, int attribute, uint64_t address);
int cuMemcpy3D_v2(const struct cuda_copy *copy);
int cuMemsetD2D8_v2(uint64_t address, size_t pitch, uint8_t value, size_t width, size_t height);
int cuMemsetD2D16_v2(uint64_t address, size_t pitch, uint16_t value, size_t width, size_t height);
int cuMemsetD2D32_v2(uint64_t address, size_t pitch, uint32_t value, size_t width, size_t height);

static struct counted_graph *copy_graph(const struct counted_graph *graph)
{
	struct counted_graph *copy = malloc(sizeof(*copy));

	memcpy(copy, graph, sizeof(*copy));
	return copy;
}

COUNTED_FUNCTION(cuGraphInstantiateWithFlags, (void **exec, void *graph, unsigned long long flags), (exec, graph, flags))
{
	struct {
		void **exec;
		void *graph;
		unsigned long long flags;
	} p = { exec, graph, flags };
	struct counted_call_state c;

	counted_enter(&c, COUNTED_INSTANTIATE, &p, NULL);
	*exec = copy_graph(graph);
	return counted_leave(&c, 0);
}

COUNTED_FUNCTION(cuGraphExecUpdate_v2, (void *exec, void *graph, void *result), (exec, graph, result))
{
	void *p[] = { exec, graph, result };
	struct counted_call_state c;

	counted_enter(&c, COUNTED_EXEC_UPDATE, p, NULL);
	memcpy(exec, graph, sizeof(struct counted_graph));
	return counted_leave(&c, 0);
}

/* Of the node with the same number in what it was made of: the first. */
COUNTED_FUNCTION(cuGraphExecKernelNodeSetParams_v2, (void *exec, void *node, const struct cuda_node_kernel *kernel), (exec, node, kernel))
{
	const void *p[] = { exec, node, kernel };
	struct counted_graph *graph = exec;
	struct counted_call_state c;

	counted_enter(&c, COUNTED_EXEC_CHANGE, p, NULL);
	graph->nodes[0].kernel = kernel->function;
	return counted_leave(&c, 0);
}

COUNTED_FUNCTION(cuGraphExecDestroy, (void *exec), (exec))
{
	void *p[] = { exec };
	struct counted_call_state c;

	counted_enter(&c, COUNTED_EXEC_DESTROY, p, NULL);
	free(exec);
	return counted_leave(&c, 0);
}

/* As the real one does: those that allocate are not copied. */
COUNTED_FUNCTION(cuGraphClone, (void **clone, void *graph), (clone, graph))
{
	const struct counted_graph *from = graph;

	for (int i = 0; i < from->count; i++)
		if (from->nodes[i].type == CUDA_NODE_ALLOC)
			return 801;
	*clone = copy_graph(graph);
	counted_log("clone");
	return 0;
}

COUNTED_FUNCTION(cuGraphDestroy, (void *graph), (graph))
{
	counted_log("drop");
	free(graph);
	return 0;
}

COUNTED_FUNCTION(cuGraphGetNodes, (void *graph, void **nodes, size_t *count), (graph, nodes, count))
{
	struct counted_graph *g = graph;

	for (size_t i = 0; nodes && i < *count && i < (size_t)g->count; i++)
		nodes[i] = &g->nodes[i];
	*count = (size_t)g->count;
	return 0;
}

COUNTED_FUNCTION(cuGraphGetEdges, (void *graph, void **from, void **to, size_t *count), (graph, from, to, count))
{
	struct counted_graph *g = graph;

	for (size_t i = 0; from && i < *count && i < (size_t)g->edge_count; i++) {
		from[i] = &g->nodes[g->edges[i][0]];
		to[i] = &g->nodes[g->edges[i][1]];
	}
	*count = (size_t)g->edge_count;
	return 0;
}

COUNTED_FUNCTION(cuGraphNodeGetType, (void *node, int *type), (node, type))
{
	*type = ((struct counted_node *)node)->type;
	return 0;
}

/* The arguments are the node's own. */
COUNTED_FUNCTION(cuGraphKernelNodeGetParams_v2, (void *node, struct cuda_node_kernel *kernel), (node, kernel))
{
	struct counted_node *n = node;

	n->parameters[0] = &n->memory;
	*kernel = (struct cuda_node_kernel){ .function = (void *)(uintptr_t)n->kernel,
					     .grid = { 3, 2, 1 },
					     .block = { 96, 1, 1 },
					     .parameters = n->parameters,
					     .context = counted_context(counted_device()) };
	return n->type != CUDA_NODE_KERNEL;
}

COUNTED_FUNCTION(cuGraphKernelNodeGetAttribute, (void *node, int id, void *value), (node, id, value))
{
	memset(value, 0, 64);
	return node && id ? 0 : 1;
}

COUNTED_FUNCTION(cuGraphMemcpyNodeGetParams, (void *node, struct cuda_copy *copy), (node, copy))
{
	struct counted_node *n = node;

	/* clang-format off */
	*copy = (struct cuda_copy){ .from = { .type = n->from_host ? CUDA_MEMORY_HOST : 2, .host = (void *)(uintptr_t)n->from, .device = n->from },
				    .to = { .type = n->to_host ? CUDA_MEMORY_UNIFIED : 2, .host = (void *)(uintptr_t)n->memory, .device = n->memory },
				    .width = n->size, .height = 1, .depth = 1 };
	/* clang-format on */
	return n->type != CUDA_NODE_COPY;
}

COUNTED_FUNCTION(cuGraphMemsetNodeGetParams, (void *node, struct cuda_node_set *set), (node, set))
{
	struct counted_node *n = node;

	*set = (struct cuda_node_set){ .address = n->memory, .value = 7, .element = 1, .width = n->size, .height = 1 };
	return n->type != CUDA_NODE_SET;
}

COUNTED_FUNCTION(cuGraphChildGraphNodeGetGraph, (void *node, void **graph), (node, graph))
{
	*graph = ((struct counted_node *)node)->child;
	return 0;
}

COUNTED_FUNCTION(cuFuncGetName, (const char **name, void *function), (name, function))
{
	*name = ((const struct counted_kernel *)function)->symbol;
	return 0;
}

/* Only what was allocated is known. */
COUNTED_FUNCTION(cuPointerGetAttribute, (void *value, int attribute, uint64_t address), (value, attribute, address))
{
	void *addresses[64];
	size_t sizes[64], count = counted_allocations(addresses, sizes, 64);

	for (size_t i = 0; attribute == CUDA_POINTER_MEMORY_TYPE && i < count; i++)
		if (address - (uint64_t)(uintptr_t)addresses[i] < sizes[i]) {
			memset(value, 0, 4);
			*(char *)value = 2;
			return 0;
		}
	return 1;
}

COUNTED_FUNCTION(cuMemcpy3D_v2, (const struct cuda_copy *copy), (copy))
{
	struct counted_call_state c;

	counted_enter(&c, COUNTED_COPY_3D, &copy, NULL);
	memcpy((void *)(uintptr_t)copy->to.device,
	       copy->from.type == CUDA_MEMORY_HOST ? copy->from.host : (void *)(uintptr_t)copy->from.device, copy->width);
	counted_log("copy");
	return counted_leave(&c, 0);
}

COUNTED_FUNCTION(cuMemsetD2D8_v2, (uint64_t address, size_t pitch, uint8_t value, size_t width, size_t height),
		 (address, pitch, value, width, height))
{
	struct counted_call_state c;

	counted_enter(&c, COUNTED_SET_2D, NULL, NULL);
	for (size_t i = 0; i < height; i++)
		memset((char *)(uintptr_t)address + i * pitch, value, width);
	counted_log("set");
	return counted_leave(&c, 0);
}

COUNTED_FUNCTION(cuMemsetD2D16_v2, (uint64_t address, size_t pitch, uint16_t value, size_t width, size_t height),
		 (address, pitch, value, width, height))
{
	return address && pitch && value && width && height ? 801 : 1;
}

COUNTED_FUNCTION(cuMemsetD2D32_v2, (uint64_t address, size_t pitch, uint32_t value, size_t width, size_t height),
		 (address, pitch, value, width, height))
{
	return address && pitch && value && width && height ? 801 : 1;
}

static void run(struct counted_graph *g);

static void run_node(struct counted_node *n)
{
	void *parameters[] = { &n->memory };

	if (n->type == CUDA_NODE_KERNEL) {
		n->kernel->run(parameters);
		counted_log("run %s", n->kernel->symbol);
	} else if (n->type == CUDA_NODE_COPY) {
		memcpy((void *)(uintptr_t)n->memory, (void *)(uintptr_t)n->from, n->size);
	} else if (n->type == CUDA_NODE_SET) {
		memset((void *)(uintptr_t)n->memory, 7, n->size);
	} else if (n->type == CUDA_NODE_HOST) {
		n->call();
	} else if (n->type == CUDA_NODE_GRAPH) {
		run(n->child);
	}
}

static int waits(const struct counted_graph *g, const int *done, int node)
{
	for (int i = 0; i < g->edge_count; i++)
		if (g->edges[i][1] == node && !done[g->edges[i][0]])
			return 1;
	return 0;
}

static void run(struct counted_graph *g)
{
	int done[COUNTED_NODES] = { 0 };

	for (int left = g->count; left;)
		for (int i = 0; i < g->count; i++)
			if (!done[i] && !waits(g, done, i)) {
				run_node(&g->nodes[i]);
				done[i] = 1;
				left--;
			}
}

COUNTED_FUNCTION(cuGraphLaunch, (void *exec, void *stream), (exec, stream))
{
	struct cuda_launch_graph p = { exec, stream };
	struct counted_call_state c;

	counted_enter(&c, COUNTED_GRAPH, &p, NULL);
	counted_log("graph");
	run(exec);
	counted_ran(COUNTED_GRAPH_NAME);
	return counted_leave(&c, 0);
}
