#include "cli/kernel/run/trouble.h"

#include <ctype.h>
#include <dirent.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/macros.h"
#include "fmt/kernel_wire.h"

#define ADMIN_LINE "options nvidia NVreg_RestrictProfilingToAdminUsers=0"
#define MOST_HOLDERS 16u

/* Programs that read counters of a whole GPU, by what /proc calls them (15 letters), and what lets others have them. */
static const struct {
	const char *name;
	const char *remedy;
} holders[] = {
	{ "nv-hostengine", "'dcgmi profile --pause' releases them, 'dcgmi profile --resume' takes them again" },
	{ "dcgm-exporter", "'dcgmi profile --pause' releases them; or remove DCGM_FI_PROF_* from its fields" },
	{ "dcgmproftester", "wait until it has ended" },
	{ "ncu", "wait until it has ended" },
	{ "nv-nsight-cu-cli", "wait until it has ended" },
	{ "nsys", "wait until it has ended, or record there without --gpu-metrics-devices" },
	{ "nsys-launcher", "wait until it has ended, or record there without --gpu-metrics-devices" },
	{ "sonde-gpu", "wait until that recording has ended, or make it without --gpu-metrics-devices" },
	{ "nvprof", "wait until it has ended" },
};

static bool in_container(const struct doctor_host *host)
{
	return doctor_exists(host, "/.dockerenv") || doctor_exists(host, "/run/.containerenv") ||
	       doctor_exists(host, "/var/run/secrets/kubernetes.io");
}

static void advise_administrator(FILE *out, bool container)
{
	if (container)
		fprintf(out,
			"==ERROR== In a container: docker run --cap-add=SYS_ADMIN ..., or in Kubernetes securityContext: {capabilities: {add: [SYS_ADMIN]}}.\n");
	else
		fprintf(out, "==ERROR== Now, for one run: start it as root (sudo).\n");
	fprintf(out,
		"==ERROR== For all users: an administrator%s writes the line\n"
		"==ERROR==     " ADMIN_LINE "\n"
		"==ERROR== into /etc/modprobe.d/nvidia-profiling.conf, runs 'update-initramfs -u' (Debian, Ubuntu) or 'dracut -f' (RHEL), and reboots.\n",
		container ? " of the host" : "");
}

/* Which of the two doors is shut: the driver's setting, or the privileges of the process. */
static void explain_forbidden(FILE *out, const struct doctor_host *host)
{
	bool privileged = doctor_has_capability(host, DOCTOR_CAP_SYS_ADMIN), container = in_container(host);
	char value[16] = "";

	if (!doctor_read_key(host, "/proc/driver/nvidia/params", "RmProfilingAdminOnly", value, sizeof(value)))
		fprintf(out,
			"==ERROR== /proc/driver/nvidia/params, which says what the driver allows, cannot be read; this process has "
			"%sCAP_SYS_ADMIN.\n",
			privileged ? "" : "no ");
	else if (value[0] == '0')
		fprintf(out,
			"==ERROR== The driver lets all users read counters (RmProfilingAdminOnly: 0): it is the host of a virtual GPU, or a setting of the "
			"container's runtime, that does not.\n");
	else if (privileged)
		fprintf(out,
			"==ERROR== The driver keeps counters for administrators (RmProfilingAdminOnly: %s). This process has "
			"CAP_SYS_ADMIN only within the container's user namespace, which the driver does not accept.\n",
			value);
	else
		fprintf(out,
			"==ERROR== The driver keeps counters for administrators (RmProfilingAdminOnly: %s), and this process has no CAP_SYS_ADMIN.\n",
			value);
	if (value[0] != '0')
		advise_administrator(out, container);
}

static size_t holder_of(const char *name)
{
	size_t i;

	/* The kernel keeps 15 letters. */
	for (i = 0; i < COUNT_OF(holders); i++)
		if (strncmp(name, holders[i].name, 15) == 0)
			break;
	return i;
}

