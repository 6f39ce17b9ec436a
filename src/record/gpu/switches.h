/* Context switches of GPUs, in the process that reads the GPUs. */
#ifndef SONDE_RECORD_GPU_SWITCHES_H
#define SONDE_RECORD_GPU_SWITCHES_H

#include "record/gpu/collector.h"

struct switches;

/* All GPUs. NULL: none tells; a diagnostic has been sent. */
struct switches *switches_open(struct collector *c);
/* A capture window opens or closes. */
void switches_window(struct switches *s, int open);
/* Sends what was logged since. */
void switches_fetch(struct switches *s);

#endif
