#include "record/session/session.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/macros.h"
#include "record/session/proc.h"

/* Reading one takes some microseconds, and thousands of threads may come at once. */
#define MOST_PRIORITIES 1000

int session_row(struct session *s, enum table_id table, const int64_t *values, uint32_t present)
{
	if ((unsigned)table >= SESSION_TABLES)
		return -1;
	if (!s->tables[table])
		s->tables[table] = report_track(s->writer, table, 0);
	if (!s->tables[table])
		return -1;
	return report_append(s->tables[table], values, present);
}

void session_event_row(struct session *s, struct traced_thread *t, struct report_track *track, const int64_t *values, uint32_t present,
		       unsigned events)
{
	int r = track ? report_append(track, values, present) : -ENOMEM;

	if (__builtin_expect(r == 0, 1))
		return;
	s->events -= events;
	/* Out of order or of no sense: the record was. Anything else: the disk. */
	if (r == -EINVAL || r == -ENOMEM)
		t->counts.damaged += events;
	else
		s->unwritten += events;
}

void session_plain_event(struct session *s, enum table_id table, const int64_t *values, uint32_t present)
{
	if (session_row(s, table, values, present) < 0)
		s->unwritten++;
	else
		s->events++;
}

void session_event_damaged(struct session *s, struct traced_thread *t)
{
	s->events--;
	t->counts.damaged++;
}

int16_t session_read_priority(struct session *s, uint32_t pid, uint32_t tid)
{
	return pid && s->priorities_read++ < MOST_PRIORITIES ? read_proc_priority(pid, tid) : PRIORITY_UNKNOWN;
}

uint32_t session_priority(int16_t priority, int64_t *values, uint32_t present)
{
	values[COLUMN_THREAD_PRIORITY] = priority;
	return present | (priority == PRIORITY_UNKNOWN ? 0 : BIT(COLUMN_THREAD_PRIORITY));
}

uint64_t session_text(struct session *s, const char *text)
{
	return report_string(s->writer, text, strlen(text));
}

void session_meta(struct session *s, const char *key, const char *text, const int64_t *number)
{
	int64_t v[TABLE_MAX_COLUMNS];

	v[COLUMN_META_KEY] = (int64_t)report_string_apart(s->writer, key, strlen(key));
	v[COLUMN_META_VALUE] = (int64_t)report_string_apart(s->writer, text, strlen(text));
	v[COLUMN_META_NUMBER] = number ? *number : 0;
	v[COLUMN_META_APART] = 1;
	session_row(s, TABLE_META, v,
		    1u << COLUMN_META_KEY | 1u << COLUMN_META_VALUE | 1u << COLUMN_META_APART | (number ? 1u << COLUMN_META_NUMBER : 0));
}

void session_fact(struct session *s, const char *key, int64_t number)
{
	char text[32];

	snprintf(text, sizeof(text), "%lld", (long long)number);
	session_meta(s, key, text, &number);
}

struct report_track *session_track(struct session *s, enum table_id table, enum track_kind kind, uint64_t process, uint64_t thread,
				   uint64_t domain, uint32_t depth)
{
	uint32_t id = s->next_track + 1;
	int64_t values[TABLE_MAX_COLUMNS];
	uint32_t present = 1u << COLUMN_TRACK_ID | 1u << COLUMN_TRACK_KIND | 1u << COLUMN_TRACK_PROCESS | 1u << COLUMN_TRACK_DEPTH |
			   1u << COLUMN_TRACK_DOMAIN;

	if (id > SESSION_MAX_TRACKS)
		return NULL;
	s->next_track = id;
	values[COLUMN_TRACK_ID] = id;
	values[COLUMN_TRACK_KIND] = kind;
	values[COLUMN_TRACK_PROCESS] = (int64_t)process;
	values[COLUMN_TRACK_THREAD] = (int64_t)thread;
	values[COLUMN_TRACK_DOMAIN] = (int64_t)domain;
	values[COLUMN_TRACK_DEPTH] = depth;
	if (thread)
		present |= 1u << COLUMN_TRACK_THREAD;
	session_row(s, TABLE_TRACK, values, present);
	return report_track(s->writer, table, id);
}

