#include "record/torch/operators.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/macros.h"
#include "fmt/torch_wire.h"
#include "record/profile_options.h"
#include "record/torch/inputs.h"

/* Half of how long an id of a passing name is good for is left to the operator that bears it. */
#define NAME_NS (PASSING_SECONDS * 1000000000ll / 5)
#define MAX_FAR 4096u           /* operators without a place, of a process, that are open at once */
#define FIRST_LANE TORCH_PLACES /* their tracks lie behind those of places */

struct operator_name {
	uint64_t id; /* string id */
	int64_t since;
	char *text; /* of a name that passes; NULL: it stays */
	uint32_t text_size;
	uint8_t known;
};

struct open_operator {
	int64_t start;
	uint64_t name;
	uint64_t values[3]; /* as its record had them */
	uint64_t shapes;    /* string ids; 0: not told */
	uint64_t types;
	uint8_t flags; /* of the record */
	uint8_t open;
};

struct torch_thread {
	uint64_t number; /* torch's; 0: not known */
	struct operator_name names[TORCH_NAMES];
	struct input_type types[TORCH_NAMES]; /* the same names, as types of inputs */
	struct input_texts inputs[INPUT_TEXTS];
	struct open_operator *open; /* by place */
	uint32_t open_cap;
	struct report_track **tracks; /* by place */
	uint32_t track_cap;
};

/* An operator without a place: begun in `thread`; or an end whose begin lies in a ring that was not read yet. */
struct far_operator {
	uint64_t id;
	uint64_t thread; /* uid */
	uint64_t number;
	struct open_operator begun;
	int64_t early; /* its end */
	uint64_t end_thread;
};

struct far_track {
	uint64_t thread;
	struct report_track *track;
	int64_t last_end;
};

struct torch_process {
	struct far_operator *far;
	uint32_t far_count;
	uint32_t far_cap;
	struct far_track *far_tracks;
	uint32_t far_track_count;
	uint32_t far_track_cap;
};

void operators_fill_page(struct ring_session *page, uint64_t wanted)
{
	page->modules |= wanted & PYTORCH_OPERATORS ? RING_GATE_TORCH : 0;
	page->torch_shapes = wanted & PYTORCH_WITH_SHAPES ? 1 : 0;
}

static struct torch_thread *torch_of_thread(struct traced_thread *t)
{
	if (!t->torch)
		t->torch = calloc(1, sizeof(*t->torch));
	return t->torch;
}

static struct torch_process *torch_of_process(struct traced_process *p)
{
	if (!p->torch)
		p->torch = calloc(1, sizeof(*p->torch));
	return p->torch;
}

int operators_name(struct session *s, struct traced_thread *t, const uint8_t *bytes, uint32_t size)
{
	struct torch_thread *torch = torch_of_thread(t);
	struct record_torch_name record;
	struct operator_name *name;

	memcpy(&record, bytes, sizeof(record));
	if (record_level(record.head) >= TORCH_NAMES)
		return -EBADMSG;
	if (!torch)
		return -ENOMEM;
	torch->number = record.thread;
	name = &torch->names[record_level(record.head)];
	free(name->text);
	*name = (struct operator_name){ .known = 1, .since = s->now, .text_size = size - (uint32_t)sizeof(record) };
	name->id = report_string_passing(s->writer, (const char *)bytes + sizeof(record), name->text_size);
	input_type_set(&torch->types[record_level(record.head)], name->id, (const char *)bytes + sizeof(record), name->text_size);
	if (__builtin_expect(!report_string_passes(s->writer, name->id), 1))
		return 0;
	name->text = malloc(name->text_size + 1);
	if (!name->text)
		return -ENOMEM;
	memcpy(name->text, bytes + sizeof(record), name->text_size);
	return 0;
}

/* A name that passes needs a new id from time to time. */
static uint64_t name_id(struct session *s, struct operator_name *name)
{
	if (__builtin_expect(name->text && s->now - name->since >= NAME_NS, 0)) {
		name->id = report_string_passing(s->writer, name->text, name->text_size);
		name->since = s->now;
	}
	return name->id;
}

/* The value behind the time that a flag stands for. */
static uint64_t value_of(const struct open_operator *o, unsigned flag)
{
	unsigned index = 0;

	for (unsigned bit = TORCH_FLAG_SEQUENCE; bit < flag; bit <<= 1)
		index += (o->flags & bit) != 0;
	return o->values[index];
}

