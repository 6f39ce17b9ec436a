/* Kernels whose counters were read: results, and the values of each metric. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/macros.h"
#include "base/system/monotonic.h"
#include "fmt/kernel_wire.h"
#include "record/cuda/internal.h"
#include "record/cuda/kernel_rows.h"
#include "record/kernel_choice.h"
#include "symbol/demangle.h"

#define STUCK_AGAIN 5u /* seconds */
#define COPIES_SLOWLY 2u
/* Of CUfunction_attribute. */
enum { ATTRIBUTE_CARVEOUT = 9, ATTRIBUTE_SCHEDULING = 15 };

static uint64_t intern_kernel_text(struct session *s, const char *text)
{
	return text && *text ? session_text(s, text) : 0;
}

/* Whole numbers are kept as such: counts are exact. */
static void put_kernel_number(int64_t *v, uint32_t *present, double value)
{
	if (value == rint(value) && fabs(value) < 9e15) {
		v[COLUMN_KERNEL_METRIC_INTEGER] = (int64_t)value;
		*present |= BIT(COLUMN_KERNEL_METRIC_INTEGER);
	} else {
		memcpy(&v[COLUMN_KERNEL_METRIC_REAL], &value, sizeof(value));
		*present |= BIT(COLUMN_KERNEL_METRIC_REAL);
	}
}

static uint32_t begin_row(struct session *s, const struct kernel_row_of *of, const char *name, int64_t *v)
{
	v[COLUMN_KERNEL_METRIC_RESULT] = (int64_t)of->result;
	v[COLUMN_KERNEL_METRIC_KIND] = of->kind;
	v[COLUMN_KERNEL_METRIC_NAME] = (int64_t)session_text(s, name);
	v[COLUMN_KERNEL_METRIC_INSTANCE] = of->instance;
	return BIT(COLUMN_KERNEL_METRIC_RESULT) | BIT(COLUMN_KERNEL_METRIC_KIND) | BIT(COLUMN_KERNEL_METRIC_NAME) |
	       (of->instance == KERNEL_NO_INSTANCE ? 0 : BIT(COLUMN_KERNEL_METRIC_INSTANCE));
}

void kernel_metric_row(struct session *s, struct kernel_row_of of, const char *name, const char *unit, double value)
{
	int64_t v[TABLE_MAX_COLUMNS];
	uint32_t present = begin_row(s, &of, name, v);
	uint64_t unit_text = intern_kernel_text(s, unit);

	v[COLUMN_KERNEL_METRIC_UNIT] = (int64_t)unit_text;
	present |= unit_text ? BIT(COLUMN_KERNEL_METRIC_UNIT) : 0;
	if (isfinite(value))
		put_kernel_number(v, &present, value);
	session_row(s, TABLE_KERNEL_METRIC, v, present);
}

void kernel_text_row(struct session *s, struct kernel_row_of of, const char *name, const char *text, size_t size)
{
	int64_t v[TABLE_MAX_COLUMNS];
	uint32_t present = begin_row(s, &of, name, v);

	v[COLUMN_KERNEL_METRIC_TEXT] = (int64_t)report_string(s->writer, text, size);
	session_row(s, TABLE_KERNEL_METRIC, v, present | BIT(COLUMN_KERNEL_METRIC_TEXT));
}

static void metric_row(struct session *s, uint64_t result, const char *name, const char *unit, double value)
{
	kernel_metric_row(s, (struct kernel_row_of){ result, KERNEL_METRIC_VALUE, KERNEL_NO_INSTANCE }, name, unit, value);
}

static void text_row(struct session *s, uint64_t result, const char *name, const char *text, size_t size)
{
	kernel_text_row(s, (struct kernel_row_of){ result, KERNEL_METRIC_VALUE, KERNEL_NO_INSTANCE }, name, text, size);
}

/* A number that stands for a word; what is beyond the list is not known. */
static void word_row(struct session *s, uint64_t result, const char *name, const char *const *words, size_t count, uint32_t number)
{
	if (number < count)
		text_row(s, result, name, words[number], strlen(words[number]));
}

