/* A shared object with NVTX state of its own, loaded and unloaded by `life dlopen` and by `late`. */
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "sonde/annotate.h"

void plugin_ranges(int count);

void plugin_ranges(int count)
{
	for (int i = 0; i < count; i++) {
		sonde_range_push("plugin");
		sonde_range_pop();
	}
}

void plugin_reads(int count);

void plugin_reads(int count)
{
	int zero = open("/dev/zero", O_RDONLY | O_CLOEXEC);
	char byte;

	for (int i = 0; i < count; i++)
		if (read(zero, &byte, 1) != 1)
			abort();
	close(zero);
}
