/* A shared object with NVTX state of its own, loaded and unloaded by `life dlopen`. */
#include "sonde/annotate.h"

void plugin_ranges(int count);

void plugin_ranges(int count)
{
	for (int i = 0; i < count; i++) {
		sonde_range_push("plugin");
		sonde_range_pop();
	}
}
