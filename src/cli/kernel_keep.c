/* What is left of results and of what rules say of them. */
#include <regex.h>
#include <string.h>

#include "base/nearest.h"
#include "cli/kernel_options.h"
#include "kernel/results.h"
#include "kernel/rules/rule.h"

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

static bool is_rule(const char *wanted)
{
	size_t count;
	const struct rule *all = rules(&count);

	for (size_t i = 0; i < count; i++)
		if (kernel_name_matches(wanted, all[i].id))
			return true;
	return false;
}

bool kernel_check_rules(struct cli *cli, const struct kernel_fields *fields)
{
	struct nearest nearest;
	char piece[256], hint[160];
	const char *text = NULL;
	const struct rule *all;
	size_t at = 0, count;

	while (next_piece(&fields->rules, &at, &text, piece, sizeof(piece))) {
		if (is_rule(piece))
			continue;
		all = rules(&count);
		nearest_begin(&nearest, piece);
		for (size_t i = 0; i < count; i++)
			nearest_offer(&nearest, all[i].id, strlen(all[i].id));
		command_fail(cli, &kernel_command, "There is no rule '%s'.%s --list-rules lists them", piece,
			     nearest_hint(&nearest, "", hint, sizeof(hint)));
		return false;
	}
	return true;
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
