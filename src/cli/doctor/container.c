/* Where Sonde runs: container, limits, disk. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "cli/doctor/doctor.h"

#define MEGABYTE (1024.0 * 1024.0)
#define RECORDER_NEEDS (512 * MEGABYTE)

static const char *container_kind(const struct doctor_host *host)
{
	char groups[4096] = "";

	doctor_read(host, "/proc/1/cgroup", groups, sizeof(groups));
	if (doctor_exists(host, "/var/run/secrets/kubernetes.io") || strstr(groups, "kubepods"))
		return "Kubernetes";
	if (doctor_exists(host, "/.dockerenv") || strstr(groups, "docker"))
		return "docker";
	if (doctor_exists(host, "/run/.containerenv") || strstr(groups, "libpod"))
		return "podman";
	if (doctor_exists(host, "/.singularity.d"))
		return "Apptainer or Singularity";
	return NULL;
}

void doctor_probe_container(const struct doctor_host *host, struct doctor_answer *ret)
{
	const char *kind = container_kind(host);

	doctor_say(ret, DOCTOR_OK, "%s%s", kind ? "inside one: " : "not inside one", kind ? kind : "");
}

/* The path of this process in a cgroup hierarchy: the line "N:controller:PATH",
 * with an empty controller for version 2. */
static bool own_group(const struct doctor_host *host, const char *controller, char *ret, size_t size)
{
	char text[4096], *line, *next, *found, wanted[64];

	if (!doctor_read(host, "/proc/self/cgroup", text, sizeof(text)))
		return false;
	snprintf(wanted, sizeof(wanted), ":%s:", controller);
	for (line = text; line; line = next) {
		next = strchr(line, '\n');
		if (next)
			*next++ = '\0';
		found = strstr(line, wanted);
		if (!found)
			continue;
		found += strlen(wanted);
		snprintf(ret, size, "%s", strcmp(found, "/") == 0 ? "" : found);
		return true;
	}
	return false;
}

/* Bytes, or -1 where there is no limit. */
static double memory_limit(const struct doctor_host *host)
{
	char group[512], path[700];
	long long bytes;

	if (own_group(host, "", group, sizeof(group))) {
		snprintf(path, sizeof(path), "/sys/fs/cgroup%s/memory.max", group);
		if (doctor_read_number(host, path, &bytes))
			return (double)bytes;
	}
	if (own_group(host, "memory", group, sizeof(group))) {
		snprintf(path, sizeof(path), "/sys/fs/cgroup/memory%s/memory.limit_in_bytes", group);
		/* Version 1 writes "no limit" as a number close to 2^63. */
		if (doctor_read_number(host, path, &bytes) && bytes < 1LL << 60)
			return (double)bytes;
	}
	return -1;
}

/* CPUs' worth of time per second, or -1 where there is no limit. */
static double cpu_limit(const struct doctor_host *host)
{
	char group[512], path[700], text[64];
	long long quota, period;

	if (own_group(host, "", group, sizeof(group))) {
		snprintf(path, sizeof(path), "/sys/fs/cgroup%s/cpu.max", group);
		if (doctor_read(host, path, text, sizeof(text)) && sscanf(text, "%lld %lld", &quota, &period) == 2 && period > 0)
			return (double)quota / (double)period;
	}
	if (doctor_read_number(host, "/sys/fs/cgroup/cpu/cpu.cfs_quota_us", &quota) && quota > 0 &&
	    doctor_read_number(host, "/sys/fs/cgroup/cpu/cpu.cfs_period_us", &period) && period > 0)
		return (double)quota / (double)period;
	return -1;
}

void doctor_probe_cgroup(const struct doctor_host *host, struct doctor_answer *ret)
{
	double memory = memory_limit(host), cpus = cpu_limit(host);
	char memory_text[64] = "no limit on memory", cpu_text[64] = "none on CPU time";

	if (memory >= 0)
		snprintf(memory_text, sizeof(memory_text), "memory limit %.0f MB", memory / MEGABYTE);
	if (cpus >= 0)
		snprintf(cpu_text, sizeof(cpu_text), "CPU limit %.2g", cpus);
	if (memory >= 0 && memory < RECORDER_NEEDS)
		doctor_say(ret, DOCTOR_PARTLY, "%s: the recorder needs up to 200 MB beside the program", memory_text);
	else
		doctor_say(ret, DOCTOR_OK, "%s, %s", memory_text, cpu_text);
}

void doctor_probe_disk(const struct doctor_host *host, struct doctor_answer *ret)
{
	struct statvfs disk;
	double free_bytes, least;

	if (statvfs(host->folder, &disk) < 0 || access(host->folder, W_OK | X_OK) < 0) {
		doctor_say(ret, DOCTOR_NO, "'%.200s' cannot be used: %s", host->folder, strerror(errno));
		return;
	}
	free_bytes = (double)disk.f_bavail * (double)disk.f_frsize;
	least = (double)disk.f_blocks * (double)disk.f_frsize / 100;
	if (least < 256 * MEGABYTE)
		least = 256 * MEGABYTE;
	if (free_bytes < least)
		doctor_say(ret, DOCTOR_NO, "%.0f MB free in '%.200s'; recording stops below %.0f MB", free_bytes / MEGABYTE, host->folder,
			   least / MEGABYTE);
	else
		doctor_say(ret, DOCTOR_OK, "%.1f GB free in '%.200s'", free_bytes / MEGABYTE / 1024, host->folder);
}
