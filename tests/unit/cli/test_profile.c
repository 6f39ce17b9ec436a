#include "run_cli.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/profile/setup.h"
#include "doubles.h"

static int enter(void **state)
{
	char *folder = make_folder();

	unsetenv("RANK");
	unsetenv("SLURM_PROCID");
	unsetenv("OMPI_COMM_WORLD_RANK");
	memset(&record_double, 0, sizeof(record_double));
	record_double.started = 1;
	*state = folder;
	return chdir(folder);
}

static int leave(void **state)
{
	int r = chdir("..");

	remove_folder(*state);
	return r;
}

/* Refused before anything was started, with one line. */
static void assert_not_started(struct cli_run *run, const char *part)
{
	assert_int_equal(run->status, 1);
	assert_int_equal(record_double.calls, 0);
	assert_int_equal(count_lines(run->err), 1);
	assert_contains(run->err, part);
	cli_run_release(run);
}

static void test_defaults(void **state)
{
	const struct profile_options *o = &record_double.options;
	struct cli_run run;

	CLI_RUN(&run, "profile", "true", "-f", "--help");
	assert_int_equal(run.status, 0);
	assert_int_equal(record_double.calls, 1);
	assert_int_equal(o->trace, TRACE_BIT(TRACE_CUDA) | TRACE_BIT(TRACE_NVTX) | TRACE_BIT(TRACE_OSRT));
	assert_false(o->cuda.asked);
	assert_int_equal(o->capture_range, CAPTURE_RANGE_NONE);
	assert_int_equal(o->delay_ns, 0);
	assert_int_equal(o->duration_ns, 0);
	assert_int_equal(o->kill_signal, SIGTERM);
	assert_false(o->kill_given);
	assert_int_equal(o->wait, PROFILE_WAIT_ALL);
	assert_true(o->stop_on_exit && o->show_output && o->inherit_environment);
	assert_int_equal(o->store_environment, STORE_SAFE);
	assert_false(o->force_overwrite);
	assert_int_equal(o->env_count, 0);
	assert_int_equal(o->note_count, 0);
	assert_int_equal(record_double.argc, 3);
	assert_string_equal(record_double.argv[2], "--help");
	assert_contains(record_double.path, "/report1.sonde");
	cli_run_release(&run);
}

static void test_all_built_options(void **state)
{
	const struct profile_options *o = &record_double.options;
	struct cli_run run;

	CLI_RUN(&run, "profile", "-t", "nvtx", "-o", "x%p", "-f", "true", "-y", "10", "-d", "0.5", "-e", "A=1,B=2", "--env-var=C=a,b", "-n",
		"false", "-w", "false", "-x", "true", "--kill=9", "--wait", "primary", "--discard-environment", "--session-new=s",
		"/bin/echo", "-o");
	assert_int_equal(run.status, 0);
	assert_int_equal(o->delay_ns, 10000000000);
	assert_int_equal(o->duration_ns, 500000000);
	assert_int_equal(o->kill_signal, 9);
	assert_true(o->kill_given);
	assert_int_equal(o->wait, PROFILE_WAIT_PRIMARY);
	assert_true(o->force_overwrite && o->store_environment == STORE_NONE && o->stop_on_exit);
	assert_false(o->inherit_environment || o->show_output);
	assert_int_equal(o->env_count, 3);
	assert_string_equal(record_double.env[0], "A=1");
	assert_string_equal(record_double.env[1], "B=2");
	assert_string_equal(record_double.env[2], "C=a,b");
	assert_contains(record_double.path, "/x4242.sonde");
	assert_int_equal(record_double.argc, 2);
	cli_run_release(&run);
}

static void test_result_and_status(void **state)
{
	struct cli_run run;

	record_double.exit_status = 128 + SIGSEGV;
	CLI_RUN(&run, "profile", "-o", "r", "true");
	assert_int_equal(run.status, 139);
	assert_string_equal(run.out, "");
	assert_contains(run.err, "Generated:\n    /");
	assert_contains(run.err, "/r.sonde\n");
	assert_contains(run.err, "1234 events, 5 dropped, 2.5 MB; recording cost 25.0 ns per range\n");
	cli_run_release(&run);
}

