#include "agent/cuda/kernel/source.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/cuda/tell.h"

#define NAMES 2048u              /* of functions and metrics; those beyond are left out */
#define GATHERED 2048u

struct cupti_source kernel_cupti;
struct cupti_pm kernel_cupti_pm;

/* Only the thread that reads a kernel uses these. */
static struct {
	char *name;
	uint64_t total;               /* since it was told last */
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
static uint32_t number_of(const struct kernel_pass *pass, const char *name)
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
	uint32_t f = number_of(pass, function ? function : ""), m = number_of(pass, metric);

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
	uint32_t m = number_of(pass, metric);

	if (m < NAMES)
		write_record(pass, KERNEL_SOURCE_VALUE, m, 0, &value, sizeof(value));
}

void kernel_source_samples(const struct kernel_pass *pass, const char *metric, const struct kernel_sample *samples, uint32_t count)
{
	const uint32_t most = (RING_CHUNK_DATA - sizeof(struct record_kernel_source)) / sizeof(*samples);
	uint32_t m = number_of(pass, metric), some;

	for (; m < NAMES && count; count -= some, samples += some) {
		some = count < most ? count : most;
		write_record(pass, KERNEL_SOURCE_SERIES, m, 0, samples, some * (uint32_t)sizeof(*samples));
	}
}

/* Sums over all instructions are values of the kernel. */
static void tell_totals(const struct kernel_pass *pass)
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
	return request->source.sampling || request->source.sass || request->source.series_count;
}

static void load(void)
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
	struct kernel_pass pass;
	struct kernel_caches *caches; /* NULL: they are left alone */
	int runs;
};

static int put_back(char *why)
{
	return kernel_memory_restore(KERNEL_MEMORY_LAUNCH, why);
}

/* A pass has run, well or not: what it found is told, and memory is as it was. */
static int after(struct collection *c, int result, const char *trouble, char *why)
{
	c->runs++;
	tell_totals(&c->pass);
	if (result < 0)
		write_text(&c->pass, KERNEL_SOURCE_TROUBLE, 0, trouble);
	kernel_agent.driver.cuCtxSynchronize();
	return put_back(why);
}

/* Caches as the counters have them: before what is looked at begins. */
static void before(const struct collection *c)
{
	char ignored[KERNEL_WHY_SIZE];

	if (c->caches)
		kernel_caches_flush(c->caches, ignored);
}

static int collect_series(struct collection *c, char *why)
{
	char trouble[KERNEL_WHY_SIZE] = "";
	size_t passes = kernel_series_prepare(&c->pass, trouble);
	int result = 0;

	if (trouble[0])
		write_text(&c->pass, KERNEL_SOURCE_TROUBLE, 0, trouble);
	for (size_t i = 0; i < passes && result == 0; i++) {
		trouble[0] = '\0';
		before(c);
		result = after(c, kernel_series_pass(&c->pass, i, trouble), trouble, why);
	}
	return result;
}

int kernel_source_collect(const struct kernel_launch *launch, const struct kernel_request *request, const struct record_kernel *record,
			  struct kernel_caches *caches, int (*run)(const struct kernel_launch *launch, char *why), char *why)
{
	struct collection c = { .pass = { .launch = launch,
					  .run = run,
					  .restore = put_back,
					  .number = record->number,
					  .time = record->time,
					  .request = &request->source },
				.caches = request->flush_caches ? caches : NULL };
	char trouble[KERNEL_WHY_SIZE] = "";

	load();
	kernel_agent.driver.cuCtxGetDevice(&c.pass.device);
	if (request->source.sampling)
		before(&c);
	if (request->source.sampling && after(&c, kernel_sampling_pass(&c.pass, trouble), trouble, why) < 0)
		return -1;
	if (request->source.sass && after(&c, kernel_sass_pass(&c.pass, trouble), trouble, why) < 0)
		return -1;
	if (request->source.series_count && collect_series(&c, why) < 0)
		return -1;
	return c.runs;
}
