/* Entry point of the CUDA driver's injection: who is first, and what is in the way. */
#include "agent/cuda/cuda.h"

#define EXPORT __attribute__((visibility("default")))

struct cuda_agent cuda_agent;

int InitializeInjection(void);

/* Called by the driver in cuInit. Whatever happens here, the program goes on. */
EXPORT int InitializeInjection(void)
{
	return 1;
}
