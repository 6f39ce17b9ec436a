#include "cli/kernel/section_folders.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/macros.h"
#include "cli/kernel/options.h"
#include "kernel/metrics/glossary.h"
#include "kernel/sections/section.h"
#include "kernel/metrics/text_file.h"

#define MAX_DEPTH 8

static int add_below(struct string_list *folders, const char *folder, unsigned depth)
{
	char path[PATH_MAX];
	struct dirent *entry;
	struct stat status;
	DIR *d = opendir(folder);
	int r = string_list_addf(folders, "%s", folder);

	while (d && r >= 0 && depth < MAX_DEPTH && (entry = readdir(d))) {
		if (entry->d_name[0] == '.' || (size_t)snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name) >= sizeof(path))
			continue;
		if (stat(path, &status) == 0 && S_ISDIR(status.st_mode))
			r = add_below(folders, path, depth + 1);
	}
	if (d)
		closedir(d);
	return r;
}

int section_folders_add(struct string_list *ret, const struct option_texts *given, const struct option_texts *deep)
{
	const char *text = NULL;
	char piece[PATH_MAX];
	size_t at = 0;
	int r = 0;

	while (r >= 0 && next_piece(given, &at, &text, piece, sizeof(piece)))
		r = string_list_addf(ret, "%s", piece);
	text = NULL;
	at = 0;
	while (r >= 0 && next_piece(deep, &at, &text, piece, sizeof(piece)))
		r = add_below(ret, piece, 0);
	return r;
}

int section_folders_check(const struct string_list *folders, struct error *err)
{
	const char *const *names = (const char *const *)folders->items;
	struct sections sections;
	struct glossary glossary;
	int r;

	TRY(sections_load(&sections, names, folders->count, err));
	sections_release(&sections);
	r = glossary_load(&glossary, names, folders->count, err);
	if (r >= 0)
		glossary_release(&glossary);
	return r;
}

struct reading {
	struct export_text *files;
	size_t count;
	size_t folder;
	struct error *err;
};

static int read_section_file(void *context, const char *path)
{
	struct reading *reading = context;
	struct export_text made = { 0 };

	if (!LIST_ROOM(reading->files, reading->count))
		return error_set(reading->err, ENOMEM, "Not enough memory");
	TRY(text_file_read(path, &made.data, &made.size, reading->err));
	snprintf(made.name, sizeof(made.name), "%zu/%s", reading->folder, strrchr(path, '/') + 1);
	reading->files[reading->count++] = made;
	return 0;
}

int section_folders_read(const struct string_list *folders, struct export_text **ret, size_t *ret_count, struct error *err)
{
	static const char *const endings[] = { ".section", ".set", ".rule", ".txt" };
	struct reading reading = { .err = err };
	int r = 0;

	for (size_t i = 0; r >= 0 && i < folders->count; i++)
		for (size_t n = 0; r >= 0 && n < COUNT_OF(endings); n++) {
			reading.folder = i;
			r = text_each_file(folders->items[i], endings[n], read_section_file, &reading);
		}
	if (r < 0) {
		section_files_release(reading.files, reading.count);
		return r;
	}
	*ret = reading.files;
	*ret_count = reading.count;
	return 0;
}

void section_files_release(struct export_text *files, size_t count)
{
	for (size_t i = 0; i < count; i++)
		free(files[i].data);
	free(files);
}
