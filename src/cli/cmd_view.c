/* sonde view: reports in a browser. Called as nsys-ui or ncu-ui, the same. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <malloc.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/macros.h"
#include "cli/command.h"
#include "cli/reports/confine_reader.h"
#include "cli/arguments/find_program.h"
#include "cli/links/ncu_link.h"
#include "cli/links/nsys_link.h"
#include "cli/reports/open_report.h"
#include "cli/kernel/section_folders.h"
#include "export/export.h"
#include "view/server/guard.h"
#include "view/screenshot/screenshot.h"
#include "view/view.h"

#define PICTURE_SECONDS 120

struct view_fields {
	int64_t port;
	bool no_open;
	const char *bind;
	const char *web_folder;
	const char *screenshot;
	const char *size;
	const char *times;
	const char *baseline;
	struct option_texts folders;
	struct option_texts deep_folders;
	const char *operators;
};

#define FIELD(type_, field) .type = OPTION_##type_, .offset = offsetof(struct view_fields, field)

/* clang-format off */
static const struct option_spec view_specs[] = {
	{ .name = "port", FIELD(INTEGER, port), .initial = "-1", .shown = "7300, or the next that is free", .min = -1, .max = 65535,
	  .arg = "number", .tag = "server", .help = "Listen on this port; 0 takes any that is free." },
	{ .name = "no-open", FIELD(BOOL, no_open), .initial = "false", .bare = "true", .tag = "server",
	  .help = "Do not open a browser, only print the address." },
	{ .name = "bind", FIELD(TEXT, bind), .arg = "address", .tag = "server", .shown = "127.0.0.1",
	  .help = "Listen on this address. Anybody who can reach the machine and has the address with its token can read the reports. "
		  "Nothing is encrypted." },
	{ .name = "web-folder", FIELD(TEXT, web_folder), .flags = OPTION_HIDDEN, .arg = "folder", .tag = "server",
	  .help = "Serve the page from this folder." },
	{ .name = "baseline", FIELD(TEXT, baseline), .arg = "report", .tag = "kernels",
	  .help = "Compare the counters of kernels with those of the same kernels in this report." },
	{ .name = "section-folder", FIELD(TEXTS, folders), .arg = "folder", .tag = "kernels",
	  .help = "Also use the sections, rules and words of this folder. They override Sonde's of the same name." },
	{ .name = "section-folder-recursive", FIELD(TEXTS, deep_folders), .arg = "folder", .tag = "kernels",
	  .help = "The same, including all subfolders." },
	{ .name = "operators", FIELD(TEXT, operators), .arg = "trace", .tag = "kernels",
	  .help = "Sum kernels by the PyTorch operators that started them, as in this trace of the same program (torch.profiler's "
		  "JSON, or the report that 'sonde import' made of it)." },
	{ .name = "screenshot", FIELD(TEXT, screenshot), .arg = "file.png", .tag = "picture",
	  .help = "Write a picture of the page, drawn by Chromium or Chrome without a window, and exit." },
	{ .name = "size", FIELD(TEXT, size), .initial = "1920x1080", .arg = "WxH", .tag = "picture", .help = "Set the size of the "
		"picture in pixels." },
	{ .name = "times", FIELD(TEXT, times), .arg = "start/end", .tag = "picture", .shown = "all",
	  .help = "Show this part of the time axis in the picture, such as 1s/1s500ms." },
};
/* clang-format on */
static const struct option_table view_options = OPTION_TABLE(view_specs);

extern const struct command view_command;

struct viewing {
	struct cli *cli;
	const struct view_fields *fields;
	struct opened_report *opened;
	struct view_source *sources;
	size_t count;
	struct opened_report trace; /* of --operators */
	bool has_trace;
	struct string_list folders; /* of sections and rules */
	int browser_fd;             /* takes the address to be opened; -1: none is */
};

static bool view_path_exists(const struct cli *cli, const char *path)
{
	char name[4096];

	snprintf(name, sizeof(name), "%s%s", cli->root, path);
	return access(name, F_OK) == 0;
}

/* How to reach the server from elsewhere. */
static void print_ways(const struct viewing *w, int port)
{
	const char *user = getenv("USER");
	char host[256] = "HOST";
	FILE *out = w->cli->out;

	gethostname(host, sizeof(host) - 1);
	if (view_path_exists(w->cli, "/var/run/secrets/kubernetes.io"))
		fprintf(out, "From your machine:  kubectl port-forward pod/%s %d:%d\n", host, port, port);
	else if (view_path_exists(w->cli, "/.dockerenv") || view_path_exists(w->cli, "/run/.containerenv"))
		fprintf(out, "From outside:  start the container with -p 127.0.0.1:%d:%d, and sonde view with --bind 0.0.0.0\n", port,
			port);
	else
		fprintf(out, "From your machine:  ssh -L %d:127.0.0.1:%d %s%s%s\n", port, port, user ? user : "", user ? "@" : "", host);
}

