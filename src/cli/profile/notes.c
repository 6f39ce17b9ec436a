/* What `sonde profile` says about options it understands but cannot serve. */
#include <string.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "cli/profile/after_recording.h"
#include "cli/profile/cuda.h"
#include "cli/profile/setup.h"
#include "cli/profile/window.h"
#include "cli/arguments/trace_list.h"

static bool seen_before(const struct options_parsed *parsed, size_t index)
{
	size_t i;

	for (i = 0; i < index; i++)
		if (parsed->uses[i].spec == parsed->uses[index].spec)
			return true;
	return false;
}

static int note_option(const struct option_spec *spec, struct string_list *notes)
{
	switch (spec->state) {
	case OPTION_PLANNED: return string_list_addf(notes, "--%s is not supported yet; ignored", spec->name);
	case OPTION_ELSEWHERE: return string_list_addf(notes, "--%s is not supported on this platform; ignored", spec->name);
	case OPTION_OBSOLETE: return string_list_addf(notes, "--%s is obsolete; ignored. %s", spec->name, spec->help);
	case OPTION_BUILT: break;
	}
	return 0;
}

/* "--trace: cuda and osrt are not built yet; the run goes on without them". */
static int note_sources(uint64_t mask, enum trace_state state, const char *what_one, const char *what_many, struct string_list *notes)
{
	struct buf names = BUF_INIT;
	unsigned i, left, count = 0;
	int r = 0;

	for (i = 0; i < TRACE_SOURCE_COUNT; i++)
		count += (mask >> i & 1) && trace_list[i].state == state;
	left = count;
	for (i = 0; i < TRACE_SOURCE_COUNT && r >= 0; i++) {
		if (!(mask >> i & 1) || trace_list[i].state != state)
			continue;
		left--;
		r = buf_printf(&names, "%s%s", trace_list[i].name, left > 1 ? ", " : left == 1 ? " and " : "");
	}
	if (r >= 0 && count)
		r = string_list_addf(notes, "--trace: %s %s; ignored", buf_cstr(&names), count > 1 ? what_many : what_one);
	buf_release(&names);
	return r;
}

/* An option that says how another one works, without that one. */
static int note_alone(const struct options_parsed *parsed, const char *name, const char *needed, struct string_list *notes)
{
	return options_find_use(parsed, name) ? string_list_addf(notes, "--%s requires --%s", name, needed) : 0;
}

static int note_gpu_metrics(const struct profile_fields *fields, const struct options_parsed *parsed, struct string_list *notes)
{
	const char *devices = fields->gpu.metrics_devices;

	if (devices && strcmp(devices, "none") != 0)
		return 0;
	TRY(note_alone(parsed, "gpu-metrics-set", "gpu-metrics-devices", notes));
	return note_alone(parsed, "gpu-metrics-frequency", "gpu-metrics-devices", notes);
}

static int note_exports(uint64_t exports, struct string_list *notes)
{
	const char *list = EXPORT_VALUES, *name;
	size_t len;
	int r = 0;

	for (; r >= 0 && (len = option_next_value(&list, &name)); exports >>= 1)
		if (exports & 1 && strncmp(name, "none", len) != 0 && profile_export_type(name, len) < 0)
			r = string_list_addf(notes, "--export=%.*s is not supported yet; ignored", (int)len, name);
	return r;
}

static int note_pytorch(uint64_t pytorch, struct string_list *notes)
{
	if (!(pytorch & (PYTORCH_FUNCTIONS | PYTORCH_FUNCTIONS_SHAPES)))
		return 0;
	return string_list_addf(notes, "--pytorch=functions-trace is not supported yet; the run continues without it");
}

int profile_add_notes(const struct profile_fields *fields, const struct options_parsed *parsed, struct string_list *notes)
{
	const struct option_use *use;
	size_t i;
	int r = 0;

	/* The default names sources that are not built: only asking for them is worth a word. */
	if (options_find_use(parsed, "trace")) {
		r = note_sources(fields->trace, TRACE_STATE_PLANNED, "is not supported yet", "are not supported yet", notes);
		if (r >= 0)
			r = note_sources(fields->trace, TRACE_STATE_ELSEWHERE, "is not supported on this platform",
					 "are not supported on this platform", notes);
	}
	if (r >= 0)
		r = profile_cuda_notes(fields, notes);
	if (r >= 0)
		r = profile_window_notes(fields, parsed, notes);
	if (r >= 0)
		r = note_gpu_metrics(fields, parsed, notes);
	if (r >= 0)
		r = note_pytorch(fields->pytorch, notes);
	if (r >= 0)
		r = note_exports(fields->exports, notes);
	for (i = 0; i < parsed->use_count && r >= 0; i++) {
		use = options_find_use(parsed, parsed->uses[i].spec->name);
		if (!seen_before(parsed, i) && !option_use_is_off(use))
			r = note_option(use->spec, notes);
	}
	return r;
}

void profile_print_notes(struct cli *cli, const struct string_list *notes)
{
	for (size_t i = 0; i < notes->count; i++)
		fprintf(cli->err, "%s: %s\n", cli_name(cli), notes->items[i]);
	fflush(cli->err);
}
