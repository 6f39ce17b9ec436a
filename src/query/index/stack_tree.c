#include "query/index/stack_tree.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/hash.h"
#include "base/hash_index.h"
#include "base/idmap.h"
#include "base/macros.h"
#include "base/text/path.h"

/* Ids count from 1 without gaps; where groups are damaged some are missing. */
#define SPARE_IDS 65536u

enum { MODULE_ROW_UID, MODULE_ROW_KIND, MODULE_ROW_PATH, MODULE_ROW_WIDTH };
enum { SYMBOL_ROW_ID, SYMBOL_ROW_NAME, SYMBOL_ROW_WIDTH };
enum { NAMED_FRAME, NAMED_SYMBOL, NAMED_WIDTH };
enum { FRAME_ROW_ID, FRAME_ROW_MODULE, FRAME_ROW_OFFSET, FRAME_ROW_WIDTH };
enum { STACK_ROW_ID, STACK_ROW_PARENT, STACK_ROW_FRAME, STACK_ROW_WIDTH };

/* What is needed while the tree is being made. */
struct loading {
	struct query *q;
	struct stack_tree *tree;
	struct index_table modules, symbols, named, frames, stacks;
	int64_t *module_path, *module_kind; /* by uid */
	uint32_t module_limit;
	int64_t *symbol_name; /* by id */
	uint32_t symbol_limit;
	int64_t *frame_name; /* by frame: string id */
	struct hash_index functions;
	uint32_t function_cap;
};

/* One more than the largest id that can be believed. */
static uint32_t id_limit(const struct index_table *t)
{
	uint64_t most = 2 * (uint64_t)t->count + SPARE_IDS;
	int64_t largest = 0;

	if (most > UINT32_MAX - 1)
		most = UINT32_MAX - 1;
	for (size_t i = 0; i < t->count; i++)
		if (t->rows[i * t->width] > largest && (uint64_t)t->rows[i * t->width] <= most)
			largest = t->rows[i * t->width];
	return (uint32_t)largest + 1;
}

static uint32_t checked(int64_t id, uint32_t limit)
{
	return id > 0 && (uint64_t)id < limit ? (uint32_t)id : 0;
}

static int load_stack_tables(struct loading *l)
{
	static const uint8_t modules[] = { COLUMN_MODULE_UID, COLUMN_MODULE_KIND, COLUMN_MODULE_PATH };
	static const uint8_t symbols[] = { COLUMN_SYMBOL_ID, COLUMN_SYMBOL_NAME };
	static const uint8_t named[] = { COLUMN_FRAME_SYMBOL_FRAME, COLUMN_FRAME_SYMBOL_SYMBOL };
	static const uint8_t frames[] = { COLUMN_FRAME_ID, COLUMN_FRAME_MODULE, COLUMN_FRAME_OFFSET };
	static const uint8_t stacks[] = { COLUMN_STACK_ID, COLUMN_STACK_PARENT, COLUMN_STACK_FRAME };
	struct report *report = l->q->report;

	TRY(index_load(&l->modules, report, TABLE_MODULE, MODULE_ROW_WIDTH, modules));
	TRY(index_load(&l->symbols, report, TABLE_SYMBOL, SYMBOL_ROW_WIDTH, symbols));
	TRY(index_load(&l->named, report, TABLE_FRAME_SYMBOL, NAMED_WIDTH, named));
	TRY(index_load(&l->frames, report, TABLE_FRAME, FRAME_ROW_WIDTH, frames));
	return index_load(&l->stacks, report, TABLE_STACK, STACK_ROW_WIDTH, stacks);
}

/* The same text has one id, so that functions of a file loaded twice are one. */
static int place_modules(struct loading *l)
{
	int64_t path;
	uint32_t uid;
	int r = 0;

	l->module_limit = id_limit(&l->modules);
	l->module_path = calloc(l->module_limit, sizeof(*l->module_path));
	l->module_kind = calloc(l->module_limit, sizeof(*l->module_kind));
	if (!l->module_path || !l->module_kind)
		return -ENOMEM;
	for (size_t i = 0; r >= 0 && i < l->modules.count; i++) {
		const int64_t *row = l->modules.rows + i * MODULE_ROW_WIDTH;

		uid = checked(row[MODULE_ROW_UID], l->module_limit);
		path = row[MODULE_ROW_PATH];
		r = first_text_id(l->q, &path);
		l->module_path[uid] = uid ? path : 0;
		l->module_kind[uid] = uid ? row[MODULE_ROW_KIND] : 0;
	}
	return r;
}

