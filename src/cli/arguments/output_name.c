#include "cli/arguments/output_name.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/macros.h"
#include "base/text/ending.h"
#include "base/text/path.h"
#include "record/profile_options.h"

#define DEFAULT_NAME "report%n"
#define HIGHEST_NUMBER 1000000

/* What a name is expanded with. */
struct expansion {
	enum output_style style;
	pid_t pid;
	int number;
	bool has_macro;  /* other than %% */
	bool has_number; /* %n */
	bool may_clash;  /* without the rank, as another tool has it: there may be a second choice */
};

static int expand_variable(const char **at, struct buf *out, struct error *err)
{
	const char *end = strchr(*at, '}'), *name, *value;
	char variable[128];

	name = *at + 3; /* behind "%q{" */
	if ((*at)[2] != '{' || !end || end == name || (size_t)(end - name) >= sizeof(variable))
		return error_set(err, EINVAL, "The output name has %%q without {NAME}: write %%q{NAME}.");
	memcpy(variable, name, (size_t)(end - name));
	variable[end - name] = '\0';
	value = getenv(variable);
	if (!value)
		return error_set(err, EINVAL, "The output name asks for %%q{%s}, but %s is not set in the environment.", variable,
				 variable);
	*at = end + 1;
	return buf_puts(out, value);
}

static int put_host(struct buf *out)
{
	char host[HOST_NAME_MAX + 1] = "";

	gethostname(host, sizeof(host) - 1);
	return buf_puts(out, host);
}

static int expand_macro(const char **at, struct expansion *e, struct buf *out, struct error *err)
{
	char letter = (*at)[1];

	if (letter == '%') {
		*at += 2;
		return buf_append(out, "%", 1);
	}
	e->has_macro = true;
	if (letter == 'q')
		return expand_variable(at, out, err);
	*at += 2;
	if (letter == 'h')
		return put_host(out);
	if (letter == 'p')
		return buf_printf(out, "%d", (int)e->pid);
	if (letter == 'n') {
		e->has_number = true;
		return buf_printf(out, "%d", e->number);
	}
	return error_set(err, EINVAL, "The output name has '%%%.1s', which is not a macro; use %%h, %%p, %%q{NAME}, %%n or %%%%.",
			 letter ? &letter : "");
}

static int expand(const char *name, struct expansion *e, struct buf *out, struct error *err)
{
	size_t plain;
	int r = 0;

	while (r >= 0 && *name) {
		plain = strcspn(name, "%");
		r = buf_append(out, name, plain);
		name += plain;
		if (r >= 0 && *name)
			r = expand_macro(&name, e, out, err);
	}
	return r;
}

/* Launchers set these; the more specific ones come first (a launcher may run
 * inside a Slurm step whose SLURM_PROCID is then the same for all). */
static const char *rank_of_environment(enum output_style style)
{
	static const char *const names[] = { "RANK", "OMPI_COMM_WORLD_RANK", "SLURM_PROCID" };
	const char *value;
	size_t i;

	for (i = 0; i < COUNT_OF(names); i++) {
		value = getenv(names[i]);
		if (value && *value && strspn(value, "0123456789") == strlen(value))
			return style != OUTPUT_SONDE && strcmp(value, "0") == 0 ? NULL : value;
	}
	return NULL;
}

/* ".sonde", ".nsys-rep" or ".ncu-rep" where the name has it, "" otherwise. */
static const char *extension_of(const char *name)
{
	static const char *const known[] = { ".sonde", ".nsys-rep", ".ncu-rep" };

	for (size_t i = 0; i < COUNT_OF(known); i++)
		if (text_has_ending(name, known[i]))
			return name + strlen(name) - strlen(known[i]);
	return "";
}

static const char *added_extension(enum output_style style, const char *name)
{
	if (style == OUTPUT_SONDE)
		return ".sonde";
	return style == OUTPUT_NVPROF && name ? "" : ".nsys-rep";
}

static int add_rank(struct buf *out, const char *rank)
{
	TRY(buf_append(out, ".", 1));
	TRY(put_host(out));
	return buf_printf(out, ".rank%s", rank);
}

static int put_folder(const char *name, struct buf *out, struct error *err)
{
	char cwd[PATH_MAX];

	if (name[0] == '/')
		return 0;
	if (!getcwd(cwd, sizeof(cwd)))
		return error_set_errno(err, errno, "The current folder cannot be found");
	return buf_printf(out, "%s/", cwd);
}

/* Has a script put the rank into the name? "rank12" is of rank 12, not of 1 or 2. */
static bool names_rank(const char *name, const char *rank)
{
	const char *at = path_name(name);
	size_t len;

	for (; *at; at += len ? len : 1) {
		len = strspn(at, "0123456789");
		if (len == strlen(rank) && strncmp(at, rank, len) == 0)
			return true;
	}
	return false;
}

/* Every rank gets a name of its own. In place of another tool a name that need not clash stays as it is:
 * numbers are free ones, and one that holds the rank is changed only when it turns out to be taken. */
static bool rank_is_added(const char *name, const char *rank, struct expansion *e)
{
	if (!rank || (name && e->has_macro))
		return false;
	if (e->style == OUTPUT_SONDE)
		return true;
	if (!name)
		return false;
	e->may_clash = e->number == 1 && names_rank(name, rank);
	return !e->may_clash;
}

