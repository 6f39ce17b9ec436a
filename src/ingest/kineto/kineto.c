#include "ingest/kineto/internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/macros.h"

int kineto_room(struct kineto *k, void *array, uint32_t count, size_t size)
{
	if (list_grow(array, count, size))
		return 0;
	k->sink.result = -ENOMEM;
	return -ENOMEM;
}

/* No longer than what is kept, and not in the middle of a character. */
static struct json_value shorten_value(struct kineto *k, const struct json_value *v)
{
	struct json_value kept = *v;

	if (v->len <= KINETO_MAX_TEXT)
		return kept;
	kept.len = KINETO_MAX_TEXT;
	while (kept.len && (kept.text[kept.len] & 0xc0) == 0x80)
		kept.len--;
	k->cut++;
	return kept;
}

const char *kineto_cstr(struct kineto *k, const struct json_value *v)
{
	struct json_value kept = shorten_value(k, v);

	buf_clear(&k->text);
	if (buf_reserve(&k->text, kept.len + 8) < 0) {
		k->sink.result = -ENOMEM;
		return "";
	}
	if (kept.escaped)
		k->text.len = json_unescape(&kept, k->text.data, kept.len + 1);
	else if (kept.len)
		buf_append(&k->text, kept.text, kept.len);
	return buf_cstr(&k->text);
}

static uint64_t load8(const char *p)
{
	uint64_t word;

	memcpy(&word, p, sizeof(word));
	return word;
}

static uint64_t load4(const char *p)
{
	uint32_t word;

	memcpy(&word, p, sizeof(word));
	return word;
}

/* Begin and end of a text tell it from most others. */
static struct kineto_said *said_place(struct kineto *k, const char *text, size_t len)
{
	uint64_t ends;

	if (len >= 8)
		ends = load8(text) ^ load8(text + len - 8) * 31;
	else if (len >= 4)
		ends = load4(text) | load4(text + len - 4) << 32;
	else
		ends = (unsigned char)text[0] | (unsigned)(unsigned char)text[len / 2] << 8 | (unsigned)(unsigned char)text[len - 1] << 16;
	return &k->said[((ends ^ len) * UINT64_C(0x9e3779b97f4a7c15) >> 54) % KINETO_TEXTS];
}

static int same_text(const char *a, const char *b, size_t len)
{
	size_t i = 0;

	if (len < 8)
		return memcmp(a, b, len) == 0;
	for (; i + 8 < len; i += 8)
		if (load8(a + i) != load8(b + i))
			return 0;
	return load8(a + len - 8) == load8(b + len - 8);
}

static uint64_t short_text(struct kineto *k, const char *text, size_t len, uint32_t most)
{
	struct kineto_said *s = said_place(k, text, len);

	if (s->len == len && same_text(s->text, text, len))
		return s->id;
	s->id = (uint32_t)report_string_of(k->sink.writer, text, len, most);
	s->len = s->id ? (uint32_t)len : 0;
	memcpy(s->text, text, len);
	return s->id;
}

static uint64_t text_id(struct kineto *k, const struct json_value *v, uint32_t most)
{
	if (v->kind == JSON_NONE)
		return 0;
	if (!v->escaped && v->len && v->len <= sizeof(k->said[0].text))
		return short_text(k, v->text, v->len, most);
	if (!v->escaped && v->len <= KINETO_MAX_TEXT)
		return report_string_of(k->sink.writer, v->text, v->len, most);
	kineto_cstr(k, v);
	return report_string_of(k->sink.writer, k->text.data, k->text.len, most);
}

uint64_t kineto_text(struct kineto *k, const struct json_value *v)
{
	return text_id(k, v, UINT32_MAX);
}

uint64_t kineto_name(struct kineto *k, const struct json_value *name)
{
	struct json_name *known = name->name ? &k->names[name->name - 1] : NULL;

	if (!known)
		return kineto_text(k, name);
	if (!known->tag)
		known->tag = kineto_text(k, name);
	return known->tag;
}

uint64_t kineto_argument_text(struct kineto *k, const struct json_value *v)
{
	return text_id(k, v, KINETO_MAX_TEXTS);
}

/* Where a member of an event goes; NULL: among the extras. */
static struct json_value *member_of(struct kineto_event *e, const struct json_value *key)
{
	if (json_equals(key, "ph"))
		return &e->phase;
	if (json_equals(key, "ts"))
		return &e->time;
	if (json_equals(key, "cat"))
		return &e->category;
	if (json_equals(key, "pid"))
		return &e->pid;
	if (json_equals(key, "tid"))
		return &e->tid;
	if (json_equals(key, "dur"))
		return &e->duration;
	return json_equals(key, "name") ? &e->name : NULL;
}

