/* Probes looked at through a made-up /proc, /sys and /dev. */
#include "run_cli.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>

#include "cli/doctor/doctor.h"

/* What the made-up kernel answers. */
struct answers {
	int software, hardware, memfd, socket, wipe, landlock, filter;
	uint64_t memlock;
	const char *gpus;
};

static struct answers answers;

static int fake_perf(uint32_t type, uint64_t config)
{
	return type == PERF_TYPE_HARDWARE ? answers.hardware : answers.software;
}

static int fake_memfd(void)
{
	return answers.memfd;
}

static int fake_socket(void)
{
	return answers.socket;
}

static int fake_wipe(void)
{
	return answers.wipe;
}

static uint64_t fake_memlock(void)
{
	return answers.memlock;
}

static int fake_landlock(void)
{
	return answers.landlock;
}

static int fake_filter(void)
{
	return answers.filter;
}

static char *fake_gpus(void)
{
	return strdup(answers.gpus ? answers.gpus : "");
}

static const struct doctor_calls fake_calls = { fake_perf,    fake_memfd,    fake_socket, fake_wipe,
						fake_memlock, fake_landlock, fake_filter, fake_gpus };

#define NO_CAPABILITIES "Name:\ttest\nCapEff:\t0000000000000000\nSeccomp:\t0\n"
#define ONLY_PERFMON "CapEff:\t0000004000000000\nSeccomp:\t0\n"
#define ONLY_SYS_PTRACE "CapEff:\t0000000000080000\nSeccomp:\t0\n"
#define ONLY_SYS_ADMIN "CapEff:\t0000000000200000\nSeccomp:\t0\n"
#define ONLY_SYSLOG "CapEff:\t0000000400000000\nSeccomp:\t0\n"
#define FILTERED "CapEff:\t0000000000000000\nSeccomp:\t2\n"

static int enter(void **state)
{
	memset(&answers, 0, sizeof(answers));
	*state = make_folder();
	write_under(*state, "/proc/self/status", NO_CAPABILITIES);
	return 0;
}

static int leave(void **state)
{
	remove_folder(*state);
	return 0;
}

static const struct doctor_check *find_check(const char *name)
{
	size_t i;

	for (i = 0; i < doctor_check_count; i++)
		if (strcmp(doctor_checks[i].name, name) == 0)
			return &doctor_checks[i];
	fail_msg("there is no check '%s'", name);
	return NULL;
}

static struct doctor_answer probe(void **state, const char *name)
{
	struct doctor_host host = { *state, ".", &fake_calls };
	struct doctor_answer answer;

	find_check(name)->probe(&host, &answer);
	return answer;
}

static void assert_answer(void **state, const char *name, enum doctor_verdict verdict, const char *part)
{
	struct doctor_answer answer = probe(state, name);

	if (answer.verdict != verdict)
		fail_msg("%s: %d, '%s'", name, answer.verdict, answer.reason);
	assert_contains(answer.reason, part);
}

static void set(void **state, const char *path, const char *text)
{
	write_under(*state, path, text);
}

#define PARANOID "/proc/sys/kernel/perf_event_paranoid"
#define STATUS "/proc/self/status"

static void test_perf_levels(void **state)
{
	assert_answer(state, "perf: own processes", DOCTOR_NO, "no perf events");
	set(state, PARANOID, "2\n");
	assert_answer(state, "perf: own processes", DOCTOR_OK, "paranoid is 2");
	assert_answer(state, "perf: kernel side", DOCTOR_NO, "is 2, above 1");
	assert_answer(state, "perf: system-wide", DOCTOR_NO, "is 2, above 0");
	set(state, PARANOID, "1\n");
	assert_answer(state, "perf: kernel side", DOCTOR_OK, "is 1");
	assert_answer(state, "perf: system-wide", DOCTOR_NO, "is 1, above 0");
	set(state, PARANOID, "-1\n");
	assert_answer(state, "perf: system-wide", DOCTOR_OK, "is -1");
	set(state, PARANOID, "4\n");
	answers.software = -EACCES;
	assert_answer(state, "perf: own processes", DOCTOR_NO, "is 4 and there is no CAP_PERFMON");
	set(state, STATUS, ONLY_PERFMON);
	assert_answer(state, "perf: system-wide", DOCTOR_OK, "CAP_PERFMON");
}

