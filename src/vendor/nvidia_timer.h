/* The timer of a GPU (PTIMER), which samples of hardware counters are stamped with. Read through the interface of the kernel module as
 * its published sources describe it (open-gpu-kernel-modules): no CUDA context is needed, and a reading takes microseconds. */
#ifndef SONDE_VENDOR_NVIDIA_TIMER_H
#define SONDE_VENDOR_NVIDIA_TIMER_H

#include <stdint.h>

struct nvidia_timer {
	int fd;             /* -1: closed */
	uint32_t client;
	uint32_t subdevice;
};

/* The GPU at this place on the PCI bus. Negative errno: the driver, or the container, does not let us; there are other ways. */
int nvidia_timer_open(struct nvidia_timer *ret, uint32_t domain, uint32_t bus, uint32_t device);
/* Nanoseconds, and CLOCK_MONOTONIC_RAW at the same moment as the driver read it; 0 where it does not. */
int nvidia_timer_read(const struct nvidia_timer *t, uint64_t *ret_ticks, int64_t *ret_raw);
void nvidia_timer_close(struct nvidia_timer *t);

#endif
