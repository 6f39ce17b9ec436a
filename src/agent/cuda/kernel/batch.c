/* Launches that follow each other are read together: starting and stopping the counters of a pass takes longer than most kernels, and
 * one start can serve many launches. So the program's launches go on as they are, and are remembered; at its next call that could see
 * or change what they did, they are all made again, once for each pass, from the memory that was there before the first; then memory
 * is put back to what the program's own launches had made of it. Launches in between that are not read are made again, too. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/cuda/kernel/kernel.h"

#define MOST_LAUNCHES 32u
#define MOST_WITH_SOURCE 8u /* all of them are begun before the first is read */
#define MOST_IDLE 8u        /* launches after the last that is read */

enum { COLD, WARM, CACHES }; /* emptied before each kernel, or as they are */

struct entry {
	struct kernel_copy copy;
	struct record_kernel record;
	int wanted;
	int sampled; /* in the program's own launch */
	size_t range;
	double *values[CACHES][KERNEL_REQUEST_PARTS]; /* NULL: not read */
};

static struct {
	struct kernel_counters *counters;
	const struct kernel_request *request;
	struct entry entries[MOST_LAUNCHES];
	uint32_t count;
	uint32_t last; /* one more than that of the last that is read */
	size_t ranges;
	uint64_t spent;     /* ticks, without those of the program's own calls */
	uint64_t in_passes; /* of them */
	int running;
	int flushes;
	int closing;
	int modules_loaded;
	int source_is_due;
} batch;
/* Modules that kernels were launched of, or functions, where the driver does not tell: what loading them takes is allocated. */
static struct kernel_seen known;

/* What was kept of its memory is gone with it. */
static const char context_is_gone[] = "the context was gone before it was read";

int kernel_batch_is_open(void)
{
	return batch.count != 0;
}

int kernel_batch_is_of(const void *context)
{
	return batch.count && batch.counters->context == context;
}

/* Those that CUPTI loads for passes of ours are its own affair. */
void kernel_batch_module_loaded(void)
{
	if (!batch.closing)
		batch.modules_loaded = 1;
}

static int is_seen_module(void *module)
{
	int result = kernel_was_seen(&known, module);

	kernel_see(&known, module);
	return result;
}

/* Memory that is allocated between keeping and putting back is more than CUPTI's library can bear: a module that is loaded by its
 * first launch has variables. */
int kernel_batch_is_loaded(const struct kernel_launch *l)
{
	const struct cuda_launcher *d = &kernel_agent.driver;
	void *module = NULL;
	int state = 0;

	if ((d->cuFuncGetModule && d->cuFuncGetModule(&module, l->function) == 0 && module) ||
	    (d->cuKernelGetLibrary && d->cuKernelGetLibrary(&module, l->function) == 0 && module))
		return is_seen_module(module);
	if (is_seen_module(l->function))
		return 1;
	return d->cuFuncIsLoaded && d->cuFuncIsLoaded(&state, l->function) == 0 && state == CUDA_FUNCTION_LOADED;
}

/* Emptying the caches lies outside of ranges that are made by hand. */
static size_t ranges_before(const struct kernel_counters *c, int wanted)
{
	return wanted && batch.request->flush_caches && !c->by_hand ? kernel_caches_ranges(&c->caches) : 0;
}

static size_t ranges_of(const struct kernel_counters *c, int wanted)
{
	return 1 + ranges_before(c, wanted);
}

static int has_room(const struct kernel_counters *c, int wanted)
{
	uint32_t most = kernel_source_wanted(batch.request) ? MOST_WITH_SOURCE : MOST_LAUNCHES;

	return batch.count < most && batch.counters == c && !c->by_hand && batch.ranges + ranges_of(c, wanted) <= c->most_ranges;
}

static void append_batch_entry(struct entry *e, int wanted)
{
	e->wanted = wanted;
	e->sampled = 0;
	batch.ranges += ranges_of(batch.counters, wanted);
	memset(e->values, 0, sizeof(e->values));
	batch.count++;
	if (wanted)
		batch.last = batch.count;
}

/* Graphs are read one by one: their ranges are other ones. */
static int open(struct kernel_counters *c, const struct kernel_request *request, int is_graph, char *why)
{
	uint64_t begin = cuda_agent.core->now();

	kernel_counters_make_ranges(c, is_graph);
	if (kernel_memory_save(KERNEL_MEMORY_BEFORE, c->context, why) < 0)
		return -1;
	batch.counters = c;
	batch.request = request;
	batch.ranges = 0;
	batch.last = 0;
	batch.running = 0;
	batch.modules_loaded = 0;
	batch.in_passes = 0;
	batch.spent = cuda_agent.core->now() - begin;
	return 0;
}

static void read_batch(enum kernel_memory after);

