/* What a recording is asked to do. The command line fills it, the recorder reads
 * it; nothing here is owned by the recorder, and all of it outlives record_run(). */
#ifndef SONDE_RECORD_PROFILE_OPTIONS_H
#define SONDE_RECORD_PROFILE_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "base/macros.h"
#include "base/options/options.h"
#include "base/text/secrets.h"
#include "record/kernel_choice.h"
#include "record/record.h"
#include "record/step_schedule.h"
#include "ring/ring_layout.h"

enum trace_source {
#define TRACE_SOURCE(id, name, state, implies, description) TRACE_##id,
#include "fmt/trace_sources.def"
	TRACE_SOURCE_COUNT
};

#define TRACE_BIT(source) BIT64(source)

/* Bits of `pytorch`. */
#define PYTORCH_VALUES "ops|shapes|autograd-nvtx|autograd-shapes-nvtx|functions-trace|functions-trace-shapes|none"
enum pytorch_bit {
	PYTORCH_OPS = 1 << 0,
	PYTORCH_SHAPES = 1 << 1,
	PYTORCH_AUTOGRAD = 1 << 2,
	PYTORCH_AUTOGRAD_SHAPES = 1 << 3,
	PYTORCH_FUNCTIONS = 1 << 4, /* not built */
	PYTORCH_FUNCTIONS_SHAPES = 1 << 5,
	PYTORCH_WITH_SHAPES = PYTORCH_SHAPES | PYTORCH_AUTOGRAD_SHAPES,
	PYTORCH_OPERATORS = PYTORCH_OPS | PYTORCH_AUTOGRAD | PYTORCH_WITH_SHAPES
};

enum profile_wait {
	PROFILE_WAIT_PRIMARY, /* the recording ends with the program started */
	PROFILE_WAIT_ALL,     /* ... with the last process descending from it */
};

enum profile_scope { SCOPE_PROCESS_TREE, SCOPE_SYSTEM_WIDE, SCOPE_NONE };
enum profile_backtrace { BACKTRACE_AUTO, BACKTRACE_LBR, BACKTRACE_FP, BACKTRACE_DWARF, BACKTRACE_NONE };

/* Flags of options in profile_options.def: it is for programs that are started. */
#define PROFILE_STARTED OPTION_OWN_FLAGS

/* What is recorded of the CPUs: docs/cpu.md. `sample` and `switches` are of enum profile_scope, `backtrace` of enum profile_backtrace; a `period`
 * of 0: by frequency. */
struct cpu_options {
#define CPU(type, field, ...) OPTION_FIELD_##type field;
#include "record/profile_options.def"
};

struct osrt_options {
#define OSRT(type, field, ...) OPTION_FIELD_##type field;
#include "record/profile_options.def"
};

/* Kinds of CUDA calls are those of enum ring_cuda_call. */
struct cuda_options {
#define CUDA(type, field, ...) OPTION_FIELD_##type field;
#include "record/profile_options.def"
	bool graph_nodes;
	bool event_times;
	int64_t backtrace_ns[4]; /* calls at least this long come with their stack; negative: none */
	const char *agent_path;  /* absolute path of libsonde-cuda.so, NULL: not found */
	bool asked;              /* on the command line, not by default */
};

/* What the recorder reads of the GPUs themselves. */
struct gpu_options {
	int64_t nvml_hz; /* 0: nothing */
	bool nvml_given; /* asked for, not by default: what is missing is told of */
#define GPU(type, field, ...) OPTION_FIELD_##type field;
#include "record/profile_options.def"
};

enum capture_range { CAPTURE_RANGE_NONE, CAPTURE_RANGE_CUDA_PROFILER, CAPTURE_RANGE_NVTX, CAPTURE_RANGE_SCHEDULE, CAPTURE_RANGE_HOTKEY };
enum capture_end { CAPTURE_END_NONE, CAPTURE_END_STOP, CAPTURE_END_STOP_SHUTDOWN };

/* --nvtx-capture=range@domain, --step-range=range@domain */
struct nvtx_capture {
	char range[RING_NVTX_RANGE + 1];
	char domain[RING_NVTX_DOMAIN + 1]; /* empty: the default domain */
	bool any_domain;
};

struct steer_request;