static void test_report_that_could_not_be_finished(void **state)
{
	struct cli_run run;

	record_double.returns = -ENOSPC;
	CLI_RUN(&run, "profile", "true");
	/* How the program ended is what a script wants to know. */
	assert_int_equal(run.status, 0);
	assert_string_equal(run.err, "sonde profile: the disk is full\n");
	cli_run_release(&run);
	record_double.exit_status = 3;
	CLI_RUN(&run, "profile", "true");
	assert_int_equal(run.status, 3);
	cli_run_release(&run);
	record_double.started = 0;
	CLI_RUN(&run, "profile", "true");
	assert_int_equal(run.status, 1);
	cli_run_release(&run);
}

static void test_export_that_fails(void **state)
{
	struct cli_run run;

	/* The double has written no report. */
	CLI_RUN(&run, "profile", "--export=sqlite", "-o", "r", "true");
	assert_contains(run.err, "--export: ");
	assert_int_equal(run.status, 0);
	cli_run_release(&run);
}

static void test_program_is_checked_first(void **state)
{
	struct cli_run run;

	CLI_RUN(&run, "profile");
	assert_not_started(&run, "No program given");
	CLI_RUN(&run, "profile", "no-such-program");
	assert_not_started(&run, "Program 'no-such-program' was not found in PATH.");
	CLI_RUN(&run, "profile", "./no-such-program");
	assert_not_started(&run, "Program './no-such-program' was not found.");
	write_under(".", "/plain", "text");
	CLI_RUN(&run, "profile", "./plain");
	assert_not_started(&run, "chmod +x ./plain");
	CLI_RUN(&run, "profile", "./");
	assert_not_started(&run, "is a folder");
	CLI_RUN(&run, "profile", "");
	assert_not_started(&run, "empty");
	write_under(".", "/local", "#!/bin/sh\n");
	chmod("local", 0700);
	CLI_RUN(&run, "profile", "local");
	assert_not_started(&run, "'./' before its name");
}

static void test_usage_errors(void **state)
{
	struct cli_run run;

	CLI_RUN(&run, "profile", "--gpu-metrics", "all", "true");
	assert_not_started(&run, "may be --gpu-metrics-devices or");
	CLI_RUN(&run, "profile", "--trace=nvtxx", "true");
	assert_not_started(&run, "Did you mean nvtx?");
	CLI_RUN(&run, "profile", "--sample=cpus", "true");
	assert_not_started(&run, "Did you mean cpu?");
	CLI_RUN(&run, "profile", "-t", "none,nvtx", "true");
	assert_not_started(&run, "--trace=none excludes all other sources");
	CLI_RUN(&run, "profile", "-x", "false", "true");
	assert_not_started(&run, "--duration");
	CLI_RUN(&run, "profile", "--kill=65", "true");
	assert_not_started(&run, "signals are 1 to 64");
	CLI_RUN(&run, "profile", "-e", "NOVALUE", "true");
	assert_not_started(&run, "NAME=value");
	CLI_RUN(&run, "profile", "-o", "missing/x", "true");
	assert_not_started(&run, "missing");
	CLI_RUN(&run, "profile", "-o", "%z", "true");
	assert_not_started(&run, "not a macro");
	CLI_RUN(&run, "profile", "--nvtx-domain-include=a", "--nvtx-domain-exclude=b", "true");
	assert_not_started(&run, "exclude each other");
}

/* What is not built warns once per option, in one line, and the run goes on. */
static void test_notes(void **state)
{
	struct cli_run run;

	CLI_RUN(&run, "profile", "-t", "cuda,cudnn,osrt,nvtx,nvmedia", "--gpu-video-device=0", "--gpu-video-devices=all",
		"--accelerator-trace=nvmedia", "--cuda-memory-usage=true", "--stop-on-range-end=true", "true");
	assert_int_equal(run.status, 0);
	assert_int_equal(record_double.calls, 1);
	assert_contains(run.err, "sonde: --trace: cudnn is not supported yet; ignored\n");
	assert_contains(run.err, "sonde: --trace: nvmedia is not supported on this platform; ignored\n");
	assert_contains(run.err, "sonde: --gpu-video-device is not supported yet; ignored\n");
	assert_contains(run.err, "sonde: --accelerator-trace is not supported on this platform; ignored\n");
	assert_contains(run.err, "sonde: --stop-on-range-end is obsolete");
	/* Five notes and three lines of result. */
	assert_int_equal(count_lines(run.err), 8);
	assert_int_equal(record_double.options.note_count, 5);
	cli_run_release(&run);
}