/* Their members are collected while they are read: most of a trace is arguments. */
static int read_args(struct kineto *k, struct kineto_event *e)
{
	const char *from;
	int r;

	e->members = NULL;
	if (json_peek(&k->json) != '{')
		return json_value(&k->json, &e->args);
	from = k->json.at;
	r = kineto_read_members(&k->json, &k->members);
	e->members = &k->members;
	e->args = (struct json_value){ .kind = JSON_OBJECT, .text = from, .len = (size_t)(k->json.at - from) };
	if (r == -ENOMEM)
		k->sink.result = r;
	return r;
}

static int read_member(struct kineto *k, struct kineto_event *e, const struct json_value *key)
{
	struct json_value value, *place = member_of(e, key);
	int r;

	if (!place && json_equals(key, "args"))
		return read_args(k, e);
	r = json_value(&k->json, place ? place : &value);
	if (place || r < 0)
		return r;
	if (e->extra_count < KINETO_MAX_EXTRAS)
		e->extras[e->extra_count++] = (struct kineto_member){ *key, value };
	else
		k->odd++;
	return 0;
}

/* 1: taken, 0: it is no event. Only what has a phase can be told from other objects. */
static int read_event(struct kineto *k, int with_phase)
{
	struct json_value key;
	struct kineto_event e;
	int first = 1, r;

	memset(&e, 0, offsetof(struct kineto_event, extras));
	e.extra_count = 0;
	k->resume = k->json.at + 1;
	while ((r = json_next_member(&k->json, &first, &key)) > 0) {
		r = read_member(k, &e, &key);
		if (r < 0)
			return r;
	}
	if (r < 0 || (with_phase && e.phase.kind != JSON_STRING))
		return r;
	kineto_event(k, &e);
	return 1;
}

static int read_element(struct kineto *k)
{
	struct json_value other;
	int r;

	source_release(k->json.source, k->json.at);
	switch (json_peek(&k->json)) {
	/* Chrome's own writer leaves a comma behind the last, and may leave out the bracket. */
	case ']': return 0;
	case '{': return read_event(k, 0);
	}
	k->resume = k->json.at;
	r = json_value(&k->json, &other);
	k->odd += r >= 0;
	return r;
}

static int read_events(struct kineto *k, int first)
{
	int r;

	while ((r = json_next_element(&k->json, &first)) > 0 && !k->sink.result) {
		r = read_element(k);
		if (r < 0)
			return r;
		k->resume = NULL;
	}
	return k->sink.result ? k->sink.result : r;
}

static void top_level(struct kineto *k, const struct json_value *key, const struct json_value *value)
{
	struct buf name = BUF_INIT;
	int64_t number;

	if (json_equals(key, "deviceProperties"))
		kineto_device_properties(k, value);
	if (json_equals(key, "baseTimeNanoseconds") && json_integer(value, &number) && number >= 0)
		k->base = number;
	buf_puts(&name, "trace.");
	buf_puts(&name, kineto_cstr(k, key));
	if (json_integer(value, &number))
		sink_meta_number(&k->sink, buf_cstr(&name), number);
	else
		sink_meta(&k->sink, buf_cstr(&name), kineto_cstr(k, value));
	buf_release(&name);
}

static int read_object(struct kineto *k, int first)
{
	struct json_value key, value;
	int r;

	while ((r = json_next_member(&k->json, &first, &key)) > 0 && !k->sink.result) {
		if (json_equals(&key, "traceEvents") && json_peek(&k->json) == '[') {
			r = read_events(k, 1);
		} else {
			r = json_value(&k->json, &value);
			if (r >= 0)
				top_level(k, &key, &value);
		}
		if (r < 0)
			return r;
		source_release(k->json.source, k->json.at);
	}
	return k->sink.result ? k->sink.result : r;
}

static int fail_kineto(struct kineto *k, const char *what)
{
	k->json.trouble = what;
	return -EBADMSG;
}

static int read_end(struct kineto *k)
{
	return json_peek(&k->json) ? fail_kineto(k, "the trace has an end, and text follows it") : 0;
}

static int read_from_begin(struct kineto *k)
{
	int first = json_peek(&k->json);

	k->in_object = first == '{';
	if (first != '{' && first != '[')
		return fail_kineto(k, "this is not a JSON object or array");
	TRY(first == '{' ? read_object(k, 1) : read_events(k, 1));
	return read_end(k);
}

static int read_on(struct kineto *k)
{
	TRY(read_events(k, 0));
	if (k->in_object)
		TRY(read_object(k, 0));
	return read_end(k);
}

/* The first member tells an event from most objects within one. */
static int looks_like_event(struct json *j)
{
	/* clang-format off */
	static const char *const members[] = { "ph", "name", "cat", "pid", "tid", "ts", "dur", "args", "id", "s", "bp",
					       "tts", "tdur", "sf", "cname", "id2", "bind_id" };
	/* clang-format on */
	const char *from = j->at;
	struct json_value key;
	int first = 1, found = 0, r = json_next_member(j, &first, &key);

	for (unsigned i = 0; r > 0 && i < COUNT_OF(members) && !found; i++)
		found = json_equals(&key, members[i]);
	j->at = from;
	j->trouble = NULL;
	return found;
}

