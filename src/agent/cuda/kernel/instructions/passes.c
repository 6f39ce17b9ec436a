#include "agent/cuda/kernel/instructions/passes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "agent/cuda/records/definitions.h"

#define NAMES 2048u /* of functions and metrics; those beyond are left out */
#define GATHERED 2048u
#define LONG_LAUNCH 2000000u /* ns */
#define MOST_TRIES 4u

struct cupti_source kernel_cupti;
struct cupti_pm kernel_cupti_pm;

/* Only the thread that reads a kernel uses these. */
static struct {
	char *name;
	uint64_t total; /* since it was told last */
} names[NAMES];
static uint32_t name_count;
static struct {
	uint64_t code;
	uint32_t function;
	uint32_t count;
	struct kernel_count counts[GATHERED];
} gathered;

static void write_record(const struct kernel_pass *pass, enum kernel_source_kind kind, uint32_t id, uint64_t code, const void *body,
			 uint32_t body_size)
{
	uint32_t size = (uint32_t)sizeof(struct record_kernel_source) + body_size;
	struct record_kernel_source *record = cuda_agent.core->begin_patiently(size);

	if (!record)
		return;
	record->time = pass->time;
	record->number = pass->number;
	record->id = id;
	record->code = code;
	memcpy(record + 1, body, body_size);
	cuda_agent.core->end(record, record_head(RECORD_KERNEL_SOURCE, kind, size, 0, 0), size);
}

static void write_text(const struct kernel_pass *pass, enum kernel_source_kind kind, uint32_t id, const char *text)
{
	write_record(pass, kind, id, 0, text, cuda_text_room(sizeof(struct record_kernel_source), text));
}

/* Its number; NAMES where there are too many. */
static uint32_t number_pass_name(const struct kernel_pass *pass, const char *name)
{
	uint32_t i;

	for (i = 0; i < name_count; i++)
		if (strcmp(names[i].name, name) == 0)
			return i;
	if (name_count == NAMES)
		return NAMES;
	names[i].name = strdup(name);
	if (!names[i].name)
		return NAMES;
	name_count++;
	write_text(pass, KERNEL_SOURCE_NAME, i, name);
	return i;
}

static void write_gathered(const struct kernel_pass *pass)
{
	const uint32_t most = (RING_CHUNK_DATA - sizeof(struct record_kernel_source)) / sizeof(struct kernel_count);
	uint32_t done = 0, count;

	for (; done < gathered.count; done += count) {
		count = gathered.count - done < most ? gathered.count - done : most;
		write_record(pass, KERNEL_SOURCE_COUNTS, gathered.function, gathered.code, gathered.counts + done,
			     count * (uint32_t)sizeof(struct kernel_count));
	}
	gathered.count = 0;
}

void kernel_source_count(const struct kernel_pass *pass, uint64_t code, const char *function, uint32_t pc, const char *metric,
			 uint64_t value)
{
	uint32_t f = number_pass_name(pass, function ? function : ""), m = number_pass_name(pass, metric);

	if (!value || f == NAMES || m == NAMES)
		return;
	if (gathered.count == GATHERED || gathered.code != code || gathered.function != f)
		write_gathered(pass);
	gathered.code = code;
	gathered.function = f;
	gathered.counts[gathered.count++] = (struct kernel_count){ pc, m, value };
	names[m].total += value;
}

void kernel_source_value(const struct kernel_pass *pass, const char *metric, double value)
{
	uint32_t m = number_pass_name(pass, metric);

	if (m < NAMES)
		write_record(pass, KERNEL_SOURCE_VALUE, m, 0, &value, sizeof(value));
}

void kernel_source_samples(const struct kernel_pass *pass, const char *metric, const struct kernel_sample *samples, uint32_t count)
{
	const uint32_t most = (RING_CHUNK_DATA - sizeof(struct record_kernel_source)) / sizeof(*samples);
	uint32_t m = number_pass_name(pass, metric), some;

	for (; m < NAMES && count; count -= some, samples += some) {
		some = count < most ? count : most;
		write_record(pass, KERNEL_SOURCE_SERIES, m, 0, samples, some * (uint32_t)sizeof(*samples));
	}
}

/* Sums over all instructions are values of the kernel. */
static void report_totals(const struct kernel_pass *pass)
{
	write_gathered(pass);
	for (uint32_t i = 0; i < name_count; i++) {
		if (names[i].total)
			kernel_source_value(pass, names[i].name, (double)names[i].total);
		names[i].total = 0;
	}
}