/* Memory is kept before and after, and where instructions are looked at, before each launch but the first. */
static int has_memory_for_several(const struct kernel_request *request)
{
	return kernel_memory_fits(request->sampling || request->sass ? 3 : 2);
}

/* What is read before the program launches it is launched first by us: once more, where PC sampling has to see that. */
static void meet_first(const struct kernel_launch *l, const struct kernel_request *request)
{
	char ignored[KERNEL_WHY_SIZE];

	if (!kernel_source_is_new(l, request) || !kernel_source_meet(l, request, NULL, NULL))
		return;
	kernel_launch_again(l, ignored);
	kernel_source_met();
	kernel_memory_restore(KERNEL_MEMORY_BEFORE, ignored);
}

/* The launch is made again now, before the program makes it: its arguments are there, and memory is kept once. */
static int read_before(struct kernel_counters *c, const struct kernel_launch *l, const struct record_kernel *record,
		       const struct kernel_request *request, char *why)
{
	struct entry *e = &batch.entries[0];

	if (batch.count)
		kernel_batch_close();
	if (open(c, request, l->call == KERNEL_CALL_GRAPH, why) < 0)
		return -1;
	e->record = *record;
	e->copy = (struct kernel_copy){ .launch = *l };
	append_batch_entry(e, 1);
	meet_first(l, request);
	read_batch(KERNEL_MEMORY_BEFORE);
	return 0;
}

int kernel_batch_add(struct kernel_counters *c, const struct kernel_launch *l, const struct record_kernel *record,
		     const struct kernel_request *request, char *why)
{
	struct entry *e;

	if (batch.count && !has_room(c, 1))
		kernel_batch_close();
	if (!batch.count && !has_memory_for_several(request))
		return read_before(c, l, record, request, why);
	if (!batch.count && open(c, request, l->call == KERNEL_CALL_GRAPH, why) < 0)
		return -1;
	e = &batch.entries[batch.count];
	if (kernel_launch_copy(&e->copy, l) == 0) {
		e->record = *record;
		append_batch_entry(e, 1);
		return 0;
	}
	if (!batch.count)
		kernel_memory_forget(KERNEL_MEMORY_BEFORE);
	return read_before(c, l, record, request, why);
}

int kernel_batch_open_now(struct kernel_counters *c, const struct kernel_request *request, char *why)
{
	return open(c, request, 0, why);
}

int kernel_batch_add_now(const struct kernel_launch *l, const struct record_kernel *record)
{
	struct entry *e = &batch.entries[batch.count];

	if (batch.count && !has_room(batch.counters, record != NULL))
		return 0;
	if (record)
		e->record = *record;
	e->copy = (struct kernel_copy){ .launch = *l };
	append_batch_entry(e, record != NULL);
	return 1;
}

void kernel_batch_read_now(void)
{
	read_batch(KERNEL_MEMORY_BEFORE);
}

void kernel_batch_pass_over(const struct kernel_launch *l)
{
	struct entry *e = &batch.entries[batch.count];

	if (!batch.count)
		return;
	if (l->context == batch.counters->context && kernel_batch_is_loaded(l) && batch.count - batch.last < MOST_IDLE &&
	    has_room(batch.counters, 0) && kernel_launch_copy(&e->copy, l) == 0)
		append_batch_entry(e, 0);
	else
		kernel_batch_close();
}

static int make_launch(const struct kernel_launch *l, char *why)
{
	struct kernel_counters *c = batch.counters;

	if (!c->by_hand)
		return kernel_launch_again(l, why);
	return kernel_counters_push(c, KERNEL_GRAPH_NAME, why) < 0 || kernel_launch_again(l, why) < 0 ? -1 : kernel_counters_pop(c, why);
}

int kernel_batch_meet(const struct kernel_launch *l, const struct kernel_request *request)
{
	struct entry *e;

	if (!batch.count)
		return kernel_source_meet(l, request, NULL, NULL);
	e = &batch.entries[batch.count - 1];
	/* It finds nothing as long as the range profiler is enabled. */
	kernel_counters_let_go(batch.counters);
	return kernel_source_meet(l, request, e->wanted ? &e->record : NULL, &batch.counters->caches);
}

void kernel_batch_met(void)
{
	int is_sampled = kernel_source_met();

	if (batch.count)
		batch.entries[batch.count - 1].sampled = is_sampled;
}

/* Caches are emptied while counters run, as starting them leaves something behind in L2. */
static int make_launches(char *why)
{
	struct kernel_caches *caches = &batch.counters->caches;

	for (uint32_t i = 0; i < batch.last; i++) {
		if (batch.entries[i].wanted && batch.flushes && kernel_caches_flush(caches, why) < 0)
			return -1;
		if (make_launch(&batch.entries[i].copy.launch, why) < 0)
			return -1;
	}
	return 0;
}

