#include "record/gpu/gpu_clock.h"

#define WINDOW_NS 500000000
/* Timers of GPUs and CPUs are crystals: they differ by tens of parts per million. */
#define LARGEST_DRIFT 500e-6
/* A slope counts when its readings say it more precisely than this; until then the timers are taken to run alike. */
#define SLOPE_PRECISION 20e-6
/* However wrong the first readings were: time goes on, and not too fast. */
#define SLOWEST 0.5
#define FASTEST 2.0

static double clamp_within(double value, double low, double high)
{
	return value < low ? low : value > high ? high : value;
}

static int64_t convert(const struct gpu_clock *c, uint64_t ticks)
{
	return c->base_raw + (int64_t)((double)(int64_t)(ticks - c->base_ticks) * c->rate);
}

int64_t gpu_clock_raw(struct gpu_clock *c, uint64_t ticks)
{
	if ((int64_t)(ticks - c->last_ticks) > 0)
		c->last_ticks = ticks;
	return convert(c, ticks);
}

/* From the oldest reading that is kept to this one, where that is precise. */
static void measure_rate(struct gpu_clock *c, const struct gpu_reading *r)
{
	const struct gpu_reading *oldest = &c->kept[c->kept_count > GPU_CLOCK_HISTORY ? c->kept_count % GPU_CLOCK_HISTORY : 0];
	double span = (double)(int64_t)(r->ticks - oldest->ticks);

	if (span <= 0 || (double)(r->error + oldest->error) / span > SLOPE_PRECISION)
		return;
	c->true_rate = clamp_within((double)(r->raw - oldest->raw) / span, 1 - LARGEST_DRIFT, 1 + LARGEST_DRIFT);
}

/* What is wrong now is made good within the next window. */
static void steer(struct gpu_clock *c, const struct gpu_reading *r)
{
	uint64_t from = (int64_t)(c->last_ticks - r->ticks) > 0 ? c->last_ticks : r->ticks;
	int64_t current = convert(c, from);
	int64_t target = r->raw + (int64_t)((double)(int64_t)(from - r->ticks) * c->true_rate);

	c->base_raw = current;
	c->base_ticks = from;
	c->rate = clamp_within(c->true_rate + (double)(target - current) / WINDOW_NS, SLOWEST, FASTEST);
}

/* How wrong times are for certain, by this reading: what is beyond its bracket. */
static void compare_gpu_reading(struct gpu_clock *c, const struct gpu_reading *r)
{
	int64_t distance = convert(c, r->ticks) - r->raw;

	distance = (distance < 0 ? -distance : distance) - r->error / 2;
	if (distance > c->wrong)
		c->wrong = distance;
}

static void keep_gpu_reading(struct gpu_clock *c, const struct gpu_reading *r)
{
	if (r->error > c->widest)
		c->widest = r->error;
	c->kept[c->kept_count++ % GPU_CLOCK_HISTORY] = *r;
}

int64_t gpu_clock_error(const struct gpu_clock *c)
{
	return c->wrong + c->widest;
}

static void begin_gpu_clock(struct gpu_clock *c, const struct gpu_reading *r)
{
	/* clang-format off */
	*c = (struct gpu_clock){ .started = 1, .base_ticks = r->ticks, .base_raw = r->raw, .rate = 1, .true_rate = 1,
				 .last_ticks = r->ticks, .window_end = r->raw + WINDOW_NS };
	/* clang-format on */
	c->best.error = INT64_MAX;
	keep_gpu_reading(c, r);
}

int gpu_clock_add(struct gpu_clock *c, const struct gpu_reading *reading, struct gpu_reading *ret)
{
	if (!c->started) {
		begin_gpu_clock(c, reading);
		*ret = *reading;
		return 1;
	}
	compare_gpu_reading(c, reading);
	if (reading->raw < c->window_end || c->best.error == INT64_MAX) {
		if (reading->error <= c->best.error)
			c->best = *reading;
		return 0;
	}
	*ret = c->best;
	measure_rate(c, ret);
	keep_gpu_reading(c, ret);
	steer(c, ret);
	c->best = *reading;
	c->window_end = reading->raw + WINDOW_NS;
	return 1;
}
