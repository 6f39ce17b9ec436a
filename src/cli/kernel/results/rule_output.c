/* What is left of what rules say of results. */
#include <regex.h>
#include <string.h>

#include "base/text/nearest.h"
#include "cli/kernel/options.h"
#include "kernel/results/results.h"

/* "name" is that name, "regex:expression" is found anywhere in one. */
static bool name_matches(const char *wanted, const char *name)
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

		if (name_matches(wanted, id))
			return true;
		nearest_offer(&nearest, id, strlen(id));
	}
	command_fail(cli, &kernel_command, "Unknown rule '%s'.%s --list-rules lists the rules", wanted,
		     nearest_hint(&nearest, "", hint, sizeof(hint)));
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
				if (name_matches(piece, k->rules[j].name)) {
					k->rules[kept++] = k->rules[j];
					break;
				}
		}
		k->rule_count = kept;
	}
}
