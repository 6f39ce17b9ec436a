#include "stats/report_file.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/macros.h"
#include "base/text/ending.h"
#include "base/text/nearest.h"
#include "base/text/path.h"

static const struct {
	const char *name;
	enum display display;
} displays[] = {
	{ "text", DISPLAY_TEXT },       { "id", DISPLAY_ID },     { "number", DISPLAY_NUMBER },
	{ "percent", DISPLAY_PERCENT }, { "time", DISPLAY_TIME }, { "average", DISPLAY_AVERAGE },
	{ "decimal", DISPLAY_DECIMAL }, { "size", DISPLAY_SIZE }, { "rate", DISPLAY_RATE },
};

/* Takes over the texts. */
static int add_report_column(struct report_file *file, struct table_column column, char *option, int has_option, struct error *err)
{
	struct table_column *columns = realloc(file->columns, (file->column_count + 1) * sizeof(*columns));
	char **options = realloc(file->column_options, (file->column_count + 1) * sizeof(*options));

	if (columns)
		file->columns = columns;
	if (options)
		file->column_options = options;
	if (!columns || !options || !column.title || (has_option && !option)) {
		free(column.title);
		free(option);
		return error_set(err, ENOMEM, "Not enough memory");
	}
	columns[file->column_count] = column;
	options[file->column_count++] = option;
	return 0;
}

/* "Title = kind [if [!]option]" */
static int parse_column(struct report_file *file, const char *value, struct error *err)
{
	const char *split = strrchr(value, '='), *when = NULL;
	size_t len = split ? (size_t)(split - value) : 0, i = 0, kind_len = 0;

	while (len > 0 && value[len - 1] == ' ')
		len--;
	if (split) {
		split += 1 + strspn(split + 1, " ");
		kind_len = strcspn(split, " ");
		when = strncmp(split + kind_len, " if ", 4) == 0 ? split + kind_len + 4 : NULL;
	}
	while (split && i < COUNT_OF(displays) && (strlen(displays[i].name) != kind_len || strncmp(displays[i].name, split, kind_len) != 0))
		i++;
	if (!split || i == COUNT_OF(displays) || (split[kind_len] && !when))
		return error_set(err, EINVAL,
				 "column takes 'Title = kind' with kind text, id, number, percent, decimal, time, average, size or "
				 "rate");
	return add_report_column(file, (struct table_column){ strndup(value, len), displays[i].display }, when ? strdup(when) : NULL,
				 when != NULL, err);
}

/* "name help" for a flag, "name=initial help" for a value. */
static int add_option(struct report_file *file, const char *value, struct error *err)
{
	size_t len = strcspn(value, " "), name_len = strcspn(value, "= ");
	struct report_option *option;

	if (!LIST_ROOM(file->options, file->option_count))
		return error_set(err, ENOMEM, "Not enough memory");
	option = &file->options[file->option_count++];
	*option = (struct report_option){ strndup(value, name_len), NULL, strdup(value + len + strspn(value + len, " ")) };
	if (name_len < len)
		option->initial = strndup(value + name_len + 1, len - name_len - 1);
	if (!option->name || !option->help || (name_len < len && !option->initial))
		return error_set(err, ENOMEM, "Not enough memory");
	return name_len ? 0 : error_set(err, EINVAL, "option takes 'name help' or 'name=value help'");
}

static int add_alias(struct report_file *file, const char *value, struct error *err)
{
	size_t len;

	for (; *value; value += len) {
		value += strspn(value, " ,");
		len = strcspn(value, " ,");
		if (len == 0)
			break;
		if (!LIST_ROOM(file->aliases, file->alias_count))
			return error_set(err, ENOMEM, "Not enough memory");
		file->aliases[file->alias_count] = strndup(value, len);
		if (!file->aliases[file->alias_count])
			return error_set(err, ENOMEM, "Not enough memory");
		file->alias_count++;
	}
	return 0;
}