/* 1: it has a GPU open; 0: it has not; -1: that is not for us to see. */
static int has_gpu_open(const char *process)
{
	char path[PATH_MAX], target[64];
	struct dirent *entry;
	ssize_t len;
	int found = 0;
	DIR *d;

	if ((size_t)snprintf(path, sizeof(path), "%s/fd", process) >= sizeof(path))
		return -1;
	d = opendir(path);
	if (!d)
		return -1;
	while (!found && (entry = readdir(d))) {
		len = readlinkat(dirfd(d), entry->d_name, target, sizeof(target) - 1);
		target[len > 0 ? len : 0] = '\0';
		found = strncmp(target, "/dev/nvidia", 11) == 0;
	}
	closedir(d);
	return found;
}

static bool report_holder(FILE *out, const struct doctor_host *host, const char *pid)
{
	char path[PATH_MAX], name[64];
	size_t which;
	int open;

	snprintf(path, sizeof(path), "/proc/%s/comm", pid);
	if (!doctor_read(host, path, name, sizeof(name)))
		return false;
	which = holder_of(name);
	if (which == COUNT_OF(holders))
		return false;
	snprintf(path, sizeof(path), "%s/proc/%s", host->root, pid);
	open = has_gpu_open(path);
	if (open == 0)
		return false;
	fprintf(out, "==ERROR== %s (process %s) %s: %s.\n", holders[which].name, pid,
		open > 0 ? "has a GPU open" : "is running, and may hold them", holders[which].remedy);
	return true;
}

unsigned kernel_name_holders(FILE *out, const char *root)
{
	struct doctor_host host = { .root = root, .folder = "/", .calls = &doctor_real_calls };
	struct dirent *entry;
	char path[PATH_MAX];
	unsigned found = 0;
	DIR *d;

	snprintf(path, sizeof(path), "%s/proc", root);
	d = opendir(path);
	while (d && found < MOST_HOLDERS && (entry = readdir(d)))
		if (isdigit((unsigned char)entry->d_name[0]) && report_holder(out, &host, entry->d_name))
			found++;
	if (d)
		closedir(d);
	return found;
}

void kernel_explain_failure(FILE *out, const char *root, const char *sentence)
{
	struct doctor_host host = { .root = root, .folder = "/", .calls = &doctor_real_calls };
	bool held = strncmp(sentence, KERNEL_HELD, strlen(KERNEL_HELD)) == 0;

	fprintf(out, "==ERROR== %s.\n", sentence);
	if (strncmp(sentence, KERNEL_FORBIDDEN, strlen(KERNEL_FORBIDDEN)) == 0) {
		explain_forbidden(out, &host);
	} else if (kernel_name_holders(out, root) == 0 && held) {
		fprintf(out, "==ERROR== No process that is known to hold counters can be seen from here. It may run outside of this "
			     "container (DCGM: 'dcgmi profile --pause' on the host).\n");
	}
}

bool kernel_is_collective(const char *name)
{
	/* clang-format off */
	static const char *const parts[] = { "nccl", "rccl", "nvshmem", "allreduce", "all_reduce", "allgather", "all_gather", "reduce_scatter",
					     "reducescatter", "alltoall", "all_to_all", "cross_device_reduce", "multimem" };
	/* clang-format on */

	for (size_t i = 0; i < COUNT_OF(parts); i++)
		if (strcasestr(name, parts[i]))
			return true;
	return false;
}

void kernel_warn_of_collective(FILE *out, const char *name)
{
	fprintf(out,
		"==WARNING== \"%s\" looks like a collective: it waits for kernels of other GPUs. It may never end when it is replayed "
		"without them. --fast reads it in one pass without replay; -k excludes it.\n",
		name);
}

void kernel_explain_stuck(FILE *out, const char *name, uint32_t number, uint32_t seconds)
{
	fprintf(out,
		"==WARNING== \"%s\" - %u: the GPU has not finished for %u s. A kernel that waits for another one (of another GPU, "
		"stream or process) or for the host never ends when it runs alone. Use --fast (one pass, no replay) "
		"or --replay-mode application, or exclude it with -k.\n",
		name, number, seconds);
}

void kernel_explain_copies(FILE *out, const char *amount)
{
	fprintf(out,
		"==WARNING== %s of the GPU's memory is in use. Sonde saves the program's memory and restores it for each pass, which "
		"takes long if no copy fits on the GPU. --fast (one pass) and --replay-mode application (a run for "
		"each pass) save nothing.\n",
		amount);
}
