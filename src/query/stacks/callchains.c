/* SAMPLING_CALLCHAINS, OSRT_CALLCHAINS and CUDA_CALLCHAINS: a row per frame of a stack, made from the tree of
 * all stacks when it is read. The id of a sample's stack is that of its row in COMPOSITE_EVENTS; calls of the OS
 * runtime and of CUDA have the id of their stack. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/macros.h"
#include "query/engine/function.h"
#include "query/index/stack_tree.h"

/* Columns are numbered as SAMPLING_CALLCHAINS has them. */
#define CHAIN(column) ((int)NSYS_AT(SAMPLING_CALLCHAINS, column))
#define CHAIN_WIDTH NSYS_WIDTH(SAMPLING_CALLCHAINS)

enum { PLAN_ALL = 0, PLAN_ID = 1, PLAN_DEPTH = 2 };

/* ENUM_STACK_UNWIND_METHOD. */
enum { METHOD_UNKNOWN = 0, METHOD_FRAME_POINTERS = 1, METHOD_TABLES = 2, METHOD_BRANCHES = 3 };

/* Whose stacks a table shows. */
struct chains_kind {
	enum nsys_table_id id;
	enum table_id table;
	unsigned stack; /* its column */
	enum track_kind track;
	uint8_t columns[CHAIN_WIDTH]; /* CHAIN() of each */
};

#define COLUMN_OF(NAME, column) [NSYS_AT(NAME, column)] = CHAIN(column)
#define COLUMNS_OF_ALL(NAME) \
	COLUMN_OF(NAME, id), COLUMN_OF(NAME, symbol), COLUMN_OF(NAME, module), COLUMN_OF(NAME, unresolved), COLUMN_OF(NAME, originalIP), \
		COLUMN_OF(NAME, stackDepth)
#define COLUMNS_OF_CPU(NAME) \
	COLUMNS_OF_ALL(NAME), COLUMN_OF(NAME, kernelMode), COLUMN_OF(NAME, thumbCode), COLUMN_OF(NAME, specialEntry), \
		COLUMN_OF(NAME, unwindMethod)

static const struct chains_kind kinds[] = {
	{ NSYS_SAMPLING_CALLCHAINS, TABLE_SAMPLE, COLUMN_SAMPLE_STACK, TRACK_SAMPLES, { COLUMNS_OF_CPU(SAMPLING_CALLCHAINS) } },
	{ NSYS_OSRT_CALLCHAINS, TABLE_OSRT, COLUMN_OSRT_STACK, TRACK_OSRT, { COLUMNS_OF_CPU(OSRT_CALLCHAINS) } },
	{ NSYS_CUDA_CALLCHAINS, TABLE_CUDA_API, COLUMN_CUDA_API_STACK, TRACK_CUDA_API, { COLUMNS_OF_ALL(CUDA_CALLCHAINS) } },
};
#define KIND_COUNT COUNT_OF(kinds)

struct chains_vtab {
	struct function_vtab function;
	const struct chains_kind *kind;
	int method;
	uint64_t *used; /* stacks that calls have: a bit each; NULL until asked for */
};

struct chains_cursor {
	sqlite3_vtab_cursor base;
	struct stack_tree *tree;
	/* Samples: the group at hand. */
	size_t group;
	int loaded; /* `stacks` are those of `group` */
	uint32_t row;
	int64_t *stacks;
	size_t cap;
	int64_t id;
	int64_t only_depth; /* -1: all */
	int only_id;
	uint32_t node; /* stack at hand; 0 = at the end */
	int64_t depth;
};

static struct query *query_of(const sqlite3_vtab_cursor *base)
{
	return ((struct function_vtab *)base->pVtab)->q;
}

static int method_of(struct query *q, enum table_id table)
{
	const char *name = report_meta(q->report, "sampling.backtrace");

	if (table != TABLE_SAMPLE)
		return METHOD_TABLES;
	if (!name)
		return METHOD_UNKNOWN;
	return strcmp(name, "fp") == 0                                 ? METHOD_FRAME_POINTERS :
	       strcmp(name, "dwarf") == 0 || strcmp(name, "auto") == 0 ? METHOD_TABLES :
	       strcmp(name, "lbr") == 0                                ? METHOD_BRANCHES :
									 METHOD_UNKNOWN;
}