static int place_symbols(struct loading *l)
{
	int64_t name;
	uint32_t id;
	int r = 0;

	l->symbol_limit = id_limit(&l->symbols);
	l->symbol_name = calloc(l->symbol_limit, sizeof(*l->symbol_name));
	if (!l->symbol_name)
		return -ENOMEM;
	for (size_t i = 0; r >= 0 && i < l->symbols.count; i++) {
		id = checked(l->symbols.rows[i * SYMBOL_ROW_WIDTH + SYMBOL_ROW_ID], l->symbol_limit);
		name = l->symbols.rows[i * SYMBOL_ROW_WIDTH + SYMBOL_ROW_NAME];
		r = first_text_id(l->q, &name);
		l->symbol_name[id] = id ? name : 0;
	}
	return r;
}

/* A later row replaces an earlier one. */
static int name_frames(struct loading *l)
{
	uint32_t frame;

	l->tree->frame_count = id_limit(&l->frames);
	l->frame_name = calloc(l->tree->frame_count, sizeof(*l->frame_name));
	if (!l->frame_name)
		return -ENOMEM;
	for (size_t i = 0; i < l->named.count; i++) {
		frame = checked(l->named.rows[i * NAMED_WIDTH + NAMED_FRAME], l->tree->frame_count);
		if (frame)
			l->frame_name[frame] = l->symbol_name[checked(l->named.rows[i * NAMED_WIDTH + NAMED_SYMBOL], l->symbol_limit)];
	}
	return 0;
}

static uint64_t hash_function(const struct code_function *f)
{
	return hash_mix(hash_mix(hash_mix((uint64_t)f->name) * 31 + (uint64_t)f->path) * 31 + (uint64_t)f->offset);
}

static int same_function(const struct code_function *a, const struct code_function *b)
{
	return a->name == b->name && a->path == b->path && a->offset == b->offset;
}

static int number_function(struct loading *l, const struct code_function *f, uint32_t *ret)
{
	struct stack_tree *tree = l->tree;
	struct hash_probe at = hash_probe(hash_function(f));

	while (hash_next(&l->functions, &at))
		if (same_function(&tree->functions[at.item], f)) {
			*ret = at.item;
			return 0;
		}
	if (!ARRAY_ROOM(tree->functions, tree->function_count, l->function_cap, 1) ||
	    !hash_index_add(&l->functions, hash_function(f), tree->function_count))
		return -ENOMEM;
	*ret = tree->function_count++;
	tree->functions[*ret] = *f;
	return 0;
}

/* Function 0 is that of frames nothing is known of. */
static int place_frames(struct loading *l)
{
	struct stack_tree *tree = l->tree;
	struct code_function f;
	uint32_t frame, module;
	int r = 0;

	tree->code = calloc(tree->frame_count, sizeof(*tree->code));
	if (!tree->code || !ARRAY_ROOM(tree->functions, 0u, l->function_cap, 1))
		return -ENOMEM;
	tree->functions[0] = (struct code_function){ 0 };
	tree->function_count = 1;
	for (size_t i = 0; r >= 0 && i < l->frames.count; i++) {
		const int64_t *row = l->frames.rows + i * FRAME_ROW_WIDTH;

		frame = checked(row[FRAME_ROW_ID], tree->frame_count);
		module = checked(row[FRAME_ROW_MODULE], l->module_limit);
		f = (struct code_function){ l->frame_name[frame], l->module_path[module], 0, l->module_kind[module] };
		if (!f.name)
			f.offset = row[FRAME_ROW_OFFSET];
		if (frame) {
			tree->code[frame].offset = row[FRAME_ROW_OFFSET];
			r = number_function(l, &f, &tree->code[frame].function);
		}
	}
	return r;
}

/* Whatever a report says, no walk is longer than this. */
static int limit_depths(struct stack_tree *tree)
{
	uint16_t *depths = calloc(tree->stack_count, sizeof(*depths));

	if (!depths)
		return -ENOMEM;
	for (uint32_t i = 1; i < tree->stack_count; i++) {
		if (depths[tree->parents[i]] >= STACK_MAX_DEPTH)
			tree->parents[i] = 0;
		depths[i] = (uint16_t)(depths[tree->parents[i]] + 1);
	}
	free(depths);
	return 0;
}

static int place_stacks(struct loading *l)
{
	struct stack_tree *tree = l->tree;
	uint32_t id;

	tree->stack_count = id_limit(&l->stacks);
	tree->parents = calloc(tree->stack_count, sizeof(*tree->parents));
	tree->frames = calloc(tree->stack_count, sizeof(*tree->frames));
	if (!tree->parents || !tree->frames)
		return -ENOMEM;
	for (size_t i = 0; i < l->stacks.count; i++) {
		const int64_t *row = l->stacks.rows + i * STACK_ROW_WIDTH;

		id = checked(row[STACK_ROW_ID], tree->stack_count);
		if (!id)
			continue;
		tree->parents[id] = checked(row[STACK_ROW_PARENT], id);
		tree->frames[id] = checked(row[STACK_ROW_FRAME], tree->frame_count);
	}
	return limit_depths(tree);
}

