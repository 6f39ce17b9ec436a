#include "view/screenshot/devtools.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/system/monotonic.h"

#define SECOND INT64_C(1000000000)
#define MOST_ANSWER (256u << 20)
#define PATIENCE_MS 3000 /* for a browser that was told to end */

/* The browser reads commands from descriptor 3 and writes to 4. Its sandbox cannot be had by root, who in a container is not
 * more than a user; what it shows is our own page, which loads nothing from elsewhere. */
static void run_browser(const char *program, const char *profile, int in, int out)
{
	char folder[4200];
	/* clang-format off */
	const char *words[24] = { program, "--headless", "--remote-debugging-pipe", folder, "--no-first-run",
				  "--no-default-browser-check", "--disable-extensions", "--disable-background-networking",
				  "--disable-component-update", "--disable-sync", "--disable-gpu", "--disable-dev-shm-usage",
				  "--hide-scrollbars", "--mute-audio" };
	/* clang-format on */
	size_t count = 14;
	int null = open("/dev/null", O_RDWR);
	sigset_t none;

	snprintf(folder, sizeof(folder), "--user-data-dir=%s", profile);
	if (geteuid() == 0)
		words[count++] = "--no-sandbox";
	words[count++] = "about:blank";
	words[count] = NULL;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGPIPE, SIG_DFL);
	setpgid(0, 0);
	/* Out of the way first, so that neither is written over. */
	in = fcntl(in, F_DUPFD, 10);
	out = fcntl(out, F_DUPFD, 10);
	for (int fd = 0; fd < 3; fd++)
		dup2(null, fd);
	dup2(in, 3);
	dup2(out, 4);
	for (int fd = 5; fd < 64; fd++)
		close(fd);
	execv(program, (char *const *)words);
	_exit(127);
}

static int make_profile(struct devtools *d, struct error *err)
{
	const char *place = getenv("TMPDIR");

	snprintf(d->profile, sizeof(d->profile), "%s/sonde-browser-XXXXXX", place && *place ? place : "/tmp");
	if (mkdtemp(d->profile))
		return 0;
	d->profile[0] = '\0';
	return error_set_errno(err, errno, "Cannot make a folder for the browser; set TMPDIR to a writable folder");
}

int devtools_open(struct devtools *d, const char *program, int stop_fd, int seconds, struct error *err)
{
	int commands[2] = { -1, -1 }, answers[2] = { -1, -1 }, r = 0;

	*d = (struct devtools){
		.browser = -1, .to_fd = -1, .from_fd = -1, .stop_fd = stop_fd, .next_id = 1, .deadline = monotonic_ns() + seconds * SECOND
	};
	TRY(make_profile(d, err));
	if (pipe2(commands, O_CLOEXEC) < 0 || pipe2(answers, O_CLOEXEC) < 0)
		r = error_set_errno(err, errno, "%s cannot be started", program);
	d->browser = r < 0 ? -1 : fork();
	if (d->browser == 0)
		run_browser(program, d->profile, commands[0], answers[1]);
	if (r == 0 && d->browser < 0)
		r = error_set_errno(err, errno, "%s cannot be started", program);
	d->to_fd = commands[1];
	d->from_fd = answers[0];
	if (commands[0] >= 0)
		close(commands[0]);
	if (answers[1] >= 0)
		close(answers[1]);
	return r;
}

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *at)
{
	remove(path);
	return 0;
}

static bool has_browser_ended(struct devtools *d, int milliseconds)
{
	for (int waited = 0; waited < milliseconds; waited += 20) {
		if (waitpid(d->browser, NULL, WNOHANG) != 0)
			return true;
		usleep(20000);
	}
	return false;
}

void devtools_close(struct devtools *d)
{
	if (d->to_fd >= 0)
		close(d->to_fd);
	if (d->from_fd >= 0)
		close(d->from_fd);
	/* Without its pipe it ends by itself; its group has the processes it started. */
	if (d->browser > 0 && !has_browser_ended(d, PATIENCE_MS)) {
		kill(-d->browser, SIGKILL);
		waitpid(d->browser, NULL, 0);
	}
	if (d->profile[0])
		nftw(d->profile, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	buf_release(&d->received);
}

static int send_all(struct devtools *d, const char *text, size_t len, struct error *err)
{
	while (len) {
		ssize_t n = write(d->to_fd, text, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return error_set(err, EPIPE, "The browser has ended");
		text += n;
		len -= (size_t)n;
	}
	return 0;
}

/* One message more, NUL-terminated, at the begin of `received`; *ret_size is its size with the NUL. */
static int receive(struct devtools *d, size_t *ret_size, struct error *err)
{
	char *end;
	ssize_t n;

	while (!(end = d->received.len ? memchr(d->received.data, '\0', d->received.len) : NULL)) {
		struct pollfd p[2] = { { .fd = d->from_fd, .events = POLLIN }, { .fd = d->stop_fd, .events = POLLIN } };
		int64_t left = (d->deadline - monotonic_ns()) / 1000000;

		if (left <= 0 || poll(p, 2, (int)left) == 0)
			return error_set(err, ETIMEDOUT, "The page was not complete in time");
		if (p[1].revents & POLLIN)
			return error_set(err, EINTR, "Interrupted");
		if (d->received.len > MOST_ANSWER || buf_reserve(&d->received, 65536) < 0)
			return error_set(err, ENOMEM, "Not enough memory");
		n = read(d->from_fd, d->received.data + d->received.len, 65536);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return error_set(err, EPIPE, "The browser has ended");
		d->received.len += (size_t)n;
	}
	*ret_size = (size_t)(end - d->received.data) + 1;
	return 0;
}

int devtools_call(struct devtools *d, const char *session, const char *method, const char *parameters, struct buf *ret, struct error *err)
{
	struct buf command = BUF_INIT;
	char begin[32];
	size_t size = 0;
	int r, id = d->next_id++;

	r = buf_printf(&command, "{\"id\":%d,\"method\":\"%s\",%s%s%s\"params\":%s}", id, method, session ? "\"sessionId\":\"" : "",
		       session ? session : "", session ? "\"," : "", parameters);
	r = r < 0 ? error_set(err, ENOMEM, "Not enough memory") : send_all(d, command.data, command.len + 1, err);
	buf_release(&command);
	snprintf(begin, sizeof(begin), "{\"id\":%d,", id);
	buf_clear(ret);
	while (r == 0) {
		bool is_it;

		r = receive(d, &size, err);
		if (r < 0)
			break;
		/* Others tell of events, which nobody asked for. */
		is_it = strncmp(d->received.data, begin, strlen(begin)) == 0;
		if (is_it && buf_append(ret, d->received.data, size) < 0)
			r = error_set(err, ENOMEM, "Not enough memory");
		memmove(d->received.data, d->received.data + size, d->received.len - size);
		d->received.len -= size;
		if (is_it)
			break;
	}
	if (r == 0 && strncmp(ret->data + strlen(begin), "\"error\"", 7) == 0)
		r = error_set(err, EREMOTEIO, "The browser refused %s: %.200s", method, ret->data);
	return r;
}

const char *devtools_text(const struct buf *result, const char *key, size_t *ret_len)
{
	char wanted[64];
	const char *at;

	snprintf(wanted, sizeof(wanted), "\"%s\":\"", key);
	at = strstr(result->data, wanted);
	if (!at)
		return NULL;
	at += strlen(wanted);
	*ret_len = strcspn(at, "\"");
	return at;
}
