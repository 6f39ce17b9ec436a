/* Executable graphs: what they were made of is copied when they are instantiated, as programs may destroy it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/cuda/kernel/kernel.h"

#define MOST_GRAPHS 1024u
#define MOST_NODES 8192u
#define MOST_DEPTH 8u

static struct kernel_graph graphs[MOST_GRAPHS];

static struct kernel_graph *find_kernel_graph(const void *exec)
{
	for (size_t i = 0; i < MOST_GRAPHS; i++)
		if (graphs[i].exec == exec)
			return &graphs[i];
	return NULL;
}

static int add_graph_step(struct kernel_graph *g, const struct kernel_step *step)
{
	size_t room = g->room ? g->room * 2 : 16;
	struct kernel_step *larger;

	if (g->step_count == g->room) {
		larger = g->step_count < MOST_NODES ? realloc(g->steps, room * sizeof(*larger)) : NULL;
		if (!larger)
			return -1;
		g->steps = larger;
		g->room = room;
	}
	g->steps[g->step_count++] = *step;
	return 0;
}

static void take_attribute(struct kernel_step *s, void *node, uint32_t id)
{
	struct cuda_launch_attribute a = { .id = id };

	if (!kernel_agent.driver.cuGraphKernelNodeGetAttribute || s->config.attribute_count == KERNEL_STEP_ATTRIBUTES ||
	    kernel_agent.driver.cuGraphKernelNodeGetAttribute(node, (int)id, a.value) != 0 || !a.value[0])
		return;
	if (id == CUDA_LAUNCH_CLUSTER)
		memcpy(s->launch.cluster, a.value, sizeof(s->launch.cluster));
	s->attributes[s->config.attribute_count++] = a;
}

/* Its arguments belong to the node. */
static const char *add_kernel_step(struct kernel_graph *g, void *node)
{
	const struct cuda_launcher *d = &kernel_agent.driver;
	struct kernel_step s = { .type = CUDA_NODE_KERNEL, .launch.call = KERNEL_CALL_KERNEL_EX };
	struct cuda_node_kernel k = { 0 };

	if (!d->cuGraphKernelNodeGetParams || !d->cuLaunchKernelEx || d->cuGraphKernelNodeGetParams(node, &k) != 0)
		return "the driver does not report its kernels";
	s.launch.function = k.function ? k.function : k.kernel;
	s.launch.context = k.context;
	s.launch.shared = s.config.shared = k.shared;
	memcpy(s.launch.grid, k.grid, sizeof(k.grid));
	memcpy(s.launch.block, k.block, sizeof(k.block));
	memcpy(s.config.grid, k.grid, sizeof(k.grid));
	memcpy(s.config.block, k.block, sizeof(k.block));
	s.ex.function = s.launch.function;
	s.ex.parameters = k.extra ? NULL : k.parameters;
	s.ex.extra = k.extra;
	if ((!k.function || !d->cuFuncGetName || d->cuFuncGetName(&s.launch.name, k.function) != 0) &&
	    (!k.kernel || !d->cuKernelGetName || d->cuKernelGetName(&s.launch.name, k.kernel) != 0))
		return "the driver does not report the names of its kernels";
	take_attribute(&s, node, CUDA_LAUNCH_COOPERATIVE);
	take_attribute(&s, node, CUDA_LAUNCH_CLUSTER);
	take_attribute(&s, node, CUDA_LAUNCH_SCHEDULING);
	return add_graph_step(g, &s) < 0 ? "it has too many nodes" : NULL;
}

/* Memory that only the host reaches: nobody puts that back. */
static int is_plain_host(const struct cuda_copy_end *end)
{
	uint64_t address = end->type == CUDA_MEMORY_UNIFIED ? end->device : (uint64_t)(uintptr_t)end->host;
	uint32_t type = 0;

	if (end->type != CUDA_MEMORY_HOST && end->type != CUDA_MEMORY_UNIFIED)
		return 0;
	return !kernel_agent.driver.cuPointerGetAttribute ||
	       kernel_agent.driver.cuPointerGetAttribute(&type, CUDA_POINTER_MEMORY_TYPE, address) != 0;
}

