/* launch_cost [BATCHES]: what a launch costs its thread. Prints ns per launch: least batch, median batch, and of the
 *     whole run, waits included.
 * launch_cost work: a fixed amount of work for the GPU; prints the ns it took, least of five and median.
 * launch_cost after [BATCHES]: as the first, in a program that has had a window, and some time since. */
#include <cuda_profiler_api.h>
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

/* By the end of this nothing of the window is under way any more, and a tool has seen calls from which it can tell. */
static void window_behind_us(cudaStream_t stream)
{
	MUST(cudaProfilerStart());
	for (unsigned i = 0; i < 20; i++)
		batch(stream);
	MUST(cudaProfilerStop());
	usleep(2600000);
	batch(stream);
	usleep(200000);
	for (unsigned i = 0; i < 20; i++)
		batch(stream);
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
	if (!strcmp(mode, "after")) {
		window_behind_us(stream);
		batches(argc > 2 ? (unsigned)atoi(argv[2]) : 300, stream);
	} else {
		batches((unsigned)atoi(mode), stream);
	}
	return 0;
}
