/* The options of `sonde profile`: the table, and what it fills. */
#ifndef SONDE_CLI_PROFILE_TABLE_H
#define SONDE_CLI_PROFILE_TABLE_H

#include "base/options.h"
#include "export/export.h"
#include "record/profile_options.h"

/* Bits of `trace` behind those of the sources. */
#define TRACE_NONE_BIT TRACE_BIT(TRACE_SOURCE_COUNT)
#define TRACE_HELP_BIT TRACE_BIT(TRACE_SOURCE_COUNT + 1)

/* Bits of `exports`. */
#define EXPORT_VALUES EXPORT_TYPE_NAMES "|" EXPORT_OTHER_NAMES "|none"

struct profile_fields {
	uint64_t trace;
	struct osrt_options osrt;
	struct cpu_options cpu;
	struct cuda_options cuda;
	int cuda_graph;             /* of the values of --cuda-graph-trace, as the next two */
	int cuda_events;
	int capture_range;
	const char *cuda_backtrace;
	const char *capture_end;
	const char *nvtx_capture;
	int hotkey;                 /* of the values of --hotkey-capture: F1 is 0 */
	const char *schedule;
	const char *step_range;
	const char *flight;         /* as given; NULL: no flight recorder */
	struct option_texts trigger_marks;
	struct option_texts trigger_slow;
	int64_t trigger_max;
	const char *after_start;
	const char *after_report;
	struct gpu_options gpu;
	struct option_texts enable;
	const char *output;
	bool force_overwrite;
	bool start_later;
	int64_t delay_ns;
	int64_t duration_ns;
	bool stop_on_exit;
	const char *kill;
	int wait; /* enum profile_wait */
	bool show_output;
	bool inherit_environment;
	bool discard_environment;
	int store_environment;      /* enum store_environment */
	struct option_texts env;
	bool stats;
	uint64_t exports;
	const char *session_name;
	const char *session;        /* of launch and start */
	struct option_texts command_files;
	bool children;              /* of attach */
};

extern const struct option_table profile_option_table;

#endif
