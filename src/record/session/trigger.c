#include "record/session/trigger.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "record/session/session.h"

#define CHECK_NS 100000000ll
/* One that is merely slow may still end, so that the report has all of it. */
#define HANG_NS 1000000000ll
#define RENEW_NS (PASSING_SECONDS * 1000000000ll / 5)

static void name_begin(struct session *s, struct trigger_name *name, const struct nvtx_capture *wanted)
{
	name->wanted = wanted;
	name->ids[name->id_count++] = report_string(s->writer, wanted->range, strlen(wanted->range));
}

struct triggers *triggers_new(struct session *s, const struct flight_options *o, int fd)
{
	struct triggers *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	t->fd = fd;
	t->mark_count = o->mark_count;
	t->slow_count = o->slow_count;
	for (uint32_t i = 0; i < o->mark_count; i++)
		name_begin(s, &t->marks[i], &o->marks[i]);
	for (uint32_t i = 0; i < o->slow_count; i++) {
		name_begin(s, &t->slow[i].name, &o->slow[i].range);
		t->slow[i].factor = o->slow[i].factor;
	}
	return t;
}

void triggers_free(struct triggers *t)
{
	for (uint32_t i = 0; t && i < t->mark_count; i++)
		idmap_release(&t->marks[i].domains);
	for (uint32_t i = 0; t && i < t->slow_count; i++)
		idmap_release(&t->slow[i].name.domains);
	free(t);
}

static int is_trigger_text(const char *wanted, const char *text, size_t size)
{
	size_t length = strnlen(text, size);

	return strlen(wanted) == length && memcmp(wanted, text, length) == 0;
}

static void learn_string(struct trigger_name *name, uint64_t id, const char *text, size_t size)
{
	if (name->id_count < TRIGGER_IDS && is_trigger_text(name->wanted->range, text, size))
		name->ids[name->id_count++] = id;
}

void trigger_string(struct session *s, uint64_t id, const char *text, size_t size)
{
	struct triggers *t = s->triggers;

	for (uint32_t i = 0; i < t->mark_count; i++)
		learn_string(&t->marks[i], id, text, size);
	for (uint32_t i = 0; i < t->slow_count; i++)
		learn_string(&t->slow[i].name, id, text, size);
}

static void learn_domain(struct trigger_name *name, uint64_t uid, const char *text, size_t size)
{
	if (name->wanted->domain[0] && is_trigger_text(name->wanted->domain, text, size))
		idmap_put(&name->domains, uid, 1);
}

void trigger_domain(struct session *s, uint64_t uid, const char *text, size_t size)
{
	struct triggers *t = s->triggers;

	for (uint32_t i = 0; i < t->mark_count; i++)
		learn_domain(&t->marks[i], uid, text, size);
	for (uint32_t i = 0; i < t->slow_count; i++)
		learn_domain(&t->slow[i].name, uid, text, size);
}

static int is_trigger_range(const struct trigger_name *name, uint64_t domain, uint64_t id)
{
	uint32_t i = 0;

	while (i < name->id_count && name->ids[i] != id)
		i++;
	if (i == name->id_count)
		return 0;
	if (name->wanted->any_domain)
		return 1;
	return name->wanted->domain[0] ? idmap_get(&name->domains, domain) != IDMAP_NONE : domain == 0;
}

/* What led to it must not be dropped before the other thread has a processor. */
static void pull(struct session *s, const struct trigger_message *message)
{
	atomic_store(&s->keep_all, 1);
	if (write(s->triggers->fd, message, sizeof(*message)) < 0)
		s->triggers->unheard++;
}

void trigger_mark(struct session *s, uint64_t domain, uint64_t name, int64_t time)
{
	struct triggers *t = s->triggers;
	struct trigger_message message = { .kind = TRIGGER_MARK, .time = time };

	for (uint32_t i = 0; i < t->mark_count; i++) {
		if (!is_trigger_range(&t->marks[i], domain, name))
			continue;
		snprintf(message.text, sizeof(message.text), "the mark '%.200s'", t->marks[i].wanted->range);
		pull(s, &message);
	}
}

int64_t trigger_median(const struct trigger_slow *slow)
{
	return slow->count < TRIGGER_FEWEST ? 0 : slow->sorted[slow->count / 2];
}

