/* Which launches are read: where they are made, by name and number, then the first so many are passed over, then so many are taken. */
#include <stdio.h>
#include <string.h>

#include "agent/cuda/kernel/kernel.h"
#include "agent/cuda/records/names.h"
#include "base/hash.h"
#include "fmt/filter/frame_filter.h"
#include "fmt/filter/launch_filter.h"

#define COUNTS 1024u
#define INVOCATIONS 8192u

/* Launches of one GPU, or with one configuration, or all. */
struct count {
	uint64_t key;
	uint64_t seen, matched, taken;
};

static const struct kernel_request *request;
static struct kernel_id ids[KERNEL_REQUEST_TEXTS];
static struct frame_filter include[KERNEL_REQUEST_TEXTS], exclude[KERNEL_REQUEST_TEXTS];
static struct count total;
static struct count counts[COUNTS];
static struct {
	uint64_t key;
	uint64_t count;
} invocations[INVOCATIONS];

static int prepare_frames(struct frame_filter *ret, const struct kernel_request_list *texts, char *why)
{
	for (unsigned i = 0; i < texts->count; i++)
		if (frame_filter_parse(&ret[i], texts->items[i], why, KERNEL_WHY_SIZE) < 0)
			return -1;
	return 0;
}

int kernel_choose_prepare(const struct kernel_request *r, char *why)
{
	request = r;
	for (unsigned i = 0; i < r->ids.count; i++)
		if (kernel_id_parse(&ids[i], r->ids.items[i], why, KERNEL_WHY_SIZE) < 0)
			return -1;
	if (prepare_frames(include, &r->python_include, why) < 0 || prepare_frames(exclude, &r->python_exclude, why) < 0)
		return -1;
	return kernel_names_prepare(r, ids, why) < 0 ? -1 : kernel_window_prepare(r, why);
}

static uint32_t find_launch_device(const struct kernel_launch *l)
{
	uint32_t device = CUDA_NO_ID;

	/* Only asked for where it matters: every launch comes here. */
	if ((request->devices || request->filter_mode == KERNEL_FILTER_PER_GPU) && cuda_agent.cupti.cuptiGetDeviceId)
		cuda_agent.cupti.cuptiGetDeviceId(l->context, &device);
	return device;
}

static uint32_t find_launch_stream(const struct kernel_launch *l)
{
	uint32_t stream = CUDA_NO_ID;

	if (cuda_agent.cupti.cuptiGetStreamIdEx)
		cuda_agent.cupti.cuptiGetStreamIdEx(l->context, l->stream, 0, &stream);
	return stream;
}

/* What --filter-mode keeps apart; 0: nothing. */
static uint64_t hash_launch_key(const struct kernel_launch *l, uint32_t device)
{
	uint64_t key = 1;

	if (request->filter_mode == KERNEL_FILTER_PER_GPU)
		return hash_bytes(key, &device, sizeof(device)) | 1;
	if (request->filter_mode == KERNEL_FILTER_GLOBAL)
		return 0;
	key = hash_bytes(key, l->grid, sizeof(l->grid));
	key = hash_bytes(key, l->block, sizeof(l->block));
	return hash_bytes(key, &l->shared, sizeof(l->shared)) | 1;
}

/* Where the table is full, the rest are counted together. */
static struct count *count_of(uint64_t key)
{
	struct count *c;

	for (uint32_t i = 0; key && i < COUNTS; i++) {
		c = &counts[(key + i) % COUNTS];
		if (c->key == key || !c->key) {
			c->key = key;
			return c;
		}
	}
	return &total;
}

static uint64_t next_invocation(uint64_t key)
{
	uint32_t at = 0;

	key |= 1;
	while (at < INVOCATIONS - 1 && invocations[(key + at) % INVOCATIONS].key && invocations[(key + at) % INVOCATIONS].key != key)
		at++;
	invocations[(key + at) % INVOCATIONS].key = key;
	return ++invocations[(key + at) % INVOCATIONS].count;
}

