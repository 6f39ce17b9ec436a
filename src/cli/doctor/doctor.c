/* The table of checks, how probes read the machine, and how answers are shown. */
#include "cli/doctor/doctor.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text/json_text.h"
#include "base/macros.h"
#include "cli/help/help.h"

#define ADD_CAPABILITY(name) .docker = "docker run --cap-add=" name, .kubernetes = "securityContext: {capabilities: {add: [" name "]}}"

/* clang-format off */
const struct doctor_check doctor_checks[] = {
	{ "agent library", "recording anything inside the program", true, doctor_probe_agent,
	  { .host = "keep libsonde.so beside the sonde binary, or run 'make install'" } },
	{ "NVTX injection", "ranges and marks of the program itself", false, doctor_probe_nvtx,
	  { .host = "unset NVTX_INJECTION64_PATH" } },
	{ "memfd", "the rings events are written to", true, doctor_probe_memfd,
	  { .host = "use Linux 3.17 or newer",
	    .docker = "docker run --security-opt seccomp=unconfined",
	    .kubernetes = "securityContext: {seccompProfile: {type: Unconfined}}" } },
	{ "abstract sockets", "agent and recorder finding each other", true, doctor_probe_socket,
	  { .docker = "docker run --security-opt seccomp=unconfined",
	    .kubernetes = "securityContext: {seccompProfile: {type: Unconfined}}" } },
	{ "wipe on fork", "forked children never writing into their parent's rings", false,
	  doctor_probe_wipe_on_fork, { .host = "use Linux 4.14 or newer" } },
	{ "clock", "time stamps at the cost of one instruction (TSC)", false, doctor_probe_clock,
	  { .host = "echo tsc | sudo tee /sys/devices/system/clocksource/clocksource0/"
		    "current_clocksource   (boot with clocksource=tsc tsc=reliable to keep it)" } },
	{ "disk space", "writing the report", true, doctor_probe_disk,
	  { .host = "free some space, or give a report on another disk with -o",
	    .docker = "docker run -v /large/disk:/reports, and -o /reports/NAME",
	    .kubernetes = "mount a volume and write there with -o" } },
	{ "confined readers", "reports from elsewhere read with few rights", false, doctor_probe_confine,
	  { .host = "use Linux 5.13 or newer with landlock among the modules of the lsm= option at boot" } },
	{ "container", "", false, doctor_probe_container, { NULL, NULL, NULL } },
	{ "cgroup limits", "room for the recorder beside the program", false, doctor_probe_cgroup,
	  { .docker = "docker run --memory=LIMIT with 512 MB more",
	    .kubernetes = "resources: {limits: {memory: ...}} with 512Mi more" } },
	{ "perf: own processes", "CPU sampling and thread switches of the program", false,
	  doctor_probe_perf_own,
	  { .host = "sudo sysctl kernel.perf_event_paranoid=2", ADD_CAPABILITY("PERFMON") } },
	{ "perf: kernel side", "kernel parts of sampled stacks, scheduler events", false,
	  doctor_probe_perf_kernel,
	  { .host = "sudo sysctl kernel.perf_event_paranoid=1", ADD_CAPABILITY("PERFMON") } },
	{ "perf: system-wide", "sampling and thread switches of all processes", false,
	  doctor_probe_perf_system,
	  { .host = "sudo sysctl kernel.perf_event_paranoid=0   (or -1, or CAP_PERFMON)",
	    ADD_CAPABILITY("PERFMON") } },
	{ "perf: hardware events", "sampling by cycles; cache and branch counts", false,
	  doctor_probe_perf_hardware,
	  { .host = "in a virtual machine: have the hypervisor pass the counters on (KVM: "
		    "-cpu host,pmu=on)" } },
	{ "seccomp", "perf_event_open inside a container", false, doctor_probe_seccomp,
	  { .docker = "docker run --cap-add=PERFMON   (or --security-opt seccomp=unconfined)",
	    .kubernetes = "securityContext: {capabilities: {add: [PERFMON]}, seccompProfile: "
			  "{type: Unconfined}}" } },
	{ "kernel symbols", "names of kernel functions in stacks", false,
	  doctor_probe_kernel_symbols,
	  { .host = "sudo sysctl kernel.kptr_restrict=0", ADD_CAPABILITY("SYSLOG") } },
	{ "ptrace", "attaching to programs that run already", false, doctor_probe_ptrace,
	  { .host = "sudo sysctl kernel.yama.ptrace_scope=0", ADD_CAPABILITY("SYS_PTRACE") } },
	{ "tracefs", "kernel trace events (ftrace)", false, doctor_probe_tracefs,
	  { .host = "sudo mount -t tracefs nodev /sys/kernel/tracing && sudo chmod -R a+rX "
		    "/sys/kernel/tracing",
	    .docker = "docker run -v /sys/kernel/tracing:/sys/kernel/tracing",
	    .kubernetes = "volumes: [{name: tracing, hostPath: {path: /sys/kernel/tracing}}]" } },
	{ "locked memory", "buffers for system-wide sampling", false, doctor_probe_memlock,
	  { .host = "ulimit -l unlimited   (or memlock in /etc/security/limits.conf)",
	    .docker = "docker run --ulimit memlock=-1",
	    .kubernetes = "LimitMEMLOCK=infinity in the container runtime's service" } },
	{ "NVIDIA driver", "everything about GPUs", false, doctor_probe_driver,
	  { .host = "install the NVIDIA driver: sudo apt install nvidia-driver",
	    .docker = "docker run --gpus all",
	    .kubernetes = "resources: {limits: {nvidia.com/gpu: 1}}" } },
	{ "GPUs", "GPU work on the timeline", false, doctor_probe_gpus,
	  { .docker = "docker run --gpus all",
	    .kubernetes = "resources: {limits: {nvidia.com/gpu: 1}}" } },
	{ "NVML", "use, power, temperature and clocks of GPUs over time", false, doctor_probe_nvml,
	  { .host = "install the driver's libraries: sudo apt install libnvidia-compute-VERSION",
	    .docker = "docker run --gpus all -e NVIDIA_DRIVER_CAPABILITIES=compute,utility",
	    .kubernetes = "env: [{name: NVIDIA_DRIVER_CAPABILITIES, value: 'compute,utility'}]" } },
	{ "CUPTI", "CUDA calls, kernels, copies, counters", false, doctor_probe_cupti,
	  { .host = "install the CUDA toolkit, or: pip install nvidia-cuda-cupti-cu12" } },
	{ "GPU counters", "hardware metrics of GPUs and kernels without root", false,
	  doctor_probe_gpu_counters,
	  { .host = "echo 'options nvidia NVreg_RestrictProfilingToAdminUsers=0' | sudo tee "
		    "/etc/modprobe.d/nvidia-profiling.conf && sudo update-initramfs -u, then reboot",
	    ADD_CAPABILITY("SYS_ADMIN") } },
	{ "GPU metrics", "hardware metrics of GPUs over time (--gpu-metrics-devices)", false, doctor_probe_gpu_metrics,
	  { .host = "what --gpu-metrics-devices=help says for each GPU" } },
};
/* clang-format on */

