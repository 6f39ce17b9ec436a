#include "record/control/steering.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/system/monotonic.h"
#include "record/control/flight.h"
#include "record/session/window.h"

#define MAX_CLIENTS 32u
/* One that connects and says nothing is not waited for. */
#define CLIENT_NS (5 * 1000000000ll)

int steering_begin(struct recorder *r, struct error *err)
{
	struct steering *st = calloc(1, sizeof(*st));
	int fd;

	if (!st)
		return error_set(err, ENOMEM, "no memory for the session");
	r->steering = st;
	st->copy = (struct source){ SOURCE_COPY, -1 };
	st->listener = (struct source){ SOURCE_STEER, -1 };
	st->began = (int64_t)time(NULL);
	st->launched = r->options;
	fd = steer_listen(r->options->session_name, r->options->argv[0], &st->id, st->name, err);
	if (fd < 0)
		return fd;
	st->listener.fd = fd;
	if (recorder_watch_source(r, &st->listener) < 0)
		return error_set_errno(err, errno, "cannot wait for commands");
	return 0;
}

static void drop_client(struct recorder *r, struct steer_client *client)
{
	struct steering *st = r->steering;

	if (st->waiting == client)
		st->waiting = NULL;
	recorder_close_source(r, &client->source);
	*client->link = client->next;
	if (client->next)
		client->next->link = client->link;
	st->client_count--;
	free(client);
}

