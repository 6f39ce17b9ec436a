/* The options of nvprof: the table, and what it fills. */
#ifndef SONDE_CLI_LINKS_NVPROF_TABLE_H
#define SONDE_CLI_LINKS_NVPROF_TABLE_H

#include "base/options/options.h"

enum nvprof_switch { NVPROF_ON, NVPROF_OFF };
enum nvprof_mpi { NVPROF_MPI_OFF, NVPROF_MPI_OPENMPI, NVPROF_MPI_MPICH };

struct nvprof_fields {
	/* What is recorded. */
	int from_start; /* enum nvprof_switch, as all that say on or off */
	int cpu_threads;
	int cpu_profiling;
	int openacc;
	int allocations;
	int mpi; /* enum nvprof_mpi */
	int64_t timeout_ns;
	/* What is printed. */
	bool summary, gpu_summary, api_summary, gpu_summary_each;
	bool gpu_trace, api_trace;
	bool csv;
	int demangling;
	const char *unit;
	bool quiet;
	const char *log_file;
	/* Files. */
	const char *output;
	const char *input;
	bool overwrite;
	bool query; /* of events or metrics */
	bool version;
};

extern const struct option_table nvprof_option_table;

#endif
