/* ncu's file of settings, config.ncu-cfg:
 *
 *   [Launch-and-attach, Import]    ; modes: which command lines it is for
 *   --section = LaunchStats, Occupancy
 *   --csv
 *
 * What the command line says itself goes before it. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/text/trim.h"
#include "cli/kernel/options.h"
#include "cli/links/ncu_link.h"

#define FILE_NAME "config.ncu-cfg"
#define LINE_MAX_SIZE 4096

/* The command line's own use of an option, by name or letter, with dashes; NULL: none. */
static const struct option_use *find_use(const struct options_parsed *own, const char *name)
{
	for (size_t i = 0; i < own->use_count; i++)
		if (strncmp(name, "--", 2) == 0 ? strcmp(own->uses[i].spec->name, name + 2) == 0 :
						  own->uses[i].spec->letter == name[1] && !name[2])
			return &own->uses[i];
	return NULL;
}

static const char *mode_of(const struct options_parsed *own)
{
	const struct option_use *mode = find_use(own, "--mode");

	if (find_use(own, "--import"))
		return "import";
	if (find_use(own, "--query-metrics"))
		return "query";
	for (size_t i = 0; i < own->use_count; i++)
		if (strncmp(own->uses[i].spec->name, "list-", 5) == 0)
			return "list";
	return mode ? mode->value : "launch-and-attach";
}

static bool names_mode(char *header, const char *mode)
{
	char *rest, *piece;

	for (piece = strtok_r(header, ",", &rest); piece; piece = strtok_r(NULL, ",", &rest))
		if (strcasecmp(trim(piece), mode) == 0)
			return true;
	return false;
}

/* "a, b" is the list "a,b". */
static void close_up(char *list)
{
	char *to = list;

	for (; *list; list++)
		if (!(*list == ' ' && to[-1] == ','))
			*to++ = *list;
	*to = '\0';
}

static int add_config_line(char *line, const struct options_parsed *own, struct string_list *words)
{
	char *sign = strchr(line, '='), *name, *value = NULL;
	char whole[LINE_MAX_SIZE + 4];

	if (sign) {
		*sign = '\0';
		value = trim(sign + 1);
		close_up(value);
	}
	name = trim(line);
	snprintf(whole, sizeof(whole), "%s%s", *name == '-' ? "" : "--", name);
	if (find_use(own, whole))
		return 0;
	if (!value)
		return string_list_addf(words, "%s", whole);
	if (strncmp(whole, "--", 2) == 0)
		return string_list_addf(words, "%s=%s", whole, value);
	return string_list_addf(words, "%s%s", whole, value);
}

static int read_config_lines(FILE *file, const struct options_parsed *own, struct string_list *words)
{
	char line[LINE_MAX_SIZE], *text, *end;
	bool wanted = false;
	int r = 0;

	while (r >= 0 && fgets(line, sizeof(line), file)) {
		text = trim(line);
		if (!*text || *text == ';' || *text == '#')
			continue;
		end = strchr(text, ']');
		if (*text == '[' && end) {
			*end = '\0';
			wanted = names_mode(text + 1, mode_of(own));
		} else if (wanted) {
			r = add_config_line(text, own, words);
		}
	}
	return r;
}

static FILE *open_default(void)
{
	const char *home = getenv("HOME");
	char path[PATH_MAX];
	FILE *file = fopen(FILE_NAME, "re");

	if (!file && home && (size_t)snprintf(path, sizeof(path), "%s/.config/NVIDIA Corporation/" FILE_NAME, home) < sizeof(path))
		file = fopen(path, "re");
	return file;
}

static int read_settings(const struct options_parsed *own, struct string_list *words, struct error *err)
{
	const struct option_use *wanted = find_use(own, "--config-file"), *named = find_use(own, "--config-file-path");
	FILE *file;
	int r;

	if (wanted && !kernel_says_yes(option_match(KERNEL_YES_NO, wanted->value, strlen(wanted->value))))
		return 0;
	file = named ? fopen(named->value, "re") : open_default();
	if (!file)
		return named ? error_set_errno(err, errno, "The settings '%s' cannot be read", named->value) : 0;
	r = read_config_lines(file, own, words);
	fclose(file);
	return r;
}

int ncu_config_read(int argc, char **argv, struct string_list *words, struct error *err)
{
	struct options_parsed own = OPTIONS_PARSED_INIT;
	struct kernel_fields fields = { 0 };
	struct error ignored;
	int r = 0;

	/* What is wrong with the command line is said later. */
	if (options_parse(&kernel_options_table, OPTIONS_THEN_WORDS, argc, argv, &fields, &own, &ignored) >= 0)
		r = read_settings(&own, words, err);
	options_release(&own);
	return r;
}