void steering_accept(struct recorder *r)
{
	struct steering *st = r->steering;
	int fd = accept4(st->listener.fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	struct steer_client *client;

	if (fd < 0)
		return;
	client = steer_is_allowed(fd) && st->client_count < MAX_CLIENTS ? calloc(1, sizeof(*client)) : NULL;
	if (!client) {
		close(fd);
		return;
	}
	client->source = (struct source){ SOURCE_STEER_CLIENT, fd };
	client->since = monotonic_ns();
	client->link = &st->clients;
	client->next = st->clients;
	if (client->next)
		client->next->link = &client->next;
	st->clients = client;
	st->client_count++;
	if (recorder_watch_source(r, &client->source) < 0)
		drop_client(r, client);
}

/* As others see it: a capture may wait for its time, or for the program. */
static enum steer_state reported_state(const struct recorder *r)
{
	if (r->steering->state != STEER_CAPTURING || atomic_load(&r->page->gate))
		return r->steering->state;
	return r->start_at || !r->started ? STEER_DELAYED : STEER_ARMED;
}

static struct steer_reply *new_reply(struct recorder *r)
{
	struct steering *st = r->steering;
	struct steer_reply *reply = &st->reply;

	memset(reply, 0, sizeof(*reply));
	reply->magic = STEER_MAGIC;
	reply->state = reported_state(r);
	reply->id = st->id;
	reply->target = r->target_pid;
	reply->captures = st->captures;
	reply->launches = 1;
	reply->began = st->began;
	snprintf(reply->name, sizeof(reply->name), "%s", st->name);
	snprintf(reply->program, sizeof(reply->program), "%s", r->options->program);
	snprintf(reply->result.path, sizeof(reply->result.path), "%s", r->path);
	return reply;
}

/* Who does not take the answer at once has none: the recorder never waits. */
static void answer_steer_client(struct recorder *r, struct steer_client *client, int status, const char *text)
{
	struct steer_reply *reply = &r->steering->reply;

	reply->status = status;
	snprintf(reply->text, sizeof(reply->text), "%s", text);
	if (client && send(client->source.fd, reply, sizeof(*reply), MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
		reply->status = errno;
	if (client)
		drop_client(r, client);
}

void steering_refuse(struct recorder *r, struct steer_client *client, const char *why)
{
	new_reply(r);
	answer_steer_client(r, client, EBUSY, why);
}

static const char *why_not_now(const struct steering *st, enum steer_state wanted)
{
	if (st->state == wanted)
		return NULL;
	if (st->state == STEER_SETTLING || st->state == STEER_WRITING)
		return "the report of the last capture is still being written";
	return wanted == STEER_IDLE ? "it is already being recorded; 'stop' ends that" : "it is not being recorded; 'start' begins";
}

static int begin_capture(struct recorder *r, const struct steer_request *request, struct error *err)
{
	TRY(capture_begin(r, request, err));
	r->steering->state = STEER_CAPTURING;
	r->steering->captures++;
	return 0;
}

int steering_first(struct recorder *r, struct error *err)
{
	const struct steer_request *request = r->options->first_start;

	return request ? begin_capture(r, request, err) : 0;
}

static void on_start(struct recorder *r, struct steer_client *client, const struct steer_request *request)
{
	struct steering *st = r->steering;
	struct error err = { "" };
	int result = begin_capture(r, request, &err);

	new_reply(r);
	snprintf(st->reply.result.notes, RECORD_NOTES_SIZE, "%s", buf_cstr(&r->notes));
	answer_steer_client(r, client, result == 0 ? 0 : -result, err.text);
}

/* Nobody may wait for it: then the command line's process is told. */
static void stop_capture(struct recorder *r, struct steer_client *client)
{
	r->start_at = r->stop_at = 0;
	r->recording_over = RECORDING_GOES_ON;
	window_end(r);
	r->steering->state = STEER_SETTLING;
	r->steering->waiting = client;
}

static int cancel(struct recorder *r, struct error *err)
{
	r->start_at = r->stop_at = 0;
	r->recording_over = RECORDING_GOES_ON;
	window_end(r);
	r->steering->state = STEER_IDLE;
	return capture_drop(r, err);
}

static void on_cancel(struct recorder *r, struct steer_client *client)
{
	struct error err = { "" };
	int result = cancel(r, &err);

	new_reply(r);
	answer_steer_client(r, client, -result, err.text);
}

static void on_shutdown(struct recorder *r, struct steer_client *client, int signal)
{
	struct error err = { "" };

	if (r->steering->state == STEER_CAPTURING && !r->flight && !r->attach)
		cancel(r, &err);
	new_reply(r);
	answer_steer_client(r, client, 0, "");
	/* A program that was there before stays. */
	recorder_shut_down(r, r->attach ? 0 : signal);
}

/* A recording of a process that was there before ends as a whole, with its report. */
static const char *why_not_attached(const struct recorder *r, const struct steer_request *request)
{
	if (!r->attach || r->flight)
		return NULL;
	if (request->command == STEER_CANCEL)
		return "it is attached to a process: 'stop' ends that, and writes the report";
	return request->command == STEER_STOP && request->keep_ns ?
		       "it is attached to a process: --keep is for programs that were launched, and for flight recordings" :
		       NULL;
}

static void obey_request(struct recorder *r, struct steer_client *client, const struct steer_request *request)
{
	struct steering *st = r->steering;
	const char *why = NULL;

	new_reply(r);
	if (request->command == STEER_START)
		why = why_not_now(st, STEER_IDLE);
	else if (request->command == STEER_STOP || request->command == STEER_CANCEL)
		why = why_not_now(st, STEER_CAPTURING);
	if (r->flight && request->command == STEER_CANCEL)
		why = "it is a flight recording: 'stop' writes a report of its last part, 'shutdown' ends it";
	why = why ? why : why_not_attached(r, request);
	if (why) {
		answer_steer_client(r, client, EBUSY, why);
		return;
	}
	switch (request->command) {
	case STEER_STATUS: answer_steer_client(r, client, 0, ""); return;
	case STEER_START: on_start(r, client, request); return;
	case STEER_STOP:
		r->steering->keep_ns = request->keep_ns;
		if (r->flight)
			flight_trigger(r, TRIGGER_COMMAND, "'stop' asked for it", client);
		else if (r->attach)
			st->waiting = client, recorder_shut_down(r, 0);
		else
			stop_capture(r, client);
		return;
	case STEER_CANCEL: on_cancel(r, client); return;
	case STEER_SHUTDOWN: on_shutdown(r, client, request->signal); return;
	default: answer_steer_client(r, client, EINVAL, "the session does not know that command");
	}
}

void steering_readable(struct recorder *r, struct steer_client *client)
{
	struct steer_request request;
	ssize_t n = recv(client->source.fd, &request, sizeof(request), MSG_DONTWAIT | MSG_TRUNC);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	/* Also when who waits for a report goes away: it is written all the same. */
	if (client == r->steering->waiting || n < 0 || !steer_request_check(&request, (size_t)n))
		drop_client(r, client);
	else
		obey_request(r, client, &request);
}

void steering_give_result(struct recorder *r, const struct control_message *message)
{
	struct steering *st = r->steering;

	new_reply(r)->result = message->result;
	answer_steer_client(r, st->waiting, message->value < 0 ? -message->value : 0, message->error.text);
	st->waiting = NULL;
}

/* Not waited for: a command line that is stopped must not stop the session. */
static void report_command_line(struct recorder *r, struct control_message *message, int reported)
{
	if (r->command_line_gone)
		return;
	message->kind = CONTROL_REPORT;
	message->reported = (uint32_t)reported;
	send(r->control.fd, message, sizeof(*message), MSG_NOSIGNAL | MSG_DONTWAIT);
}

void steering_stay(struct recorder *r)
{
	struct control_message message = { .kind = CONTROL_STAYS };

	if (!r->steering || r->steering->stay_reported || r->command_line_gone)
		return;
	r->steering->stay_reported = 1;
	send(r->control.fd, &message, sizeof(message), MSG_NOSIGNAL | MSG_DONTWAIT);
}

void steering_copy_done(struct recorder *r)
{
	struct steering *st = r->steering;
	struct control_message *message = calloc(1, sizeof(*message));

	if (message && recv(st->copy.fd, message, sizeof(*message), 0) != (ssize_t)sizeof(*message)) {
		message->value = -EPIPE;
		snprintf(message->error.text, sizeof(message->error.text),
			 "the process that completed the report was killed; 'sonde recover' saves what is in its .part file");
	}
	recorder_close_source(r, &st->copy);
	st->copy.fd = -1;
	while (waitpid(st->copy_pid, NULL, 0) < 0 && errno == EINTR)
		;
	st->state = STEER_IDLE;
	if (message) {
		int reported = st->waiting != NULL;

		if (reported)
			steering_give_result(r, message);
		report_command_line(r, message, reported);
	}
	free(message);
	if (st->shut_down)
		recorder_shut_down(r, st->launched->kill_given ? st->launched->kill_signal : 0);
}

static void end_capture(struct recorder *r)
{
	struct steering *st = r->steering;
	struct error err = { "" };
	int result = capture_end(r, &err);

	st->state = st->copy.fd >= 0 ? STEER_WRITING : STEER_SETTLING;
	/* Without a copy the recorder completes the report itself; without a file for what comes next it cannot go on. */
	if (result < 0) {
		recorder_note(r, "The session ends: %s.", err.text);
		r->finish = 1;
	}
}

static void drop_silent(struct recorder *r, int64_t now)
{
	struct steer_client *client, *next;

	for (client = r->steering->clients; client; client = next) {
		next = client->next;
		if (client != r->steering->waiting && now - client->since > CLIENT_NS)
			drop_client(r, client);
	}
}

void steering_step(struct recorder *r, int64_t now)
{
	struct steering *st = r->steering;

	if (!st)
		return;
	drop_silent(r, now);
	if (r->recording_over && st->state == STEER_CAPTURING && !r->flight && !r->attach) {
		st->shut_down = r->recording_over == RECORDING_ENDED_BY_PROGRAM && r->options->capture_end == CAPTURE_END_STOP_SHUTDOWN;
		st->keep_ns = 0;
		stop_capture(r, NULL);
	}
	if (st->state == STEER_SETTLING && !r->finish && window_is_settled(r, now))
		end_capture(r);
}

int steering_owns_report(const struct recorder *r)
{
	return r->steering->state == STEER_CAPTURING || r->steering->state == STEER_SETTLING;
}

void steering_end(struct recorder *r, const struct control_message *result)
{
	struct steering *st = r->steering;

	if (st->copy.fd >= 0)
		steering_copy_done(r);
	if (st->waiting && result)
		steering_give_result(r, result);
	if (st->listener.fd >= 0) {
		steer_unlisten(st->id);
		close(st->listener.fd);
	}
	while (st->clients)
		drop_client(r, st->clients);
	free(st);
	r->steering = NULL;
}
