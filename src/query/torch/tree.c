/* Who is within whom, and who started what: the rules of torch's key_averages() (docs/torch.md). */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/idmap.h"
#include "base/sort.h"
#include "query/torch/ops.h"

/* DeviceType of torch. */
enum { ON_CPU = 0, ON_CUDA = 1, ON_MKLDNN = 2, ON_IDEEP = 5, ON_HIP = 6, ON_PRIVATE = 20 };

struct order {
	int64_t start;
	int64_t end;
	uint32_t thread;
	uint32_t place;
};

struct linking {
	struct torch_ops *ops;
	struct idmap owners; /* by external id: place */
};

static int is_owner(const struct torch_event *e)
{
	return (e->kind == TORCH_OPERATOR || e->kind == TORCH_ANNOTATION) && e->external && !(e->flags & TORCH_ASYNC);
}

static int list_owners(struct linking *k)
{
	const struct torch_ops *t = k->ops;
	int r = 0;

	idmap_release(&k->owners);
	/* Of several the first. */
	for (uint32_t i = t->count; i-- > 0 && r == 0;)
		if (is_owner(&t->events[i]))
			r = idmap_put(&k->owners, (uint64_t)t->events[i].external, i);
	return r;
}

/* The operator of that id; NULL when there is none. */
static struct torch_event *owner_of(const struct linking *k, int64_t external)
{
	uint64_t place = external ? idmap_get(&k->owners, (uint64_t)external) : IDMAP_NONE;

	return place != IDMAP_NONE ? &k->ops->events[place] : NULL;
}

/* Without a step, the thread that waited for the device at the end is the one that stopped the profiler. */
static uint32_t find_stopper(const struct torch_ops *t)
{
	const char *text;
	uint32_t thread = t->stopper;
	int64_t last = INT64_MIN;

	for (uint32_t i = 0; !t->stopper && i < t->count; i++) {
		if (t->events[i].kind != TORCH_CALL || t->events[i].external || t->events[i].start < last)
			continue;
		text = torch_text(t, t->events[i].name);
		if (text && strcmp(text, "cudaDeviceSynchronize") == 0) {
			last = t->events[i].start;
			thread = t->events[i].thread;
		}
	}
	return thread;
}

/* A call belongs to the thread of its operator; one without an operator to the thread that stopped the profiler. */
static void place_calls(struct linking *k)
{
	const struct torch_event *owner;

	/* A recorded call is on its own thread. */
	if (k->ops->recorded)
		return;
	k->ops->stopper = find_stopper(k->ops);
	for (uint32_t i = 0; i < k->ops->count; i++) {
		struct torch_event *e = &k->ops->events[i];

		if (e->kind != TORCH_CALL && e->kind != TORCH_OVERHEAD)
			continue;
		owner = owner_of(k, e->external);
		if (owner)
			e->thread = owner->thread;
		else if (!e->external && k->ops->stopper)
			e->thread = k->ops->stopper;
	}
}

static int compare_order(const void *a, const void *b, void *context)
{
	const struct torch_event *events = context;
	const struct order *x = a, *y = b;

	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	if (x->end != y->end)
		return x->end > y->end ? -1 : 1;
	if (events[x->place].kind != events[y->place].kind)
		return events[x->place].kind < events[y->place].kind ? -1 : 1;
	if (events[x->place].depth != events[y->place].depth)
		return events[x->place].depth < events[y->place].depth ? -1 : 1;
	return x->place < y->place ? -1 : x->place > y->place;
}

/* Moves the event that order[i] names to place i, for every i. */
static void permute(struct torch_event *events, struct order *order, uint32_t count)
{
	struct torch_event first;
	uint32_t at, from;

	for (uint32_t i = 0; i < count; i++) {
		first = events[i];
		for (at = i; order[at].place != i; at = from) {
			from = order[at].place;
			events[at] = events[from];
			order[at].place = at;
		}
		events[at] = first;
		order[at].place = at;
	}
}

static int sort_events(struct torch_ops *t)
{
	struct order *order = malloc(((size_t)t->count + 1) * sizeof(*order));

	if (!order)
		return -ENOMEM;
	t->host_count = 0;
	for (uint32_t i = 0; i < t->count; i++) {
		const struct torch_event *e = &t->events[i];

		t->host_count += !torch_on_device(e);
		order[i] = (struct order){ e->start, e->end, torch_on_device(e) ? UINT32_MAX : e->thread, i };
	}
	sort_items_with(order, t->count, sizeof(*order), compare_order, t->events);
	permute(t->events, order, t->count);
	free(order);
	return 0;
}