static void print_url(struct view *v, void *context)
{
	struct viewing *w = context;
	char url[512];

	if (view_url(v, url, sizeof(url)) == 0)
		fprintf(w->cli->out, "%s\n", url);
	fflush(w->cli->out);
}

/* Others see the words of a command: the address goes into a file that is ours alone. */
static bool write_leader(char *path, size_t size, const char *url)
{
	const char *folder = getenv("XDG_RUNTIME_DIR");
	FILE *f;
	int fd;

	snprintf(path, size, "%s/sonde-XXXXXX.html", folder && *folder == '/' ? folder : "/tmp");
	fd = mkostemps(path, 5, O_CLOEXEC);
	f = fd < 0 ? NULL : fdopen(fd, "w");
	if (!f)
		return false;
	fprintf(f, "<!DOCTYPE html><meta http-equiv=\"refresh\" content=\"0; url=%s\"><title>Sonde</title>\n", url);
	return fclose(f) == 0;
}

static bool has_desktop(void)
{
	const char *display = getenv("DISPLAY"), *wayland = getenv("WAYLAND_DISPLAY");

	return ((display && *display) || (wayland && *wayland)) && !getenv("SSH_CONNECTION") && !getenv("SSH_TTY");
}

/* Opens the address that comes through the pipe, and removes the file that leads there when the viewer has ended. */
static void lead_browser(int url_fd)
{
	char url[512], leader[PATH_MAX];
	ssize_t n;
	sigset_t none;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGCHLD, SIG_IGN);
	setsid();
	for (int fd = 0, null = open("/dev/null", O_RDWR); fd < 3 && null >= 0; fd++)
		dup2(null, fd);
	n = read(url_fd, url, sizeof(url) - 1);
	if (n <= 0)
		return;
	url[n] = '\0';
	if (!write_leader(leader, sizeof(leader), url))
		return;
	if (fork() == 0) {
		execlp("xdg-open", "xdg-open", leader, (char *)NULL);
		_exit(127);
	}
	while (read(url_fd, url, sizeof(url)) > 0)
		;
	unlink(leader);
}

/* The viewer itself may start nothing once it reads reports: a process apart waits for the address. */
static void prepare_browser(struct viewing *w)
{
	int ends[2];
	pid_t pid;

	if (w->fields->no_open || !has_desktop() || pipe2(ends, O_CLOEXEC) < 0)
		return;
	signal(SIGCHLD, SIG_IGN);
	pid = fork();
	if (pid == 0) {
		close(ends[1]);
		lead_browser(ends[0]);
		_exit(0);
	}
	close(ends[0]);
	if (pid < 0)
		close(ends[1]);
	else
		w->browser_fd = ends[1];
}

static void open_browser(struct viewing *w, struct view *v)
{
	char url[512];

	if (w->browser_fd >= 0 && view_url(v, url, sizeof(url)) == 0 && write(w->browser_fd, url, strlen(url)) < 0)
		w->browser_fd = -1; /* it has gone; the address was printed */
}

/* The port is open: from here on reports are read. */
static void confine_view(void *context)
{
	struct viewing *w = context;
	struct confinement c = { .accepts = true };

	confine_reader_of_code(&c);
	confine_command(w->cli, &c);
}

/* A descriptor that is readable when the program is to end; also by the end of a child, where one is waited for. */
static int end_signals(bool with_child)
{
	sigset_t ends;

	sigemptyset(&ends);
	if (with_child)
		sigaddset(&ends, SIGCHLD);
	sigaddset(&ends, SIGINT);
	sigaddset(&ends, SIGTERM);
	sigaddset(&ends, SIGHUP);
	sigprocmask(SIG_BLOCK, &ends, NULL);
	signal(SIGPIPE, SIG_IGN);
	return signalfd(-1, &ends, SFD_CLOEXEC | SFD_NONBLOCK);
}

static struct view_options view_options_of(struct viewing *w)
{
	return (struct view_options){
		.sources = w->sources,
		.source_count = w->count,
		.bind = w->fields->bind,
		.port = (int)w->fields->port,
		.web_folder = w->fields->web_folder,
		.input_fd = isatty(STDIN_FILENO) ? STDIN_FILENO : -1,
		.on_input = print_url,
		.listening = confine_view,
		.context = w,
		.text_folders = (const char *const *)w->folders.items,
		.text_folder_count = w->folders.count,
		.operators = w->has_trace ? w->trace.path : NULL,
	};
}

