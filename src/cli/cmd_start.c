/* sonde start: begin to record a launched program, or the one to be launched next. docs/sessions.md */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/macros.h"
#include "cli/profile/after_recording.h"
#include "cli/profile/setup.h"
#include "cli/profile/window.h"
#include "cli/profile/session_commands.h"

extern const struct command start_command;

static bool has_extension(const char *name)
{
	const char *dot = strrchr(name, '.');

	return dot && (strcmp(dot, ".sonde") == 0 || strcmp(dot, ".nsys-rep") == 0);
}

/* The recorder replaces macros: it knows the pid, and takes a free number at once. The folder is where this command
 * runs, and no macro. */
static int output_template(struct cli *cli, const char *output, char *ret, size_t size, struct error *err)
{
	const char *name = output ? output : "";
	char folder[PATH_MAX], *at;
	struct buf b = BUF_INIT;
	int r = 0;

	TRY(output_name_check(output, cli_is_link(cli) ? OUTPUT_NSYS : OUTPUT_SONDE, err));
	if (name[0] != '/') {
		if (!getcwd(folder, sizeof(folder)))
			return error_set_errno(err, errno, "The current folder cannot be found");
		for (at = folder; *at; at++)
			r = buf_append(&b, "%%", *at == '%' ? 2 : 0) < 0 || (*at != '%' && buf_append(&b, at, 1) < 0);
		buf_puts(&b, "/");
	}
	buf_puts(&b, name);
	if (output_name_is_folder(name))
		buf_printf(&b, "%sreport%%n", *name && name[strlen(name) - 1] != '/' ? "/" : "");
	if (!has_extension(name))
		buf_puts(&b, cli_is_link(cli) ? ".nsys-rep" : ".sonde");
	r = r || b.len >= size ? error_set(err, ENAMETOOLONG, "The name of the report is too long.") : 0;
	snprintf(ret, size, "%s", buf_cstr(&b));
	buf_release(&b);
	return r;
}

/* Options that 'start' hears, by their fields, and what they are to the session; 0: to this command alone. */
static const struct {
	size_t field;
	uint32_t given;
} heard[] = {
#define HEARD_FIELD(field, given) { offsetof(struct profile_fields, field), given },
#define CPU_START(type, field, ...) HEARD_FIELD(cpu.field, STEER_GIVEN(STEER_##field))
#define CUDA_START(type, field, ...) HEARD_FIELD(cuda.field, STEER_GIVEN(STEER_##field))
#define RUN_START(type, field, ...) HEARD_FIELD(field, STEER_GIVEN(STEER_##field))
#define RUN_HEARD(type, field, given, ...) HEARD_FIELD(field, given)
#define COMMAND_HEARD(type, field, given, ...) HEARD_FIELD(field, given)
#include "record/profile_options.def"
};
#define HEARD COUNT_OF(heard)

/* The rest was said to 'launch': the agents are in the program already. */
static uint32_t what_was_said(struct cli *cli, const struct options_parsed *parsed)
{
	const struct option_spec *spec;
	uint32_t given = 0;
	size_t i, k;

	for (i = 0; i < parsed->use_count; i++) {
		spec = parsed->uses[i].spec;
		for (k = 0; k < HEARD && (spec->state != OPTION_BUILT || spec->offset != heard[k].field); k++)
			;
		if (k < HEARD)
			given |= heard[k].given;
		else
			fprintf(cli->err, "%s: --%s applies only to 'launch'; ignored\n", cli_name(cli), spec->name);
	}
	return given;
}

static int fill_capture(struct steer_capture *c, const struct profile_fields *fields, struct error *err)
{
	struct profile_options *o = calloc(1, sizeof(*o));
	int r = o ? profile_window_fill(o, fields, err) : error_set(err, ENOMEM, "Out of memory.");

	if (r == 0 && o->capture_range == CAPTURE_RANGE_HOTKEY)
		r = error_set(err, EINVAL, "--capture-range=hotkey is only supported with 'profile'; here use 'start' and 'stop'.");
	if (r == 0) {
		c->range = o->capture_range;
		c->end = o->capture_end;
		c->repeats = o->capture_repeats;
		c->schedule = o->schedule;
		c->any_domain = o->nvtx_capture.any_domain;
		snprintf(c->range_name, sizeof(c->range_name), "%s", o->nvtx_capture.range);
		snprintf(c->domain_name, sizeof(c->domain_name), "%s", o->nvtx_capture.domain);
#define CPU_START(type, field, ...) c->values[STEER_##field] = fields->cpu.field;
#define CUDA_START(type, field, ...) c->values[STEER_##field] = fields->cuda.field;
#define RUN_START(type, field, ...) c->values[STEER_##field] = fields->field;
#include "record/profile_options.def"
		if (c->values[STEER_sample] > SCOPE_NONE) /* 'cpu', the old spelling */
			c->values[STEER_sample] = SCOPE_PROCESS_TREE;
		c->after = (struct record_after){ fields->exports, fields->stats, fields->force_overwrite };
	}
	free(o);
	return r;
}

