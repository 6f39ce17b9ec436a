/* The options of `sonde profile`, out of their list. */
#include "cli/profile/table.h"

#define TRACE_SOURCE(id, name, state, implies, description) name "|"
static const char trace_values[] =
#include "fmt/trace_sources.def"
	"none|help";

static const struct option_spec profile_specs[] = {
#define SPEC(type_, field, ...) { .type = OPTION_##type_, .offset = offsetof(struct profile_fields, field), __VA_ARGS__ },
#define OSRT(type, field, ...) SPEC(type, osrt.field, __VA_ARGS__)
#define CPU(type, field, ...) SPEC(type, cpu.field, __VA_ARGS__)
#define CUDA(type, field, ...) SPEC(type, cuda.field, __VA_ARGS__)
#define GPU(type, field, ...) SPEC(type, gpu.field, __VA_ARGS__)
#define RUN(type, field, ...) SPEC(type, field, __VA_ARGS__)
#define COMMAND(type, field, ...) SPEC(type, field, __VA_ARGS__)
#define PLANNED(type_, ...) { .type = OPTION_##type_, .state = OPTION_PLANNED, __VA_ARGS__ },
#define ELSEWHERE(type_, ...) { .type = OPTION_##type_, .state = OPTION_ELSEWHERE, __VA_ARGS__ },
#define OBSOLETE(type_, ...) { .type = OPTION_##type_, .state = OPTION_OBSOLETE, __VA_ARGS__ },
#include "record/profile_options.def"
};

const struct option_table profile_option_table = OPTION_TABLE(profile_specs);
