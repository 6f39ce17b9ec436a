#include "cli/open_report.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "ingest/foreign.h"
#include "report/file_format.h"
#include "report/reader.h"
#include "report/writer.h"

/* What the process that imports has to say. */
struct import_answer {
	int result;
	struct error err;
	struct foreign_result told;
};

static bool cut_ending(char *name, const char *ending)
{
	size_t len = strlen(name), ending_len = strlen(ending);

	if (len <= ending_len || strcmp(name + len - ending_len, ending) != 0)
		return false;
	name[len - ending_len] = '\0';
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
static void find_name(const char *name, char *ret)
{
	char stem[PATH_MAX];

	snprintf(ret, PATH_MAX, "%s", name);
	if (access(name, F_OK) == 0)
		return;
	snprintf(stem, sizeof(stem), "%s", name);
	if (try_name(stem, ".sonde", ret) || try_name(stem, ".nsys-rep", ret) || try_name(stem, ".ncu-rep", ret))
		return;
	if (cut_ending(stem, ".nsys-rep") || cut_ending(stem, ".qdrep") || cut_ending(stem, ".ncu-rep") ||
	    cut_ending(stem, ".sqlite"))
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

static void remove_folder(const char *folder)
{
	static const char *const names[] = { "import.sonde", "import.sonde.part", "import.sonde.journal" };
	char path[PATH_MAX];

	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if ((size_t)snprintf(path, sizeof(path), "%s/%s", folder, names[i]) < sizeof(path))
			unlink(path);
	rmdir(folder);
}

static void import_here(const char *name, enum foreign_kind kind, const char *path, struct import_answer *ret)
{
	struct report_writer *writer;

	ret->result = report_writer_open(&writer, path, 0, NULL, 0, &ret->err);
	if (ret->result < 0)
		return;
	ret->result = foreign_import(name, kind, writer, &ret->told, &ret->err);
	if (ret->result < 0)
		report_writer_abandon(writer);
	else
		ret->result = report_writer_finish(writer, &ret->err);
}

static void show_progress(struct cli *cli, const char *name, time_t since, bool *ret_shown)
{
	time_t now = time(NULL);

	if (now - since < 2 || !isatty(fileno(cli->err)))
		return;
	fprintf(cli->err, "\r\033[KReading %s: %ld s", name, (long)(now - since));
	fflush(cli->err);
	*ret_shown = true;
}

/* Until the import ends. Returns the signal that is to end this process, or 0. */
static int wait_for(struct cli *cli, const char *name, pid_t child, const sigset_t *signals, int *ret_wait_status)
{
	const struct timespec pause = { 0, 250000000 };
	time_t since = time(NULL);
	bool shown = false;
	int signal_number, ended = 0;

	while (waitpid(child, ret_wait_status, WNOHANG) == 0) {
		signal_number = sigtimedwait(signals, NULL, &pause);
		if (signal_number > 0 && signal_number != SIGCHLD) {
			kill(child, SIGKILL);
			waitpid(child, ret_wait_status, 0);
			ended = signal_number;
			break;
		}
		show_progress(cli, name, since, &shown);
	}
	if (shown)
		fputs("\r\033[K", cli->err);
	return ended;
}

/* Signals that end a process, and SIGCHLD; they are blocked as long as there is something to remove. */
struct blocked {
	sigset_t signals, before;
	int ended; /* by this one */
};

static void block(struct blocked *b)
{
	b->ended = 0;
	sigemptyset(&b->signals);
	sigaddset(&b->signals, SIGINT);
	sigaddset(&b->signals, SIGTERM);
	sigaddset(&b->signals, SIGHUP);
	sigaddset(&b->signals, SIGCHLD);
	sigprocmask(SIG_BLOCK, &b->signals, &b->before);
}

static void unblock(const struct blocked *b)
{
	sigprocmask(SIG_SETMASK, &b->before, NULL);
	if (b->ended)
		raise(b->ended);
}

/* In a process of its own: Ctrl-C ends it at once, and what it wrote is removed here. */
static int import_apart(struct cli *cli, const char *name, enum foreign_kind kind, const char *folder, struct blocked *blocked,
			struct import_answer *answer)
{
	char path[PATH_MAX];
	int status = 0;
	pid_t child;

	snprintf(path, sizeof(path), "%.*s/import.sonde", PATH_MAX - 32, folder);
	fflush(cli->out);
	fflush(cli->err);
	child = fork();
	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		sigprocmask(SIG_SETMASK, &blocked->before, NULL);
		import_here(name, kind, path, answer);
		_exit(0);
	}
	if (child < 0)
		return answer->result = error_set_errno(&answer->err, errno, "No process can be started");
	blocked->ended = wait_for(cli, name, child, &blocked->signals, &status);
	if (blocked->ended || !WIFEXITED(status))
		answer->result = error_set(&answer->err, EINTR, "Importing '%s' was ended by a signal", name);
	return answer->result;
}

static int keep_open(const char *folder, struct opened_report *ret, struct error *err)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%.*s/import.sonde", PATH_MAX - 32, folder);
	ret->file = open(path, O_RDONLY | O_CLOEXEC);
	if (ret->file < 0)
		return error_set_errno(err, errno, "%s cannot be opened", path);
	snprintf(ret->path, sizeof(ret->path), "/proc/self/fd/%d", ret->file);
	return 0;
}

static int import_foreign(struct cli *cli, const char *name, enum foreign_kind kind, struct opened_report *ret,
			  struct foreign_result *told, struct error *err)
{
	struct import_answer *answer = mmap(NULL, sizeof(*answer), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct blocked blocked;
	char folder[PATH_MAX];
	int r;

	if (answer == MAP_FAILED)
		return error_set(err, ENOMEM, "Not enough memory");
	block(&blocked);
	if (make_folder(folder)) {
		r = import_apart(cli, name, kind, folder, &blocked, answer);
		if (r < 0)
			*err = answer->err;
		else
			r = keep_open(folder, ret, err);
		*told = answer->told;
		remove_folder(folder);
	} else {
		r = error_set_errno(err, errno, "No folder can be made for importing '%s'; TMPDIR may name a place", name);
	}
	unblock(&blocked);
	munmap(answer, sizeof(*answer));
	return r;
}

bool open_report(struct cli *cli, const struct command *command, const char *name, struct opened_report *ret,
		 int *ret_status)
{
	char advice[PATH_MAX];
	struct foreign_result told;
	enum foreign_kind kind;
	struct error err;

	*ret = (struct opened_report){ .file = -1 };
	find_name(name, ret->path);
	if (foreign_recognize(ret->path, &kind, &err) < 0 || kind == FOREIGN_NOT || kind == FOREIGN_EMPTY ||
	    kind == FOREIGN_UNKNOWN)
		return true;
	if (!foreign_is_readable(kind)) {
		foreign_advice(ret->path, kind, advice, sizeof(advice));
		*ret_status = command_fail(cli, command, "'%s' %s.", ret->path, advice);
		return false;
	}
	snprintf(advice, sizeof(advice), "%s", ret->path);
	if (import_foreign(cli, advice, kind, ret, &told, &err) < 0) {
		*ret_status = command_fail(cli, command, "%s", err.text);
		return false;
	}
	if (told.trouble[0]) {
		command_fail(cli, command, "'%s', %s.", advice, told.trouble);
		ret->is_partial = true;
	}
	return true;
}

int open_whole(struct report **ret, const char *path, struct error *err)
{
	int r = report_open(ret, path, err);

	if (r < 0)
		return r;
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