const size_t doctor_check_count = COUNT_OF(doctor_checks);

void doctor_say(struct doctor_answer *ret, enum doctor_verdict verdict, const char *format, ...)
{
	va_list args;

	ret->verdict = verdict;
	ret->see = NULL;
	va_start(args, format);
	vsnprintf(ret->reason, sizeof(ret->reason), format, args);
	va_end(args);
}

void doctor_see(struct doctor_answer *ret, const char *other_check, const char *reason)
{
	doctor_say(ret, DOCTOR_NO, "%s", reason);
	ret->see = other_check;
}

static FILE *open_under_root(const struct doctor_host *host, const char *path)
{
	char full[1024];

	snprintf(full, sizeof(full), "%s%s", host->root, path);
	return fopen(full, "re");
}

bool doctor_read(const struct doctor_host *host, const char *path, char *ret, size_t size)
{
	FILE *file = open_under_root(host, path);
	size_t len;

	if (!file)
		return false;
	len = fread(ret, 1, size - 1, file);
	fclose(file);
	while (len && (ret[len - 1] == '\n' || ret[len - 1] == ' '))
		len--;
	ret[len] = '\0';
	return len > 0;
}

bool doctor_read_number(const struct doctor_host *host, const char *path, long long *ret)
{
	char text[64], *end;
	long long number;

	if (!doctor_read(host, path, text, sizeof(text)))
		return false;
	number = strtoll(text, &end, 10);
	if (end == text)
		return false;
	*ret = number;
	return true;
}

bool doctor_exists(const struct doctor_host *host, const char *path)
{
	char full[1024];

	snprintf(full, sizeof(full), "%s%s", host->root, path);
	return access(full, F_OK) == 0;
}

