/* Which launches are summed up together. */
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/buf.h"
#include "base/cleanup.h"
#include "base/macros.h"
#include "base/sort.h"
#include "kernel/summary/group.h"

#define NO_RANGE "(no range)"
#define NO_OPERATOR "(no operator)"

static int add_summary_item(struct summary_items *all, const struct kernel_result *k, const char *key)
{
	if (!ARRAY_ROOM(all->items, all->count, all->capacity, 1))
		return -ENOMEM;
	all->items[all->count] = (struct summary_item){ .k = k, .key = strdup(key) };
	return all->items[all->count].key ? (all->count++, 0) : -ENOMEM;
}

/* A range has what was launched in those within it, too: each part of "domain@outer/inner" is a group. */
static int add_ranges(struct summary_items *all, const struct kernel_result *k)
{
	struct buf path = BUF_INIT;
	const char *domain = NULL;
	int r = 0;

	for (size_t i = 0; i < k->range_count && r >= 0; i++) {
		const struct kernel_range *range = &k->ranges[i];

		if (range->level <= 0 || !domain || strcmp(domain, range->domain) != 0) {
			buf_clear(&path);
			if (*range->domain)
				buf_printf(&path, "%s@", range->domain);
		} else {
			buf_puts(&path, "/");
		}
		domain = range->level < 0 ? NULL : range->domain;
		buf_puts(&path, range->name);
		r = add_summary_item(all, k, buf_cstr(&path));
	}
	buf_release(&path);
	return r < 0 || k->range_count ? r : add_summary_item(all, k, NO_RANGE);
}

/* "aten::mm, seq = 5, op_id = 12, sizes = [[2, 3]]" is aten::mm. A range is an operator where its name has a name space (and is no sentence),
 * or where torch.autograd.profiler.emit_nvtx wrote numbers behind it. */
bool operator_of(const char *range, char *ret, size_t size)
{
	static const char *const details[] = { ", seq = ", ", op_id = ", ", sizes = ", ", input_op_ids = " };
	static const char engine[] = "autograd::engine::evaluate_function: ";
	size_t len = strlen(range), at = 0;
	bool numbered = false;
	const char *found;

	/* What the engine evaluates is a function of its own, whatever its name. */
	if (strncmp(range, engine, strlen(engine)) == 0) {
		operator_of(range + strlen(engine), ret, size);
		return *ret != '\0';
	}
	for (size_t i = 0; i < COUNT_OF(details); i++) {
		found = strstr(range, details[i]);
		if (found && (size_t)(found - range) < len) {
			len = (size_t)(found - range);
			numbered = true;
		}
	}
	snprintf(ret, size, "%.*s", (int)(len < size ? len : size - 1), range);
	if (numbered)
		return len > 0;
	for (at = 0; at < len && (isalnum((unsigned char)range[at]) || strchr("_.:", range[at])); at++)
		;
	found = memmem(range, len, "::", 2);
	return at == len && found && found > range && found + 2 < range + len && found[2] != ':';
}

/* The innermost one: what it calls is its own doing. */
static int add_operator(struct summary_items *all, const struct kernel_result *k)
{
	char name[256];

	if (k->operator)
		return add_summary_item(all, k, k->operator);
	for (size_t i = k->range_count; i-- > 0;)
		if (k->ranges[i].level >= 0 && operator_of(k->ranges[i].name, name, sizeof(name)))
			return add_summary_item(all, k, name);
	return add_summary_item(all, k, NO_OPERATOR);
}

static int compare_summary_items(enum page_summary by, const struct summary_item *x, const struct summary_item *y)
{
	if (by == SUMMARY_PER_GPU)
		return (x->k->device > y->k->device) - (x->k->device < y->k->device);
	return by == SUMMARY_PER_KERNEL ? compare_launch_kinds(x->k, y->k) : strcmp(x->key, y->key);
}

bool summary_same_group(enum page_summary by, const struct summary_item *x, const struct summary_item *y)
{
	return compare_summary_items(by, x, y) == 0;
}

static int by_group(const void *a, const void *b, void *context)
{
	const struct summary_item *x = a, *y = b;
	int order = (x->group_time < y->group_time) - (x->group_time > y->group_time);

	if (!order)
		order = compare_summary_items(*(const enum page_summary *)context, x, y);
	return order ? order : (x->k->id > y->k->id) - (x->k->id < y->k->id);
}

/* Operators that take longest come first. */
static void set_group_times(struct summary_items *all, enum page_summary by)
{
	double sum, time;

	for (size_t i = 0, end; i < all->count; i = end) {
		sum = 0;
		for (end = i; end < all->count && compare_summary_items(by, &all->items[i], &all->items[end]) == 0; end++) {
			time = result_number(all->items[end].k, "gpu__time_duration.sum");
			sum += isfinite(time) ? time : 0;
		}
		for (size_t j = i; j < end; j++)
			all->items[j].group_time = sum;
	}
}

int summary_items_make(struct summary_items *ret, const struct kernel_results *results, enum page_summary by)
{
	*ret = (struct summary_items){ 0 };
	for (size_t i = 0; i < results->count; i++)
		TRY(by == SUMMARY_PER_NVTX     ? add_ranges(ret, &results->items[i]) :
		    by == SUMMARY_PER_OPERATOR ? add_operator(ret, &results->items[i]) :
						 add_summary_item(ret, &results->items[i], ""));
	sort_items_with(ret->items, ret->count, sizeof(*ret->items), by_group, &by);
	if (by == SUMMARY_PER_OPERATOR) {
		set_group_times(ret, by);
		sort_items_with(ret->items, ret->count, sizeof(*ret->items), by_group, &by);
	}
	return 0;
}

void summary_items_release(struct summary_items *all)
{
	for (size_t i = 0; i < all->count; i++)
		free(all->items[i].key);
	free(all->items);
	*all = (struct summary_items){ 0 };
}