int kernel_source_failed(int result, const char *what, char *why)
{
	const char *text = NULL;

	if (result == CUPTI_OK)
		return 0;
	if (result == CUPTI_INSUFFICIENT_PRIVILEGES || result == CUPTI_VIRTUAL_INSUFFICIENT_PRIVILEGES) {
		snprintf(why, KERNEL_WHY_SIZE, "%s: the driver does not let this user (ERR_NVGPUCTRPERM)", what);
		return -1;
	}
	cuda_agent.cupti.cuptiGetResultString(result, &text);
	snprintf(why, KERNEL_WHY_SIZE, "%s: %.120s (error %d)", what, text ? text : "failed", result);
	return -1;
}

int kernel_source_wanted(const struct kernel_request *request)
{
	return request->sampling || request->sass || request->series.count;
}

static void load_pass_functions(void)
{
	static int loaded;

	if (loaded)
		return;
	loaded = 1;
	cupti_source_fill(&kernel_cupti, cuda_agent.cupti.library);
	if (!cupti_pm_fill(&kernel_cupti_pm, cuda_agent.cupti.library))
		memset(&kernel_cupti_pm, 0, sizeof(kernel_cupti_pm));
}

struct collection {
	struct kernel_source_launch *launches;
	size_t count;
	const struct kernel_request *request;
	struct kernel_caches *caches;
	int device;
};

static struct kernel_pass pass_of(const struct collection *c, const struct kernel_source_launch *l)
{
	return (struct kernel_pass){ .launch = l->launch,
				     .number = l->record->number,
				     .time = l->record->time,
				     .run_time = l->run_time,
				     .device = c->device,
				     .request = c->request,
				     .caches = c->request->flush_caches ? c->caches : NULL };
}

void kernel_source_empty_caches(const struct kernel_pass *pass)
{
	char ignored[KERNEL_WHY_SIZE];

	if (pass->caches)
		kernel_caches_flush(pass->caches, ignored);
}

/* It has run, well or not: what it found is told. */
static void end_pass(const struct kernel_pass *pass, struct kernel_source_launch *l, int result, const char *trouble)
{
	l->record->passes++;
	report_totals(pass);
	if (result < 0)
		write_text(pass, KERNEL_SOURCE_TROUBLE, 0, *trouble ? trouble : KERNEL_NO_MEMORY);
	kernel_agent.driver.cuCtxSynchronize();
	kernel_report(l->record, KERNEL_WENT_ON, NULL);
}

static int run_code_pass(const struct kernel_pass *pass, struct kernel_source_launch *l,
			 int (*how)(const struct kernel_pass *pass, char *why), char *why)
{
	char trouble[KERNEL_WHY_SIZE] = "";

	end_pass(pass, l, how(pass, trouble), trouble);
	return kernel_memory_restore(pass->memory, why);
}

/* From the memory that is there before it, which is there again afterwards. What is there before the first is kept already. */
static int look_at_instructions(const struct collection *c, size_t number, char *why)
{
	const struct kernel_request *r = c->request;
	struct kernel_source_launch *l = &c->launches[number];
	struct kernel_pass pass = pass_of(c, l);
	int result = 0;

	if (!r->sampling && !r->sass)
		return 0;
	pass.memory = number ? KERNEL_MEMORY_LAUNCH : KERNEL_MEMORY_BEFORE;
	if (number && kernel_memory_save(KERNEL_MEMORY_LAUNCH, l->launch->context, why) < 0)
		return -1;
	l->record->passes += (uint32_t)l->is_sampled;
	if (r->sampling && !l->is_sampled)
		result = run_code_pass(&pass, l, kernel_sampling_pass, why);
	if (r->sass && result == 0)
		result = run_code_pass(&pass, l, kernel_sass_pass, why);
	if (number)
		kernel_memory_forget(KERNEL_MEMORY_LAUNCH);
	return result;
}

