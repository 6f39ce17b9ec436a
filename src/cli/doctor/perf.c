/* What the kernel lets a profiler see: perf events, symbols, ptrace, ftrace. */
#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

#include "cli/doctor/doctor.h"

/* What perf_event_paranoid is where the file is missing: perf events are not built in. */
#define NO_PERF_EVENTS 100

static long long paranoid_level(const struct doctor_host *host)
{
	long long level = NO_PERF_EVENTS;

	doctor_read_number(host, "/proc/sys/kernel/perf_event_paranoid", &level);
	return level;
}

static bool is_perfmon(const struct doctor_host *host)
{
	return doctor_has_capability(host, DOCTOR_CAP_PERFMON) || doctor_has_capability(host, DOCTOR_CAP_SYS_ADMIN);
}

static bool has_filter(const struct doctor_host *host)
{
	char mode[16] = "0";

	return doctor_read_key(host, "/proc/self/status", "Seccomp", mode, sizeof(mode)) && mode[0] != '0';
}

void doctor_probe_perf_own(const struct doctor_host *host, struct doctor_answer *ret)
{
	int r = host->calls->perf_event(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK);
	long long level = paranoid_level(host);

	if (level == NO_PERF_EVENTS)
		doctor_say(ret, DOCTOR_NO, "this kernel has no perf events");
	else if (r >= 0)
		doctor_say(ret, DOCTOR_OK, "perf_event_open works (perf_event_paranoid is %lld)", level);
	else if (level > 2 && !is_perfmon(host))
		doctor_say(ret, DOCTOR_NO, "perf_event_paranoid is %lld and there is no CAP_PERFMON", level);
	else if (has_filter(host))
		doctor_see(ret, "seccomp", "perf_event_open is refused, though perf_event_paranoid allows it");
	else
		doctor_say(ret, DOCTOR_NO, "perf_event_open is refused: %s", strerror(-r));
}

/* A kind of access that needs a paranoid level or the capability. */
static void say_level(const struct doctor_host *host, long long allowed, struct doctor_answer *ret)
{
	long long level = paranoid_level(host);

	if (level == NO_PERF_EVENTS)
		doctor_say(ret, DOCTOR_NO, "this kernel has no perf events");
	else if (is_perfmon(host))
		doctor_say(ret, DOCTOR_OK, "this process has CAP_PERFMON or CAP_SYS_ADMIN");
	else if (level <= allowed)
		doctor_say(ret, DOCTOR_OK, "perf_event_paranoid is %lld", level);
	else
		doctor_say(ret, DOCTOR_NO,
			   "perf_event_paranoid is %lld, above %lld, and there is no "
			   "CAP_PERFMON",
			   level, allowed);
}

void doctor_probe_perf_kernel(const struct doctor_host *host, struct doctor_answer *ret)
{
	say_level(host, 1, ret);
}

void doctor_probe_perf_system(const struct doctor_host *host, struct doctor_answer *ret)
{
	say_level(host, 0, ret);
}

void doctor_probe_perf_hardware(const struct doctor_host *host, struct doctor_answer *ret)
{
	int r = host->calls->perf_event(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES);

	if (r >= 0)
		doctor_say(ret, DOCTOR_OK, "the CPU's cycle counter can be opened");
	else if (r == -ENOENT || r == -ENODEV || r == -EOPNOTSUPP)
		doctor_say(ret, DOCTOR_NO,
			   "this machine has no hardware counters (most virtual machines "
			   "do not); sampling goes by the CPU clock");
	else
		doctor_see(ret, "perf: own processes", "perf_event_open is refused");
}

