#include "record/control/flight.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/system/monotonic.h"
#include "record/control/finish.h"
#include "record/control/steering.h"

#define SECOND 1000000000ll
#define MOST_NUMBERS 100000
#define MOST_TOLD 100
/* CUPTI's records come once a second: a report waits for those of its trigger's time, and what it covers is kept longer. */
#define CUDA_WAIT_NS (SECOND + SECOND / 5)
#define CUDA_KEEP_NS (2 * SECOND)
/* From a trigger to its report. */
#define KEEP_MORE_NS (SECOND / 2)

/* Without a socket the other triggers are still there. */
static void begin_session(struct recorder *r)
{
	struct error err = { "" };

	if (steering_begin(r, &err) == 0) {
		r->steering->state = STEER_CAPTURING;
		r->steering->captures = 1;
		return;
	}
	recorder_note(r, "'sonde stop' cannot reach the flight recorder: %s.", err.text);
	steering_end(r, NULL);
}

int flight_begin(struct recorder *r, struct error *err)
{
	struct flight *f = calloc(1, sizeof(*f));
	int ends[2];

	if (!f)
		return error_set(err, ENOMEM, "no memory for the flight recorder");
	f->copy = (struct source){ SOURCE_FLIGHT_COPY, -1 };
	f->source = (struct source){ SOURCE_TRIGGER, -1 };
	f->pipe_end = -1;
	r->flight = f;
	if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) < 0)
		return error_set_errno(err, errno, "cannot make a pipe");
	f->source.fd = ends[0];
	f->pipe_end = ends[1];
	if (recorder_watch_source(r, &f->source) < 0)
		return error_set_errno(err, errno, "cannot wait for triggers");
	begin_session(r);
	return 0;
}

int flight_start(struct recorder *r, struct error *err)
{
	const struct flight_options *o = &r->options->flight;
	struct session *s = &r->drain.session;
	int64_t more = r->options->trace & TRACE_BIT(TRACE_CUDA) ? CUDA_KEEP_NS : KEEP_MORE_NS;
	int result;

	s->triggers = triggers_new(s, o, r->flight->pipe_end);
	if (!s->triggers)
		return error_set(err, ENOMEM, "no memory for the flight recorder");
	result = report_writer_keep_last(s->writer, o->keep_ns ? o->keep_ns + more : 0, o->keep_bytes);
	return result < 0 ? error_set_errno(err, -result, "cannot write %s.part", r->path) : 0;
}

/* Not waited for: a command line that is stopped must not stop the recording. */
static void send_flight_message(struct recorder *r, const struct control_message *message)
{
	if (r->options->flight_report && !r->command_line_gone)
		send(r->control.fd, message, sizeof(*message), MSG_NOSIGNAL | MSG_DONTWAIT);
}

void flight_announce(struct recorder *r)
{
	struct control_message *message = calloc(1, sizeof(*message));

	if (message && r->steering) {
		message->kind = CONTROL_FLIGHT;
		snprintf(message->result.reason, sizeof(message->result.reason), "session %u, '%.100s'", r->steering->id,
			 r->steering->name);
		send_flight_message(r, message);
	}
	free(message);
}

/* NAME.sonde is to become NAME.3.sonde: the first number that is free, or the next one where files may be replaced. */
static int choose_path(struct recorder *r)
{
	struct flight *f = r->flight;
	const char *slash = strrchr(r->path, '/'), *dot = strrchr(r->path, '.');
	int stem, length;

	if (!dot || (slash && dot < slash))
		dot = r->path + strlen(r->path);
	stem = (int)(dot - r->path);
	while (f->number < MOST_NUMBERS) {
		length = snprintf(f->path, sizeof(f->path), "%.*s.%lld%s", stem, r->path, (long long)++f->number, dot);
		if (length < 0 || (size_t)length + 16 >= sizeof(f->path))
			return -ENAMETOOLONG;
		if (r->options->force_overwrite || access(f->path, F_OK) != 0)
			return 0;
	}
	return -EEXIST;
}

