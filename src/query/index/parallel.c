#include "query/index/parallel.h"

#include <pthread.h>
#include <sched.h>

struct job {
	int (*work)(void *context, unsigned worker);
	void *context;
	unsigned worker;
	int result;
	int started;
	pthread_t thread;
};

unsigned parallel_width(unsigned long long group_count)
{
	cpu_set_t allowed;
	unsigned width = 1;

	if (sched_getaffinity(0, sizeof(allowed), &allowed) == 0 && CPU_COUNT(&allowed) > 0)
		width = (unsigned)CPU_COUNT(&allowed);
	if (width > PARALLEL_MAX)
		width = PARALLEL_MAX;
	if (width > group_count)
		width = group_count ? (unsigned)group_count : 1;
	return width;
}

static void *run_job(void *pointer)
{
	struct job *job = pointer;

	job->result = job->work(job->context, job->worker);
	return NULL;
}

int parallel_run(int (*work)(void *context, unsigned worker), void *context, unsigned width)
{
	struct job jobs[PARALLEL_MAX];
	int r = 0;

	for (unsigned i = 0; i < width; i++) {
		jobs[i] = (struct job){ .work = work, .context = context, .worker = i };
		if (i > 0)
			jobs[i].started = pthread_create(&jobs[i].thread, NULL, run_job, &jobs[i]) == 0;
	}
	for (unsigned i = 0; i < width; i++)
		if (!jobs[i].started)
			run_job(&jobs[i]);
	for (unsigned i = 0; i < width; i++) {
		if (jobs[i].started)
			pthread_join(jobs[i].thread, NULL);
		if (r == 0 && jobs[i].result < 0)
			r = jobs[i].result;
	}
	return r;
}
