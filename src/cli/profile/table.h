/* The options of `sonde profile`: the table, and what it fills. */
#ifndef SONDE_CLI_PROFILE_TABLE_H
#define SONDE_CLI_PROFILE_TABLE_H

#include "base/options/options.h"
#include "export/export.h"
#include "record/profile_options.h"

/* Bits of `trace` behind those of the sources. */
#define TRACE_NONE_BIT TRACE_BIT(TRACE_SOURCE_COUNT)
#define TRACE_HELP_BIT TRACE_BIT(TRACE_SOURCE_COUNT + 1)

/* Bits of `exports`. */
#define EXPORT_VALUES EXPORT_TYPE_NAMES "|" EXPORT_OTHER_NAMES "|none"

struct profile_fields {
	struct osrt_options osrt;
	struct cpu_options cpu;
	struct cuda_options cuda;
	struct gpu_options gpu;
#define RUN(type, field, ...) OPTION_FIELD_##type field;
#define COMMAND(type, field, ...) OPTION_FIELD_##type field;
#include "record/profile_options.def"
};

extern const struct option_table profile_option_table;

#endif