static void tune_memory(void)
{
	/* Decoded groups come and go: their pages are kept. */
	mallopt(M_MMAP_THRESHOLD, 16 << 20);
	mallopt(M_TRIM_THRESHOLD, 64 << 20);
}

static int serve_view(struct viewing *w)
{
	struct view_options options = view_options_of(w);
	struct view *v;
	struct error err;
	int status = 0;

	tune_memory();
	options.stop_fd = end_signals(false);
	if (options.stop_fd < 0)
		return command_fail(w->cli, &view_command, "Signals cannot be waited for: %s", strerror(errno));
	prepare_browser(w);
	if (view_open(&v, &options, &err) < 0)
		return command_fail(w->cli, &view_command, "%s", err.text);
	print_url(v, w);
	print_ways(w, view_port(v));
	if (w->fields->bind && !guard_is_loopback(w->fields->bind))
		fprintf(w->cli->out, "Others can reach this port. The address works for one browser; nothing is encrypted.\n");
	fprintf(w->cli->out, "%sCtrl-C ends it.\n", options.input_fd >= 0 ? "Return prints a new address, " : "");
	fflush(w->cli->out);
	open_browser(w, v);
	if (view_run(v, &err) < 0)
		status = command_fail(w->cli, &view_command, "%s", err.text);
	view_close(v);
	return status;
}

/* What the picture is to be; its browser's path goes into `browser`. */
static int describe_picture(struct viewing *w, struct screenshot *ret, char *browser, size_t size, struct error *err)
{
	static const char *const names[] = { "chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome" };
	struct export_times times;
	int r = -ENOENT;

	*ret = (struct screenshot){ .browser = browser, .path = w->fields->screenshot, .seconds = PICTURE_SECONDS };
	if (is_report_file(ret->path))
		return error_set(err, EEXIST, "--screenshot: '%s' is a report; name a file for the picture", ret->path);
	if (!screenshot_size(w->fields->size, &ret->width, &ret->height))
		return error_set(err, EINVAL, "--size takes WIDTHxHEIGHT in pixels, from 100 to 16384");
	if (w->fields->times) {
		r = export_times_parse(w->fields->times, &times, err);
		if (r < 0)
			return r;
		if (times.start < 0 || times.end >= INT64_MAX / 2)
			return error_set(err, EINVAL, "--times takes a begin and an end");
		ret->has_times = true;
		ret->from = times.start;
		ret->to = times.end;
	}
	for (size_t i = 0; r < 0 || i == 0; i++) {
		if (i == COUNT_OF(names))
			return error_set(err, ENOENT, "--screenshot requires chromium or google-chrome; neither is on the PATH");
		r = find_program(names[i], browser, size, &(struct error){ "" });
	}
	return 0;
}

/* In a process of its own, that the server goes on meanwhile; the address comes through a pipe. */
static int take_picture(struct viewing *w, struct screenshot *picture, int url_fd)
{
	struct error err;
	char url[512];
	ssize_t n = read(url_fd, url, sizeof(url) - 1);

	if (n <= 0)
		return 1; /* the report could not be opened: it was told */
	url[n] = '\0';
	picture->url = url;
	picture->stop_fd = end_signals(false);
	if (screenshot_take(picture, &err) < 0)
		return command_fail(w->cli, &view_command, "%s", err.text);
	return 0;
}

static int serve_picture(struct viewing *w, pid_t child, int url_fd, int stop_fd)
{
	struct view_options options = view_options_of(w);
	struct error err;
	struct view *v;
	char url[512];
	int r;

	options.stop_fd = stop_fd;
	options.input_fd = -1;
	options.port = w->fields->port < 0 ? 0 : options.port;
	tune_memory();
	if (view_open(&v, &options, &err) < 0) {
		close(url_fd);
		return command_fail(w->cli, &view_command, "%s", err.text);
	}
	r = view_url(v, url, sizeof(url));
	if (r == 0 && write(url_fd, url, strlen(url)) != (ssize_t)strlen(url))
		r = -EPIPE;
	close(url_fd);
	if (r == 0)
		r = view_run(v, &err);
	kill(child, SIGTERM); /* it has ended already, unless we were told to */
	view_close(v);
	return r < 0 ? command_fail(w->cli, &view_command, "The page could not be served") : 0;
}