/* What the driver told beside attributes of the function, in ncu's words. */
static void fact_rows(struct session *s, uint64_t result, const struct record_kernel *k)
{
	static const char *const caches[] = { "CachePreferNone", "CachePreferShared", "CachePreferL1", "CachePreferEqual" };
	/* Left to the driver, clusters are spread. */
	static const char *const policies[] = { "PolicySpread", "PolicySpread", "PolicyLoadBalancing" };
	static const struct {
		enum kernel_fact fact;
		const char *name, *unit;
	} numbers[] = {
		{ KERNEL_FACT_STACK, "launch__stack_size", "" },
		{ KERNEL_FACT_PERSISTING, "launch__persisting_l2_cache_size", "byte" },
		{ KERNEL_FACT_SMS, "launch__sm_count", "SM" },
	};
	uint32_t policy = k->facts[KERNEL_FACT_SCHEDULING];

	for (size_t i = 0; i < COUNT_OF(numbers); i++)
		if (k->facts[numbers[i].fact] != KERNEL_NOT_KNOWN)
			metric_row(s, result, numbers[i].name, numbers[i].unit, k->facts[numbers[i].fact]);
	word_row(s, result, "launch__func_cache_config", caches, 4, k->facts[KERNEL_FACT_CACHE]);
	if (policy == KERNEL_NOT_KNOWN)
		policy = k->attributes[ATTRIBUTE_SCHEDULING];
	word_row(s, result, "launch__cluster_scheduling_policy", policies, 3, policy);
	if (k->cluster_potential != KERNEL_NOT_KNOWN)
		metric_row(s, result, "launch__cluster_max_potential_size", "block", k->cluster_potential);
	if (k->clusters_active != KERNEL_NOT_KNOWN)
		metric_row(s, result, "launch__cluster_max_active", "cluster", k->clusters_active);
	else if (!k->cluster[0])
		metric_row(s, result, "launch__cluster_max_active", "cluster", 0);
}

/* As nsys and ncu call them. Numbers of attributes are those of CUfunction_attribute. */
static void launch_rows(struct session *s, uint64_t result, const struct record_kernel *k)
{
	static const char axes[] = "xyz";
	static const struct {
		const char *name;
		const char *unit;
		unsigned attribute;
	} attributes[] = {
		{ "launch__shared_mem_per_block_static", "byte/block", 1 },
		{ "launch__local_mem_per_thread", "byte/thread", 3 },
		{ "launch__registers_per_thread", "register/thread", 4 },
		{ "launch__shared_mem_carveout", "%", ATTRIBUTE_CARVEOUT },
	};
	char name[40];

	metric_row(s, result, "profiler__replayer_passes", "pass", k->passes);
	/* A range, or a graph, has no grid of its own. */
	if (k->facts[KERNEL_FACT_LAUNCHES] != KERNEL_NOT_KNOWN) {
		metric_row(s, result, "range__launches", "", k->facts[KERNEL_FACT_LAUNCHES]);
		return;
	}
	for (unsigned i = 0; i < 3; i++) {
		snprintf(name, sizeof(name), "launch__grid_dim_%c", axes[i]);
		metric_row(s, result, name, "", k->grid[i]);
		snprintf(name, sizeof(name), "launch__block_dim_%c", axes[i]);
		metric_row(s, result, name, "", k->block[i]);
		snprintf(name, sizeof(name), "launch__cluster_dim_%c", axes[i]);
		metric_row(s, result, name, "", k->cluster[i]);
	}
	metric_row(s, result, "launch__shared_mem_per_block_dynamic", "byte/block", k->dynamic_shared);
	for (size_t i = 0; i < COUNT_OF(attributes); i++)
		if (k->attributes[attributes[i].attribute] != KERNEL_NOT_KNOWN)
			metric_row(s, result, attributes[i].name, attributes[i].unit, k->attributes[attributes[i].attribute]);
	if (k->blocks_per_sm != KERNEL_NOT_KNOWN)
		metric_row(s, result, "launch__occupancy_limit_driver", "block", k->blocks_per_sm);
	fact_rows(s, result, k);
}

