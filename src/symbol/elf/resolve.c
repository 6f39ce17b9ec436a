#include "symbol/elf/resolve.h"

#include <errno.h>

#include "base/cleanup.h"

static int search_debug(struct symbol_search *s, const struct debug_wanted *wanted, struct error *err)
{
	struct elf_file *debug;
	int r;

	TRY(debug_file_find(&debug, wanted));
	r = symbol_search_file(s, debug, true, err);
	elf_file_close(debug);
	return r;
}

int resolve_elf(struct symbol_search *s, const struct debug_wanted *wanted, struct error *err)
{
	struct error later;
	int own = -ENOENT, debug = -ENOENT;

	if (wanted->file)
		own = symbol_search_file(s, wanted->file, false, err);
	if (!symbol_search_complete(s))
		debug = search_debug(s, wanted, own == 0 || own == -ENOENT ? err : &later);
	if (own < 0 && own != -ENOENT)
		return own;
	return debug == -ENOENT ? own : debug;
}
