#include "cli/kernel_filter.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "cli/kernel_rename.h"
#include "fmt/frame_filter.h"
#include "fmt/kernel_wire.h"
#include "fmt/launch_filter.h"
#include "fmt/nvtx_filter.h"

#define MOST_TEXTS 64u /* of one option, as agents take them */

struct checking {
	struct cli *cli;
	struct buf lines;
	char why[400];
};

static bool wrong(struct checking *c, const char *option, const char *text)
{
	command_fail(c->cli, &kernel_command, "--%s '%s': %s", option, text, c->why);
	return false;
}

/* The request has a line for each. */
static bool add(struct checking *c, const char *option, const char *word, const char *text)
{
	if (strchr(text, '\n')) {
		snprintf(c->why, sizeof(c->why), "it has a line break");
		return wrong(c, option, text);
	}
	buf_printf(&c->lines, "%s %s\n", word, text);
	return true;
}

static bool add_name(struct checking *c, const char *name)
{
	struct name_pattern pattern;

	if (!name)
		return true;
	if (name_pattern_parse(&pattern, name, c->why, sizeof(c->why)) < 0)
		return wrong(c, "kernel-name", name);
	name_pattern_release(&pattern);
	return add(c, "kernel-name", "name", name);
}

static bool add_ids(struct checking *c, const struct option_texts *ids)
{
	struct kernel_id id;

	for (size_t i = 0; i < ids->count; i++) {
		snprintf(c->why, sizeof(c->why), "there are more than %u of them", MOST_TEXTS);
		if (i >= MOST_TEXTS || kernel_id_parse(&id, ids->items[i], c->why, sizeof(c->why)) < 0)
			return wrong(c, "kernel-id", ids->items[i]);
		kernel_id_release(&id);
		if (!add(c, "kernel-id", "id", ids->items[i]))
			return false;
	}
	return true;
}

static bool add_ranges(struct checking *c, const char *option, const struct option_texts *texts)
{
	struct nvtx_filter filter;

	for (size_t i = 0; i < texts->count; i++) {
		snprintf(c->why, sizeof(c->why), "there are more than %u of them", MOST_TEXTS);
		if (i >= MOST_TEXTS || nvtx_filter_parse(&filter, texts->items[i], c->why, sizeof(c->why)) < 0)
			return wrong(c, option, texts->items[i]);
		nvtx_filter_release(&filter);
		if (!add(c, option, option, texts->items[i]))
			return false;
	}
	return true;
}

static bool add_range_filter(struct checking *c, const struct kernel_fields *f)
{
	struct range_numbers filter;
	bool needs_ranges;

	if (!f->range_filter)
		return true;
	if (range_numbers_parse(&filter, f->range_filter, c->why, sizeof(c->why)) < 0)
		return wrong(c, "range-filter", f->range_filter);
	/* Kernels of a report have the numbers they were recorded with. */
	needs_ranges = !filter.nvtx.is_any && !f->nvtx_include.count && !f->import;
	range_numbers_release(&filter);
	snprintf(c->why, sizeof(c->why), "numbers of NVTX ranges are those of --nvtx-include, which is not there");
	if (needs_ranges)
		return wrong(c, "range-filter", f->range_filter);
	return add(c, "range-filter", "range-filter", f->range_filter);
}

static bool add_devices(struct checking *c, const char *devices)
{
	snprintf(c->why, sizeof(c->why), "it has to be a list of numbers below %u", DEVICES_MAX);
	if (devices && !devices_parse(devices))
		return wrong(c, "devices", devices);
	if (devices)
		buf_printf(&c->lines, "devices %s\n", devices);
	return true;
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
	struct buf list = BUF_INIT;
	bool ok = true;

	for (size_t i = 0; i < f->process_filter.count && ok; i++) {
		buf_printf(&list, "%s%s", i ? "," : "", f->process_filter.items[i]);
		ok = process_filter_check(f->process_filter.items[i], c->why, sizeof(c->why)) == 0 ||
		     wrong(c, "target-processes-filter", f->process_filter.items[i]);
	}
	if (ok && f->process_filter.count)
		ok = add(c, "target-processes-filter", "processes", buf_cstr(&list));
	if (f->processes == 1)
		buf_printf(&c->lines, "parent %d\n", (int)getpid());
	buf_release(&list);
	return ok;
}