static uint64_t read_pass_clock(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static int instructions(const struct collection *c, char *why)
{
	int result = kernel_memory_restore(KERNEL_MEMORY_BEFORE, why);
	uint64_t begin;

	for (size_t i = 0; i < c->count && result == 0; i++) {
		struct kernel_source_launch *l = &c->launches[i];

		if (l->is_wanted)
			result = look_at_instructions(c, i, why);
		begin = read_pass_clock();
		if (result == 0)
			result = kernel_launch_again(l->launch, why);
		l->run_time = read_pass_clock() - begin;
	}
	return result;
}

/* What was not sampled is told to all that are left. */
static void report_trouble(const struct collection *c, size_t from, const char *trouble)
{
	struct kernel_pass pass;

	for (size_t i = from; i < c->count; i++) {
		pass = pass_of(c, &c->launches[i]);
		if (c->launches[i].is_wanted)
			write_text(&pass, KERNEL_SOURCE_TROUBLE, 0, *trouble ? trouble : KERNEL_NO_MEMORY);
	}
}

/* Memory is what it is before the launch of this number. */
static int go_to(const struct collection *c, size_t number, char *why)
{
	int result = kernel_memory_restore(KERNEL_MEMORY_BEFORE, why);

	for (size_t i = 0; i < number && result == 0; i++)
		result = kernel_launch_again(c->launches[i].launch, why);
	return result;
}

enum { NOT_SAMPLED = 1 };

/* Fewer samples, where there were too many. NOT_SAMPLED: `trouble` says why; -1: memory could not be put back. */
static int sample_launch(const struct collection *c, size_t group, size_t number, char *trouble, char *why)
{
	struct kernel_source_launch *l = &c->launches[number];
	struct kernel_pass pass = pass_of(c, l);
	int result = KERNEL_SERIES_FULL;

	for (; result == KERNEL_SERIES_FULL && pass.tries < MOST_TRIES; pass.tries++) {
		if (pass.tries && go_to(c, number, why) < 0)
			return -1;
		result = kernel_series_pass(&pass, group, trouble);
		end_pass(&pass, l, 0, NULL);
		if (c->request->series_interval)
			break;
	}
	return result ? NOT_SAMPLED : 0;
}

/* All launches, each from the memory that those before it left. */
static int sample_group(const struct collection *c, size_t group, char *why)
{
	char trouble[KERNEL_WHY_SIZE] = "";
	int result = kernel_memory_restore(KERNEL_MEMORY_BEFORE, why);

	for (size_t i = 0; i < c->count && result == 0; i++) {
		if (c->launches[i].is_wanted)
			result = sample_launch(c, group, i, trouble, why);
		else if (kernel_launch_again(c->launches[i].launch, why) < 0)
			return -1;
		if (result == NOT_SAMPLED)
			report_trouble(c, i, trouble);
	}
	return result < 0 ? -1 : 0;
}

static int over_time(const struct collection *c, char *why)
{
	char trouble[KERNEL_WHY_SIZE] = "";
	size_t groups = kernel_series_prepare(c->device, c->request, trouble);
	struct kernel_pass pass;
	int result = 0;

	if (trouble[0])
		report_trouble(c, 0, trouble);
	for (size_t i = 0; i < c->count && groups; i++) {
		pass = pass_of(c, &c->launches[i]);
		if (c->launches[i].is_wanted)
			kernel_series_report_plan(&pass);
	}
	for (size_t i = 0; i < groups && result == 0; i++)
		result = sample_group(c, i, why);
	kernel_series_end();
	return result;
}

void kernel_source_collect(struct kernel_source_launch *launches, size_t count, const struct kernel_request *request,
			   struct kernel_caches *caches)
{
	struct collection c = { launches, count, request, caches, 0 };
	char why[KERNEL_WHY_SIZE] = "";

	load_pass_functions();
	kernel_agent.driver.cuCtxGetDevice(&c.device);
	if (instructions(&c, why) < 0)
		report_trouble(&c, 0, why);
	why[0] = '\0';
	if (request->series.count && over_time(&c, why) < 0)
		report_trouble(&c, 0, why);
}

/* Functions whose first launch PC sampling has seen, or could not see. */
static struct kernel_seen met;

int kernel_source_is_new(const struct kernel_launch *launch, const struct kernel_request *request)
{
	return request->sampling && !kernel_was_seen(&met, launch->function) && kernel_choose_could(launch);
}

void kernel_source_note_met(const struct kernel_launch *launch)
{
	kernel_see(&met, launch->function);
}

/* The launch that is under way; only one at a time. */
static struct {
	struct kernel_launch launch;
	struct kernel_pass pass;
	int keeps;
} meeting;

int kernel_source_meet(const struct kernel_launch *launch, const struct kernel_request *request, const struct record_kernel *record,
		       struct kernel_caches *caches)
{
	load_pass_functions();
	kernel_source_note_met(launch);
	if (kernel_agent.driver.cuCtxSynchronize() != 0)
		return 0;
	meeting.launch = *launch;
	meeting.keeps = record != NULL;
	meeting.pass = (struct kernel_pass){ .launch = &meeting.launch,
					     .number = record ? record->number : 0,
					     .time = record ? record->time : 0,
					     .request = request,
					     .caches = record && request->flush_caches ? caches : NULL };
	return kernel_sampling_meet(&meeting.pass, meeting.keeps) == 0;
}

/* What only a first launch does is a small part of a long one; a short one is sampled once more. */
int kernel_source_met(void)
{
	struct record_kernel reported = { .time = cuda_agent.core->now() };
	uint64_t begin = read_pass_clock();
	int kept;

	/* It may never end, where it waits for one that is launched next. */
	kernel_report(&reported, KERNEL_WAITS, meeting.launch.name);
	kernel_agent.driver.cuCtxSynchronize();
	kernel_report(&reported, KERNEL_WENT_ON, NULL);
	meeting.keeps = meeting.keeps && read_pass_clock() - begin >= LONG_LAUNCH;
	kept = kernel_sampling_met(&meeting.pass, meeting.keeps);
	if (kept)
		report_totals(&meeting.pass);
	return kept;
}