static void test_seccomp(void **state)
{
	struct doctor_answer answer;

	set(state, PARANOID, "2\n");
	assert_answer(state, "seccomp", DOCTOR_OK, "no seccomp filter");
	set(state, STATUS, FILTERED);
	assert_answer(state, "seccomp", DOCTOR_OK, "lets perf_event_open through");
	answers.software = -EPERM;
	assert_answer(state, "seccomp", DOCTOR_NO, "Operation not permitted");
	answer = probe(state, "perf: own processes");
	assert_int_equal(answer.verdict, DOCTOR_NO);
	assert_string_equal(answer.see, "seccomp");
	assert_non_null(find_check(answer.see)->advice.docker);
}

static void test_hardware_events(void **state)
{
	assert_answer(state, "perf: hardware events", DOCTOR_OK, "cycle counter");
	answers.hardware = -ENOENT;
	assert_answer(state, "perf: hardware events", DOCTOR_NO, "no hardware counters");
	answers.hardware = -EACCES;
	assert_string_equal(probe(state, "perf: hardware events").see, "perf: own processes");
}

static void test_kernel_symbols(void **state)
{
	set(state, PARANOID, "1\n");
	set(state, "/proc/sys/kernel/kptr_restrict", "0\n");
	assert_answer(state, "kernel symbols", DOCTOR_OK, "0");
	set(state, PARANOID, "2\n");
	assert_answer(state, "kernel symbols", DOCTOR_NO, "perf_event_paranoid");
	set(state, "/proc/sys/kernel/kptr_restrict", "1\n");
	assert_answer(state, "kernel symbols", DOCTOR_NO, "no CAP_SYSLOG");
	set(state, STATUS, ONLY_SYSLOG);
	assert_answer(state, "kernel symbols", DOCTOR_OK, "CAP_SYSLOG");
	set(state, "/proc/sys/kernel/kptr_restrict", "2\n");
	assert_answer(state, "kernel symbols", DOCTOR_NO, "is 2");
}

static void test_ptrace(void **state)
{
	static const char scope[] = "/proc/sys/kernel/yama/ptrace_scope";

	assert_answer(state, "ptrace", DOCTOR_OK, "same user");
	set(state, scope, "1\n");
	assert_answer(state, "ptrace", DOCTOR_PARTLY, "only to children");
	set(state, scope, "2\n");
	assert_answer(state, "ptrace", DOCTOR_NO, "only with CAP_SYS_PTRACE");
	set(state, STATUS, ONLY_SYS_PTRACE);
	assert_answer(state, "ptrace", DOCTOR_OK, "CAP_SYS_PTRACE");
	set(state, scope, "3\n");
	assert_answer(state, "ptrace", DOCTOR_NO, "until the next boot");
}

static void test_tracefs(void **state)
{
	assert_answer(state, "tracefs", DOCTOR_NO, "no tracefs");
	set(state, "/sys/kernel/tracing/README", "");
	assert_answer(state, "tracefs", DOCTOR_NO, "not readable");
	set(state, "/sys/kernel/debug/tracing/events/sched/sched_switch/id", "316\n");
	assert_answer(state, "tracefs", DOCTOR_OK, "/sys/kernel/debug/tracing");
}

static void test_clock(void **state)
{
	static const char source[] = "/sys/devices/system/clocksource/clocksource0/current_clocksource";

	assert_answer(state, "clock", DOCTOR_PARTLY, "does not report");
	set(state, source, "hpet\n");
	assert_answer(state, "clock", DOCTOR_PARTLY, "'hpet'");
	set(state, source, "tsc\n");
	set(state, "/proc/cpuinfo", "processor\t: 0\nflags\t\t: fpu tsc\n");
	assert_answer(state, "clock", DOCTOR_PARTLY, "may stop");
	set(state, "/proc/cpuinfo", "processor\t: 0\nflags\t\t: fpu constant_tsc nonstop_tsc\n");
	assert_answer(state, "clock", DOCTOR_OK, "invariant TSC");
}

static void test_calls(void **state)
{
	assert_answer(state, "memfd", DOCTOR_OK, "works");
	assert_answer(state, "abstract sockets", DOCTOR_OK, "reached");
	assert_answer(state, "wipe on fork", DOCTOR_OK, "works");
	answers.memfd = -ENOSYS;
	answers.socket = -EACCES;
	answers.wipe = -EINVAL;
	assert_answer(state, "memfd", DOCTOR_NO, "not implemented");

	answers.landlock = 4;
	assert_answer(state, "confined readers", DOCTOR_OK, "seccomp and Landlock 4");
	answers.landlock = -EOPNOTSUPP;
	assert_answer(state, "confined readers", DOCTOR_PARTLY, "seccomp alone");
	answers.filter = -ENOSYS;
	assert_answer(state, "confined readers", DOCTOR_NO, "keep all rights");
	answers.landlock = 1;
	assert_answer(state, "confined readers", DOCTOR_PARTLY, "Landlock 1 alone");
	answers.landlock = answers.filter = 0;
	assert_answer(state, "abstract sockets", DOCTOR_NO, "denied");
	assert_answer(state, "wipe on fork", DOCTOR_NO, "Invalid argument");
	answers.memlock = 65536;
	assert_answer(state, "locked memory", DOCTOR_PARTLY, "64 kB");
	answers.memlock = UINT64_MAX;
	assert_answer(state, "locked memory", DOCTOR_OK, "no limit");
}

