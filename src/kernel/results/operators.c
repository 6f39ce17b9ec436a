#include "kernel/results/operators.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/buf.h"
#include "base/cleanup.h"
#include "query/query.h"

#define MOST_NAMED 3u

/* A kernel of the trace. */
struct started {
	char *function;
	char *name;
	char *operator;
	uint32_t grid[3], block[3];
};

struct trace {
	struct started *items; /* in the order of time */
	size_t count, capacity;
};

static const char statement[] =
	"select s.value, d.value, p.name, k.gridX, k.gridY, k.gridZ, k.blockX, k.blockY, k.blockZ from torch_ops t "
	"join torch_ops p on p.id = t.parent join CUPTI_ACTIVITY_KIND_KERNEL k on k.start = t.start and k.end = t.end "
	"join StringIds s on s.id = k.shortName join StringIds d on d.id = k.demangledName "
	"where t.kind = 'kernel' and d.value = t.name order by t.start";

static char *column(sqlite3_stmt *s, int i)
{
	const char *text = (const char *)sqlite3_column_text(s, i);

	return strdup(text ? text : "");
}

static int take_operator_kernel(struct trace *t, sqlite3_stmt *s)
{
	struct started *k;

	if (!ARRAY_ROOM(t->items, t->count, t->capacity, 1))
		return -ENOMEM;
	k = &t->items[t->count++];
	*k = (struct started){ .function = column(s, 0), .name = column(s, 1), .operator= column(s, 2) };
	for (int i = 0; i < 3; i++) {
		k->grid[i] = (uint32_t)sqlite3_column_int64(s, 3 + i);
		k->block[i] = (uint32_t)sqlite3_column_int64(s, 6 + i);
	}
	return k->function && k->name && k->operator? 0 : - ENOMEM;
}

static int load_operator_trace(struct trace *t, const char *path, struct error *err)
{
	sqlite3_stmt *s = NULL;
	struct query *q;
	int r = query_open(&q, path, err), step = SQLITE_DONE;

	if (r < 0)
		return r;
	if (!query_has_table(q, "CUPTI_ACTIVITY_KIND_KERNEL") || query_prepare(q, statement, &s, NULL) != SQLITE_OK)
		r = error_set(err, EINVAL, "%s is not a trace of PyTorch's operators and their kernels", path);
	while (r >= 0 && (step = sqlite3_step(s)) == SQLITE_ROW)
		r = take_operator_kernel(t, s);
	if (r == -ENOMEM)
		error_set(err, ENOMEM, "Not enough memory");
	else if (r >= 0 && step != SQLITE_DONE)
		r = error_set(err, EIO, "%s: %s", path, sqlite3_errmsg(query_db(q)));
	sqlite3_finalize(s);
	query_close(q);
	return r;
}

static void release_operator_trace(struct trace *t)
{
	for (size_t i = 0; i < t->count; i++) {
		free(t->items[i].function);
		free(t->items[i].name);
		free(t->items[i].operator);
	}
	free(t->items);
}

static bool has_shape(const struct started *s, const struct kernel_result *k)
{
	return memcmp(s->grid, k->grid, sizeof(s->grid)) == 0 && memcmp(s->block, k->block, sizeof(s->block)) == 0;
}

static bool is_same_launch(const struct started *s, const struct kernel_result *k)
{
	return has_shape(s, k) && (strcmp(s->function, k->function) == 0 || strcmp(s->name, k->name) == 0);
}

static bool is_same_kernel_work(const struct kernel_result *x, const struct kernel_result *y)
{
	return strcmp(x->function, y->function) == 0 && memcmp(x->grid, y->grid, sizeof(x->grid)) == 0 &&
	       memcmp(x->block, y->block, sizeof(x->block)) == 0;
}

/* What is known of the starters of one kernel. */
struct starters {
	const struct started *nth; /* the one asked for; NULL: there are fewer */
	size_t count;
	const char *named[MOST_NAMED];
	size_t different;
};

static struct starters starters_of(const struct trace *t, const struct kernel_result *k, size_t nth)
{
	struct starters s = { 0 };
	size_t j;

	for (size_t i = 0; i < t->count; i++) {
		if (!is_same_launch(&t->items[i], k))
			continue;
		if (s.count++ == nth)
			s.nth = &t->items[i];
		for (j = 0; j < s.different && j < MOST_NAMED && strcmp(s.named[j], t->items[i].operator) != 0; j++)
			;
		if (j == s.different && j < MOST_NAMED)
			s.named[s.different++] = t->items[i].operator;
	}
	return s;
}

/* -ENOMEM, 0: not in the trace, 1. */
static int name_operator(struct kernel_results *r, const struct trace *t, size_t at)
{
	struct kernel_result *k = &r->items[at];
	struct buf text = BUF_INIT;
	size_t before = 0, same = 0;
	struct starters s;

	for (size_t i = 0; i < r->count; i++)
		if (is_same_kernel_work(&r->items[i], k)) {
			before += i < at;
			same++;
		}
	s = starters_of(t, k, before);
	if (!s.count)
		return 0;
	if (s.different > 1 && s.count == same && s.nth) {
		buf_puts(&text, s.nth->operator);
	} else {
		for (size_t i = 0; i < s.different; i++)
			buf_printf(&text, "%s%s", i ? " or " : "", s.named[i]);
	}
	k->operator= results_keep(r, buf_cstr(&text));
	buf_release(&text);
	return k->operator? 1 : - ENOMEM;
}

int operators_apply(struct kernel_results *results, const char *path, struct error *err)
{
	CLEANUP(release_operator_trace) struct trace t = { 0 };
	int r, found = 0;

	TRY(load_operator_trace(&t, path, err));
	for (size_t i = 0; i < results->count; i++) {
		TRY(r = name_operator(results, &t, i));
		found += r > 0;
	}
	return found;
}
