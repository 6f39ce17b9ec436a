/* Results of a report, chosen by the options that choose launches of a program. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/hash.h"
#include "cli/kernel/filter.h"
#include "fmt/filter/frame_filter.h"
#include "fmt/filter/launch_filter.h"
#include "fmt/filter/nvtx_filter.h"
#include "symbol/demangle.h"

/* Call stacks that launches have, or do not have. */
enum frame_list { NATIVE_INCLUDE, NATIVE_EXCLUDE, PYTHON_INCLUDE, PYTHON_EXCLUDE, FRAME_LISTS };

static const struct option_texts *texts_of(const struct kernel_fields *f, unsigned list)
{
	const struct option_texts *all[FRAME_LISTS] = { &f->native_include, &f->native_exclude, &f->python_include, &f->python_exclude };

	return all[list];
}

/* How often something was met. */
struct tally {
	uint64_t key;
	uint64_t seen, matched, taken;
};

struct choosing {
	const struct kernel_fields *fields;
	struct name_pattern name;
	struct kernel_id *ids;
	struct nvtx_filter *include, *exclude;
	struct frame_filter *frames[FRAME_LISTS];
	struct range_numbers numbers;
	bool has_numbers;
	uint64_t devices;
	struct tally *tallies; /* one more than there are results, twice */
	size_t tally_count;
};

static struct tally *tally_of(struct choosing *c, uint64_t key)
{
	for (size_t i = 0; i < c->tally_count; i++)
		if (c->tallies[i].key == key)
			return &c->tallies[i];
	c->tallies[c->tally_count].key = key;
	return &c->tallies[c->tally_count++];
}

static const char *choose_filter_name(const struct choosing *c, const struct kernel_result *k)
{
	const char *name = c->fields->name_base == 0 ? k->function : c->fields->name_base == 1 ? k->name : k->mangled;

	return *name ? name : k->name;
}

/* A whole name may also be as other tools write it: (int*) for (int *). */
static bool has_wanted_name(const struct choosing *c, const struct name_pattern *wanted, const struct kernel_result *k)
{
	char *plain;
	bool found = name_pattern_matches(wanted, choose_filter_name(c, k));

	if (found || c->fields->name_base != 1 || wanted->is_regex)
		return found;
	plain = demangle(k->mangled);
	found = plain && name_pattern_matches(wanted, plain);
	free(plain);
	return found;
}

static uint64_t hash_result_key(const struct choosing *c, const struct kernel_result *k)
{
	double shared = result_number(k, "launch__shared_mem_per_block_dynamic");
	uint64_t key = HASH_START;

	if (c->fields->filter_mode == 1)
		return hash_bytes(key, &k->device, sizeof(k->device));
	if (c->fields->filter_mode == 0)
		return key;
	return hash_bytes(hash_bytes(hash_bytes(key, k->grid, sizeof(k->grid)), k->block, sizeof(k->block)), &shared, sizeof(shared));
}

static bool is_in(const struct nvtx_filter *filters, size_t count, const struct nvtx_open_range *ranges, size_t range_count)
{
	for (size_t i = 0; i < count; i++)
		if (nvtx_filter_matches(&filters[i], ranges, range_count))
			return true;
	return false;
}

/* -ENOMEM, or whether it was launched in the right ranges. */
static int is_in_ranges(const struct choosing *c, const struct kernel_result *k)
{
	const struct kernel_fields *f = c->fields;
	struct nvtx_open_range *ranges = calloc(k->range_count + 1, sizeof(*ranges));
	int result;

	if (!ranges)
		return -ENOMEM;
	for (size_t i = 0; i < k->range_count; i++)
		ranges[i] = (struct nvtx_open_range){ .domain = k->ranges[i].domain,
						      .name = *k->ranges[i].name ? k->ranges[i].name : NULL,
						      .is_pushed = k->ranges[i].level >= 0 };
	result = !is_in(c->exclude, f->nvtx_exclude.count, ranges, k->range_count) &&
		 (!f->nvtx_include.count || is_in(c->include, f->nvtx_include.count, ranges, k->range_count));
	free(ranges);
	return result;
}

static bool is_led_to(const struct choosing *c, unsigned list, const struct kernel_result *k)
{
	size_t filters = texts_of(c->fields, list)->count;
	bool found = false;

	for (size_t i = 0; i < filters && !found; i++) {
		const struct frame_filter *filter = &c->frames[list][i];

		for (size_t j = 0; j < k->frame_count && list < PYTHON_INCLUDE && !found; j++)
			found = frame_filter_matches(filter, k->frames[j].module, NULL, k->frames[j].function);
		for (size_t j = 0; j < k->python_count && list >= PYTHON_INCLUDE && !found; j++)
			found = frame_filter_matches(filter, k->python[j].file, k->python[j].file, k->python[j].function);
	}
	return found;
}

static bool is_in_functions(const struct choosing *c, const struct kernel_result *k)
{
	for (unsigned list = 0; list < FRAME_LISTS; list += 2)
		if (is_led_to(c, list + 1, k) || (texts_of(c->fields, list)->count && !is_led_to(c, list, k)))
			return false;
	return true;
}

static bool is_numbered(const struct choosing *c, const struct kernel_result *k)
{
	const struct range_numbers *n = &c->numbers;

	return !c->has_numbers || ((n->profiler.is_any || (k->between && id_pattern_matches(&n->profiler, (uint64_t)k->between, NULL))) &&
				   (n->nvtx.is_any || (k->range && id_pattern_matches(&n->nvtx, (uint64_t)k->range, NULL))));
}