static void test_gpu(void **state)
{
	assert_answer(state, "NVIDIA driver", DOCTOR_NO, "not loaded");
	assert_answer(state, "GPUs", DOCTOR_NO, "no NVIDIA GPU");
	assert_string_equal(probe(state, "GPU counters").see, "NVIDIA driver");
	set(state, "/proc/driver/nvidia/version", "NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.65.06\nGCC version: 12\n");
	assert_answer(state, "NVIDIA driver", DOCTOR_OK, "NVIDIA UNIX x86_64 Kernel Module  580.65.06");
	assert_null(strstr(probe(state, "NVIDIA driver").reason, "GCC"));
	set(state, "/proc/driver/nvidia/gpus/0000:01:00.0/information", "Model: \t\t NVIDIA H200\n");
	set(state, "/proc/driver/nvidia/gpus/0000:02:00.0/information", "Model: \t\t NVIDIA H200\n");
	assert_answer(state, "GPUs", DOCTOR_NO, "none available here");
	set(state, "/dev/nvidia0", "");
	set(state, "/dev/nvidiactl", "");
	assert_answer(state, "GPUs", DOCTOR_PARTLY, "1 of 2 (NVIDIA H200)");
	set(state, "/dev/nvidia1", "");
	assert_answer(state, "GPUs", DOCTOR_OK, "2 x NVIDIA H200");
}

static void test_gpu_state(void **state)
{
	assert_string_equal(probe(state, "NVML").see, "NVIDIA driver");
	assert_string_equal(probe(state, "GPU metrics").see, "NVIDIA driver");
	set(state, "/proc/driver/nvidia/version", "NVRM version: x\n");
	assert_answer(state, "NVML", DOCTOR_NO, "libnvidia-ml.so.1 was not found");
	set(state, "/usr/lib/x86_64-linux-gnu/libnvidia-ml.so.1", "");
	assert_answer(state, "NVML", DOCTOR_OK, "libnvidia-ml.so.1");
	assert_answer(state, "GPU metrics", DOCTOR_NO, "no GPU");
	answers.gpus = "    0: One (x): can be sampled\n    1: Two (y): can be sampled\n";
	assert_answer(state, "GPU metrics", DOCTOR_OK, "2 can be sampled");
	answers.gpus = "    0: One (x): can be sampled\n    1: Two (y): cannot be sampled: it is old\nall\n";
	assert_answer(state, "GPU metrics", DOCTOR_PARTLY, "1 of 2 can be sampled: it is old");
	answers.gpus = "    1: Two (y): cannot be sampled: it is old\nall\n";
	assert_answer(state, "GPU metrics", DOCTOR_NO, "it is old");
	assert_null(strstr(probe(state, "GPU metrics").reason, "all"));
}

static void test_gpu_counters(void **state)
{
	static const char params[] = "/proc/driver/nvidia/params";

	set(state, params, "ResmanDebugLevel: 4294967295\nRmProfilingAdminOnly: 1\n");
	assert_answer(state, "GPU counters", DOCTOR_NO, "RmProfilingAdminOnly is 1");
	set(state, STATUS, ONLY_SYS_ADMIN);
	assert_answer(state, "GPU counters", DOCTOR_OK, "CAP_SYS_ADMIN");
	set(state, params, "RmProfilingAdminOnly: 0\n");
	assert_answer(state, "GPU counters", DOCTOR_OK, "every user");
}

static void test_cupti(void **state)
{
	unsetenv("CUDA_HOME");
	assert_answer(state, "CUPTI", DOCTOR_NO, "CUDA_HOME");
	set(state, "/usr/local/lib/python3.11/dist-packages/nvidia/cuda_cupti/lib/libcupti.so.12", "");
	assert_answer(state, "CUPTI", DOCTOR_OK, "cuda_cupti/lib/libcupti.so.12");
	set(state, "/opt/toolkit/extras/CUPTI/lib64/libcupti.so.13", "");
	setenv("CUDA_HOME", "/opt/toolkit", 1);
	assert_answer(state, "CUPTI", DOCTOR_OK, "/opt/toolkit/extras/CUPTI/lib64/libcupti.so.13");
	unsetenv("CUDA_HOME");
}

