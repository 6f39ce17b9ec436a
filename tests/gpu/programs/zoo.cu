/* One of everything that has a row: kernels of every kind of launch, copies, sets, synchronisation, events, allocations,
 * unified memory, code loaded by the driver, calls that fail, a green context. Says what it did, line by line. */
#include <cooperative_groups.h>
#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtCudaRt.h>

#include "tell.h"

#define MIB (1u << 20)

namespace zoo {
template <typename T> __global__ void shaped(T *out, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		out[i] = (T)i;
}
} // namespace zoo

__global__ void with_shared(int *out)
{
	__shared__ int fixed[64];
	extern __shared__ int dynamic[];

	fixed[threadIdx.x % 64] = (int)threadIdx.x;
	dynamic[threadIdx.x] = (int)threadIdx.y;
	__syncthreads();
	if (threadIdx.x == 0)
		out[0] = fixed[1] + dynamic[1];
}

__global__ void in_clusters(int *out)
{
	if (threadIdx.x == 0 && blockIdx.x == 0)
		out[0] = 1;
}

__global__ void together(int *out)
{
	cooperative_groups::this_grid().sync();
	if (threadIdx.x == 0 && blockIdx.x == 0)
		out[0] = 2;
}

__global__ void overlapping(int *out)
{
#if __CUDA_ARCH__ >= 900
	cudaGridDependencySynchronize();
#endif
	if (threadIdx.x == 0 && blockIdx.x == 0)
		out[0] = 3;
}

__global__ void in_green(int *out)
{
	out[threadIdx.x] = 4;
}

__global__ void touch(int *cells, size_t n)
{
	for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x)
		cells[i] += 1;
}

static const char from_text[] = ".version 7.0\n.target sm_80\n.address_size 64\n"
				".visible .entry from_ptx(.param .u64 out)\n{\n\tret;\n}\n";

/* Streams are told by the order of their making. */
static cudaStream_t streams[3];

static void make_streams(void)
{
	int least, greatest;

	MUST(cudaDeviceGetStreamPriorityRange(&least, &greatest));
	MUST(cudaStreamCreateWithFlags(&streams[1], cudaStreamNonBlocking));
	MUST(cudaStreamCreateWithPriority(&streams[2], cudaStreamNonBlocking, greatest));
	nvtxNameCudaStreamA(streams[2], "urgent");
	tell("priority", "\"stream\": 2, \"value\": %d, \"name\": \"urgent\"", greatest);
}

static void kernels(int *out, int major)
{
	for (int i = 0; i < 3; i++)
		with_shared<<<dim3(7, 3, 2), dim3(32, 4, 1), 1024, streams[1]>>>(out);
	told_kernel shared = { "with_shared", dim3(7, 3, 2), dim3(32, 4, 1), 256, 1024, 0, 0, 1, 3 };
	tell_kernel(&shared);
	for (int i = 0; i < 5; i++)
		zoo::shaped<float><<<11, 96, 0, streams[2]>>>((float *)out, 1000);
	told_kernel shaped = { "shaped", dim3(11), dim3(96), 0, 0, 0, 0, 2, 5 };
	tell_kernel(&shaped);
	void *arguments[] = { &out };
	MUST(cudaLaunchCooperativeKernel((const void *)together, dim3(4), dim3(64), arguments, 0, streams[1]));
	told_kernel cooperative = { "together", dim3(4), dim3(64), 0, 0, 0, 1, 1, 1 };
	tell_kernel(&cooperative);
	if (major < 9)
		return;
	cudaLaunchAttribute attribute = {};
	cudaLaunchConfig_t config = {};
	attribute.id = cudaLaunchAttributeClusterDimension;
	attribute.val.clusterDim.x = 2;
	attribute.val.clusterDim.y = 1;
	attribute.val.clusterDim.z = 1;
	config.gridDim = dim3(8);
	config.blockDim = dim3(128);
	config.stream = streams[1];
	config.attrs = &attribute;
	config.numAttrs = 1;
	MUST(cudaLaunchKernelEx(&config, in_clusters, out));
	told_kernel clusters = { "in_clusters", dim3(8), dim3(128), 0, 0, 2, -1, 1, 1 };
	tell_kernel(&clusters);
	attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
	attribute.val.programmaticStreamSerializationAllowed = 1;
	for (int i = 0; i < 4; i++)
		MUST(cudaLaunchKernelEx(&config, overlapping, out));
	told_kernel pdl = { "overlapping", dim3(8), dim3(128), 0, 0, 0, -1, 1, 4 };
	tell_kernel(&pdl);
}

__device__ int symbol[256];

