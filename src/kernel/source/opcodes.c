/* Executions by opcode and by kind: sums over instructions whose text is known, as values of the launch. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/macros.h"
#include "base/sort.h"
#include "kernel/source/opcode.h"
#include "kernel/source/internal.h"
#include "report/writer.h"

#define MOST_OPCODES 1024u

struct opcode {
	char name[OPCODE_MAX];
	int64_t executed;
};

/* Metrics that are sums by name: of which counts, and by which name. */
static const struct {
	const char *metric;
	const char *counts;
	enum opcode_form form;
	bool by_category;
} breakdowns[] = {
	{ "sass__inst_executed_per_opcode", "inst_executed", OPCODE_PLAIN, false },
	{ "sass__inst_executed_per_opcode_category", "inst_executed", OPCODE_PLAIN, true },
	{ "sass__inst_executed_per_opcode_with_modifier_all", "inst_executed", OPCODE_ALL, false },
	{ "sass__inst_executed_per_opcode_with_modifier_selective", "inst_executed", OPCODE_SELECTIVE, false },
	{ "sass__thread_inst_executed_per_opcode_category", "thread_inst_executed_true", OPCODE_PLAIN, true },
	{ "sass__thread_inst_executed_true_per_opcode", "thread_inst_executed_true", OPCODE_PLAIN, false },
	{ "sass__thread_inst_executed_true_per_opcode_with_modifier_all", "thread_inst_executed_true", OPCODE_ALL, false },
	{ "sass__thread_inst_executed_true_per_opcode_with_modifier_selective", "thread_inst_executed_true", OPCODE_SELECTIVE, false },
};
#define BREAKDOWNS COUNT_OF(breakdowns)

/* Memory that instructions access, and how: each has a metric. */
static const struct {
	const char *metric;
	const char *space;
	const char *operation;
} accesses[] = {
	{ "sass__inst_executed_global_loads", "Global", "Load" }, { "sass__inst_executed_global_stores", "Global", "Store" },
	{ "sass__inst_executed_local_loads", "Local", "Load" },   { "sass__inst_executed_local_stores", "Local", "Store" },
	{ "sass__inst_executed_shared_loads", "Shared", "Load" }, { "sass__inst_executed_shared_stores", "Shared", "Store" },
};
#define ACCESSES COUNT_OF(accesses)

struct breakdown {
	struct opcode opcodes[MOST_OPCODES];
	size_t count;
	int64_t all;
};

/* Of one launch. */
struct sums {
	struct breakdown breakdowns[BREAKDOWNS];
	int64_t accesses[ACCESSES];
};

static void add_to(struct breakdown *b, const char *name, int64_t executed)
{
	size_t i = 0;

	while (i < b->count && strcmp(b->opcodes[i].name, name) != 0)
		i++;
	if (i == MOST_OPCODES || !*name)
		return;
	if (i == b->count) {
		b->opcodes[b->count++] = (struct opcode){ .executed = 0 };
		snprintf(b->opcodes[i].name, sizeof(b->opcodes[i].name), "%s", name);
	}
	b->opcodes[i].executed += executed;
	b->all += executed;
}

static void add_opcode_counts(struct sums *s, const char *counts, const char *sass, int64_t executed)
{
	struct source_access access;
	char name[OPCODE_MAX];

	for (size_t i = 0; i < BREAKDOWNS; i++) {
		if (strcmp(breakdowns[i].counts, counts) != 0)
			continue;
		opcode_name(sass, breakdowns[i].form, name);
		add_to(&s->breakdowns[i], breakdowns[i].by_category && *name ? opcode_category(name) : name, executed);
	}
	if (strcmp(counts, "inst_executed") != 0 || !source_access(sass, &access))
		return;
	for (size_t i = 0; i < ACCESSES; i++)
		if (strcmp(access.space, accesses[i].space) == 0 && strcmp(access.operation, accesses[i].operation) == 0)
			s->accesses[i] += executed;
}

static int by_executions(const void *a, const void *b)
{
	const struct opcode *x = a, *y = b;

	if (x->executed != y->executed)
		return x->executed > y->executed ? -1 : 1;
	return strcmp(x->name, y->name);
}

static int put_opcode_metric(struct report_writer *w, struct report_track *track, int64_t result, const char *name, const char *unit,
			     int64_t value)
{
	int64_t v[TABLE_MAX_COLUMNS] = { 0 };

	v[COLUMN_KERNEL_METRIC_RESULT] = result;
	v[COLUMN_KERNEL_METRIC_KIND] = KERNEL_METRIC_VALUE;
	v[COLUMN_KERNEL_METRIC_NAME] = (int64_t)report_string(w, name, strlen(name));
	v[COLUMN_KERNEL_METRIC_UNIT] = (int64_t)report_string(w, unit, strlen(unit));
	v[COLUMN_KERNEL_METRIC_INTEGER] = value;
	return report_append(track, v,
			     BIT(COLUMN_KERNEL_METRIC_RESULT) | BIT(COLUMN_KERNEL_METRIC_KIND) | BIT(COLUMN_KERNEL_METRIC_NAME) |
				     BIT(COLUMN_KERNEL_METRIC_UNIT) | BIT(COLUMN_KERNEL_METRIC_INTEGER));
}