bool doctor_read_key(const struct doctor_host *host, const char *path, const char *key, char *ret, size_t size)
{
	FILE *file = open_under_root(host, path);
	size_t key_len = strlen(key);
	char line[8192];
	bool found = false;
	const char *value;

	if (!file)
		return false;
	while (!found && fgets(line, sizeof(line), file)) {
		if (strncmp(line, key, key_len) != 0 || !strchr(" \t:", line[key_len]))
			continue;
		value = line + key_len + strspn(line + key_len, " \t:");
		snprintf(ret, size, "%.*s", (int)strcspn(value, "\n"), value);
		found = true;
	}
	fclose(file);
	return found;
}

bool doctor_has_capability(const struct doctor_host *host, enum doctor_capability capability)
{
	char text[64];

	if (!doctor_read_key(host, "/proc/self/status", "CapEff", text, sizeof(text)))
		return false;
	return strtoull(text, NULL, 16) >> capability & 1;
}

static const char *const verdict_words[] = {
	[DOCTOR_OK] = "ok",
	[DOCTOR_PARTLY] = "partly",
	[DOCTOR_NO] = "no",
};

static void print_line(FILE *out, const char *label, const char *text)
{
	if (text && *text)
		fprintf(out, "%33s%s%s\n", "", label, text);
}

static void print_check(FILE *out, const struct doctor_check *check, const struct doctor_answer *answer)
{
	fprintf(out, "%-23s %-8s %s\n", check->name, verdict_words[answer->verdict], answer->reason);
	if (answer->verdict == DOCTOR_OK)
		return;
	print_line(out, "needed for: ", check->enables);
	if (answer->see) {
		print_line(out, "to allow:   see ", answer->see);
		return;
	}
	print_line(out, "to allow:   ", check->advice.host);
	print_line(out, "docker:     ", check->advice.docker);
	print_line(out, "Kubernetes: ", check->advice.kubernetes);
}

void doctor_print_table(FILE *out, const struct doctor_host *host, int *ret_missing)
{
	struct doctor_answer answer;
	int count[3] = { 0, 0, 0 }, missing = 0;
	size_t i;

	fprintf(out, "%-23s %-8s %s\n", "check", "state", "why");
	for (i = 0; i < doctor_check_count; i++) {
		doctor_checks[i].probe(host, &answer);
		print_check(out, &doctor_checks[i], &answer);
		count[answer.verdict]++;
		missing += answer.verdict == DOCTOR_NO && doctor_checks[i].required;
	}
	fprintf(out, "\n%d ok, %d partly, %d no. %s\n", count[DOCTOR_OK], count[DOCTOR_PARTLY], count[DOCTOR_NO],
		missing ? "Nothing can be recorded until what recording needs is allowed." : "Programs can be recorded on this machine.");
	*ret_missing = missing;
}

static void print_json_text(FILE *out, const char *key, const char *text, const char *end)
{
	fprintf(out, "\"%s\": ", key);
	if (!text) {
		fprintf(out, "null%s", end);
		return;
	}
	json_put_string(out, text);
	fputs(end, out);
}

static void print_json_check(FILE *out, const struct doctor_check *check, const struct doctor_answer *answer)
{
	bool fine = answer->verdict == DOCTOR_OK || answer->see;

	fputs("  {", out);
	print_json_text(out, "name", check->name, ", ");
	print_json_text(out, "state", verdict_words[answer->verdict], ", ");
	fprintf(out, "\"required\": %s, ", check->required ? "true" : "false");
	print_json_text(out, "enables", check->enables, ",\n   ");
	print_json_text(out, "why", answer->reason, ",\n   ");
	print_json_text(out, "see", answer->see, ", \"allow\": {");
	print_json_text(out, "host", fine ? NULL : check->advice.host, ", ");
	print_json_text(out, "docker", fine ? NULL : check->advice.docker, ", ");
	print_json_text(out, "kubernetes", fine ? NULL : check->advice.kubernetes, "}}");
}

void doctor_print_json(FILE *out, const struct doctor_host *host, int *ret_missing)
{
	struct doctor_answer answer;
	int missing = 0;
	size_t i;

	fputs("[\n", out);
	for (i = 0; i < doctor_check_count; i++) {
		doctor_checks[i].probe(host, &answer);
		print_json_check(out, &doctor_checks[i], &answer);
		fputs(i + 1 < doctor_check_count ? ",\n" : "\n", out);
		missing += answer.verdict == DOCTOR_NO && doctor_checks[i].required;
	}
	fputs("]\n", out);
	*ret_missing = missing;
}