static int64_t window_begin_time(const struct recorder *r)
{
	const struct flight_options *o = &r->options->flight;
	int64_t moment = r->flight->moment, keep = o->keep_ns;

	if (r->flight->asked_ns && (!keep || r->flight->asked_ns < keep))
		keep = r->flight->asked_ns;
	moment = moment < r->drain.session.now ? moment : r->drain.session.now;
	return keep && moment > keep ? moment - keep : 0;
}

uint64_t flight_events(const struct session *s)
{
	const struct table_schema *schema;
	uint64_t rows, events = 0;

	for (unsigned table = 1; table < TABLE_ID_LIMIT; table++) {
		schema = table_schema(table);
		if (!schema || schema->kind == TABLE_KIND_PLAIN)
			continue;
		rows = report_writer_table_rows(s->writer, (enum table_id)table);
		events += table == TABLE_SLICE ? 2 * rows : rows;
	}
	return events;
}

/* Facts of a report that has a part of the run. */
static void describe_flight_report(struct recorder *r, int64_t begins)
{
	struct session *s = &r->drain.session;

	s->events = flight_events(s);
	session_fact(s, "flight.begin_ns", begins);
	if (report_writer_cannot_trim(s->writer))
		session_diagnose(s, SOURCE_RECORDER, DIAGNOSTIC_WARNING, 0,
				 "The file system cannot free what the flight recorder dropped: its file was rewritten from time to "
				 "time.");
	session_diagnose(s, SOURCE_RECORDER, DIAGNOSTIC_INFO, 0, "The flight recorder wrote the last %.3f s: %s.",
			 (double)(s->now - begins) / 1e9, r->flight->reason);
}

static void fill_reason(struct recorder *r, struct record_result *result, int64_t begins)
{
	snprintf(result->reason, sizeof(result->reason), "%s", r->flight->reason);
	result->covered_ns = r->drain.session.now - begins;
}

static void write_in_copy(struct recorder *r, int to)
{
	struct control_message *message = calloc(1, sizeof(*message));
	struct session *s = &r->drain.session;
	int64_t begins = 0;

	prctl(PR_SET_NAME, "sonde-report");
	if (!message)
		_exit(1);
	snprintf(r->path, sizeof(r->path), "%s", r->flight->path);
	buf_clear(&r->notes);
	message->kind = CONTROL_RESULT;
	message->value = report_writer_cut(s->writer, r->path, r->options->force_overwrite, window_begin_time(r), &begins, &message->error);
	if (message->value == 0) {
		message->kind = CONTROL_COPIED;
		send(to, message, sizeof(*message), MSG_NOSIGNAL);
		describe_flight_report(r, begins);
		if (!r->flight->over)
			drain_finish_copy(&r->drain);
		recorder_write_report(r, message);
	}
	fill_reason(r, &message->result, begins);
	send(to, message, sizeof(*message), MSG_NOSIGNAL);
	_exit(0);
}

static int fork_copy(struct recorder *r, struct error *err)
{
	struct flight *f = r->flight;
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return error_set_errno(err, errno, "cannot make a socket");
	f->copy_pid = fork();
	if (f->copy_pid == 0) {
		close(pair[0]);
		/* The session ends with its recorder, not with this copy. */
		close(r->control.fd);
		close(r->listener.fd);
		if (r->steering)
			close(r->steering->listener.fd);
		write_in_copy(r, pair[1]);
	}
	close(pair[1]);
	if (f->copy_pid < 0) {
		close(pair[0]);
		return error_set_errno(err, errno, "cannot start the process that writes the report");
	}
	f->copy.fd = pair[0];
	recorder_watch_source(r, &f->copy);
	return 0;
}

static int begin_report(struct recorder *r, struct error *err)
{
	struct session *s = &r->drain.session;
	int result = choose_path(r);

	if (result < 0)
		return error_set_errno(err, -result, "no name is free for the report");
	notices_check(r, 0);
	if (!r->flight->over)
		drain_hold(&r->drain);
	/* Where the disk is full, what is not in the file goes to the report from memory. */
	report_writer_flush(s->writer);
	atomic_store(&s->keep_all, 1);
	result = fork_copy(r, err);
	if (!r->flight->over)
		drain_let_go(&r->drain);
	if (result < 0)
		atomic_store(&s->keep_all, 0);
	return result;
}