/* The first place whose value is not less. */
static uint32_t find_slow_position(const struct trigger_slow *slow, int64_t duration)
{
	uint32_t low = 0, high = slow->count;

	while (low < high) {
		uint32_t middle = (low + high) / 2;

		if (slow->sorted[middle] < duration)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

void trigger_add_duration(struct trigger_slow *slow, int64_t duration)
{
	uint32_t at;

	if (slow->count == TRIGGER_DURATIONS) {
		at = find_slow_position(slow, slow->recent[slow->next]);
		slow->count--;
		memmove(slow->sorted + at, slow->sorted + at + 1, (slow->count - at) * sizeof(int64_t));
	}
	at = find_slow_position(slow, duration);
	memmove(slow->sorted + at + 1, slow->sorted + at, (slow->count - at) * sizeof(int64_t));
	slow->sorted[at] = duration;
	slow->count++;
	slow->recent[slow->next] = duration;
	slow->next = (slow->next + 1) % TRIGGER_DURATIONS;
}

static int is_slow(const struct trigger_slow *slow, int64_t duration)
{
	int64_t median = trigger_median(slow);

	return median > 0 && (double)duration > slow->factor * (double)median;
}

static void report_slow(struct session *s, const struct trigger_slow *slow, int64_t duration, int64_t time, const char *what)
{
	struct trigger_message message = { .kind = TRIGGER_SLOW, .time = time };
	double median = (double)trigger_median(slow);

	snprintf(message.text, sizeof(message.text), "'%.120s' %s %.3f ms, %.1f times its median of %.3f ms", slow->name.wanted->range,
		 what, (double)duration / 1e6, (double)duration / median, median / 1e6);
	pull(s, &message);
}

void trigger_range(struct session *s, uint64_t domain, uint64_t name, int64_t start, int64_t end, int reported)
{
	struct triggers *t = s->triggers;

	for (uint32_t i = 0; i < t->slow_count; i++) {
		struct trigger_slow *slow = &t->slow[i];

		if (!is_trigger_range(&slow->name, domain, name))
			continue;
		if (!reported && is_slow(slow, end - start))
			report_slow(s, slow, end - start, end, "took");
		trigger_add_duration(slow, end - start);
	}
}

static int is_hanging(const struct trigger_slow *slow, int64_t lasted)
{
	int64_t median = trigger_median(slow);

	return is_slow(slow, lasted - (median > HANG_NS ? median : HANG_NS));
}

/* Returns whether a report was asked for. */
static uint8_t check_one(struct session *s, uint64_t domain, uint64_t name, int64_t start, int64_t time)
{
	struct triggers *t = s->triggers;
	int reported = 0;

	for (uint32_t i = 0; i < t->slow_count; i++) {
		struct trigger_slow *slow = &t->slow[i];

		if (!is_trigger_range(&slow->name, domain, name) || !is_hanging(slow, time - start))
			continue;
		report_slow(s, slow, time - start, time, "has lasted");
		reported = 1;
	}
	return (uint8_t)reported;
}

static void check_domain(struct session *s, struct domain_state *d, int64_t time)
{
	for (uint32_t i = 0; i < d->depth; i++)
		if (!d->open[i].hang_reported)
			d->open[i].hang_reported = check_one(s, d->uid, d->open[i].event.name, d->open[i].event.start, time);
}

static void check_process(struct session *s, struct traced_process *p, int64_t time)
{
	for (uint32_t i = 0; i < p->thread_cap; i++)
		for (uint32_t k = 0; p->threads[i] && k < p->threads[i]->domain_count; k++)
			check_domain(s, p->threads[i]->domains[k], time);
	for (uint32_t i = 0; i < p->range_cap; i++) {
		struct open_range *range = &p->ranges[i];

		if (range->used && !range->hang_reported)
			range->hang_reported = check_one(s, range->tracks->domain, range->event.name, range->event.start, time);
	}
}

void trigger_check_open(struct session *s, int64_t time)
{
	struct triggers *t = s->triggers;

	if (!t->slow_count || time - t->last_check < CHECK_NS)
		return;
	t->last_check = time;
	for (struct traced_process *p = s->processes; p; p = p->next)
		check_process(s, p, time);
}

static void renew(struct session *s, uint64_t *name, int64_t *named)
{
	if (s->now - *named < RENEW_NS || !report_string_passes(s->writer, *name))
		return;
	*name = report_string_again(s->writer, *name);
	*named = s->now;
}

static void renew_in_domain(struct session *s, struct domain_state *d)
{
	for (uint32_t i = 0; i < d->depth; i++)
		renew(s, &d->open[i].event.name, &d->open[i].named);
}

void trigger_renew_names(struct session *s)
{
	struct triggers *t = s->triggers;

	if (s->now - t->last_renewal < RENEW_NS / 2)
		return;
	t->last_renewal = s->now;
	for (struct traced_process *p = s->processes; p; p = p->next) {
		for (uint32_t i = 0; i < p->thread_cap; i++)
			for (uint32_t k = 0; p->threads[i] && k < p->threads[i]->domain_count; k++)
				renew_in_domain(s, p->threads[i]->domains[k]);
		for (uint32_t i = 0; i < p->range_cap; i++)
			if (p->ranges[i].used)
				renew(s, &p->ranges[i].event.name, &p->ranges[i].named);
	}
}
