/* By which names the program answers, and what nvprof's options become. */
#include "run_cli.h"

#include "cli/command.h"
#include "cli/arguments/output_name.h"
#include "doubles.h"

#include <stdlib.h>

static void test_names(void **state)
{
	assert_int_equal(cli_role_of("sonde"), CLI_SONDE);
	assert_int_equal(cli_role_of("/opt/nsys/bin/sonde"), CLI_SONDE);
	assert_int_equal(cli_role_of("nsys"), CLI_NSYS);
	assert_int_equal(cli_role_of("./nsys"), CLI_NSYS);
	assert_int_equal(cli_role_of("/usr/local/bin/nsys-2026.2.1"), CLI_NSYS);
	assert_int_equal(cli_role_of("nsys-ui"), CLI_NSYS_UI);
	assert_int_equal(cli_role_of("/x/nsys-ui-2026"), CLI_NSYS_UI);
	assert_int_equal(cli_role_of("/usr/bin/nvprof"), CLI_NVPROF);
	assert_int_equal(cli_role_of("ncu"), CLI_NCU);
	assert_int_equal(cli_role_of("/usr/local/cuda/bin/ncu-2025.3"), CLI_NCU);
	assert_int_equal(cli_role_of("nv-nsight-cu-cli"), CLI_NCU);
	assert_int_equal(cli_role_of("nv-nsight-cu"), CLI_NCU_UI);
	assert_int_equal(cli_role_of("./ncu-ui"), CLI_NCU_UI);
	assert_int_equal(cli_role_of("ncurses"), CLI_SONDE);
	assert_int_equal(cli_role_of("nsysx"), CLI_SONDE);
	assert_int_equal(cli_role_of("nsys/"), CLI_SONDE);
	assert_int_equal(cli_role_of(""), CLI_SONDE);
}

static void reset(void)
{
	memset(&record_double, 0, sizeof(record_double));
	record_double.started = 1;
}

/* -q: what the double leaves is no report to print. */
static void test_nvprof_records_cuda(void **state)
{
	const struct profile_options *o = &record_double.options;
	struct cli_run run;

	reset();
	CLI_RUN(&run, "nvprof", "-q", "sh", "-x", "a b");
	assert_int_equal(run.status, 0);
	assert_int_equal(record_double.calls, 1);
	assert_int_equal(o->trace, TRACE_BIT(TRACE_CUDA) | TRACE_BIT(TRACE_NVTX));
	assert_int_equal(o->cpu.sample, SCOPE_NONE);
	assert_int_equal(o->cpu.switches, SCOPE_NONE);
	assert_int_equal(o->capture_range, CAPTURE_RANGE_NONE);
	assert_int_equal(o->duration_ns, 0);
	assert_false(o->force_overwrite);
	assert_int_equal(record_double.argc, 3);
	assert_string_equal(record_double.argv[1], "-x");
	assert_string_equal(record_double.argv[2], "a b");
	cli_run_release(&run);
}

static void test_nvprof_options(void **state)
{
	const struct profile_options *o = &record_double.options;
	struct cli_run run;

	reset();
	CLI_RUN(&run, "nvprof", "-q", "--profile-from-start", "off", "-t", "2.5", "--cpu-profiling", "on", "-f", "-o", "x%p",
		"--cpu-thread-tracing", "on", "--track-memory-allocations", "on", "--profile-child-processes", "--concurrent-kernels",
		"off", "true");
	assert_int_equal(run.status, 0);
	assert_int_equal(o->capture_range, CAPTURE_RANGE_CUDA_PROFILER);
	assert_int_equal(o->capture_end, CAPTURE_END_STOP);
	assert_true(o->capture_repeats > 1000000); /* every range of the program */
	assert_int_equal(o->duration_ns, 2500000000);
	assert_int_equal(o->cpu.sample, SCOPE_PROCESS_TREE);
	assert_true(o->trace & TRACE_BIT(TRACE_OSRT));
	assert_true(o->cuda.memory_usage);
	assert_true(o->force_overwrite);
	assert_contains(record_double.path, "/x4242.sonde");
	cli_run_release(&run);
}

