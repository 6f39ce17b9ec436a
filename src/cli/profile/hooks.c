#include "cli/profile/hooks.h"

#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/arguments/string_list.h"

#define AFTER_START "after-collection-start"
#define AFTER_REPORT "after-report-ready"

extern char **environ;

static bool is_replaced(const char *variable)
{
	return strncmp(variable, "NSYS_REPORT_PATH=", 17) == 0 || strncmp(variable, "NSYS_SESSION_NAME=", 18) == 0 ||
	       strncmp(variable, "NSYS_CALLBACK_NAME=", 19) == 0;
}

static int fill_environment(struct string_list *env, const struct profile_hooks *hooks, const char *option, const char *path)
{
	const char *session = hooks->fields->session_name;
	int r = string_list_addf(env, "NSYS_REPORT_PATH=%s", path);

	if (r >= 0)
		r = string_list_addf(env, "NSYS_CALLBACK_NAME=%s", option);
	if (r >= 0)
		r = session ? string_list_addf(env, "NSYS_SESSION_NAME=%s", session) :
			      string_list_addf(env, "NSYS_SESSION_NAME=profile-%d", (int)getpid());
	for (char **variable = environ; *variable && r >= 0; variable++)
		if (!is_replaced(*variable))
			r = string_list_add(env, *variable, strlen(*variable));
	return r < 0 ? -ENOMEM : 0;
}

/* Signals are as usual in the command, which are blocked here while a program is recorded. */
static int spawn(pid_t *ret, const char *command, char **env)
{
	char shell[] = "sh", option[] = "-c", *text = strdup(command);
	char *argv[] = { shell, option, text, NULL };
	posix_spawnattr_t attributes;
	sigset_t none;
	int r;

	if (!text || posix_spawnattr_init(&attributes) != 0) {
		free(text);
		return -ENOMEM;
	}
	sigemptyset(&none);
	posix_spawnattr_setsigmask(&attributes, &none);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
	r = posix_spawn(ret, "/bin/sh", NULL, &attributes, argv, env);
	posix_spawnattr_destroy(&attributes);
	free(text);
	return -r;
}

static int start_hook(struct profile_hooks *hooks, const char *option, const char *command, const char *path, pid_t *ret)
{
	struct string_list env = STRING_LIST_INIT;
	int r = fill_environment(&env, hooks, option, path);

	fflush(hooks->cli->out);
	fflush(hooks->cli->err);
	if (r == 0)
		r = spawn(ret, command, env.items);
	if (r < 0)
		fprintf(hooks->cli->err, "%s: --%s: cannot run '%s': %s\n", cli_name(hooks->cli), option, command, strerror(-r));
	string_list_release(&env);
	return r;
}

static void report_status(const struct profile_hooks *hooks, const char *option, const char *command, int status)
{
	FILE *err = hooks->cli->err;

	if (WIFSIGNALED(status))
		fprintf(err, "%s: --%s: '%s' was ended by signal %d\n", cli_name(hooks->cli), option, command, WTERMSIG(status));
	else if (WEXITSTATUS(status))
		fprintf(err, "%s: --%s: '%s' ended with status %d\n", cli_name(hooks->cli), option, command, WEXITSTATUS(status));
}

static const char *command_of(const struct profile_hooks *hooks, const char *option)
{
	return strcmp(option, AFTER_START) == 0 ? hooks->fields->after_start : hooks->fields->after_report;
}

/* Those that have ended. */
static void reap(struct profile_hooks *hooks)
{
	int status;

	for (int i = 0; i < HOOKS_AT_ONCE; i++) {
		if (!hooks->running[i] || waitpid(hooks->running[i], &status, WNOHANG) == 0)
			continue;
		hooks->running[i] = 0;
		report_status(hooks, hooks->options[i], command_of(hooks, hooks->options[i]), status);
	}
}

static void start_beside(struct profile_hooks *hooks, const char *option, const char *path)
{
	int i = 0;

	reap(hooks);
	while (i < HOOKS_AT_ONCE && hooks->running[i])
		i++;
	if (i == HOOKS_AT_ONCE) {
		fprintf(hooks->cli->err, "%s: --%s: not run again: %d of them are still running\n", cli_name(hooks->cli), option,
			HOOKS_AT_ONCE);
		return;
	}
	hooks->options[i] = option;
	if (start_hook(hooks, option, command_of(hooks, option), path, &hooks->running[i]) < 0)
		hooks->running[i] = 0;
}

void profile_hooks_started(void *listener, const char *path)
{
	start_beside(listener, AFTER_START, path);
}

void profile_hooks_report(struct profile_hooks *hooks, const char *path)
{
	if (hooks->fields->after_report)
		start_beside(hooks, AFTER_REPORT, path);
}

void profile_hooks_finish(struct profile_hooks *hooks, const char *path)
{
	const char *command = hooks->fields->after_report;
	int status = 0;
	pid_t pid;

	if (path && command && start_hook(hooks, AFTER_REPORT, command, path, &pid) == 0) {
		while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
			;
		report_status(hooks, AFTER_REPORT, command, status);
	}
	reap(hooks);
}
