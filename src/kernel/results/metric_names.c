#include "kernel/results/metric_names.h"

#include <errno.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
#include "kernel/metrics/units.h"

static int compare_value_names(const void *a, const void *b)
{
	return strcmp((*(const struct metric_value *const *)a)->name, (*(const struct metric_value *const *)b)->name);
}

/* Launches have the same metrics, most of the time: what the one before had at that place need not be sorted. */
static bool had_metric_name(const struct kernel_result *before, size_t place, const char *name)
{
	return before && place < before->value_count && strcmp(before->values[place].name, name) == 0;
}

int metric_names_of(struct metric_names *ret, const struct kernel_results *results)
{
	size_t total = 0, kept = 0;

	for (size_t i = 0; i < results->count; i++)
		total += results->items[i].value_count;
	ret->items = calloc(total + 1, sizeof(*ret->items));
	ret->count = 0;
	if (!ret->items)
		return -ENOMEM;
	for (size_t i = 0; i < results->count; i++)
		for (size_t j = 0; j < results->items[i].value_count; j++)
			if (!had_metric_name(i ? &results->items[i - 1] : NULL, j, results->items[i].values[j].name))
				ret->items[ret->count++] = &results->items[i].values[j];
	sort_items(ret->items, ret->count, sizeof(*ret->items), compare_value_names);
	for (size_t i = 0; i < ret->count; i++)
		if (!kept || strcmp(ret->items[kept - 1]->name, ret->items[i]->name) != 0)
			ret->items[kept++] = ret->items[i];
	ret->count = kept;
	return 0;
}

/* A name without rollup stands for all that it has. */
static bool is_metric_meant(const char *asked, const char *name)
{
	size_t len = strlen(asked);

	if (strncmp(asked, name, len) != 0)
		return false;
	return !name[len] || (name[len] == '.' && !asked[metric_base_len(asked)]) || strcmp(name + len, WARM_SUFFIX) == 0;
}

/* Found in the name without rollup, as when it is recorded, or in all of it. */
static bool expression_is_in(const regex_t *regex, const char *name)
{
	char base[256];

	snprintf(base, sizeof(base), "%.*s", (int)metric_base_len(name), name);
	return regexec(regex, base, 0, NULL, 0) == 0 || regexec(regex, name, 0, NULL, 0) == 0;
}

static void mark_meant_metrics(const struct metric_names *all, const char *word, bool *marks)
{
	bool is_regex = strncmp(word, "regex:", 6) == 0;
	regex_t regex;

	if (is_regex && regcomp(&regex, word + 6, REG_EXTENDED | REG_NOSUB) != 0)
		return;
	for (size_t i = 0; i < all->count; i++)
		if (!marks[i])
			marks[i] = is_regex ? expression_is_in(&regex, all->items[i]->name) : is_metric_meant(word, all->items[i]->name);
	if (is_regex)
		regfree(&regex);
}

int metric_names_meant(struct metric_names *ret, const struct metric_names *all, char *const *words, size_t count)
{
	bool *marks = calloc(all->count + 1, sizeof(*marks));

	ret->count = 0;
	ret->items = calloc(all->count + 1, sizeof(*ret->items));
	for (size_t i = 0; marks && i < count; i++)
		mark_meant_metrics(all, words[i], marks);
	for (size_t i = 0; marks && ret->items && i < all->count; i++)
		if (marks[i])
			ret->items[ret->count++] = all->items[i];
	free(marks);
	return marks && ret->items ? 0 : -ENOMEM;
}

const struct metric_value *metric_names_find(const struct metric_names *names, const char *name)
{
	const struct metric_value wanted = { .name = name }, *key = &wanted;
	const struct metric_value **found = names->count ?
						    bsearch(&key, names->items, names->count, sizeof(*names->items), compare_value_names) :
						    NULL;

	return found ? *found : NULL;
}

void metric_names_release(struct metric_names *names)
{
	free(names->items);
	*names = (struct metric_names){ NULL, 0 };
}
