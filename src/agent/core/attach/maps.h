/* /proc/self/maps, read at once and without the C library: how pages are protected. */
#ifndef SONDE_AGENT_CORE_ATTACH_MAPS_H
#define SONDE_AGENT_CORE_ATTACH_MAPS_H

#include <stddef.h>
#include <stdint.h>

struct agent_maps {
	char *text;
	size_t size;
	size_t room;
};

#pragma GCC visibility push(hidden)

int agent_maps_read(struct agent_maps *maps);
void agent_maps_free(struct agent_maps *maps);
/* PROT_ bits of all pages of this range, which must have the same; negative: they have not, or are not there. */
int agent_maps_protection(const struct agent_maps *maps, uintptr_t start, uintptr_t end);

#pragma GCC visibility pop

#endif