static int write_page_picture(struct viewing *w)
{
	int ends[2], stop_fd, status = 0, served;
	struct screenshot what;
	char browser[PATH_MAX];
	struct error err;
	pid_t child;

	if (describe_picture(w, &what, browser, sizeof(browser), &err) < 0)
		return command_fail(w->cli, &view_command, "%s", err.text);
	stop_fd = end_signals(true);
	if (stop_fd < 0 || pipe2(ends, O_CLOEXEC) < 0)
		return command_fail(w->cli, &view_command, "Cannot start a process: %s", strerror(errno));
	fflush(NULL);
	child = fork();
	if (child == 0) {
		close(ends[1]);
		status = take_picture(w, &what, ends[0]);
		fflush(NULL);
		_exit(status);
	}
	close(ends[0]);
	if (child < 0)
		return command_fail(w->cli, &view_command, "Cannot start a process: %s", strerror(errno));
	served = serve_picture(w, child, ends[1], stop_fd);
	waitpid(child, &status, 0);
	close(stop_fd);
	return served ? served : WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

static int open_and_serve(struct viewing *w, char **words, size_t count)
{
	const char *baseline = w->fields->baseline;
	struct error err;
	int status = 0;

	if (section_folders_add(&w->folders, &w->fields->folders, &w->fields->deep_folders) < 0)
		return command_fail(w->cli, &view_command, "Not enough memory");
	if (w->folders.count && section_folders_check(&w->folders, &err) < 0)
		return command_fail(w->cli, &view_command, "%s", err.text);
	w->opened = calloc(count + 1, sizeof(*w->opened));
	w->sources = calloc(count + 1, sizeof(*w->sources));
	if (!w->opened || !w->sources)
		return command_fail(w->cli, &view_command, "Not enough memory");
	/* The baseline is the last: others keep their numbers. */
	for (size_t i = 0; i < count + (baseline != NULL); i++, w->count++) {
		const char *name = i < count ? words[i] : baseline;

		if (!open_report(w->cli, &view_command, name, &w->opened[i], &status))
			return status;
		w->sources[i] = (struct view_source){ .path = w->opened[i].path, .name = name, .is_baseline = i == count };
	}
	if (w->fields->operators) {
		if (!open_report(w->cli, &view_command, w->fields->operators, &w->trace, &status))
			return status;
		w->has_trace = true;
	}
	return w->fields->screenshot ? write_page_picture(w) : serve_view(w);
}

static int run_view(struct cli *cli, int argc, char **argv)
{
	struct view_fields fields = { 0 };
	struct viewing w = { .cli = cli, .fields = &fields, .browser_fd = -1 };
	struct options_parsed parsed;
	int status;

	if (argc == 1 && cli_is_link(cli) && (strcmp(argv[0], "--version") == 0 || strcmp(argv[0], "-v") == 0)) {
		if (cli->role == CLI_NCU_UI)
			ncu_print_version(cli);
		else
			nsys_print_version(cli);
		return 0;
	}
	if (!command_parse(cli, &view_command, argc, argv, &fields, &parsed, &status))
		return status;
	if (parsed.word_count < 1)
		status = command_fail(cli, &view_command, "No report given: sonde view FILE.sonde.");
	else
		status = open_and_serve(&w, parsed.words, (size_t)parsed.word_count);
	for (size_t i = 0; i < w.count; i++)
		status = close_report(&w.opened[i], status);
	if (w.has_trace)
		status = close_report(&w.trace, status);
	free(w.opened);
	free(w.sources);
	string_list_release(&w.folders);
	options_release(&parsed);
	return status;
}

/* clang-format off */
static const char *const view_examples[] = {
	"sonde view run.sonde", "open the report in a browser",
	"sonde view before.sonde after.sonde", "show two reports on one time axis",
	"sonde view --baseline before.sonde after.sonde", "compare kernels of `sonde kernel` with those of another report",
	"sonde view --screenshot run.png --times 1s/2s run.sonde", "write a picture of the second second",
	"sonde view --no-open --port 8000 run.sonde", "serve on a server, for a tunnel: ssh -L 8000:127.0.0.1:8000 server",
	NULL,
};
/* clang-format on */

const struct command view_command = {
	.name = "view",
	.summary = "Show reports on a timeline in the browser",
	.synopsis = "[options] FILE.sonde [FILE.sonde ...]",
	.description = "Serves reports to a browser on this machine, and to nobody else: the printed address has a token that works "
		       "once. Nothing is loaded from elsewhere. Ctrl-C ends it.",
	.examples = view_examples,
	.options = &view_options,
	.words = COMMAND_FILES,
	.run = run_view,
};