static void test_nothing_asked_for_is_no_loss(void **state)
{
	struct cli_run run;

	CLI_RUN(&run, "profile", "-t", "nvtx", "--sample=none", "--cpuctxsw=none", "--cuda-memory-usage", "false",
		"--gpu-metrics-devices=none", "--export=none", "-c", "none", "true");
	assert_int_equal(run.status, 0);
	assert_int_equal(record_double.options.note_count, 0);
	cli_run_release(&run);
	/* The last use of an option counts. */
	CLI_RUN(&run, "profile", "--sample=cpu", "--sample=none", "true");
	assert_int_equal(record_double.options.note_count, 0);
	cli_run_release(&run);
}

/* The last @ divides, unless a backslash stands before it. */
static void test_nvtx_capture(void **state)
{
	static const struct {
		const char *text, *range, *domain;
		bool any;
	} cases[] = {
		{ "step", "step", "", false },          { "step@ml", "step", "ml", false }, { "step@*", "step", "", true },
		{ "step@", "step", "", false },         { "a@b@c", "a@b", "c", false },     { "a\\@b", "a@b", "", false },
		{ "a\\@b@c\\@d", "a@b", "c@d", false }, { "*@*", "*", "", true },           { "back\\slash", "back\\slash", "", false },
	};
	const struct nvtx_capture *capture = &record_double.options.nvtx_capture;
	struct cli_run run;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		CLI_RUN(&run, "profile", "-t", "osrt", "-c", "nvtx", "-p", cases[i].text, "true");
		assert_int_equal(run.status, 0);
		assert_string_equal(capture->range, cases[i].range);
		assert_string_equal(capture->domain, cases[i].domain);
		assert_int_equal(capture->any_domain, cases[i].any);
		assert_int_equal(record_double.options.capture_range, CAPTURE_RANGE_NVTX);
		assert_true(record_double.options.trace & TRACE_BIT(TRACE_NVTX));
		cli_run_release(&run);
	}
	CLI_RUN(&run, "profile", "-c", "nvtx", "true");
	assert_int_equal(run.status, 1);
	assert_non_null(strstr(run.err, "--nvtx-capture"));
	cli_run_release(&run);
}

/* Command lines that people's scripts hold today. */
static void test_lines_in_use(void **state)
{
	static const char *const lines[][24] = {
		{ "profile", "-o", "report_default.nsys-rep", "true" },
		{ "profile", "--trace", "cuda,osrt,nvtx,cudnn,cublas", "--gpu-metrics-device=all", "--duration=60", "--delay=120",
		  "--cuda-memory-usage", "true", "--output", "log", "true" },
		{ "profile", "--trace=cuda,nvtx,osrt", "--sample=process-tree", "true" },
		{ "profile", "--capture-range=nvtx", "--nvtx-capture=training_phase", "true" },
		{ "profile", "-c", "nvtx", "-p", "training_phase", "true" },
		{ "profile", "-w", "true", "-t", "cuda,nvtx,cudnn,cublas", "--force-overwrite", "true", "-x", "true", "-o", "wikitgn",
		  "true", "train.py", "--data", "WIKI" },
		{ "profile", "-y", "10", "-d", "50", "-w", "true", "-t", "cuda,cudnn,osrt,nvtx,nvmedia", "-o", "./run24",
		  "--cuda-memory-usage=true", "--accelerator-trace=nvmedia", "--force-overwrite", "true", "true" },
		{ "profile", "--sample=cpu", "--output=cpu_analysis", "true" },
		{ "profile", "--cuda-um-cpu-page-faults=true", "--cuda-um-gpu-page-faults=true", "true" },
		{ "profile", "--pytorch=autograd-nvtx", "-t", "cuda,nvtx", "true" },
		{ "profile", "--gpu-metrics-device=0", "-f", "-o", "m", "true" },
		{ "profile", "--stats=true", "--export=sqlite", "--cudabacktrace=true", "true" },
		{ "profile", "--capture-range=cudaProfilerApi", "--capture-range-end=repeat:3", "true" },
		{ "profile", "--cuda-graph-trace=node", "--cudabacktrace=kernel:1000,sync", "true" },
		{ "profile", "--nic-metrics=true", "--storage-metrics", "--nfs-volumes=all", "true" },
	};
	struct cli_run run;
	size_t i;

	for (i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		record_double.calls = 0;
		cli_run_words(&run, lines[i]);
		if (record_double.calls != 1)
			fail_msg("line %zu was refused: %s", i, run.err);
		cli_run_release(&run);
	}
}

static void run_cuda(const char *option, const char *value)
{
	const char *words[] = { "profile", "-t", "cuda", option, value, "true", NULL };
	struct cli_run run;

	cli_run_words(&run, words);
	assert_int_equal(run.status, 0);
	cli_run_release(&run);
}

