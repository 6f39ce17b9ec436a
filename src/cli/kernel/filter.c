#include "cli/kernel/filter.h"

#include <string.h>
#include <unistd.h>

#include "cli/kernel/rename.h"
#include "fmt/filter/frame_filter.h"
#include "fmt/filter/launch_filter.h"
#include "fmt/filter/nvtx_filter.h"

#define MOST_TEXTS KERNEL_REQUEST_TEXTS /* of one option */

struct checking {
	struct cli *cli;
	struct kernel_filter *filter;
	struct kernel_request *request; /* the filter's */
	char why[400];
};

static bool refuse_filter(struct checking *c, const char *option, const char *text)
{
	command_fail(c->cli, &kernel_command, "--%s '%s': %s", option, text, c->why);
	return false;
}

/* The request has a line for each. */
static bool is_line(struct checking *c, const char *option, const char *text)
{
	snprintf(c->why, sizeof(c->why), "it has a line break");
	return !strchr(text, '\n') || refuse_filter(c, option, text);
}

static struct kernel_request_list list_of(const struct option_texts *texts)
{
	return (struct kernel_request_list){ (const char *const *)texts->items, texts->count };
}

static bool check_name_filter(struct checking *c, const char *name)
{
	struct name_pattern pattern;

	if (!name)
		return true;
	if (name_pattern_parse(&pattern, name, c->why, sizeof(c->why)) < 0)
		return refuse_filter(c, "kernel-name", name);
	name_pattern_release(&pattern);
	c->request->pattern = name;
	return is_line(c, "kernel-name", name);
}

static bool add_ids(struct checking *c, const struct option_texts *ids)
{
	struct kernel_id id;

	for (size_t i = 0; i < ids->count; i++) {
		snprintf(c->why, sizeof(c->why), "there are more than %u of them", MOST_TEXTS);
		if (i >= MOST_TEXTS || kernel_id_parse(&id, ids->items[i], c->why, sizeof(c->why)) < 0)
			return refuse_filter(c, "kernel-id", ids->items[i]);
		kernel_id_release(&id);
		if (!is_line(c, "kernel-id", ids->items[i]))
			return false;
	}
	c->request->ids = list_of(ids);
	return true;
}

static bool add_ranges(struct checking *c, const char *option, const struct option_texts *texts, struct kernel_request_list *ret)
{
	struct nvtx_filter filter;

	for (size_t i = 0; i < texts->count; i++) {
		snprintf(c->why, sizeof(c->why), "there are more than %u of them", MOST_TEXTS);
		if (i >= MOST_TEXTS || nvtx_filter_parse(&filter, texts->items[i], c->why, sizeof(c->why)) < 0)
			return refuse_filter(c, option, texts->items[i]);
		nvtx_filter_release(&filter);
		if (!is_line(c, option, texts->items[i]))
			return false;
	}
	*ret = list_of(texts);
	return true;
}

static bool add_range_filter(struct checking *c, const struct kernel_fields *f)
{
	struct range_numbers filter;
	bool needs_ranges;

	if (!f->range_filter)
		return true;
	if (range_numbers_parse(&filter, f->range_filter, c->why, sizeof(c->why)) < 0)
		return refuse_filter(c, "range-filter", f->range_filter);
	/* Kernels of a report have the numbers they were recorded with. */
	needs_ranges = !filter.nvtx.is_any && !f->nvtx_include.count && !f->import;
	range_numbers_release(&filter);
	snprintf(c->why, sizeof(c->why), "numbers of NVTX ranges require --nvtx-include");
	if (needs_ranges)
		return refuse_filter(c, "range-filter", f->range_filter);
	c->request->range_filter = f->range_filter;
	return is_line(c, "range-filter", f->range_filter);
}

static bool add_devices(struct checking *c, const char *devices)
{
	snprintf(c->why, sizeof(c->why), "it must be a list of numbers below %u", DEVICES_MAX);
	if (devices)
		c->request->devices = devices_parse(devices);
	return !devices || c->request->devices || refuse_filter(c, "devices", devices);
}

bool kernel_filter_keeps_nvtx(const struct kernel_fields *f)
{
	return f->nvtx || f->nvtx_include.count || f->nvtx_exclude.count;
}

bool kernel_filter_needs_nvtx(const struct kernel_fields *f)
{
	return kernel_filter_keeps_nvtx(f) || f->ids.count;
}

/* One list of all. */
static bool add_processes(struct checking *c, const struct kernel_fields *f)
{
	struct buf *list = &c->filter->processes;
	bool ok = true;

	for (size_t i = 0; i < f->process_filter.count && ok; i++) {
		buf_printf(list, "%s%s", i ? "," : "", f->process_filter.items[i]);
		ok = process_filter_check(f->process_filter.items[i], c->why, sizeof(c->why)) == 0 ||
		     refuse_filter(c, "target-processes-filter", f->process_filter.items[i]);
	}
	if (f->process_filter.count)
		c->request->processes = buf_cstr(list);
	if (f->processes == 1)
		c->request->parent = (uint64_t)getpid();
	return ok && is_line(c, "target-processes-filter", buf_cstr(list));
}

