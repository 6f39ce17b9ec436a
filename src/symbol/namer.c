#include "symbol/namer.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "symbol/demangle.h"
#include "symbol/kallsyms.h"
#include "symbol/perf_map.h"
#include "symbol/elf/resolve.h"

/* The frames of one module, in order, and where they are in its file. */
struct batch {
	struct namer *namer;
	const struct namer_frame *frames;
	size_t count;
	struct namer_module module;
	uint64_t *addresses;
	uint32_t *order; /* frame of each address, where they are not in the same order */
};

static void report_namer_trouble(struct namer *n, const char *format, const char *path, const char *what)
{
	char text[PATH_MAX + 1100];

	snprintf(text, sizeof(text), format, path, what);
	n->trouble(n->context, text);
}

static uint64_t emit_symbol(struct namer *n, struct namer_symbol *symbol, const char *linkage)
{
	char *plain = demangle(linkage);

	symbol->id = ++n->last_symbol;
	symbol->name = plain ? plain : linkage;
	symbol->linkage = plain ? linkage : NULL;
	n->symbol(n->context, symbol);
	free(plain);
	return symbol->id;
}

/* Offsets of frames may count otherwise than addresses: a symbol's first byte is told as its frame's is. */
static void emit_match(struct batch *b, size_t i, const struct symbol_match *match, uint64_t *ids)
{
	const struct namer_frame *frame = &b->frames[b->order ? b->order[i] : i];
	struct namer_symbol symbol = { .module = frame->module,
				       .size = match->size,
				       .source = match->source,
				       .offset = match->start - b->addresses[i] + frame->offset };

	if (!ids[match->id])
		ids[match->id] = emit_symbol(b->namer, &symbol, match->name);
	b->namer->frame(b->namer->context, frame->id, ids[match->id]);
	b->namer->named++;
}

static int emit_matches(struct batch *b, struct symbol_search *s)
{
	uint64_t *ids = calloc((size_t)symbol_search_limit(s) + 1, sizeof(*ids));
	struct symbol_match match;

	if (!ids)
		return -ENOMEM;
	for (size_t i = 0; i < b->count; i++)
		if (symbol_search_result(s, i, &match) == 0)
			emit_match(b, i, &match, ids);
	free(ids);
	return 0;
}

static void search_elf(struct batch *b, struct symbol_search *s)
{
	const struct namer_module *m = &b->module;
	struct debug_wanted wanted = {
		.build_id = m->build_id, .build_id_size = m->build_id_size, .path = m->path, .file = m->file, .folders = b->namer->folders
	};
	struct error err;
	int r = resolve_elf(s, &wanted, &err);

	if (r < 0 && r != -ENOENT)
		report_namer_trouble(b->namer, "%s: some functions have no names: %s", m->path, err.text);
}

static void search_map(struct batch *b, struct symbol_search *s)
{
	char path[64];
	struct error err;
	uid_t owner;
	int r;

	perf_map_path(b->module.pid, path, sizeof(path), &owner);
	r = symbol_search_perf_map(s, path, owner, &err);
	if (r != 0 && r != -ENOENT)
		report_namer_trouble(b->namer, "%s: %s", b->module.path, err.text);
}

static int name_batch(struct batch *b)
{
	struct symbol_search *s;
	int r;

	TRY(symbol_search_new(&s, b->addresses, b->count));
	if (b->module.kind == MODULE_JIT)
		search_map(b, s);
	else
		search_elf(b, s);
	r = emit_matches(b, s);
	symbol_search_free(s);
	return r;
}

static int name_kernel(struct batch *b)
{
	struct namer *n = b->namer;
	struct namer_symbol symbol = { .source = SYMBOL_KALLSYMS };
	struct kernel_symbol found;
	struct kallsyms *all;
	char name[1100];
	struct error err;

	if (!n->kallsyms)
		return 0;
	if (kallsyms_load(&all, n->kallsyms, &err) < 0) {
		report_namer_trouble(n, "%s: its functions have no names: %s", b->module.path, err.text);
		return 0;
	}
	for (size_t i = 0; i < b->count; i++) {
		if (kallsyms_find(all, b->addresses[i], &found) < 0)
			continue;
		if (!symbol.id || symbol.offset != found.start) {
			snprintf(name, sizeof(name), found.module ? "%s [%s]" : "%s", found.name, found.module);
			symbol.module = b->frames[i].module;
			symbol.offset = found.start;
			symbol.size = found.size;
			emit_symbol(n, &symbol, name);
		}
		n->frame(n->context, b->frames[i].id, symbol.id);
		n->named++;
	}
	kallsyms_free(all);
	return 0;
}

