/* The timer of a GPU (PTIMER), which samples of hardware counters are stamped with. */
#ifndef SONDE_VENDOR_NVIDIA_TIMER_H
#define SONDE_VENDOR_NVIDIA_TIMER_H

#include "vendor/nvidia/subdevice.h"

/* A GPU whose timer can be read. Negative errno: there are other ways. */
int nvidia_timer_open(struct nvidia_subdevice *ret, uint32_t domain, uint32_t bus, uint32_t device);
/* Nanoseconds, and CLOCK_MONOTONIC_RAW at the same moment as the driver read it; 0 where it does not. */
int nvidia_timer_read(const struct nvidia_subdevice *s, uint64_t *ret_ticks, int64_t *ret_raw);

#endif
