/* Events of no thread ("b", "n" and "e", and the older "S", "T", "p" and "F"): slices from begin to end, which
 * have process, category and id in common. Those of a process and category share a track, on as many lanes
 * as run at once; the id is an argument. */
#include "ingest/kineto/internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#define MAX_OPEN 65536u
#define CHAINS 16384u

/* 0: not a phase of these. */
static char phase_of(const struct kineto_event *e)
{
	static const char phases[] = "bneSTpF", meant[] = "bnebnne";
	const char *found = e->phase.len == 1 && e->phase.text[0] ? strchr(phases, e->phase.text[0]) : NULL;

	return found ? meant[found - phases] : 0;
}

static const struct json_value *find_extra_argument(const struct kineto_event *e, const char *name)
{
	for (unsigned i = 0; i < e->extra_count; i++)
		if (json_equals(&e->extras[i].key, name))
			return &e->extras[i].value;
	return NULL;
}

static int put_part(struct buf *b, const struct json_value *v)
{
	return buf_append(b, v->text ? v->text : "", v->len) < 0 || buf_append(b, "", 1) < 0 ? -ENOMEM : 0;
}

/* Process and category, in k->text; behind them the id makes the key of a slice. */
static struct kineto_async_track *find_async_track(struct kineto *k, const struct kineto_event *e, uint32_t *ret_number)
{
	uint32_t count = k->async_keys.count, number;

	buf_clear(&k->text);
	if (put_part(&k->text, &e->pid) < 0 || put_part(&k->text, &e->category) < 0)
		return NULL;
	number = count < KINETO_MAX_TRACKS ? keymap_number(&k->async_keys, k->text.data, k->text.len) :
					     keymap_find(&k->async_keys, k->text.data, k->text.len);
	if (number == KEYMAP_NONE) {
		k->odd++;
		return NULL;
	}
	if (number == count) {
		if (kineto_room(k, &k->async_tracks, number, sizeof(*k->async_tracks)) < 0)
			return NULL;
		k->async_tracks[number] = (struct kineto_async_track){ 0 };
	}
	*ret_number = number;
	return &k->async_tracks[number];
}

static void name_track(struct kineto *k, const struct kineto_event *e, struct sink_track *t)
{
	uint32_t process = kineto_process(k, &e->pid);

	if (!t || process == KEYMAP_NONE)
		return;
	k->processes[process].has_events = 1;
	if (k->processes[process].pid >= 0)
		t->process = k->processes[process].uid;
	t->name = e->category.len ? kineto_text(k, &e->category) : sink_text(&k->sink, "async");
}

static struct sink_track *slices_of(struct kineto *k, const struct kineto_event *e, struct kineto_async_track *t)
{
	if (!t->slices) {
		t->slices = sink_track(&k->sink, TRACK_GENERIC, TABLE_SLICE, KINETO_SLICE_COLUMNS);
		name_track(k, e, t->slices);
	}
	return t->slices;
}

/* Room for one more that is open; 0 where there are too many. */
static uint32_t new_open(struct kineto *k)
{
	uint32_t number = k->async_free;

	if (!k->async_chains) {
		k->async_chains = calloc(CHAINS, sizeof(*k->async_chains));
		if (!k->async_chains)
			k->sink.result = -ENOMEM;
	}
	if (number) {
		k->async_free = k->async[number - 1].next;
		return number;
	}
	if (k->async_count == MAX_OPEN || !k->async_chains || kineto_room(k, &k->async, k->async_count, sizeof(*k->async)) < 0)
		return 0;
	return ++k->async_count;
}

static void open_async_range(struct kineto *k, const struct kineto_event *e, uint32_t track, const uint64_t *key)
{
	uint32_t number = new_open(k);
	struct kineto_async *open;

	if (!number) {
		k->odd++;
		return;
	}
	open = &k->async[number - 1];
	kineto_begin_slice(k, e, &open->slice);
	memcpy(open->key, key, sizeof(open->key));
	open->track = track;
	open->next = k->async_chains[key[0] % CHAINS];
	k->async_chains[key[0] % CHAINS] = number;
	k->async_open++;
}

/* The latest with this key, taken out of its chain; 0: none. */
static uint32_t take_open(struct kineto *k, const uint64_t *key)
{
	uint32_t *link = k->async_chains ? &k->async_chains[key[0] % CHAINS] : NULL, number;

	while (link && *link && memcmp(k->async[*link - 1].key, key, sizeof(k->async[0].key)) != 0)
		link = &k->async[*link - 1].next;
	if (!link || !*link)
		return 0;
	number = *link;
	*link = k->async[number - 1].next;
	k->async[number - 1].next = k->async_free;
	k->async_free = number;
	k->async_open--;
	return number;
}

static void instant(struct kineto *k, struct kineto_event *e, struct kineto_async_track *t)
{
	kineto_instant(k, e, &t->instants);
	name_track(k, e, t->instants);
}

/* Arguments of the end are kept as a mark: those of the begin are written already. */
static void close_async_range(struct kineto *k, struct kineto_event *e, struct kineto_async_track *t, const uint64_t *key)
{
	uint32_t number = take_open(k, key);

	if (!number) {
		k->unopened++;
		return;
	}
	kineto_end_slice(k, slices_of(k, e, t), &k->async[number - 1].slice, e->start, 1);
	if (e->members && e->members->count)
		instant(k, e, t);
}

int kineto_async_event(struct kineto *k, struct kineto_event *e)
{
	const struct json_value *id = find_extra_argument(e, "id"), *id2 = find_extra_argument(e, "id2");
	char phase = phase_of(e);
	struct kineto_async_track *t;
	XXH128_hash_t hash;
	uint32_t number;

	if (!phase || (!id && !id2))
		return 0;
	t = find_async_track(k, e, &number);
	if (!t || put_part(&k->text, id ? id : id2) < 0)
		return 1;
	hash = XXH3_128bits(k->text.data, k->text.len);
	if (phase == 'n') {
		instant(k, e, t);
	} else if (phase == 'b') {
		slices_of(k, e, t);
		open_async_range(k, e, number, (const uint64_t[]){ hash.low64, hash.high64 });
	} else {
		close_async_range(k, e, t, (const uint64_t[]){ hash.low64, hash.high64 });
	}
	return 1;
}

void kineto_async_finish(struct kineto *k)
{
	for (uint32_t c = 0; k->async_open && c < CHAINS; c++) {
		for (uint32_t n = k->async_chains[c]; n; n = k->async[n - 1].next) {
			kineto_end_slice(k, k->async_tracks[k->async[n - 1].track].slices, &k->async[n - 1].slice, k->sink.last, 0);
			k->async_open--;
			k->unended++;
		}
	}
}
