#include "record/nvtx/start_end.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "record/nvtx/payloads.h"
#include "record/drain/process.h"
#include "record/nvtx/push_pop.h"
#include "record/session/trigger.h"

/* Rounds an end waits for its start: every ring is read once per round. */
#define EARLY_ROUNDS 3
#define EARLY_LIMIT 65536u
#define MAX_TRACKS 65536u

void track_set_unref(struct track_set *tracks)
{
	if (--tracks->refs)
		return;
	for (uint32_t i = 0; i < tracks->count; i++)
		report_track_close(tracks->tracks[i].track);
	free(tracks->tracks);
	free(tracks->free_tracks);
	free(tracks);
}

static struct track_set *track_set_of(struct traced_process *p, struct traced_thread *t, struct domain_state *d)
{
	if (!d->start_end_tracks) {
		d->start_end_tracks = calloc(1, sizeof(*d->start_end_tracks));
		if (d->start_end_tracks)
			*d->start_end_tracks = (struct track_set){ .refs = 1, .process = p->uid, .thread = t->uid, .domain = d->uid };
	}
	return d->start_end_tracks;
}

static int add_start_end_track(struct session *s, struct track_set *set, uint32_t *ret)
{
	if (set->count == MAX_TRACKS || !ARRAY_ROOM(set->tracks, set->count, set->cap, 1) ||
	    !ARRAY_REACH(set->free_tracks, set->free_words, set->count / 64))
		return -1;
	set->tracks[set->count] = (struct placed_track){
		.track = session_track(s, TABLE_SLICE, TRACK_NVTX_STARTEND, set->process, set->thread, set->domain, set->count),
		.last_end = INT64_MIN,
	};
	if (!set->tracks[set->count].track)
		return -1;
	*ret = set->count++;
	return 0;
}

/* The lowest track that is free and whose last range ended before this one starts. */
static int take_free_track(struct session *s, struct track_set *set, int64_t start, uint32_t *ret)
{
	uint64_t bits;
	uint32_t track;

	for (uint32_t word = 0; word * 64 < set->count; word++) {
		for (bits = set->free_tracks[word]; bits; bits &= bits - 1) {
			track = word * 64 + (uint32_t)__builtin_ctzll(bits);
			if (set->tracks[track].last_end > start)
				continue;
			set->free_tracks[word] &= ~(UINT64_C(1) << track % 64);
			*ret = track;
			return 0;
		}
	}
	return add_start_end_track(s, set, ret);
}

static struct open_range *new_range(struct traced_process *p, uint32_t *ret_index)
{
	uint32_t before = p->range_cap;

	if (!p->range_free) {
		if (!ARRAY_REACH(p->ranges, p->range_cap, before))
			return NULL;
		for (uint32_t i = p->range_cap; i-- > before;) {
			p->ranges[i].track = p->range_free;
			p->range_free = i + 1;
		}
	}
	*ret_index = p->range_free - 1;
	p->range_free = p->ranges[*ret_index].track;
	return &p->ranges[*ret_index];
}

static uint32_t start_end_values(const struct open_range *range, int64_t end, uint64_t end_thread, int64_t *values)
{
	uint32_t present = range_values(&range->event, end, values);

	values[COLUMN_SLICE_RANGE_ID] = (int64_t)range->id;
	values[COLUMN_SLICE_END_THREAD] = (int64_t)end_thread;
	present |= 1u << COLUMN_SLICE_RANGE_ID;
	if (end_thread && end_thread != range->tracks->thread)
		present |= 1u << COLUMN_SLICE_END_THREAD;
	return present;
}

static void finish_range(struct session *s, struct traced_process *p, uint32_t index, int64_t end, uint64_t end_thread)
{
	struct open_range *range = &p->ranges[index];
	struct placed_track *track = &range->tracks->tracks[range->track];
	int64_t values[TABLE_MAX_COLUMNS];
	int r;

	if (end < range->event.start)
		end = range->event.start;
	r = report_append(track->track, values, start_end_values(range, end, end_thread, values));
	if (r < 0) {
		s->events -= range->event.flags & SLICE_OPEN ? 1 : 2;
		s->unwritten += range->event.flags & SLICE_OPEN ? 1 : 2;
	}
	if (s->triggers && !(range->event.flags & SLICE_OPEN))
		trigger_range(s, range->tracks->domain, range->event.name, range->event.start, end, range->hang_reported);
	track->last_end = end;
	range->tracks->free_tracks[range->track / 64] |= UINT64_C(1) << range->track % 64;
	track_set_unref(range->tracks);
	range->used = 0;
	range->track = p->range_free;
	p->range_free = index + 1;
}