/* argv[2] is the table's name. */
static int chains_connect(sqlite3 *db, void *aux, int argc, const char *const *argv, sqlite3_vtab **ret, char **error)
{
	struct query *q = aux;
	const struct chains_kind *kind = kinds;
	struct chains_vtab *v;
	char *declaration;
	int r;

	while (kind < kinds + KIND_COUNT - 1 && strcmp(argv[2], nsys_declared[kind->id].name) != 0)
		kind++;
	declaration = nsys_declaration(kind->id, "x");
	r = declaration ? sqlite3_declare_vtab(db, declaration) : SQLITE_NOMEM;
	sqlite3_free(declaration);
	if (r != SQLITE_OK)
		return r;
	v = sqlite3_malloc(sizeof(*v));
	if (!v)
		return SQLITE_NOMEM;
	*v = (struct chains_vtab){ .function = { .q = q } };
	v->kind = kind;
	v->method = method_of(q, kind->table);
	sqlite3_vtab_config(db, SQLITE_VTAB_INNOCUOUS);
	*ret = &v->function.base;
	return SQLITE_OK;
}

static int chains_disconnect(sqlite3_vtab *base)
{
	free(((struct chains_vtab *)base)->used);
	sqlite3_free(base);
	return SQLITE_OK;
}

static int column_of(const struct chains_vtab *v, int column)
{
	return column < 0 ? -1 : v->kind->columns[column];
}

/* Rows come by id, then depth. */
static int comes_in_order(const struct chains_vtab *v, const sqlite3_index_info *info)
{
	for (int i = 0; i < info->nOrderBy; i++)
		if (info->aOrderBy[i].desc || column_of(v, info->aOrderBy[i].iColumn) != (i == 0 ? CHAIN(id) : CHAIN(stackDepth)))
			return 0;
	return info->nOrderBy > 0 && info->nOrderBy <= 2;
}

static int chains_best_index(sqlite3_vtab *base, sqlite3_index_info *info)
{
	const struct chains_vtab *v = (struct chains_vtab *)base;
	double rows = (double)report_row_count(v->function.q->report, v->kind->table) * 16;
	int place[2] = { -1, -1 }, used = 0;

	for (int i = 0; i < info->nConstraint; i++) {
		if (!info->aConstraint[i].usable || info->aConstraint[i].op != SQLITE_INDEX_CONSTRAINT_EQ)
			continue;
		if (column_of(v, info->aConstraint[i].iColumn) == CHAIN(id))
			place[0] = i;
		if (column_of(v, info->aConstraint[i].iColumn) == CHAIN(stackDepth))
			place[1] = i;
	}
	info->idxNum = (place[0] >= 0 ? PLAN_ID : 0) | (place[1] >= 0 ? PLAN_DEPTH : 0);
	for (unsigned i = 0; i < 2; i++)
		if (place[i] >= 0)
			info->aConstraintUsage[place[i]].argvIndex = ++used;
	rows = place[0] >= 0 ? 16 : rows;
	rows = place[1] >= 0 ? rows / 16 : rows;
	info->estimatedRows = rows < 1 ? 1 : (sqlite3_int64)rows;
	info->estimatedCost = rows + 1;
	info->orderByConsumed = comes_in_order(v, info);
	return SQLITE_OK;
}

static int chains_open(sqlite3_vtab *base, sqlite3_vtab_cursor **ret)
{
	return cursor_open(ret, sizeof(struct chains_cursor));
}

static int chains_close(sqlite3_vtab_cursor *base)
{
	free(((struct chains_cursor *)base)->stacks);
	free(base);
	return SQLITE_OK;
}

static int has_shown_chains(struct query *q, const struct chains_kind *kind, size_t group)
{
	const struct report_group *g = report_group(q->report, kind->table, group);
	const int64_t *track = index_find(&q->index.tracks, g->track);

	return track && track[TRACK_KIND] == (int64_t)kind->track && g->present >> kind->stack & 1;
}

static const struct chains_kind *get_chains_kind(const struct chains_cursor *c)
{
	return ((const struct chains_vtab *)c->base.pVtab)->kind;
}

/* Decodes the stacks of a group into c->stacks. */
static int load_chains_group(struct chains_cursor *c, size_t group)
{
	struct query *q = query_of(&c->base);
	const struct chains_kind *kind = get_chains_kind(c);
	uint32_t rows = report_group(q->report, kind->table, group)->rows;
	int64_t *grown;
	int r;

	c->loaded = 0;
	if (c->cap < rows) {
		grown = realloc(c->stacks, rows * sizeof(*grown));
		if (!grown)
			return -ENOMEM;
		c->stacks = grown;
		c->cap = rows;
	}
	r = report_column(q->report, kind->table, group, kind->stack, c->stacks, NULL);
	if (r == -EBADMSG)
		atomic_fetch_add(&q->damaged, 1);
	c->loaded = r >= 0;
	c->group = group;
	return r == -ENOMEM ? r : 0;
}

