/* /api/flame, and stacks of events: through the tables of src/query. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "query/index/stack_tree.h"
#include "view/request/routes.h"
#include "view/answers/call_tree.h"
#include "view/internal.h"
#include "view/events/event.h"
#include "view/answers/stacks.h"

#define MAX_FRAMES 1000

int query_begin(struct view_report *r, struct query **ret, struct error *err)
{
	int rc;

	pthread_mutex_lock(&r->query_lock);
	rc = r->query ? 0 : query_open(&r->query, r->path, err);
	*ret = r->query;
	if (rc < 0)
		pthread_mutex_unlock(&r->query_lock);
	return rc;
}

void query_done(struct view_report *r)
{
	pthread_mutex_unlock(&r->query_lock);
}

/* Which samples count: those of a time, and perhaps of one thread. */
static int make_filter(struct params *p, struct view_report *r, bool has_threads, char *ret, size_t size, struct error *err)
{
	int64_t from, to, row;

	TRY(param_times(p, r, &from, &to, err));
	TRY(params_integer_or(p, "row", 0, (int64_t)r->row_count - 1, -1, &row, err));
	from = from < 0 ? 0 : from; /* all are recorded behind it */
	snprintf(ret, size, "start >= %lld and start < %lld", (long long)from, (long long)to);
	if (row < 0)
		return 0;
	while (r->rows[row].kind != ROW_THREAD && r->rows[row].parent != ROW_NO_PARENT)
		row = r->rows[row].parent;
	if (r->rows[row].kind != ROW_THREAD || !has_threads)
		return error_set(err, EINVAL, "The row has no thread, or is not a row of samples");
	snprintf(ret + strlen(ret), size - strlen(ret), " and globalTid = %lld", (long long)index_global_tid(&r->index, r->rows[row].uid));
	return 0;
}

/* Nodes of the report's tree as they are in ours. */
struct node_map {
	uint32_t *nodes;
	size_t count;
};

static int map_set(struct node_map *m, int64_t id, uint32_t node)
{
	if (id < 0 || id > UINT32_MAX)
		return -EBADMSG;
	if (!ARRAY_REACH(m->nodes, m->count, (size_t)id))
		return -ENOMEM;
	m->nodes[id] = node;
	return 0;
}

enum { NODE_ID, NODE_PARENT, NODE_NAME, NODE_COUNT, NODE_TIME };

static int take_node(struct call_tree *t, struct node_map *m, sqlite3_stmt *s, bool *has_times)
{
	int64_t parent = sqlite3_column_int64(s, NODE_PARENT);
	const char *name = (const char *)sqlite3_column_text(s, NODE_NAME);
	uint32_t text = call_tree_text(t, name ? name : "?", name ? strlen(name) : 1), node;
	bool is_root = sqlite3_column_type(s, NODE_PARENT) == SQLITE_NULL;

	if (text == UINT32_MAX)
		return -ENOMEM;
	node = call_tree_child(t, !is_root && parent >= 0 && (uint64_t)parent < m->count ? m->nodes[parent] : 0, text);
	if (!node)
		return -ENOMEM;
	*has_times &= sqlite3_column_type(s, NODE_TIME) != SQLITE_NULL;
	t->nodes[node].self += (uint64_t)sqlite3_column_int64(s, *has_times ? NODE_TIME : NODE_COUNT);
	return map_set(m, sqlite3_column_int64(s, NODE_ID), node);
}

int call_tree_read(struct call_tree *t, struct query *q, sqlite3_stmt *statement, bool *ret_times, struct error *err)
{
	struct node_map map = { 0 };
	int step = SQLITE_DONE, r = 0;

	*ret_times = true;
	while (r == 0 && (step = sqlite3_step(statement)) == SQLITE_ROW)
		r = take_node(t, &map, statement, ret_times);
	if (r == 0 && step != SQLITE_DONE)
		r = error_set(err, EIO, "%s", sqlite3_errmsg(query_db(q)));
	sqlite3_finalize(statement);
	free(map.nodes);
	return r;
}

