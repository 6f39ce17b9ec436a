/* The prompt of sonde sql: lines are edited and remembered by libedit. */
#include <errno.h>
#include <histedit.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <wchar.h>

#include "base/system/output_path.h"
#include "cli/sql/shell.h"

#define HISTORY_LINES 1000
#define CTRL_D 4

struct prompt {
	struct sql_shell *shell;
	EditLine *editor;
	History *history;
	HistEvent event;
	char *history_path; /* NULL: nothing is kept */
	int is_interrupted; /* by Ctrl-C, while it waited for a character */
};

static char *prompt_text(EditLine *editor)
{
	struct prompt *p = NULL;
	const char *text;

	el_get(editor, EL_CLIENTDATA, &p);
	text = p && sql_shell_is_within(p->shell) ? "  ...> " : "sonde> ";
	return (char *)(uintptr_t)text;
}

/* Makes the folders above the last part of the path, for their owner only. */
static void make_folders(char *path)
{
	for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		mkdir(path, 0700);
		*slash = '/';
	}
}

static char *history_path(void)
{
	const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
	struct buf path = BUF_INIT;
	int r;

	/* Relative ones are to be ignored (XDG Base Directory Specification). */
	if (state && *state == '/')
		r = buf_printf(&path, "%s/sonde/sql_history", state);
	else if (home && *home == '/')
		r = buf_printf(&path, "%s/.local/state/sonde/sql_history", home);
	else
		return NULL;
	if (r >= 0)
		make_folders(path.data);
	return r < 0 ? NULL : path.data;
}

/* What people ask is theirs alone. */
static void save_history(struct prompt *p)
{
	FILE *file = p->history_path ? output_log_open(p->history_path, NULL) : NULL;

	if (file && fchmod(fileno(file), 0600) == 0)
		history(p->history, &p->event, H_SAVE_FP, file);
	if (file)
		fclose(file);
}

/* A byte, once there is one: Ctrl-C is let through while waiting alone, so that one typed before counts. As read(). */
static ssize_t read_byte(char *ret)
{
	struct pollfd input = { .fd = STDIN_FILENO, .events = POLLIN };
	sigset_t open_mask;

	sigprocmask(SIG_SETMASK, NULL, &open_mask);
	sigdelset(&open_mask, SIGINT);
	if (ppoll(&input, 1, NULL, &open_mask) < 0)
		return -1;
	return read(STDIN_FILENO, ret, 1);
}

/* libedit puts the terminal back before it returns, which may change errno. */
static void note_interrupt(EditLine *editor)
{
	void *data = NULL;

	if (el_get(editor, EL_CLIENTDATA, &data) == 0 && data)
		((struct prompt *)data)->is_interrupted = 1;
}

/* The next character, for libedit: 1, 0 at the end, -1. */
static int read_character(EditLine *editor, wchar_t *ret)
{
	mbstate_t state = { 0 };
	char byte;
	ssize_t r;
	size_t len;

	do {
		r = read_byte(&byte);
		if (r < 0 && errno == EINTR)
			note_interrupt(editor);
		if (r <= 0)
			return (int)r;
		/* What Ctrl-D became when it was typed while a statement ran: the terminal took it for the end of a line. */
		if (byte == '\0')
			byte = CTRL_D;
		len = mbrtowc(ret, &byte, 1, &state);
		if (len == (size_t)-1)
			state = (mbstate_t){ 0 }; /* no character: the next byte may begin one */
	} while (len == (size_t)-1 || len == (size_t)-2);
	return 1;
}

static int open_editor(struct prompt *p)
{
	struct cli *cli = p->shell->cli;

	p->editor = el_init("sonde", stdin, isatty(fileno(cli->out)) ? cli->out : cli->err, cli->err);
	p->history = history_init();
	if (!p->editor || !p->history)
		return -ENOMEM;
	history(p->history, &p->event, H_SETSIZE, HISTORY_LINES);
	history(p->history, &p->event, H_SETUNIQUE, 1);
	p->history_path = history_path();
	if (p->history_path)
		history(p->history, &p->event, H_LOAD, p->history_path);
	el_set(p->editor, EL_CLIENTDATA, p);
	el_set(p->editor, EL_PROMPT, prompt_text);
	el_set(p->editor, EL_EDITOR, "emacs");
	el_set(p->editor, EL_GETCFN, read_character);
	el_set(p->editor, EL_HIST, history, p->history);
	el_set(p->editor, EL_BIND, "^R", "em-inc-search-prev", NULL);
	el_source(p->editor, NULL); /* the user's ~/.editrc */
	return 0;
}

static void close_editor(struct prompt *p)
{
	if (p->history && p->editor)
		save_history(p);
	if (p->editor)
		el_end(p->editor);
	if (p->history)
		history_end(p->history);
	free(p->history_path);
}

/* Waiting is interrupted because there is a handler. */
static void on_interrupt(int number)
{
}

static void read_prompt_lines(struct prompt *p)
{
	struct sql_shell *shell = p->shell;
	enum sql_answer answer = SQL_GO_ON;
	const char *line;
	int length;

	while (answer != SQL_LEAVE) {
		p->is_interrupted = 0;
		line = el_gets(p->editor, &length);
		if (!line && p->is_interrupted) {
			/* Ctrl-C: the statement begun is forgotten. */
			sql_shell_forget(shell);
			fputc('\n', shell->cli->err);
			continue;
		}
		if (!line || length <= 0)
			break;
		if (line[strspn(line, " \t\r\n")])
			history(p->history, &p->event, H_ENTER, line);
		answer = sql_shell_line(shell, line); /* an error was told; the next statement may do */
	}
}

int sql_prompt(struct sql_shell *shell)
{
	struct sigaction action = { .sa_handler = on_interrupt }, before;
	struct prompt p = { .shell = shell };
	sigset_t interrupt, mask;

	fputs("Statements end with a semicolon; .tables lists what can be queried, .help lists the commands.\n", shell->cli->out);
	fflush(shell->cli->out);
	shell->takes_interrupts = 1;
	sigemptyset(&interrupt);
	sigaddset(&interrupt, SIGINT);
	sigprocmask(SIG_BLOCK, &interrupt, &mask);
	sigaction(SIGINT, &action, &before);
	if (open_editor(&p) >= 0)
		read_prompt_lines(&p);
	else
		sql_shell_fail(shell, "Not enough memory");
	close_editor(&p);
	sigaction(SIGINT, &before, NULL);
	sigprocmask(SIG_SETMASK, &mask, NULL);
	return 0;
}
