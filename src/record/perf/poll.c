/* The thread that sleeps until a ring is half full, and then wakes the drain thread. */
#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "record/perf/perf.h"
#include "ring/ring_layout.h"

static void ring_the_bell(struct ring_doorbell *doorbell)
{
	atomic_store(&doorbell->sleeping, 0);
	syscall(SYS_futex, &doorbell->sleeping, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

/* A ring of processes that are all gone is always "ready". */
static int drop_closed(struct pollfd *fds, uint32_t count)
{
	int ready = 0;

	for (uint32_t i = 0; i < count; i++) {
		ready |= fds[i].revents & POLLIN;
		if (fds[i].revents & (POLLHUP | POLLERR | POLLNVAL))
			fds[i].fd = -1;
	}
	return ready;
}

static void *poll_main(void *argument)
{
	const struct timespec moment = { .tv_nsec = 1000000 };
	struct perf *p = argument;
	uint32_t count = p->cpu_count + 1;
	struct pollfd *fds = calloc(count, sizeof(*fds));

	prctl(PR_SET_NAME, "sonde-poll");
	if (!fds)
		return NULL;
	fds[0] = (struct pollfd){ p->poller_stop, POLLIN, 0 };
	for (uint32_t i = 0; i < p->cpu_count; i++)
		fds[i + 1] = (struct pollfd){ p->cpus[i].owner, POLLIN, 0 };
	while (poll(fds, count, -1) >= 0 || errno == EINTR) {
		if (fds[0].revents)
			break;
		if (drop_closed(fds + 1, p->cpu_count))
			ring_the_bell(p->doorbell);
		/* However often they fill: the drain thread needs time, too. */
		nanosleep(&moment, NULL);
	}
	free(fds);
	return NULL;
}

void perf_start_poller(struct perf *p, struct ring_doorbell *doorbell)
{
	if (p->way.scope == SCOPE_NONE)
		return;
	p->doorbell = doorbell;
	p->poller_stop = eventfd(0, EFD_CLOEXEC);
	/* Without it the rings are still looked at every 50 ms. */
	p->poller_runs = p->poller_stop >= 0 && pthread_create(&p->poller, NULL, poll_main, p) == 0;
}

void perf_stop_poller(struct perf *p)
{
	if (p->poller_runs) {
		eventfd_write(p->poller_stop, 1);
		pthread_join(p->poller, NULL);
		p->poller_runs = 0;
	}
	if (p->poller_stop >= 0)
		close(p->poller_stop);
	p->poller_stop = -1;
}