static void copies(void)
{
	char *pageable = (char *)calloc(1, MIB), *pinned, *device, *other;
	cudaArray_t array;
	cudaChannelFormatDesc bytes = cudaCreateChannelDesc<unsigned char>();

	MUST(cudaMallocHost(&pinned, MIB));
	MUST(cudaMalloc(&device, MIB));
	MUST(cudaMalloc(&other, MIB));
	MUST(cudaMemcpy(device, pageable, 1000, cudaMemcpyHostToDevice));
	tell_copy(1, 1000, 0, 1);
	MUST(cudaMemcpyAsync(device, pinned, 70000, cudaMemcpyHostToDevice, streams[1]));
	MUST(cudaMemcpyAsync(device, pinned, 70000, cudaMemcpyHostToDevice, streams[1]));
	tell_copy(1, 70000, 1, 2);
	MUST(cudaMemcpyAsync(pinned, device, 80000, cudaMemcpyDeviceToHost, streams[2]));
	tell_copy(2, 80000, 2, 1);
	MUST(cudaMemcpy(pageable, device, 2000, cudaMemcpyDeviceToHost));
	tell_copy(2, 2000, 0, 1);
	MUST(cudaMemcpyAsync(other, device, 90000, cudaMemcpyDeviceToDevice, streams[1]));
	tell_copy(8, 90000, 1, 1);
	MUST(cudaMemcpyAsync(other, device, 3000, cudaMemcpyDefault, streams[1]));
	tell_copy(8, 3000, 1, 1);
	MUST(cudaMemcpy2DAsync(device, 512, pinned, 256, 200, 30, cudaMemcpyHostToDevice, streams[1]));
	tell_copy(1, 6000, 1, 1);
	MUST(cudaMemcpyToSymbol(symbol, pageable, sizeof(symbol)));
	tell_copy(1, sizeof(symbol), 0, 1);
	MUST(cudaMallocArray(&array, &bytes, 128, 64));
	MUST(cudaMemcpy2DToArrayAsync(array, 0, 0, pinned, 128, 128, 64, cudaMemcpyHostToDevice, streams[1]));
	tell_copy(3, 128 * 64, 1, 1);
	MUST(cudaMemsetAsync(device, 7, 12345, streams[1]));
	tell_set(7, 12345, 1, 1);
	MUST(cudaMemset(device, 0, MIB));
	tell_set(0, MIB, 0, 1);
	if (cuMemsetD32Async((CUdeviceptr)device, 77, 1024, streams[2]) == CUDA_SUCCESS)
		tell_set(77, 4096, 2, 1);
	MUST(cudaDeviceSynchronize());
	tell("sync", "\"sync\": 4, \"least\": 1");
	MUST(cudaFreeArray(array));
	MUST(cudaFree(device));
	MUST(cudaFree(other));
	MUST(cudaFreeHost(pinned));
	free(pageable);
}

static void peers(void)
{
	int count = 0, can = 0;
	char *here, *there;

	MUST(cudaGetDeviceCount(&count));
	if (count > 1)
		MUST(cudaDeviceCanAccessPeer(&can, 0, 1));
	if (!can)
		return;
	MUST(cudaMalloc(&here, MIB));
	MUST(cudaSetDevice(1));
	MUST(cudaMalloc(&there, MIB));
	MUST(cudaSetDevice(0));
	MUST(cudaDeviceEnablePeerAccess(1, 0));
	MUST(cudaMemcpyPeerAsync(there, 1, here, 0, 55000, streams[1]));
	MUST(cudaStreamSynchronize(streams[1]));
	tell_copy(10, 55000, 1, 1);
}

static void synchronisation(int *out)
{
	cudaEvent_t event[2];

	for (int i = 0; i < 2; i++)
		MUST(cudaEventCreate(&event[i]));
	for (int i = 0; i < 3; i++) {
		MUST(cudaEventRecord(event[0], streams[1]));
		MUST(cudaStreamWaitEvent(streams[2], event[0], 0));
		touch<<<2, 64, 0, streams[2]>>>(out, 128);
	}
	told_kernel touched = { "touch", dim3(2), dim3(64), 0, 0, 0, 0, 2, 3 };
	tell_kernel(&touched);
	MUST(cudaEventRecord(event[1], streams[2]));
	MUST(cudaEventSynchronize(event[1]));
	MUST(cudaEventSynchronize(event[0]));
	MUST(cudaStreamSynchronize(streams[1]));
	MUST(cudaStreamSynchronize(streams[2]));
	MUST(cudaDeviceSynchronize());
	tell("sync", "\"sync\": 1, \"least\": 2");
	tell("sync", "\"sync\": 2, \"least\": 3");
	tell("sync", "\"sync\": 3, \"least\": 2");
	tell("sync", "\"sync\": 4, \"least\": 1");
	tell("events", "\"recorded\": 4");
	tell_call("cudaEventRecord", 0, 4);
	tell_call("cudaStreamWaitEvent", 0, 3);
	tell_call("cudaEventSynchronize", 0, 2);
	for (int i = 0; i < 2; i++)
		MUST(cudaEventDestroy(event[i]));
}

