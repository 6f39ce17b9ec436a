/* Context switches of a GPU's graphics and compute engine, as the driver logs them (FECS): an event buffer in memory that the driver allocates
 * and that we may only read. Any user may ask; of other users' contexts the driver tells the times alone, and those not exactly. */
#ifndef SONDE_VENDOR_NVIDIA_SWITCHES_H
#define SONDE_VENDOR_NVIDIA_SWITCHES_H

#include <stddef.h>
#include <stdint.h>

#include "vendor/nvidia/timer.h"

#define NVIDIA_SWITCH_NOT_TOLD UINT32_MAX /* pid and context of the driver's own work */

struct nvidia_switch {
	uint64_t time;    /* by the GPU's timer */
	uint32_t context; /* the driver's number for a group of channels */
	uint32_t pid;     /* as the machine counts, whatever namespace; 0: another user's */
	uint16_t sequence;
	uint8_t begins; /* else it ends */
};

struct nvidia_switches {
	struct nvidia_subdevice timer; /* .fd -1: closed */
	uint32_t buffer;
	uint32_t get;      /* next record to be read */
	uint32_t sequence; /* expected next */
	int expects;
	const volatile void *header;
	const volatile void *records;
};

/* Binds a buffer to the GPU at this place on the PCI bus; nothing is logged into it yet. Negative errno, and in `why` which call was refused. */
int nvidia_switches_open(struct nvidia_switches *ret, uint32_t domain, uint32_t bus, uint32_t device, char *why, size_t size);
int nvidia_switches_enable(struct nvidia_switches *s, int on);
/* Lets the driver write down what it has, and returns how many were read: at most `most`; *lost grows by what is missing. Negative errno: the driver
 * refused, or what it wrote makes no sense. */
int nvidia_switches_read(struct nvidia_switches *s, struct nvidia_switch *ret, uint32_t most, uint64_t *lost);
void nvidia_switches_close(struct nvidia_switches *s);

/* One record of the buffer. 1: a switch, 0: something else. */
int nvidia_switch_decode(const volatile void *record, struct nvidia_switch *ret);

#define NVIDIA_SWITCH_RECORDS 8192u
#define NVIDIA_SWITCH_RECORD_BYTES 32u

#endif
