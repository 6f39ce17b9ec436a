#include "cli/kernel/rename.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "fmt/kernel_request.h"

#define FILE_NAME "ncu-kernel-renames.yaml"
#define FOLDER ".config/NVIDIA Corporation"
#define MOST_BYTES (1u << 20)

void kernel_renames_release(struct kernel_renames *renames)
{
	string_list_release(&renames->originals);
	string_list_release(&renames->names);
}

/* "  - Renamed: 'Merge Sort'" -> Merge Sort, in place; NULL: the line says something else. */
static char *find_rename_value(char *line, const char *word)
{
	size_t len;
	char *end;

	line += strspn(line, " \t-");
	if (strncmp(line, word, strlen(word)) != 0)
		return NULL;
	line += strlen(word);
	line += strspn(line, " \t");
	end = line + strlen(line);
	while (end > line && isspace((unsigned char)end[-1]))
		*--end = '\0';
	len = (size_t)(end - line);
	if (len > 1 && (*line == '"' || *line == '\'') && end[-1] == *line) {
		end[-1] = '\0';
		line++;
	}
	return line;
}

static int take_rename_line(struct kernel_renames *renames, char *line)
{
	char *original = find_rename_value(line, "Original:"), *name = original ? NULL : find_rename_value(line, "Renamed:");

	if (original)
		return string_list_addf(&renames->originals, "%s", original);
	/* One without a name to be replaced is nobody's. */
	if (name && renames->names.count < renames->originals.count)
		return string_list_addf(&renames->names, "%s", name);
	return 0;
}

static int read_rename_lines(FILE *file, struct kernel_renames *ret)
{
	size_t size = 0, total = 0;
	char *line = NULL;
	int r = 0;

	while (r >= 0 && total < MOST_BYTES && getline(&line, &size, file) >= 0) {
		total += strlen(line);
		r = take_rename_line(ret, line);
	}
	free(line);
	return r;
}

static FILE *open_usual(void)
{
	const char *home = getenv("HOME");
	char path[PATH_MAX];
	FILE *file = fopen(FILE_NAME, "re");

	if (file || !home || (size_t)snprintf(path, sizeof(path), "%s/" FOLDER "/" FILE_NAME, home) >= sizeof(path))
		return file;
	return fopen(path, "re");
}

bool kernel_renames_load(struct cli *cli, const struct kernel_fields *f, struct kernel_renames *ret)
{
	const char *path = kernel_says_yes(f->rename_export) ? NULL : f->rename_path;
	FILE *file;
	int r;

	if (!kernel_says_yes(f->rename))
		return true;
	file = path ? fopen(path, "re") : open_usual();
	if (!file && path) {
		command_fail(cli, &kernel_command, "--rename-kernels-path: %s cannot be read: %s", path, strerror(errno));
		return false;
	}
	if (!file)
		return true;
	r = read_rename_lines(file, ret);
	fclose(file);
	if (r < 0)
		command_fail(cli, &kernel_command, "Not enough memory");
	return r >= 0;
}

int kernel_renames_list(const struct kernel_renames *renames, struct string_list *ret)
{
	int r = 0;

	for (size_t i = 0; i < renames->names.count && ret->count < KERNEL_REQUEST_TEXTS && r >= 0; i++)
		if (*renames->originals.items[i] && !strchr(renames->originals.items[i], '\t'))
			r = string_list_addf(ret, "%s\t%s", renames->originals.items[i], renames->names.items[i]);
	return r;
}

int kernel_renames_apply(const struct kernel_renames *renames, struct kernel_results *results)
{
	for (size_t i = 0; i < results->count; i++)
		for (size_t k = 0; k < renames->names.count; k++) {
			if (strcmp(results->items[i].name, renames->originals.items[k]) != 0)
				continue;
			results->items[i].name = results_keep(results, renames->names.items[k]);
			if (!results->items[i].name)
				return -ENOMEM;
			break;
		}
	return 0;
}

bool kernel_renames_export(struct cli *cli, const struct kernel_fields *f, const struct kernel_results *results)
{
	const char *path = f->rename_path ? f->rename_path : FILE_NAME;
	FILE *file;
	size_t before;

	if (!kernel_says_yes(f->rename_export))
		return true;
	file = fopen(path, "wxe");
	for (size_t i = 0; file && i < results->count; i++) {
		for (before = 0; before < i && strcmp(results->items[before].name, results->items[i].name) != 0; before++)
			;
		if (before == i)
			fprintf(file, "-\n - Original: %s\n - Renamed: %s\n", results->items[i].name, results->items[i].name);
	}
	if (file && fclose(file) == 0)
		return true;
	command_fail(cli, &kernel_command, "--rename-kernels-export: %s cannot be written: %s", path, strerror(errno));
	return false;
}