static bool check_frames(struct checking *c, const char *option, const struct option_texts *texts, bool has_files)
{
	struct frame_filter filter;
	bool has_file;

	for (size_t i = 0; i < texts->count; i++) {
		snprintf(c->why, sizeof(c->why), "there are more than %u of them", MOST_TEXTS);
		if (i >= MOST_TEXTS || frame_filter_parse(&filter, texts->items[i], c->why, sizeof(c->why)) < 0)
			return wrong(c, option, texts->items[i]);
		has_file = filter.is_given[FRAME_FILE];
		frame_filter_release(&filter);
		snprintf(c->why, sizeof(c->why), "source files of native functions are not known: MODULE@@FUNCTION");
		if (has_file && !has_files)
			return wrong(c, option, texts->items[i]);
		/* Native stacks are known to the recorder alone. */
		if (has_files && !add(c, option, option, texts->items[i]))
			return false;
	}
	return true;
}

static bool add_frames(struct checking *c, const struct kernel_fields *f)
{
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
		snprintf(c->why, sizeof(c->why), "it has to be native, python or all");
		if (strcmp(piece, "native") != 0 && strcmp(piece, "python") != 0 && strcmp(piece, "all") != 0)
			return wrong(c, "call-stack-type", piece);
		wanted |= *piece == 'n' ? KERNEL_STACK_NATIVE : *piece == 'p' ? KERNEL_STACK_PYTHON : KERNEL_STACK_NATIVE | KERNEL_STACK_PYTHON;
	}
	if (kernel_filter_is_native(f))
		wanted |= KERNEL_STACK_NATIVE;
	if (f->python_include.count || f->python_exclude.count)
		wanted |= KERNEL_STACK_PYTHON;
	buf_printf(&c->lines, "call-stack %u\n", wanted);
	return true;
}

static bool add_renames(struct checking *c, const struct kernel_fields *f)
{
	struct kernel_renames renames = KERNEL_RENAMES_INIT;
	bool ok = kernel_renames_load(c->cli, f, &renames);

	kernel_renames_put(&renames, &c->lines);
	kernel_renames_release(&renames);
	return ok;
}

static void add_numbers(struct checking *c, const struct kernel_fields *f)
{
	static const char *const bases[] = { "function", "demangled", "mangled" };
	static const char *const modes[] = { "global", "per-gpu", "per-launch-config" };

	buf_printf(&c->lines, "base %s\nfilter-mode %s\n", bases[f->name_base], modes[f->filter_mode]);
	buf_printf(&c->lines, "skip-before %lld\nskip %lld\n", (long long)f->skip_before, kernel_filter_is_native(f) ? 0LL : (long long)f->skip);
	if (f->count && !kernel_filter_is_native(f))
		buf_printf(&c->lines, "count %lld\n", (long long)f->count);
	/* yes, on and 1 have even numbers. */
	buf_printf(&c->lines, "waits %d\nignores-profiler %d\n", f->from_start % 2, f->ignores_profiler);
	buf_printf(&c->lines, "nvtx %d\n", kernel_filter_keeps_nvtx(f));
}

char *kernel_filter_lines(struct cli *cli, const struct kernel_fields *f)
{
	struct checking c = { .cli = cli, .lines = BUF_INIT };
	char *lines = NULL;

	if (add_name(&c, f->name) && add_ids(&c, &f->ids) && add_ranges(&c, "nvtx-include", &f->nvtx_include) &&
	    add_ranges(&c, "nvtx-exclude", &f->nvtx_exclude) && add_range_filter(&c, f) && add_devices(&c, f->devices) &&
	    add_processes(&c, f) && add_frames(&c, f) && add_call_stack(&c, f) && add_renames(&c, f)) {
		add_numbers(&c, f);
		lines = strdup(buf_cstr(&c.lines));
		if (!lines)
			command_fail(cli, &kernel_command, "Not enough memory");
	}
	buf_release(&c.lines);
	return lines;
}