static void test_cuda_options(void **state)
{
	const struct profile_options *o = &record_double.options;
	const struct cuda_options *cuda = &o->cuda;

	run_cuda("--cuda-memory-usage", "true");
	assert_true(cuda->asked && cuda->memory_usage && cuda->flush_on_stop);
	assert_false(cuda->all_apis || cuda->graph_nodes || cuda->event_times || cuda->cpu_faults || cuda->gpu_faults);
	for (unsigned i = 0; i < 4; i++)
		assert_int_equal(cuda->backtrace_ns[i], -1);
	run_cuda("--cuda-graph-trace", "node");
	assert_true(cuda->graph_nodes);
	run_cuda("--cuda-graph-trace", "node:host-only");
	assert_true(cuda->graph_nodes);
	run_cuda("--cuda-graph-trace", "graph:host-and-device");
	assert_false(cuda->graph_nodes);
	run_cuda("--cuda-event-trace", "true");
	assert_true(cuda->event_times);
	run_cuda("--cuda-flush-interval", "250");
	assert_int_equal(cuda->flush_interval_ms, 250);
	run_cuda("--cudabacktrace", "kernel:500,sync");
	assert_int_equal(cuda->backtrace_ns[0], 500);
	assert_int_equal(cuda->backtrace_ns[1], -1);
	assert_int_equal(cuda->backtrace_ns[2], 1000);
	assert_int_equal(cuda->backtrace_ns[3], -1);
	run_cuda("--cudabacktrace", "true");
	assert_int_equal(cuda->backtrace_ns[3], 1000);
	run_cuda("--cudabacktrace", "all:0");
	assert_int_equal(cuda->backtrace_ns[1], 0);
	/* cuBLAS calls are not built; CUDA under them is. */
	run_cuda("--trace", "cublas");
	assert_int_equal(o->trace, TRACE_BIT(TRACE_CUDA));
	run_cuda("--trace", "cuda-hw,nvtx");
	assert_int_equal(o->trace & (TRACE_BIT(TRACE_CUDA) | TRACE_BIT(TRACE_NVTX)), TRACE_BIT(TRACE_CUDA) | TRACE_BIT(TRACE_NVTX));
}

static void test_capture_ranges(void **state)
{
	static const struct {
		const char *text;
		enum capture_end end;
		uint32_t repeats;
	} cases[] = {
		{ "none", CAPTURE_END_NONE, 1 },
		{ "stop", CAPTURE_END_STOP, 1 },
		{ "stop-shutdown", CAPTURE_END_STOP_SHUTDOWN, 1 },
		{ "repeat", CAPTURE_END_STOP, UINT32_MAX },
		{ "repeat:3", CAPTURE_END_STOP, 3 },
		{ "repeat-shutdown:2", CAPTURE_END_STOP_SHUTDOWN, 2 },
	};
	const struct profile_options *o = &record_double.options;
	struct cli_run run;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		CLI_RUN(&run, "profile", "-c", "cudaProfilerApi", "--capture-range-end", cases[i].text, "true");
		assert_int_equal(run.status, 0);
		assert_int_equal(o->capture_range, CAPTURE_RANGE_CUDA_PROFILER);
		assert_int_equal(o->capture_end, cases[i].end);
		assert_int_equal(o->capture_repeats, cases[i].repeats);
		cli_run_release(&run);
	}
	CLI_RUN(&run, "profile", "-c", "cudaProfilerApi", "true");
	assert_int_equal(o->capture_end, CAPTURE_END_STOP_SHUTDOWN);
	cli_run_release(&run);
	record_double.calls = 0;
	CLI_RUN(&run, "profile", "-c", "cudaProfilerApi", "--capture-range-end=repeat:0", "true");
	assert_not_started(&run, "1 or more");
	CLI_RUN(&run, "profile", "-c", "hotkey", "true");
	assert_contains(run.err, "kill -USR1");
	assert_int_equal(o->capture_range, CAPTURE_RANGE_HOTKEY);
	assert_string_equal(o->hotkey, "F12");
	cli_run_release(&run);
	CLI_RUN(&run, "profile", "-c", "hotkey", "--hotkey-capture=F3", "true");
	assert_string_equal(o->hotkey, "F3");
	cli_run_release(&run);
}

