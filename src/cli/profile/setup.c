#include "cli/profile/setup.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "cli/arguments/find_program.h"
#include "cli/profile/cuda.h"
#include "cli/profile/flight.h"
#include "cli/profile/window.h"
#include "cli/arguments/trace_list.h"

int profile_kill_signal(const char *text, struct error *err)
{
	long number;

	if (strcmp(text, "none") == 0)
		return 0;
	if (strcmp(text, "sigterm") == 0)
		return SIGTERM;
	if (strcmp(text, "sigkill") == 0)
		return SIGKILL;
	number = strtol(text, NULL, 10);
	if (number < 1 || number > 64)
		return error_set(err, EINVAL, "--kill: %s is not a signal; signals are 1 to 64.", text);
	return (int)number;
}

/* Where the next NAME= begins behind a comma, or the end of the text. */
static size_t variable_length(const char *text)
{
	size_t len = strcspn(text, ","), next;

	while (text[len]) {
		next = len + 1 + strcspn(text + len + 1, ",");
		if (memchr(text + len + 1, '=', next - len - 1))
			break;
		len = next;
	}
	return len;
}

int profile_split_env(const char *text, struct string_list *env, struct error *err)
{
	size_t len;
	int r = 0;

	while (*text && r == 0) {
		len = variable_length(text);
		if (*text == '=' || !memchr(text, '=', len))
			return error_set(err, EINVAL, "--env-var takes NAME=value, not '%.*s'.", (int)len, text);
		r = string_list_add(env, text, len);
		text += len + (text[len] == ',');
	}
	return r;
}

static int fill_environment(struct profile_setup *setup, const struct option_texts *texts, struct error *err)
{
	size_t i;

	for (i = 0; i < texts->count; i++)
		TRY(profile_split_env(texts->items[i], &setup->env, err));
	setup->options.env = (const char *const *)setup->env.items;
	setup->options.env_count = setup->env.count;
	return 0;
}

static int check_together(const struct profile_fields *fields, const struct options_parsed *parsed, enum output_style style,
			  struct error *err)
{
	uint64_t others = fields->trace & ~(TRACE_NONE_BIT | TRACE_HELP_BIT);

	if (fields->trace & TRACE_NONE_BIT && others)
		return error_set(err, EINVAL, "--trace=none excludes all other sources.");
	if (!fields->stop_on_exit && !fields->duration_ns)
		return error_set(err, EINVAL, "--stop-on-exit=false requires --duration.");
	if (options_find_use(parsed, "nvtx-domain-include") && options_find_use(parsed, "nvtx-domain-exclude"))
		return error_set(err, EINVAL, "--nvtx-domain-include and --nvtx-domain-exclude exclude each other.");
	return output_name_check(fields->output, style, err);
}

static uint64_t built_sources(void)
{
	uint64_t mask = 0;
	unsigned i;

	for (i = 0; i < TRACE_SOURCE_COUNT; i++)
		if (trace_list[i].state == TRACE_STATE_BUILT)
			mask |= TRACE_BIT(i);
	return mask;
}

/* Libraries above CUDA bring it along. */
static uint64_t with_implied(uint64_t trace)
{
	unsigned i, k;

	for (i = 0; i < TRACE_SOURCE_COUNT; i++)
		for (k = 0; k < TRACE_SOURCE_COUNT && trace & TRACE_BIT(i); k++)
			if (strcmp(trace_list[i].implies, trace_list[k].name) == 0)
				trace |= TRACE_BIT(k);
	return trace;
}

/* As in nsys: switches are recorded of those that are sampled, unless none are. */
static struct cpu_options cpu_options(struct cpu_options cpu)
{
	if (cpu.sample > SCOPE_NONE) /* 'cpu', the old spelling */
		cpu.sample = SCOPE_PROCESS_TREE;
	if (cpu.sample != SCOPE_NONE && cpu.switches != SCOPE_NONE)
		cpu.switches = cpu.sample;
	return cpu;
}

static void copy_fields(struct profile_options *o, const struct profile_fields *fields, const struct options_parsed *parsed)
{
#define RUN(type, field, ...) o->field = fields->field;
#include "record/profile_options.def"
	o->trace = with_implied(fields->trace) & built_sources();
	o->osrt = fields->osrt;
	o->cpu = cpu_options(fields->cpu);
	o->kill_given = options_find_use(parsed, "kill") != NULL;
	if (fields->discard_environment)
		o->store_environment = STORE_NONE;
}

static int fill_program(struct profile_setup *setup, char *const *argv, struct error *err)
{
	int r;

	if (!argv[0])
		return error_set(err, EINVAL, "No program given: %s profile [options] program [arguments].",
				 setup->style == OUTPUT_SONDE ? "sonde" : "nsys");
	r = find_program(argv[0], setup->program, sizeof(setup->program), err);
	setup->options.argv = argv;
	setup->options.program = setup->program;
	return r;
}

static void find_agents(struct profile_setup *setup)
{
	if (find_agent("libsonde.so", setup->agent, sizeof(setup->agent)) == 0)
		setup->options.agent_path = setup->agent;
	if (find_agent("libsonde-cuda.so", setup->cuda_agent, sizeof(setup->cuda_agent)) == 0)
		setup->options.cuda.agent_path = setup->cuda_agent;
}

int profile_setup_fill(struct profile_setup *setup, const struct profile_fields *fields, const struct options_parsed *parsed,
		       char *const *argv, struct error *err)
{
	int r;

	TRY(check_together(fields, parsed, setup->style, err));
	copy_fields(&setup->options, fields, parsed);
	setup->options.output_path = output_names[setup->style];
	profile_cuda_fill(&setup->options, fields, options_find_use(parsed, "trace") != NULL);
	r = profile_window_fill(&setup->options, fields, err);
	if (r == 0)
		r = profile_flight_fill(&setup->options, fields, parsed, err);
	if (r < 0)
		return r;
	r = profile_kill_signal(fields->kill, err);
	if (r < 0)
		return r;
	setup->options.kill_signal = r;
	r = fill_environment(setup, &fields->env, err);
	if (r == 0)
		r = profile_gpu_options(&setup->options.gpu, fields, &setup->notes, err);
	find_agents(setup);
	if (r == 0 && argv)
		r = fill_program(setup, argv, err);
	if (r == 0 && profile_add_notes(fields, parsed, &setup->notes) < 0)
		r = error_set(err, ENOMEM, "Out of memory.");
	setup->options.notes = (const char *const *)setup->notes.items;
	setup->options.note_count = setup->notes.count;
	return r;
}

void profile_setup_release(struct profile_setup *setup)
{
	string_list_release(&setup->env);
	string_list_release(&setup->notes);
}
