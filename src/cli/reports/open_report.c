#include "cli/reports/open_report.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/text/ending.h"
#include "cli/reports/import_process.h"
#include "report/format/file_format.h"
#include "report/reader.h"

static bool cut_ending(char *name, const char *ending)
{
	if (!text_has_ending(name, ending))
		return false;
	name[strlen(name) - strlen(ending)] = '\0';
	return true;
}

static bool try_name(const char *stem, const char *ending, char *ret)
{
	char name[PATH_MAX];

	if ((size_t)snprintf(name, sizeof(name), "%s%s", stem, ending) >= sizeof(name) || access(name, F_OK) < 0)
		return false;
	strcpy(ret, name);
	return true;
}

/* Recordings go by several names: X, X.sonde, and X.nsys-rep or X.ncu-rep where the tool was called nsys or ncu. */
static void find_report_name(const char *name, char *ret)
{
	char stem[PATH_MAX];

	snprintf(ret, PATH_MAX, "%s", name);
	if (access(name, F_OK) == 0)
		return;
	snprintf(stem, sizeof(stem), "%s", name);
	if (try_name(stem, ".sonde", ret) || try_name(stem, ".nsys-rep", ret) || try_name(stem, ".ncu-rep", ret))
		return;
	if (cut_ending(stem, ".nsys-rep") || cut_ending(stem, ".qdrep") || cut_ending(stem, ".ncu-rep") || cut_ending(stem, ".sqlite"))
		try_name(stem, ".sonde", ret);
	else if (cut_ending(stem, ".sonde") && !try_name(stem, ".nsys-rep", ret))
		try_name(stem, ".ncu-rep", ret);
}

/* A folder of our own, where there is room: /tmp may be memory. */
static bool make_folder(char *ret)
{
	const char *named = getenv("TMPDIR");
	const char *const places[] = { named && *named ? named : "/var/tmp", "/tmp" };

	for (unsigned i = 0; i < 2; i++)
		if ((size_t)snprintf(ret, PATH_MAX - 32, "%s/sonde-import-XXXXXX", places[i]) < PATH_MAX - 32 && mkdtemp(ret))
			return true;
	return false;
}

static void report_name(const char *folder, char *ret)
{
	snprintf(ret, PATH_MAX, "%.*s/import.sonde", PATH_MAX - 32, folder);
}

static void remove_folder(const char *folder)
{
	char path[PATH_MAX];

	report_name(folder, path);
	unlink(path);
	rmdir(folder);
}

static int keep_open(const char *folder, struct opened_report *ret, struct error *err)
{
	char path[PATH_MAX];

	report_name(folder, path);
	ret->file = open(path, O_RDONLY | O_CLOEXEC);
	if (ret->file < 0)
		return error_set_errno(err, errno, "%s cannot be opened", path);
	snprintf(ret->path, sizeof(ret->path), "/proc/self/fd/%d", ret->file);
	return 0;
}

static int import_foreign(struct cli *cli, const char *name, enum foreign_kind kind, struct opened_report *ret,
			  struct foreign_result *reported, struct error *err)
{
	struct import_signals signals;
	char folder[PATH_MAX], path[PATH_MAX];
	int r;

	import_block(&signals);
	if (make_folder(folder)) {
		report_name(folder, path);
		r = import_apart(cli, name, kind, path, false, &signals, reported, err);
		if (r >= 0)
			r = keep_open(folder, ret, err);
		remove_folder(folder);
	} else {
		r = error_set_errno(err, errno, "Cannot make a folder to import '%s'; set TMPDIR to a writable folder", name);
	}
	import_unblock(&signals);
	return r;
}

bool open_report(struct cli *cli, const struct command *command, const char *name, struct opened_report *ret, int *ret_status)
{
	char advice[PATH_MAX];
	struct foreign_result reported;
	enum foreign_kind kind;
	struct error err;

	*ret = (struct opened_report){ .file = -1 };
	find_report_name(name, ret->path);
	if (foreign_recognize(ret->path, &kind, &err) < 0 || kind == FOREIGN_NOT || kind == FOREIGN_EMPTY || kind == FOREIGN_UNKNOWN)
		return true;
	if (!foreign_is_readable(kind)) {
		foreign_advice(ret->path, kind, advice, sizeof(advice));
		*ret_status = command_fail(cli, command, "'%s' %s.", ret->path, advice);
		return false;
	}
	snprintf(advice, sizeof(advice), "%s", ret->path);
	if (import_foreign(cli, advice, kind, ret, &reported, &err) < 0) {
		*ret_status = command_fail(cli, command, "%s", err.text);
		return false;
	}
	ret->is_partial = import_report(cli, command, advice, &reported);
	return true;
}

int open_whole(struct report **ret, const char *path, struct error *err)
{
	int r;

	TRY(report_open(ret, path, err));
	r = report_check_whole(*ret, path, err);
	if (r < 0) {
		report_close(*ret);
		*ret = NULL;
	}
	return r;
}

int close_report(struct opened_report *report, int status)
{
	if (report->file >= 0)
		close(report->file);
	report->file = -1;
	return status == 0 && report->is_partial ? 1 : status;
}

bool is_report_file(const char *path)
{
	char magic[sizeof(FILE_MAGIC) - 1];
	FILE *file = fopen(path, "re");
	bool is = file && fread(magic, sizeof(magic), 1, file) == 1 && memcmp(magic, FILE_MAGIC, sizeof(magic)) == 0;

	if (file)
		fclose(file);
	return is;
}