/* Invocations are counted by name, and by context and stream where these are given. */
static int is_id(unsigned number, const struct kernel_launch *l, const struct kernel_name *name, uint64_t key)
{
	const struct kernel_id *id = &ids[number];
	uint32_t stream = find_launch_stream(l);

	if (!(name->ids >> number & 1) || !id_pattern_matches(&id->context, l->context_id, kernel_given_name(l->context)) ||
	    !id_pattern_matches(&id->stream, stream, kernel_given_name(l->stream)))
		return 0;
	if (id->invocation.is_any)
		return 1;
	key = hash_bytes(key ^ name->base_hash, &number, sizeof(number));
	if (!id->context.is_any)
		key = hash_bytes(key, &l->context_id, sizeof(l->context_id));
	if (!id->stream.is_any)
		key = hash_bytes(key, &stream, sizeof(stream));
	return id_pattern_matches(&id->invocation, next_invocation(key), NULL);
}

static int is_any_id(const struct kernel_launch *l, const struct kernel_name *name, uint64_t key)
{
	int found = request->ids.count == 0;

	/* All count, whether another one matches or not. */
	for (unsigned i = 0; i < request->ids.count; i++)
		found |= is_id(i, l, name, key);
	return found;
}

enum { FRAME_IS_INCLUDED = 1, FRAME_IS_EXCLUDED = 2 };

static int is_frame_of(const struct frame_filter *filters, unsigned count, const struct kernel_python_frame *frame)
{
	for (unsigned i = 0; i < count; i++)
		if (frame_filter_matches(&filters[i], frame->file, frame->file, frame->function))
			return 1;
	return 0;
}

static int look_at_frame(void *context, const struct kernel_python_frame *frame)
{
	int *found = context;

	if (is_frame_of(include, request->python_include.count, frame))
		*found |= FRAME_IS_INCLUDED;
	if (is_frame_of(exclude, request->python_exclude.count, frame))
		*found |= FRAME_IS_EXCLUDED;
	/* One that is left out is left out, whatever else it is in. */
	return *found & FRAME_IS_EXCLUDED || (*found && !request->python_exclude.count);
}

static int is_in_right_functions(void)
{
	int found = request->python_include.count ? 0 : FRAME_IS_INCLUDED;

	if (!request->python_include.count && !request->python_exclude.count)
		return 1;
	kernel_python_each(look_at_frame, &found);
	return found == FRAME_IS_INCLUDED;
}

static int is_launch_selected(const struct kernel_launch *l, const struct kernel_name *name, uint64_t key)
{
	return kernel_window_is_open() && name->matches && is_in_right_functions() && is_any_id(l, name, key);
}

/* The report has the names of those that were not read, for who looks for one in vain. */
static int pass_over(struct kernel_name *name, const char *text)
{
	if (!name->is_reported)
		cuda_function_number(text);
	name->is_reported = 1;
	return 0;
}

int kernel_choose(const struct kernel_launch *l)
{
	struct kernel_name *name = kernel_name_of(l->name);
	uint32_t device = find_launch_device(l);
	uint64_t key = hash_launch_key(l, device);
	struct count *c = count_of(key), *all = request->filter_mode == KERNEL_FILTER_PER_GPU ? &total : c;

	if (request->devices && (device >= DEVICES_MAX || !(request->devices >> device & 1)))
		return pass_over(name, l->name);
	if (all->seen++ < request->skip_before || !is_launch_selected(l, name, key) || c->matched++ < request->skip ||
	    c->taken >= request->count)
		return pass_over(name, l->name);
	c->taken++;
	return 1;
}

int kernel_choose_could(const struct kernel_launch *l)
{
	const struct kernel_name *name = kernel_name_of(l->name);

	return name->matches && (!request->ids.count || name->ids);
}

int kernel_choose_range(const struct kernel_launch *l)
{
	uint32_t device = find_launch_device(l);
	struct count *c = count_of(request->filter_mode == KERNEL_FILTER_PER_GPU ? hash_launch_key(l, device) : 0);

	if (request->devices && (device >= DEVICES_MAX || !(request->devices >> device & 1)))
		return 0;
	if (c->seen++ < request->skip_before || c->matched++ < request->skip || c->taken >= request->count)
		return 0;
	c->taken++;
	return 1;
}

/* With counts kept apart, there may always be another. */
int kernel_choose_done(void)
{
	return total.taken >= request->count;
}
