/* What recording itself needs: agent, rings, sockets, clock. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "cli/doctor/doctor.h"
#include "cli/arguments/find_program.h"

void doctor_probe_agent(const struct doctor_host *host, struct doctor_answer *ret)
{
	char path[PATH_MAX], cuda[PATH_MAX];

	if (find_agent("libsonde.so", path, sizeof(path)) < 0)
		doctor_say(ret, DOCTOR_NO, "libsonde.so is not where sonde expects it");
	else if (find_agent("libsonde-cuda.so", cuda, sizeof(cuda)) < 0)
		doctor_say(ret, DOCTOR_PARTLY, "libsonde-cuda.so is not where sonde expects it: CUDA is not recorded");
	else
		doctor_say(ret, DOCTOR_OK, "%.300s", path);
}

void doctor_probe_nvtx(const struct doctor_host *host, struct doctor_answer *ret)
{
	const char *other = getenv("NVTX_INJECTION64_PATH");

	if (other && *other && !strstr(other, "libsonde"))
		doctor_say(ret, DOCTOR_PARTLY,
			   "NVTX_INJECTION64_PATH names another tool (%.200s), which "
			   "sonde profile will replace",
			   other);
	else
		doctor_say(ret, DOCTOR_OK, "programs with NVTX load the agent, no toolkit needed");
}

static void say_call(struct doctor_answer *ret, int result, const char *fine, const char *what)
{
	if (result >= 0)
		doctor_say(ret, DOCTOR_OK, "%s", fine);
	else
		doctor_say(ret, DOCTOR_NO, "%s: %s", what, strerror(-result));
}

void doctor_probe_memfd(const struct doctor_host *host, struct doctor_answer *ret)
{
	say_call(ret, host->calls->memfd(), "memfd_create works", "memfd_create is refused");
}

void doctor_probe_socket(const struct doctor_host *host, struct doctor_answer *ret)
{
	say_call(ret, host->calls->abstract_socket(), "an abstract socket was bound and reached", "an abstract Unix socket cannot be used");
}

void doctor_probe_wipe_on_fork(const struct doctor_host *host, struct doctor_answer *ret)
{
	say_call(ret, host->calls->wipe_on_fork(), "MADV_WIPEONFORK works", "MADV_WIPEONFORK is refused");
}

void doctor_probe_clock(const struct doctor_host *host, struct doctor_answer *ret)
{
	char source[64], flags[8192];

	if (!doctor_read(host, "/sys/devices/system/clocksource/clocksource0/current_clocksource", source, sizeof(source)))
		doctor_say(ret, DOCTOR_PARTLY,
			   "the kernel does not report its clock source; clock_gettime is used, at a few more ns per event");
	else if (strcmp(source, "tsc") != 0)
		doctor_say(ret, DOCTOR_PARTLY,
			   "the kernel uses '%s', so it does not trust the TSC; "
			   "clock_gettime is used, at more ns per event",
			   source);
	else if (!doctor_read_key(host, "/proc/cpuinfo", "flags", flags, sizeof(flags)) || !strstr(flags, "nonstop_tsc"))
		doctor_say(ret, DOCTOR_PARTLY,
			   "the TSC may stop or change its rate on this CPU; "
			   "clock_gettime is used, at more ns per event");
	else
		doctor_say(ret, DOCTOR_OK, "invariant TSC, used by the kernel itself");
}

void doctor_probe_confine(const struct doctor_host *host, struct doctor_answer *ret)
{
	int version = host->calls->landlock(), calls = host->calls->call_filter();

	if (version < 1 && calls < 0)
		doctor_say(ret, DOCTOR_NO, "neither Landlock nor seccomp: view, stats, sql, export and import keep all rights");
	else if (version < 1)
		doctor_say(ret, DOCTOR_PARTLY, "seccomp alone, without Landlock (%s): files are not kept from what reads reports",
			   strerror(-version));
	else if (calls < 0)
		doctor_say(ret, DOCTOR_PARTLY, "Landlock %d alone, without seccomp: sockets are not kept from what reads reports", version);
	else
		doctor_say(ret, DOCTOR_OK, "seccomp and Landlock %d", version);
}