static void test_container(void **state)
{
	assert_answer(state, "container", DOCTOR_OK, "not inside one");
	set(state, "/proc/1/cgroup", "0::/docker/abcdef\n");
	assert_answer(state, "container", DOCTOR_OK, "docker");
	set(state, "/run/.containerenv", "");
	set(state, "/proc/1/cgroup", "0::/\n");
	assert_answer(state, "container", DOCTOR_OK, "podman");
	set(state, "/var/run/secrets/kubernetes.io/serviceaccount/token", "");
	assert_answer(state, "container", DOCTOR_OK, "Kubernetes");
}

static void test_cgroup_limits(void **state)
{
	assert_answer(state, "cgroup limits", DOCTOR_OK, "no limit on memory");
	set(state, "/proc/self/cgroup", "0::/user/x\n");
	set(state, "/sys/fs/cgroup/user/x/memory.max", "max\n");
	set(state, "/sys/fs/cgroup/user/x/cpu.max", "150000 100000\n");
	assert_answer(state, "cgroup limits", DOCTOR_OK, "no limit on memory, CPU limit 1.5");
	set(state, "/sys/fs/cgroup/user/x/memory.max", "268435456\n");
	assert_answer(state, "cgroup limits", DOCTOR_PARTLY, "256 MB");
	set(state, "/proc/self/cgroup", "4:memory:/\n0::/other\n");
	set(state, "/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
	assert_answer(state, "cgroup limits", DOCTOR_OK, "no limit on memory");
	set(state, "/sys/fs/cgroup/memory/memory.limit_in_bytes", "2147483648\n");
	assert_answer(state, "cgroup limits", DOCTOR_OK, "memory limit 2048 MB");
}

static void test_disk(void **state)
{
	struct doctor_host host = { *state, "no-such-folder", &fake_calls };
	struct doctor_answer answer;

	doctor_probe_disk(&host, &answer);
	assert_int_equal(answer.verdict, DOCTOR_NO);
	assert_contains(answer.reason, "no-such-folder");
}

/* Every answer that is not "ok" tells a remedy or points to a check that has one. */
static void test_every_check_has_a_remedy(void **state)
{
	const struct doctor_check *check;
	size_t i;

	for (i = 0; i < doctor_check_count; i++) {
		check = &doctor_checks[i];
		if (strcmp(check->name, "container") == 0)
			continue;
		assert_true(check->advice.host || check->advice.docker || check->advice.kubernetes);
		assert_true(*check->enables);
		assert_true(strlen(check->name) < 23); /* the table's column */
	}
}

static void test_printed(void **state)
{
	struct doctor_host host = { *state, ".", &fake_calls };
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	int missing;

	set(state, PARANOID, "3\n");
	answers.software = answers.memfd = -EACCES;
	doctor_print_table(out, &host, &missing);
	fclose(out);
	assert_true(missing >= 1); /* memfd is required */
	assert_contains(text, "\nperf: own processes     no       perf_event_paranoid is 3");
	assert_contains(text, "sudo sysctl kernel.perf_event_paranoid=2\n");
	assert_contains(text, "docker run --cap-add=PERFMON\n");
	assert_contains(text, "securityContext: {capabilities: {add: [PERFMON]}}\n");
	free(text);
	out = open_memstream(&text, &size);
	doctor_print_json(out, &host, &missing);
	fclose(out);
	assert_contains(text, "\"name\": \"perf: own processes\", \"state\": \"no\"");
	free(text);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, enter, leave)

int main(void)
{
	/* clang-format off */
	const struct CMUnitTest tests[] = {
		TEST(test_perf_levels), TEST(test_seccomp), TEST(test_hardware_events),
		TEST(test_kernel_symbols), TEST(test_ptrace), TEST(test_tracefs), TEST(test_clock),
		TEST(test_calls), TEST(test_gpu), TEST(test_gpu_state), TEST(test_gpu_counters), TEST(test_cupti),
		TEST(test_container), TEST(test_cgroup_limits), TEST(test_disk),
		TEST(test_every_check_has_a_remedy), TEST(test_printed),
	};
	/* clang-format on */

	return cmocka_run_group_tests(tests, NULL, NULL);
}
