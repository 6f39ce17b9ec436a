/* Kernels that last a known time: each spins until the GPU's own timer has gone on by so much, and says how far it
 * really got. */
#include "tell.h"

__global__ void spin(uint64_t ns, uint64_t *took)
{
	uint64_t begin, now;

	asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(begin));
	do
		asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
	while (now - begin < ns);
	*took = now - begin;
}

int main(void)
{
	static const unsigned us[] = { 100, 300, 1000, 3000, 10000 };
	uint64_t *took;

	MUST(cudaMallocHost(&took, sizeof(*took)));
	spin<<<1, 1>>>(1000, took);
	MUST(cudaDeviceSynchronize());
	for (unsigned i = 0; i < sizeof(us) / sizeof(*us); i++) {
		for (int again = 0; again < 10; again++) {
			uint64_t began = now_ns();

			/* The grid says which of them it is. */
			spin<<<i + 2, 1>>>(us[i] * 1000ull, took);
			MUST(cudaDeviceSynchronize());
			tell("spin", "\"grid\": %u, \"ns\": %llu, \"host\": %llu", i + 2, (unsigned long long)*took,
			     (unsigned long long)(now_ns() - began));
		}
	}
	return 0;
}