static const char *skip_here(const char *name)
{
	while (strncmp(name, "./", 2) == 0 && name[2])
		name += 2 + strspn(name + 2, "/");
	return name;
}

bool output_name_is_folder(const char *name)
{
	const char *last = path_name(name);

	return !*last || strcmp(last, ".") == 0 || strcmp(last, "..") == 0;
}

/* One path, for one pid and number. */
static int make_path(const char *name, struct expansion *e, struct buf *out, struct error *err)
{
	const char *given = name ? skip_here(name) : DEFAULT_NAME, *rank = rank_of_environment(e->style);
	const char *extension = extension_of(given);
	char *stem = strndup(given, strlen(given) - strlen(extension));
	bool added;
	int r;

	buf_clear(out);
	if (!stem)
		return error_set(err, ENOMEM, "Out of memory.");
	e->has_macro = e->has_number = e->may_clash = false;
	r = put_folder(given, out, err);
	if (r >= 0)
		r = expand(stem, e, out, err);
	added = rank_is_added(name, rank, e);
	if (r >= 0 && output_name_is_folder(given))
		r = expand(given[strlen(given) - 1] == '/' ? DEFAULT_NAME : "/" DEFAULT_NAME, e, out, err);
	if (r >= 0 && added)
		r = add_rank(out, rank);
	if (r >= 0)
		r = buf_puts(out, *extension ? extension : added_extension(e->style, name));
	free(stem);
	return r;
}

static bool output_exists(const char *path, size_t len, const char *ending)
{
	char name[PATH_MAX];
	struct stat st;

	snprintf(name, sizeof(name), "%.*s%s", (int)len, path, ending);
	return lstat(name, &st) == 0;
}

/* A recording under way has only its .part so far. nsys writes an SQLite file beside the report: one that is
 * left of another report takes the number, too. */
static bool is_free(const char *path, enum output_style style)
{
	size_t len = strlen(path);

	if (output_exists(path, len, "") || output_exists(path, len, ".part"))
		return false;
	return style != OUTPUT_NSYS || !output_exists(path, len - strlen(extension_of(path)), ".sqlite");
}

static int find_path(const char *name, struct expansion *e, struct buf *path, struct error *err)
{
	int r;

	for (; e->number <= HIGHEST_NUMBER; e->number++) {
		r = make_path(name, e, path, err);
		if (r < 0 || !e->has_number || is_free(buf_cstr(path), e->style))
			return r;
	}
	return error_set(err, EEXIST, "All numbers for '%s' are taken.", name ? name : DEFAULT_NAME);
}

int output_name_path(const char *name, enum output_style style, pid_t pid, int first_number, char *ret_path, size_t path_size,
		     struct error *err)
{
	struct expansion e = { .style = style, .pid = pid, .number = first_number > 0 ? first_number : 1 };
	CLEANUP(buf_release) struct buf path = BUF_INIT;

	TRY(find_path(name && *name ? name : NULL, &e, &path, err));
	if (path.len >= path_size)
		return error_set(err, ENAMETOOLONG, "The output name is too long.");
	memcpy(ret_path, buf_cstr(&path), path.len + 1);
	return e.has_number || e.may_clash ? e.number : 0;
}

static int name_for_sonde(const struct profile_options *options, pid_t pid, int first_number, char *ret_path, size_t path_size,
			  struct error *err)
{
	return output_name_path(options->output, OUTPUT_SONDE, pid, first_number, ret_path, path_size, err);
}

static int name_for_nsys(const struct profile_options *options, pid_t pid, int first_number, char *ret_path, size_t path_size,
			 struct error *err)
{
	return output_name_path(options->output, OUTPUT_NSYS, pid, first_number, ret_path, path_size, err);
}

static int name_for_nvprof(const struct profile_options *options, pid_t pid, int first_number, char *ret_path, size_t path_size,
			   struct error *err)
{
	return output_name_path(options->output, OUTPUT_NVPROF, pid, first_number, ret_path, path_size, err);
}

output_name_fn *const output_names[OUTPUT_STYLES] = {
	[OUTPUT_SONDE] = name_for_sonde,
	[OUTPUT_NSYS] = name_for_nsys,
	[OUTPUT_NVPROF] = name_for_nvprof,
};

int output_name_expand(const char *name, pid_t pid, char *ret, size_t size, struct error *err)
{
	struct expansion e = { .pid = pid, .number = 1 };
	CLEANUP(buf_release) struct buf text = BUF_INIT;

	TRY(expand(name, &e, &text, err));
	if (text.len >= size)
		return error_set(err, ENAMETOOLONG, "The output name is too long.");
	memcpy(ret, buf_cstr(&text), text.len + 1);
	return 0;
}

int output_name_check(const char *name, enum output_style style, struct error *err)
{
	char path[PATH_MAX];
	struct stat st;

	TRY(output_name_path(name, style, 1, 1, path, sizeof(path), err));
	if (stat(path, &st) == 0 && S_ISDIR(st.st_mode))
		return error_set(err, EISDIR, "The output '%s' is a folder; name a file in it.", path);
	strrchr(path, '/')[1] = '\0';
	if (stat(path, &st) < 0)
		return error_set_errno(err, errno, "The output folder '%s' cannot be used", path);
	if (access(path, W_OK | X_OK) < 0)
		return error_set_errno(err, errno, "The output folder '%s' cannot be written to", path);
	return 0;
}
