#include "record/gpu/metric_set.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fnmatch.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/macros.h"
#include "base/text/ending.h"
#include "base/text/path.h"
#include "base/text/trim.h"

#define SUFFIX ".set"
#define MAX_FOLDERS 16
#define MAX_NAMES 256

static void find_set_unit(struct metric_entry *e)
{
	size_t len = strlen(e->title);
	const char *open = strrchr(e->title, '['), *word;

	if (!open || e->title[len - 1] != ']')
		return;
	word = strrchr(open, ' ');
	word = word ? word + 1 : open + 1;
	snprintf(e->unit, sizeof(e->unit), "%.*s", (int)(e->title + len - 1 - word), word);
}

static int is_metric(const char *name)
{
	return *name && name[strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.")] == '\0';
}

static const char *add_set_metric(struct metric_set *set, char *name, const char *title)
{
	struct metric_entry *e = &set->entries[set->count];
	char *slash = strchr(name, '/'), *end;

	if (set->count == METRIC_SET_MAX)
		return "too many metrics";
	*e = (struct metric_entry){ .divisor = 1 };
	if (slash) {
		e->divisor = strtod(slash + 1, &end);
		*slash = '\0';
		if (end == slash + 1 || *end || !(e->divisor > 0))
			return "the divisor of a metric must be a number above 0";
	}
	name = trim(name);
	if (!is_metric(name) || strlen(name) >= sizeof(e->metric))
		return "this is not the name of a metric";
	if (!*title || strlen(title) >= sizeof(e->title))
		return "a metric needs a title of at most 127 characters";
	snprintf(e->metric, sizeof(e->metric), "%s", name);
	snprintf(e->title, sizeof(e->title), "%s", title);
	find_set_unit(e);
	set->count++;
	return NULL;
}

static const char *read_metric_set_line(struct metric_set *set, char *line)
{
	char *text = trim(line), *equals, *value;

	if (!*text || *text == '#')
		return NULL;
	equals = strchr(text, '=');
	if (!equals)
		return "expected 'metric = title'";
	*equals = '\0';
	value = trim(equals + 1);
	text = trim(text);
	if (strcmp(text, "chip") == 0)
		snprintf(set->chips, sizeof(set->chips), "%s", value);
	else if (strcmp(text, "about") == 0)
		snprintf(set->about, sizeof(set->about), "%s", value);
	else
		return add_set_metric(set, text, value);
	return NULL;
}

static void name_metric_set(struct metric_set *set, const char *path)
{
	const char *name = path_name(path);
	size_t len = strlen(name);

	if (text_has_ending(name, SUFFIX))
		len -= strlen(SUFFIX);
	snprintf(set->name, sizeof(set->name), "%.*s", (int)(len < 60 ? len : 60), name);
}

int metric_set_read(struct metric_set *ret, const char *path, struct error *err)
{
	FILE *f = fopen(path, "re");
	const char *problem = NULL;
	char line[1024];
	int number = 0;

	memset(ret, 0, sizeof(*ret));
	if (!f)
		return error_set_errno(err, errno, "cannot read the metric set %s", path);
	name_metric_set(ret, path);
	while (!problem && fgets(line, sizeof(line), f)) {
		number++;
		problem = strchr(line, '\n') || feof(f) ? read_metric_set_line(ret, line) : "the line is too long";
	}
	fclose(f);
	if (problem)
		return error_set(err, EINVAL, "%s:%d: %s", path, number, problem);
	if (!ret->count)
		return error_set(err, EINVAL, "%s holds no metrics", path);
	return 0;
}

int metric_set_fits(const struct metric_set *set, const char *chip)
{
	char list[sizeof(set->chips)], *piece, *state = NULL;

	if (!set->chips[0])
		return 1;
	memcpy(list, set->chips, sizeof(list));
	for (piece = strtok_r(list, ", ", &state); piece; piece = strtok_r(NULL, ", ", &state))
		if (fnmatch(piece, chip, FNM_CASEFOLD) == 0)
			return 1;
	return 0;
}

struct folders {
	size_t count;
	char names[MAX_FOLDERS][PATH_MAX];
};

static void add_folder(struct folders *f, const char *name, size_t len)
{
	if (len && len < PATH_MAX && f->count < MAX_FOLDERS)
		snprintf(f->names[f->count++], PATH_MAX, "%.*s", (int)len, name);
}

/* Those of the variable, then share/metrics: beside the program, where it is installed, in the source tree above the build folder. */
static void find_folders(struct folders *f)
{
	static const char *const places[] = { "share/metrics", "../share/sonde/metrics", "../share/metrics" };
	const char *list = getenv("SONDE_METRICS_PATH");
	char program[PATH_MAX], name[PATH_MAX + 32];
	ssize_t len;
	size_t piece;

	f->count = 0;
	for (; list && *list; list += piece + (list[piece] != '\0')) {
		piece = strcspn(list, ":");
		add_folder(f, list, piece);
	}
	len = readlink("/proc/self/exe", program, sizeof(program) - 1);
	if (len <= 0)
		return;
	program[len] = '\0';
	*strrchr(program, '/') = '\0';
	for (size_t i = 0; i < COUNT_OF(places); i++) {
		snprintf(name, sizeof(name), "%s/%s", program, places[i]);
		add_folder(f, name, strlen(name));
	}
}

struct names {
	size_t count;
	char list[MAX_NAMES][64];
};

/* By name, "general" first. */
static int compare_set_names(const void *a, const void *b)
{
	int first = strcmp(a, "general") == 0, second = strcmp(b, "general") == 0;

	return first != second ? second - first : strcmp(a, b);
}

static void add_set_name(struct names *n, const char *file)
{
	size_t len = strlen(file);

	if (len >= sizeof(n->list[0]) || n->count == MAX_NAMES || !text_has_ending(file, SUFFIX))
		return;
	snprintf(n->list[n->count], sizeof(n->list[0]), "%.*s", (int)(len - strlen(SUFFIX)), file);
	for (size_t i = 0; i < n->count; i++)
		if (strcmp(n->list[i], n->list[n->count]) == 0)
			return;
	n->count++;
}

static void list_names(const struct folders *f, struct names *n)
{
	struct dirent *entry;
	DIR *d;

	n->count = 0;
	for (size_t i = 0; i < f->count; i++) {
		d = opendir(f->names[i]);
		while (d && (entry = readdir(d)))
			add_set_name(n, entry->d_name);
		if (d)
			closedir(d);
	}
	qsort(n->list, n->count, sizeof(n->list[0]), compare_set_names);
}

static int read_named(struct metric_set *ret, const struct folders *f, const char *name, struct error *err)
{
	char path[PATH_MAX + 80];

	for (size_t i = 0; i < f->count; i++) {
		snprintf(path, sizeof(path), "%s/%s%s", f->names[i], name, SUFFIX);
		if (access(path, R_OK) == 0)
			return metric_set_read(ret, path, err);
	}
	return error_set(err, ENOENT, "unknown metric set '%s'; --gpu-metrics-set=help lists the sets", name);
}

static int first_that_fits(struct metric_set *ret, const struct folders *f, struct names *n, const char *chip, struct error *err)
{
	struct error ignored;

	list_names(f, n);
	for (size_t i = 0; i < n->count; i++)
		if (read_named(ret, f, n->list[i], &ignored) == 0 && metric_set_fits(ret, chip))
			return 0;
	return error_set(err, ENOENT, "no metric set fits the chip %s", chip);
}

int metric_set_find(struct metric_set *ret, const char *wanted, const char *chip, struct error *err)
{
	struct folders *f = malloc(sizeof(*f));
	struct names *n = malloc(sizeof(*n));
	int r;

	if (!f || !n) {
		r = error_set(err, ENOMEM, "no memory for metric sets");
	} else if (wanted && strncmp(wanted, "file:", 5) == 0) {
		r = metric_set_read(ret, wanted + 5, err);
	} else {
		find_folders(f);
		r = wanted ? read_named(ret, f, wanted, err) : first_that_fits(ret, f, n, chip, err);
	}
	free(f);
	free(n);
	return r;
}

size_t metric_set_each(void (*visit)(void *context, const struct metric_set *set), void *context)
{
	struct folders *f = malloc(sizeof(*f));
	struct names *n = malloc(sizeof(*n));
	struct metric_set *set = malloc(sizeof(*set));
	struct error ignored;
	size_t count = 0;

	if (f && n && set) {
		find_folders(f);
		list_names(f, n);
		for (size_t i = 0; i < n->count; i++) {
			if (read_named(set, f, n->list[i], &ignored) < 0)
				continue;
			visit(context, set);
			count++;
		}
	}
	free(f);
	free(n);
	free(set);
	return count;
}