/* Keys that may be given once replace, help lines add up. */
static int set_report_field(char **field, const char *value, struct error *err)
{
	char *joined = NULL;

	if (*field ? asprintf(&joined, "%s\n%s", *field, value) < 0 : (joined = strdup(value)) == NULL)
		return error_set(err, ENOMEM, "Not enough memory");
	free(*field);
	*field = joined;
	return 0;
}

static int parse_header(struct report_file *file, const char *key, const char *value, struct error *err)
{
	if (strcmp(key, "title") == 0)
		return set_report_field(&file->title, value, err);
	if (strcmp(key, "requires") == 0)
		return set_report_field(&file->requires, value, err);
	if (strcmp(key, "skipped") == 0)
		return set_report_field(&file->skipped, value, err);
	if (strcmp(key, "note") == 0)
		return set_report_field(&file->note, value, err);
	if (strcmp(key, "help") == 0)
		return set_report_field(&file->help, value, err);
	if (strcmp(key, "column") == 0)
		return parse_column(file, value, err);
	if (strcmp(key, "option") == 0)
		return add_option(file, value, err);
	if (strcmp(key, "alias") == 0)
		return add_alias(file, value, err);
	if (strcmp(key, "default") == 0) {
		file->default_place = atoi(value);
		return file->default_place > 0 ? 0 : error_set(err, EINVAL, "default takes a number above 0");
	}
	return error_set(err, EINVAL, "'%s' is not a key of a report's header", key);
}

/* "-- key: value". Other comments are remarks. Returns 1. */
static int parse_comment_line(struct report_file *file, char *line, struct error *err)
{
	char *key = line + 2, *colon, *value;

	key += strspn(key, " ");
	colon = strchr(key, ':');
	if (!colon)
		return 1;
	*colon = '\0';
	value = colon + 1 + strspn(colon + 1, " ");
	if (strcspn(key, " ") != strlen(key))
		return 1;
	value[strcspn(value, "\r")] = '\0';
	TRY(parse_header(file, key, value, err));
	return 1;
}

static char *get_report_name(const char *path)
{
	const char *base = path_name(path);
	size_t len = strlen(base);

	if (text_has_ending(base, ".sql"))
		len -= 4;
	return strndup(base, len);
}

static int parse_text(struct report_file *file, char *text, struct error *err)
{
	char *line = text, *end, *next;
	struct error inner;
	unsigned number = 0;
	int r = 1, has_note;

	while (r > 0 && (strncmp(line, "--", 2) == 0 || *line == '\n')) {
		end = strchrnul(line, '\n');
		next = *end ? end + 1 : end;
		*end = '\0';
		number++;
		has_note = file->note != NULL;
		r = *line ? parse_comment_line(file, line, &inner) : 1;
		if (!has_note && file->note)
			file->note_line = number;
		line = next;
	}
	if (r < 0)
		return error_set(err, EINVAL, "%s line %u: %s", file->path, number, inner.text);
	if (!*line || !file->title || !file->column_count)
		return error_set(err, EINVAL, "%s is not a report: it needs title, column lines and a statement", file->path);
	file->sql_line = number + 1;
	file->sql = strdup(line);
	return file->sql ? 0 : error_set(err, ENOMEM, "Not enough memory");
}

int report_file_parse(struct report_file *ret, const char *path, const char *text, struct error *err)
{
	char *copy = strdup(text);
	int r;

	memset(ret, 0, sizeof(*ret));
	ret->path = strdup(path);
	ret->name = get_report_name(path);
	if (!copy || !ret->path || !ret->name)
		r = error_set(err, ENOMEM, "Not enough memory");
	else
		r = parse_text(ret, copy, err);
	free(copy);
	if (r < 0)
		report_file_release(ret);
	return r;
}

void report_file_release(struct report_file *file)
{
	for (size_t i = 0; i < file->alias_count; i++)
		free(file->aliases[i]);
	for (size_t i = 0; i < file->column_count; i++) {
		free(file->columns[i].title);
		free(file->column_options[i]);
	}
	for (size_t i = 0; i < file->option_count; i++) {
		free(file->options[i].name);
		free(file->options[i].initial);
		free(file->options[i].help);
	}
	free(file->options);
	free(file->aliases);
	free(file->columns);
	free(file->column_options);
	free(file->name);
	free(file->path);
	free(file->title);
	free(file->requires);
	free(file->skipped);
	free(file->note);
	free(file->help);
	free(file->sql);
	memset(file, 0, sizeof(*file));
}

