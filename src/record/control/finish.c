#include "record/control/finish.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "record/control/attach.h"
#include "record/control/cuda_page.h"
#include "record/control/flight.h"
#include "record/session/gpus.h"
#include "record/control/launch.h"
#include "record/stacks/stacks.h"
#include "record/control/steering.h"
#include "record/stacks/timer_samples.h"
#include "record/session/window.h"

#define CAPTURE_LIMIT (1u << 20)

/* What the target printed while its output was not shown: the first megabyte. */
static void store_output(struct recorder *r, const char *name, int fd)
{
	struct session *s = &r->drain.session;
	int64_t values[TABLE_MAX_COLUMNS];
	uint32_t present = 1u << COLUMN_OUTPUT_STREAM_NAME | 1u << COLUMN_OUTPUT_STREAM_BLOB;
	char *data = fd >= 0 ? malloc(CAPTURE_LIMIT) : NULL;
	ssize_t n = data ? pread(fd, data, CAPTURE_LIMIT, 0) : 0;

	if (n > 0) {
		values[COLUMN_OUTPUT_STREAM_PROCESS] = (int64_t)r->target_uid;
		values[COLUMN_OUTPUT_STREAM_NAME] = (int64_t)session_text(s, name);
		values[COLUMN_OUTPUT_STREAM_BLOB] = (int64_t)report_blob(s->writer, data, (size_t)n);
		if (r->target_uid)
			present |= 1u << COLUMN_OUTPUT_STREAM_PROCESS;
		session_row(s, TABLE_OUTPUT_STREAM, values, present);
	}
	free(data);
}

/* A row for a target that no agent describes, unless perf has seen it. */
static void report_exit(struct recorder *r, const char *program)
{
	struct session *s = &r->drain.session;
	struct roster_life *life = roster_last(s, r->target_pid);

	if (life) {
		life->exit_known = r->exit_known;
		life->exit_status = r->exit_status;
		r->target_uid = life->uid;
	} else {
		process_untraced_row(s, ++s->roster.next_process, r->target_pid, program, r->exit_known ? &r->exit_status : NULL);
	}
}

/* The target could carry the agent, and yet nothing came from it. */
static void explain_silence(struct recorder *r)
{
	const char *program = r->options->program, *agent = r->options->agent_path;
	const char *it = "did not load the agent";
	char why[300];

	if (r->target_attached || !r->started)
		return;
	if (r->options->attach_pid) {
		report_exit(r, program);
		return;
	}
	if (r->target_kind != ELF_PEEK_OK)
		it = elf_peek_reason(r->target_kind);
	else if (!agent)
		it = "was started without libsonde.so, which was not found";
	else if (!launch_can_preload(agent))
		it = "was started without libsonde.so: LD_PRELOAD cannot name a path with spaces or colons";
	if (r->target_refused[0])
		snprintf(why, sizeof(why), "%s", r->target_refused);
	else
		snprintf(why, sizeof(why), "it %s", it);
	recorder_note(r, "%s was not traced: %s.", program, why);
	report_exit(r, program);
	session_diagnose(&r->drain.session, SOURCE_RECORDER, DIAGNOSTIC_WARNING, 0, "%s was not traced: %s.", program, why);
}

static void summarize(struct recorder *r)
{
	const struct session *s = &r->drain.session;

	if (s->dropped)
		recorder_note(r, "%" PRIu64 " events were lost; the report's diagnostics say why.", s->dropped);
	if (s->gpu_lost)
		recorder_note(r, "%" PRIu64 " samples of GPUs were lost; the report's diagnostics say why.", s->gpu_lost);
	if (s->untraced)
		recorder_note(r, "%" PRIu64 " program(s) could not be traced; the report's diagnostics say which.", s->untraced);
	if (r->drain.full)
		recorder_note(r, "Recording stopped early: %s", r->drain.write_error.text);
}

static void fill_result(struct recorder *r, struct record_result *result, int finished)
{
	const struct session *s = &r->drain.session;
	struct stat st;

	result->finished = finished;
	result->interrupted = r->interrupts;
	snprintf(result->path, sizeof(result->path), "%.*s%s", (int)sizeof(result->path) - 8, r->path, finished ? "" : ".part");
	snprintf(result->notes, sizeof(result->notes), "%s", buf_cstr(&r->notes));
	result->events = s->events;
	result->dropped = s->dropped;
	result->gpu_lost = s->gpu_lost;
	result->cost_pair_ps = s->cost_pair_ps;
	result->target_harmed = r->attach && r->attach->died;
	if (r->steering)
		result->after = r->steering->after;
	result->bytes = stat(result->path, &st) == 0 ? (uint64_t)st.st_size : 0;
}

static void stop_all(struct recorder *r)
{
	gate_set(r->page, 0);
	perf_window(&r->drain.perf, 0);
	/* Who comes now is turned away at once instead of waiting for an answer. */
	agents_release(r);
	notices_check(r, 1);
	if (r->watches && !r->killed)
		watch_find_strays(r);
	if (!r->options->attach_pid)
		watch_name_leftovers(r);
	drain_finish(&r->drain);
}

/* An agent that could not record them has said why. */
static void explain_operators(struct recorder *r)
{
	struct session *s = &r->drain.session;

	if (r->options->pytorch & PYTORCH_OPERATORS && r->target_attached && !s->operators_seen)
		session_diagnose(s, SOURCE_RECORDER, DIAGNOSTIC_INFO, 0,
				 "There are no operators of PyTorch: no program ran one while it was recorded.");
}

void recorder_write_report(struct recorder *r, struct control_message *ret)
{
	int result;

	if (r->drain.gpu.notes.len)
		recorder_note(r, "%s", buf_cstr(&r->drain.gpu.notes));
	if (r->options->cpu.resolve_symbols)
		stacks_resolve(&r->drain.session, r->options->cpu.debug_symbols);
	explain_silence(r);
	cuda_explain(r);
	explain_operators(r);
	window_explain(r);
	attach_explain(r);
	timer_samples_report_rate(&r->drain.session, r->page->sample_hz);
	roster_finish(&r->drain.session);
	gpus_finish(&r->drain.session);
	perf_end(&r->drain.perf);
	session_loss(&r->drain.session, r->target_uid, 0, LOSS_NOT_WRITTEN, r->drain.session.unwritten);
	session_report_unreported(&r->drain.session, r->target_uid);
	store_output(r, "stdout", r->captured.out);
	store_output(r, "stderr", r->captured.err);
	meta_end(r);
	summarize(r);
	*ret = (struct control_message){ .kind = CONTROL_RESULT };
	result = report_writer_finish(r->drain.session.writer, &ret->error);
	ret->value = result;
	fill_result(r, &ret->result, result == 0);
}

void recorder_finish(struct recorder *r, struct control_message *ret)
{
	stop_all(r);
	if (!r->flight || flight_finish(r, ret))
		recorder_write_report(r, ret);
	/* The report is safe: now those who did not listen may be ended. */
	if (r->watches && r->options->kill_signal && r->interrupts && !r->killed)
		watch_kill_all(r, r->options->kill_signal);
}

void recorder_finish_idle(struct recorder *r, struct control_message *ret)
{
	stop_all(r);
	report_writer_abandon(r->drain.session.writer);
	*ret = (struct control_message){ .kind = CONTROL_RESULT };
	snprintf(ret->result.notes, sizeof(ret->result.notes), "%s", buf_cstr(&r->notes));
}
