/* A graph that was captured, with NVTX ranges around its parts, and one put together by hand; both replayed. */
#include <nvtx3/nvToolsExt.h>

#include "tell.h"

__global__ void first_part(int *out)
{
	out[0] = 1;
}

__global__ void second_part(int *out)
{
	out[1] = 2;
}

__global__ void by_hand(int *out)
{
	out[2] = 3;
}

static void on_host(void *counter)
{
	++*(int *)counter;
}

static void replay(const char *name, cudaGraphExec_t graph, int times, cudaStream_t stream)
{
	nvtxRangePushA(name);
	for (int i = 0; i < times; i++)
		MUST(cudaGraphLaunch(graph, stream));
	MUST(cudaStreamSynchronize(stream));
	nvtxRangePop();
}

static cudaGraphExec_t captured(int *out, int *pinned, cudaStream_t stream)
{
	cudaGraph_t graph;
	cudaGraphExec_t executable;

	MUST(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
	nvtxRangePushA("capture first");
	first_part<<<2, 32, 0, stream>>>(out);
	first_part<<<3, 32, 0, stream>>>(out);
	MUST(cudaMemsetAsync(out, 5, 4000, stream));
	nvtxRangePop();
	nvtxRangePushA("capture second");
	second_part<<<4, 64, 0, stream>>>(out);
	MUST(cudaMemcpyAsync(pinned, out, 5000, cudaMemcpyDeviceToHost, stream));
	nvtxRangePop();
	MUST(cudaStreamEndCapture(stream, &graph));
	MUST(cudaGraphInstantiate(&executable, graph, 0));
	return executable;
}

static cudaGraphExec_t built(int *out, int *counter)
{
	cudaGraph_t graph;
	cudaGraphNode_t first, second, host;
	cudaGraphExec_t executable;
	cudaKernelNodeParams kernel = {};
	cudaHostNodeParams call = {};
	void *arguments[] = { &out };

	MUST(cudaGraphCreate(&graph, 0));
	kernel.func = (void *)by_hand;
	kernel.gridDim = dim3(5);
	kernel.blockDim = dim3(96);
	kernel.kernelParams = arguments;
	MUST(cudaGraphAddKernelNode(&first, graph, NULL, 0, &kernel));
	MUST(cudaGraphAddKernelNode(&second, graph, &first, 1, &kernel));
	call.fn = on_host;
	call.userData = counter;
	MUST(cudaGraphAddHostNode(&host, graph, &second, 1, &call));
	MUST(cudaGraphInstantiate(&executable, graph, 0));
	return executable;
}

int main(void)
{
	int *out, *pinned, counter = 0;
	cudaStream_t stream;

	MUST(cudaMalloc(&out, 1 << 20));
	MUST(cudaMallocHost(&pinned, 1 << 20));
	MUST(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	cudaGraphExec_t one = captured(out, pinned, stream);
	cudaGraphExec_t two = built(out, &counter);
	replay("replay captured", one, 5, stream);
	replay("replay built", two, 4, stream);
	/* The same name outside of graphs: it must not be taken for one of theirs. */
	first_part<<<9, 32, 0, stream>>>(out);
	MUST(cudaStreamSynchronize(stream));
	tell("graph", "\"name\": \"captured\", \"launches\": 5");
	tell("graph", "\"name\": \"built\", \"launches\": 4");
	tell("node", "\"name\": \"first_part\", \"count\": 10, \"range\": \"capture first\"");
	tell("node", "\"name\": \"second_part\", \"count\": 5, \"range\": \"capture second\"");
	tell("node", "\"name\": \"by_hand\", \"count\": 8, \"range\": null");
	tell("plain", "\"name\": \"first_part\", \"count\": 1");
	tell("sets", "\"bytes\": 4000, \"count\": 5");
	tell("copies", "\"bytes\": 5000, \"count\": 5");
	tell("host", "\"ran\": %d", counter);
	return counter == 4 ? 0 : 1;
}
