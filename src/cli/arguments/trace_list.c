#include "cli/arguments/trace_list.h"

#define TRACE_SOURCE(id, name, state, implies, description) [TRACE_##id] = { name, TRACE_STATE_##state, implies, description },
const struct trace_list_entry trace_list[TRACE_SOURCE_COUNT] = {
#include "fmt/trace_sources.def"
};

void trace_list_print(FILE *out)
{
	static const char *const states[] = {
		[TRACE_STATE_BUILT] = "available",
		[TRACE_STATE_PLANNED] = "not supported yet",
		[TRACE_STATE_ELSEWHERE] = "other platforms",
	};
	const struct trace_list_entry *entry;

	fputs("Sources for --trace, separated by commas:\n\n", out);
	for (entry = trace_list; entry < trace_list + TRACE_SOURCE_COUNT; entry++)
		fprintf(out, "  %-19s %-16s %s%s%s\n", entry->name, states[entry->state], entry->description,
			*entry->implies ? "; implies " : "", entry->implies);
	fprintf(out, "  %-19s %-16s %s\n", "none", states[TRACE_STATE_BUILT], "nothing at all");
}
