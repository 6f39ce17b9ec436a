/* The end of a recording: names for all frames. */
#include <stdlib.h>
#include <string.h>

#include "record/session.h"
#include "record/stacks.h"
#include "record/stacks_internal.h"
#include "symbol/kallsyms.h"
#include "symbol/namer.h"

#define BIT(column) (1u << (column))
#define TROUBLES 64u /* that are told */

struct naming {
	struct session *session;
	struct modules *modules;
	unsigned troubles;
};

static bool describe(void *context, uint32_t uid, struct namer_module *ret)
{
	struct naming *n = context;
	struct module *m;

	if (uid > modules_count(n->modules))
		return false;
	m = modules_at(n->modules, uid - 1);
	*ret = (struct namer_module){ .kind = m->kind, .path = m->path, .build_id = m->build_id,
				      .build_id_size = m->build_id_size, .pid = m->pid };
	if (m->kind == MODULE_FILE || m->kind == MODULE_VDSO)
		ret->file = module_file(n->session, n->modules, m);
	return true;
}

static void symbol_row(void *context, const struct namer_symbol *symbol)
{
	struct session *s = ((struct naming *)context)->session;
	uint32_t present = BIT(COLUMN_SYMBOL_ID) | BIT(COLUMN_SYMBOL_MODULE) | BIT(COLUMN_SYMBOL_NAME) |
			   BIT(COLUMN_SYMBOL_OFFSET) | BIT(COLUMN_SYMBOL_SOURCE);
	int64_t values[TABLE_MAX_COLUMNS];

	values[COLUMN_SYMBOL_ID] = (int64_t)symbol->id;
	values[COLUMN_SYMBOL_MODULE] = symbol->module;
	values[COLUMN_SYMBOL_NAME] = (int64_t)session_text(s, symbol->name);
	values[COLUMN_SYMBOL_OFFSET] = (int64_t)symbol->offset;
	values[COLUMN_SYMBOL_SOURCE] = symbol->source;
	if (symbol->linkage) {
		values[COLUMN_SYMBOL_LINKAGE] = (int64_t)session_text(s, symbol->linkage);
		present |= BIT(COLUMN_SYMBOL_LINKAGE);
	}
	if (symbol->size) {
		values[COLUMN_SYMBOL_SIZE] = (int64_t)symbol->size;
		present |= BIT(COLUMN_SYMBOL_SIZE);
	}
	session_row(s, TABLE_SYMBOL, values, present);
}

static void frame_row(void *context, uint32_t frame, uint64_t symbol)
{
	const int64_t values[TABLE_MAX_COLUMNS] = { [COLUMN_FRAME_SYMBOL_FRAME] = frame,
						    [COLUMN_FRAME_SYMBOL_SYMBOL] = (int64_t)symbol };

	session_row(((struct naming *)context)->session, TABLE_FRAME_SYMBOL, values,
		    BIT(COLUMN_FRAME_SYMBOL_FRAME) | BIT(COLUMN_FRAME_SYMBOL_SYMBOL));
}

static void trouble(void *context, const char *text)
{
	struct naming *n = context;

	if (n->troubles++ < TROUBLES)
		session_diagnose(n->session, SOURCE_RECORDER, DIAGNOSTIC_WARNING, 0, "%s", text);
}

void stacks_resolve(struct session *s, const char *debug_folders)
{
	struct naming naming = { .session = s, .modules = spaces_modules(s) };
	struct namer namer = { .context = &naming, .describe = describe, .symbol = symbol_row, .frame = frame_row,
			       .trouble = trouble, .folders = debug_folders, .kallsyms = KALLSYMS_PATH };
	uint32_t count;
	const struct stack_frame *known = stacks_frames(s, &count);
	struct namer_frame *frames = known && naming.modules ? calloc(count + 1, sizeof(*frames)) : NULL;

	for (uint32_t i = 0; frames && i < count; i++)
		frames[i] = (struct namer_frame){ known[i].offset, known[i].module, i + 1 };
	if (frames && namer_run(&namer, frames, count) < 0)
		trouble(&naming, "there was no memory to name all functions; 'sonde symbolize' can do it later");
	free(frames);
}