static int read_tree(struct query *q, const char *source, const char *filter, struct call_tree *t, bool *ret_times, struct error *err)
{
	static const char text[] = "select id, parent, name, self_count, self_time from stack_stats(?1, 'tree', ?2)";
	sqlite3_stmt *s = NULL;

	if (query_prepare(q, text, &s, NULL) != SQLITE_OK)
		return error_set(err, EIO, "%s", sqlite3_errmsg(query_db(q)));
	sqlite3_bind_text(s, 1, source, -1, SQLITE_STATIC);
	sqlite3_bind_text(s, 2, filter, -1, SQLITE_STATIC);
	return call_tree_read(t, q, s, ret_times, err);
}

/* Callees first: every function that was executing, and below it who called it. */
static int turn_over(const struct call_tree *from, struct call_tree *to)
{
	for (uint32_t i = 1; i < from->count; i++) {
		uint32_t at = 0;

		for (uint32_t up = i, depth = 0; from->nodes[i].self && up && depth < MAX_FRAMES; up = from->nodes[up].parent, depth++) {
			const char *name = from->texts.keys[from->nodes[up].name].bytes;
			uint32_t text = call_tree_text(to, name, strlen(name));

			at = text == UINT32_MAX ? 0 : call_tree_child(to, at, text);
			if (!at)
				return -ENOMEM;
		}
		to->nodes[at].self += from->nodes[i].self;
	}
	return 0;
}

static int put_flame(struct view_report *r, const char *source, const char *filter, bool bottom_up, struct buf *out, struct error *err)
{
	struct call_tree tree, turned;
	struct json_out j;
	struct query *q;
	bool times = true;
	int rc = call_tree_open(&tree) | call_tree_open(&turned);

	if (rc == 0) {
		rc = query_begin(r, &q, err);
		if (rc == 0) {
			rc = read_tree(q, source, filter, &tree, &times, err);
			query_done(r);
		}
	}
	if (rc == 0 && bottom_up)
		rc = turn_over(&tree, &turned);
	out_begin(&j, out);
	if (rc == 0) {
		out_open(&j, '{');
		out_put_text(&j, "unit", times ? "ns" : "samples");
		out_key(&j, "root");
		call_tree_put(&j, bottom_up ? &turned : &tree);
		out_close(&j, '}');
		rc = j.r;
	}
	call_tree_release(&tree);
	call_tree_release(&turned);
	return rc;
}

int answer_flame(struct view *v, struct params *p, struct answer *a, struct error *err)
{
	static const char *const sources[] = { "samples", "offcpu", "osrt" };
	const char *given = params_text(p, "source"), *source = given ? NULL : sources[0], *order = params_text(p, "order");
	struct view_report *report;
	char filter[160];

	TRY(view_asked_report(v, p, &report, err));
	for (size_t i = 0; given && i < 3; i++)
		source = strcmp(given, sources[i]) == 0 ? sources[i] : source;
	if (!source)
		return error_set(err, EINVAL, "source is not samples, offcpu or osrt");
	if (order && strcmp(order, "top-down") && strcmp(order, "bottom-up"))
		return error_set(err, EINVAL, "order is not top-down or bottom-up");
	TRY(make_filter(p, report, strcmp(source, "offcpu") != 0, filter, sizeof(filter), err));
	TRY(params_all_used(p, err));
	return put_flame(report, source, filter, order && strcmp(order, "bottom-up") == 0, &a->body, err);
}

static int put_stack_frame(struct json_out *j, struct query *q, const struct stack_tree *tree, uint32_t frame)
{
	const struct code_function *f = &tree->functions[frame < tree->frame_count ? tree->code[frame].function : 0];
	CLEANUP(buf_release) struct buf name = BUF_INIT;

	TRY(code_function_text(q, f, &name));
	out_text(j, name.data ? name.data : "", name.len);
	return j->r;
}

int stack_put(struct json_out *j, struct view_report *r, int64_t id)
{
	struct stack_tree *tree = NULL;
	struct query *q;
	int rc = query_begin(r, &q, NULL);

	if (rc < 0)
		return rc == -ENOMEM ? rc : 0;
	rc = stack_tree_of(q, &tree);
	out_key(j, "stack");
	out_open(j, '[');
	/* A parent is before its children: this ends. */
	for (uint32_t at = id > 0 && id <= UINT32_MAX ? (uint32_t)id : 0, n = 0; rc == 0 && at && at < tree->stack_count && n < MAX_FRAMES;
	     at = tree->parents[at], n++)
		rc = put_stack_frame(j, q, tree, tree->frames[at]);
	out_close(j, ']');
	query_done(r);
	return rc;
}
