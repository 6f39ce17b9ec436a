#include "stats/output.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"

extern char **environ;

int stats_output_is_console(const char *target)
{
	return strcmp(target, "-") == 0;
}

/* The report's name without its extension. */
static void default_base(char *base, size_t size, const char *input)
{
	size_t len = strlen(input);
	const char *dot = strrchr(input, '.'), *slash = strrchr(input, '/');

	if (dot && (!slash || dot > slash + 1))
		len = (size_t)(dot - input);
	snprintf(base, size, "%.*s", (int)len, input);
}

static int say_exists(const struct stats_output *o, struct error *err)
{
	return error_set(err, EEXIST, "%s exists; --force-overwrite replaces it", o->path);
}

/* What has the name is only replaced where that was asked for, even if it came there in the meantime. */
static int keep_file(const struct stats_output *o, struct error *err)
{
	int r = output_path_keep(&o->place, o->overwrite);

	if (r == -EEXIST)
		return say_exists(o, err);
	return r < 0 ? error_set_errno(err, -r, "Cannot write %s", o->path) : 0;
}

/* Pipes and devices stay what they are. */
static int open_there(struct stats_output *o, struct error *err)
{
	output_path_release(&o->place);
	o->stream = output_log_open(o->path, err);
	return o->stream ? 0 : -EIO;
}

static int open_part(struct stats_output *o, struct error *err)
{
	int r = 0;

	o->stream = output_path_open(&o->place);
	o->has_place = o->stream != NULL;
	if (!o->stream) {
		r = error_set_errno(err, errno, "Cannot write %s", o->path);
		output_path_release(&o->place);
	}
	return r;
}

static int open_output_file(struct stats_output *o, const struct stats_output_path *place, struct error *err)
{
	char base[3500];
	struct stat there;
	int is_there;

	if (strcmp(place->target, ".") == 0)
		default_base(base, sizeof(base), place->input);
	else
		snprintf(base, sizeof(base), "%s", place->target);
	snprintf(o->path, sizeof(o->path), "%s_%s.%s", base, place->report, format_extension(place->format));
	o->overwrite = place->overwrite;
	TRY(output_path_find(&o->place, o->path, err));
	is_there = output_path_stat(&o->place, &there) == 0;
	if (is_there && !o->overwrite) {
		output_path_release(&o->place);
		return say_exists(o, err);
	}
	return is_there && !S_ISREG(there.st_mode) ? open_there(o, err) : open_part(o, err);
}

#define MAX_WORDS 64

static size_t split_words(char *text, char **words)
{
	size_t count = 0;
	char *rest = NULL;

	for (char *word = strtok_r(text, " ", &rest); word && count < MAX_WORDS; word = strtok_r(NULL, " ", &rest))
		words[count++] = word;
	words[count] = NULL;
	return count;
}

static int spawn_reader(char **words, pid_t *ret_child, struct error *err)
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	sigset_t defaults;
	int ends[2], r;

	if (pipe2(ends, O_CLOEXEC) < 0)
		return error_set_errno(err, errno, "Cannot start %s", words[0]);
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, ends[0], STDIN_FILENO);
	/* This process may ignore SIGPIPE; the command is not to inherit that. */
	sigemptyset(&defaults);
	sigaddset(&defaults, SIGPIPE);
	posix_spawnattr_init(&attributes);
	posix_spawnattr_setsigdefault(&attributes, &defaults);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
	r = posix_spawnp(ret_child, words[0], &actions, &attributes, words, environ);
	posix_spawnattr_destroy(&attributes);
	posix_spawn_file_actions_destroy(&actions);
	close(ends[0]);
	if (r) {
		close(ends[1]);
		return error_set_errno(err, r, "Cannot start %s", words[0]);
	}
	return ends[1];
}

static int start_here(void *context, const char *target, pid_t *ret_child, struct error *err)
{
	char *text = strdup(target + 1), *words[MAX_WORDS + 1];
	int fd;

	if (!text)
		return error_set(err, ENOMEM, "Not enough memory");
	if (split_words(text, words) == 0)
		fd = error_set(err, EINVAL, "'@' must be followed by a command");
	else
		fd = spawn_reader(words, ret_child, err);
	free(text);
	return fd;
}

static int wait_here(void *context, pid_t child)
{
	int status;

	return waitpid(child, &status, 0) == child ? status : -errno;
}

const struct stats_starter stats_starter_here = { start_here, wait_here, NULL };

static int open_pipe(struct stats_output *o, const struct stats_output_path *place, struct error *err)
{
	int fd;

	o->starter = place->starter ? place->starter : &stats_starter_here;
	fd = o->starter->start(o->starter->context, place->target, &o->child, err);
	if (fd < 0)
		return fd;
	o->stream = fdopen(fd, "w");
	if (!o->stream) {
		close(fd);
		return error_set(err, ENOMEM, "Not enough memory");
	}
	return 0;
}

int stats_output_open(struct stats_output *ret, const struct stats_output_path *place, struct error *err)
{
	memset(ret, 0, sizeof(*ret));
	if (stats_output_is_console(place->target)) {
		ret->stream = place->console;
		ret->is_console = 1;
		return 0;
	}
	if (place->target[0] == '@')
		return open_pipe(ret, place, err);
	return open_output_file(ret, place, err);
}

int stats_output_close(struct stats_output *o, int is_whole, struct error *err)
{
	int status, r = 0;

	if (o->is_console)
		return 0;
	if (fclose(o->stream) != 0 && errno != EPIPE)
		r = error_set_errno(err, errno, "Cannot write %s", o->path[0] ? o->path : "to the command");
	if (o->has_place) {
		if (r >= 0 && is_whole)
			r = keep_file(o, err);
		unlinkat(o->place.folder, o->place.part, 0);
		output_path_release(&o->place);
	}
	status = o->child ? o->starter->wait(o->starter->context, o->child) : 0;
	if (r >= 0 && status > 0)
		r = error_set(err, EIO, "The command the table was piped to failed (%s %d)", WIFEXITED(status) ? "exit status" : "signal",
			      WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status));
	return r;
}
