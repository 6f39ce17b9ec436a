/* Functions the agent stands in front of: preloading puts ours first, and the real ones
 * are looked up here. Each part of the agent that wraps some has a table of them; src/agent/parts.c lists
 * the parts. */
#ifndef SONDE_AGENT_CORE_WRAPPERS_H
#define SONDE_AGENT_CORE_WRAPPERS_H

struct agent_wrapper {
	const char *name;
	const char *version; /* of the real function, where there are several; otherwise NULL */
	void **real;         /* filled by agent_wrappers_resolve */
};

struct agent_part {
	const struct agent_wrapper *wrappers;
	unsigned wrapper_count;
	void (*attached)(void); /* a program has begun, and is recorded; may be NULL */
	void (*extended)(void); /* the program begins to use a Python extension that it has loaded; may be NULL */
};

extern const struct agent_part agent_part_driver __attribute__((visibility("hidden")));
extern const struct agent_part agent_part_exec __attribute__((visibility("hidden")));
extern const struct agent_part agent_part_leave __attribute__((visibility("hidden")));
#define MODULE(id, name, bit) extern const struct agent_part agent_part_##name __attribute__((visibility("hidden")));
#define OPTION_MODULE MODULE
#include "fmt/trace_sources.def"
extern const struct agent_part agent_part_sample __attribute__((visibility("hidden")));
extern const struct agent_part agent_part_threads __attribute__((visibility("hidden")));

extern const struct agent_part *const agent_parts[] __attribute__((visibility("hidden")));
extern const unsigned agent_part_count __attribute__((visibility("hidden")));

/* Looks up the real functions; the second time it does nothing. */
void agent_wrappers_resolve(void) __attribute__((visibility("hidden")));
/* Looks again for those not found: their library may have been loaded since. */
void agent_wrappers_resolve_missing(void) __attribute__((visibility("hidden")));

#endif
