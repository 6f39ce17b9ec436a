#include "record/step_schedule.h"

static uint64_t cycle_length(const struct schedule *s)
{
	return s->wait + s->warmup + s->active;
}

/* Steps since the first cycle began, or would have begun had it its wait. */
static uint64_t since_first(const struct schedule *s, uint64_t step)
{
	return step - s->skip_first + (s->skip_first_wait ? s->wait : 0);
}

enum schedule_phase schedule_phase(const struct schedule *s, uint64_t step, uint64_t *ret_cycle)
{
	uint64_t at;

	*ret_cycle = 0;
	if (step < s->skip_first)
		return SCHEDULE_OFF;
	at = since_first(s, step);
	*ret_cycle = at / cycle_length(s);
	if (s->repeat && *ret_cycle >= s->repeat)
		return SCHEDULE_OFF;
	at %= cycle_length(s);
	if (at < s->wait)
		return SCHEDULE_OFF;
	return at < s->wait + s->warmup ? SCHEDULE_WARM : SCHEDULE_ACTIVE;
}

uint64_t schedule_next(const struct schedule *s, uint64_t step)
{
	uint64_t at, into;

	if (step < s->skip_first)
		return s->skip_first;
	at = since_first(s, step);
	if (s->repeat && at / cycle_length(s) >= s->repeat)
		return UINT64_MAX;
	into = at % cycle_length(s);
	if (into < s->wait)
		return step + (s->wait - into);
	if (into < s->wait + s->warmup)
		return step + (s->wait + s->warmup - into);
	return step + (cycle_length(s) - into);
}

uint64_t schedule_first_active(const struct schedule *s)
{
	return s->skip_first + (s->skip_first_wait ? 0 : s->wait) + s->warmup;
}
