#include "cli/kernel/output.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/text/ending.h"
#include "base/text/path.h"
#include "cli/arguments/output_name.h"

#define HIGHEST_NUMBER 1000000u

/* Macros of the folder stand for themselves; %i is a number. True where there is one. */
static bool put_pattern(const char *name, unsigned number, struct buf *ret)
{
	const char *slash = strrchr(name, '/');
	bool has_number = false;

	for (; *name; name++) {
		if (*name == '%' && slash && name < slash) {
			buf_puts(ret, "%%");
		} else if (*name == '%' && name[1] == 'i') {
			buf_printf(ret, "%u", number);
			has_number = true;
			name++;
		} else {
			buf_append(ret, name, 1);
			if (*name == '%' && name[1] == '%')
				buf_append(ret, ++name, 1);
		}
	}
	return has_number;
}

/* In the last part; %n, which other commands have, is none here. */
static int check_macros(const char *name, const char *last, struct error *err)
{
	for (const char *at = last; (at = strchr(at, '%')); at += 2)
		if (!at[1] || !strchr("hpqi%", at[1]))
			return error_set(err, EINVAL,
					 "The output name '%s' has '%%%.1s', which is not a macro; use %%h, %%p, %%q{NAME}, %%i or "
					 "%%%%",
					 name, at + 1);
	return 0;
}

/* A report keeps the ending it was given, whoever writes it. */
static int add_ending(char *path, size_t size, const char *ending, struct error *err)
{
	size_t len = strlen(path), more = strlen(ending);
	bool is_report = strcmp(ending, ".csv") != 0;

	if (text_has_ending(path, ending) || (is_report && (text_has_ending(path, ".sonde") || text_has_ending(path, ".ncu-rep"))))
		return 0;
	if (len + more >= size)
		return error_set(err, ENAMETOOLONG, "The output name is too long");
	memcpy(path + len, ending, more + 1);
	return 0;
}

int kernel_output_path(const char *name, const char *ending, bool overwrite, char *ret, size_t size, struct error *err)
{
	const char *last = path_name(name);
	struct buf pattern = BUF_INIT;
	bool numbered = true;
	int r;

	if (!*last || strcmp(last, ".") == 0 || strcmp(last, "..") == 0)
		return error_set(err, EISDIR, "The output name '%s' is only a folder; add the name of a file", name);
	r = check_macros(name, last, err);
	for (unsigned number = 1; r >= 0 && numbered && number < HIGHEST_NUMBER; number++) {
		buf_clear(&pattern);
		numbered = put_pattern(name, number, &pattern);
		r = output_name_expand(buf_cstr(&pattern), getpid(), ret, size, err);
		if (r >= 0)
			r = add_ending(ret, size, ending, err);
		if (r >= 0 && access(ret, F_OK) < 0)
			numbered = false;
		else if (r >= 0 && !numbered && !overwrite)
			r = error_set(err, EEXIST, "%s exists: -f replaces it", ret);
	}
	buf_release(&pattern);
	return r;
}

int kernel_output_folder(char *ret, size_t size, struct error *err)
{
	const char *named = getenv("TMPDIR");

	if ((size_t)snprintf(ret, size, "%s/sonde-kernel-XXXXXX", named && *named == '/' ? named : "/tmp") >= size)
		return error_set(err, ENAMETOOLONG, "The name in TMPDIR is too long");
	if (!mkdtemp(ret))
		return error_set_errno(err, errno, "%s cannot be made", ret);
	return 0;
}

void kernel_output_remove(const char *folder)
{
	DIR *d = opendir(folder);
	struct dirent *entry;
	char path[PATH_MAX];

	while (d && (entry = readdir(d)))
		if (entry->d_name[0] != '.' && (size_t)snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name) < sizeof(path))
			unlink(path);
	if (d)
		closedir(d);
	rmdir(folder);
}
