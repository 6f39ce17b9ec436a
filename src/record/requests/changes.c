/* Requests to a session: whether one makes sense, and what it changes. */
#include <stdio.h>
#include <string.h>

#include "record/requests/requests.h"

static int is_request_text(const char *text, size_t size)
{
	return memchr(text, '\0', size) != NULL;
}

static int is_schedule(const struct schedule *s)
{
	return s->skip_first <= SCHEDULE_MAX && s->wait <= SCHEDULE_MAX && s->warmup <= SCHEDULE_MAX && s->active &&
	       s->active <= SCHEDULE_MAX && s->repeat <= SCHEDULE_MAX && s->skip_first_wait <= SCHEDULE_MAX;
}

static int is_range(const struct steer_capture *c)
{
	switch (c->range) {
	case CAPTURE_RANGE_NONE:
	case CAPTURE_RANGE_CUDA_PROFILER: return 1;
	case CAPTURE_RANGE_NVTX: return c->range_name[0] != '\0';
	case CAPTURE_RANGE_SCHEDULE: return c->range_name[0] && is_schedule(&c->schedule);
	default: return 0;
	}
}

static int is_value(enum option_type type, int64_t value)
{
	int64_t most = type == OPTION_BOOL ? 1 : type == OPTION_CHOICE ? INT32_MAX : type == OPTION_SECONDS ? STEER_LONGEST_NS : INT64_MAX;

	return value >= 0 && value <= most;
}

static int are_values(const int64_t *values)
{
	int all = values[STEER_sample] <= SCOPE_NONE && values[STEER_switches] <= SCOPE_NONE;

#define CHECK_VALUE(type, field, ...) all &= is_value(OPTION_##type, values[STEER_##field]);
#define CPU_START CHECK_VALUE
#define CUDA_START CHECK_VALUE
#define RUN_START CHECK_VALUE
#include "record/profile_options.def"
	return all;
}

static int makes_sense(const struct steer_capture *c)
{
	if (c->given & ~(uint32_t)STEER_GIVEN_ALL || c->end > CAPTURE_END_STOP_SHUTDOWN || !are_values(c->values))
		return 0;
	if (!is_request_text(c->range_name, sizeof(c->range_name)) || !is_request_text(c->domain_name, sizeof(c->domain_name)))
		return 0;
	if (c->given & STEER_GIVEN_END && !c->repeats)
		return 0;
	return !(c->given & STEER_GIVEN_RANGE) || is_range(c);
}

int steer_request_check(const struct steer_request *request, size_t size)
{
	if (size != sizeof(*request) || request->magic != STEER_MAGIC)
		return 0;
	if (!is_request_text(request->output, sizeof(request->output)))
		return 0;
	if (request->signal < 0 || request->signal > 64 || request->keep_ns < 0 || request->keep_ns > STEER_LONGEST_NS)
		return 0;
	return request->command != STEER_START || (request->output[0] == '/' && makes_sense(&request->capture));
}

static void apply_range(const struct steer_capture *c, struct profile_options *o)
{
	o->capture_range = (enum capture_range)c->range;
	if (!c->range_name[0])
		return;
	o->schedule = c->schedule;
	snprintf(o->nvtx_capture.range, sizeof(o->nvtx_capture.range), "%s", c->range_name);
	snprintf(o->nvtx_capture.domain, sizeof(o->nvtx_capture.domain), "%s", c->domain_name);
	o->nvtx_capture.any_domain = c->any_domain != 0;
}

void steer_capture_apply(const struct steer_capture *c, struct profile_options *o)
{
	if (c->given & STEER_GIVEN_RANGE)
		apply_range(c, o);
	if (c->given & STEER_GIVEN_END) {
		o->capture_end = (enum capture_end)c->end;
		o->capture_repeats = c->repeats;
	}
#define TAKE(to, field) \
	if (c->given & STEER_GIVEN(STEER_##field)) \
		o->to = c->values[STEER_##field];
#define CPU_START(type, field, ...) TAKE(cpu.field, field)
#define CUDA_START(type, field, ...) TAKE(cuda.field, field)
#define RUN_START(type, field, ...) TAKE(field, field)
#include "record/profile_options.def"
}