void session_diagnose(struct session *s, enum diagnostic_source source, int severity, uint64_t process, const char *format, ...)
{
	int64_t values[TABLE_MAX_COLUMNS];
	uint32_t present = 1u << COLUMN_DIAGNOSTIC_TIME | 1u << COLUMN_DIAGNOSTIC_SOURCE | 1u << COLUMN_DIAGNOSTIC_SEVERITY |
			   1u << COLUMN_DIAGNOSTIC_TEXT;
	char text[1024];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	values[COLUMN_DIAGNOSTIC_TIME] = s->now;
	values[COLUMN_DIAGNOSTIC_SOURCE] = source;
	values[COLUMN_DIAGNOSTIC_SEVERITY] = severity;
	values[COLUMN_DIAGNOSTIC_TEXT] = (int64_t)session_text(s, text);
	values[COLUMN_DIAGNOSTIC_PROCESS] = (int64_t)process;
	if (process)
		present |= 1u << COLUMN_DIAGNOSTIC_PROCESS;
	session_row(s, TABLE_DIAGNOSTIC, values, present);
}

static void count_loss(struct session *s, enum loss_reason reason, uint64_t count)
{
	switch (reason) {
	case LOSS_UNMATCHED_POP:
	case LOSS_UNMATCHED_END:
	case LOSS_STACK_CUT:
	case LOSS_DETAIL: return;
	case LOSS_GPU_SAMPLES:
	case LOSS_GPU_SWITCHES: s->gpu_lost += count; return;
	default: s->dropped += count;
	}
}

static int loss_row(struct session *s, uint64_t process, uint64_t thread, enum loss_reason reason, uint64_t count)
{
	int64_t values[TABLE_MAX_COLUMNS];
	uint32_t present = 1u << COLUMN_LOSS_TIME | 1u << COLUMN_LOSS_PROCESS | 1u << COLUMN_LOSS_REASON | 1u << COLUMN_LOSS_COUNT;

	values[COLUMN_LOSS_TIME] = s->now;
	values[COLUMN_LOSS_PROCESS] = (int64_t)process;
	values[COLUMN_LOSS_THREAD] = (int64_t)thread;
	values[COLUMN_LOSS_REASON] = reason;
	values[COLUMN_LOSS_COUNT] = (int64_t)count;
	if (thread)
		present |= 1u << COLUMN_LOSS_THREAD;
	return session_row(s, TABLE_LOSS, values, present);
}

void session_loss(struct session *s, uint64_t process, uint64_t thread, enum loss_reason reason, uint64_t count)
{
	if (!count)
		return;
	count_loss(s, reason, count);
	if (s->full || loss_row(s, process, thread, reason, count) < 0)
		s->unreported[reason] += count;
}

void session_report_unreported(struct session *s, uint64_t process)
{
	for (unsigned reason = 1; reason < LOSS_REASONS; reason++)
		if (s->unreported[reason] && loss_row(s, process, 0, (enum loss_reason)reason, s->unreported[reason]) == 0)
			s->unreported[reason] = 0;
}

static void clock_row(struct session *s, const struct clock_snapshot *snapshot)
{
	int64_t values[TABLE_MAX_COLUMNS];

	values[COLUMN_CLOCK_DOMAIN] = TIMEBASE_SESSION_DOMAIN;
	values[COLUMN_CLOCK_TICKS] = snapshot->ticks;
	values[COLUMN_CLOCK_RAW] = snapshot->raw;
	values[COLUMN_CLOCK_MONO] = snapshot->mono;
	values[COLUMN_CLOCK_REAL] = snapshot->real;
	values[COLUMN_CLOCK_ERROR] = snapshot->error;
	session_row(s, TABLE_CLOCK, values, BITS_TO(COLUMN_CLOCK_ERROR));
}

void session_snapshot(struct session *s, int force)
{
	struct clock_snapshot snapshot;
	int keep = timebase_snap(&s->time, &snapshot);

	if (keep == 1 || (keep == 0 && force))
		clock_row(s, &snapshot);
	s->now = snapshot.raw - s->time.start;
}