static uint32_t operator_values(const struct open_operator *o, int64_t end, uint64_t number, uint32_t row_flags, int64_t *v)
{
	unsigned scope = o->flags >> TORCH_FLAG_SCOPE_SHIFT;
	uint32_t present = BIT(COLUMN_TORCH_OP_START) | BIT(COLUMN_TORCH_OP_END);

	v[COLUMN_TORCH_OP_START] = o->start;
	v[COLUMN_TORCH_OP_END] = end < o->start ? o->start : end;
	v[COLUMN_TORCH_OP_NAME] = (int64_t)o->name;
	v[COLUMN_TORCH_OP_SCOPE] = scope;
	v[COLUMN_TORCH_OP_FLAGS] = row_flags;
	v[COLUMN_TORCH_OP_NUMBER] = (int64_t)number;
	present |= o->name ? BIT(COLUMN_TORCH_OP_NAME) : 0;
	present |= scope ? BIT(COLUMN_TORCH_OP_SCOPE) : 0;
	present |= row_flags ? BIT(COLUMN_TORCH_OP_FLAGS) : 0;
	present |= number ? BIT(COLUMN_TORCH_OP_NUMBER) : 0;
	if (o->flags & TORCH_FLAG_SEQUENCE) {
		v[COLUMN_TORCH_OP_SEQUENCE] = (int64_t)value_of(o, TORCH_FLAG_SEQUENCE);
		present |= BIT(COLUMN_TORCH_OP_SEQUENCE);
	}
	if (o->flags & TORCH_FLAG_FORWARD) {
		v[COLUMN_TORCH_OP_FORWARD] = (int64_t)value_of(o, TORCH_FLAG_FORWARD);
		present |= BIT(COLUMN_TORCH_OP_FORWARD);
	}
	v[COLUMN_TORCH_OP_SHAPES] = (int64_t)o->shapes;
	v[COLUMN_TORCH_OP_TYPES] = (int64_t)o->types;
	present |= o->shapes ? BIT(COLUMN_TORCH_OP_SHAPES) : 0;
	present |= o->types ? BIT(COLUMN_TORCH_OP_TYPES) : 0;
	return present;
}

static struct report_track *track_of_place(struct session *s, struct traced_process *p, struct traced_thread *t, unsigned place)
{
	struct torch_thread *torch = t->torch;

	if (!ARRAY_REACH(torch->tracks, torch->track_cap, place))
		return NULL;
	if (!torch->tracks[place])
		torch->tracks[place] = session_track(s, TABLE_TORCH_OP, TRACK_TORCH_OP, p->uid, t->uid, 0, place);
	return torch->tracks[place];
}

/* `end_thread`: uid, where it is another. */
static void finish_operator(struct session *s, struct traced_process *p, struct traced_thread *t, unsigned place, int64_t end,
			    uint32_t flags, uint64_t end_thread)
{
	struct open_operator *o = &t->torch->open[place];
	int64_t v[TABLE_MAX_COLUMNS];
	uint32_t present = operator_values(o, end, t->torch->number, flags, v);

	v[COLUMN_TORCH_OP_END_THREAD] = (int64_t)end_thread;
	present |= end_thread ? BIT(COLUMN_TORCH_OP_END_THREAD) : 0;
	o->open = 0;
	session_event_row(s, t, track_of_place(s, p, t, place), v, present, flags & SLICE_OPEN ? 1 : 2);
}

static int read_operator_values(struct session *s, struct torch_thread *torch, const uint8_t *bytes, uint32_t size,
				struct open_operator *ret)
{
	unsigned flags = ret->flags, count = 0;
	const struct input_texts *texts;
	uint32_t fixed;

	for (unsigned flag = TORCH_FLAG_SEQUENCE; flag < TORCH_FLAG_INPUTS; flag <<= 1)
		count += (flags & flag) != 0;
	fixed = (uint32_t)(sizeof(struct record_plain) + count * sizeof(uint64_t));
	if (size < fixed)
		return -EBADMSG;
	memcpy(ret->values, bytes + sizeof(struct record_plain), count * sizeof(uint64_t));
	if (!(flags & TORCH_FLAG_INPUTS))
		return 0;
	texts = input_texts_of(s, torch->inputs, torch->types, bytes + fixed, size - fixed);
	if (!texts)
		return -EBADMSG;
	ret->shapes = texts->shapes;
	ret->types = texts->types;
	return 0;
}

