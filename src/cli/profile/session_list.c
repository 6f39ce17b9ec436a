/* sonde sessions, and what 'status' says of sessions. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/text/json_text.h"
#include "base/macros.h"
#include "cli/command.h"
#include "cli/profile/session_commands.h"
#include "record/requests/requests.h"

extern const struct command sessions_command;

struct sessions_fields {
	bool header;
	int format;
};

struct listing {
	FILE *out;
	bool json;
	bool header; /* what the columns are */
	unsigned count;
};

static const char *state_word(uint32_t state)
{
	static const char *const words[] = {
		[STEER_IDLE] = "Launched",        [STEER_CAPTURING] = "Collection", [STEER_SETTLING] = "Finalization",
		[STEER_WRITING] = "Finalization", [STEER_DELAYED] = "Delayed",      [STEER_ARMED] = "StartRange",
		[STEER_WAITING] = "Waiting",
	};

	return state < COUNT_OF(words) ? words[state] : "?";
}

static void json_member(FILE *out, const char *key, const char *text)
{
	fprintf(out, ", \"%s\": ", key);
	json_put_string(out, text);
}

static void print_json(struct listing *list, const struct steer_reply *session, const char *clock)
{
	fprintf(list->out, "%s{\"id\": %u", list->count ? ", " : "", session->id);
	json_member(list->out, "name", session->name);
	json_member(list->out, "state", state_word(session->state));
	json_member(list->out, "time", clock);
	fprintf(list->out, ", \"launch\": %u, \"pid\": %u, \"captures\": %u", session->launches, session->target, session->captures);
	json_member(list->out, "program", session->program);
	json_member(list->out, "report", session->result.path);
	fputc('}', list->out);
}

static void begin_list(const struct listing *list)
{
	if (list->json)
		fputc('[', list->out);
	else if (list->header)
		fputs("     ID        TIME                STATE LAUNCH NAME\n", list->out);
}

static void end_list(const struct listing *list, const char *nothing)
{
	if (!list->count)
		begin_list(list);
	fputs(list->json ? "]\n" : list->count ? "" : nothing, list->out);
}

static int list_one(const struct steer_reply *session, void *context)
{
	struct listing *list = context;
	long long age = (long long)time(NULL) - session->began;
	char clock[32];

	age = age < 0 ? 0 : age;
	snprintf(clock, sizeof(clock), "%02lld:%02lld:%02lld", age / 3600, age / 60 % 60, age % 60);
	if (!list->count)
		begin_list(list);
	if (list->json)
		print_json(list, session, clock);
	else
		fprintf(list->out, "%7u %11s %20s %6u %s\n", session->id, clock, state_word(session->state), session->launches,
			session->name);
	list->count++;
	return 0;
}

static int list_sessions(struct cli *cli, const struct sessions_fields *fields, const struct options_parsed *parsed)
{
	struct listing list = { .out = cli->out, .json = fields->format != 0, .header = fields->header };
	struct error err = { "" };

	if (parsed->word_count != 1 || strcmp(parsed->words[0], "list") != 0)
		return command_fail(cli, &sessions_command, "Only 'list' is supported: %s sessions list.", cli_name(cli));
	if (steer_each(list_one, &list, &err) < 0)
		return command_fail(cli, &sessions_command, "%s", err.text);
	end_list(&list, "");
	return 0;
}

int sessions_print_status(struct cli *cli, const struct command *command, const char *name, bool json)
{
	struct steer_reply *reply = calloc(1, sizeof(*reply));
	struct listing list = { .out = cli->out, .json = json };
	struct error err = { "" };
	int r;

	if (!reply)
		return command_fail(cli, command, "Out of memory.");
	/* A session that has ended is not listed. */
	r = name ? steer_find(name, reply, &err) : 0;
	if (r == 0) {
		r = name ? list_one(reply, &list) : steer_each(list_one, &list, &err);
		if (r >= 0)
			end_list(&list, "No sessions.\n");
	}
	free(reply);
	return r < 0 ? command_fail(cli, command, "%s", err.text) : 0;
}

static int run_sessions(struct cli *cli, int argc, char **argv)
{
	struct sessions_fields fields = { 0 };
	struct options_parsed parsed;
	int status;

	if (!command_parse(cli, &sessions_command, argc, argv, &fields, &parsed, &status))
		return status;
	status = list_sessions(cli, &fields, &parsed);
	options_release(&parsed);
	return status;
}

/* clang-format off */
static const struct option_spec sessions_specs[] = {
	{ .name = "show-header", .letter = 'p', .type = OPTION_BOOL,
	  .offset = offsetof(struct sessions_fields, header), .initial = "true", .tag = "output",
	  .help = "Print a line above the list." },
	{ .name = "output-format", .letter = 'f', .type = OPTION_CHOICE, .values = "plain|json",
	  .offset = offsetof(struct sessions_fields, format), .initial = "plain", .tag = "output",
	  .help = "Print a list for people or for programs." },
};
/* clang-format on */
static const struct option_table sessions_options = OPTION_TABLE(sessions_specs);

const struct command sessions_command = {
	.name = "sessions",
	.summary = "List the sessions",
	.synopsis = "list [options]",
	.description = "Lists the sessions that can be recorded: number, time since the launch, state, launched programs and name.",
	.options = &sessions_options,
	.words = COMMAND_NO_WORDS,
	.run = run_sessions,
};