static int read_report_text(const char *path, struct buf *text, struct error *err)
{
	FILE *in = fopen(path, "re");
	char piece[4096];
	size_t n;
	int r = 0;

	if (!in)
		return error_set_errno(err, errno, "Cannot read the report %s", path);
	while (r >= 0 && (n = fread(piece, 1, sizeof(piece), in)) > 0)
		r = buf_append(text, piece, n);
	if (ferror(in))
		r = error_set(err, EIO, "Cannot read the report %s", path);
	else if (r < 0)
		error_set(err, ENOMEM, "Not enough memory");
	fclose(in);
	return r;
}

static int has_report_named(const struct report_files *files, const char *name)
{
	for (size_t i = 0; i < files->count; i++)
		if (strcmp(files->files[i].name, name) == 0)
			return 1;
	return 0;
}

static int load_file(struct report_files *files, const char *folder, const char *entry, struct error *err)
{
	struct report_file *grown, file;
	struct buf text = BUF_INIT;
	char path[4096];
	int r;

	snprintf(path, sizeof(path), "%s/%s", folder, entry);
	r = read_report_text(path, &text, err);
	if (r >= 0)
		r = report_file_parse(&file, path, buf_cstr(&text), err);
	buf_release(&text);
	if (r < 0)
		return r;
	grown = has_report_named(files, file.name) ? NULL : realloc(files->files, (files->count + 1) * sizeof(*grown));
	if (!grown) {
		r = has_report_named(files, file.name) ? 0 : error_set(err, ENOMEM, "Not enough memory");
		report_file_release(&file);
		return r;
	}
	files->files = grown;
	files->files[files->count++] = file;
	return 0;
}

static int load_folder(struct report_files *files, const char *folder, struct error *err)
{
	DIR *dir = opendir(folder);
	struct dirent *entry;
	int r = 0;

	if (!dir)
		return 0;
	while (r >= 0 && (entry = readdir(dir)) != NULL) {
		if (entry->d_name[0] != '.' && text_has_ending(entry->d_name, ".sql"))
			r = load_file(files, folder, entry->d_name, err);
	}
	closedir(dir);
	return r;
}

static int compare_report_names(const void *a, const void *b)
{
	return strcmp(((const struct report_file *)a)->name, ((const struct report_file *)b)->name);
}

int report_files_load(struct report_files *ret, const char *const *folders, size_t folder_count, struct error *err)
{
	int r = 0;

	memset(ret, 0, sizeof(*ret));
	for (size_t i = 0; r >= 0 && i < folder_count; i++)
		r = load_folder(ret, folders[i], err);
	if (r < 0) {
		report_files_release(ret);
		return r;
	}
	if (ret->count)
		qsort(ret->files, ret->count, sizeof(*ret->files), compare_report_names);
	return 0;
}

void report_files_release(struct report_files *files)
{
	for (size_t i = 0; i < files->count; i++)
		report_file_release(&files->files[i]);
	free(files->files);
	memset(files, 0, sizeof(*files));
}

static const struct report_option *find_option(const struct report_file *file, const char *name, size_t len)
{
	for (size_t i = 0; i < file->option_count; i++)
		if (strlen(file->options[i].name) == len && strncmp(file->options[i].name, name, len) == 0)
			return &file->options[i];
	return NULL;
}

const char *report_option_value(const struct report_file *file, const char *asked, const char *name, size_t *ret_len)
{
	const struct report_option *option = find_option(file, name, strlen(name));
	const char *value = option && option->initial ? option->initial : "0", *at = asked + strcspn(asked, ":");
	size_t len = strlen(value), name_len;

	if (!option)
		return NULL;
	for (; *at; at += strcspn(at, ":")) {
		name_len = strcspn(++at, ":=");
		if (strlen(name) != name_len || strncmp(name, at, name_len) != 0)
			continue;
		value = at[name_len] == '=' ? at + name_len + 1 : "1";
		len = at[name_len] == '=' ? strcspn(value, ":") : 1;
	}
	*ret_len = len;
	return value;
}