static void test_nvprof_refuses(void **state)
{
	struct cli_run run;

	reset();
	CLI_RUN(&run, "nvprof", "--profile-from-start=maybe", "true");
	assert_int_equal(run.status, 1);
	assert_contains(run.err, "on or off");
	cli_run_release(&run);
	CLI_RUN(&run, "nvprof", "--csv");
	assert_int_equal(run.status, 1);
	assert_contains(run.err, "No program given");
	cli_run_release(&run);
	assert_int_equal(record_double.calls, 0);
}

static void assert_path(const char *name, enum output_style style, const char *ending)
{
	char path[4096];
	struct error err = { "" };

	assert_true(output_name_path(name, style, 7, 1, path, sizeof(path), &err) >= 0);
	assert_true(strlen(path) > strlen(ending));
	assert_string_equal(path + strlen(path) - strlen(ending), ending);
}

static void test_names_of_reports(void **state)
{
	char path[4096];
	struct error err = { "" };

	unsetenv("RANK");
	unsetenv("OMPI_COMM_WORLD_RANK");
	unsetenv("SLURM_PROCID");
	assert_path(NULL, OUTPUT_NSYS, "/report1.nsys-rep");
	assert_path("x", OUTPUT_NSYS, "/x.nsys-rep");
	assert_path("x.nsys-rep", OUTPUT_NSYS, "/x.nsys-rep");
	assert_path("x.nsys-rep", OUTPUT_SONDE, "/x.nsys-rep");
	assert_path("x.sonde", OUTPUT_NSYS, "/x.sonde");
	assert_path("x.qdrep", OUTPUT_NSYS, "/x.qdrep.nsys-rep");
	assert_true(output_name_path(".//./x", OUTPUT_NSYS, 7, 1, path, sizeof(path), &err) >= 0);
	assert_null(strstr(path, "/./"));
	assert_null(strstr(path, "//"));
	assert_path(NULL, OUTPUT_NVPROF, "/report1.nsys-rep");
	assert_path("x.nvvp", OUTPUT_NVPROF, "/x.nvvp");
	setenv("RANK", "0", 1);
	assert_path("x", OUTPUT_NSYS, "/x.nsys-rep");
	assert_path("x", OUTPUT_SONDE, ".rank0.sonde");
	setenv("RANK", "2", 1);
	assert_path("x", OUTPUT_NSYS, ".rank2.nsys-rep");
	assert_path("x12", OUTPUT_NSYS, ".rank2.nsys-rep");
	assert_path("2/x", OUTPUT_NSYS, ".rank2.nsys-rep");
	assert_path("x_rank2.nsys-rep", OUTPUT_NSYS, "/x_rank2.nsys-rep");
	assert_path("x_rank2", OUTPUT_SONDE, ".rank2.sonde");
	assert_path(NULL, OUTPUT_NSYS, "/report1.nsys-rep");
	/* The recorder asks for the next one when the first is taken; then there is one more. */
	assert_int_equal(output_name_path("x2", OUTPUT_NSYS, 7, 1, path, sizeof(path), &err), 1);
	assert_string_equal(strrchr(path, '/'), "/x2.nsys-rep");
	assert_int_equal(output_name_path("x2", OUTPUT_NSYS, 7, 2, path, sizeof(path), &err), 0);
	assert_non_null(strstr(path, ".rank2.nsys-rep"));
	assert_path("x.nvvp", OUTPUT_NVPROF, ".rank2");
	unsetenv("RANK");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),          cmocka_unit_test(test_nvprof_records_cuda), cmocka_unit_test(test_nvprof_options),
		cmocka_unit_test(test_nvprof_refuses), cmocka_unit_test(test_names_of_reports),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
