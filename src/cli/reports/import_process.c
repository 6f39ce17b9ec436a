#include "cli/reports/import_process.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/system/confine.h"
#include "report/writer.h"

/* What the process that imports has to say. */
struct import_answer {
	int result;
	struct error err;
	struct foreign_result reported;
};

void import_block(struct import_signals *s)
{
	s->ended = 0;
	sigemptyset(&s->signals);
	sigaddset(&s->signals, SIGINT);
	sigaddset(&s->signals, SIGTERM);
	sigaddset(&s->signals, SIGHUP);
	sigaddset(&s->signals, SIGCHLD);
	sigprocmask(SIG_BLOCK, &s->signals, &s->before);
}

void import_unblock(const struct import_signals *s)
{
	sigprocmask(SIG_SETMASK, &s->before, NULL);
	if (s->ended)
		raise(s->ended);
}

static void import_here(const char *name, enum foreign_kind kind, struct report_writer *writer, struct import_answer *ret)
{
	ret->result = foreign_import(name, kind, writer, &ret->reported, &ret->err);
	if (ret->result >= 0)
		ret->result = report_writer_finish(writer, &ret->err);
}

/* The trace is read, a journal beside it, too; the report is written. The process does nothing else: it is always confined. */
static void confine_import(const char *name, const char *path)
{
	struct confinement c = { 0 };

	confine_allow_usual(&c);
	confine_allow_folder_of(&c, CONFINE_READ, name);
	confine_allow_folder_of(&c, CONFINE_READ | CONFINE_WRITE, path);
	confine_enter(&c);
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
static int wait_for_import(struct cli *cli, const char *name, pid_t child, const sigset_t *signals, int *ret_wait_status)
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

static void import_and_wait(struct cli *cli, const char *name, enum foreign_kind kind, const char *path, struct report_writer *writer,
			    struct import_signals *s, struct import_answer *answer)
{
	int status = 0;
	pid_t child;

	fflush(cli->out);
	fflush(cli->err);
	child = fork();
	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		sigprocmask(SIG_SETMASK, &s->before, NULL);
		confine_import(name, path);
		import_here(name, kind, writer, answer);
		_exit(0);
	}
	if (child < 0) {
		answer->result = error_set_errno(&answer->err, errno, "Cannot start a process");
		return;
	}
	s->ended = wait_for_import(cli, name, child, &s->signals, &status);
	if (s->ended || !WIFEXITED(status))
		answer->result = error_set(&answer->err, EINTR, "Importing '%s' was ended by a signal", name);
}

int import_apart(struct cli *cli, const char *name, enum foreign_kind kind, const char *path, bool overwrite, struct import_signals *s,
		 struct foreign_result *reported, struct error *err)
{
	struct import_answer *answer = mmap(NULL, sizeof(*answer), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct report_writer *writer;
	int r;

	if (answer == MAP_FAILED)
		return error_set(err, ENOMEM, "Not enough memory");
	/* Begun here: what is to be removed is then surely its own. */
	r = report_writer_open(&writer, path, overwrite, NULL, 0, err);
	if (r >= 0) {
		import_and_wait(cli, name, kind, path, writer, s, answer);
		r = answer->result;
		if (r < 0)
			report_writer_remove(writer);
		report_writer_abandon(writer);
		*reported = answer->reported;
	}
	if (r < 0 && answer->result < 0)
		*err = answer->err;
	munmap(answer, sizeof(*answer));
	return r;
}

bool import_report(struct cli *cli, const struct command *command, const char *file, const struct foreign_result *reported)
{
	if (reported->trouble[0])
		command_fail(cli, command, "'%s', %s.", file, reported->trouble);
	if (reported->note[0])
		command_fail(cli, command, "'%s': %s.", file, reported->note);
	return reported->trouble[0] != '\0';
}
