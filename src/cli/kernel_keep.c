/* What is left of results and of what rules say of them, and reports under other names. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <regex.h>
#include <string.h>
#include <sys/sendfile.h>
#include <unistd.h>

#include "base/nearest.h"
#include "cli/kernel_options.h"
#include "cli/kernel_output.h"
#include "cli/open_report.h"
#include "kernel/results.h"

/* "name" is that name, "regex:expression" is found anywhere in one. */
bool kernel_name_matches(const char *wanted, const char *name)
{
	regex_t regex;
	bool found;

	if (strncmp(wanted, "regex:", 6) != 0)
		return strcmp(wanted, name) == 0;
	if (regcomp(&regex, wanted + 6, REG_EXTENDED | REG_NOSUB) != 0)
		return false;
	found = regexec(&regex, name, 0, NULL, 0) == 0;
	regfree(&regex);
	return found;
}

static bool check_rule(struct cli *cli, const struct sections *texts, const char *wanted)
{
	struct nearest nearest;
	char hint[160];

	nearest_begin(&nearest, wanted);
	for (size_t i = 0; i < texts->rule_count; i++) {
		const char *id = texts->rules[i].id;

		if (kernel_name_matches(wanted, id))
			return true;
		nearest_offer(&nearest, id, strlen(id));
	}
	command_fail(cli, &kernel_command, "There is no rule '%s'.%s --list-rules lists them", wanted, nearest_hint(&nearest, "", hint, sizeof(hint)));
	return false;
}

bool kernel_check_rules(struct cli *cli, const struct kernel_fields *fields)
{
	struct kernel_texts texts;
	const char *text = NULL;
	char piece[256];
	bool ok = true;
	size_t at = 0;

	if (!fields->rules.count)
		return true;
	if (!kernel_load_texts(cli, fields, &texts))
		return false;
	while (ok && next_piece(&fields->rules, &at, &text, piece, sizeof(piece)))
		ok = check_rule(cli, &texts.sections, piece);
	kernel_release_texts(&texts);
	return ok;
}

void kernel_keep_rules(const struct kernel_fields *fields, struct kernel_results *results)
{
	for (size_t i = 0; i < results->count && fields->rules.count; i++) {
		struct kernel_result *k = &results->items[i];
		size_t kept = 0;

		for (size_t j = 0; j < k->rule_count; j++) {
			const char *text = NULL;
			char piece[256];
			size_t at = 0;

			while (next_piece(&fields->rules, &at, &text, piece, sizeof(piece)))
				if (kernel_name_matches(piece, k->rules[j].name)) {
					k->rules[kept++] = k->rules[j];
					break;
				}
		}
		k->rule_count = kept;
	}
}

static int copy_bytes(const char *from, const char *to)
{
	int source = open(from, O_RDONLY | O_CLOEXEC), target = source < 0 ? -1 : open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	ssize_t sent = target < 0 ? -1 : 1;
	int r;

	while (sent > 0)
		sent = sendfile(target, source, NULL, 1 << 20);
	r = sent < 0 ? -errno : 0;
	if (source >= 0)
		close(source);
	if (target >= 0 && close(target) != 0 && r == 0)
		r = -errno;
	return r;
}

int kernel_copy(struct cli *cli, const struct kernel_fields *fields)
{
	struct opened_report opened;
	char path[PATH_MAX];
	struct error err;
	int status, r;

	if (fields->name || fields->skip || fields->skip_before || fields->count)
		return command_fail(cli, &kernel_command, "-i with -o: only a whole report can be written; a table of some kernels can, with --csv");
	if (kernel_output_path(fields->output, cli->role == CLI_NCU ? ".ncu-rep" : ".sonde", fields->overwrite, path, sizeof(path), &err) < 0)
		return command_fail(cli, &kernel_command, "%s", err.text);
	if (!open_report(cli, &kernel_command, fields->import, &opened, &status))
		return status;
	r = copy_bytes(opened.path, path);
	if (r < 0)
		return close_report(&opened, command_fail(cli, &kernel_command, "%s cannot be written: %s", path, strerror(-r)));
	fprintf(kernel_told(cli), "==PROF== Report: %s\n", path);
	return close_report(&opened, 0);
}