static int64_t duration(const struct torch_event *e)
{
	return torch_difference(e->end, e->start);
}

/* Those around an event are its parent and the parents of that; one that only overlaps is around nobody after it. */
static void nest(struct torch_ops *t)
{
	uint32_t last = 0, thread = 0;

	for (uint32_t i = 0; i < t->host_count; i++) {
		struct torch_event *e = &t->events[i];
		uint32_t at = e->thread == thread ? last : 0;

		if (e->flags & TORCH_ASYNC)
			continue;
		while (at && (e->start >= t->events[at - 1].end || e->end > t->events[at - 1].end))
			at = t->events[at - 1].parent;
		e->parent = at;
		if (at)
			t->events[at - 1].children++;
		last = i + 1;
		thread = e->thread;
	}
}

static void attach_work(struct linking *k)
{
	struct torch_event *owner;

	for (uint32_t i = k->ops->host_count; i < k->ops->count; i++) {
		struct torch_event *e = &k->ops->events[i];

		e->device_self = e->device_total = duration(e);
		owner = owner_of(k, e->external);
		if (!owner)
			continue;
		e->parent = (uint32_t)(owner - k->ops->events) + 1;
		if (e->kind != TORCH_GPU_ANNOTATION)
			owner->device_self = torch_sum(owner->device_self, duration(e));
	}
}

static uint32_t standing_parent(const struct torch_ops *t, const struct torch_event *e)
{
	if (e->parent && t->events[e->parent - 1].flags & TORCH_MERGED)
		return t->events[e->parent - 1].parent;
	return e->parent;
}

/* An only child of the same name is its parent again: aten::div within aten::div. */
static void merge_only_children(struct torch_ops *t)
{
	struct torch_event *e, *parent;

	for (uint32_t i = 0; i < t->count; i++) {
		e = &t->events[i];
		e->parent = standing_parent(t, e);
		if (i >= t->host_count || !e->parent)
			continue;
		parent = &t->events[e->parent - 1];
		if (parent->children != 1 || parent->name != e->name)
			continue;
		e->flags |= TORCH_MERGED;
		parent->children = e->children;
		parent->device_self = e->device_self;
	}
}

static void add_memory(struct torch_memory *parent, const struct torch_memory *child)
{
	parent->children_host = torch_sum(parent->children_host, child->host);
	parent->children_device = torch_sum(parent->children_device, child->device);
}

static void add_child_times(struct torch_ops *t)
{
	struct torch_event *e, *parent;

	for (uint32_t i = t->host_count; i-- > 0;) {
		e = &t->events[i];
		if (e->flags & TORCH_MERGED)
			continue;
		if (e->flags & TORCH_ASYNC)
			e->device_self = 0;
		e->device_total = torch_sum(e->device_total, e->device_self);
		if (!e->parent)
			continue;
		parent = &t->events[e->parent - 1];
		parent->children_time = torch_sum(parent->children_time, duration(e));
		parent->device_total = torch_sum(parent->device_total, e->device_total);
		if (t->memory)
			add_memory(&t->memory[e->parent - 1], &t->memory[i]);
	}
}

static int compare_allocations(const void *a, const void *b)
{
	const struct torch_allocation *x = a, *y = b;

	return x->time < y->time ? -1 : x->time > y->time;
}

static int64_t host_bytes(const struct torch_allocation *a)
{
	return a->device_type == ON_CPU || a->device_type == ON_MKLDNN || a->device_type == ON_IDEEP ? a->bytes : 0;
}

static int64_t device_bytes(const struct torch_allocation *a)
{
	return a->device_type == ON_CUDA || a->device_type == ON_HIP || a->device_type == ON_PRIVATE ? a->bytes : 0;
}

static int is_allocation_before(const struct torch_loading *l, uint32_t at, int64_t time, int behind)
{
	return l->allocations[at].time < time || (behind && l->allocations[at].time == time);
}

