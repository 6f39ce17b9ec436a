/* The end of a recording: names for all frames. */
#include <stddef.h>
#include <stdlib.h>

#include "record/session/session.h"
#include "record/stacks/stacks.h"
#include "record/session/frames.h"
#include "record/stacks/symbol_rows.h"
#include "symbol/kallsyms.h"
#include "symbol/namer.h"

#define TROUBLES 64u /* that are told */

struct naming {
	struct symbol_rows rows;
	struct session *session;
	struct modules *modules;
	unsigned troubles;
};

_Static_assert(offsetof(struct naming, rows) == 0, "it is the context of the rows as well");

static bool describe_session_module(void *context, uint32_t uid, struct namer_module *ret)
{
	struct naming *n = context;
	struct module *m;

	if (uid > modules_count(n->modules))
		return false;
	m = modules_at(n->modules, uid - 1);
	*ret = (struct namer_module){
		.kind = m->kind, .path = m->path, .build_id = m->build_id, .build_id_size = m->build_id_size, .pid = m->pid
	};
	if (m->kind == MODULE_FILE || m->kind == MODULE_VDSO)
		ret->file = module_file(n->session, n->modules, m);
	return true;
}

static void diagnose_symbol_trouble(void *context, const char *text)
{
	struct naming *n = context;

	if (n->troubles++ < TROUBLES)
		session_diagnose(n->session, SOURCE_RECORDER, DIAGNOSTIC_WARNING, 0, "%s", text);
}

void stacks_resolve(struct session *s, const char *debug_folders)
{
	struct naming naming = { .rows = { .writer = s->writer }, .session = s, .modules = spaces_modules(s) };
	/* clang-format off */
	struct namer namer = { .context = &naming, .describe = describe_session_module, .symbol = symbol_rows_symbol,
			       .frame = symbol_rows_frame, .trouble = diagnose_symbol_trouble, .folders = debug_folders, .kallsyms = KALLSYMS_PATH };
	/* clang-format on */
	uint32_t count;
	const struct stack_frame *known = stacks_frames(s, &count);
	struct namer_frame *frames = known && naming.modules ? calloc(count + 1, sizeof(*frames)) : NULL;

	for (uint32_t i = 0; frames && i < count; i++)
		frames[i] = (struct namer_frame){ known[i].offset, known[i].module, i + 1 };
	if (frames && namer_run(&namer, frames, count) < 0)
		diagnose_symbol_trouble(&naming, "out of memory: some functions have no name; 'sonde symbolize' can find them later");
	free(frames);
}
