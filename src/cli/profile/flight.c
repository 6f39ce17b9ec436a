#include "cli/profile/flight.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/macros.h"
#include "cli/profile/window.h"

#define SMALLEST_BYTES (16ull << 20)
#define LONGEST_SECONDS (30.0 * 86400)
#define LARGEST_BYTES 1e15

struct unit {
	const char *name;
	double seconds; /* or */
	double bytes;
};

/* clang-format off */
static const struct unit units[] = {
	{ "", 1, 0 }, { "s", 1, 0 }, { "m", 60, 0 }, { "min", 60, 0 }, { "h", 3600, 0 },
	{ "K", 0, 1024.0 }, { "M", 0, 1048576.0 }, { "G", 0, 1073741824.0 }, { "T", 0, 1099511627776.0 },
	{ "KB", 0, 1024.0 }, { "MB", 0, 1048576.0 }, { "GB", 0, 1073741824.0 }, { "TB", 0, 1099511627776.0 },
};
/* clang-format on */

static const struct unit *find_flight_unit(const char *name)
{
	for (size_t i = 0; i < COUNT_OF(units); i++)
		if (strcmp(units[i].name, name) == 0)
			return &units[i];
	return NULL;
}

static int fill_size(struct flight_options *flight, const char *text, struct error *err)
{
	char *end = NULL;
	double number = strtod(text, &end);
	const struct unit *unit = end == text || !isfinite(number) || number <= 0 ? NULL : find_flight_unit(end);

	if (!unit)
		return error_set(err, EINVAL, "--flight-recorder=%s is neither a time (30s, 5m, 1h) nor a size (500M, 2G).", text);
	flight->keep_ns = (int64_t)(fmin(number * unit->seconds, LONGEST_SECONDS) * 1e9);
	flight->keep_bytes = (uint64_t)fmin(number * unit->bytes, LARGEST_BYTES);
	if (unit->bytes > 0 && flight->keep_bytes < SMALLEST_BYTES)
		return error_set(err, EINVAL, "--flight-recorder=%s: the smallest size is 16M.", text);
	if (unit->seconds > 0 && flight->keep_ns < 1000000000)
		return error_set(err, EINVAL, "--flight-recorder=%s: the shortest time is 1 s.", text);
	return 0;
}

static int too_many(const char *option, struct error *err)
{
	return error_set(err, EINVAL, "--%s can be given %d times at most.", option, FLIGHT_NAMES);
}

static int fill_slow(struct flight_options *flight, const char *text, struct error *err)
{
	struct flight_slow *slow = &flight->slow[flight->slow_count];
	const char *colon = strrchr(text, ':');
	char *name, *end = NULL;
	int r;

	if (flight->slow_count == FLIGHT_NAMES)
		return too_many("trigger-slow", err);
	slow->factor = colon ? strtod(colon + 1, &end) : 0;
	if (!colon || end == colon + 1 || *end || !isfinite(slow->factor) || slow->factor < 1)
		return error_set(err, EINVAL, "--trigger-slow takes a range and a number of at least 1, such as step:3, not '%s'.", text);
	name = strndup(text, (size_t)(colon - text));
	r = name ? profile_nvtx_name(&slow->range, "trigger-slow", name, err) : error_set(err, ENOMEM, "Out of memory.");
	free(name);
	flight->slow_count += r == 0;
	return r;
}

static int fill_triggers(struct flight_options *flight, const struct profile_fields *fields, struct error *err)
{
	int r = 0;

	for (size_t i = 0; i < fields->trigger_marks.count && r == 0; i++) {
		if (i == FLIGHT_NAMES)
			return too_many("trigger-mark", err);
		r = profile_nvtx_name(&flight->marks[i], "trigger-mark", fields->trigger_marks.items[i], err);
		flight->mark_count += r == 0;
	}
	for (size_t i = 0; i < fields->trigger_slow.count && r == 0; i++)
		r = fill_slow(flight, fields->trigger_slow.items[i], err);
	return r;
}

static int without_recorder(const struct options_parsed *parsed, struct error *err)
{
	static const char *const names[] = { "trigger-mark", "trigger-slow", "trigger-max" };

	for (size_t i = 0; i < COUNT_OF(names); i++)
		if (options_find_use(parsed, names[i]))
			return error_set(err, EINVAL, "--%s requires --flight-recorder.", names[i]);
	return 0;
}

int profile_flight_fill(struct profile_options *o, const struct profile_fields *fields, const struct options_parsed *parsed,
			struct error *err)
{
	if (!fields->flight)
		return without_recorder(parsed, err);
	if (o->capture_range != CAPTURE_RANGE_NONE)
		return error_set(err, EINVAL, "--flight-recorder records all the time: it and --capture-range exclude each other.");
	if (fields->start_later)
		return error_set(err, EINVAL, "--flight-recorder records from the beginning: it and --start-later exclude each other.");
	o->flight.on = true;
	o->flight.trigger_max = fields->trigger_max;
	TRY(fill_size(&o->flight, fields->flight, err));
	TRY(fill_triggers(&o->flight, fields, err));
	if (o->flight.mark_count || o->flight.slow_count)
		o->trace |= TRACE_BIT(TRACE_NVTX);
	return 0;
}

void profile_flight_print(struct cli *cli, const struct record_result *result)
{
	fputs(result->notes, cli->err);
	if (result->finished)
		fprintf(cli->err, "Flight recorder: %s: %s; %.1f s, %" PRIu64 " events\n", result->path, result->reason,
			(double)result->covered_ns / 1e9, result->events);
	else if (!result->notes[0])
		fprintf(cli->err, "Flight recorder: %s; 'sonde stop' writes a report and continues\n", result->reason);
	fflush(cli->err);
}
