/* Functions the agent stands in front of, in one table: preloading resolves them
 * by name; an agent loaded later installs the same table by patching GOT entries. */
#ifndef SONDE_AGENT_CORE_WRAPPERS_H
#define SONDE_AGENT_CORE_WRAPPERS_H

struct agent_wrapper {
	const char *name;
	const char *version; /* symbol version of the real function */
	void *wrapper;
	void **real;         /* filled by agent_wrappers_resolve */
};

extern const struct agent_wrapper agent_wrappers[] __attribute__((visibility("hidden")));
extern const unsigned agent_wrapper_count __attribute__((visibility("hidden")));

/* Looks up the real functions; idempotent. The first entry of a table has to exist everywhere. */
void agent_wrappers_find(const struct agent_wrapper *table, unsigned count) __attribute__((visibility("hidden")));
void agent_wrappers_resolve(void) __attribute__((visibility("hidden")));

#endif
