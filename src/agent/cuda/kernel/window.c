/* Whether launches are wanted now: between cuProfilerStart and Stop, and in which NVTX ranges. */
#include <stdatomic.h>
#include <stdio.h>

#include "agent/cuda/kernel/kernel.h"
#include "agent/cuda/life/life.h"
#include "fmt/filter/launch_filter.h"

#define RANGES 128u

static const struct kernel_request *request;
static struct range_numbers numbers;
static struct nvtx_filter include[KERNEL_REQUEST_TEXTS], exclude[KERNEL_REQUEST_TEXTS];
static _Atomic int is_on;            /* by cuProfilerStart and Stop */
static _Atomic int is_between;       /* them */
static _Atomic uint64_t instance;    /* of the program's cuProfilerStart, from 1 */
static _Atomic uint32_t range_count; /* NVTX ranges that were included so far */

static int parse_all(struct nvtx_filter *filters, const struct kernel_request_list *texts, char *why)
{
	for (unsigned i = 0; i < texts->count; i++)
		if (nvtx_filter_parse(&filters[i], texts->items[i], why, KERNEL_WHY_SIZE) < 0)
			return -1;
	return 0;
}

static int matches_any(const struct nvtx_filter *filters, unsigned filter_count, const struct nvtx_open_range *ranges, size_t count)
{
	for (unsigned i = 0; i < filter_count; i++)
		if (nvtx_filter_matches(&filters[i], ranges, count))
			return 1;
	return 0;
}

size_t kernel_open_ranges(struct nvtx_open_range *ret, size_t room)
{
	const struct agent_nvtx_view *view = cuda_agent.core->nvtx();

	return view ? view->ranges(ret, room) : 0;
}

const char *kernel_given_name(const void *handle)
{
	const struct agent_nvtx_view *view = handle ? cuda_agent.core->nvtx() : NULL;

	return view ? view->name_of(handle) : NULL;
}

/* A range has begun. It has a number if it is the one by which the thread came into what is included. */
static uint32_t number_begun_range(void)
{
	struct nvtx_open_range ranges[RANGES];
	size_t count = kernel_open_ranges(ranges, RANGES);

	for (size_t i = 0; i < count; i++)
		if (ranges[i].number)
			return 0;
	if (!matches_any(include, request->include.count, ranges, count))
		return 0;
	return atomic_fetch_add(&range_count, 1) + 1;
}

int kernel_window_prepare(const struct kernel_request *r, char *why)
{
	request = r;
	atomic_store(&is_on, !r->waits);
	if (parse_all(include, &r->include, why) < 0 || parse_all(exclude, &r->exclude, why) < 0 ||
	    range_numbers_parse(&numbers, r->range_filter ? r->range_filter : "::", why, KERNEL_WHY_SIZE) < 0)
		return -1;
	if (r->include.count)
		cuda_agent.core->on_nvtx_begin(number_begun_range);
	return 0;
}

/* The runtime's call and the driver's that it leads to come both, one in the other. */
void kernel_window_start(void)
{
	if (request->ignores_profiler || atomic_exchange(&is_between, 1))
		return;
	atomic_fetch_add(&instance, 1);
	if (numbers.restarts)
		atomic_store(&range_count, 0);
	atomic_store(&is_on, 1);
}

void kernel_window_stop(void)
{
	if (request->ignores_profiler)
		return;
	atomic_store(&is_between, 0);
	atomic_store(&is_on, 0);
}

static int is_between_right_calls(void)
{
	return numbers.profiler.is_any || (atomic_load(&is_between) && id_pattern_matches(&numbers.profiler, atomic_load(&instance), NULL));
}

static int is_in_right_ranges(void)
{
	struct nvtx_open_range ranges[RANGES];
	size_t count = kernel_open_ranges(ranges, RANGES);
	int number_is_right = numbers.nvtx.is_any;

	if (matches_any(exclude, request->exclude.count, ranges, count))
		return 0;
	for (size_t i = 0; i < count && !number_is_right; i++)
		number_is_right = ranges[i].number && id_pattern_matches(&numbers.nvtx, ranges[i].number, NULL);
	return number_is_right && (!request->include.count || matches_any(include, request->include.count, ranges, count));
}

int kernel_window_is_open(void)
{
	if (!atomic_load(&is_on) || !is_between_right_calls())
		return 0;
	return (!request->include.count && !request->exclude.count) || is_in_right_ranges();
}

void kernel_window_numbers(uint32_t *profiler, uint32_t *nvtx)
{
	struct nvtx_open_range ranges[RANGES];
	size_t count = request->include.count ? kernel_open_ranges(ranges, RANGES) : 0;

	*profiler = atomic_load(&is_between) ? (uint32_t)atomic_load(&instance) : 0;
	*nvtx = 0;
	for (size_t i = 0; i < count && !*nvtx; i++)
		*nvtx = ranges[i].number;
}

uint64_t kernel_window_range(void)
{
	struct nvtx_open_range ranges[RANGES];
	uint64_t profiler = atomic_load(&is_between) ? atomic_load(&instance) : 0;
	size_t count;

	if (!kernel_window_is_open() || !request->include.count)
		return kernel_window_is_open() ? profiler : 0;
	count = kernel_open_ranges(ranges, RANGES);
	for (size_t i = 0; i < count; i++)
		if (ranges[i].number)
			return profiler << 32 | ranges[i].number;
	return 0;
}

void kernel_runtime_callback(uint32_t id, const struct cupti_call_data *data)
{
	kernel_profiler_call(1, id, data->site == CUPTI_SITE_EXIT);
	kernel_range_look();
}