static const char *why_not(const struct recorder *r, enum trigger_kind kind)
{
	const struct flight *f = r->flight;

	if (f->copy.fd >= 0 || f->due)
		return "the previous report was still being written";
	if (f->written >= r->options->flight.trigger_max)
		return "--trigger-max reports have been written";
	if (kind == TRIGGER_SLOW && monotonic_ns() < f->quiet_until)
		return "another trigger came shortly before";
	return NULL;
}

static void refuse_flight_report(struct recorder *r, const char *reason, const char *why, struct steer_client *client)
{
	/* A program may pull for ever. */
	if (r->flight->ignored++ < MOST_TOLD)
		drain_diagnose(&r->drain, DIAGNOSTIC_INFO, "No report was written for a trigger of the flight recorder (%s): %s.", reason,
			       why);
	if (client)
		steering_refuse(r, client, why);
	/* The other thread keeps all from a trigger on. */
	if (r->flight->copy.fd < 0 && !r->flight->due)
		atomic_store(&r->drain.session.keep_all, 0);
}

/* One report for a series of slow ranges within the time that a report covers. */
static int64_t quiet_time(const struct recorder *r)
{
	int64_t keep = r->options->flight.keep_ns;

	return keep ? keep : 30 * SECOND;
}

/* The report that is due. */
static void write_flight_report(struct recorder *r)
{
	struct flight *f = r->flight;
	struct error err = { "" };

	f->due = 0;
	if (begin_report(r, &err) < 0) {
		refuse_flight_report(r, f->reason, err.text, r->steering ? r->steering->waiting : NULL);
		return;
	}
	f->written++;
	f->quiet_until = monotonic_ns() + quiet_time(r);
}

static void take_trigger(struct recorder *r, enum trigger_kind kind, const char *reason, int64_t moment, struct steer_client *client)
{
	struct flight *f = r->flight;
	const char *why = why_not(r, kind);

	if (why) {
		refuse_flight_report(r, reason, why, client);
		return;
	}
	snprintf(f->reason, sizeof(f->reason), "%s", reason);
	f->asked_ns = client ? r->steering->keep_ns : 0;
	f->moment = moment;
	f->due = monotonic_ns() + (atomic_load(&r->drain.session.cuda_seen) ? CUDA_WAIT_NS : 0);
	if (client)
		r->steering->waiting = client;
}

void flight_trigger(struct recorder *r, enum trigger_kind kind, const char *reason, struct steer_client *client)
{
	take_trigger(r, kind, reason, recorder_raw_now() - r->drain.session.time.start, client);
}

void flight_triggers(struct recorder *r)
{
	struct trigger_message message;

	while (read(r->flight->source.fd, &message, sizeof(message)) == (ssize_t)sizeof(message))
		take_trigger(r, (enum trigger_kind)message.kind, message.text, message.time, NULL);
}

static void copy_done(struct recorder *r, struct control_message *message, int came)
{
	struct flight *f = r->flight;

	if (!came) {
		message->value = -EPIPE;
		snprintf(message->error.text, sizeof(message->error.text), "the process that wrote %.300s was killed", f->path);
	}
	atomic_store(&r->drain.session.keep_all, 0);
	recorder_close_source(r, &f->copy);
	f->copy.fd = -1;
	while (waitpid(f->copy_pid, NULL, 0) < 0 && errno == EINTR)
		;
	message->kind = CONTROL_FLIGHT;
	send_flight_message(r, message);
	f->complete += message->value == 0;
	if (message->value < 0)
		drain_diagnose(&r->drain, DIAGNOSTIC_ERROR, "No report was written for a trigger of the flight recorder (%s): %s.",
			       f->reason, message->error.text);
	if (r->steering && r->steering->waiting)
		steering_give_result(r, message);
}