int report_column_shown(const struct report_file *file, const char *asked, size_t column)
{
	const char *name = file->column_options[column], *value;
	size_t len;

	if (!name)
		return 1;
	value = report_option_value(file, asked, name + (*name == '!'), &len);
	return (value && len > 0 && !(len == 1 && *value == '0')) == (*name != '!');
}

static int is_number_text(const char *text, size_t len)
{
	char plain[64], *end;

	if (len == 0 || len >= sizeof(plain) || strspn(text, "+-.0123456789") < len)
		return 0;
	memcpy(plain, text, len);
	plain[len] = '\0';
	strtod(plain, &end);
	return !*end;
}

/* An option that has a number at first has one always. */
static int check_value(const struct report_file *file, const struct report_option *option, const char *value, struct error *err)
{
	size_t len = strcspn(value, ":");

	if (!is_number_text(option->initial, strlen(option->initial)) || is_number_text(value, len))
		return 0;
	return error_set(err, EINVAL, "Option %s of %s takes a number, not '%.*s'", option->name, file->name, (int)(len < 64 ? len : 64),
			 value);
}

static int check_options(const struct report_file *file, const char *asked, struct error *err)
{
	const struct report_option *option;
	struct nearest nearest;
	char word[64], hint[160];
	size_t len;

	for (asked += strcspn(asked, ":"); *asked; asked += strcspn(asked, ":")) {
		len = strcspn(++asked, ":=");
		option = find_option(file, asked, len);
		if (option && (option->initial != NULL) == (asked[len] == '=')) {
			if (option->initial && check_value(file, option, asked + len + 1, err) < 0)
				return -EINVAL;
			continue;
		}
		snprintf(word, sizeof(word), "%.*s", (int)(len < sizeof(word) ? len : sizeof(word) - 1), asked);
		if (option && option->initial)
			return error_set(err, EINVAL, "Option %s of %s requires a value: %s=%s", word, file->name, word, option->initial);
		if (option)
			return error_set(err, EINVAL, "Option %s of %s does not take a value", word, file->name);
		nearest_begin(&nearest, word);
		for (size_t i = 0; i < file->option_count; i++)
			nearest_offer(&nearest, file->options[i].name, strlen(file->options[i].name));
		return error_set(err, EINVAL, "Report %s does not have an option '%s'.%s", file->name, word,
				 nearest_hint(&nearest, "", hint, sizeof(hint)));
	}
	return 0;
}

static int is_named(const char *name, const char *asked, size_t len)
{
	return strlen(name) == len && strncmp(name, asked, len) == 0;
}

static const struct report_file *find_file(const struct report_files *files, const char *asked, size_t len)
{
	for (size_t i = 0; i < files->count; i++) {
		if (is_named(files->files[i].name, asked, len))
			return &files->files[i];
		for (size_t a = 0; a < files->files[i].alias_count; a++)
			if (is_named(files->files[i].aliases[a], asked, len))
				return &files->files[i];
	}
	return NULL;
}

const struct report_file *report_files_find(const struct report_files *files, const char *asked, struct error *err)
{
	const struct report_file *file = find_file(files, asked, strcspn(asked, ":"));
	struct nearest nearest;
	char hint[160];

	if (file)
		return check_options(file, asked, err) < 0 ? NULL : file;
	nearest_begin(&nearest, asked);
	for (size_t i = 0; i < files->count; i++)
		nearest_offer(&nearest, files->files[i].name, strlen(files->files[i].name));
	if (files->count == 0)
		error_set(err, ENOENT, "No reports were found: share/sql is missing beside the program");
	else
		error_set(err, EINVAL, "Unknown report '%s'.%s", asked, nearest_hint(&nearest, "", hint, sizeof(hint)));
	return NULL;
}