static int make_pass(char *why)
{
	struct kernel_counters *c = batch.counters;

	if (kernel_memory_restore(KERNEL_MEMORY_BEFORE, why) < 0 || kernel_counters_start(c, why) < 0)
		return -1;
	batch.running = 1;
	kernel_report(&batch.entries[0].record, KERNEL_PASS, NULL);
	if (make_launches(why) < 0)
		return -1;
	batch.running = 0;
	return kernel_counters_stop(c, why);
}

static int make_part(struct kernel_part *part, char *why)
{
	size_t ranges = batch.entries[batch.last - 1].range + 1;
	uint64_t begin;

	if (kernel_counters_configure(batch.counters, part, ranges, why) < 0)
		return -1;
	begin = cuda_agent.core->now();
	for (size_t pass = 0; pass < part->passes; pass++)
		if (make_pass(why) < 0)
			return -1;
	batch.in_passes += cuda_agent.core->now() - begin;
	return kernel_counters_decode(batch.counters, part, ranges, why);
}

static void source_passes(void)
{
	const struct kernel_request *r = batch.request;
	struct kernel_source_launch launches[MOST_LAUNCHES];
	uint64_t begin = cuda_agent.core->now();

	batch.source_is_due = 0;
	for (uint32_t i = 0; i < batch.last; i++) {
		struct entry *e = &batch.entries[i];

		launches[i] = (struct kernel_source_launch){
			.launch = &e->copy.launch, .record = &e->record, .is_wanted = e->wanted, .is_sampled = e->sampled
		};
	}
	/* The range profiler is in their way. */
	if (r->series.count || r->sampling)
		kernel_counters_let_go(batch.counters);
	kernel_source_collect(launches, batch.last, batch.request, &batch.counters->caches);
	batch.in_passes += cuda_agent.core->now() - begin;
}

/* Another configuration takes CUPTI a while: the one that is there goes first. Passes that are not the range profiler's come when it
 * has to let go of the hardware anyway. */
static int make_parts(char *why)
{
	struct kernel_counters *c = batch.counters;
	struct kernel_part *first = c->configured ? c->configured : c->parts;

	if (c->part_count && make_part(first, why) < 0)
		return -1;
	if (batch.source_is_due)
		source_passes();
	for (size_t i = 0; i < c->part_count; i++)
		if (&c->parts[i] != first && make_part(&c->parts[i], why) < 0)
			return -1;
	return 0;
}

static void number_ranges(void)
{
	size_t next = 0;

	for (uint32_t i = 0; i < batch.last; i++) {
		next += batch.flushes ? ranges_before(batch.counters, batch.entries[i].wanted) : 0;
		batch.entries[i].range = next++;
	}
}

static int evaluate_batch_entry(struct entry *e, double **values, char *why)
{
	struct kernel_counters *c = batch.counters;

	for (size_t i = 0; i < c->part_count; i++) {
		struct kernel_part *part = &c->parts[i];

		if (kernel_counters_evaluate(part, e->range, why) < 0)
			return -1;
		values[i] = malloc(part->metric_count * sizeof(**values));
		if (!values[i])
			return -1;
		memcpy(values[i], part->values, part->metric_count * sizeof(**values));
	}
	return 0;
}

static int read_with(int caches, char *why)
{
	batch.flushes = caches == COLD;
	number_ranges();
	if (make_parts(why) < 0)
		return -1;
	for (uint32_t i = 0; i < batch.last; i++)
		if (batch.entries[i].wanted && evaluate_batch_entry(&batch.entries[i], batch.entries[i].values[caches], why) < 0)
			return -1;
	return 0;
}

/* With caches emptied, as they are, or both. Values of the second kind come after all of the first. */
static int read_entries(char *why)
{
	const struct kernel_request *r = batch.request;

	if (batch.modules_loaded) {
		snprintf(why, KERNEL_WHY_SIZE, "a module was loaded after the launch, and memory can no longer be restored");
		return -1;
	}
	batch.source_is_due = kernel_source_wanted(r);
	if (r->flush_caches && read_with(COLD, why) < 0)
		return -1;
	return r->flush_caches && !r->warm ? 0 : read_with(WARM, why);
}

/* What was read before something failed is told, too. */
static void report_entry(struct entry *e, int result, const char *why)
{
	struct kernel_counters *c = batch.counters;
	uint32_t first = 0;

	for (int caches = COLD; caches < CACHES; caches++) {
		for (size_t i = 0; i < c->part_count && e->values[caches][i]; i++)
			kernel_report_values(&c->parts[i], e->values[caches][i], first, e->record.number, e->record.time);
		if (e->values[caches][0])
			first = (uint32_t)kernel_request_metrics_before(batch.request, batch.request->part_count);
	}
	kernel_report(&e->record, result == 0 ? KERNEL_READ : KERNEL_FAILED, result == 0 ? NULL : why);
	for (int caches = COLD; caches < CACHES; caches++)
		for (size_t i = 0; i < KERNEL_REQUEST_PARTS; i++)
			free(e->values[caches][i]);
}