static void test_value_help(void **state)
{
	struct cli_run run;

	CLI_RUN(&run, "profile", "--trace=help");
	assert_int_equal(run.status, 0);
	assert_contains(run.out, "nvtx                available");
	assert_contains(run.out, "cuda                available");
	assert_contains(run.out, "nvmedia             other platforms");
	cli_run_release(&run);
	CLI_RUN(&run, "profile", "--gpu-video-device=help", "true");
	assert_int_equal(run.status, 0);
	assert_contains(run.out, "Not supported yet");
	assert_int_equal(record_double.calls, 0);
	cli_run_release(&run);
	CLI_RUN(&run, "profile", "--gpu-metrics-set=help", "true");
	assert_int_equal(run.status, 0);
	assert_contains(run.out, "file:PATH");
	assert_int_equal(record_double.calls, 0);
	cli_run_release(&run);
}

static void test_gpu_options(void **state)
{
	const struct gpu_options *gpu = &record_double.options.gpu;
	struct cli_run run;

	CLI_RUN(&run, "profile", "-t", "nvtx", "true");
	assert_int_equal(gpu->nvml_hz, 0);
	assert_null(gpu->metrics_devices);
	cli_run_release(&run);
	CLI_RUN(&run, "profile", "-t", "cuda,nvtx", "true");
	assert_int_equal(gpu->nvml_hz, 10);
	assert_false(gpu->nvml_given);
	cli_run_release(&run);
	CLI_RUN(&run, "profile", "-t", "nvtx", "--gpu-metrics-devices=none", "--enable", "nvml_metrics,-i5", "--gpuctxsw=true", "true");
	assert_int_equal(gpu->nvml_hz, 200);
	assert_true(gpu->nvml_given && gpu->context_switches);
	assert_null(gpu->metrics_devices);
	assert_int_equal(gpu->metrics_hz, 10000);
	cli_run_release(&run);
	CLI_RUN(&run, "profile", "-t", "nvtx", "--gpu-metrics-devices=0,2", "--gpu-metrics-frequency=20000", "--enable", "efa_metrics",
		"true");
	assert_string_equal(gpu->metrics_devices, "0,2");
	assert_int_equal(gpu->metrics_hz, 20000);
	assert_contains(run.err, "the plugin 'efa_metrics' is not supported");
	cli_run_release(&run);
}

static void test_command_files(void **state)
{
	struct cli_run run;

	write_under(".", "/one", "-t nvtx # what\n--output='from file' -y 1 -e A=1");
	write_under(".", "/two", "-y 2");
	write_under(".", "/bad", "-f ./app");
	CLI_RUN(&run, "profile", "--command-file=one", "--command-file", "two", "-o", "line", "true", "x");
	assert_int_equal(run.status, 0);
	assert_int_equal(record_double.options.delay_ns, 2000000000);
	assert_contains(record_double.path, "/line.sonde");
	assert_string_equal(record_double.env[0], "A=1");
	assert_int_equal(record_double.argc, 2);
	cli_run_release(&run);
	record_double.calls = 0;
	CLI_RUN(&run, "profile", "--command-file=bad", "true");
	assert_not_started(&run, "has './app', which is not an option");
	write_under(".", "/inner", "-y 3 --command-file=two");
	CLI_RUN(&run, "profile", "--command-file=inner", "true");
	assert_not_started(&run, "names another one");
	CLI_RUN(&run, "profile", "--command-file=none", "true");
	assert_not_started(&run, "'none' cannot be read");
}

static void test_environment_pieces(void **state)
{
	struct string_list env = STRING_LIST_INIT;
	struct error err;

	assert_int_equal(profile_split_env("A=,B=x=y,PATHS=a,b,c,D=1", &env, &err), 0);
	assert_int_equal(env.count, 4);
	assert_string_equal(env.items[0], "A=");
	assert_string_equal(env.items[1], "B=x=y");
	assert_string_equal(env.items[2], "PATHS=a,b,c");
	assert_string_equal(env.items[3], "D=1");
	assert_int_equal(profile_split_env("=x", &env, &err), -EINVAL);
	string_list_release(&env);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, enter, leave)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_defaults),
		TEST(test_all_built_options),
		TEST(test_result_and_status),
		TEST(test_export_that_fails),
		TEST(test_report_that_could_not_be_finished),
		TEST(test_program_is_checked_first),
		TEST(test_usage_errors),
		TEST(test_notes),
		TEST(test_nothing_asked_for_is_no_loss),
		TEST(test_nvtx_capture),
		TEST(test_lines_in_use),
		TEST(test_cuda_options),
		TEST(test_capture_ranges),
		TEST(test_value_help),
		TEST(test_gpu_options),
		TEST(test_command_files),
		TEST(test_environment_pieces),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
