#include "ingest/kineto_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int kineto_room(struct kineto *k, void *array, uint32_t count, size_t size)
{
	void **place = array, *grown;

	if (count && (count < 16 || count & (count - 1)))
		return 0;
	grown = reallocarray(*place, count ? (size_t)count * 2 : 16, size);
	if (!grown) {
		k->sink.result = -ENOMEM;
		return -ENOMEM;
	}
	*place = grown;
	return 0;
}

const char *kineto_cstr(struct kineto *k, const struct json_value *v)
{
	buf_clear(&k->text);
	if (buf_reserve(&k->text, v->len + 8) < 0) {
		k->sink.result = -ENOMEM;
		return "";
	}
	if (v->escaped)
		k->text.len = json_unescape(v, k->text.data, v->len + 1);
	else if (v->len)
		buf_append(&k->text, v->text, v->len);
	return buf_cstr(&k->text);
}

uint64_t kineto_text(struct kineto *k, const struct json_value *v)
{
	if (v->kind == JSON_NONE)
		return 0;
	if (!v->escaped)
		return report_string(k->sink.writer, v->text, v->len);
	kineto_cstr(k, v);
	return report_string(k->sink.writer, k->text.data, k->text.len);
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

static int read_event(struct kineto *k)
{
	struct json_value key;
	struct kineto_event e;
	int first = 1, r;

	memset(&e, 0, offsetof(struct kineto_event, extras));
	e.extra_count = 0;
	while ((r = json_next_member(&k->json, &first, &key)) > 0) {
		r = read_member(k, &e, &key);
		if (r < 0)
			return r;
	}
	if (r == 0)
		kineto_event(k, &e);
	return r;
}

static int read_events(struct kineto *k)
{
	struct json_value other;
	int first = 1, r;

	while ((r = json_next_element(&k->json, &first)) > 0 && !k->sink.result) {
		/* Chrome's own writer leaves a comma behind the last, and may leave out the bracket. */
		if (json_peek(&k->json) == ']')
			continue;
		if (json_peek(&k->json) == '{') {
			r = read_event(k);
		} else {
			r = json_value(&k->json, &other);
			k->odd += r >= 0;
		}
		if (r < 0)
			return r;
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

static int read_object(struct kineto *k)
{
	struct json_value key, value;
	int first = 1, r;

	while ((r = json_next_member(&k->json, &first, &key)) > 0 && !k->sink.result) {
		if (json_equals(&key, "traceEvents") && json_peek(&k->json) == '[') {
			r = read_events(k);
		} else {
			r = json_value(&k->json, &value);
			if (r >= 0)
				top_level(k, &key, &value);
		}
		if (r < 0)
			return r;
	}
	return r;
}

static int read_trace(struct kineto *k)
{
	int r;

	switch (json_peek(&k->json)) {
	case '{': r = read_object(k); break;
	case '[': r = read_events(k); break;
	default:
		k->json.trouble = "this is no JSON object or array";
		return -EBADMSG;
	}
	if (r == 0 && json_peek(&k->json)) {
		k->json.trouble = "there is more behind the end of the trace";
		return -EBADMSG;
	}
	return r;
}

/* Times without a base that lie this late (2001) are times since 1970. */
#define LEAST_UTC INT64_C(1000000000000000000)

static void facts(struct kineto *k)
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

static void say_trouble(struct kineto *k, struct kineto_result *ret)
{
	ret->trouble = k->json.trouble;
	ret->line = json_line(&k->json, k->json.at);
	ret->offset = (size_t)(k->json.at - k->json.begin);
	sink_diagnose(&k->sink, 3, "Line %zu, byte %zu: %s. What comes before is in this report, the rest is not.",
		      ret->line, ret->offset, ret->trouble);
}

static void release(struct kineto *k)
{
	struct keymap *const maps[] = { &k->pids, &k->place_keys, &k->stream_keys, &k->context_keys, &k->device_keys,
					&k->function_keys, &k->launch_keys, &k->counter_keys };

	for (uint32_t i = 0; i < k->place_count; i++)
		free(k->places[i].open);
	for (unsigned i = 0; i < sizeof(maps) / sizeof(maps[0]); i++)
		keymap_release(maps[i]);
	free(k->processes);
	free(k->places);
	free(k->streams);
	free(k->devices);
	free(k->counters);
	free(k->members.list);
	buf_release(&k->text);
	sink_release(&k->sink);
}

int kineto_import(const char *text, size_t len, struct report_writer *writer, struct kineto_result *ret,
		  struct error *err)
{
	struct kineto k = { .base = -1, .result = ret };
	int r;

	*ret = (struct kineto_result){ 0 };
	sink_begin(&k.sink, writer);
	json_begin(&k.json, text, len);
	r = read_trace(&k);
	if (r < 0 && k.json.trouble && !k.sink.result)
		say_trouble(&k, ret);
	if (!k.sink.result) {
		kineto_events_finish(&k);
		kineto_places_finish(&k);
		facts(&k);
		sink_finish(&k.sink);
	}
	r = k.sink.result;
	release(&k);
	if (r < 0)
		return error_set_errno(err, -r, "The report cannot be written");
	return 0;
}