/* A copy to the host is left out, unless something comes back from there. */
static const char *add_copy(struct kernel_graph *g, void *node)
{
	const struct cuda_launcher *d = &kernel_agent.driver;
	struct kernel_step s = { .type = CUDA_NODE_COPY };

	if (!d->cuGraphMemcpyNodeGetParams || !d->cuMemcpy3D || d->cuGraphMemcpyNodeGetParams(node, &s.copy) != 0)
		return "the driver does not report its copies";
	if (is_plain_host(&s.copy.from) && g->copies_out)
		return "it copies to the host and back";
	if (is_plain_host(&s.copy.to)) {
		g->copies_out = 1;
		return NULL;
	}
	return add_graph_step(g, &s) < 0 ? "it has too many nodes" : NULL;
}

static const char *add_set_step(struct kernel_graph *g, void *node)
{
	const struct cuda_launcher *d = &kernel_agent.driver;
	struct kernel_step s = { .type = CUDA_NODE_SET };

	if (!d->cuGraphMemsetNodeGetParams || !d->cuMemsetD2D8 || !d->cuMemsetD2D16 || !d->cuMemsetD2D32 ||
	    d->cuGraphMemsetNodeGetParams(node, &s.set) != 0)
		return "the driver does not report its memory sets";
	return add_graph_step(g, &s) < 0 ? "it has too many nodes" : NULL;
}

static const char *add_graph(struct kernel_graph *g, void *graph, unsigned depth);

static const char *add_child(struct kernel_graph *g, void *node, unsigned depth)
{
	void *child = NULL;

	if (!kernel_agent.driver.cuGraphChildGraphNodeGetGraph || kernel_agent.driver.cuGraphChildGraphNodeGetGraph(node, &child) != 0)
		return "the driver does not report graphs in it";
	return depth == MOST_DEPTH ? "graphs in it lie too deep" : add_graph(g, child, depth + 1);
}

static const char *add_node(struct kernel_graph *g, void *node, unsigned depth)
{
	int type = -1;

	if (kernel_agent.driver.cuGraphNodeGetType(node, &type) != 0)
		return "the driver does not report its nodes";
	switch (type) {
	case CUDA_NODE_KERNEL: return add_kernel_step(g, node);
	case CUDA_NODE_COPY: return add_copy(g, node);
	case CUDA_NODE_SET: return add_set_step(g, node);
	case CUDA_NODE_GRAPH: return add_child(g, node, depth);
	case CUDA_NODE_EMPTY:
	case CUDA_NODE_WAIT:
	case CUDA_NODE_EVENT: return NULL; /* one by one, nothing has to be waited for */
	case CUDA_NODE_HOST: return "it calls a function of the host";
	case CUDA_NODE_SIGNAL:
	case CUDA_NODE_SEMAPHORE: return "it has external semaphores";
	case CUDA_NODE_ALLOC:
	case CUDA_NODE_FREE: return "it allocates memory";
	case CUDA_NODE_BATCH: return "it waits for values in memory, or writes them";
	case CUDA_NODE_CONDITIONAL: return "it has conditional nodes";
	default: return "it has nodes of a kind that is not known";
	}
}

struct order {
	void **nodes;
	size_t count;
	void **from, **to;
	size_t edges;
	uint32_t *waits; /* for so many, of each node */
};

static size_t index_of(const struct order *o, const void *node)
{
	for (size_t i = 0; i < o->count; i++)
		if (o->nodes[i] == node)
			return i;
	return o->count;
}

/* Those that wait for it wait for one less. */
static int is_node_done(struct order *o, const void *node)
{
	size_t at;

	for (size_t i = 0; i < o->edges; i++) {
		if (o->from[i] != node)
			continue;
		at = index_of(o, o->to[i]);
		if (at == o->count || o->waits[at] == 0)
			return -1;
		o->waits[at]--;
	}
	return 0;
}

/* As they were made, where that is an order in which they can run. */
static const char *add_in_order(struct kernel_graph *g, struct order *o, unsigned depth)
{
	size_t left = o->count, before = left + 1, at;
	const char *why = NULL;

	for (size_t i = 0; i < o->edges; i++) {
		at = index_of(o, o->to[i]);
		if (at == o->count)
			return "its edges lead elsewhere";
		o->waits[at]++;
	}
	while (left && left < before && !why) {
		before = left;
		for (size_t i = 0; i < o->count && !why; i++) {
			if (o->waits[i] != 0)
				continue;
			why = is_node_done(o, o->nodes[i]) < 0 ? "its edges lead elsewhere" : add_node(g, o->nodes[i], depth);
			o->waits[i] = UINT32_MAX;
			left--;
		}
	}
	return why ? why : left ? "its nodes have no order" : NULL;
}

