#include "kernel/choice/catalog.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/macros.h"
#include "base/text/nearest.h"
#include "base/sort.h"

static int compare_chips(const void *a, const void *b)
{
	return strcmp(a, b);
}

int catalog_chips(const struct cupti_host *cupti, char (**ret)[CHIP_NAME_MAX])
{
	struct host_chips chips = PM_PARAMETERS(host_chips, names);
	char(*names)[CHIP_NAME_MAX];
	int count = 0;

	if (cupti->cuptiProfilerHostGetSupportedChips(&chips) != 0)
		return -EIO;
	names = calloc(chips.count + 1, sizeof(*names));
	if (!names)
		return -ENOMEM;
	for (size_t i = 0; i < chips.count; i++) {
		if (strlen(chips.names[i]) >= CHIP_NAME_MAX)
			continue;
		for (size_t k = 0; chips.names[i][k]; k++)
			names[count][k] = (char)tolower((unsigned char)chips.names[i][k]);
		count++;
	}
	sort_items(names, (size_t)count, sizeof(*names), compare_chips);
	*ret = names;
	return count;
}

static int unknown_chip(const struct cupti_host *cupti, const char *chip, struct error *err)
{
	char(*names)[CHIP_NAME_MAX] = NULL, hint[160];
	int count = catalog_chips(cupti, &names);
	struct nearest nearest;

	nearest_begin(&nearest, chip);
	for (int i = 0; i < count; i++)
		nearest_offer(&nearest, names[i], strlen(names[i]));
	free(names);
	return error_set(err, ENOENT, "Unknown chip '%s'.%s --list-chips lists the chips", chip,
			 nearest_hint(&nearest, "", hint, sizeof(hint)));
}

/* The name that CUPTI has for it. */
static int find_chip(struct catalog *c, const char *chip, struct error *err)
{
	struct host_chips chips = PM_PARAMETERS(host_chips, names);

	if (c->cupti->cuptiProfilerHostGetSupportedChips(&chips) != 0)
		return error_set(err, EIO, "CUPTI does not say which chips it knows");
	for (size_t i = 0; i < chips.count; i++) {
		if (strcasecmp(chips.names[i], chip) == 0 && strlen(chips.names[i]) < sizeof(c->chip)) {
			strcpy(c->chip, chips.names[i]);
			return 0;
		}
	}
	return unknown_chip(c->cupti, chip, err);
}

static int compare_bases(const void *a, const void *b)
{
	return strcmp(((const struct metric_base *)a)->name, ((const struct metric_base *)b)->name);
}

