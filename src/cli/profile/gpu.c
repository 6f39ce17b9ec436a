/* Options about GPUs themselves: NVML, hardware metrics, context switches. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "cli/profile/setup.h"

#define NVML_HZ_DEFAULT 10
#define NVML_HZ_MOST 1000

/* "nvml_metrics,-i100": milliseconds between readings, as nsys's plugin of this name takes them. */
static int nvml_plugin(const char *arguments, struct gpu_options *o, struct error *err)
{
	const char *number;
	char *end;
	long ms;

	o->nvml_given = true;
	if (!o->nvml_hz)
		o->nvml_hz = NVML_HZ_DEFAULT;
	if (!*arguments)
		return 0;
	number = strncmp(arguments, ",-i", 3) == 0 ? arguments + 3 : "";
	ms = strtol(number, &end, 10);
	if (end == number || *end || ms < 1 || ms > 10000)
		return error_set(err, EINVAL,
				 "--enable=nvml_metrics takes -iN, the milliseconds between readings from 1 to 10000, not '%s'.",
				 arguments + 1);
	o->nvml_hz = ms > 1000 ? 1 : 1000 / ms;
	return 0;
}

static int enable_gpu_plugin(const char *text, struct gpu_options *o, struct string_list *notes, struct error *err)
{
	size_t len = strcspn(text, ",");

	if (len == strlen("nvml_metrics") && strncmp(text, "nvml_metrics", len) == 0)
		return nvml_plugin(text + len, o, err);
	return string_list_addf(notes, "--enable: the plugin '%.*s' is not supported; ignored", (int)len, text);
}

/* "0,1,all" ...: one word stands alone. */
static int check_devices(const char *list, struct error *err)
{
	if (strchr(list, ',') && strspn(list, "0123456789,") != strlen(list))
		return error_set(err, EINVAL, "--gpu-metrics-devices takes numbers, or one word alone, not '%s'.", list);
	return 0;
}

int profile_gpu_options(struct gpu_options *ret, const struct profile_fields *fields, struct string_list *notes, struct error *err)
{
	const uint64_t cuda = TRACE_BIT(TRACE_CUDA) | TRACE_BIT(TRACE_CUDA_HW) | TRACE_BIT(TRACE_CUDA_SW);

	*ret = fields->gpu;
	if (ret->metrics_devices && strcmp(ret->metrics_devices, "none") == 0)
		ret->metrics_devices = NULL;
	if (ret->metrics_devices)
		TRY(check_devices(ret->metrics_devices, err));
	if (fields->trace & cuda || ret->metrics_devices)
		ret->nvml_hz = NVML_HZ_DEFAULT;
	for (size_t i = 0; i < fields->enable.count; i++)
		TRY(enable_gpu_plugin(fields->enable.items[i], ret, notes, err));
	if (ret->nvml_hz > NVML_HZ_MOST)
		ret->nvml_hz = NVML_HZ_MOST;
	return 0;
}