/* --flight-recorder: docs/flight.md */
#define FLIGHT_NAMES 8

struct flight_slow {
	struct nvtx_capture range;
	double factor;
};

struct flight_options {
	bool on;
	int64_t keep_ns; /* 0: as much as goes into keep_bytes */
	uint64_t keep_bytes;
	int64_t trigger_max;
	struct nvtx_capture marks[FLIGHT_NAMES];
	uint32_t mark_count;
	struct flight_slow slow[FLIGHT_NAMES];
	uint32_t slow_count;
};

struct profile_options {
	/* As given: `wait` is of enum profile_wait, store_environment of enum store_environment; texts that were not given are NULL. A delay begins with
	 * the program, a duration with the recording; 0: no limit. */
#define RUN(type, field, ...) OPTION_FIELD_##type field;
#include "record/profile_options.def"

	/* The program: argv ends with NULL; program is the file argv[0] was found as. */
	char *const *argv;
	const char *program;
	pid_t attach_pid;           /* it runs already; 0: it is started */
	const char *attach_without; /* why it gets no agents; NULL: it does */
	bool children;              /* ... and processes below it, present and to come, are recorded too */

	uint64_t trace;   /* TRACE_BIT()s of what to record */
	bool trace_given; /* on the command line, not by default */

	struct osrt_options osrt;
	struct cpu_options cpu;
	struct cuda_options cuda;
	struct gpu_options gpu;

	enum capture_range capture_range;
	enum capture_end capture_end;
	struct nvtx_capture nvtx_capture;
	struct schedule schedule; /* of CAPTURE_RANGE_SCHEDULE */
	uint32_t capture_repeats; /* windows before capture_end takes effect */

	struct flight_options flight;
	bool interactive;                        /* nothing is recorded until another command says so: record/control/steering.h */
	const struct steer_request *first_start; /* ... but for the first capture, which begins with the program; NULL: none */

	/* Signal to the target's process group when the recording ends before the
	 * processes do; 0 leaves them running. */
	int kill_signal;
	bool kill_given;        /* on the command line, not by default */
	const char *const *env; /* "NAME=value", set on top of what is inherited */
	size_t env_count;

	/* Gives the absolute path of the report. It may depend on the pid of the program
	 * started (%p), and a free number is looked for from `first_number` on (%n, the
	 * default name). Returns the number taken, 0 if the name has none, or a negative
	 * errno. A recorder that finds the file of a numbered name taken after all asks
	 * again from the number after it. */
	int (*output_path)(const struct profile_options *options, pid_t pid, int first_number, char *ret_path, size_t path_size,
			   struct error *err);

	/* Told in the process that called record_run() each time a window has opened, the program's run being under way. It must not
	 * wait for anything. NULL: nobody wants to know. */
	void (*window_opened)(void *listener, const char *path);
	void *window_listener;
	/* The same for a report of a session that goes on. `told`: another command has waited for it and tells of it. One that could not
	 * be completed comes with `finished` 0 and a sentence. */
	void (*report_ready)(void *listener, const struct record_result *result, bool reported, const struct error *why);
	void *report_listener;
	/* The same for each report of the flight recorder, and once, with `finished` 0, when it has begun. */
	void (*flight_report)(void *listener, const struct record_result *result);
	void *flight_listener;

	/* -c hotkey: SIGUSR1 opens and closes the window, and the key of that name, if a terminal can be asked for keys. `key_pressed` is
	 * called in the process that called record_run() when `key_fd` is readable, or the process has been continued; returns how often
	 * the key was pressed, -1 when there will be no more. */
	const char *hotkey;
	int key_fd; /* -1: none */
	int (*key_pressed)(void *listener);
	void *key_listener;

	/* Counters of kernels are read, and nothing else; NULL: they are not. `kernel_progress` is called in the process that called
	 * record_run() when `progress_fd` is readable; returns -1 when there will be no more. */
	const struct kernel_choice *kernels;
	int progress_fd;
	int (*kernel_progress)(void *listener);
	void *progress_listener;

	const char *agent_path; /* absolute path of libsonde.so, NULL: not found */

	/* The whole command line as typed, and warnings already shown (options that are not
	 * built yet ...): the recorder stores both in the report. */
	char *const *command_line;
	const char *const *notes;
	size_t note_count;
};

#endif