/* The first allocation at `time` or later; with `behind`, later. Mostly it is near the one found before, `near`. */
static uint32_t first_allocation(const struct torch_loading *l, int64_t time, int behind, uint32_t near)
{
	uint32_t low = 0, high = l->allocation_count, middle, step = 1;

	if (near < high && is_allocation_before(l, near, time, behind)) {
		for (low = near + 1; high - low > step && is_allocation_before(l, low + step, time, behind); step *= 2)
			low += step + 1;
		high = high - low > step ? low + step : high;
	} else {
		for (high = near; high > step && !is_allocation_before(l, high - step, time, behind); step *= 2)
			high -= step;
		low = high > step ? high - step : 0;
	}
	while (low < high) {
		middle = low + (high - low) / 2;
		if (is_allocation_before(l, middle, time, behind))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

struct sums {
	int64_t host; /* of all before */
	int64_t device;
	int32_t covers; /* intervals that begin here less those that end here */
};

static void sum_allocations(const struct torch_loading *l, struct sums *sums)
{
	for (uint32_t i = 0; i < l->allocation_count; i++) {
		sums[i + 1].host = torch_sum(sums[i].host, host_bytes(&l->allocations[i]));
		sums[i + 1].device = torch_sum(sums[i].device, device_bytes(&l->allocations[i]));
	}
}

static int is_covering(const struct torch_event *e)
{
	return !torch_on_device(e) && e->kind != TORCH_MEMORY;
}

/* Allocations that no event was around become events. Those remember which they are as `external`. */
static int add_lone_allocations(struct torch_loading *l, struct sums *sums)
{
	struct torch_ops *t = l->ops;
	int32_t name = torch_made_text(&t->texts, "[memory]");
	uint32_t first = 0, last;
	int64_t covered = 0;
	struct torch_event *e;

	for (uint32_t i = 0; i < t->count; i++) {
		if (!is_covering(&t->events[i]))
			continue;
		first = first_allocation(l, t->events[i].start, 0, first);
		last = first_allocation(l, t->events[i].end, 1, first);
		sums[first].covers++;
		sums[last].covers--;
	}
	for (uint32_t i = 0; i < l->allocation_count; i++) {
		covered += sums[i].covers;
		if (covered > 0)
			continue;
		e = name ? torch_add_event(t) : NULL;
		if (!e)
			return -ENOMEM;
		/* clang-format off */
		*e = (struct torch_event){ .start = l->allocations[i].time, .end = l->allocations[i].time, .name = name,
					   .thread = l->allocations[i].thread, .kind = TORCH_MEMORY,
					   .flags = l->allocations[i].flags, .external = (int64_t)i + 1, .args = l->allocations[i].args };
		/* clang-format on */
	}
	return 0;
}

/* What was allocated while an event lasted, by whichever thread. */
static int count_memory(struct torch_loading *l, const struct sums *sums)
{
	struct torch_ops *t = l->ops;
	uint32_t near = 0, first, last;

	t->memory = calloc((size_t)t->host_count + 1, sizeof(*t->memory));
	if (!t->memory)
		return -ENOMEM;
	for (uint32_t i = 0; i < t->host_count; i++) {
		const struct torch_event *e = &t->events[i];

		first = last = 0;
		if (is_covering(e)) {
			first = near = first_allocation(l, e->start, 0, near);
			last = first_allocation(l, e->end, 1, first);
		} else if (e->external) {
			first = (uint32_t)e->external - 1;
			last = first + 1;
		}
		t->memory[i].host = torch_difference(sums[last].host, sums[first].host);
		t->memory[i].device = torch_difference(sums[last].device, sums[first].device);
	}
	return 0;
}

static int build(struct linking *k, struct torch_loading *l, struct sums *sums)
{
	int r = 0;

	TRY(list_owners(k));
	place_calls(k);
	if (l->allocation_count) {
		sort_items(l->allocations, l->allocation_count, sizeof(*l->allocations), compare_allocations);
		sum_allocations(l, sums);
		r = add_lone_allocations(l, sums);
	}
	if (r >= 0)
		r = sort_events(l->ops);
	if (r >= 0)
		r = list_owners(k);
	if (r >= 0 && l->allocation_count)
		r = count_memory(l, sums);
	if (r < 0)
		return r;
	nest(l->ops);
	attach_work(k);
	merge_only_children(l->ops);
	add_child_times(l->ops);
	return 0;
}

int torch_link(struct torch_loading *l)
{
	struct linking k = { .ops = l->ops };
	struct sums *sums = calloc((size_t)l->allocation_count + 1, sizeof(*sums));
	int r = sums ? build(&k, l, sums) : -ENOMEM;

	idmap_release(&k.owners);
	free(sums);
	return r;
}
