/* Call chains: a row per frame, the innermost first. They become the report's tree of stacks. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/path.h"
#include "ingest/nsys/internal.h"

#define MOST_FRAMES 4096 /* of one chain */

/* Each of the three tables has these columns, or some of them. */
#define CHAIN_AT(column) NSYS_AT(SAMPLING_CALLCHAINS, column)

/* Empty where there is none. */
static void string_text(struct nsys *n, int64_t id, struct buf *ret)
{
	sqlite3_stmt *row = nsys_string_row(n, id);
	const char *text = row ? (const char *)sqlite3_column_text(row, 0) : NULL;

	if (text)
		buf_puts(ret, text);
	sqlite3_finalize(row);
}

static uint64_t module_of(struct nsys *n, int64_t id, const char *path, enum module_kind kind)
{
	const int64_t key[] = { id, kind };
	uint32_t count = n->module_keys.count, number = keymap_number(&n->module_keys, key, sizeof(key));
	int64_t v[TABLE_MAX_COLUMNS];

	if (number == KEYMAP_NONE || number < count)
		return (uint64_t)number + 1;
	v[COLUMN_MODULE_UID] = number + 1;
	v[COLUMN_MODULE_KIND] = kind;
	v[COLUMN_MODULE_PATH] = (int64_t)sink_text(&n->sink, path);
	sink_row(&n->sink, TABLE_MODULE, v, SINK_BIT(COLUMN_MODULE_UID) | SINK_BIT(COLUMN_MODULE_KIND) | SINK_BIT(COLUMN_MODULE_PATH));
	return (uint64_t)number + 1;
}

static uint64_t symbol_of(struct nsys *n, uint64_t module, const char *name)
{
	const uint64_t key[] = { module, sink_text(&n->sink, name) };
	uint32_t count = n->symbol_keys.count, number = keymap_number(&n->symbol_keys, key, sizeof(key));
	uint32_t present = SINK_BIT(COLUMN_SYMBOL_ID) | SINK_BIT(COLUMN_SYMBOL_NAME);
	int64_t v[TABLE_MAX_COLUMNS];

	if (number == KEYMAP_NONE || number < count)
		return (uint64_t)number + 1;
	v[COLUMN_SYMBOL_ID] = number + 1;
	v[COLUMN_SYMBOL_MODULE] = (int64_t)module;
	v[COLUMN_SYMBOL_NAME] = (int64_t)key[1];
	present |= module ? SINK_BIT(COLUMN_SYMBOL_MODULE) : 0;
	sink_row(&n->sink, TABLE_SYMBOL, v, present);
	return (uint64_t)number + 1;
}

/* "[kernel]" is the kernel itself, every other word in brackets a module of it. An address in a file that is not
 * counted from the file's begin is shown as it is: so are those of code made while running. */
static enum module_kind find_nsys_module_kind(const char *path, int in_kernel, int is_address)
{
	if (in_kernel)
		return path[0] == '[' && strncmp(path, "[kernel", 7) != 0 ? MODULE_KERNEL_MODULE : MODULE_KERNEL;
	return is_address ? MODULE_JIT : MODULE_FILE;
}

/* A place without a name is written as "0x12" or "file+0x12". */
static int parse_nsys_address(const char *text, const char *module, int64_t *ret)
{
	const char *file = path_name(module);
	size_t len = strlen(file);
	char *end;

	if (len && strncmp(text, file, len) == 0 && text[len] == '+')
		text += len + 1;
	if (strncmp(text, "0x", 2) != 0)
		return 0;
	errno = 0;
	*ret = (int64_t)strtoull(text, &end, 16);
	return !*end && errno == 0;
}

static int is_known_module(const char *path)
{
	return *path && strcmp(path, "[Unknown]") != 0 && strcmp(path, "[unknown]") != 0;
}

static void frame_rows(struct nsys *n, uint64_t frame, uint64_t module, int64_t offset, uint64_t symbol)
{
	uint32_t present = SINK_BIT(COLUMN_FRAME_ID) | SINK_BIT(COLUMN_FRAME_OFFSET);
	int64_t v[TABLE_MAX_COLUMNS];

	v[COLUMN_FRAME_ID] = (int64_t)frame;
	v[COLUMN_FRAME_MODULE] = (int64_t)module;
	v[COLUMN_FRAME_OFFSET] = offset;
	present |= module ? SINK_BIT(COLUMN_FRAME_MODULE) : 0;
	sink_row(&n->sink, TABLE_FRAME, v, present);
	v[COLUMN_FRAME_SYMBOL_FRAME] = (int64_t)frame;
	v[COLUMN_FRAME_SYMBOL_SYMBOL] = (int64_t)symbol;
	sink_row(&n->sink, TABLE_FRAME_SYMBOL, v,
		 SINK_BIT(COLUMN_FRAME_SYMBOL_FRAME) | (symbol ? SINK_BIT(COLUMN_FRAME_SYMBOL_SYMBOL) : 0));
}

