/* From the options of `sonde kernel` to text files and chosen metrics. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/system/cache_folder.h"
#include "base/cleanup.h"
#include "base/macros.h"
#include "cli/kernel/options.h"
#include "cli/kernel/section_folders.h"
#include "cli/arguments/string_list.h"
#include "kernel/metrics/share_folder.h"

/* Users' own, then Sonde's. */
static bool find_folders(struct cli *cli, const struct kernel_fields *fields, struct string_list *ret)
{
	static const char *const own[] = { "sections", "sets", "rules", "metrics" };
	char path[PATH_MAX];

	if (section_folders_add(ret, &fields->folders, &fields->deep_folders) < 0) {
		command_fail(cli, &kernel_command, "Not enough memory");
		return false;
	}
	for (size_t i = 0; i < COUNT_OF(own); i++) {
		if (share_folder(own[i], path, sizeof(path)) < 0) {
			command_fail(cli, &kernel_command, "share/%s is missing beside the program", own[i]);
			return false;
		}
		if (string_list_addf(ret, "%s", path) < 0)
			return false;
	}
	return true;
}

bool kernel_load_texts(struct cli *cli, const struct kernel_fields *fields, struct kernel_texts *ret)
{
	struct string_list folders = STRING_LIST_INIT;
	struct error err;
	size_t given;
	bool ok = find_folders(cli, fields, &folders);

	memset(ret, 0, sizeof(*ret));
	/* Sonde's own metrics folder also has sets, of another kind. */
	given = ok ? folders.count - 1 : 0;
	if (ok && (sections_load(&ret->sections, (const char *const *)folders.items, given, &err) < 0 ||
		   glossary_load(&ret->glossary, (const char *const *)folders.items, folders.count, &err) < 0)) {
		command_fail(cli, &kernel_command, "%s", err.text);
		kernel_release_texts(ret);
		ok = false;
	}
	string_list_release(&folders);
	return ok;
}

void kernel_release_texts(struct kernel_texts *texts)
{
	sections_release(&texts->sections);
	glossary_release(&texts->glossary);
}

int kernel_split(const struct option_texts *texts, struct string_list *ret)
{
	const char *text = NULL;
	char piece[4096];
	size_t at = 0;

	while (next_piece(texts, &at, &text, piece, sizeof(piece)))
		TRY(string_list_addf(ret, "%s", piece));
	return 0;
}

static int make_kernel_choice(const struct kernel_fields *fields, const struct kernel_texts *texts, struct kernel_selected *c,
			      struct choice *ret, struct error *err)
{
	struct string_list sets = STRING_LIST_INIT, sections = STRING_LIST_INIT, metrics = STRING_LIST_INIT;
	struct choice_sources sources = { &texts->sections, &texts->glossary, &c->counted, c->sampled.host ? &c->sampled : NULL,
					  chip_capability(c->counted.chip) };
	struct choice_request request;
	int r = -1;

	if (kernel_split(&fields->sets, &sets) < 0 || kernel_split(&fields->sections, &sections) < 0 ||
	    kernel_split(&fields->metrics, &metrics) < 0) {
		error_set(err, ENOMEM, "Not enough memory");
	} else {
		/* clang-format off */
		request = (struct choice_request){ (const char *const *)sets.items, sets.count, (const char *const *)sections.items,
						   sections.count, (const char *const *)metrics.items, metrics.count, !fields->only_named };
		/* clang-format on */
		r = choice_make(ret, &sources, &request, err);
	}
	string_list_release(&sets);
	string_list_release(&sections);
	string_list_release(&metrics);
	return r;
}

bool kernel_choose(struct cli *cli, const struct kernel_fields *fields, const struct kernel_texts *texts, const struct cupti_host *cupti,
		   const char *chip, struct kernel_selected *ret)
{
	struct error err, ignored;

	memset(ret, 0, sizeof(*ret));
	if (catalog_open(&ret->counted, cupti, chip, HOST_PROFILER_RANGE, NULL, &err) < 0) {
		command_fail(cli, &kernel_command, "%s", err.text);
		return false;
	}
	if (cache_folder("schedules", ret->kept, sizeof(ret->kept)) == 0)
		ret->counted.kept = ret->kept;
	if (catalog_open(&ret->sampled, cupti, chip, HOST_PROFILER_PM, NULL, &ignored) < 0)
		memset(&ret->sampled, 0, sizeof(ret->sampled));
	if (make_kernel_choice(fields, texts, ret, &ret->choice, &err) < 0) {
		command_fail(cli, &kernel_command, "%s", err.text);
		kernel_release_selected(ret);
		return false;
	}
	for (size_t i = 0; i < ret->choice.note_count; i++)
		kernel_warn(cli, "note: %s", ret->choice.notes[i]);
	return true;
}

int kernel_list_asked(const struct kernel_fields *fields, const struct kernel_texts *texts, struct kernel_selected *selected,
		      struct string_list *ret, struct error *err)
{
	struct kernel_fields only = { .metrics = fields->metrics };
	struct choice choice;
	int r = 0;

	if (!fields->metrics.count)
		return 0;
	r = make_kernel_choice(&only, texts, selected, &choice, err);
	if (r < 0)
		return r;
	for (size_t i = 0; i < choice.count && !choice.section_count && r >= 0; i++)
		r = string_list_addf(ret, "%s%s", choice.metrics[i].origin == METRIC_SAMPLED ? "pmsampling:" : "", choice.metrics[i].name);
	choice_release(&choice);
	return r < 0 ? error_set(err, ENOMEM, "Not enough memory") : 0;
}

void kernel_release_selected(struct kernel_selected *choice)
{
	choice_release(&choice->choice);
	catalog_close(&choice->counted);
	catalog_close(&choice->sampled);
}