/* The next brace, as the cursor's place; 0 where there is none. */
static int seek_brace(struct json *j)
{
	const char *brace;

	do {
		brace = memchr(j->at, '{', (size_t)(j->end - j->at));
		j->at = brace ? brace : j->end;
		source_release(j->source, j->at);
	} while (!brace && json_more(j));
	return brace != NULL;
}

/* Behind what is malformed: looks for an event that is not, and takes it. 0: there is none. */
static int resume(struct kineto *k)
{
	const char *brace;
	int r = 0;

	if (k->resume)
		k->json.at = k->resume;
	while (seek_brace(&k->json) && !k->sink.result) {
		brace = k->json.at;
		r = looks_like_event(&k->json) ? read_event(k, 1) : 0;
		if (r > 0)
			return r;
		k->json.at = brace + 1;
		k->json.trouble = NULL;
	}
	return k->sink.result;
}

static void note_trouble(struct kineto *k)
{
	struct kineto_result *ret = k->result;

	if (!ret->troubles++) {
		ret->trouble = k->json.trouble;
		ret->line = source_line(k->json.source, k->json.at);
		ret->offset = (size_t)(k->json.at - k->json.begin);
		ret->before = ret->events;
	}
	k->json.trouble = NULL;
}

static int read_trace(struct kineto *k)
{
	int r = read_from_begin(k);

	while (r == -EBADMSG && k->json.trouble && !k->sink.result) {
		note_trouble(k);
		r = resume(k);
		k->resume = NULL;
		if (r > 0)
			r = read_on(k);
	}
	return r;
}

/* Times without a base that lie this late (2001) are times since 1970. */
#define LEAST_UTC INT64_C(1000000000000000000)

static void put_trace_facts(struct kineto *k)
{
	const struct sink *s = &k->sink;
	int64_t start, first = s->first == INT64_MAX ? 0 : s->first;

	sink_meta(&k->sink, "sonde_version", SONDE_VERSION);
	sink_meta(&k->sink, "imported", "chrome-json");
	if ((k->base >= 0 || first >= LEAST_UTC) && !__builtin_add_overflow(k->base >= 0 ? k->base : 0, first, &start))
		sink_meta_number(&k->sink, "start_utc_ns", start);
	sink_meta_number(&k->sink, "session_start_raw_ns", first);
	if (s->last >= first)
		sink_meta_number(&k->sink, "duration_ns", s->last - first);
}

static void say_trouble(struct kineto *k)
{
	const struct kineto_result *r = k->result;

	sink_diagnose(&k->sink, 3,
		      "The trace is malformed in %llu places. The first: line %zu, byte %zu: %s. %llu events "
		      "before it and %llu behind it are in this report.",
		      (unsigned long long)r->troubles, r->line, r->offset, r->trouble, (unsigned long long)r->before,
		      (unsigned long long)(r->events - r->before));
}

static void release_kineto(struct kineto *k)
{
	/* clang-format off */
	struct keymap *const maps[] = { &k->pids, &k->place_keys, &k->stream_keys, &k->context_keys, &k->device_keys,
					&k->function_keys, &k->launch_keys, &k->counter_keys, &k->async_keys, &k->owner_keys };
	/* clang-format on */

	for (uint32_t i = 0; i < k->place_count; i++)
		free(k->places[i].open);
	for (unsigned i = 0; i < COUNT_OF(maps); i++)
		keymap_release(maps[i]);
	free(k->processes);
	free(k->places);
	free(k->streams);
	free(k->devices);
	free(k->counters);
	free(k->async_tracks);
	free(k->async);
	free(k->async_chains);
	free(k->calls);
	free(k->work);
	free(k->members.list);
	buf_release(&k->text);
	sink_release(&k->sink);
}

int kineto_import(struct source *source, struct report_writer *writer, struct kineto_result *ret, struct error *err)
{
	struct kineto k = { .base = -1, .first_launch = 1, .result = ret, .last_place = { UINT32_MAX, UINT32_MAX } };
	int r;

	*ret = (struct kineto_result){ 0 };
	sink_begin(&k.sink, writer);
	json_begin_source(&k.json, source);
	k.json.names = k.names;
	if (!k.sink.result)
		read_trace(&k);
	if (ret->trouble)
		say_trouble(&k);
	if (!k.sink.result) {
		kineto_events_finish(&k);
		kineto_places_finish(&k);
		put_trace_facts(&k);
		sink_finish(&k.sink);
	}
	r = k.sink.result;
	release_kineto(&k);
	if (r >= 0 && !ret->events && !ret->flows && !ret->names)
		return -ENODATA;
	if (r < 0)
		return error_set_errno(err, -r, "The report cannot be written");
	return 0;
}
