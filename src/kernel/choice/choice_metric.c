/* The words of --metrics. */
#include <errno.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "kernel/choice/choice_internal.h"

#define MAX_METRIC 256

static int add_choice_metric(struct choosing *c, const char *metric, enum metric_origin origin)
{
	return choice_add(c->choice, metric, origin) < 0 ? error_set(c->err, ENOMEM, "Not enough memory") : 0;
}

/* A name without rollup: the first ones of a counter, all of a ratio, the usual one of a throughput. */
static int add_base(struct choosing *c, const struct metric_base *base, enum metric_origin origin)
{
	static const char *const counter[] = { ".avg", ".max", ".min", ".sum" };
	static const char *const throughput[] = { ".avg.pct_of_peak_sustained_elapsed" };
	const char *const *suffixes = counter;
	size_t count = 4;
	char name[MAX_METRIC + 64];
	int r = 0;

	if (base->type == HOST_RATIO) {
		suffixes = catalog_suffixes(HOST_RATIO, &count);
	} else if (base->type == HOST_THROUGHPUT) {
		suffixes = throughput;
		count = 1;
	}
	for (size_t i = 0; r == 0 && i < count; i++) {
		snprintf(name, sizeof(name), "%s%s", base->name, suffixes[i]);
		r = add_choice_metric(c, name, origin);
	}
	return r;
}

/* 0 if it is not in this catalog, 1 if it was added. */
static int add_from(struct choosing *c, const struct catalog *catalog, const char *metric, enum metric_origin origin)
{
	size_t len = metric_base_len(metric);
	const struct metric_base *base = catalog_find(catalog, metric, len);
	struct metric_facts facts;

	if (!base || (metric[len] && !catalog_facts(catalog, metric, &facts)))
		return 0;
	TRY(metric[len] ? add_choice_metric(c, metric, origin) : add_base(c, base, origin));
	return 1;
}

static int add_named(struct choosing *c, const char *metric, const char *asked)
{
	const struct term *term = glossary_find(c->sources->glossary, TERM_METRIC, metric, strlen(metric));
	const struct metric_base *base;
	char hint[512] = "";
	int r;

	if (term && term->collection[0])
		return add_choice_metric(c, metric, METRIC_OWN);
	TRY(r = add_from(c, c->sources->counted, metric, METRIC_COUNTED));
	if (r > 0)
		return 0;
	base = catalog_find(c->sources->counted, metric, metric_base_len(metric));
	if (base)
		return error_set(c->err, ENOENT,
				 "The %s %s has no '%s'; --query-metrics --query-metrics-mode suffix --metrics %s lists what it has",
				 base->type == HOST_RATIO      ? "ratio" :
				 base->type == HOST_THROUGHPUT ? "throughput" :
								 "counter",
				 base->name, metric + metric_base_len(metric), base->name);
	catalog_hint(c->sources->counted, metric, hint, sizeof(hint));
	return error_set(c->err, ENOENT, "The chip %s does not have a metric '%s'.%s --query-metrics lists them", c->sources->counted->chip,
			 asked, hint);
}

static int add_sampled(struct choosing *c, const char *metric)
{
	char hint[512] = "";
	int r;

	if (!c->sources->sampled)
		return error_set(c->err, ENOTSUP, "The chip %s has no PM sampling: %s", c->sources->counted->chip, metric);
	TRY(r = add_from(c, c->sources->sampled, metric, METRIC_SAMPLED));
	if (r > 0)
		return 0;
	catalog_hint(c->sources->sampled, metric, hint, sizeof(hint));
	return error_set(c->err, ENOENT, "The chip %s samples no metric '%s'.%s", c->sources->sampled->chip, metric, hint);
}

struct breaking {
	struct choosing *choosing;
	bool companions;
};