uint64_t nsys_frame(struct nsys *n, int64_t symbol, int64_t module, int64_t address, int in_kernel, int unresolved)
{
	const int64_t key[] = { symbol, module, address, in_kernel != 0, unresolved != 0 };
	uint32_t count = n->frame_keys.count, number = keymap_number(&n->frame_keys, key, sizeof(key));
	struct buf name_text = BUF_INIT, path_text = BUF_INIT;
	const char *name, *path;
	uint64_t uid = 0, named = 0;
	int is_place;

	if (number == KEYMAP_NONE)
		return 0;
	if (number < count)
		return (uint64_t)number + 1;
	string_text(n, symbol, &name_text);
	string_text(n, module, &path_text);
	name = buf_cstr(&name_text);
	path = buf_cstr(&path_text);
	if (name && path) {
		is_place = unresolved && (parse_nsys_address(name, path, &address) || strcmp(name, path) == 0);
		if (is_known_module(path) || in_kernel)
			uid = module_of(n, module, path, find_nsys_module_kind(path, in_kernel, is_place && strncmp(name, "0x", 2) == 0));
		if (!is_place)
			named = symbol_of(n, uid, name);
		frame_rows(n, (uint64_t)number + 1, uid, address, named);
	}
	buf_release(&name_text);
	buf_release(&path_text);
	return (uint64_t)number + 1;
}

static uint64_t intern_nsys_stack(struct nsys *n, uint64_t parent, uint64_t frame, int64_t depth)
{
	const uint64_t key[] = { parent, frame };
	uint32_t count = n->stack_keys.count, number = keymap_number(&n->stack_keys, key, sizeof(key));
	uint32_t present = SINK_BIT(COLUMN_STACK_ID) | SINK_BIT(COLUMN_STACK_FRAME) | SINK_BIT(COLUMN_STACK_DEPTH);
	int64_t v[TABLE_MAX_COLUMNS];

	if (number == KEYMAP_NONE || number < count)
		return (uint64_t)number + 1;
	v[COLUMN_STACK_ID] = number + 1;
	v[COLUMN_STACK_PARENT] = (int64_t)parent;
	v[COLUMN_STACK_FRAME] = (int64_t)frame;
	v[COLUMN_STACK_DEPTH] = depth;
	present |= parent ? SINK_BIT(COLUMN_STACK_PARENT) : 0;
	sink_row(&n->sink, TABLE_STACK, v, present);
	return (uint64_t)number + 1;
}

int nsys_chains_open(struct nsys_chains *c, struct nsys *n, enum nsys_table_id id)
{
	static const unsigned order[] = { CHAIN_AT(id), CHAIN_AT(stackDepth) };
	struct nsys_table table = nsys_tables[NSYS_SAMPLING_CALLCHAINS];

	table.name = nsys_tables[id].name;
	*c = (struct nsys_chains){ 0 };
	c->is_open = nsys_rows_open_sorted(&c->rows, n, &table, order, COUNT_OF(order));
	c->has_row = c->is_open && nsys_rows_next(&c->rows);
	return c->is_open;
}

void nsys_chains_close(struct nsys_chains *c)
{
	if (c->is_open)
		nsys_rows_close(&c->rows);
	c->is_open = 0;
}

static uint64_t row_frame(const struct nsys_rows *rows)
{
	return nsys_frame(rows->n, nsys_number_or(rows, CHAIN_AT(symbol), -1), nsys_number_or(rows, CHAIN_AT(module), -1),
			  nsys_number_or(rows, CHAIN_AT(originalIP), 0), nsys_number_or(rows, CHAIN_AT(kernelMode), 0) != 0,
			  nsys_number_or(rows, CHAIN_AT(unresolved), 0) != 0);
}

int nsys_chains_next(struct nsys_chains *c, int64_t *ret_id, uint64_t *ret_stack)
{
	uint64_t frames[MOST_FRAMES], stack = 0;
	unsigned count = 0, depth = 0;

	if (!c->has_row)
		return 0;
	*ret_id = nsys_number_or(&c->rows, CHAIN_AT(id), 0);
	c->in_kernel = nsys_number_or(&c->rows, CHAIN_AT(kernelMode), 0) != 0;
	do {
		if (count < MOST_FRAMES)
			frames[count++] = row_frame(&c->rows);
		else
			c->rows.n->deep++;
		c->has_row = nsys_rows_next(&c->rows);
	} while (c->has_row && nsys_number_or(&c->rows, CHAIN_AT(id), 0) == *ret_id);
	while (count > 0)
		stack = intern_nsys_stack(c->rows.n, stack, frames[--count], depth++);
	*ret_stack = stack;
	return 1;
}

void nsys_read_chains(struct nsys *n, enum nsys_table_id table, struct nsys_map *ret)
{
	struct nsys_chains c;
	uint64_t stack;
	int64_t id;

	if (!nsys_chains_open(&c, n, table))
		return;
	while (nsys_chains_next(&c, &id, &stack))
		if (stack && nsys_map_put(ret, id, stack) < 0 && !n->sink.result)
			n->sink.result = -ENOMEM;
	nsys_chains_close(&c);
}
