/* What slots held before we changed them (import_tables.c): by their address, in memory of our own, for as long as the process lives. */
#ifndef SONDE_AGENT_CORE_ATTACH_SLOTS_H
#define SONDE_AGENT_CORE_ATTACH_SLOTS_H

#include <stdatomic.h>

#pragma GCC visibility push(hidden)

/* Returns whether there was room. */
int agent_slots_keep(_Atomic(void *) *slot, void *old);
int agent_slots_find(_Atomic(void *) *slot, void **ret_old);

#pragma GCC visibility pop

#endif