static struct far_operator *find_far(struct torch_process *torch, uint64_t id)
{
	for (uint32_t i = torch->far_count; i-- > 0;)
		if (torch->far[i].id == id)
			return &torch->far[i];
	return NULL;
}

static struct far_operator *add_far(struct torch_process *torch)
{
	if (torch->far_count >= MAX_FAR || !ARRAY_ROOM(torch->far, torch->far_count, torch->far_cap, 1))
		return NULL;
	torch->far[torch->far_count] = (struct far_operator){ 0 };
	return &torch->far[torch->far_count++];
}

static struct far_track *find_far_track(struct session *s, struct traced_process *p, uint64_t thread, int64_t start)
{
	struct torch_process *torch = p->torch;
	uint32_t depth = FIRST_LANE;
	struct far_track *far_track;

	for (uint32_t i = 0; i < torch->far_track_count; i++) {
		if (torch->far_tracks[i].thread != thread)
			continue;
		if (torch->far_tracks[i].last_end <= start)
			return &torch->far_tracks[i];
		depth++;
	}
	if (!ARRAY_ROOM(torch->far_tracks, torch->far_track_count, torch->far_track_cap, 1))
		return NULL;
	far_track = &torch->far_tracks[torch->far_track_count++];
	*far_track = (struct far_track){ .thread = thread };
	far_track->track = session_track(s, TABLE_TORCH_OP, TRACK_TORCH_OP, p->uid, thread, 0, depth);
	return far_track;
}

/* Rows of one track must come in order, and these end in any: one that began before the last that ended goes to another far_track. */
static void finish_far(struct session *s, struct traced_process *p, struct far_operator *far, int64_t end, uint32_t flags)
{
	struct far_track *far_track = find_far_track(s, p, far->thread, far->begun.start);
	uint64_t end_thread = far->end_thread != far->thread ? far->end_thread : 0;
	unsigned events = flags & SLICE_OPEN ? 1 : 2;
	int64_t v[TABLE_MAX_COLUMNS];
	uint32_t present = operator_values(&far->begun, end, far->number, flags | SLICE_ASYNC, v);

	v[COLUMN_TORCH_OP_END_THREAD] = (int64_t)end_thread;
	present |= end_thread ? BIT(COLUMN_TORCH_OP_END_THREAD) : 0;
	if (!far_track || !far_track->track || report_append(far_track->track, v, present) < 0) {
		s->events -= events;
		s->unwritten += events;
	}
	if (far_track)
		far_track->last_end = end;
	*far = p->torch->far[--p->torch->far_count];
}

static int start_far(struct session *s, struct traced_process *p, struct traced_thread *t, const struct open_operator *begun)
{
	struct torch_process *torch = torch_of_process(p);
	uint64_t id = value_of(begun, TORCH_FLAG_ID);
	struct far_operator *far = torch ? find_far(torch, id) : NULL;

	/* Its end was lost, and torch uses the address again. */
	if (far && far->begun.open) {
		finish_far(s, p, far, begun->start, SLICE_OPEN);
		far = NULL;
	}
	if (!far && torch)
		far = add_far(torch);
	if (!far)
		return -ENOMEM;
	far->id = id;
	far->thread = t->uid;
	far->number = t->torch->number;
	far->begun = *begun;
	if (far->end_thread)
		finish_far(s, p, far, far->early, 0);
	return 0;
}

int operators_start(struct session *s, struct traced_process *p, struct traced_thread *t, const uint8_t *bytes, uint32_t size, int64_t time)
{
	struct torch_thread *torch = torch_of_thread(t);
	struct open_operator begun = { .start = time, .open = 1 };
	unsigned number, place;
	uint64_t head;

	memcpy(&head, bytes, sizeof(head));
	number = record_domain(head);
	place = record_level(head);
	begun.flags = (uint8_t)record_flags(head);
	if (!torch)
		return -ENOMEM;
	if (number >= TORCH_NAMES || place >= TORCH_PLACES || !torch->names[number].known ||
	    read_operator_values(s, torch, bytes, size, &begun) < 0)
		return -EBADMSG;
	begun.name = name_id(s, &torch->names[number]);
	s->operators_seen = 1;
	if (begun.flags & TORCH_FLAG_ID)
		return start_far(s, p, t, &begun);
	if (!ARRAY_REACH(torch->open, torch->open_cap, place))
		return -ENOMEM;
	/* Its end was lost. */
	if (torch->open[place].open)
		finish_operator(s, p, t, place, time, SLICE_OPEN, 0);
	torch->open[place] = begun;
	return 0;
}

