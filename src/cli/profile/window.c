#include "cli/profile/window.h"

#include <ctype.h>
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/macros.h"

/* Places in the values of --capture-range in table.c. */
enum { RANGE_NONE, RANGE_CUDA_PROFILER, RANGE_HOTKEY, RANGE_NVTX };

/* Where the domain's @ is, or NULL. */
static const char *divider(const char *text)
{
	const char *found = NULL;

	for (; *text; text++) {
		if (text[0] == '\\' && text[1] == '@')
			text++;
		else if (*text == '@')
			found = text;
	}
	return found;
}

/* Without the backslashes of "\@". */
static int unescape(char *to, size_t room, const char *text, const char *end)
{
	size_t size = 0;

	for (; text < end; text++) {
		if (text[0] == '\\' && text + 1 < end && text[1] == '@')
			text++;
		if (size + 1 >= room)
			return -1;
		to[size++] = *text;
	}
	to[size] = '\0';
	return 0;
}

int profile_nvtx_name(struct nvtx_capture *capture, const char *option, const char *text, struct error *err)
{
	const char *at = divider(text), *end = text + strlen(text);

	capture->any_domain = at && strcmp(at, "@*") == 0;
	if (unescape(capture->range, sizeof(capture->range), text, at ? at : end) < 0 ||
	    (at && !capture->any_domain && unescape(capture->domain, sizeof(capture->domain), at + 1, end) < 0))
		return error_set(err, EINVAL, "--%s: a range may have %u bytes and a domain %u.", option, RING_NVTX_RANGE,
				 RING_NVTX_DOMAIN);
	if (!capture->range[0])
		return error_set(err, EINVAL, "--%s=%s names no range.", option, text);
	return 0;
}

/* NVTX is recorded then, asked for or not: the range is part of the report. */
static int fill_range(struct profile_options *o, enum capture_range kind, const char *option, const char *text, struct error *err)
{
	o->capture_range = kind;
	o->trace |= TRACE_BIT(TRACE_NVTX);
	return profile_nvtx_name(&o->nvtx_capture, option, text, err);
}

static const struct schedule_key {
	const char *name;
	size_t offset;
} schedule_keys[] = {
	{ "skip_first", offsetof(struct schedule, skip_first) }, { "wait", offsetof(struct schedule, wait) },
	{ "warmup", offsetof(struct schedule, warmup) },         { "active", offsetof(struct schedule, active) },
	{ "repeat", offsetof(struct schedule, repeat) },         { "skip_first_wait", offsetof(struct schedule, skip_first_wait) },
};
#define SCHEDULE_KEYS COUNT_OF(schedule_keys)
#define SCHEDULE_FORM "skip_first=N,wait=N,warmup=N,active=N,repeat=N,skip_first_wait=N"

static const struct schedule_key *find_key(const char *text, size_t length)
{
	for (size_t i = 0; i < SCHEDULE_KEYS; i++)
		if (strlen(schedule_keys[i].name) == length && memcmp(schedule_keys[i].name, text, length) == 0)
			return &schedule_keys[i];
	return NULL;
}

/* Digits and nothing else; -1 where it is no number or too large. */
static int64_t whole_number(const char *text, size_t length)
{
	uint64_t value = 0;

	for (size_t i = 0; i < length; i++) {
		if (!isdigit((unsigned char)text[i]))
			return -1;
		value = value * 10 + (uint64_t)(text[i] - '0');
		if (value > SCHEDULE_MAX)
			return -1;
	}
	return length ? (int64_t)value : -1;
}

/* One "key=N". */
static int read_key(struct schedule *schedule, const char *piece, size_t length, struct error *err)
{
	const char *equals = memchr(piece, '=', length);
	const struct schedule_key *key = find_key(piece, equals ? (size_t)(equals - piece) : length);
	int64_t value = -1;

	if (!key)
		return error_set(err, EINVAL, "--schedule does not take '%.*s'; it takes " SCHEDULE_FORM ".", (int)length, piece);
	if (equals)
		value = whole_number(equals + 1, length - (size_t)(equals + 1 - piece));
	if (value < 0)
		return error_set(err, EINVAL, "--schedule: %s takes a number from 0 to %u, not '%.*s'.", key->name, SCHEDULE_MAX,
				 equals ? (int)(length - (size_t)(equals + 1 - piece)) : 0, equals ? equals + 1 : "");
	*(uint64_t *)(void *)((char *)schedule + key->offset) = (uint64_t)value;
	return 0;
}