struct placed {
	uint64_t address;
	uint32_t frame;
};

static int compare_placed_symbols(const void *a, const void *b)
{
	const struct placed *x = a, *y = b;

	return x->address < y->address ? -1 : x->address > y->address;
}

/* The file could not be read while recording: offsets are those in the file. Segments may lie in another order
 * in the file than in memory. */
static int place_offsets(struct batch *b, const struct elf_file *file)
{
	struct placed *placed = calloc(b->count, sizeof(*placed));

	b->order = calloc(b->count, sizeof(*b->order));
	if (!placed || !b->order) {
		free(placed);
		return -ENOMEM;
	}
	for (size_t i = 0; i < b->count; i++) {
		placed[i].frame = (uint32_t)i;
		if (elf_file_address(file, b->frames[i].offset, &placed[i].address) < 0)
			placed[i].address = 0;
	}
	qsort(placed, b->count, sizeof(*placed), compare_placed_symbols);
	for (size_t i = 0; i < b->count; i++) {
		b->addresses[i] = placed[i].address;
		b->order[i] = placed[i].frame;
	}
	free(placed);
	return 0;
}

/* A file that is not at hand: one with its build-id may be. */
static int name_absent(struct batch *b)
{
	const struct namer_module *m = &b->module;
	struct debug_wanted wanted = {
		.build_id = m->build_id, .build_id_size = m->build_id_size, .path = m->path, .folders = b->namer->folders
	};
	struct elf_file *file = NULL;
	int r = 0;

	if (debug_file_find_original(&file, &wanted) < 0)
		file = NULL;
	b->module.file = file;
	if (m->kind == MODULE_OTHER)
		r = file ? place_offsets(b, file) : -ENOENT;
	if (r == 0)
		r = name_batch(b);
	elf_file_close(file);
	return r == -ENOENT ? 0 : r;
}

static int name_module(struct batch *b)
{
	switch (b->module.kind) {
	case MODULE_KERNEL: return name_kernel(b);
	case MODULE_JIT: return b->module.pid ? name_batch(b) : 0;
	case MODULE_FILE:
	case MODULE_VDSO:
	case MODULE_OTHER:
		if (b->module.file && b->module.kind != MODULE_OTHER)
			return name_batch(b);
		return b->module.build_id_size ? name_absent(b) : 0;
	default: return 0;
	}
}

static int in_order(const void *a, const void *b)
{
	const struct namer_frame *x = a, *y = b;

	if (x->module != y->module)
		return x->module < y->module ? -1 : 1;
	if (x->offset != y->offset)
		return x->offset < y->offset ? -1 : 1;
	return x->id < y->id ? -1 : x->id > y->id;
}

static int run_module(struct namer *n, const struct namer_frame *frames, size_t count)
{
	struct batch b = { .namer = n, .frames = frames, .count = count };
	uint64_t named = n->named;
	int r = 0;

	if (!frames->module || !n->describe(n->context, frames->module, &b.module))
		return 0;
	b.addresses = malloc(count * sizeof(*b.addresses));
	if (!b.addresses)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++)
		b.addresses[i] = frames[i].offset;
	r = name_module(&b);
	if (n->left && count > n->named - named)
		n->left(n->context, frames->module, count - (size_t)(n->named - named));
	free(b.addresses);
	free(b.order);
	return r;
}

int namer_run(struct namer *n, struct namer_frame *frames, size_t count)
{
	size_t end;
	int r = 0;

	qsort(frames, count, sizeof(*frames), in_order);
	for (size_t i = 0; i < count && r == 0; i = end) {
		for (end = i + 1; end < count && frames[end].module == frames[i].module;)
			end++;
		r = run_module(n, frames + i, end - i);
	}
	return r;
}