static bool is_id(struct choosing *c, size_t number, const struct kernel_result *k, uint64_t key)
{
	const struct kernel_id *id = &c->ids[number];
	const char *name = choose_filter_name(c, k);

	if ((id->has_name && !has_wanted_name(c, &id->name, k)) || !id_pattern_matches(&id->context, (uint64_t)k->context, NULL) ||
	    !id_pattern_matches(&id->stream, (uint64_t)k->stream, NULL))
		return false;
	key = hash_bytes(hash_bytes(key, &number, sizeof(number)), name, strlen(name) + 1);
	if (!id->context.is_any)
		key = hash_bytes(key, &k->context, sizeof(k->context));
	if (!id->stream.is_any)
		key = hash_bytes(key, &k->stream, sizeof(k->stream));
	return id_pattern_matches(&id->invocation, ++tally_of(c, key)->seen, NULL);
}

static int is_selected_result(struct choosing *c, const struct kernel_result *k)
{
	const struct kernel_fields *f = c->fields;
	uint64_t key = hash_result_key(c, k);
	struct tally *t = tally_of(c, key), *all = f->filter_mode == 1 ? tally_of(c, 1) : t;
	bool found = !f->ids.count;
	int in_ranges;

	if (c->devices && (k->device < 0 || k->device >= (int64_t)DEVICES_MAX || !(c->devices >> k->device & 1)))
		return 0;
	if (all->seen++ < (uint64_t)f->skip_before)
		return 0;
	in_ranges = is_in_ranges(c, k);
	if (in_ranges <= 0 || (f->name && !has_wanted_name(c, &c->name, k)))
		return in_ranges < 0 ? in_ranges : 0;
	if (!is_in_functions(c, k) || !is_numbered(c, k))
		return 0;
	for (size_t i = 0; i < f->ids.count; i++)
		found |= is_id(c, i, k, key);
	if (!found || t->matched++ < (uint64_t)f->skip)
		return 0;
	return !f->count || t->taken++ < (uint64_t)f->count;
}

static int prepare_frames(struct choosing *c)
{
	char why[200];
	int r = 0;

	for (unsigned list = 0; list < FRAME_LISTS && r >= 0; list++) {
		const struct option_texts *texts = texts_of(c->fields, list);

		c->frames[list] = calloc(texts->count + 1, sizeof(*c->frames[list]));
		r = c->frames[list] ? 0 : -ENOMEM;
		for (size_t i = 0; i < texts->count && r >= 0; i++)
			r = frame_filter_parse(&c->frames[list][i], texts->items[i], why, sizeof(why));
	}
	return r;
}

/* All were checked before. */
static int prepare_result_filter(struct choosing *c, size_t result_count)
{
	const struct kernel_fields *f = c->fields;
	size_t ids = f->ids.count, i;
	char why[200];
	int r = 0;

	c->tallies = calloc((result_count + 1) * (ids + 2), sizeof(*c->tallies));
	c->ids = calloc(ids + 1, sizeof(*c->ids));
	c->include = calloc(f->nvtx_include.count + 1, sizeof(*c->include));
	c->exclude = calloc(f->nvtx_exclude.count + 1, sizeof(*c->exclude));
	if (!c->tallies || !c->ids || !c->include || !c->exclude)
		return -ENOMEM;
	c->devices = f->devices ? devices_parse(f->devices) : 0;
	if (f->range_filter) {
		r = range_numbers_parse(&c->numbers, f->range_filter, why, sizeof(why));
		c->has_numbers = r >= 0;
	}
	if (f->name && r >= 0)
		r = name_pattern_parse(&c->name, f->name, why, sizeof(why));
	for (i = 0; i < ids && r >= 0; i++)
		r = kernel_id_parse(&c->ids[i], f->ids.items[i], why, sizeof(why));
	for (i = 0; i < f->nvtx_include.count && r >= 0; i++)
		r = nvtx_filter_parse(&c->include[i], f->nvtx_include.items[i], why, sizeof(why));
	for (i = 0; i < f->nvtx_exclude.count && r >= 0; i++)
		r = nvtx_filter_parse(&c->exclude[i], f->nvtx_exclude.items[i], why, sizeof(why));
	TRY(r);
	return prepare_frames(c);
}

static void release_result_filter(struct choosing *c)
{
	name_pattern_release(&c->name);
	if (c->has_numbers)
		range_numbers_release(&c->numbers);
	for (size_t i = 0; c->ids && i < c->fields->ids.count; i++)
		kernel_id_release(&c->ids[i]);
	for (size_t i = 0; c->include && i < c->fields->nvtx_include.count; i++)
		nvtx_filter_release(&c->include[i]);
	for (size_t i = 0; c->exclude && i < c->fields->nvtx_exclude.count; i++)
		nvtx_filter_release(&c->exclude[i]);
	for (unsigned list = 0; list < FRAME_LISTS; list++) {
		for (size_t i = 0; c->frames[list] && i < texts_of(c->fields, list)->count; i++)
			frame_filter_release(&c->frames[list][i]);
		free(c->frames[list]);
	}
	free(c->ids);
	free(c->include);
	free(c->exclude);
	free(c->tallies);
}

int kernel_filter_results(const struct kernel_fields *fields, struct kernel_results *results)
{
	struct choosing c = { .fields = fields };
	size_t kept = 0, i = 0;
	int r = prepare_result_filter(&c, results->count), selected;

	for (; i < results->count && r >= 0; i++) {
		struct kernel_result k = results->items[i];

		selected = is_selected_result(&c, &k);
		r = selected < 0 ? selected : 0;
		/* Those that are passed over stand behind the others, and are released with them. */
		if (selected > 0) {
			results->items[i] = results->items[kept];
			results->items[kept++] = k;
		}
	}
	release_result_filter(&c);
	if (r >= 0)
		kernel_results_keep(results, kept);
	return r;
}
