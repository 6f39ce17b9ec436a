/* A GPU's L2 emptied by the driver: what is dirty in it is written to memory, and nothing is left in it. */
#ifndef SONDE_VENDOR_NVIDIA_L2_H
#define SONDE_VENDOR_NVIDIA_L2_H

#include "vendor/nvidia/subdevice.h"

/* No kernel may run meanwhile that is to be measured. Negative errno. */
int nvidia_l2_empty(const struct nvidia_subdevice *s);

#endif
