/* /api/alike: all events with the name of one of them, on rows of the same kind. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "view/answers/same_name.h"
#include "view/request/routes.h"
#include "view/internal.h"
#include "view/report/event_names.h"
#include "view/report/walk.h"

#define BINS 32
/* Durations are counted by their logarithm, 64 to each power of two: quantiles are right to one percent. */
#define FINE 64u
#define FINE_SLOTS (64u * FINE)

struct same {
	struct event_ref self;
	struct same_name_part {
		uint64_t count, sum, least, largest;
		uint64_t longer; /* than this one */
		uint64_t earlier;
		struct event_ref before, after; /* the nearest in time */
		bool has_before, has_after;
		uint64_t slots[FINE_SLOTS];
	} parts[WALK_WORKERS];
};

static unsigned find_duration_slot(uint64_t duration)
{
	unsigned power = duration ? 63u - (unsigned)__builtin_clzll(duration) : 0;
	uint64_t rest = power >= 6 ? duration >> (power - 6) : duration << (6 - power);

	return power * FINE + (unsigned)(rest & (FINE - 1));
}

static double slot_value(unsigned slot)
{
	return (double)(UINT64_C(1) << (slot / FINE)) * (1.0 + (double)(slot % FINE) / FINE);
}

static void take_neighbour(struct same_name_part *a, const struct event_ref *self, const struct event_ref *p)
{
	if (is_event_before(p, self) && (!a->has_before || is_event_before(&a->before, p))) {
		a->before = *p;
		a->has_before = true;
	}
	if (is_event_before(self, p) && (!a->has_after || is_event_before(p, &a->after))) {
		a->after = *p;
		a->has_after = true;
	}
}

static void take_event(struct same_name_part *a, const struct event_ref *self, const struct event_ref *p)
{
	uint64_t duration = (uint64_t)p->end - (uint64_t)p->start;

	a->least = !a->count || duration < a->least ? duration : a->least;
	a->largest = duration > a->largest ? duration : a->largest;
	a->count++;
	a->sum += duration;
	a->longer += duration > (uint64_t)self->end - (uint64_t)self->start;
	a->earlier += is_event_before(p, self);
	a->slots[find_duration_slot(duration)]++;
	take_neighbour(a, self, p);
}

static int take_same_name_rows(struct walk *w, unsigned worker, uint32_t track, const struct row_group *p, const struct walk_rows *rows)
{
	struct same *a = w->context;
	const struct decoded_rows *c = rows->decoded;

	for (uint32_t i = rows->begin; i < rows->end; i++) {
		struct event_ref event = { .track = track, .index = p->first + i, .start = c->start[i], .end = c->end[i] };

		event.name = c->names ? c->names[i] : 0;
		if (event.name == a->self.name)
			take_event(&a->parts[worker], &a->self, &event);
	}
	return 0;
}

static void merge_same_name(struct same_name_part *to, const struct same_name_part *from, const struct event_ref *self)
{
	if (!from->count)
		return;
	to->least = !to->count || from->least < to->least ? from->least : to->least;
	to->largest = from->largest > to->largest ? from->largest : to->largest;
	to->count += from->count;
	to->sum += from->sum;
	to->longer += from->longer;
	to->earlier += from->earlier;
	for (unsigned i = 0; i < FINE_SLOTS; i++)
		to->slots[i] += from->slots[i];
	if (from->has_before)
		take_neighbour(to, self, &from->before);
	if (from->has_after)
		take_neighbour(to, self, &from->after);
}

static double quantile(const struct same_name_part *a, double part)
{
	uint64_t before = 0, wanted = (uint64_t)(part * (double)(a->count - 1));

	for (unsigned i = 0; i < FINE_SLOTS; i++) {
		before += a->slots[i];
		if (before > wanted)
			return slot_value(i) < (double)a->least   ? (double)a->least :
			       slot_value(i) > (double)a->largest ? (double)a->largest :
								    slot_value(i);
	}
	return (double)a->largest;
}

/* Bins of equal ratio from the least to the largest. */
static void put_histogram(struct json_out *j, const struct same_name_part *a)
{
	unsigned from = find_duration_slot(a->least), to = find_duration_slot(a->largest), width = (to - from) / BINS + 1;

	out_key(j, "histogram");
	out_open(j, '[');
	for (unsigned at = from; at <= to; at += width) {
		uint64_t count = 0;

		for (unsigned i = at; i < at + width && i < FINE_SLOTS; i++)
			count += a->slots[i];
		out_open(j, '[');
		out_real(j, slot_value(at));
		out_real(j, slot_value(at + width));
		out_integer(j, (int64_t)count);
		out_close(j, ']');
	}
	out_close(j, ']');
}