/* How long the tool itself took, of which passes are the larger part. */
static void time_rows(struct cuda_decoder *d, uint64_t result, const struct record_kernel *k)
{
	int64_t begin = timebase_convert(&d->s->time, k->time);

	if (!k->spent_in_passes)
		return;
	metric_row(d->s, result, "profiler__replayer_time", "ns", timebase_convert(&d->s->time, k->time + k->spent) - begin);
	metric_row(d->s, result, "profiler__replayer_time_in_passes", "ns",
		   timebase_convert(&d->s->time, k->time + k->spent_in_passes) - begin);
}

static void result_row(struct cuda_decoder *d, uint64_t result, const struct record_kernel *k)
{
	uint32_t present = BITS_TO(COLUMN_KERNEL_RESULT_CORRELATION) & ~(BIT(COLUMN_KERNEL_RESULT_HOST) | BIT(COLUMN_KERNEL_RESULT_NAME) |
									 BIT(COLUMN_KERNEL_RESULT_MAJOR) | BIT(COLUMN_KERNEL_RESULT_MINOR));
	uint64_t function = cuda_function_id(d, k->function);
	int64_t v[TABLE_MAX_COLUMNS] = { 0 };

	v[COLUMN_KERNEL_RESULT_ID] = (int64_t)result;
	v[COLUMN_KERNEL_RESULT_NUMBER] = k->number;
	v[COLUMN_KERNEL_RESULT_PROCESS] = (int64_t)d->p->uid;
	v[COLUMN_KERNEL_RESULT_FUNCTION] = (int64_t)function;
	v[COLUMN_KERNEL_RESULT_CONTEXT] = k->place.context;
	v[COLUMN_KERNEL_RESULT_STREAM] = k->place.stream;
	v[COLUMN_KERNEL_RESULT_DEVICE] = k->place.device;
	for (unsigned i = 0; i < 3; i++) {
		v[COLUMN_KERNEL_RESULT_GRID_X + i] = k->grid[i];
		v[COLUMN_KERNEL_RESULT_BLOCK_X + i] = k->block[i];
	}
	v[COLUMN_KERNEL_RESULT_TIME] = timebase_convert(&d->s->time, k->time);
	v[COLUMN_KERNEL_RESULT_CORRELATION] = k->place.correlation;
	session_row(d->s, TABLE_KERNEL_RESULT, v, function ? present : present & ~BIT(COLUMN_KERNEL_RESULT_FUNCTION));
}

/* Nobody may read any more: no reason to stop. */
static void report_progress(const struct session *s, const struct kernel_progress *p)
{
	if (s->kernels && s->kernels->progress >= 0 && write(s->kernels->progress, p, sizeof(*p)) < 0)
		return;
}

static void report_step(const struct session *s, const struct traced_process *p, enum kernel_step step)
{
	struct kernel_progress progress = { .state = step, .number = p->info.pid ? p->info.pid : p->info.inner_pid };

	snprintf(progress.text, sizeof(progress.text), "%.*s", KERNEL_PROGRESS_NAME - 1, p->info.exe[0] ? p->info.exe : p->info.name);
	report_progress(s, &progress);
}

void cuda_kernel_connect(struct session *s, struct traced_process *p)
{
	struct cuda_process *c = s->kernels ? cuda_of(p) : NULL;

	if (!c || c->connected)
		return;
	c->connected = 1;
	report_step(s, p, KERNEL_CONNECTED);
}

/* Each reason once. */
static void report_left_alone(struct session *s, const struct traced_process *p)
{
	for (const struct cuda_left_alone *one = p->cuda->left_alone; one < p->cuda->left_alone + CUDA_MOST_REASONS && one->why[0]; one++) {
		struct kernel_progress progress = { .state = KERNEL_LEFT_ALONE, .number = one->launches, .pid = p->info.pid };

		snprintf(progress.text, sizeof(progress.text), "%.*s", (int)sizeof(one->why) - 1, one->why);
		report_progress(s, &progress);
		session_diagnose(s, SOURCE_AGENT, DIAGNOSTIC_WARNING, p->uid, "CUDA graphs were left alone (%u launches): %s",
				 one->launches, one->why);
	}
}