static int fill_request(struct cli *cli, struct steer_request *request, const struct profile_fields *fields,
			const struct options_parsed *parsed, struct error *err)
{
	TRY(output_template(cli, fields->output, request->output, sizeof(request->output), err));
	request->magic = STEER_MAGIC;
	request->command = STEER_START;
	request->flags = (fields->force_overwrite ? STEER_OVERWRITE : 0) | (fields->output && *fields->output ? 0 : STEER_UNNAMED);
	request->capture.given = what_was_said(cli, parsed);
	return fill_capture(&request->capture, fields, err);
}

/* As nsys has it: without a session this one waits for its program. */
static int wait_for_launch(struct cli *cli, const char *given, const struct steer_request *request, struct steer_reply *reply)
{
	struct error err = { "" };
	char name[PATH_MAX];

	if (session_name_expand(given, name, sizeof(name), &err) < 0 ||
	    steer_wait_for_launch(name[0] ? name : NULL, request, reply, &err) < 0)
		return command_fail(cli, &start_command, "%s", err.text);
	fprintf(cli->err, "Session '%s' waits for '%s launch --session=%s program' and records it from its beginning.\n", reply->name,
		cli_name(cli), reply->name);
	return 0;
}

static int is_any_session(const struct steer_reply *session, void *context)
{
	(void)session;
	(void)context;
	return 1;
}

static int start_capture(struct cli *cli, const struct profile_fields *fields, const struct options_parsed *parsed)
{
	struct steer_request request = { 0 };
	struct steer_reply *reply = calloc(1, sizeof(*reply));
	struct error err = { "" };
	int status;

	if (!reply)
		return command_fail(cli, &start_command, "Out of memory.");
	if (fill_request(cli, &request, fields, parsed, &err) < 0)
		status = command_fail(cli, &start_command, "%s", err.text);
	else if (fields->session_name || (!fields->session && steer_each(is_any_session, NULL, &err) == 0))
		status = wait_for_launch(cli, fields->session_name, &request, reply);
	else
		status = session_ask(cli, &start_command, fields->session, &request, reply);
	free(reply);
	return status;
}

static int run_start(struct cli *cli, int argc, char **argv)
{
	struct profile_fields fields = { 0 };
	struct options_parsed parsed;
	int status;

	if (!command_parse(cli, &start_command, argc, argv, &fields, &parsed, &status))
		return status;
	status = session_no_words(cli, &start_command, &parsed);
	fields.exports = profile_exports(&parsed);
	if (!status && fields.session && fields.session_name)
		status = command_fail(cli, &start_command, "--session and --session-new exclude each other.");
	if (!status)
		status = start_capture(cli, &fields, &parsed);
	options_release(&parsed);
	return status;
}

/* clang-format off */
static const char *const start_examples[] = {
	"sonde start -c nvtx -p step -o step", "record the next range 'step' of the launched program",
	"sonde start -d 10 --stats", "record ten seconds, and print statistics where it was launched",
	"sonde start --session-new=a && sonde launch --session=a ./app", "record ./app from its beginning",
	NULL,
};
/* clang-format on */

const struct command start_command = {
	.name = "start",
	.summary = "Start recording a launched program",
	.synopsis = "[options]",
	.description = "Opens a new report (-o) and records until 'stop', until the program ends, or as -d and -c say. The options of "
		       "'launch' decide what is recorded. If no program was launched yet, or with --session-new, a session begins "
		       "that waits for 'launch'.",
	.examples = start_examples,
	.options = &profile_option_table,
	.words = COMMAND_NO_WORDS,
	.run = run_start,
};
