/* launch_cost [BATCHES]: what a launch costs its thread. Prints ns per launch: least batch, median batch, and of the
 *     whole run, waits included.
 * launch_cost work: a fixed amount of work for the GPU; prints the ns it took, least of five and median.
 * launch_cost toggle [PAIRS]: batches outside and inside of a window in turn; prints the medians outside and inside,
 *     and of the differences. */
#include <cuda_profiler_api.h>
#include <dlfcn.h>
#include <unistd.h>

#include "tell.h"
#include "work.h"

#define BATCH 500u /* fewer than the driver queues without waiting */

__global__ void nothing(int)
{
}

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double median(double *values, unsigned count)
{
	qsort(values, count, sizeof(*values), by_size);
	return values[count / 2];
}

static double batch(cudaStream_t stream)
{
	uint64_t began = now_ns();

	for (unsigned i = 0; i < BATCH; i++)
		nothing<<<1, 32, 0, stream>>>((int)i);
	double took = (double)(now_ns() - began) / BATCH;
	MUST(cudaStreamSynchronize(stream));
	return took;
}

static void batches(unsigned count, cudaStream_t stream)
{
	double *values = (double *)calloc(count, sizeof(*values));
	uint64_t began = now_ns();

	for (unsigned i = 0; i < count; i++)
		values[i] = batch(stream);
	double whole = (double)(now_ns() - began) / count / BATCH;
	double middle = median(values, count);
	printf("%.2f %.2f %.2f\n", values[0], middle, whole);
}

static void work(void)
{
	size_t bytes = (size_t)256 << 20;
	double values[5];
	char *from, *to;

	MUST(cudaMalloc(&from, bytes));
	MUST(cudaMalloc(&to, bytes));
	for (int again = -1; again < 5; again++) {
		uint64_t began = now_ns();

		for (int i = 0; i < 150; i++) {
			compute<<<1024, 256>>>((float *)to, 5000);
			move<<<1024, 256>>>((const float4 *)from, (float4 *)to, bytes / sizeof(float4));
		}
		MUST(cudaDeviceSynchronize());
		if (again >= 0)
			values[again] = (double)(now_ns() - began);
	}
	double middle = median(values, 5);
	printf("%.0f %.0f 0\n", values[0], middle);
}

/* A library that has the window to itself (bare_cupti.c), or the profiler API. */
static void window(int open)
{
	void (*other)(int) = (void (*)(int))dlsym(RTLD_DEFAULT, "bare_cupti_window");
	const char *library = getenv("CUDA_INJECTION64_PATH");
	void *handle = !other && library ? dlopen(library, RTLD_NOW | RTLD_NOLOAD) : NULL;

	if (handle)
		other = (void (*)(int))dlsym(handle, "bare_cupti_window");
	if (other)
		other(open);
	else if (open)
		MUST(cudaProfilerStart());
	else
		MUST(cudaProfilerStop());
	usleep(20000);
}

static void toggle(unsigned pairs, cudaStream_t stream)
{
	double *outside = (double *)calloc(pairs, sizeof(double)), *inside = (double *)calloc(pairs, sizeof(double));
	double *difference = (double *)calloc(pairs, sizeof(double)), values[20];

	for (unsigned i = 0; i < pairs; i++) {
		for (unsigned j = 0; j < 20; j++)
			values[j] = batch(stream);
		outside[i] = median(values, 20);
		window(1);
		for (unsigned j = 0; j < 20; j++)
			values[j] = batch(stream);
		inside[i] = median(values, 20);
		window(0);
		difference[i] = inside[i] - outside[i];
	}
	printf("%.2f %.2f %.2f\n", median(outside, pairs), median(inside, pairs), median(difference, pairs));
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "300";
	cudaStream_t stream;

	if (!strcmp(mode, "work")) {
		work();
		return 0;
	}
	MUST(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	for (unsigned i = 0; i < 20; i++)
		batch(stream);
	if (!strcmp(mode, "toggle"))
		toggle(argc > 2 ? (unsigned)atoi(argv[2]) : 20, stream);
	else
		batches((unsigned)atoi(mode), stream);
	return 0;
}