static int put_opcode(struct report_writer *w, struct report_track *track, int64_t result, const char *metric, size_t number,
		      const struct opcode *o)
{
	int64_t v[TABLE_MAX_COLUMNS] = { 0 };

	v[COLUMN_KERNEL_METRIC_RESULT] = result;
	v[COLUMN_KERNEL_METRIC_KIND] = KERNEL_METRIC_VALUE;
	v[COLUMN_KERNEL_METRIC_NAME] = (int64_t)report_string(w, metric, strlen(metric));
	v[COLUMN_KERNEL_METRIC_INTEGER] = o->executed;
	v[COLUMN_KERNEL_METRIC_INSTANCE] = (int64_t)number;
	v[COLUMN_KERNEL_METRIC_LABEL] = (int64_t)report_string(w, o->name, strlen(o->name));
	return report_append(track, v,
			     BIT(COLUMN_KERNEL_METRIC_RESULT) | BIT(COLUMN_KERNEL_METRIC_KIND) | BIT(COLUMN_KERNEL_METRIC_NAME) |
				     BIT(COLUMN_KERNEL_METRIC_INTEGER) | BIT(COLUMN_KERNEL_METRIC_INSTANCE) |
				     BIT(COLUMN_KERNEL_METRIC_LABEL));
}

static int store_breakdown(struct breakdown *b, const char *metric, int64_t result, struct report_writer *w, struct report_track *track)
{
	if (!b->count)
		return 0;
	sort_items(b->opcodes, b->count, sizeof(b->opcodes[0]), by_executions);
	TRY(put_opcode_metric(w, track, result, metric, "inst", b->all));
	for (size_t i = 0; i < b->count; i++)
		TRY(put_opcode(w, track, result, metric, i, &b->opcodes[i]));
	return 0;
}

/* Which accesses to local and shared memory are spilled registers, the text does not say; that there are none, it does. */
static int store_spilling(const struct sums *s, int64_t result, struct report_writer *w, struct report_track *track)
{
	static const char *const metrics[] = { "sass__inst_executed_register_spilling", "sass__inst_executed_register_spilling_op_read",
					       "sass__inst_executed_register_spilling_op_write" };
	int r = 0;

	for (size_t i = 0; i < ACCESSES; i++)
		if (s->accesses[i] && strcmp(accesses[i].space, "Global") != 0)
			return 0;
	for (size_t i = 0; i < COUNT_OF(metrics) && r >= 0; i++)
		r = put_opcode_metric(w, track, result, metrics[i], "inst", 0);
	return r;
}

static int store(struct sums *s, int64_t result, struct report_writer *w, struct report_track *track)
{
	if (!s->breakdowns[0].count)
		return 0;
	for (size_t i = 0; i < BREAKDOWNS; i++)
		TRY(store_breakdown(&s->breakdowns[i], breakdowns[i].metric, result, w, track));
	for (size_t i = 0; i < ACCESSES; i++)
		TRY(put_opcode_metric(w, track, result, accesses[i].metric, "inst", s->accesses[i]));
	return store_spilling(s, result, w, track);
}

/* Sums over instructions of what each does on average, as whole numbers: the columns of ncu's source page as a value of the launch. */
static const struct {
	const char *metric;
	const char *unit;
	const char *counts;
} averages[] = {
	{ "derived__avg_thread_executed", "thread", "thread_inst_executed" },
	{ "derived__avg_thread_executed_true", "thread", "thread_inst_executed_true" },
	{ "derived__memory_l1_conflicts_shared_nway", "", "memory_l1_wavefronts_shared" },
};

static int store_averages(const struct source_book *b, int64_t result, struct report_writer *w, struct report_track *track)
{
	struct kernel_source s;
	int r = kernel_source_of(&s, b, result);

	if (r < 0)
		return r;
	for (size_t i = 0; i < COUNT_OF(averages) && r >= 0; i++) {
		double sum = 0;

		for (size_t k = 0; k < s.count; k++) {
			double executed = source_value(&s, &s.items[k], "inst_executed");

			sum += executed > 0 ? floor(source_value(&s, &s.items[k], averages[i].counts) / executed) : 0;
		}
		/* Not a number where it was not counted. */
		if (isfinite(sum) && sum < 1e15)
			r = put_opcode_metric(w, track, result, averages[i].metric, averages[i].unit, (int64_t)sum);
	}
	kernel_source_release(&s);
	return r;
}

static bool is_summed(const char *metric)
{
	for (size_t i = 0; i < BREAKDOWNS; i++)
		if (strcmp(breakdowns[i].counts, metric) == 0)
			return true;
	return false;
}

int source_store_opcodes(const struct source_book *b, struct report_writer *w)
{
	struct report_track *track = report_track(w, TABLE_KERNEL_METRIC, 0);
	struct sums *s = calloc(1, sizeof(*s));
	int r = s && track ? 0 : -ENOMEM;

	for (size_t i = 0; i < b->count_count && r >= 0; i++) {
		const struct source_count *c = &b->counts[i];
		const char *metric = b->metrics[c->metric];
		const struct source_fact *f = is_summed(metric) ? source_find_fact(b, c->code, c->function, c->pc) : NULL;

		if (f && *f->sass)
			add_opcode_counts(s, metric, f->sass, c->value);
		if (i + 1 == b->count_count || b->counts[i + 1].result != c->result) {
			r = store(s, c->result, w, track);
			if (r >= 0 && s->breakdowns[0].count)
				r = store_averages(b, c->result, w, track);
			memset(s, 0, sizeof(*s));
		}
	}
	free(s);
	return r;
}