static const char *add_graph(struct kernel_graph *g, void *graph, unsigned depth)
{
	const struct cuda_launcher *d = &kernel_agent.driver;
	const char *why = "the driver does not report its nodes";
	struct order o = { 0 };

	if (!d->cuGraphGetNodes || !d->cuGraphGetEdges || !d->cuGraphNodeGetType || d->cuGraphGetNodes(graph, NULL, &o.count) != 0 ||
	    d->cuGraphGetEdges(graph, NULL, NULL, &o.edges) != 0)
		return why;
	if (o.count > MOST_NODES || o.edges > 4 * MOST_NODES)
		return "it has too many nodes";
	o.nodes = calloc(o.count + 1, sizeof(*o.nodes));
	o.from = calloc(o.edges + 1, sizeof(*o.from));
	o.to = calloc(o.edges + 1, sizeof(*o.to));
	o.waits = calloc(o.count + 1, sizeof(*o.waits));
	if (o.nodes && o.from && o.to && o.waits && d->cuGraphGetNodes(graph, o.nodes, &o.count) == 0 &&
	    (!o.edges || d->cuGraphGetEdges(graph, o.from, o.to, &o.edges) == 0))
		why = add_in_order(g, &o, depth);
	free(o.nodes);
	free(o.from);
	free(o.to);
	free(o.waits);
	return why;
}

/* Steps no longer move. */
static void connect(struct kernel_graph *g)
{
	for (size_t i = 0; i < g->step_count; i++) {
		struct kernel_step *s = &g->steps[i];

		s->config.attributes = s->attributes;
		s->ex.config = &s->config;
		s->launch.parameters = &s->ex;
	}
}

static void clear(struct kernel_graph *g)
{
	if (g->graph && kernel_agent.driver.cuGraphDestroy)
		kernel_agent.driver.cuGraphDestroy(g->graph);
	free(g->steps);
	memset(g, 0, sizeof(*g));
}

void kernel_graph_made(void *exec, void *graph)
{
	const struct cuda_launcher *d = &kernel_agent.driver;
	struct kernel_graph *g = exec ? find_kernel_graph(exec) : NULL;

	if (kernel_agent.request.graphs == KERNEL_GRAPHS_NONE || !exec)
		return;
	if (g)
		clear(g);
	g = find_kernel_graph(NULL);
	if (!g)
		return;
	g->exec = exec;
	if (!d->cuGraphClone || d->cuGraphClone(&g->graph, graph) != 0) {
		g->graph = NULL;
		g->why = "it cannot be copied, as those that allocate memory";
		return;
	}
	g->why = add_graph(g, g->graph, 0);
	connect(g);
}

void kernel_graph_changed(const void *exec)
{
	struct kernel_graph *g = exec ? find_kernel_graph(exec) : NULL;

	if (g)
		g->why = "its nodes were changed after it had been instantiated";
}

void kernel_graph_forget(const void *exec)
{
	struct kernel_graph *g = exec ? find_kernel_graph(exec) : NULL;

	if (g)
		clear(g);
}

struct kernel_graph *kernel_graph_of(const void *exec, const char **why)
{
	struct kernel_graph *g = exec ? find_kernel_graph(exec) : NULL;

	*why = g ? g->why : "it was instantiated unseen, or there are too many";
	return g && !g->why ? g : NULL;
}

static int make_set(const struct cuda_node_set *s)
{
	const struct cuda_launcher *d = &kernel_agent.driver;
	size_t pitch = s->height > 1 ? s->pitch : s->width * s->element;

	if (s->element == 1)
		return d->cuMemsetD2D8(s->address, pitch, (uint8_t)s->value, s->width, s->height);
	if (s->element == 2)
		return d->cuMemsetD2D16(s->address, pitch, (uint16_t)s->value, s->width, s->height);
	return d->cuMemsetD2D32(s->address, pitch, s->value, s->width, s->height);
}

int kernel_step_make(const struct kernel_step *step, char *why)
{
	int result;

	if (step->type == CUDA_NODE_KERNEL)
		return kernel_launch_again(&step->launch, why);
	result = step->type == CUDA_NODE_COPY ? kernel_agent.driver.cuMemcpy3D(&step->copy) : make_set(&step->set);
	if (result == 0)
		result = kernel_agent.driver.cuCtxSynchronize();
	if (result != 0)
		snprintf(why, KERNEL_WHY_SIZE, "a step of the graph could not be replayed (CUDA error %d)", result);
	return result == 0 ? 0 : -1;
}