static uint32_t known_stack(const struct chains_cursor *c, int64_t id)
{
	return id > 0 && id < c->tree->stack_count ? (uint32_t)id : 0;
}

/* Goes to depth `only_depth`, or to the leaf; 0 when the stack is not that deep. */
static int enter_stack(struct chains_cursor *c, uint32_t stack)
{
	c->depth = 0;
	c->node = stack;
	if (c->only_depth > STACK_MAX_DEPTH)
		c->node = 0;
	for (; c->node && c->depth < c->only_depth; c->depth++)
		c->node = c->tree->parents[c->node];
	return c->node != 0;
}

/* The next sample with a stack, beginning with c->row of c->group. */
static int next_sample(struct chains_cursor *c)
{
	struct query *q = query_of(&c->base);
	const struct report_group *g;

	for (; c->group < report_group_count(q->report, TABLE_SAMPLE); c->group++, c->row = 0, c->loaded = 0) {
		if (!has_shown_chains(q, get_chains_kind(c), c->group))
			continue;
		TRY(c->loaded ? 0 : load_chains_group(c, c->group));
		g = report_group(q->report, TABLE_SAMPLE, c->group);
		for (; c->loaded && c->row < g->rows; c->row++)
			if (enter_stack(c, known_stack(c, c->stacks[c->row]))) {
				c->id = (int64_t)g->first_row + c->row + 1;
				return 0;
			}
	}
	return 0;
}

/* The group that has the sample of that number; -1 when none has. */
static int64_t group_of_sample(const struct report *report, int64_t id)
{
	size_t low = 0, high = report_group_count(report, TABLE_SAMPLE), middle;
	const struct report_group *g;

	while (low < high) {
		middle = low + (high - low) / 2;
		g = report_group(report, TABLE_SAMPLE, middle);
		if (g->first_row + g->rows < (uint64_t)id)
			low = middle + 1;
		else
			high = middle;
	}
	if (id <= 0 || low == report_group_count(report, TABLE_SAMPLE))
		return -1;
	g = report_group(report, TABLE_SAMPLE, low);
	return (uint64_t)id > g->first_row && (uint64_t)id <= g->first_row + g->rows ? (int64_t)low : -1;
}

static int find_sample(struct chains_cursor *c, int64_t id)
{
	struct query *q = query_of(&c->base);
	int64_t group = group_of_sample(q->report, id);
	int r = 0;

	c->node = 0;
	if (group < 0 || !has_shown_chains(q, get_chains_kind(c), (size_t)group))
		return 0;
	if (!c->loaded || c->group != (size_t)group)
		r = load_chains_group(c, (size_t)group);
	if (r < 0 || !c->loaded)
		return r;
	c->id = id;
	c->row = (uint32_t)((uint64_t)id - 1 - report_group(q->report, TABLE_SAMPLE, c->group)->first_row);
	enter_stack(c, known_stack(c, c->stacks[c->row]));
	return 0;
}

/* Which stacks calls have. */
static int find_used(struct chains_vtab *v, struct chains_cursor *c)
{
	struct query *q = v->function.q;
	enum table_id table = v->kind->table;
	uint32_t stack;
	int r = 0;

	if (v->used)
		return 0;
	v->used = calloc((size_t)c->tree->stack_count / 64 + 1, sizeof(*v->used));
	if (!v->used)
		return -ENOMEM;
	for (size_t group = 0; r >= 0 && group < report_group_count(q->report, table); group++) {
		if (!has_shown_chains(q, v->kind, group))
			continue;
		r = load_chains_group(c, group);
		for (uint32_t i = 0; c->loaded && i < report_group(q->report, table, group)->rows; i++) {
			stack = known_stack(c, c->stacks[i]);
			v->used[stack / 64] |= stack ? 1ull << (stack % 64) : 0;
		}
	}
	return r;
}

/* The next stack of a call with an id of at least c->id. */
static int next_call_stack(struct chains_cursor *c)
{
	const struct chains_vtab *v = (const struct chains_vtab *)c->base.pVtab;

	c->node = 0;
	for (; c->id < c->tree->stack_count; c->id++)
		if (v->used[c->id / 64] >> (c->id % 64) & 1 && enter_stack(c, (uint32_t)c->id))
			break;
	return 0;
}

static int begin_chains(struct chains_cursor *c, const int64_t *id)
{
	struct chains_vtab *v = (struct chains_vtab *)c->base.pVtab;
	int r;

	c->only_id = id != NULL;
	if (v->kind->table == TABLE_SAMPLE && id)
		return find_sample(c, *id);
	c->group = 0;
	c->row = 0;
	c->loaded = 0;
	if (v->kind->table == TABLE_SAMPLE)
		return next_sample(c);
	r = find_used(v, c);
	c->id = id ? *id : 1;
	if (r < 0 || c->id < 1 || c->id >= c->tree->stack_count)
		return r;
	next_call_stack(c);
	if (id && c->id != *id)
		c->node = 0;
	return 0;
}

