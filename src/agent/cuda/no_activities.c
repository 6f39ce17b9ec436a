/* Stands for activities.c where that is not built. */
#include "agent/cuda/cuda.h"

int cuda_activities_prepare(void)
{
	return 0;
}

void cuda_activities_open(void)
{
	cuda_agent.cupti.cuptiActivityEnable(10);
}

void cuda_activities_close(void)
{
	cuda_agent.cupti.cuptiActivityDisable(10);
}

void cuda_activities_flush(int all)
{
	cuda_agent.cupti.cuptiActivityFlushAll(all ? 1 : 0);
}

void cuda_callback(int domain, uint32_t id, const void *data)
{
	(void)domain;
	(void)id;
	(void)data;
}
