#include "query/torch/asked.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/macros.h"

/* Python itself stops at fewer. */
#define MOST_FRAMES 10000

static int is_word(const char *text, size_t len, const char *word)
{
	return strlen(word) == len && strncmp(text, word, len) == 0;
}

static int take_by_word(struct torch_by *by, const char *text, size_t len)
{
	char *end;
	unsigned long frames;

	if (is_word(text, len, "name"))
		return 1;
	if (is_word(text, len, "shapes"))
		return by->shapes = 1;
	if (is_word(text, len, "kernel"))
		return by->kernel = 1;
	if (is_word(text, len, "module"))
		return by->module = 1;
	if (len < 7 || strncmp(text, "stack=", 6) != 0 || text[6] < '0' || text[6] > '9')
		return 0;
	frames = strtoul(text + 6, &end, 10);
	by->stack = (unsigned)(frames < MOST_FRAMES ? frames : MOST_FRAMES);
	return end == text + len;
}

int torch_by_parse(struct torch_by *ret, const char *text, struct error *err)
{
	const char *at = text ? text : "name";
	size_t len;

	*ret = (struct torch_by){ 0 };
	do {
		len = strcspn(at, ",#");
		if (!take_by_word(ret, at, len))
			return error_set(err, EINVAL, "Operators are grouped by name, shapes, kernel, module or stack=N, not by '%s'",
					 text);
		at += len;
	} while (*at == ',' && at++);
	ret->folds = *at == '#';
	if (ret->folds && at[1])
		return error_set(err, EINVAL, "'#' is the last character of what operators are grouped by, not in '%s'", text);
	return 0;
}

/* "self_cuda_time_total" as "self_device_time_total"; false where it does not fit. */
static int name_device(const char *text, char *ret, size_t size)
{
	static const char *const devices[] = { "cuda", "xpu", "privateuse1" };
	const char *found = NULL;
	size_t cut = 0;

	for (unsigned i = 0; !found && i < COUNT_OF(devices); i++) {
		found = strstr(text, devices[i]);
		cut = strlen(devices[i]);
	}
	if (!found)
		return snprintf(ret, size, "%s", text) < (int)size;
	return snprintf(ret, size, "%.*sdevice%s", (int)(found - text), text, found + cut) < (int)size;
}

int torch_sort_parse(enum torch_sort *ret, const char *text, struct error *err)
{
	/* clang-format off */
	static const struct {
		const char *name;
		enum torch_sort sort;
	} keys[] = { { "cpu_time", TORCH_BY_CPU_AVERAGE }, { "device_time", TORCH_BY_DEVICE_AVERAGE }, { "count", TORCH_BY_COUNT },
		     { "flops", TORCH_BY_FLOPS }, { "cpu_time_total", TORCH_BY_FIGURE }, { "self_cpu_time_total", TORCH_BY_FIGURE + 1 },
		     { "device_time_total", TORCH_BY_FIGURE + 2 }, { "self_device_time_total", TORCH_BY_FIGURE + 3 },
		     { "cpu_memory_usage", TORCH_BY_FIGURE + 4 }, { "self_cpu_memory_usage", TORCH_BY_FIGURE + 5 },
		     { "device_memory_usage", TORCH_BY_FIGURE + 6 }, { "self_device_memory_usage", TORCH_BY_FIGURE + 7 } };
	/* clang-format on */
	char key[64];

	*ret = TORCH_UNSORTED;
	if (!text || !*text)
		return 0;
	if (name_device(text, key, sizeof(key)))
		for (unsigned i = 0; i < COUNT_OF(keys); i++)
			if (strcmp(key, keys[i].name) == 0) {
				*ret = keys[i].sort;
				return 0;
			}
	return error_set(err, EINVAL,
			 "Operators cannot be sorted by '%s'; the keys are cpu_time, cuda_time, cpu_time_total, cuda_time_total, "
			 "self_cpu_time_total, self_cuda_time_total, cpu_memory_usage, cuda_memory_usage, self_cpu_memory_usage, "
			 "self_cuda_memory_usage, count and flops",
			 text);
}
