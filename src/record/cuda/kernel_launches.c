/* Where kernels whose counters are read were launched: NVTX ranges, stacks, processes. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "fmt/kernel_wire.h"
#include "record/stacks/call_stack.h"
#include "record/cuda/internal.h"
#include "record/stacks/stacks.h"

#define MOST_TOGETHER 32u

static uint64_t new_result(struct cuda_decoder *d, uint32_t number)
{
	struct cuda_session *all = cuda_session(d->s);

	if (!all || d->c->kernels.count >= CUDA_MAX_IDS || idmap_put(&d->c->kernels, number, all->next_kernel + 1) < 0)
		return 0;
	return ++all->next_kernel;
}

/* In the order of the launches, also where of those that are read together a later one is heard of first. */
uint64_t cuda_kernel_result(struct cuda_decoder *d, uint32_t number)
{
	uint64_t result = idmap_get(&d->c->kernels, number);

	if (result != IDMAP_NONE)
		return result;
	for (uint32_t n = number < MOST_TOGETHER ? 0 : number - MOST_TOGETHER; n < number; n++)
		if (idmap_get(&d->c->kernels, n) == IDMAP_NONE && !new_result(d, n))
			return 0;
	return new_result(d, number);
}

static void begin_row(int64_t *v, uint32_t *present, uint64_t result, enum kernel_metric_kind kind)
{
	memset(v, 0, TABLE_MAX_COLUMNS * sizeof(*v));
	v[COLUMN_KERNEL_METRIC_RESULT] = (int64_t)result;
	v[COLUMN_KERNEL_METRIC_KIND] = kind;
	*present = BIT(COLUMN_KERNEL_METRIC_RESULT) | BIT(COLUMN_KERNEL_METRIC_KIND);
}

static void put_launch_string(struct session *s, int64_t *v, uint32_t *present, unsigned column, const char *text, size_t size)
{
	v[column] = (int64_t)report_string(s->writer, text, size);
	*present |= BIT(column);
}

/* The domain, a NUL and the name. */
static void range_row(struct cuda_decoder *d, const struct traced_thread *t, uint64_t result, const struct record_kernel_place *place,
		      const char *text, size_t size)
{
	size_t domain = strnlen(text, size);
	int is_pushed = record_flags(place->head) == KERNEL_PLACE_PUSHED;
	int64_t v[TABLE_MAX_COLUMNS];
	uint32_t present;
	char color[12];

	begin_row(v, &present, result, is_pushed ? KERNEL_METRIC_PUSHED : KERNEL_METRIC_STARTED);
	if (domain)
		put_launch_string(d->s, v, &present, COLUMN_KERNEL_METRIC_NAME, text, domain);
	if (domain < size)
		put_launch_string(d->s, v, &present, COLUMN_KERNEL_METRIC_TEXT, text + domain + 1, size - domain - 1);
	v[COLUMN_KERNEL_METRIC_INSTANCE] = d->c->kernel_ranges++;
	present |= BIT(COLUMN_KERNEL_METRIC_INSTANCE);
	if (is_pushed) {
		v[COLUMN_KERNEL_METRIC_INTEGER] = t->tid;
		present |= BIT(COLUMN_KERNEL_METRIC_INTEGER);
	}
	snprintf(color, sizeof(color), "0x%08x", place->color);
	if (place->color)
		put_launch_string(d->s, v, &present, COLUMN_KERNEL_METRIC_LABEL, color, strlen(color));
	session_row(d->s, TABLE_KERNEL_METRIC, v, present);
}