static int chains_filter(sqlite3_vtab_cursor *base, int plan, const char *text, int argc, sqlite3_value **argv)
{
	struct chains_cursor *c = (struct chains_cursor *)base;
	int64_t id = 0;
	int at = 0, r;

	c->node = 0;
	c->only_depth = -1;
	for (int i = 0; i < argc; i++)
		if (sqlite3_value_numeric_type(argv[i]) != SQLITE_INTEGER)
			return SQLITE_OK; /* equal to no number */
	r = stack_tree_of(query_of(base), &c->tree);
	if (r < 0)
		return function_code(r);
	if (plan & PLAN_ID)
		id = sqlite3_value_int64(argv[at++]);
	if (plan & PLAN_DEPTH)
		c->only_depth = sqlite3_value_int64(argv[at++]);
	if ((plan & PLAN_DEPTH) && c->only_depth < 0)
		return SQLITE_OK;
	return function_code(begin_chains(c, plan & PLAN_ID ? &id : NULL));
}

static int chains_next(sqlite3_vtab_cursor *base)
{
	struct chains_cursor *c = (struct chains_cursor *)base;

	if (c->only_depth < 0) {
		c->depth++;
		c->node = c->tree->parents[c->node];
		if (c->node)
			return SQLITE_OK;
	}
	c->node = 0;
	if (c->only_id)
		return SQLITE_OK;
	if (get_chains_kind(c)->table == TABLE_SAMPLE) {
		c->row++;
		return function_code(next_sample(c));
	}
	c->id++;
	return function_code(next_call_stack(c));
}

static int chains_eof(sqlite3_vtab_cursor *base)
{
	return ((struct chains_cursor *)base)->node == 0;
}

static int chains_column(sqlite3_vtab_cursor *base, sqlite3_context *context, int column)
{
	struct chains_cursor *c = (struct chains_cursor *)base;
	uint32_t frame = c->tree->frames[c->node];
	const struct code_function *f = &c->tree->functions[c->tree->code[frame].function];

	switch (get_chains_kind(c)->columns[column]) {
	case CHAIN(id): sqlite3_result_int64(context, c->id); break;
	case CHAIN(symbol): sqlite3_result_int64(context, code_frame_string(c->tree, frame)); break;
	case CHAIN(module): sqlite3_result_int64(context, code_frame_module_string(c->tree, frame)); break;
	case CHAIN(kernelMode): sqlite3_result_int(context, code_function_is_kernel(f)); break;
	case CHAIN(unresolved): sqlite3_result_int(context, f->name == 0); break;
	case CHAIN(originalIP): sqlite3_result_int64(context, c->tree->code[frame].offset); break;
	case CHAIN(unwindMethod): sqlite3_result_int(context, ((const struct chains_vtab *)base->pVtab)->method); break;
	case CHAIN(stackDepth): sqlite3_result_int64(context, c->depth); break;
	}
	return SQLITE_OK;
}

static int chains_rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *ret)
{
	const struct chains_cursor *c = (struct chains_cursor *)base;

	*ret = (sqlite3_int64)((uint64_t)c->id << 16 | (uint64_t)c->depth);
	return SQLITE_OK;
}

/* clang-format off */
const sqlite3_module callchains_module = {
	.iVersion = 1, .xCreate = chains_connect, .xConnect = chains_connect, .xBestIndex = chains_best_index,
	.xDisconnect = chains_disconnect, .xDestroy = chains_disconnect, .xOpen = chains_open,
	.xClose = chains_close, .xFilter = chains_filter, .xNext = chains_next, .xEof = chains_eof,
	.xColumn = chains_column, .xRowid = chains_rowid,
};
/* clang-format on */

static int has_stacks(struct query *q, const struct chains_kind *kind)
{
	if (report_row_count(q->report, TABLE_STACK) == 0)
		return 0;
	for (size_t i = 0; i < report_group_count(q->report, kind->table); i++)
		if (has_shown_chains(q, kind, i))
			return 1;
	return 0;
}

static const char *chains_name(struct query *q, unsigned i)
{
	return i < KIND_COUNT ? nsys_declared[kinds[i].id].name : NULL;
}

static int make_chains(struct query *q, unsigned i)
{
	return listed_create(q, has_stacks(q, &kinds[i]), chains_name(q, i), "sonde_callchains");
}

const struct listed_family callchain_family = { chains_name, make_chains };
