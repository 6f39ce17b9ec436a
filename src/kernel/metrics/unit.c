#include "kernel/metrics/unit.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/macros.h"

/* A factor of a dimension; NULL for those that are shown without a unit. */
static const char *factor(const char *name, size_t len)
{
	/* clang-format off */
	static const char *const words[][2] = {
		{ "instruction", "inst" }, { "byte", "byte" },         { "second", "s" },        { "nanosecond", "ns" },
		{ "percent", "%" },        { "warp", "warp" },         { "thread", "thread" },   { "cta", "block" },
		{ "l2_sector", "sector" }, { "lrc_sector", "sector" }, { "sysl2_sector", "sector" }, { "syslrc_sector", "sector" },
		{ "l2_request", "request" }, { "lrc_request", "request" }, { "gcc_request", "request" }, { "sysl2_request", "request" },
		{ "branch_target", "branches" }, { "register", "register" }, { "kilobyte", "Kbyte" },
		{ "gpc_cycle", "cycle" }, { "fbp_cycle", "cycle" },    { "dram_cycle", "cycle" }, { "sys_cycle", "cycle" },
		{ "ctc_cycle", "cycle" }, { "mcc_cycle", "cycle" },    { "pcie_cycle", "cycle" }, { "nvlrx_cycle", "cycle" },
		{ "nvltx_cycle", "cycle" },
	};
	/* clang-format on */

	for (size_t i = 0; i < COUNT_OF(words); i++)
		if (strlen(words[i][0]) == len && strncmp(words[i][0], name, len) == 0)
			return words[i][1];
	return NULL;
}

const char *unit_of_dimension(const char *dimension, char *buffer, size_t size)
{
	size_t len = strcspn(dimension, "/");
	const char *above = factor(dimension, len), *below = dimension[len] ? factor(dimension + len + 1, strlen(dimension + len + 1)) : "";

	buffer[0] = '\0';
	if (!above || !below)
		return buffer;
	if (strcmp(above, "cycle") == 0 && strcmp(below, "s") == 0)
		snprintf(buffer, size, "hz");
	else
		snprintf(buffer, size, "%s%s%s", above, *below ? "/" : "", below);
	return buffer;
}

/* "ns", "us", "ms", "s". */
static double scale_time(double value, char *buffer, size_t size)
{
	static const char *const units[] = { "ns", "us", "ms", "s" };
	unsigned i = 0;

	while (i < 3 && fabs(value) >= 1000) {
		value /= 1000;
		i++;
	}
	snprintf(buffer, size, "%s", units[i]);
	return value;
}

double unit_scale(double value, const char *unit, char *buffer, size_t size)
{
	static const char *const prefixes[] = { "", "K", "M", "G", "T" };
	unsigned i = 0;

	if (strcmp(unit, "ns") == 0)
		return scale_time(value, buffer, size);
	if (strncmp(unit, "byte", 4) == 0 || strcmp(unit, "hz") == 0 || strcmp(unit, "flop/s") == 0 || strcmp(unit, "op/s") == 0) {
		while (i < 4 && fabs(value) >= 1000) {
			value /= 1000;
			i++;
		}
	}
	snprintf(buffer, size, "%s%s", prefixes[i], unit);
	return value;
}
