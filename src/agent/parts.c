/* The parts of the agent that the core calls. */
#include "agent/core/wrappers.h"
#include "base/macros.h"

const struct agent_part *const agent_parts[] = {
	&agent_part_driver, &agent_part_exec,    &agent_part_leave,
#define MODULE(id, name, bit) &agent_part_##name,
#define OPTION_MODULE MODULE
#include "fmt/trace_sources.def"
	&agent_part_sample, &agent_part_threads,
};
const unsigned agent_part_count = COUNT_OF(agent_parts);
