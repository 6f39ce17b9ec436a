/* Executions by opcode: sums over instructions whose text is known, as values of the launch. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/page_source.h"
#include "kernel/source_internal.h"
#include "report/writer.h"

#define MOST_OPCODES 512u
#define BIT(column) (1u << (column))

struct opcode {
	char name[24];
	int64_t executed;
};

/* Memory that instructions access, and how: each has a metric. */
static const struct {
	const char *metric;
	const char *space;
	const char *operation;
} accesses[] = {
	{ "sass__inst_executed_global_loads", "Global", "Load" },  { "sass__inst_executed_global_stores", "Global", "Store" },
	{ "sass__inst_executed_local_loads", "Local", "Load" },    { "sass__inst_executed_local_stores", "Local", "Store" },
	{ "sass__inst_executed_shared_loads", "Shared", "Load" },  { "sass__inst_executed_shared_stores", "Shared", "Store" },
};
#define ACCESSES (sizeof(accesses) / sizeof(accesses[0]))

struct sums {
	struct opcode opcodes[MOST_OPCODES];
	size_t count;
	int64_t accesses[ACCESSES];
	int64_t all;
};

/* "@!P0 LDG.E R4, ..." -> "LDG" */
static void opcode_name(const char *sass, char *ret, size_t size)
{
	if (*sass == '@') {
		sass += strcspn(sass, " ");
		sass += strspn(sass, " ");
	}
	snprintf(ret, size, "%.*s", (int)strcspn(sass, ". ,;"), sass);
}

static void add(struct sums *s, const char *sass, int64_t executed)
{
	struct source_access access;
	char name[sizeof(s->opcodes[0].name)];
	size_t i;

	opcode_name(sass, name, sizeof(name));
	for (i = 0; i < s->count && strcmp(s->opcodes[i].name, name) != 0; i++)
		;
	if (i == MOST_OPCODES || !*name)
		return;
	if (i == s->count) {
		s->opcodes[s->count++] = (struct opcode){ .executed = 0 };
		snprintf(s->opcodes[i].name, sizeof(s->opcodes[i].name), "%s", name);
	}
	s->opcodes[i].executed += executed;
	s->all += executed;
	for (i = 0; source_access(sass, &access) && i < ACCESSES; i++)
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

static int put(struct report_writer *w, struct report_track *track, int64_t result, const char *name, int64_t value)
{
	int64_t v[TABLE_MAX_COLUMNS] = { 0 };

	v[COLUMN_KERNEL_METRIC_RESULT] = result;
	v[COLUMN_KERNEL_METRIC_KIND] = KERNEL_METRIC_VALUE;
	v[COLUMN_KERNEL_METRIC_NAME] = (int64_t)report_string(w, name, strlen(name));
	v[COLUMN_KERNEL_METRIC_UNIT] = (int64_t)report_string(w, "inst", 4);
	v[COLUMN_KERNEL_METRIC_INTEGER] = value;
	return report_append(track, v, BIT(COLUMN_KERNEL_METRIC_RESULT) | BIT(COLUMN_KERNEL_METRIC_KIND) | BIT(COLUMN_KERNEL_METRIC_NAME) |
					      BIT(COLUMN_KERNEL_METRIC_UNIT) | BIT(COLUMN_KERNEL_METRIC_INTEGER));
}

static int put_opcode(struct report_writer *w, struct report_track *track, int64_t result, size_t number, const struct opcode *o)
{
	static const char name[] = "sass__inst_executed_per_opcode";
	int64_t v[TABLE_MAX_COLUMNS] = { 0 };

	v[COLUMN_KERNEL_METRIC_RESULT] = result;
	v[COLUMN_KERNEL_METRIC_KIND] = KERNEL_METRIC_VALUE;
	v[COLUMN_KERNEL_METRIC_NAME] = (int64_t)report_string(w, name, sizeof(name) - 1);
	v[COLUMN_KERNEL_METRIC_INTEGER] = o->executed;
	v[COLUMN_KERNEL_METRIC_INSTANCE] = (int64_t)number;
	v[COLUMN_KERNEL_METRIC_LABEL] = (int64_t)report_string(w, o->name, strlen(o->name));
	return report_append(track, v, BIT(COLUMN_KERNEL_METRIC_RESULT) | BIT(COLUMN_KERNEL_METRIC_KIND) | BIT(COLUMN_KERNEL_METRIC_NAME) |
					      BIT(COLUMN_KERNEL_METRIC_INTEGER) | BIT(COLUMN_KERNEL_METRIC_INSTANCE) |
					      BIT(COLUMN_KERNEL_METRIC_LABEL));
}

static int store(struct sums *s, int64_t result, struct report_writer *w, struct report_track *track)
{
	int r;

	if (!s->count)
		return 0;
	qsort(s->opcodes, s->count, sizeof(s->opcodes[0]), by_executions);
	r = put(w, track, result, "sass__inst_executed_per_opcode", s->all);
	for (size_t i = 0; i < s->count && r >= 0; i++)
		r = put_opcode(w, track, result, i, &s->opcodes[i]);
	for (size_t i = 0; i < ACCESSES && r >= 0; i++)
		r = put(w, track, result, accesses[i].metric, s->accesses[i]);
	return r;
}

int source_store_opcodes(const struct source_book *b, struct report_writer *w)
{
	struct report_track *track = report_track(w, TABLE_KERNEL_METRIC, 0);
	struct sums *s = calloc(1, sizeof(*s));
	int r = s && track ? 0 : -ENOMEM;

	for (size_t i = 0; i < b->count_count && r >= 0; i++) {
		const struct source_count *c = &b->counts[i];
		const struct source_fact *f;

		if (strcmp(b->metrics[c->metric], "inst_executed") == 0 && (f = source_find_fact(b, c->code, c->function, c->pc)) && *f->sass)
			add(s, f->sass, c->value);
		if (i + 1 == b->count_count || b->counts[i + 1].result != c->result) {
			r = store(s, c->result, w, track);
			memset(s, 0, sizeof(*s));
		}
	}
	free(s);
	return r;
}
