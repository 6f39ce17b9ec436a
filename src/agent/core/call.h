/* OS runtime calls wrapped in other parts of the agent; src/agent/osrt implements this.
 *
 *	on = agent_call_begin(&call, OSRT_posix_spawn);
 *	result = real(...);
 *	if (on)
 *		agent_call_end(&call, result); */
#ifndef SONDE_AGENT_CORE_CALL_H
#define SONDE_AGENT_CORE_CALL_H

#include <stdint.h>

#include "fmt/osrt_calls.h"

/* In the wrapper's own frame, until it returns. */
struct agent_call {
	uint64_t frame[4];
};

int agent_call_begin(struct agent_call *call, enum osrt_number number) __attribute__((visibility("hidden")));
void agent_call_end(struct agent_call *call, int64_t result) __attribute__((visibility("hidden")));

#endif