/* Takes the end that came before its start, if it did. */
static int take_early(struct traced_process *p, uint64_t range_id, struct early_end *ret)
{
	uint64_t index = p->early_count ? idmap_take(&p->early_index, range_id) : IDMAP_NONE;

	if (index == IDMAP_NONE)
		return 0;
	*ret = p->early[index];
	p->early[index] = p->early[--p->early_count];
	if (index < p->early_count)
		idmap_put(&p->early_index, p->early[index].id, index);
	return 1;
}

void ranges_start(struct session *s, struct traced_process *p, struct traced_thread *t, struct domain_state *d, uint64_t range_id,
		  const struct event_attributes *event)
{
	uint64_t old = idmap_take(&p->range_index, range_id);
	struct track_set *set = track_set_of(p, t, d);
	struct open_range *range;
	struct early_end early;
	uint32_t track, index;

	if (old != IDMAP_NONE) {
		p->ranges[old].event.flags |= SLICE_OPEN;
		finish_range(s, p, (uint32_t)old, event->start, 0);
	}
	if (!set || take_free_track(s, set, event->start, &track) < 0) {
		session_event_damaged(s, t);
		return;
	}
	range = new_range(p, &index);
	if (!range || idmap_put(&p->range_index, range_id, index) < 0) {
		set->free_tracks[track / 64] |= UINT64_C(1) << track % 64;
		session_event_damaged(s, t);
		return;
	}
	*range = (struct open_range){ .id = range_id, .tracks = set, .track = track, .used = 1, .named = event->start, .event = *event };
	set->refs++;
	if (take_early(p, range_id, &early)) {
		idmap_take(&p->range_index, range_id);
		payloads_attach(s, &p->ranges[index].event, &early.payloads);
		payload_list_release(&early.payloads);
		finish_range(s, p, index, early.time, early.thread);
	}
}

static void keep_early(struct session *s, struct traced_process *p, struct traced_thread *t, uint64_t range_id, int64_t time,
		       const struct payload_list *payloads)
{
	/* The second end of one range, or too many to wait for. */
	if (p->early_count == EARLY_LIMIT || !ARRAY_ROOM(p->early, p->early_count, p->early_cap, 1) ||
	    idmap_get(&p->early_index, range_id) != IDMAP_NONE || idmap_put(&p->early_index, range_id, p->early_count) < 0) {
		t->counts.unmatched_end++;
		s->events--;
		return;
	}
	p->early[p->early_count] = (struct early_end){ .id = range_id, .thread = t->uid, .time = time };
	payload_list_copy(&p->early[p->early_count++].payloads, payloads);
}

void ranges_end(struct session *s, struct traced_process *p, struct traced_thread *t, uint64_t range_id, int64_t time,
		const struct payload_list *payloads)
{
	uint64_t index = idmap_take(&p->range_index, range_id);

	if (index == IDMAP_NONE) {
		keep_early(s, p, t, range_id, time, payloads);
		return;
	}
	payloads_attach(s, &p->ranges[index].event, payloads);
	finish_range(s, p, (uint32_t)index, time, t->uid);
}

/* Where events of the process were lost, the start most likely was one of them. */
static enum loss_reason why_unmatched(struct session *s, struct traced_process *p)
{
	process_report_losses(s, p);
	return p->lost_some ? LOSS_PUSH_MISSING : LOSS_UNMATCHED_END;
}

void ranges_age(struct session *s, struct traced_process *p, int all)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < p->early_count; i++) {
		if (!all && ++p->early[i].rounds <= EARLY_ROUNDS) {
			idmap_put(&p->early_index, p->early[i].id, kept);
			p->early[kept++] = p->early[i];
			continue;
		}
		idmap_take(&p->early_index, p->early[i].id);
		payload_list_release(&p->early[i].payloads);
		session_loss(s, p->uid, p->early[i].thread, why_unmatched(s, p), 1);
		s->events--;
	}
	p->early_count = kept;
}

void ranges_end_all(struct session *s, struct traced_process *p, int64_t end)
{
	for (uint32_t i = 0; i < p->range_cap; i++) {
		if (!p->ranges[i].used)
			continue;
		idmap_take(&p->range_index, p->ranges[i].id);
		p->ranges[i].event.flags |= SLICE_OPEN;
		finish_range(s, p, i, end, 0);
	}
}

void ranges_provisional(struct session *s, struct traced_process *p)
{
	int64_t values[TABLE_MAX_COLUMNS];
	struct open_range range;
	uint32_t present;

	for (uint32_t i = 0; i < p->range_cap; i++) {
		if (!p->ranges[i].used)
			continue;
		range = p->ranges[i];
		range.event.flags |= SLICE_OPEN;
		present = start_end_values(&range, s->now, 0, values);
		report_append_provisional(range.tracks->tracks[range.track].track, values, present);
	}
}

void ranges_release(struct traced_process *p)
{
	idmap_release(&p->range_index);
	idmap_release(&p->early_index);
	free(p->ranges);
	for (uint32_t i = 0; i < p->early_count; i++)
		payload_list_release(&p->early[i].payloads);
	free(p->early);
}