static int add_breakdown_part(void *context, const char *part)
{
	struct breaking *b = context;
	struct metric_facts facts;

	/* Some are the chip's own business, and not to be had. */
	if (!catalog_facts(b->choosing->sources->counted, part, &facts))
		return 0;
	if (add_choice_metric(b->choosing, part, METRIC_COUNTED) < 0)
		return -ENOMEM;
	return b->companions ? choose_companions(b->choosing, part) : 0;
}

int choose_breakdown(struct choosing *c, const char *metric, bool companions)
{
	struct breaking b = { c, companions };
	int r = catalog_breakdown(c->sources->counted, metric, add_breakdown_part, &b);

	if (r == -ENOSYS)
		r = choice_note(c->choice, "libnvperf_host.so was not found beside CUPTI: throughputs are not broken down");
	return r == -ENOMEM ? error_set(c->err, ENOMEM, "Not enough memory") : 0;
}

static int add_breakdown(struct choosing *c, const char *metric)
{
	const struct metric_base *base = catalog_find(c->sources->counted, metric, metric_base_len(metric));
	char name[MAX_METRIC];

	if (!base || base->type != HOST_THROUGHPUT)
		return error_set(c->err, EINVAL, "breakdown:%s: not a throughput of the chip %s", metric, c->sources->counted->chip);
	if (!metric[metric_base_len(metric)]) {
		snprintf(name, sizeof(name), "%s.avg.pct_of_peak_sustained_elapsed", base->name);
		metric = name;
	}
	return choose_breakdown(c, metric, false);
}

static int add_matching(struct choosing *c, const char *expression)
{
	const struct catalog *catalog = c->sources->counted;
	char why[128];
	regex_t regex;
	size_t found = 0;
	int r = regcomp(&regex, expression, REG_EXTENDED | REG_NOSUB);

	if (r != 0) {
		regerror(r, &regex, why, sizeof(why));
		return error_set(c->err, EINVAL, "regex:%s cannot be read: %s", expression, why);
	}
	for (size_t i = 0; r == 0 && i < catalog->count; i++) {
		if (regexec(&regex, catalog->bases[i].name, 0, NULL, 0) != 0)
			continue;
		r = add_base(c, &catalog->bases[i], METRIC_COUNTED);
		found++;
	}
	regfree(&regex);
	return r == 0 && !found ? error_set(c->err, ENOENT, "No metric of the chip %s matches regex:%s", catalog->chip, expression) : r;
}

static int add_block_group(struct choosing *c, const char *name)
{
	const struct sections *all = c->sources->sections;
	int r = 0, found = 0;

	for (size_t i = 0; r == 0 && i < all->count; i++) {
		for (size_t k = 0; r == 0 && k < all->items[i].block_count; k++) {
			if (strcmp(all->items[i].blocks[k].group, name) != 0)
				continue;
			found = 1;
			r = choose_block(c, &all->items[i], &all->items[i].blocks[k], false);
		}
	}
	return found ? r :
		       error_set(c->err, ENOENT,
				 "Unknown group '%s'; --query-metrics --query-metrics-collection groups lists the "
				 "groups",
				 name);
}

int choose_metric(struct choosing *c, const char *text)
{
	char note[2 * MAX_METRIC], room[MAX_METRIC];
	const char *meant;

	if (strncmp(text, "regex:", 6) == 0)
		return add_matching(c, text + 6);
	if (strncmp(text, "group:", 6) == 0)
		return add_block_group(c, text + 6);
	if (strncmp(text, "breakdown:", 10) == 0)
		return add_breakdown(c, text + 10);
	if (strncmp(text, "pmsampling:", 11) == 0)
		return add_sampled(c, text + 11);
	meant = glossary_meant(c->sources->glossary, text, room, sizeof(room));
	if (!meant)
		return add_named(c, text, text);
	snprintf(note, sizeof(note), "%s is not a metric; using %s", text, meant);
	if (choice_note(c->choice, note) < 0)
		return error_set(c->err, ENOMEM, "Not enough memory");
	return add_named(c, meant, text);
}