static int add_bases(struct catalog *c, int type)
{
	struct pm_base_metrics list = PM_PARAMETERS(pm_base_metrics, count);
	struct metric_base *grown;

	list.host = c->host;
	list.type = type;
	if (c->cupti->cuptiProfilerHostGetBaseMetrics(&list) != 0)
		return -EIO;
	grown = realloc(c->bases, (c->count + list.count + 1) * sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	c->bases = grown;
	for (size_t i = 0; i < list.count; i++)
		c->bases[c->count++] = (struct metric_base){ list.names[i], (uint8_t)type };
	return 0;
}

static int list_bases(struct catalog *c)
{
	int r = 0;

	for (int type = HOST_COUNTER; r == 0 && type <= HOST_THROUGHPUT; type++)
		r = add_bases(c, type);
	sort_items(c->bases, c->count, sizeof(*c->bases), compare_bases);
	return r;
}

int catalog_open(struct catalog *ret, const struct cupti_host *cupti, const char *chip, int profiler, const uint8_t *availability,
		 struct error *err)
{
	struct pm_host_initialize host = PM_PARAMETERS(pm_host_initialize, host);
	int r;

	*ret = (struct catalog){ .cupti = cupti, .profiler = profiler, .availability = availability };
	TRY(find_chip(ret, chip, err));
	host.type = profiler;
	host.chip = ret->chip;
	host.availability = availability;
	r = cupti->cuptiProfilerHostInitialize(&host);
	if (r == HOST_NOT_SUPPORTED)
		return error_set(err, ENOTSUP, "CUPTI has no %s of the chip %s", profiler == HOST_PROFILER_PM ? "PM sampling" : "metrics",
				 ret->chip);
	if (r != 0)
		return error_set(err, EIO, "CUPTI does not answer for the chip %s: %s", ret->chip, cupti_host_text(cupti, r));
	ret->host = host.host;
	r = list_bases(ret);
	if (r < 0) {
		catalog_close(ret);
		return error_set(err, -r, "The metrics of the chip %s cannot be listed", chip);
	}
	nvperf_schedule_open(&ret->nvperf, cupti->path, ret->chip, availability);
	return 0;
}

void catalog_close(struct catalog *c)
{
	struct pm_host_deinitialize host = PM_PARAMETERS(pm_host_deinitialize, host);

	nvperf_schedule_close(&c->nvperf);
	if (c->host) {
		host.host = c->host;
		c->cupti->cuptiProfilerHostDeinitialize(&host);
	}
	free(c->bases);
	memset(c, 0, sizeof(*c));
}

const struct metric_base *catalog_find(const struct catalog *c, const char *name, size_t len)
{
	size_t low = 0, high = c->count, middle;
	int order;

	while (low < high) {
		middle = low + (high - low) / 2;
		order = strncmp(c->bases[middle].name, name, len);
		if (order == 0 && c->bases[middle].name[len] == '\0')
			return &c->bases[middle];
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

bool catalog_facts(const struct catalog *c, const char *metric, struct metric_facts *ret)
{
	struct host_properties properties = PM_PARAMETERS(host_properties, type);

	properties.host = c->host;
	properties.metric = metric;
	if (!*metric || c->cupti->cuptiProfilerHostGetMetricProperties(&properties) != 0)
		return false;
	*ret = (struct metric_facts){ properties.description ? properties.description : "", properties.unit ? properties.unit : "",
				      properties.dimension ? properties.dimension : "", properties.type };
	return true;
}

#define ROLLUP(r) \
	r, r ".peak_sustained", r ".peak_sustained_active", r ".peak_sustained_active.per_second", r ".peak_sustained_elapsed", \
		r ".peak_sustained_elapsed.per_second", r ".per_cycle_active", r ".per_cycle_elapsed", r ".per_second", \
		r ".pct_of_peak_sustained_active", r ".pct_of_peak_sustained_elapsed"
#define ROLLUP_OF_THROUGHPUT(r) r ".pct_of_peak_sustained_active", r ".pct_of_peak_sustained_elapsed"

const char *const *catalog_suffixes(int type, size_t *ret_count)
{
	static const char *const counter[] = { ROLLUP(".avg"), ROLLUP(".max"), ROLLUP(".min"), ROLLUP(".sum") };
	static const char *const ratio[] = { ".max_rate", ".pct", ".ratio" };
	static const char *const throughput[] = { ROLLUP_OF_THROUGHPUT(".avg"), ROLLUP_OF_THROUGHPUT(".max"), ROLLUP_OF_THROUGHPUT(".min"),
						  ROLLUP_OF_THROUGHPUT(".sum") };

	if (type == HOST_RATIO) {
		*ret_count = COUNT_OF(ratio);
		return ratio;
	}
	*ret_count = type == HOST_THROUGHPUT ? COUNT_OF(throughput) : COUNT_OF(counter);
	return type == HOST_THROUGHPUT ? throughput : counter;
}

const char *catalog_type_name(int type)
{
	static const char *const names[] = { "Counter", "Ratio", "Throughput" };

	return type >= HOST_COUNTER && type <= HOST_THROUGHPUT ? names[type] : "Unknown";
}

/* A near name is one that takes few changes for its length; those that only add or leave out words are tried by the same measure. */
const char *catalog_hint(const struct catalog *c, const char *metric, char *buffer, size_t size)
{
	size_t len = metric_base_len(metric), used = 0;
	unsigned costs[3] = { (unsigned)len / 3 + 1, (unsigned)len / 3 + 1, (unsigned)len / 3 + 1 }, cost;
	const char *names[3] = { NULL, NULL, NULL };
	unsigned found = 0, at;

	for (size_t i = 0; i < c->count; i++) {
		cost = edit_distance(metric, len, c->bases[i].name, strlen(c->bases[i].name));
		if (cost >= costs[2])
			continue;
		for (at = 2; at > 0 && cost < costs[at - 1]; at--) {
			costs[at] = costs[at - 1];
			names[at] = names[at - 1];
		}
		costs[at] = cost;
		names[at] = c->bases[i].name;
	}
	while (found < 3 && names[found])
		found++;
	buffer[0] = '\0';
	for (at = 0; at < found && used < size; at++)
		used += (size_t)snprintf(buffer + used, size - used, "%s%s",
					 at == 0         ? " Did you mean " :
					 at + 1 == found ? " or " :
							   ", ",
					 names[at]);
	if (found && used < size)
		snprintf(buffer + used, size - used, "?");
	return buffer;
}
