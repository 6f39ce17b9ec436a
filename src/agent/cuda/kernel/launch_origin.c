/* Where kernels are launched: NVTX ranges, the stack of the call, the process. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/core/syscalls.h"
#include "agent/cuda/kernel/kernel.h"
#include "agent/cuda/records/definitions.h"
#include "base/text/path.h"
#include "fmt/filter/launch_filter.h"

#define RANGES 128u
#define STACK_BYTES 32768u
#define MOST_ANCESTORS 64

static void report_launch_origin(const struct record_kernel_place *place, enum kernel_place kind, const char *text, uint32_t text_size)
{
	uint32_t size = (uint32_t)sizeof(*place) + text_size;
	struct record_kernel_place *record = cuda_agent.core->begin_patiently(size);

	if (!record)
		return;
	*record = *place;
	memcpy(record + 1, text, text_size);
	cuda_agent.core->end(record, record_head(RECORD_KERNEL_PLACE, kind, size, 0, 0), size);
}

static void report_range(struct record_kernel_place *place, const struct nvtx_open_range *range)
{
	char text[2048];
	int size = snprintf(text, sizeof(text), "%.1000s", range->domain) + 1;

	place->color = range->color;
	if (range->name)
		size += snprintf(text + size, sizeof(text) - (size_t)size, "%.1000s", range->name);
	else
		size--;
	report_launch_origin(place, range->is_pushed ? KERNEL_PLACE_PUSHED : KERNEL_PLACE_STARTED, text, (uint32_t)size);
}

static int report_python(void *context, const struct kernel_python_frame *frame)
{
	struct record_kernel_place *place = context;
	char text[sizeof(frame->function) + sizeof(frame->file)];
	int size = snprintf(text, sizeof(frame->function), "%s", frame->function) + 1;

	size += snprintf(text + size, sizeof(frame->file), "%s", frame->file);
	place->color = frame->line > 0 ? (uint32_t)frame->line : 0;
	report_launch_origin(place, KERNEL_PLACE_PYTHON, text, (uint32_t)size);
	return 0;
}

static void report_numbers(struct record_kernel_place *place)
{
	uint32_t profiler, nvtx;

	kernel_window_numbers(&profiler, &nvtx);
	place->color = profiler;
	if (profiler)
		report_launch_origin(place, KERNEL_PLACE_BETWEEN, "", 0);
	place->color = nvtx;
	if (nvtx)
		report_launch_origin(place, KERNEL_PLACE_RANGE, "", 0);
}

void kernel_report_place(const struct record_kernel *kernel)
{
	struct record_kernel_place place = { .time = kernel->time, .number = kernel->number };
	struct nvtx_open_range ranges[RANGES];
	size_t count = kernel_agent.request.nvtx ? kernel_open_ranges(ranges, RANGES) : 0;

	for (size_t i = 0; i < count; i++)
		report_range(&place, &ranges[i]);
	report_numbers(&place);
	if (kernel_agent.request.call_stack & KERNEL_STACK_PYTHON)
		kernel_python_each(report_python, &place);
	place.color = 0;
	if (!(kernel_agent.request.call_stack & KERNEL_STACK_NATIVE))
		return;
	cuda_agent.core->stack(kernel->time, STACK_BYTES);
	report_launch_origin(&place, KERNEL_PLACE_STACK, "", 0);
}

static int read_process_file(const char *path, char *ret, size_t size)
{
	long fd = raw_syscall(SYS_openat, AT_FDCWD, (long)path, O_RDONLY | O_CLOEXEC, 0, 0, 0), got = -1;

	if (fd >= 0) {
		got = raw_syscall(SYS_read, fd, (long)ret, (long)size - 1, 0, 0, 0);
		raw_close((int)fd);
	}
	ret[got > 0 ? got : 0] = '\0';
	return got > 0 ? 0 : -1;
}

static int program_of(uint32_t pid, char *ret, size_t size)
{
	char link[40];
	long got;

	snprintf(link, sizeof(link), "/proc/%u/exe", pid);
	got = raw_syscall(SYS_readlinkat, AT_FDCWD, (long)link, (long)ret, (long)size - 1, 0, 0);
	ret[got > 0 ? got : 0] = '\0';
	return got > 0 ? 0 : -1;
}

/* The name by which it was called may be a link's. */
static enum process_choice select_process(const char *filter, uint32_t pid)
{
	char program[1024], file[40], called[1024];

	snprintf(file, sizeof(file), "/proc/%u/cmdline", pid);
	if (program_of(pid, program, sizeof(program)) < 0)
		return PROCESS_TAKEN;
	read_process_file(file, called, sizeof(called));
	return process_filter_choose(filter, path_name(program), path_name(called));
}

/* "pid (name) state parent ...", where the name may have anything in it. 0: not known. */
static uint32_t parent_of(uint32_t pid)
{
	char file[40], text[1024], *end;

	snprintf(file, sizeof(file), "/proc/%u/stat", pid);
	end = read_process_file(file, text, sizeof(text)) < 0 ? NULL : strrchr(text, ')');
	return end && strlen(end) > 4 ? (uint32_t)strtoul(end + 4, NULL, 10) : 0;
}

static int is_below_excluded(const char *filter)
{
	uint32_t pid = (uint32_t)raw_getppid();

	for (int i = 0; pid > 1 && i < MOST_ANCESTORS && strstr(filter, "exclude-tree:"); i++) {
		if (select_process(filter, pid) == PROCESS_TREE_PASSED_OVER)
			return 1;
		pid = parent_of(pid);
	}
	return 0;
}

int kernel_process_is_meant(const struct kernel_request *request)
{
	if (request->parent && (uint32_t)raw_getppid() != request->parent)
		return 0;
	return !request->processes ||
	       (select_process(request->processes, (uint32_t)raw_getpid()) == PROCESS_TAKEN && !is_below_excluded(request->processes));
}

void kernel_report_left_alone(const char *why)
{
	struct record_kernel_place place = { .time = cuda_agent.core->now() };

	report_launch_origin(&place, KERNEL_PLACE_GRAPH, why, (uint32_t)strlen(why));
}

void kernel_report_process(void)
{
	struct record_kernel_place place = { .time = cuda_agent.core->now() };

	report_launch_origin(&place, KERNEL_PLACE_PROCESS, "", 0);
	cuda_agent.core->ring_doorbell();
}
