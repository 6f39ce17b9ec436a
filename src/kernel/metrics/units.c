#include "kernel/metrics/units.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/macros.h"
#include "kernel/metrics/unit.h"

/* Whether a name has this word between its underscores. */
static bool has_word(const char *name, size_t len, const char *word)
{
	size_t size = strlen(word);

	for (size_t i = 0; i + size <= len; i++)
		if (memcmp(name + i, word, size) == 0 && (i == 0 || name[i - 1] == '_') && (i + size == len || name[i + size] == '_'))
			return true;
	return false;
}

/* What is counted, by the words of the name behind the part of the chip. */
static const char *find_counted_unit(const char *part, const char *name, size_t len)
{
	if (has_word(name, len, "time") && has_word(name, len, "duration"))
		return "ns";
	if (has_word(name, len, "bytes"))
		return "byte";
	if (has_word(name, len, "sectors"))
		return "sector";
	if (has_word(name, len, "cycles"))
		return "cycle";
	if (has_word(name, len, "branch") && has_word(name, len, "divergent"))
		return "branches";
	if (has_word(name, len, "warps"))
		return "warp";
	if (has_word(name, len, "requests") && (strncmp(part, "lts", 3) == 0 || strncmp(part, "gcc", 3) == 0))
		return "request";
	return has_word(name, len, "inst") ? "inst" : "";
}

static const char *ratio_unit(const char *name, size_t len)
{
	if (has_word(name, len, "bytes") && has_word(name, len, "sector"))
		return "byte/sector";
	if (has_word(name, len, "stalled"))
		return "inst";
	return has_word(name, len, "latency") || (has_word(name, len, "warps") && has_word(name, len, "active")) ? "cycle" : "";
}

/* Names that are sampled begin with the place that samples, in capitals, and a group. */
static const char *without_place(const char *name)
{
	const char *point;

	for (unsigned i = 0; i < 2 && name[0] >= 'A' && name[0] <= 'Z'; i++) {
		point = strchr(name, '.');
		if (!point)
			break;
		name = point + 1;
	}
	return name;
}

static bool has_unit_ending(const char *name, const char *ending)
{
	size_t len = strlen(name), more = strlen(ending);

	return len >= more && strcmp(name + len - more, ending) == 0;
}

/* What is counted by instruction or sampled has names without rollup. */
static const char *plain_unit(const char *name)
{
	static const struct {
		const char *start, *unit;
	} units[] = {
		{ "inst_executed", "inst" },
		{ "thread_inst_executed", "inst" },
		{ "memory_l1_", "sectors" },
		{ "memory_l2_", "sectors" },
		{ "smsp__branch_targets_threads_divergent", "branches" },
		{ "smsp__pcsamp_warps_issue_stalled_branch_resolving", "branches" },
		{ "smsp__pcsamp_warps_issue_stalled_no_instructions", "inst" },
		{ "smsp__pcsamp_warps_issue_stalled_", "warp" },
	};

	for (size_t i = 0; i < COUNT_OF(units); i++)
		if (strncmp(name, units[i].start, strlen(units[i].start)) == 0)
			return units[i].unit;
	return has_unit_ending(name, "_interval_cycles") ? "cycle" :
	       has_unit_ending(name, "_interval_time")   ? "ns" :
	       has_unit_ending(name, "_bytes")           ? "byte" :
							   "";
}

void unit_of_metric(const char *metric, char ret[UNIT_MAX])
{
	const char *part = without_place(metric), *suffix = strchr(part, '.'), *last = strrchr(part, '.'), *name = strstr(part, "__"),
		   *unit;
	size_t len;

	snprintf(ret, UNIT_MAX, "%s", suffix ? "" : plain_unit(part));
	if (!suffix)
		return;
	name = name && name < suffix ? name + 2 : part;
	len = (size_t)(suffix - name);
	last++;
	if (strncmp(last, "pct", 3) == 0) {
		snprintf(ret, UNIT_MAX, "%%");
		return;
	}
	if (strcmp(last, "ratio") == 0 || strcmp(last, "max_rate") == 0) {
		snprintf(ret, UNIT_MAX, "%s", ratio_unit(name, len));
		return;
	}
	unit = find_counted_unit(part, name, len);
	if (strcmp(last, "per_second") == 0)
		snprintf(ret, UNIT_MAX, "%s%s", strcmp(unit, "cycle") == 0 ? "hz" : unit, *unit && strcmp(unit, "cycle") != 0 ? "/s" : "");
	else if (strncmp(last, "per_cycle", 9) != 0 && strncmp(last, "peak_sustained", 14) != 0)
		snprintf(ret, UNIT_MAX, "%s", unit);
	else if (strcmp(unit, "cycle") != 0)
		snprintf(ret, UNIT_MAX, "%s%s", unit, *unit && strcmp(unit, "warp") != 0 ? "/cycle" : "");
}

double unit_divisor(const char *unit, double value, char ret[UNIT_MAX])
{
	double scaled = unit_scale(value, unit, ret, UNIT_MAX), divisor = 1;

	while (isfinite(scaled) && fabs(value / divisor) > 2 * fabs(scaled))
		divisor *= 1000;
	return divisor;
}

/* Commas between thousands of the whole part. */
static void separate(const char *plain, char ret[NUMBER_MAX])
{
	size_t whole = strcspn(plain, "."), out = 0, first = plain[0] == '-';

	for (size_t i = 0; plain[i] && out + 2 < NUMBER_MAX; i++) {
		if (i > first && i < whole && (whole - i) % 3 == 0)
			ret[out++] = ',';
		ret[out++] = plain[i];
	}
	ret[out] = '\0';
}

void integer_text(int64_t value, char ret[NUMBER_MAX])
{
	char plain[32];

	snprintf(plain, sizeof(plain), "%" PRId64, value);
	separate(plain, ret);
}

void number_text(double value, bool decimals, char ret[NUMBER_MAX])
{
	char plain[NUMBER_MAX];

	if (isnan(value)) {
		snprintf(ret, NUMBER_MAX, "nan");
	} else if (isinf(value)) {
		snprintf(ret, NUMBER_MAX, "%s", value < 0 ? "-inf" : "inf");
	} else {
		snprintf(plain, sizeof(plain), "%.*f", decimals || value != rint(value) ? 2 : 0, value);
		separate(plain, ret);
	}
}

size_t metric_base_len(const char *metric)
{
	const char *name = strstr(metric, "__");

	name = name ? name : metric;
	return (size_t)(name - metric) + strcspn(name, ".");
}
