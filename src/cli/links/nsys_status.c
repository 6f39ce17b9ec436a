/* nsys status: what this machine allows, in the lines nsys says it with. */
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/doctor/doctor.h"
#include "cli/profile/session_commands.h"

struct status_fields {
	bool environment;
	bool network;
	bool all;
	int format;
	const char *session;
};

#define FIELD(type_, field) .type = OPTION_##type_, .offset = offsetof(struct status_fields, field)

/* clang-format off */
static const struct option_spec status_specs[] = {
	{ .name = "environment", .letter = 'e', FIELD(BOOL, environment), .initial = "false", .tag = "what",
	  .help = "Check whether this machine allows CPU sampling." },
	{ .name = "network", .letter = 'n', FIELD(BOOL, network), .initial = "false", .tag = "what",
	  .help = "Whether network cards can be sampled. Not built yet." },
	{ .name = "all", FIELD(BOOL, all), .initial = "false", .tag = "what", .help = "All of these." },
	{ .name = "session", FIELD(TEXT, session), .arg = "name", .tag = "what",
	  .help = "Print this session." },
	{ .name = "output-format", .letter = 'f', .type = OPTION_CHOICE, .values = "plain|json",
	  .offset = offsetof(struct status_fields, format), .initial = "plain", .tag = "what",
	  .help = "Print the sessions as a list for people or for programs." },
};
/* clang-format on */

static const struct option_table status_options = OPTION_TABLE(status_specs);

extern const struct command status_command;

static enum doctor_verdict verdict(doctor_probe *probe, const struct doctor_host *host)
{
	struct doctor_answer answer = { 0 };

	probe(host, &answer);
	return answer.verdict;
}

static const char *name_verdict(enum doctor_verdict verdict)
{
	return verdict == DOCTOR_NO ? "Fail" : "OK";
}

static void print_distribution(FILE *out, const struct doctor_host *host)
{
	char text[4096], *name, *end;

	if (!doctor_read(host, "/etc/os-release", text, sizeof(text)))
		return;
	name = strncmp(text, "NAME=", 5) == 0 ? text : strstr(text, "\nNAME=");
	if (!name)
		return;
	name = strchr(name, '=') + 1;
	name += *name == '"';
	end = name + strcspn(name, "\"\n");
	fprintf(out, "Linux Distribution = %.*s\n", (int)(end - name), name);
}

static void print_environment(struct cli *cli)
{
	const struct doctor_host host = { cli->root, ".", &doctor_real_calls };
	const char *own = name_verdict(verdict(doctor_probe_perf_own, &host));
	struct utsname kernel = { 0 };
	long long level;

	fprintf(cli->out, "Timestamp counter supported: %s\n\nCPU Profiling Environment Check\nRoot privilege: %s\n",
		verdict(doctor_probe_clock, &host) == DOCTOR_OK ? "Yes" : "No", geteuid() == 0 ? "enabled" : "disabled");
	if (doctor_read_number(&host, "/proc/sys/kernel/perf_event_paranoid", &level))
		fprintf(cli->out, "Linux Kernel Paranoid Level = %lld\n", level);
	print_distribution(cli->out, &host);
	if (uname(&kernel) == 0)
		fprintf(cli->out, "Linux Kernel Version = %s: OK\n", kernel.release);
	/* Without cycles the CPU clock triggers samples, wherever perf_event_open works. */
	fprintf(cli->out, "Linux perf_event_open syscall available: %s\nSampling trigger event available: %s\n", own, own);
	fprintf(cli->out, "CPU Profiling Environment (process-tree): %s\n", own);
	fprintf(cli->out, "CPU Profiling Environment (system-wide): %s\n", name_verdict(verdict(doctor_probe_perf_system, &host)));
	fputs("\n'sonde doctor' prints more, and how to allow the rest.\n", cli->out);
}

static int run_status(struct cli *cli, int argc, char **argv)
{
	struct status_fields fields = { 0 };
	struct options_parsed parsed;
	int status = 0;

	if (!command_parse(cli, &status_command, argc, argv, &fields, &parsed, &status))
		return status;
	if (fields.environment || fields.all)
		print_environment(cli);
	if (fields.network || fields.all)
		command_fail(cli, &status_command, "Network cards cannot be sampled yet");
	status = fields.network;
	if (!fields.environment && !fields.network && !fields.all)
		status = sessions_print_status(cli, &status_command, fields.session, fields.format != 0);
	options_release(&parsed);
	return status;
}

const struct command status_command = {
	.name = "status",
	.summary = "Print sessions, or what this machine allows (-e)",
	.synopsis = "[options]",
	.description = "With -e, prints whether this machine allows CPU sampling, in nsys's words; 'sonde doctor' prints more. "
		       "Without options, prints the sessions, as 'sessions list' does.",
	.options = &status_options,
	.words = COMMAND_NO_WORDS,
	.run = run_status,
};
