/* All real functions by name, and what stands in for one that this glibc does not have. */
#include "agent/osrt/osrt.h"

#include <errno.h>

#include "agent/core/wrappers.h"
#include "base/macros.h"

osrt_function osrt_real[OSRT_REAL_COUNT];

#define ENTRY(symbol, version, which) { symbol, version, (void **)&osrt_real[which] },
static const struct agent_wrapper wrappers[] = {
#define OSRT_CALL(class, name, result, arguments, file) ENTRY(#name, NULL, OSRT_REAL_##name)
#define OSRT_ALIAS(name, symbol, result, arguments, file) ENTRY(#symbol, NULL, OSRT_REAL_##symbol)
#define OSRT_VERSIONS(class, name, result, arguments, version, old) \
	ENTRY(#name, version, OSRT_REAL_##name) ENTRY(#name, old, OSRT_REAL_OLD_##name)
#define OSRT_HAND(class, name) ENTRY(#name, NULL, OSRT_REAL_##name)
#define OSRT_HAND_ALIAS(name, symbol) ENTRY(#symbol, NULL, OSRT_REAL_##symbol)
#define OSRT_REAL(symbol) ENTRY(#symbol, NULL, OSRT_REAL_##symbol)
#include "fmt/osrt_calls.def"
};

static long refuse_missing_call(void)
{
	errno = ENOSYS;
	return -1;
}

osrt_function osrt_find(enum osrt_real which)
{
	agent_wrappers_resolve_missing();
	return osrt_real[which] ? osrt_real[which] : (osrt_function)refuse_missing_call;
}

int osrt_revive(void)
{
	return (agent_pages.session.modules & RING_GATE_OSRT) && agent_revive(RING_GATE_OSRT);
}

static void note_osrt_attach(void)
{
	if (agent_pages.session.modules & (RING_GATE_OSRT | RING_GATE_SAMPLE))
		agent_report_objects(agent_now());
}

const struct agent_part agent_part_osrt = { .wrappers = wrappers, .wrapper_count = COUNT_OF(wrappers), .attached = note_osrt_attach };