/* Modules as labels: one number per path; 0 for code of no module. */
static int place_module_labels(struct stack_tree *tree)
{
	struct idmap numbers = { 0 };
	uint32_t number;
	bool is_new;
	int r = 0;

	tree->modules = calloc(tree->function_count, sizeof(*tree->modules));
	tree->module_paths = calloc(tree->function_count, sizeof(*tree->module_paths));
	tree->module_count = 1;
	if (!tree->modules || !tree->module_paths)
		return -ENOMEM;
	for (uint32_t i = 1; i < tree->function_count && r == 0; i++) {
		if (!tree->functions[i].path)
			continue;
		number = idmap_number(&numbers, (uint64_t)tree->functions[i].path, &is_new);
		r = number ? 0 : -ENOMEM;
		tree->modules[i] = number;
		tree->module_paths[number] = tree->functions[i].path;
		tree->module_count += is_new;
	}
	idmap_release(&numbers);
	return r;
}

static void release_loading(struct loading *l)
{
	struct index_table *tables[] = { &l->modules, &l->symbols, &l->named, &l->frames, &l->stacks };

	for (size_t i = 0; i < COUNT_OF(tables); i++)
		free(tables[i]->rows);
	free(l->module_path);
	free(l->module_kind);
	free(l->symbol_name);
	free(l->frame_name);
	hash_index_release(&l->functions);
}

int stack_tree_of(struct query *q, struct stack_tree **ret)
{
	struct loading l = { .q = q };
	int r;

	*ret = q->stacks;
	if (q->stacks)
		return 0;
	l.tree = calloc(1, sizeof(*l.tree));
	r = l.tree ? load_stack_tables(&l) : -ENOMEM;
	if (r >= 0)
		r = place_modules(&l);
	if (r >= 0)
		r = place_symbols(&l);
	if (r >= 0)
		r = name_frames(&l);
	if (r >= 0)
		r = place_frames(&l);
	if (r >= 0)
		r = place_stacks(&l);
	if (r >= 0)
		r = place_module_labels(l.tree);
	release_loading(&l);
	if (r < 0) {
		stack_tree_release(l.tree);
		return r;
	}
	*ret = q->stacks = l.tree;
	return 0;
}

void stack_tree_release(struct stack_tree *tree)
{
	if (!tree)
		return;
	free(tree->same);
	for (unsigned i = 0; i < STACK_LABELS_COUNT; i++)
		stack_fold_release(&tree->folds[i]);
	free(tree->parents);
	free(tree->frames);
	free(tree->code);
	free(tree->functions);
	free(tree->modules);
	free(tree->module_paths);
	free(tree);
}

static const char *base_name(const char *path)
{
	const char *name = path_name(path);

	return *name ? name : path;
}

int code_function_is_kernel(const struct code_function *f)
{
	return f->kind == MODULE_KERNEL || f->kind == MODULE_KERNEL_MODULE;
}

static int string_text(struct query *q, int64_t id, struct buf *ret)
{
	size_t len;
	const char *text = report_text(q->report, (uint64_t)id, &len);

	return buf_append(ret, text ? text : "", text ? len : 0);
}

int code_function_text(struct query *q, const struct code_function *f, struct buf *ret)
{
	const char *path = f->path ? report_text(q->report, (uint64_t)f->path, NULL) : NULL;

	if (f->name)
		return string_text(q, f->name, ret);
	if (path && path[0] == '[' && f->offset == 0)
		return buf_puts(ret, path); /* not code, but a word in its place: [truncated] */
	if (!path || f->kind == MODULE_JIT)
		return buf_printf(ret, "0x%" PRIx64, (uint64_t)f->offset);
	return buf_printf(ret, "%s+0x%" PRIx64, base_name(path), (uint64_t)f->offset);
}

int64_t code_frame_string(const struct stack_tree *tree, uint32_t frame)
{
	const struct code_function *f = &tree->functions[tree->code[frame].function];

	return f->name ? f->name : STRING_ID_FRAME + tree->code[frame].function;
}

int64_t code_frame_module_string(const struct stack_tree *tree, uint32_t frame)
{
	const struct code_function *f = &tree->functions[tree->code[frame].function];

	return f->path ? f->path : STRING_ID_FRAME;
}

int code_string_text(struct query *q, const struct stack_tree *tree, int64_t id, struct buf *ret)
{
	int64_t function = id - STRING_ID_FRAME;

	if (function < 0 || function >= tree->function_count || tree->functions[function].name)
		return 0;
	TRY(function ? code_function_text(q, &tree->functions[function], ret) : buf_puts(ret, "[Unknown]"));
	return 1;
}
