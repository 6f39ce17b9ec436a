// Threads that launch on streams of their own, with copies, events and waits between them, until SIGTERM; each step's result is known.
// Usage: streams LOG [THREADS]     as guest.py
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <atomic>
#include <thread>
#include <vector>

#define CHECK(call)                                                                                     \
	do {                                                                                            \
		cudaError_t e_ = (call);                                                                \
		if (e_ != cudaSuccess) {                                                                \
			fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(e_));                    \
			abort();                                                                        \
		}                                                                                       \
	} while (0)

static const int COUNT = 1 << 14, KERNELS = 50;
static volatile sig_atomic_t ending;
static std::atomic<long> steps, wrong;

__global__ void mix(uint32_t *values, int count, uint32_t with)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < count)
		values[i] = values[i] * 1664525u + with;
}

static double now()
{
	timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec * 1e-9;
}

static void work(std::vector<double> *times)
{
	cudaStream_t streams[2];
	cudaEvent_t between;
	uint32_t *device, *host;
	std::vector<uint32_t> want(COUNT);

	for (auto &stream : streams)
		CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	CHECK(cudaEventCreateWithFlags(&between, cudaEventDisableTiming));
	CHECK(cudaMalloc(&device, COUNT * sizeof(*device)));
	CHECK(cudaMallocHost(&host, COUNT * sizeof(*host)));
	for (int i = 0; i < COUNT; i++) {
		want[i] = i;
		for (int k = 0; k < KERNELS; k++)
			want[i] = want[i] * 1664525u + k;
	}
	while (!ending) {
		double began = now();

		for (int i = 0; i < COUNT; i++)
			host[i] = i;
		CHECK(cudaMemcpyAsync(device, host, COUNT * sizeof(*host), cudaMemcpyHostToDevice, streams[0]));
		for (int k = 0; k < KERNELS; k++)
			mix<<<COUNT / 256, 256, 0, streams[0]>>>(device, COUNT, k);
		CHECK(cudaEventRecord(between, streams[0]));
		CHECK(cudaStreamWaitEvent(streams[1], between, 0));
		CHECK(cudaMemcpyAsync(host, device, COUNT * sizeof(*host), cudaMemcpyDeviceToHost, streams[1]));
		CHECK(cudaStreamSynchronize(streams[1]));
		for (int i = 0; i < COUNT; i++)
			if (host[i] != want[i]) {
				wrong++;
				break;
			}
		steps++;
		if (times) {
			times->push_back(began);
			times->push_back(now() - began);
		}
	}
}

int main(int argc, char **argv)
{
	std::vector<std::thread> threads;
	std::vector<double> times;
	FILE *log;

	signal(SIGTERM, [](int) { ending = 1; });
	for (int i = 0; i < (argc > 2 ? atoi(argv[2]) : 4); i++)
		threads.emplace_back(work, i ? nullptr : &times);
	while (steps < 100)
		std::this_thread::yield();
	puts("ready");
	fflush(stdout);
	for (auto &thread : threads)
		thread.join();
	log = fopen(argc > 1 ? argv[1] : "/dev/null", "wb");
	fwrite(times.data(), sizeof(double), times.size(), log);
	fclose(log);
	printf("{\"steps\": %ld, \"wrong\": %ld}\n", steps.load(), wrong.load());
	return 0;
}