/* The function, a NUL and the file. */
static void python_row(struct cuda_decoder *d, uint64_t result, const struct record_kernel_place *place, const char *text, size_t size)
{
	size_t function = strnlen(text, size);
	int64_t v[TABLE_MAX_COLUMNS];
	uint32_t present;

	begin_row(v, &present, result, KERNEL_METRIC_PYTHON);
	put_launch_string(d->s, v, &present, COLUMN_KERNEL_METRIC_NAME, text, function);
	if (function < size)
		put_launch_string(d->s, v, &present, COLUMN_KERNEL_METRIC_TEXT, text + function + 1, size - function - 1);
	v[COLUMN_KERNEL_METRIC_INSTANCE] = d->c->kernel_ranges++;
	v[COLUMN_KERNEL_METRIC_INTEGER] = place->color;
	session_row(d->s, TABLE_KERNEL_METRIC, v, present | BIT(COLUMN_KERNEL_METRIC_INSTANCE) | BIT(COLUMN_KERNEL_METRIC_INTEGER));
}

static void number_row(struct cuda_decoder *d, uint64_t result, enum kernel_metric_kind kind, uint32_t number)
{
	int64_t v[TABLE_MAX_COLUMNS];
	uint32_t present;

	begin_row(v, &present, result, kind);
	v[COLUMN_KERNEL_METRIC_INTEGER] = number;
	session_row(d->s, TABLE_KERNEL_METRIC, v, present | BIT(COLUMN_KERNEL_METRIC_INTEGER));
}

static void stack_row(struct cuda_decoder *d, struct traced_thread *t, uint64_t result, uint64_t ticks)
{
	uint64_t stack = call_stack_take(d->s, d->p, t, ticks, STACK_MAX_FRAMES);
	int64_t v[TABLE_MAX_COLUMNS];
	uint32_t present;

	if (!stack)
		return;
	begin_row(v, &present, result, KERNEL_METRIC_STACK);
	v[COLUMN_KERNEL_METRIC_INTEGER] = (int64_t)stack;
	session_row(d->s, TABLE_KERNEL_METRIC, v, present | BIT(COLUMN_KERNEL_METRIC_INTEGER));
}

/* Where there is no room for another reason, the last counts for it. */
static void left_alone(struct cuda_process *c, const char *why, size_t size)
{
	struct cuda_left_alone *all = c->left_alone;
	char text[sizeof(all->why)];
	size_t i = 0;

	snprintf(text, sizeof(text), "%.*s", (int)(size < sizeof(text) ? size : sizeof(text) - 1), why);
	while (i < CUDA_MOST_REASONS - 1 && all[i].why[0] && strcmp(all[i].why, text) != 0)
		i++;
	if (!all[i].why[0])
		snprintf(all[i].why, sizeof(all[i].why), "%s", text);
	all[i].launches++;
}

int cuda_kernel_place(struct session *s, struct traced_process *p, struct traced_thread *t, const uint8_t *bytes, uint32_t size)
{
	struct cuda_decoder d = { s, p, cuda_of(p) };
	const char *text = (const char *)bytes + sizeof(struct record_kernel_place);
	struct record_kernel_place place;
	uint64_t result;

	if (!d.c)
		return -ENOMEM;
	if (size < sizeof(place))
		return -EBADMSG;
	memcpy(&place, bytes, sizeof(place));
	size -= (uint32_t)sizeof(place);
	if (record_flags(place.head) == KERNEL_PLACE_PROCESS) {
		cuda_kernel_connect(s, p);
		return 0;
	}
	if (record_flags(place.head) > KERNEL_PLACE_RANGE)
		return -EBADMSG;
	if (record_flags(place.head) == KERNEL_PLACE_GRAPH) {
		left_alone(d.c, text, size);
		return 0;
	}
	result = cuda_kernel_result(&d, place.number);
	if (!result)
		return -ENOMEM;
	if (record_flags(place.head) == KERNEL_PLACE_STACK)
		stack_row(&d, t, result, place.time);
	else if (record_flags(place.head) == KERNEL_PLACE_PYTHON)
		python_row(&d, result, &place, text, size);
	else if (record_flags(place.head) >= KERNEL_PLACE_BETWEEN)
		number_row(&d, result, record_flags(place.head) == KERNEL_PLACE_BETWEEN ? KERNEL_METRIC_BETWEEN : KERNEL_METRIC_RANGE,
			   place.color);
	else
		range_row(&d, t, result, &place, text, size);
	return 0;
}
