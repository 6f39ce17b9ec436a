/* NVIDIA driver, GPUs, CUPTI and the permission to read counters. */
#include <glob.h>
#include <stdlib.h>
#include <string.h>

#include "base/macros.h"
#include "cli/doctor/doctor.h"
#include "vendor/cupti/cupti.h"

void doctor_probe_driver(const struct doctor_host *host, struct doctor_answer *ret)
{
	char text[512], *line_end;

	if (!doctor_read(host, "/proc/driver/nvidia/version", text, sizeof(text))) {
		doctor_say(ret, DOCTOR_NO, "the NVIDIA driver is not loaded");
		return;
	}
	line_end = strchr(text, '\n');
	if (line_end)
		*line_end = '\0';
	doctor_say(ret, DOCTOR_OK, "%.200s", strncmp(text, "NVRM version: ", 14) == 0 ? text + 14 : text);
}

static int glob_under_root(const struct doctor_host *host, const char *pattern, glob_t *found)
{
	char full[1024];

	snprintf(full, sizeof(full), "%s%s", host->root, pattern);
	return glob(full, 0, NULL, found);
}

/* Devices may be in /proc but not handed into the container. */
void doctor_probe_gpus(const struct doctor_host *host, struct doctor_answer *ret)
{
	char model[128] = "", information[600];
	size_t known = 0, usable = 0;
	glob_t found;

	if (glob_under_root(host, "/proc/driver/nvidia/gpus/*", &found) == 0) {
		known = found.gl_pathc;
		snprintf(information, sizeof(information), "%.500s/information", found.gl_pathv[0] + strlen(host->root));
		doctor_read_key(host, information, "Model", model, sizeof(model));
		globfree(&found);
	}
	if (glob_under_root(host, "/dev/nvidia[0-9]*", &found) == 0) {
		usable = found.gl_pathc;
		globfree(&found);
	}
	if (!known && !usable)
		doctor_see(ret, "NVIDIA driver", "no NVIDIA GPU was found");
	else if (!usable)
		doctor_say(ret, DOCTOR_NO, "%zu (%s) in the machine, none available here", known, model);
	else if (usable < known)
		doctor_say(ret, DOCTOR_PARTLY, "%zu of %zu (%s)", usable, known, model);
	else
		doctor_say(ret, DOCTOR_OK, "%zu%s%s", usable, *model ? " x " : "", model);
}

void doctor_probe_cupti(const struct doctor_host *host, struct doctor_answer *ret)
{
	struct cupti_places places;

	cupti_find(&places, host->root);
	if (places.count && places.paths[0][0] == '/')
		doctor_say(ret, DOCTOR_OK, "%.300s", places.paths[0]);
	else
		doctor_say(ret, DOCTOR_NO,
			   "libcupti.so was not found in CUDA_HOME, /usr/local/cuda, the system folders or Python's nvidia packages");
}

void doctor_probe_nvml(const struct doctor_host *host, struct doctor_answer *ret)
{
	/* clang-format off */
	static const char *const folders[] = {
		"/usr/lib/*-linux-gnu", "/usr/lib64", "/usr/lib", "/usr/lib/*-linux-gnu/nvidia/current", "/usr/local/nvidia/lib64",
		"/usr/lib/wsl/lib", "/run/opengl-driver/lib",
	};
	/* clang-format on */
	char pattern[256];
	glob_t found;

	for (size_t i = 0; i < COUNT_OF(folders); i++) {
		snprintf(pattern, sizeof(pattern), "%s/libnvidia-ml.so.1", folders[i]);
		if (glob_under_root(host, pattern, &found) != 0)
			continue;
		doctor_say(ret, DOCTOR_OK, "%s", found.gl_pathv[0]);
		globfree(&found);
		return;
	}
	if (!doctor_exists(host, "/proc/driver/nvidia/version"))
		doctor_see(ret, "NVIDIA driver", "the NVIDIA driver is not loaded");
	else
		doctor_say(ret, DOCTOR_NO, "libnvidia-ml.so.1 was not found");
}

static size_t count_lines_with(const char *text, const char *words)
{
	size_t count = 0;

	for (; (text = strstr(text, words)); text += strlen(words))
		count++;
	return count;
}

/* Asks the GPUs themselves, where there are any. */
void doctor_probe_gpu_metrics(const struct doctor_host *host, struct doctor_answer *ret)
{
	static const char cannot[] = ": cannot be sampled: ";
	size_t good, bad;
	char *text, *why;

	if (!doctor_exists(host, "/proc/driver/nvidia/version")) {
		doctor_see(ret, "NVIDIA driver", "the NVIDIA driver is not loaded");
		return;
	}
	text = host->calls->gpu_devices();
	good = text ? count_lines_with(text, ": can be sampled") : 0;
	bad = text ? count_lines_with(text, cannot) : 0;
	why = bad ? strstr(text, cannot) + strlen(cannot) : NULL;
	if (why)
		why[strcspn(why, "\n")] = '\0';
	if (good && !bad)
		doctor_say(ret, DOCTOR_OK, "%zu can be sampled", good);
	else if (good)
		doctor_say(ret, DOCTOR_PARTLY, "%zu of %zu can be sampled: %.250s", good, good + bad, why);
	else
		doctor_say(ret, DOCTOR_NO, "%.300s", why ? why : "NVML reports no GPU");
	free(text);
}

void doctor_probe_gpu_counters(const struct doctor_host *host, struct doctor_answer *ret)
{
	char value[16];

	if (!doctor_read_key(host, "/proc/driver/nvidia/params", "RmProfilingAdminOnly", value, sizeof(value)))
		doctor_see(ret, "NVIDIA driver", "the NVIDIA driver is not loaded");
	else if (value[0] == '0')
		doctor_say(ret, DOCTOR_OK, "the driver lets every user read counters");
	else if (doctor_has_capability(host, DOCTOR_CAP_SYS_ADMIN))
		doctor_say(ret, DOCTOR_OK, "counters are for administrators, and this process has CAP_SYS_ADMIN");
	else
		doctor_say(ret, DOCTOR_NO,
			   "the driver keeps counters for administrators "
			   "(RmProfilingAdminOnly is %s)",
			   value);
}