static void report_all(int result, const char *why)
{
	uint32_t wanted = 0;

	for (uint32_t i = 0; i < batch.last; i++)
		wanted += (uint32_t)batch.entries[i].wanted;
	for (uint32_t i = 0; i < batch.last; i++) {
		struct entry *e = &batch.entries[i];

		e->record.spent = batch.spent / (wanted ? wanted : 1);
		e->record.spent_in_passes = batch.in_passes / (wanted ? wanted : 1);
		if (e->wanted)
			report_entry(e, result, why);
	}
}

static void abandon_batch(void)
{
	char ignored[KERNEL_WHY_SIZE];

	if (batch.running)
		kernel_counters_stop(batch.counters, ignored);
	batch.running = 0;
	kernel_agent.driver.cuCtxSynchronize();
	kernel_counters_let_go(batch.counters);
}

static void forget_all(void)
{
	kernel_memory_forget(KERNEL_MEMORY_BEFORE);
	for (uint32_t i = 0; i < batch.count; i++)
		kernel_launch_forget(&batch.entries[i].copy);
	batch.count = 0;
}

static void report_begun(void)
{
	for (uint32_t i = 0; i < batch.last; i++) {
		struct entry *e = &batch.entries[i];

		e->record.passes = (uint32_t)batch.counters->passes << (batch.request->flush_caches && batch.request->warm);
		if (e->wanted)
			kernel_report(&e->record, KERNEL_BEGUN, e->copy.launch.name);
	}
}

/* `after`: what memory is to be in the end. */
static int read_and_put_back(enum kernel_memory after, char *why)
{
	char lost[KERNEL_WHY_SIZE];
	int result;

	if (after != KERNEL_MEMORY_BEFORE && kernel_memory_save(after, batch.counters->context, why) < 0)
		return -1;
	result = read_entries(why);
	if (result < 0)
		abandon_batch();
	if (!batch.modules_loaded && kernel_memory_put_back(after, lost) < 0) {
		memcpy(why, lost, sizeof(lost));
		batch.counters->hopeless = 1;
		result = -1;
	}
	if (after != KERNEL_MEMORY_BEFORE)
		kernel_memory_forget(after);
	return result;
}

static void read_batch(enum kernel_memory after)
{
	char why[KERNEL_WHY_SIZE] = "";
	uint64_t begin;
	int result = -1;

	batch.closing = 1;
	report_begun();
	if (kernel_agent.driver.cuCtxSynchronize() != 0) {
		snprintf(why, sizeof(why), "the program's launch failed");
	} else {
		begin = cuda_agent.core->now();
		result = read_and_put_back(after, why);
		batch.spent += cuda_agent.core->now() - begin;
	}
	report_all(result, why);
	forget_all();
	batch.closing = 0;
}

/* The program's own launch did nothing: those before it are read as if it had not been. */
void kernel_batch_launch_failed(uint32_t correlation, int result)
{
	struct entry *e = &batch.entries[batch.count ? batch.count - 1 : 0];
	char why[KERNEL_WHY_SIZE];

	if (!batch.count || e->copy.launch.correlation != correlation)
		return;
	snprintf(why, sizeof(why), "the program's launch failed (CUDA error %d)", result);
	if (e->wanted) {
		kernel_report(&e->record, KERNEL_BEGUN, e->copy.launch.name);
		kernel_report(&e->record, KERNEL_FAILED, why);
	}
	kernel_launch_forget(&e->copy);
	batch.count--;
	batch.ranges -= ranges_of(batch.counters, e->wanted);
	for (batch.last = batch.count; batch.last && !batch.entries[batch.last - 1].wanted;)
		batch.last--;
	if (!batch.last)
		forget_all();
}

void kernel_batch_give_up(const char *why)
{
	if (!batch.count)
		return;
	report_begun();
	report_all(-1, why);
	batch.count = 0;
}

void kernel_batch_context_ends(const void *context)
{
	if (kernel_batch_is_of(context))
		kernel_batch_give_up(context_is_gone);
}

void kernel_batch_close(void)
{
	const struct cuda_launcher *d = &kernel_agent.driver;
	void *was;

	if (!batch.count)
		return;
	if (d->cuCtxPushCurrent(batch.counters->context) != 0) {
		kernel_batch_give_up(context_is_gone);
		return;
	}
	read_batch(KERNEL_MEMORY_AFTER);
	d->cuCtxPopCurrent(&was);
}
