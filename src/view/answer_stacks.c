/* /api/flame and /api/stack: the stacks of samples, through the tables of src/query. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "query/stack_tree.h"
#include "view/answers.h"
#include "view/internal.h"
#include "view/json_out.h"
#include "view/place.h"

/* A tree deeper into details than this is not looked at. */
#define MAX_NODES 20000
#define MAX_FRAMES 1000

/* Used by the one thread that answers slow questions. */
static int query_of(struct recording *r, struct query **ret, struct error *err)
{
	int rc = r->query ? 0 : query_open(&r->query, r->path, err);

	*ret = r->query;
	return rc;
}

static int prepare(struct recording *r, const char *text, sqlite3_stmt **ret, struct error *err)
{
	struct query *q;
	int rc = query_of(r, &q, err);

	if (rc < 0)
		return rc;
	if (query_prepare(q, text, ret, NULL) != SQLITE_OK)
		return error_set(err, EIO, "%s", sqlite3_errmsg(query_db(q)));
	return 0;
}

static int finish(struct recording *r, sqlite3_stmt *s, int step, struct error *err)
{
	int rc = 0;

	if (step != SQLITE_DONE && step != SQLITE_ROW)
		rc = error_set(err, step == SQLITE_NOMEM ? ENOMEM : EIO, "%s", sqlite3_errmsg(query_db(r->query)));
	sqlite3_finalize(s);
	return rc;
}

static void put_node(struct json_out *j, sqlite3_stmt *s)
{
	static const char *const keys[] = { "id", "parent", "name", "selfCount", "self", "count", "time" };

	out_open(j, '{');
	for (int i = 0; i < (int)(sizeof(keys) / sizeof(keys[0])); i++) {
		out_key(j, keys[i]);
		if (sqlite3_column_type(s, i) == SQLITE_TEXT)
			out_text(j, (const char *)sqlite3_column_text(s, i), (size_t)sqlite3_column_bytes(s, i));
		else if (sqlite3_column_type(s, i) == SQLITE_NULL)
			out_null(j);
		else
			out_integer(j, sqlite3_column_int64(s, i));
	}
	out_close(j, '}');
}

/* Which samples count: those of a time, and perhaps of one thread. */
static int make_filter(struct params *p, struct recording *r, bool has_threads, char *ret, size_t size, struct error *err)
{
	int64_t from, to, row;
	int rc = param_times(p, r, &from, &to, err);

	rc = rc < 0 ? rc : params_integer_or(p, "row", 0, (int64_t)r->row_count - 1, -1, &row, err);
	if (rc < 0)
		return rc;
	from = from < 0 ? 0 : from; /* all are recorded behind it */
	snprintf(ret, size, "start >= %lld and start < %lld", (long long)from, (long long)to);
	if (row < 0)
		return 0;
	while (r->rows[row].kind != ROW_THREAD && r->rows[row].parent != ROW_NO_PARENT)
		row = r->rows[row].parent;
	if (r->rows[row].kind != ROW_THREAD || !has_threads)
		return error_set(err, EINVAL, "The row is of no thread, or only samples are told apart by threads");
	snprintf(ret + strlen(ret), size - strlen(ret), " and globalTid = %lld",
		 (long long)index_global_tid(&r->index, r->rows[row].uid));
	return 0;
}

static int put_tree(struct recording *r, const char *source, const char *filter, struct buf *out, struct error *err)
{
	sqlite3_stmt *s = NULL;
	struct json_out j;
	unsigned nodes = 0;
	int step, rc = prepare(r, "select id, parent, name, self_count, self_time, total_count, total_time "
			       "from stack_stats(?1, 'tree', ?2)", &s, err);

	if (rc < 0)
		return rc;
	sqlite3_bind_text(s, 1, source, -1, SQLITE_STATIC);
	sqlite3_bind_text(s, 2, filter, -1, SQLITE_STATIC);
	out_begin(&j, out);
	out_open(&j, '{');
	out_key(&j, "nodes");
	out_open(&j, '[');
	while ((step = sqlite3_step(s)) == SQLITE_ROW && nodes++ < MAX_NODES)
		put_node(&j, s);
	out_close(&j, ']');
	out_put_bool(&j, "cut", step == SQLITE_ROW);
	out_close(&j, '}');
	rc = finish(r, s, step, err);
	return rc < 0 ? rc : j.r;
}

int answer_flame(struct view *v, struct params *p, struct answer *a, struct error *err)
{
	static const char *const sources[] = { "samples", "offcpu", "osrt" };
	const char *given = params_text(p, "source"), *source = given ? NULL : sources[0];
	struct recording *recording;
	char filter[160];
	int r = view_recording(v, p, &recording, err);

	for (size_t i = 0; given && i < 3; i++)
		source = strcmp(given, sources[i]) == 0 ? sources[i] : source;
	if (r == 0 && !source)
		r = error_set(err, EINVAL, "source is none of samples, offcpu and osrt");
	r = r < 0 ? r : make_filter(p, recording, strcmp(source, "offcpu") != 0, filter, sizeof(filter), err);
	r = r < 0 ? r : params_all_used(p, err);
	return r < 0 ? r : put_tree(recording, source, filter, &a->body, err);
}

static int put_frame(struct json_out *j, struct query *q, const struct stack_tree *tree, uint32_t frame)
{
	const struct code_function *f = &tree->functions[frame < tree->frame_count ? tree->code[frame].function : 0];
	struct buf name = BUF_INIT;
	size_t len = 0;
	const char *path = f->path ? query_text(q, f->path, &len) : NULL;
	int r = code_function_text(q, f, &name);

	out_open(j, '{');
	out_key(j, "name");
	out_text(j, name.data ? name.data : "", name.len);
	out_key(j, "module");
	out_text(j, path, len);
	out_close(j, '}');
	buf_release(&name);
	return r < 0 ? r : j->r;
}

/* The innermost first. */
int answer_stack(struct view *v, struct params *p, struct answer *a, struct error *err)
{
	struct recording *recording;
	struct stack_tree *tree = NULL;
	struct query *q;
	struct json_out j;
	int64_t id;
	int r = view_recording(v, p, &recording, err);

	r = r < 0 ? r : params_integer(p, "id", 1, UINT32_MAX, &id, err);
	r = r < 0 ? r : params_all_used(p, err);
	r = r < 0 ? r : query_of(recording, &q, err);
	r = r < 0 ? r : stack_tree_of(q, &tree);
	if (r < 0)
		return r;
	out_begin(&j, &a->body);
	out_open(&j, '{');
	out_key(&j, "frames");
	out_open(&j, '[');
	/* A parent is before its children: this ends. */
	for (uint32_t at = (uint32_t)id, n = 0; at && at < tree->stack_count && n < MAX_FRAMES && r == 0; at = tree->parents[at], n++)
		r = put_frame(&j, q, tree, tree->frames[at]);
	out_close(&j, ']');
	out_close(&j, '}');
	return r < 0 ? r : j.r;
}
