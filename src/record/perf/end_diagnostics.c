/* What is said about the recording when it has ended. */
#include <inttypes.h>
#include <stddef.h>
#include <unistd.h>

#include "record/perf/perf.h"
#include "record/session/session.h"

/* Fewer than this are not enough to say that some are missing. */
#define ENOUGH_SAMPLES 200

/* As PERF_FORMAT_TOTAL_TIME_ENABLED, _RUNNING and _LOST make it; older kernels do not have the last. */
struct counter {
	uint64_t value;
	uint64_t enabled;
	uint64_t running;
	uint64_t lost;
};

static uint64_t running_ns(int fd)
{
	struct counter counter;

	return read(fd, &counter, sizeof(counter)) >= (ssize_t)offsetof(struct counter, lost) ? counter.running : 0;
}

/* Time during which the processes were sampled, children included. */
static uint64_t sampled_ns(const struct perf *p)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < p->cpu_count; i++)
		if (p->cpus[i].fds[PERF_KIND_SAMPLE] >= 0)
			sum += running_ns(p->cpus[i].fds[PERF_KIND_SAMPLE]);
	for (size_t i = 0; i < p->tasks.count; i++)
		if (p->tasks.events[i].kind == PERF_KIND_SAMPLE)
			sum += running_ns(p->tasks.events[i].fd);
	return sum;
}

/* How many samples there should be; 0 where nobody knows: where the time of the kernel is excluded, or
 * a CPU is idle, no sample is what there should be. */
static double wanted_samples(const struct perf *p)
{
	if (!p->way.samples || !p->way.frequency || p->way.user_only || p->way.scope != SCOPE_PROCESS_TREE || p->tasks.doubled)
		return 0;
	return (double)sampled_ns(p) / 1e9 * (double)p->options->frequency;
}

/* One diagnostic, whatever the kernel did to get rid of samples. */
static void diagnose_missing_samples(struct perf *p)
{
	double wanted = wanted_samples(p), taken = (double)(p->samples + p->strangers);

	if (p->lost)
		session_diagnose(p->session, SOURCE_RECORDER, DIAGNOSTIC_WARNING, 0,
				 "%" PRIu64 " perf records were lost: a ring was full. A lower --sampling-frequency, a "
				 "smaller --sampling-stack-size or -b fp needs less room.",
				 p->lost);
	else if (wanted > ENOUGH_SAMPLES && taken < 0.9 * wanted)
		session_diagnose(p->session, SOURCE_RECORDER, DIAGNOSTIC_WARNING, 0,
				 "The kernel took %.0f samples of %.0f (at %lld a second): %.0f a second%s.", taken, wanted,
				 (long long)p->options->frequency, taken / wanted * (double)p->options->frequency,
				 p->throttled ? " (kernel.perf_event_max_sample_rate allows no more)" : "");
	else if (p->throttled)
		session_diagnose(p->session, SOURCE_RECORDER, DIAGNOSTIC_WARNING, 0,
				 "The kernel stopped taking samples for a moment %" PRIu64 " times: it allows "
				 "kernel.perf_event_max_sample_rate samples a second on a CPU.",
				 p->throttled);
}

void perf_end(struct perf *p)
{
	if (p->way.scope == SCOPE_NONE)
		return;
	diagnose_missing_samples(p);
	if (p->damaged)
		session_diagnose(p->session, SOURCE_RECORDER, DIAGNOSTIC_WARNING, 0, "%" PRIu64 " perf records could not be read.",
				 p->damaged);
}