void cuda_kernel_disconnect(struct session *s, struct traced_process *p)
{
	if (s->kernels && p->cuda)
		report_left_alone(s, p);
	if (s->kernels && p->cuda && p->cuda->connected)
		report_step(s, p, KERNEL_DISCONNECTED);
}

static void send(struct cuda_decoder *d, struct kernel_progress *p, const char *text, size_t size)
{
	p->pid = d->p->info.pid;
	snprintf(p->text, sizeof(p->text), "%.*s", (int)(size < sizeof(p->text) ? size : sizeof(p->text) - 1), text ? text : "");
	report_progress(d->s, p);
}

static void send_kernel_progress(struct cuda_decoder *d, const struct record_kernel *k, uint64_t result, const char *text, size_t size)
{
	struct kernel_progress p = { .state = record_flags(k->head), .number = (uint32_t)result - 1, .passes = k->passes };

	send(d, &p, text, size);
}

static void busy_remove(struct cuda_busy *b, uint64_t result)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < b->count; i++)
		if (b->items[i].result != result)
			b->items[kept++] = b->items[i];
	b->count = kept;
}

/* Tells nothing of a kernel, but what the thread that reads it does meanwhile. */
static int is_aside(unsigned state)
{
	return state == KERNEL_WAITS || state == KERNEL_WENT_ON || state == KERNEL_COPIES;
}

/* All but passes and the beginning end it. */
static void note_state(struct cuda_decoder *d, const struct record_kernel *k, uint64_t result, const char *name)
{
	struct cuda_busy *b = &d->c->busy;
	unsigned state = record_flags(k->head);

	b->since = monotonic_ns();
	b->reported = 0;
	b->waits = state == KERNEL_WAITS;
	b->copies = state == KERNEL_COPIES;
	if (b->waits || b->copies)
		snprintf(b->next, sizeof(b->next), "%s", name);
	if (is_aside(state))
		return;
	if (state == KERNEL_PASS) {
		b->pass++;
		b->passes = k->passes;
		return;
	}
	busy_remove(b, result);
	b->pass = b->count ? b->pass : 0;
	if (state != KERNEL_BEGUN || b->count == CUDA_MOST_BUSY)
		return;
	b->items[b->count].result = result;
	b->items[b->count].record = *k;
	snprintf(b->items[b->count].name, sizeof(b->items[0].name), "%s", name);
	b->count++;
}

/* "first, second ..." */
static void busy_names(const struct cuda_busy *b, char *ret, size_t size)
{
	size_t len = 0;

	for (uint32_t i = 0; i < b->count && len < size; i++)
		len += (size_t)snprintf(ret + len, size - len, "%s%s", i ? ", " : "", b->items[i].name);
}

/* A kernel that waits for another one never ends when it runs alone: that is told once it is likely, and now and then again. Copying
 * memory ends: it is told why that takes so long. */
void cuda_kernel_watch(struct cuda_decoder *d)
{
	struct cuda_busy *b = &d->c->busy;
	uint32_t patience = d->s->kernels ? d->s->kernels->stuck_after : 0;
	struct kernel_progress p = { .state = b->copies ? KERNEL_COPIES : KERNEL_STUCK, .passes = b->passes };
	char names[KERNEL_PROGRESS_NAME] = "";

	if ((!b->count && !b->waits && !b->copies) || !patience || d->p->dead)
		return;
	p.seconds = (uint32_t)((monotonic_ns() - b->since) / 1000000000);
	if (p.seconds < (b->copies ? COPIES_SLOWLY : patience) || (b->reported && p.seconds < b->reported + STUCK_AGAIN))
		return;
	b->reported = p.seconds;
	if (b->copies) {
		send(d, &p, b->next, strlen(b->next));
		return;
	}
	p.number = b->count ? (uint32_t)b->items[0].result - 1 : (uint32_t)d->s->cuda->next_kernel;
	if (b->count)
		busy_names(b, names, sizeof(names));
	else
		snprintf(names, sizeof(names), "%s", b->next);
	send(d, &p, names, strlen(names));
}

