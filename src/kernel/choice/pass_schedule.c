#include "kernel/choice/pass_schedule.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/macros.h"
#include "base/sort.h"
#include "kernel/choice/pass_cache.h"

#define WORTH_A_TRIAL 12
#define WORTH_KEEPING 32u /* fewer names take some milliseconds */
#define FEW_NAMES 500u    /* it takes up to half a second to pack more */

static void *open_host(const struct catalog *c)
{
	struct pm_host_initialize host = PM_PARAMETERS(pm_host_initialize, host);

	host.type = c->profiler;
	host.chip = c->chip;
	host.availability = c->availability;
	return c->cupti->cuptiProfilerHostInitialize(&host) == 0 ? host.host : NULL;
}

static void close_host(const struct catalog *c, void *object)
{
	struct pm_host_deinitialize host = PM_PARAMETERS(pm_host_deinitialize, host);

	host.host = object;
	c->cupti->cuptiProfilerHostDeinitialize(&host);
}

static int fetch_image(const struct catalog *c, void *host, struct schedule_part *part)
{
	struct pm_image_size size = PM_PARAMETERS(pm_image_size, image_size);
	struct pm_image image = PM_PARAMETERS(pm_image, image);
	struct pm_passes passes = PM_PARAMETERS(pm_passes, passes);

	size.host = host;
	if (c->cupti->cuptiProfilerHostGetConfigImageSize(&size) != 0)
		return -EIO;
	part->image = malloc(size.image_size + 1);
	if (!part->image)
		return -ENOMEM;
	part->image_size = image.image_size = passes.image_size = size.image_size;
	image.host = host;
	image.image = passes.image = part->image;
	if (c->cupti->cuptiProfilerHostGetConfigImage(&image) != 0 || c->cupti->cuptiProfilerHostGetNumOfPasses(&passes) != 0)
		return -EIO;
	part->passes = passes.passes;
	return 0;
}

/* Adding metrics one by one would make a pass of each. An object that refused one is of no use any more. */
static int ask_cupti(const struct catalog *c, struct schedule_part *part)
{
	struct pm_add_metrics add = PM_PARAMETERS(pm_add_metrics, count);
	void *host = open_host(c);
	int r = -EIO;

	if (!host)
		return -EIO;
	add.host = host;
	add.names = part->names;
	add.count = part->count;
	if (c->cupti->cuptiProfilerHostConfigAddMetrics(&add) == 0)
		r = fetch_image(c, host, part);
	close_host(c, host);
	return r;
}

static int configure_passes(const struct catalog *c, struct schedule_part *part)
{
	struct nvperf_config config;

	free(part->image);
	part->image = NULL;
	part->passes = 0;
	if (!part->by_nvperf)
		return ask_cupti(c, part);
	if (nvperf_schedule_make(&c->nvperf, NVPERF_RANGES, part->names, part->count, &config) < 0)
		return -EIO;
	part->image = config.image;
	part->image_size = config.image_size;
	part->passes = config.passes;
	return 0;
}

/* The passes that some of a part's names take; 0: one of them is refused. */
static size_t passes_of(const struct catalog *c, const struct schedule_part *part, const char **names, size_t count)
{
	struct schedule_part some = { .names = names, .count = count, .by_nvperf = part->by_nvperf };
	int r = configure_passes(c, &some);

	free(some.image);
	return r == 0 ? some.passes : 0;
}

/* Moves those that are refused by themselves out of the part, halving it: there are few of them. */
static void move_refused(struct schedule *s, const struct catalog *c, struct schedule_part *part, size_t from, size_t count,
			 unsigned char *is_refused)
{
	size_t half = count / 2;

	if (count == 0 || passes_of(c, part, part->names + from, count))
		return;
	if (count == 1) {
		is_refused[from] = 1;
		s->refused[s->refused_count++] = part->names[from];
		return;
	}
	move_refused(s, c, part, from, half, is_refused);
	move_refused(s, c, part, from + half, count - half, is_refused);
}

static int without_refused(struct schedule *s, const struct catalog *c, struct schedule_part *part)
{
	unsigned char *is_refused = calloc(part->count, 1);
	size_t kept = 0;

	if (!is_refused)
		return -ENOMEM;
	move_refused(s, c, part, 0, part->count, is_refused);
	for (size_t i = 0; i < part->count; i++)
		if (!is_refused[i])
			part->names[kept++] = part->names[i];
	part->count = kept;
	free(is_refused);
	return 0;
}