void flight_copy_readable(struct recorder *r)
{
	struct control_message *message = calloc(1, sizeof(*message));
	ssize_t n;

	if (!message)
		return;
	do
		n = recv(r->flight->copy.fd, message, sizeof(*message), 0);
	while (n < 0 && errno == EINTR);
	if (n == (ssize_t)sizeof(*message) && message->kind == CONTROL_COPIED)
		atomic_store(&r->drain.session.keep_all, 0);
	else
		copy_done(r, message, n == (ssize_t)sizeof(*message));
	free(message);
}

/* Ended by a signal that neither we nor who watches the program sent. */
static int has_crashed(const struct recorder *r)
{
	return r->exit_known && WIFSIGNALED(r->exit_status) && !r->killed && !r->interrupts;
}

static void say_crash(const struct recorder *r, char *ret, size_t size)
{
	const char *name = sigabbrev_np(WTERMSIG(r->exit_status));

	snprintf(ret, size, "the program died by signal %d%s%s%s", WTERMSIG(r->exit_status), name ? " (SIG" : "", name ? name : "",
		 name ? ")" : "");
}

void flight_step(struct recorder *r, int64_t now)
{
	struct flight *f = r->flight;
	char reason[128];

	if (f && f->due && now >= f->due)
		write_flight_report(r);
	/* Where others of its tree go on, the end of the recording may be far away. */
	if (!f || f->crash_reported || !has_crashed(r) || !r->target_gone || watch_find(r, r->target_pid) || !r->watches)
		return;
	f->crash_reported = 1;
	say_crash(r, reason, sizeof(reason));
	flight_trigger(r, TRIGGER_CRASH, reason, NULL);
}

static void remove_ring(struct recorder *r)
{
	report_writer_remove(r->drain.session.writer);
	report_writer_abandon(r->drain.session.writer);
}

static void leave_nothing(struct recorder *r, struct control_message *ret)
{
	remove_ring(r);
	*ret = (struct control_message){ .kind = CONTROL_RESULT };
	snprintf(ret->result.notes, sizeof(ret->result.notes), "%s", buf_cstr(&r->notes));
}

int flight_finish(struct recorder *r, struct control_message *ret)
{
	struct flight *f = r->flight;
	struct session *s = &r->drain.session;
	int crashed = has_crashed(r) && !f->crash_reported, result;
	int64_t begins = 0;

	/* What the last round saw. */
	f->over = 1;
	flight_triggers(r);
	if (f->due)
		write_flight_report(r);
	while (f->copy.fd >= 0)
		flight_copy_readable(r);
	f->ignored += s->triggers->unheard;
	if (f->ignored)
		recorder_note(r,
			      "%lld trigger(s) of the flight recorder wrote no report: they came while another was being written, soon "
			      "after one, or after --trigger-max.",
			      (long long)f->ignored);
	if (report_writer_cannot_trim(s->writer))
		recorder_note(r, "The file system of %s cannot free what was dropped: the file was rewritten from time to time.", r->path);
	if (f->complete && !crashed) {
		leave_nothing(r, ret);
		return 0;
	}
	snprintf(f->reason, sizeof(f->reason), "the recording ended");
	f->asked_ns = 0;
	f->moment = s->now;
	if (crashed)
		say_crash(r, f->reason, sizeof(f->reason));
	*ret = (struct control_message){ .kind = CONTROL_RESULT };
	report_writer_flush(s->writer);
	result = report_writer_cut(s->writer, NULL, 0, window_begin_time(r), &begins, &ret->error);
	if (result < 0) {
		ret->value = result;
		snprintf(ret->result.path, sizeof(ret->result.path), "%.*s.part", (int)sizeof(ret->result.path) - 8, r->path);
		return 0;
	}
	describe_flight_report(r, begins);
	recorder_note(r, "Flight recorder: the report has the last %.1f s; %s.", (double)(s->now - begins) / 1e9, f->reason);
	return 1;
}

void flight_end(struct recorder *r)
{
	struct flight *f = r->flight;

	if (!f)
		return;
	while (f->copy.fd >= 0)
		flight_copy_readable(r);
	triggers_free(r->drain.session.triggers);
	r->drain.session.triggers = NULL;
	if (f->source.fd >= 0)
		close(f->source.fd);
	if (f->pipe_end >= 0)
		close(f->pipe_end);
	free(f);
	r->flight = NULL;
}