/* The state of a kernel that is told by its name. */
static void note_name(struct cuda_decoder *d, const struct record_kernel *k, uint64_t result, const char *text, size_t size)
{
	char *linkage = strndup(text, size), *name = linkage ? demangle_short(linkage) : NULL;
	const char *shown = name ? name : linkage ? linkage : "";

	note_state(d, k, result, shown);
	if (record_flags(k->head) == KERNEL_BEGUN)
		send_kernel_progress(d, k, result, shown, strlen(shown));
	free(name);
	free(linkage);
}

void cuda_kernels_end(struct cuda_decoder *d)
{
	struct cuda_busy *b = &d->c->busy;
	char text[100];
	int size;

	if (b->pass)
		size = snprintf(text, sizeof(text), "the program ended while the kernel was read, in pass %u of %u", b->pass, b->passes);
	else
		size = snprintf(text, sizeof(text), "the program ended before the kernel's first pass");
	for (uint32_t i = 0; i < b->count; i++) {
		result_row(d, b->items[i].result, &b->items[i].record);
		launch_rows(d->s, b->items[i].result, &b->items[i].record);
		text_row(d->s, b->items[i].result, "profiler__error", text, (size_t)size);
	}
	b->count = 0;
}

int cuda_kernel_counters(struct session *s, struct traced_process *p, const uint8_t *bytes, uint32_t size)
{
	struct cuda_decoder d = { s, p, cuda_of(p) };
	const char *text = (const char *)bytes + sizeof(struct record_kernel);
	struct record_kernel k;
	uint64_t result;

	if (!d.c)
		return -ENOMEM;
	if (size < sizeof(k))
		return -EBADMSG;
	memcpy(&k, bytes, sizeof(k));
	size -= (uint32_t)sizeof(k);
	if (is_aside(record_flags(k.head))) {
		note_name(&d, &k, 0, text, size);
		return 0;
	}
	cuda_kernel_connect(s, p);
	result = cuda_kernel_result(&d, k.number);
	if (!result)
		return -ENOMEM;
	/* Another thread may have begun it than the one that ended it, and what it wrote may be read later. */
	if (idmap_get(&d.c->kernels_ended, k.number) != IDMAP_NONE)
		return 0;
	if (record_flags(k.head) == KERNEL_BEGUN) {
		note_name(&d, &k, result, text, size);
		return 0;
	}
	note_state(&d, &k, result, NULL);
	if (record_flags(k.head) == KERNEL_PASS) {
		send_kernel_progress(&d, &k, result, NULL, 0);
		return 0;
	}
	if (idmap_put(&d.c->kernels_ended, k.number, result) < 0)
		return -ENOMEM;
	result_row(&d, result, &k);
	launch_rows(s, result, &k);
	time_rows(&d, result, &k);
	if (k.duration)
		metric_row(s, result, "gpu__time_duration.sum", "ns", (double)k.duration);
	if (record_flags(k.head) == KERNEL_FAILED)
		text_row(s, result, "profiler__error", text, size);
	send_kernel_progress(&d, &k, result, text, size);
	s->events++;
	return 0;
}

int cuda_kernel_values(struct session *s, struct traced_process *p, const uint8_t *bytes, uint32_t size)
{
	struct cuda_decoder d = { s, p, cuda_of(p) };
	const struct kernel_choice *choice = s->kernels;
	struct record_kernel_values head;
	uint64_t result;
	double value;

	if (!d.c)
		return -ENOMEM;
	if (size < sizeof(head) || (size - sizeof(head)) % sizeof(value) != 0 || !choice)
		return -EBADMSG;
	memcpy(&head, bytes, sizeof(head));
	result = cuda_kernel_result(&d, head.number);
	if (!result)
		return -ENOMEM;
	if (record_flags(head.head) == KERNEL_VALUES_DEVICE) {
		cuda_kernel_device(s, result, head.first, bytes + sizeof(head), (uint32_t)((size - sizeof(head)) / sizeof(value)));
		return 0;
	}
	for (uint32_t i = 0; i < (size - sizeof(head)) / sizeof(value) && head.first < choice->count && i < choice->count - head.first;
	     i++) {
		memcpy(&value, bytes + sizeof(head) + i * sizeof(value), sizeof(value));
		metric_row(s, result, choice->metrics[head.first + i], choice->units ? choice->units[head.first + i] : NULL, value);
	}
	return 0;
}
