/* counted_graphs WORD...: does what the words say, one after the other, and prints what memory holds then.
 *
 *   graph:NODE,NODE...      makes a graph whose nodes wait for each other, and instantiates it
 *   backwards:NODE,NODE...  the same, but they were added last first
 *   update:NODE,NODE...     the executable graph is made that
 *   launch change destroy   of it; change: another kernel in its first node
 *   add twice plain sync    a launch by itself, and waiting
 *
 * Nodes: add, twice, plain: kernels; set; copy: of memory into its second half; in, out: from and to the host; host; alloc; if; empty;
 * child: a graph of twice and add. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "counted.h"
#include "vendor/cuda/launch.h"

int cuInit(unsigned flags);
int cuCtxSynchronize(void);
int cuMemAlloc_v2(uint64_t *address, size_t size);
int cuLaunchKernel(void *function, uint32_t gx, uint32_t gy, uint32_t gz, uint32_t bx, uint32_t by, uint32_t bz, uint32_t shared,
		   void *stream, void **parameters, void **extra);
int cuGraphInstantiateWithFlags(void **exec, void *graph, unsigned long long flags);
int cuGraphExecUpdate_v2(void *exec, void *graph, void *result);
int cuGraphExecKernelNodeSetParams_v2(void *exec, void *node, const struct cuda_node_kernel *kernel);
int cuGraphExecDestroy(void *exec);
int cuGraphLaunch(void *exec, void *stream);

#define NUMBERS 64
#define SIZE (NUMBERS / 2 * sizeof(int))

static int host[NUMBERS], calls;
static uint64_t memory;
static struct counted_graph child;

static void add(void **parameters)
{
	int *numbers = *(int **)parameters[0];

	for (int i = 0; i < NUMBERS; i++)
		numbers[i] = (numbers[i] + i + 1) % 1000003;
}

static void twice(void **parameters)
{
	int *numbers = *(int **)parameters[0];

	for (int i = 0; i < NUMBERS; i++)
		numbers[i] = (int)(numbers[i] * 3ll % 1000003);
}

static void count(void)
{
	calls++;
}

static struct counted_kernel kernels[] = {
	{ "_Z3addIiEvPT_", add },
	{ "_ZN5outer5twiceEPi", twice },
	{ "plain_kernel", add },
};

static struct counted_node make_node(const char *word)
{
	static const struct {
		const char *word;
		int type;
	} types[] = { { "add", CUDA_NODE_KERNEL },     { "twice", CUDA_NODE_KERNEL }, { "plain", CUDA_NODE_KERNEL },
		      { "set", CUDA_NODE_SET },        { "copy", CUDA_NODE_COPY },    { "in", CUDA_NODE_COPY },
		      { "out", CUDA_NODE_COPY },       { "host", CUDA_NODE_HOST },    { "alloc", CUDA_NODE_ALLOC },
		      { "if", CUDA_NODE_CONDITIONAL }, { "empty", CUDA_NODE_EMPTY },  { "child", CUDA_NODE_GRAPH } };
	struct counted_node n = { .type = -1, .memory = memory, .from = memory, .size = SIZE, .call = count, .child = &child };

	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if (strcmp(word, types[i].word) == 0) {
			n.type = types[i].type;
			n.kernel = i < 3 ? &kernels[i] : NULL;
		}
	n.from_host = strcmp(word, "in") == 0;
	n.to_host = strcmp(word, "out") == 0;
	if (n.from_host)
		n.from = (uint64_t)(uintptr_t)host;
	else if (n.to_host)
		n.memory = (uint64_t)(uintptr_t)host;
	else if (strcmp(word, "copy") == 0)
		n.memory += SIZE;
	if (n.type < 0)
		exit(2);
	return n;
}

static void make_graph(struct counted_graph *g, const char *words, int backwards)
{
	char *copy = strdup(words), *at = copy, *word;
	struct counted_node nodes[COUNTED_NODES];

	memset(g, 0, sizeof(*g));
	while ((word = strsep(&at, ",")))
		nodes[g->count++] = make_node(word);
	for (int i = 0; i < g->count; i++)
		g->nodes[backwards ? g->count - 1 - i : i] = nodes[i];
	for (int i = 1; i < g->count; i++) {
		g->edges[i - 1][0] = backwards ? g->count - i : i - 1;
		g->edges[i - 1][1] = backwards ? g->count - 1 - i : i;
	}
	g->edge_count = g->count - 1;
	free(copy);
}

static void do_word(const char *word)
{
	static struct counted_graph graph;
	static void *exec;
	const char *colon = strchr(word, ':');
	struct cuda_node_kernel other = { .function = &kernels[2] };
	struct counted_node kernel;
	void *parameters[] = { &memory };

	if (colon && strncmp(word, "update", 6) == 0) {
		make_graph(&graph, colon + 1, 0);
		cuGraphExecUpdate_v2(exec, &graph, NULL);
	} else if (colon) {
		make_graph(&graph, colon + 1, word[0] == 'b');
		cuGraphInstantiateWithFlags(&exec, &graph, 0);
		memset(&graph, 0xee, sizeof(graph));
	} else if (strcmp(word, "launch") == 0) {
		cuGraphLaunch(exec, NULL);
	} else if (strcmp(word, "change") == 0) {
		cuGraphExecKernelNodeSetParams_v2(exec, &graph.nodes[0], &other);
	} else if (strcmp(word, "destroy") == 0) {
		cuGraphExecDestroy(exec);
	} else if (strcmp(word, "sync") == 0) {
		cuCtxSynchronize();
	} else {
		kernel = make_node(word);
		cuLaunchKernel((void *)(uintptr_t)kernel.kernel, 4, 1, 1, 64, 1, 1, 0, NULL, parameters, NULL);
	}
}

int main(int argc, char **argv)
{
	long sum = 0;

	cuInit(0);
	cuMemAlloc_v2(&memory, NUMBERS * sizeof(int));
	make_graph(&child, "twice,add", 0);
	for (int i = 0; i < NUMBERS; i++)
		host[i] = i * i;
	for (int i = 1; i < argc; i++)
		do_word(argv[i]);
	for (int i = 0; i < NUMBERS; i++)
		sum = (sum * 31 + ((int *)(uintptr_t)memory)[i] + host[i]) % 1000000007;
	printf("sum %ld calls %d\n", sum, calls);
	return 0;
}