static int end_far(struct session *s, struct traced_process *p, struct traced_thread *t, uint64_t id, int64_t time)
{
	struct torch_process *torch = torch_of_process(p);
	struct far_operator *far = torch ? find_far(torch, id) : NULL;

	if (far && far->begun.open) {
		far->end_thread = t->uid;
		finish_far(s, p, far, time, 0);
		return 0;
	}
	far = torch && !far ? add_far(torch) : NULL;
	if (!far)
		return -ENOMEM;
	far->id = id;
	far->end_thread = t->uid;
	far->early = time;
	return 0;
}

static struct traced_thread *find_numbered(const struct traced_process *p, uint64_t number)
{
	for (uint32_t i = 0; number && i < p->thread_cap; i++)
		if (p->threads[i] && p->threads[i]->torch && p->threads[i]->torch->number == number)
			return p->threads[i];
	return NULL;
}

int operators_end(struct session *s, struct traced_process *p, struct traced_thread *t, const uint8_t *bytes, uint32_t size, int64_t time)
{
	struct traced_thread *origin = t;
	unsigned place, flags;
	uint64_t head, value = 0;

	memcpy(&head, bytes, sizeof(head));
	place = record_level(head);
	flags = record_flags(head) & (TORCH_FLAG_ID | TORCH_FLAG_FORWARD);
	if (flags) {
		if (size < sizeof(struct record_plain) + sizeof(value))
			return -EBADMSG;
		memcpy(&value, bytes + sizeof(struct record_plain), sizeof(value));
	}
	if (flags & TORCH_FLAG_ID)
		return end_far(s, p, t, value, time);
	if (flags)
		origin = find_numbered(p, value);
	if (!origin || !origin->torch || place >= origin->torch->open_cap || !origin->torch->open[place].open) {
		/* Lost with its start: events and losses add up to what was emitted. */
		t->counts.push_missing++;
		s->events--;
		return 0;
	}
	finish_operator(s, p, origin, place, time, origin != t ? SLICE_ASYNC : 0, origin != t ? t->uid : 0);
	return 0;
}

void operators_end_thread(struct session *s, struct traced_process *p, struct traced_thread *t, int64_t end)
{
	for (uint32_t i = 0; t->torch && i < t->torch->open_cap; i++)
		if (t->torch->open[i].open)
			finish_operator(s, p, t, i, end, SLICE_OPEN, 0);
}

void operators_end_process(struct session *s, struct traced_process *p, int64_t end)
{
	struct torch_process *torch = p->torch;

	while (torch && torch->far_count) {
		struct far_operator *far = &torch->far[torch->far_count - 1];

		if (far->begun.open) {
			finish_far(s, p, far, end, SLICE_OPEN);
			continue;
		}
		session_loss(s, p->uid, far->end_thread, LOSS_UNMATCHED_END, 1);
		s->events--;
		torch->far_count--;
	}
}

void operators_provisional(struct session *s, struct traced_process *p, struct traced_thread *t, int64_t end)
{
	int64_t v[TABLE_MAX_COLUMNS];
	struct report_track *track;
	uint32_t present;

	for (uint32_t i = 0; t->torch && i < t->torch->open_cap; i++) {
		track = t->torch->open[i].open ? track_of_place(s, p, t, i) : NULL;
		if (!track)
			continue;
		present = operator_values(&t->torch->open[i], end, t->torch->number, SLICE_OPEN, v);
		report_append_provisional(track, v, present);
	}
}

void operators_free_thread(struct traced_thread *t)
{
	struct torch_thread *torch = t->torch;

	if (!torch)
		return;
	for (uint32_t i = 0; i < torch->track_cap; i++)
		report_track_close(torch->tracks[i]);
	for (uint32_t i = 0; i < TORCH_NAMES; i++)
		free(torch->names[i].text);
	free(torch->open);
	free(torch->tracks);
	free(torch);
	t->torch = NULL;
}

void operators_free_process(struct traced_process *p)
{
	struct torch_process *torch = p->torch;

	if (!torch)
		return;
	for (uint32_t i = 0; i < torch->far_track_count; i++)
		report_track_close(torch->far_tracks[i].track);
	free(torch->far);
	free(torch->far_tracks);
	free(torch);
	p->torch = NULL;
}