static void pools(void)
{
	void *block[5], *plain;

	for (int i = 0; i < 5; i++)
		MUST(cudaMallocAsync(&block[i], 8 * MIB, streams[1]));
	for (int i = 0; i < 5; i++)
		MUST(cudaFreeAsync(block[i], streams[1]));
	MUST(cudaStreamSynchronize(streams[1]));
	tell("memory", "\"bytes\": %u, \"memory\": 3, \"allocated\": 5, \"released\": 5, \"pool\": 1", 8 * MIB);
	for (int i = 0; i < 3; i++) {
		MUST(cudaMalloc(&plain, 6 * MIB));
		MUST(cudaFree(plain));
	}
	tell("memory", "\"bytes\": %u, \"memory\": 3, \"allocated\": 3, \"released\": 3, \"pool\": 0", 6 * MIB);
}

static void unified(void)
{
	size_t bytes = 4 * MIB, n = bytes / sizeof(int);
	long sum = 0;
	int *cells;

	MUST(cudaMallocManaged(&cells, bytes));
	for (size_t i = 0; i < n; i++)
		cells[i] = 1;
	touch<<<16, 256, 0, streams[1]>>>(cells, n);
	MUST(cudaStreamSynchronize(streams[1]));
	told_kernel touched = { "touch", dim3(16), dim3(256), 0, 0, 0, 0, 1, 1 };
	tell_kernel(&touched);
	for (size_t i = 0; i < n; i++)
		sum += cells[i];
	tell("unified", "\"bytes\": %zu, \"right\": %d", bytes, sum == (long)n * 2);
	MUST(cudaFree(cells));
}

static void by_driver(int *out)
{
	CUmodule module;
	CUfunction function;
	void *arguments[] = { &out };

	if (cuModuleLoadData(&module, from_text) != CUDA_SUCCESS ||
	    cuModuleGetFunction(&function, module, "from_ptx") != CUDA_SUCCESS)
		return;
	for (int i = 0; i < 2; i++)
		if (cuLaunchKernel(function, 5, 1, 1, 32, 1, 1, 0, streams[1], arguments, NULL) != CUDA_SUCCESS)
			return;
	cuStreamSynchronize(streams[1]);
	told_kernel launched = { "from_ptx", dim3(5), dim3(32), 0, 0, 0, 0, 1, 2 };
	tell_kernel(&launched);
	tell_call("cuLaunchKernel", 0, 2);
	tell_call("cuModuleLoadData", 0, 1);
	cuModuleUnload(module);
}

static void failures(int *out)
{
	void *arguments[] = { &out };
	void *huge;
	int wrong = (int)cudaLaunchKernel((const void *)in_green, dim3(1), dim3(4096), arguments, 0, streams[1]);
	int full = (int)cudaMalloc(&huge, (size_t)1 << 50);

	cudaGetLastError();
	tell_call("cudaLaunchKernel", wrong, 1);
	tell_call("cudaMalloc", full, 1);
}

static void green(int *out)
{
	CUdevice device;
	CUdevResource all, part, rest;
	CUdevResourceDesc description;
	CUgreenCtx context;
	CUstream stream;
	unsigned parts = 1;

	if (cuDeviceGet(&device, 0) || cuDeviceGetDevResource(device, &all, CU_DEV_RESOURCE_TYPE_SM) ||
	    cuDevSmResourceSplitByCount(&part, &parts, &all, &rest, 0, 16) ||
	    cuDevResourceGenerateDesc(&description, &part, 1) ||
	    cuGreenCtxCreate(&context, description, device, CU_GREEN_CTX_DEFAULT_STREAM) ||
	    cuGreenCtxStreamCreate(&stream, context, CU_STREAM_NON_BLOCKING, 0))
		return;
	for (int i = 0; i < 3; i++)
		in_green<<<6, 32, 0, stream>>>(out);
	if (cudaGetLastError() != cudaSuccess)
		return;
	cuStreamSynchronize(stream);
	told_kernel launched = { "in_green", dim3(6), dim3(32), 0, 0, 0, 0, 3, 3 };
	tell_kernel(&launched);
	tell("green", "\"sms\": %u", part.sm.smCount);
	cuStreamDestroy(stream);
	cuGreenCtxDestroy(context);
}

int main(void)
{
	cudaDeviceProp properties;
	int *out;

	MUST(cudaGetDeviceProperties(&properties, 0));
	tell("device", "\"name\": \"%s\", \"major\": %d, \"minor\": %d, \"sms\": %d, \"memory\": %zu", properties.name,
	     properties.major, properties.minor, properties.multiProcessorCount, properties.totalGlobalMem);
	MUST(cudaMalloc(&out, MIB));
	make_streams();
	kernels(out, properties.major);
	copies();
	peers();
	synchronisation(out);
	pools();
	unified();
	by_driver(out);
	failures(out);
	green(out);
	MUST(cudaDeviceSynchronize());
	return 0;
}