static void put_statistics(struct json_out *j, const struct same_name_part *all)
{
	out_key(j, "statistics");
	out_open(j, '{');
	out_put_integer(j, "count", (int64_t)all->count);
	out_put_integer(j, "total", (int64_t)all->sum);
	out_put_integer(j, "least", (int64_t)all->least);
	out_put_integer(j, "most", (int64_t)all->largest);
	out_put_integer(j, "rank", (int64_t)all->longer + 1);
	if (all->count) {
		out_put_real(j, "mean", (double)all->sum / (double)all->count);
		out_put_real(j, "median", quantile(all, 0.5));
		out_put_real(j, "p95", quantile(all, 0.95));
		put_histogram(j, all);
	}
	out_close(j, '}');
}

/* As a shell takes it for one word. */
static int append_word(struct buf *line, const char *word)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./:,@%";

	if (*word && word[strspn(word, plain)] == '\0')
		return buf_puts(line, word);
	TRY(buf_puts(line, "'"));
	for (; *word; word++)
		TRY(*word == '\'' ? buf_puts(line, "'\\''") : buf_append(line, word, 1));
	return buf_puts(line, "'");
}

static int make_command(struct view_report *r, const struct same *a, struct buf *line)
{
	CLEANUP(buf_release) struct buf name = BUF_INIT;

	TRY(name_text(r, a->self.name, &name));
	TRY(buf_puts(line, "sonde kernel -k "));
	TRY(append_word(line, buf_cstr(&name)));
	return buf_printf(line, " -s %llu -c 1", (unsigned long long)a->parts[0].earlier);
}

/* How the hardware counters of this kernel could be had: it is the one behind so many of its name. */
static void put_command(struct json_out *j, struct view_report *r, const struct same *a)
{
	struct buf line = BUF_INIT;

	if (r->tracks[a->self.track].table != TABLE_GPU_KERNEL || make_command(r, a, &line) < 0)
		out_put_text(j, "command", NULL);
	else
		out_put_text(j, "command", buf_cstr(&line));
	buf_release(&line);
}

static void put_same_name(struct json_out *j, struct view_report *r, struct same *a)
{
	struct same_name_part *all = &a->parts[0];

	for (unsigned i = 1; i < WALK_WORKERS; i++)
		merge_same_name(all, &a->parts[i], &a->self);
	put_statistics(j, all);
	if (all->has_before) {
		out_key(j, "previous");
		event_put(j, r, &all->before);
	}
	if (all->has_after) {
		out_key(j, "next");
		event_put(j, r, &all->after);
	}
	put_command(j, r, a);
}

/* Rows of the same kind: the same name on a stream and in a call is something else. */
static uint32_t *has_same_tracks(const struct view_report *r, uint32_t track, size_t *ret_count)
{
	uint32_t *tracks = calloc(r->track_count + 1, sizeof(*tracks));

	*ret_count = 0;
	for (size_t i = 0; tracks && i < r->track_count; i++)
		if (r->tracks[i].table == r->tracks[track].table && r->tracks[i].row != TRACK_NO_ROW &&
		    r->rows[r->tracks[i].row].kind == r->rows[r->tracks[track].row].kind)
			tracks[(*ret_count)++] = (uint32_t)i;
	return tracks;
}

int same_name_put(struct json_out *j, struct view_report *r, const struct event_ref *self, uint64_t most)
{
	CLEANUP_FREE struct same *a = calloc(1, sizeof(*a));
	struct walk w = { .r = r, .take = take_same_name_rows, .context = a, .from = INT64_MIN, .to = INT64_MAX };
	CLEANUP_FREE uint32_t *tracks = has_same_tracks(r, self->track, &w.track_count);
	uint64_t rows = 0;

	if (!a || !tracks)
		return -ENOMEM;
	for (size_t i = 0; i < w.track_count; i++)
		rows += r->tracks[tracks[i]].rows;
	if (rows <= most) {
		a->self = *self;
		w.tracks = tracks;
		TRY(walk_tracks(&w));
		put_same_name(j, r, a);
	}
	return j->r;
}

int answer_alike(struct view *v, struct params *p, struct answer *a, struct error *err)
{
	struct view_report *report;
	struct event_ref event;
	struct json_out j;

	TRY(params_event(v, p, &report, &event, err));
	out_begin(&j, &a->body);
	out_open(&j, '{');
	TRY(same_name_put(&j, report, &event, UINT64_MAX));
	out_close(&j, '}');
	return j.r;
}
