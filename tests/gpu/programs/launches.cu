/* launches COUNT THREADS: each thread has a stream of its own and launches its kernel COUNT / THREADS times, one in
 * four with another grid. Prints what was launched, and how long the launches took. */
#include <pthread.h>

#include "tell.h"

__global__ void counted(unsigned *cell)
{
	if (threadIdx.x == 0 && blockIdx.x == 0)
		atomicAdd(cell, 1u);
}

struct worker {
	pthread_t thread;
	pthread_barrier_t *ready;
	unsigned number;
	unsigned launches;
	unsigned *cell;
	uint64_t took;
};

static unsigned blocks(unsigned number, unsigned i)
{
	return i % 4 == 3 ? 2 * number + 10 : number + 1;
}

static void *work(void *argument)
{
	struct worker *w = (struct worker *)argument;
	cudaStream_t stream;

	MUST(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	pthread_barrier_wait(w->ready);
	uint64_t began = now_ns();
	for (unsigned i = 0; i < w->launches; i++)
		counted<<<blocks(w->number, i), 32, 0, stream>>>(w->cell);
	MUST(cudaGetLastError());
	MUST(cudaStreamSynchronize(stream));
	w->took = now_ns() - began;
	return NULL;
}

int main(int argc, char **argv)
{
	unsigned count = argc > 1 ? (unsigned)atoi(argv[1]) : 1000;
	unsigned threads = argc > 2 ? (unsigned)atoi(argv[2]) : 4;
	struct worker *workers = (struct worker *)calloc(threads, sizeof(*workers));
	pthread_barrier_t ready;
	unsigned *cell, total = 0;
	uint64_t longest = 0;

	MUST(cudaMalloc(&cell, sizeof(*cell)));
	MUST(cudaMemset(cell, 0, sizeof(*cell)));
	pthread_barrier_init(&ready, NULL, threads);
	for (unsigned i = 0; i < threads; i++) {
		workers[i].ready = &ready;
		workers[i].number = i;
		workers[i].launches = count / threads;
		workers[i].cell = cell;
		pthread_create(&workers[i].thread, NULL, work, &workers[i]);
	}
	for (unsigned i = 0; i < threads; i++) {
		unsigned odd = workers[i].launches / 4;

		pthread_join(workers[i].thread, NULL);
		longest = workers[i].took > longest ? workers[i].took : longest;
		tell("grid", "\"x\": %u, \"count\": %u", blocks(i, 0), workers[i].launches - odd);
		tell("grid", "\"x\": %u, \"count\": %u", blocks(i, 3), odd);
	}
	MUST(cudaMemcpy(&total, cell, sizeof(total), cudaMemcpyDeviceToHost));
	tell("total", "\"launches\": %u, \"ran\": %u, \"us_per_launch\": %.3f", count / threads * threads, total,
	     (double)longest / 1000.0 * threads / count);
	return total == count / threads * threads ? 0 : 1;
}