void doctor_probe_seccomp(const struct doctor_host *host, struct doctor_answer *ret)
{
	int r = host->calls->perf_event(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK);

	if (!has_filter(host))
		doctor_say(ret, DOCTOR_OK, "no seccomp filter");
	else if (r >= 0)
		doctor_say(ret, DOCTOR_OK, "there is a filter, but it lets perf_event_open through");
	else if (r == -EPERM || r == -ENOSYS)
		doctor_say(ret, DOCTOR_NO, "a seccomp filter is active and perf_event_open gives '%s'", strerror(-r));
	else
		doctor_say(ret, DOCTOR_PARTLY,
			   "a seccomp filter is active; perf_event_open fails for "
			   "another reason: %s",
			   strerror(-r));
}

void doctor_probe_kernel_symbols(const struct doctor_host *host, struct doctor_answer *ret)
{
	long long restricted = 0;

	doctor_read_number(host, "/proc/sys/kernel/kptr_restrict", &restricted);
	if (restricted == 0 && (paranoid_level(host) <= 1 || doctor_has_capability(host, DOCTOR_CAP_SYSLOG)))
		doctor_say(ret, DOCTOR_OK, "kptr_restrict is 0");
	else if (restricted == 0)
		doctor_see(ret, "perf: kernel side",
			   "kptr_restrict is 0, but without CAP_SYSLOG addresses "
			   "are shown only where perf_event_paranoid is at most 1");
	else if (restricted == 1 && doctor_has_capability(host, DOCTOR_CAP_SYSLOG))
		doctor_say(ret, DOCTOR_OK, "kptr_restrict is 1 and this process has CAP_SYSLOG");
	else
		doctor_say(ret, DOCTOR_NO, "kptr_restrict is %lld%s", restricted, restricted == 1 ? " and there is no CAP_SYSLOG" : "");
}

void doctor_probe_ptrace(const struct doctor_host *host, struct doctor_answer *ret)
{
	long long scope = 0;

	doctor_read_number(host, "/proc/sys/kernel/yama/ptrace_scope", &scope);
	if (scope == 3)
		doctor_say(ret, DOCTOR_NO, "yama's ptrace_scope is 3: no one may attach until the next boot");
	else if (doctor_has_capability(host, DOCTOR_CAP_SYS_PTRACE))
		doctor_say(ret, DOCTOR_OK, "this process has CAP_SYS_PTRACE");
	else if (scope == 0)
		doctor_say(ret, DOCTOR_OK, "programs of the same user can be attached to");
	else if (scope == 1)
		doctor_say(ret, DOCTOR_PARTLY, "yama's ptrace_scope is 1: only to children");
	else
		doctor_say(ret, DOCTOR_NO, "yama's ptrace_scope is %lld: only with CAP_SYS_PTRACE", scope);
}

void doctor_probe_tracefs(const struct doctor_host *host, struct doctor_answer *ret)
{
	static const char *const places[] = { "/sys/kernel/tracing", "/sys/kernel/debug/tracing" };
	char path[128], text[64];
	size_t i;

	for (i = 0; i < 2; i++) {
		snprintf(path, sizeof(path), "%s/events/sched/sched_switch/id", places[i]);
		if (doctor_read(host, path, text, sizeof(text))) {
			doctor_say(ret, DOCTOR_OK, "%s can be read", places[i]);
			return;
		}
	}
	doctor_say(ret, DOCTOR_NO, "%s",
		   doctor_exists(host, "/sys/kernel/tracing") ? "/sys/kernel/tracing is not mounted or not readable" :
								"this kernel has no tracefs");
}

void doctor_probe_memlock(const struct doctor_host *host, struct doctor_answer *ret)
{
	uint64_t limit = host->calls->memlock_limit();

	/* One 512 KiB perf buffer on each of 16 CPUs is the least that keeps up. */
	if (limit == UINT64_MAX)
		doctor_say(ret, DOCTOR_OK, "no limit");
	else if (limit >= (8u << 20))
		doctor_say(ret, DOCTOR_OK, "%llu kB", (unsigned long long)limit / 1024);
	else
		doctor_say(ret, DOCTOR_PARTLY, "%llu kB: enough for the program itself, little for all CPUs",
			   (unsigned long long)limit / 1024);
}