static int compare_metric_names(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static int compare_backwards(const void *a, const void *b)
{
	return compare_metric_names(b, a);
}

static bool is_throughput(const char *metric)
{
	return strstr(metric, "throughput") != NULL;
}

static int compare_throughputs_last(const void *a, const void *b)
{
	int order = is_throughput(*(const char *const *)a) - is_throughput(*(const char *const *)b);

	return order ? order : compare_metric_names(a, b);
}

static size_t unit_len(const char *metric)
{
	const char *end = strstr(metric, "__");

	return end ? (size_t)(end - metric) : 0;
}

static int compare_units(const void *a, const void *b)
{
	const char *x = *(const char *const *)a, *y = *(const char *const *)b;
	size_t x_len = unit_len(x), y_len = unit_len(y);
	int order = is_throughput(x) - is_throughput(y);

	if (order == 0)
		order = strncmp(x, y, x_len < y_len ? x_len : y_len);
	if (order == 0)
		order = (x_len > y_len) - (x_len < y_len);
	return order ? order : strcmp(y, x);
}

/* Metrics are packed in the order in which they come. By name, those of one unit come together. Throughputs are made of many of the
 * others: at the end they find most of theirs counted already. Backwards within a unit mostly takes fewest passes of all, but not always.
 * The last is the order in which they were given. */
static int (*const orders[])(const void *, const void *) = { compare_units, compare_throughputs_last, compare_metric_names,
							     compare_backwards, NULL };
#define ORDERS COUNT_OF(orders)

static void sort(struct schedule_part *part, uint32_t order)
{
	if (orders[order])
		sort_items(part->names, part->count, sizeof(*part->names), orders[order]);
}

/* Takes the other order if it is better. */
static int try_order(const struct catalog *c, struct schedule_part *part, const char **given, uint32_t order, uint32_t *best)
{
	struct schedule_part other = *part, worse;

	other.image = NULL;
	other.names = malloc((part->count + 1) * sizeof(*other.names));
	if (!other.names)
		return -ENOMEM;
	memcpy(other.names, given, part->count * sizeof(*other.names));
	sort(&other, order);
	if (configure_passes(c, &other) == 0 && other.passes < part->passes) {
		worse = *part;
		*part = other;
		other = worse;
		*best = order;
	}
	free(other.image);
	free(other.names);
	return 0;
}

static int try_orders(const struct catalog *c, struct schedule_part *part, uint32_t *best)
{
	const char **given = malloc((part->count + 1) * sizeof(*given));
	int r;

	if (!given)
		return -ENOMEM;
	memcpy(given, part->names, part->count * sizeof(*given));
	sort(part, 0);
	r = configure_passes(c, part);
	for (uint32_t i = 1; r == 0 && i < ORDERS && part->count <= FEW_NAMES; i++)
		if (part->passes > (i == 1 ? 1 : WORTH_A_TRIAL))
			r = try_order(c, part, given, i, best);
	free(given);
	return r;
}

static int find_order(const struct catalog *c, struct schedule_part *part)
{
	struct buf key = BUF_INIT;
	uint32_t order = 0;
	bool keeps = part->count >= WORTH_KEEPING && schedule_key(c, part, &key) == 0;
	int r = 0;

	if (keeps && schedule_take_kept(c, &key, part, &order) && order < ORDERS) {
		sort(part, order);
	} else {
		r = try_orders(c, part, &order);
		if (r == 0 && keeps)
			schedule_keep(c, &key, part, order);
	}
	buf_release(&key);
	return r;
}

static int make_part(struct schedule *s, const struct catalog *c, struct schedule_part *part)
{
	int r;

	if (!part->count)
		return 0;
	r = find_order(c, part);
	if (r == -EIO) {
		r = without_refused(s, c, part);
		if (r == 0 && part->count)
			r = find_order(c, part);
	}
	s->passes += part->passes;
	return r;
}

unsigned schedule_part_of(enum schedule_way way, const char *metric)
{
	static const struct {
		const char *unit;
		unsigned part;
	} links[] = {
		{ "pcie__", SCHEDULE_PCIE }, { "nvlrx__", SCHEDULE_NVLINK }, { "nvltx__", SCHEDULE_NVLINK }, { "ctc__", SCHEDULE_C2C }
	};

	const char *unit = metric, *end = metric + metric_base_len(metric);

	/* "CTC.TriageCompute.ctc__..." */
	for (const char *at = metric; at < end; at++)
		if (*at == '.')
			unit = at + 1;
	for (size_t i = 0; i < COUNT_OF(links); i++)
		if (strncmp(unit, links[i].unit, strlen(links[i].unit)) == 0)
			return links[i].part == SCHEDULE_PCIE && way == SCHEDULE_MIXED ? SCHEDULE_MAIN : links[i].part;
	return SCHEDULE_MAIN;
}

/* "a__b.per_second" of "a__b.sum.per_second": rollups are made of the same counters, and more names only take CUPTI longer. */
static void without_rollup(const char *metric, char *ret, size_t size)
{
	static const char *const rollups[] = { ".avg", ".max", ".min", ".sum" };
	size_t len = metric_base_len(metric), skipped = 0;

	for (size_t i = 0; i < 4; i++)
		if (strncmp(metric + len, rollups[i], 4) == 0)
			skipped = 4;
	snprintf(ret, size, "%.*s%s", (int)len, metric, metric + len + skipped);
}

static bool same_counters(const char *a, const char *b)
{
	char x[320], y[320];

	without_rollup(a, x, sizeof(x));
	without_rollup(b, y, sizeof(y));
	return strcmp(x, y) == 0;
}

/* Those of the same base mostly come one after the other: a look at the last few is enough. */
static bool has_same_counters(const struct schedule_part *part, const char *metric)
{
	for (size_t i = part->count; i > 0 && part->count - i < 8; i--)
		if (same_counters(part->names[i - 1], metric))
			return true;
	return false;
}

static unsigned part_of(const struct catalog *c, enum schedule_way way, const char *metric)
{
	return c->profiler == HOST_PROFILER_RANGE ? schedule_part_of(way, metric) : SCHEDULE_MAIN;
}

static enum schedule_way get_possible_way(const struct catalog *c, enum schedule_way way)
{
	return c->nvperf.library && c->profiler == HOST_PROFILER_RANGE ? way : SCHEDULE_APART;
}

static int make_schedule(struct schedule *ret, const struct catalog *c, enum schedule_way way, const char *const *names, size_t count)
{
	struct schedule_part *part;
	int r = 0;

	*ret = (struct schedule){ .way = way, .refused = calloc(count + 1, sizeof(*ret->refused)) };
	ret->parts[SCHEDULE_MAIN].by_nvperf = way == SCHEDULE_MIXED;
	for (unsigned i = 0; i < SCHEDULE_PARTS; i++) {
		ret->parts[i].names = calloc(count + 1, sizeof(*names));
		if (!ret->parts[i].names || !ret->refused)
			r = -ENOMEM;
	}
	for (size_t i = 0; r == 0 && i < count; i++) {
		part = &ret->parts[part_of(c, way, names[i])];
		if (!has_same_counters(part, names[i]))
			part->names[part->count++] = names[i];
	}
	for (unsigned i = 0; r == 0 && i < SCHEDULE_PARTS; i++)
		r = make_part(ret, c, &ret->parts[i]);
	if (r < 0)
		schedule_release(ret);
	return r;
}

int schedule_make(struct schedule *ret, const struct catalog *c, enum schedule_way way, const char *const *names, size_t count,
		  struct error *err)
{
	int r = make_schedule(ret, c, get_possible_way(c, way), names, count);

	if (r == -EIO && get_possible_way(c, way) == SCHEDULE_MIXED)
		r = make_schedule(ret, c, SCHEDULE_APART, names, count);
	if (r == 0)
		return 0;
	return error_set(err, -r, r == -ENOMEM ? "Not enough memory" : "CUPTI makes no configuration of these %zu metrics for %s", count,
			 c->chip);
}

static bool is_one_pass(const struct catalog *c, enum schedule_way way, const char **names, size_t count)
{
	unsigned first = part_of(c, way, names[0]);
	struct schedule_part part = { .by_nvperf = way == SCHEDULE_MIXED && first == SCHEDULE_MAIN };

	for (size_t i = 1; i < count; i++)
		if (part_of(c, way, names[i]) != first)
			return false;
	return passes_of(c, &part, names, count) == 1;
}

/* By steps that grow while they fit, as CUPTI has to look at all of them each time. */
size_t schedule_fit(const struct catalog *c, enum schedule_way way, const char **names, size_t *count)
{
	size_t kept = 0, all = *count, size, step = 32;
	const char **tried = malloc((all + 1) * sizeof(*tried));

	for (size_t at = 0; tried && at < all; at += size) {
		size = all - at < step ? all - at : step;
		memcpy(tried, names, kept * sizeof(*tried));
		memcpy(tried + kept, names + at, size * sizeof(*tried));
		if (is_one_pass(c, get_possible_way(c, way), tried, kept + size)) {
			memmove(names + kept, names + at, size * sizeof(*names));
			kept += size;
			step = 2 * size;
		} else if (size > 1) {
			step = size / 2;
			size = 0;
		} else {
			step = 1;
		}
	}
	free(tried);
	*count = kept;
	return all - kept;
}

bool schedule_refuses(const struct schedule *s, const char *metric)
{
	for (size_t i = 0; i < s->refused_count; i++)
		if (same_counters(s->refused[i], metric))
			return true;
	return false;
}

void schedule_release(struct schedule *s)
{
	for (unsigned i = 0; i < SCHEDULE_PARTS; i++) {
		free(s->parts[i].names);
		free(s->parts[i].image);
	}
	free(s->refused);
	memset(s, 0, sizeof(*s));
}