int profile_schedule(struct schedule *ret, const char *text, struct error *err)
{
	size_t length;

	*ret = (struct schedule){ 0 };
	for (; *text; text += length + (text[length] == ',')) {
		length = strcspn(text, ",");
		TRY(read_key(ret, text, length, err));
	}
	if (!ret->active)
		return error_set(err, EINVAL,
				 "--schedule requires active=N, the steps recorded in each cycle, at least 1: " SCHEDULE_FORM ".");
	return 0;
}

static int fill_schedule(struct profile_options *o, const struct profile_fields *fields, struct error *err)
{
	TRY(profile_schedule(&o->schedule, fields->schedule, err));
	if (fields->capture_range != RANGE_NONE)
		return error_set(err, EINVAL, "--schedule and --capture-range exclude each other.");
	if (strcmp(fields->capture_end, "stop") != 0 && strcmp(fields->capture_end, "stop-shutdown") != 0)
		return error_set(err, EINVAL,
				 "With --schedule, --capture-range-end takes stop or stop-shutdown; its repeat=N says how often it "
				 "records.");
	if (fields->trace & TRACE_NONE_BIT)
		return error_set(err, EINVAL, "--schedule counts NVTX ranges; --trace=none excludes them.");
	return fill_range(o, CAPTURE_RANGE_SCHEDULE, "step-range", fields->step_range ? fields->step_range : "step", err);
}

static int fill_nvtx(struct profile_options *o, const char *range, struct error *err)
{
	if (!range || !*range)
		return error_set(err, EINVAL,
				 "--capture-range=nvtx requires the range that it waits for: "
				 "--nvtx-capture=range@domain.");
	return fill_range(o, CAPTURE_RANGE_NVTX, "nvtx-capture", range, err);
}

static int fill_end(struct profile_options *o, const char *end, struct error *err)
{
	const char *colon = strchr(end, ':');
	long long repeats = colon ? strtoll(colon + 1, NULL, 10) : 1;

	if (strcmp(end, "none") == 0)
		o->capture_end = CAPTURE_END_NONE;
	else if (strcmp(end, "stop") == 0 || strncmp(end, "repeat:", 7) == 0 || strcmp(end, "repeat") == 0)
		o->capture_end = CAPTURE_END_STOP;
	else
		o->capture_end = CAPTURE_END_STOP_SHUTDOWN;
	if (strcmp(end, "repeat") == 0)
		repeats = UINT32_MAX;
	if (repeats < 1 || repeats > UINT32_MAX)
		return error_set(err, EINVAL, "--capture-range-end=%s: the number must be 1 or more.", end);
	o->capture_repeats = (uint32_t)repeats;
	return 0;
}

static void fill_hotkey(struct profile_options *o, int key)
{
	static const char *const names[] = { "F1", "F2", "F3", "F4", "F5", "F6", "F7", "F8", "F9", "F10", "F11", "F12" };

	o->capture_range = CAPTURE_RANGE_HOTKEY;
	o->hotkey = names[key];
	o->key_fd = -1;
}

int profile_window_fill(struct profile_options *o, const struct profile_fields *fields, struct error *err)
{
	TRY(fill_end(o, fields->capture_end, err));
	if (fields->schedule)
		return fill_schedule(o, fields, err);
	if (fields->capture_range == RANGE_NVTX)
		return fill_nvtx(o, fields->nvtx_capture, err);
	if (fields->capture_range == RANGE_CUDA_PROFILER)
		o->capture_range = CAPTURE_RANGE_CUDA_PROFILER;
	if (fields->capture_range == RANGE_HOTKEY)
		fill_hotkey(o, fields->hotkey);
	return 0;
}

int profile_window_notes(const struct profile_fields *fields, const struct options_parsed *parsed, struct string_list *notes)
{
	int r = 0;

	if (fields->nvtx_capture && fields->capture_range != RANGE_NVTX)
		r = string_list_addf(notes, "--nvtx-capture requires --capture-range=nvtx");
	if (r >= 0 && fields->capture_range != RANGE_HOTKEY && options_find_use(parsed, "hotkey-capture"))
		r = string_list_addf(notes, "--hotkey-capture requires --capture-range=hotkey");
	if (r >= 0 && fields->step_range && !fields->schedule)
		r = string_list_addf(notes, "--step-range requires --schedule");
	if (r >= 0 && fields->capture_range != RANGE_NONE && strncmp(fields->capture_end, "repeat", 6) == 0)
		r = string_list_addf(notes, "--capture-range-end=%s: all ranges go into one report", fields->capture_end);
	return r;
}