static bool check_frames(struct checking *c, const char *option, const struct option_texts *texts, bool has_files)
{
	struct frame_filter filter;
	bool has_file;

	for (size_t i = 0; i < texts->count; i++) {
		snprintf(c->why, sizeof(c->why), "there are more than %u of them", MOST_TEXTS);
		if (i >= MOST_TEXTS || frame_filter_parse(&filter, texts->items[i], c->why, sizeof(c->why)) < 0)
			return refuse_filter(c, option, texts->items[i]);
		has_file = filter.is_given[FRAME_FILE];
		frame_filter_release(&filter);
		snprintf(c->why, sizeof(c->why), "source files of native functions are not known: MODULE@@FUNCTION");
		if (has_file && !has_files)
			return refuse_filter(c, option, texts->items[i]);
		if (has_files && !is_line(c, option, texts->items[i]))
			return false;
	}
	return true;
}

/* Native stacks are known to the recorder alone. */

static bool add_frames(struct checking *c, const struct kernel_fields *f)
{
	c->request->python_include = list_of(&f->python_include);
	c->request->python_exclude = list_of(&f->python_exclude);
	return check_frames(c, "python-include", &f->python_include, true) && check_frames(c, "python-exclude", &f->python_exclude, true) &&
	       check_frames(c, "native-include", &f->native_include, false) && check_frames(c, "native-exclude", &f->native_exclude, false);
}

bool kernel_filter_is_native(const struct kernel_fields *f)
{
	return f->native_include.count || f->native_exclude.count;
}

static bool add_call_stack(struct checking *c, const struct kernel_fields *f)
{
	const struct option_texts *types = &f->call_stack_types;
	unsigned wanted = f->call_stack && !types->count ? KERNEL_STACK_NATIVE : 0;
	const char *text = NULL;
	char piece[64];
	size_t at = 0;

	while (next_piece(types, &at, &text, piece, sizeof(piece))) {
		snprintf(c->why, sizeof(c->why), "it must be native, python or all");
		if (strcmp(piece, "native") != 0 && strcmp(piece, "python") != 0 && strcmp(piece, "all") != 0)
			return refuse_filter(c, "call-stack-type", piece);
		wanted |= *piece == 'n' ? KERNEL_STACK_NATIVE :
			  *piece == 'p' ? KERNEL_STACK_PYTHON :
					  KERNEL_STACK_NATIVE | KERNEL_STACK_PYTHON;
	}
	if (kernel_filter_is_native(f))
		wanted |= KERNEL_STACK_NATIVE;
	if (f->python_include.count || f->python_exclude.count)
		wanted |= KERNEL_STACK_PYTHON;
	c->request->call_stack = (int)wanted;
	return true;
}

static bool add_renames(struct checking *c, const struct kernel_fields *f)
{
	struct kernel_renames renames = KERNEL_RENAMES_INIT;
	bool ok = kernel_renames_load(c->cli, f, &renames);
	int r = kernel_renames_list(&renames, &c->filter->renames);

	kernel_renames_release(&renames);
	c->request->renames = (struct kernel_request_list){ (const char *const *)c->filter->renames.items, c->filter->renames.count };
	if (ok && r < 0)
		command_fail(c->cli, &kernel_command, "Not enough memory");
	return ok && r >= 0;
}

static void add_numbers(struct kernel_request *r, const struct kernel_fields *f)
{
	bool is_native = kernel_filter_is_native(f);

	r->name_base = f->name_base;
	r->filter_mode = f->filter_mode;
	r->skip_before = (uint64_t)f->skip_before;
	r->skip = is_native ? 0 : (uint64_t)f->skip;
	r->count = f->count && !is_native ? (uint64_t)f->count : UINT64_MAX;
	/* yes, on and 1 have even numbers. */
	r->waits = f->from_start % 2;
	r->ignores_profiler = f->ignores_profiler;
	r->nvtx = kernel_filter_keeps_nvtx(f);
}

bool kernel_filter_make(struct cli *cli, const struct kernel_fields *f, struct kernel_filter *ret)
{
	struct kernel_request *r = &ret->request;
	struct checking c = { .cli = cli, .filter = ret, .request = r };

	*ret = (struct kernel_filter){ .processes = BUF_INIT, .renames = STRING_LIST_INIT };
	add_numbers(r, f);
	return check_name_filter(&c, f->name) && add_ids(&c, &f->ids) && add_ranges(&c, "nvtx-include", &f->nvtx_include, &r->include) &&
	       add_ranges(&c, "nvtx-exclude", &f->nvtx_exclude, &r->exclude) && add_range_filter(&c, f) && add_devices(&c, f->devices) &&
	       add_processes(&c, f) && add_frames(&c, f) && add_call_stack(&c, f) && add_renames(&c, f);
}

void kernel_filter_release(struct kernel_filter *filter)
{
	buf_release(&filter->processes);
	string_list_release(&filter->renames);
}
