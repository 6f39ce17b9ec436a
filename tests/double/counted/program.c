/* counted_program LAUNCHES [THREADS [EACH|reset|slow]]: kernels that change memory in place; what comes out depends on every one having run
 * once, in order, one by one where EACH is not 0. Prints the sum. Kernels take turns: add<int>(int*), a name in a namespace, and one that is
 * not C++; COUNTED_NAME is what the last is called instead. "reset": between halves of the launches the context ends, and another begins;
 * "slow": a kernel takes 20 ms, and they run one by one. With COUNTED_GRAPH, a graph of the first kernel, which nobody saw being
 * instantiated, comes after the first launch. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "counted.h"
#include "vendor/cuda/launch.h"

int cuInit(unsigned flags);
int cuCtxSynchronize(void);
int cuGraphLaunch(void *exec, void *stream);
int cuMemAlloc_v2(uint64_t *address, size_t size);
int cuMemcpyHtoD_v2(uint64_t to, const void *from, size_t size);
int cuDevicePrimaryCtxReset_v2(int device);
int cuLaunchKernel(void *function, uint32_t gx, uint32_t gy, uint32_t gz, uint32_t bx, uint32_t by, uint32_t bz, uint32_t shared,
		   void *stream, void **parameters, void **extra);
int cuLaunchKernelEx(const struct cuda_launch_config *config, void *function, void **parameters, void **extra);
int cuLaunchCooperativeKernel(void *function, uint32_t gx, uint32_t gy, uint32_t gz, uint32_t bx, uint32_t by, uint32_t bz, uint32_t shared,
			      void *stream, void **parameters);

#define NUMBERS 64

static int is_slow;

static void add(void **parameters)
{
	int *numbers = *(int **)parameters[0];

	if (is_slow)
		usleep(20000);
	for (int i = 0; i < NUMBERS; i++)
		numbers[i] += i + 1;
}

static void twice(void **parameters)
{
	int *numbers = *(int **)parameters[0];

	for (int i = 0; i < NUMBERS; i++)
		numbers[i] = numbers[i] * 3 % 1000003;
}

static struct counted_kernel kernels[] = {
	{ "_Z3addIiEvPT_", add },
	{ "_ZN5outer5twiceEPi", twice },
	{ "plain_kernel", add },
};

struct work {
	int launches;
	int first;
	int each;
	uint64_t memory;
	int resets;
};

static void launch(int which, struct counted_kernel *kernel, void **parameters)
{
	uint32_t cluster[16] = { 2, 1, 1 };
	struct cuda_launch_attribute attribute = { .id = CUDA_LAUNCH_CLUSTER };
	struct cuda_launch_config config = { { 8, 2, 1 }, { 64, 1, 1 }, 256, NULL, &attribute, 1 };

	memcpy(attribute.value, cluster, sizeof(cluster));
	if (which == 0)
		cuLaunchKernel(kernel, 4, 1, 1, 128, 1, 1, 0, NULL, parameters, NULL);
	else if (which == 1)
		cuLaunchKernelEx(&config, kernel, parameters, NULL);
	else
		cuLaunchCooperativeKernel(kernel, 16, 1, 1, 32, 2, 1, 0, NULL, parameters);
}

static void *run(void *argument)
{
	struct work *work = argument;
	void *parameters[] = { &work->memory };
	struct counted_graph graph = { .nodes = { { .kernel = &kernels[0], .memory = work->memory } }, .count = 1 };
	int host[NUMBERS];

	for (int i = 0; i < NUMBERS; i++)
		host[i] = work->first + i;
	cuMemcpyHtoD_v2(work->memory, host, sizeof(host));
	for (int i = 0; i < work->launches; i++) {
		if (work->resets && i == work->launches / 2) {
			memcpy(host, (void *)(uintptr_t)work->memory, sizeof(host));
			cuDevicePrimaryCtxReset_v2(0);
			cuMemAlloc_v2(&work->memory, sizeof(host));
			cuMemcpyHtoD_v2(work->memory, host, sizeof(host));
		}
		launch(i % 3, &kernels[i % 3], parameters);
		if (i == 0 && getenv("COUNTED_GRAPH"))
			cuGraphLaunch(&graph, NULL);
		if (work->each)
			cuCtxSynchronize();
	}
	return NULL;
}

int main(int argc, char **argv)
{
	int launches = argc > 1 ? atoi(argv[1]) : 6, threads = argc > 2 ? atoi(argv[2]) : 1;
	struct work work[16];
	pthread_t others[16];
	long sum = 0;

	is_slow = argc > 3 && strcmp(argv[3], "slow") == 0;
	if (getenv("COUNTED_NAME"))
		kernels[2].symbol = getenv("COUNTED_NAME");
	cuInit(0);
	for (int i = 0; i < threads; i++) {
		work[i] = (struct work){ .launches = launches,
					 .first = i,
					 .each = is_slow || (argc > 3 && atoi(argv[3])),
					 .resets = argc > 3 && strcmp(argv[3], "reset") == 0 };
		cuMemAlloc_v2(&work[i].memory, NUMBERS * sizeof(int));
	}
	for (int i = 1; i < threads; i++)
		pthread_create(&others[i], NULL, run, &work[i]);
	run(&work[0]);
	for (int i = 1; i < threads; i++)
		pthread_join(others[i], NULL);
	for (int i = 0; i < threads; i++)
		for (int k = 0; k < NUMBERS; k++)
			sum = sum * 31 % 1000000007 + ((int *)(uintptr_t)work[i].memory)[k];
	printf("sum %ld\n", sum);
	return 0;
}
