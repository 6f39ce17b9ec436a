/* frame_lines(frame): the source line of a frame and the functions inlined there, innermost first. Files are
 * looked for when the first line is asked for; what is found is cached by build-id. Frames of source files say their line themselves. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/macros.h"
#include "query/engine/function.h"
#include "symbol/elf/build_id.h"
#include "symbol/lines.h"

enum { LINES_DEPTH, LINES_FUNCTION, LINES_FILE, LINES_LINE, LINES_FRAME };
#define LINES_DECLARATION "CREATE TABLE x(depth INTEGER, function TEXT, file TEXT, line INTEGER, frame INTEGER HIDDEN)"
#define LINES_OPEN 32u /* files open at a time */

struct line_module {
	enum module_kind kind;
	const char *path;
	uint8_t build_id[BUILD_ID_LIMIT];
	size_t build_id_size;
	struct lines *lines;
};

struct line_frame {
	uint64_t offset;
	uint64_t name; /* string id, in source files */
	uint32_t module;
};

struct frame_lines {
	struct query *q;
	int loaded;
	struct line_module *modules; /* by uid */
	size_t module_limit;
	struct line_frame *frames; /* by id */
	size_t frame_limit;
	uint64_t *symbols; /* string ids of names by symbol.id; NULL: no module is a source file */
	size_t symbol_limit;
	unsigned open;
	char folder[PATH_MAX]; /* of the cache; empty: none */
};

struct lines_cursor {
	sqlite3_vtab_cursor base;
	struct frame_lines *all;
	struct source_lines lines;
	int64_t frame;
	uint32_t at;
};

struct lines_vtab {
	sqlite3_vtab base;
	struct frame_lines all;
};

static void close_files(struct frame_lines *all)
{
	for (size_t i = 0; i < all->module_limit && all->modules; i++) {
		lines_free(all->modules[i].lines);
		all->modules[i].lines = NULL;
	}
	all->open = 0;
}

static int lines_disconnect(sqlite3_vtab *base)
{
	struct frame_lines *all = &((struct lines_vtab *)base)->all;

	close_files(all);
	free(all->modules);
	free(all->frames);
	free(all->symbols);
	return vtab_disconnect(base);
}

static int take_line_module(void *context, const int64_t *values, uint32_t present)
{
	struct frame_lines *all = context;
	struct report *r = all->q->report;
	uint64_t uid = (uint64_t)values[COLUMN_MODULE_UID];
	struct line_module *m;

	(void)present;
	if (uid >= all->module_limit)
		return 0;
	m = &all->modules[uid];
	m->kind = (enum module_kind)values[COLUMN_MODULE_KIND];
	m->path = report_text(r, (uint64_t)values[COLUMN_MODULE_PATH], NULL);
	m->build_id_size = build_id_from_text(report_text(r, (uint64_t)values[COLUMN_MODULE_BUILD_ID], NULL), m->build_id);
	return 0;
}

static int take_line_frame(void *context, const int64_t *values, uint32_t present)
{
	struct frame_lines *all = context;
	uint64_t id = (uint64_t)values[COLUMN_FRAME_ID], module = (uint64_t)values[COLUMN_FRAME_MODULE];

	(void)present;
	if (id < all->frame_limit && module < all->module_limit)
		all->frames[id] = (struct line_frame){ .offset = (uint64_t)values[COLUMN_FRAME_OFFSET], .module = (uint32_t)module };
	return 0;
}

static int take_line_symbol(void *context, const int64_t *values, uint32_t present)
{
	struct frame_lines *all = context;
	uint64_t id = (uint64_t)values[COLUMN_SYMBOL_ID];

	if (id < all->symbol_limit && present & BIT(COLUMN_SYMBOL_NAME))
		all->symbols[id] = (uint64_t)values[COLUMN_SYMBOL_NAME];
	return 0;
}

static int take_line_name(void *context, const int64_t *values, uint32_t present)
{
	struct frame_lines *all = context;
	uint64_t id = (uint64_t)values[COLUMN_FRAME_SYMBOL_FRAME], symbol = (uint64_t)values[COLUMN_FRAME_SYMBOL_SYMBOL];

	if (id < all->frame_limit && symbol < all->symbol_limit && present & BIT(COLUMN_FRAME_SYMBOL_SYMBOL))
		all->frames[id].name = all->symbols[symbol];
	return 0;
}

/* Only where a module is a source file: names of other frames come with their lines. */
static int load_source_names(struct frame_lines *all)
{
	struct report *r = all->q->report;
	int rc;

	for (size_t i = 0; i < all->module_limit; i++)
		if (all->modules[i].kind == MODULE_SOURCE) {
			all->symbol_limit = (size_t)report_row_count(r, TABLE_SYMBOL) + 1;
			all->symbols = calloc(all->symbol_limit, sizeof(*all->symbols));
			if (!all->symbols)
				return -ENOMEM;
			rc = report_each_row(r, TABLE_SYMBOL, COLUMN_SYMBOL_NAME + 1, take_line_symbol, all);
			return rc < 0 ? rc : report_each_row(r, TABLE_FRAME_SYMBOL, COLUMN_FRAME_SYMBOL_SYMBOL + 1, take_line_name, all);
		}
	return 0;
}

static int load_frame_lines(struct frame_lines *all)
{
	struct report *r = all->q->report;
	int rc;

	if (all->loaded)
		return 0;
	all->module_limit = (size_t)report_row_count(r, TABLE_MODULE) + 1;
	all->frame_limit = (size_t)report_row_count(r, TABLE_FRAME) + 1;
	all->modules = calloc(all->module_limit, sizeof(*all->modules));
	all->frames = calloc(all->frame_limit, sizeof(*all->frames));
	if (!all->modules || !all->frames)
		return -ENOMEM;
	rc = report_each_row(r, TABLE_MODULE, COLUMN_MODULE_BUILD_ID + 1, take_line_module, all);
	if (rc != -ENOMEM)
		rc = report_each_row(r, TABLE_FRAME, COLUMN_FRAME_OFFSET + 1, take_line_frame, all);
	if (rc >= 0)
		rc = load_source_names(all);
	if (rc == -EBADMSG)
		atomic_fetch_add(&all->q->damaged, 1); /* what can be read is answered */
	if (line_cache_folder(all->folder, sizeof(all->folder)) < 0)
		all->folder[0] = '\0';
	all->loaded = 1;
	return rc == -ENOMEM ? rc : 0;
}

static int tell_source_line(struct frame_lines *all, const struct line_frame *f, struct source_lines *ret)
{
	const char *function = f->name ? report_text(all->q->report, f->name, NULL) : NULL, *file = all->modules[f->module].path;

	*ret = (struct source_lines){ .count = 1 };
	ret->at[0] = (struct source_line){ function ? function : "", file ? file : "", f->offset <= UINT32_MAX ? (uint32_t)f->offset : 0 };
	return 0;
}

/* Offsets of other kinds of modules are no addresses of an ELF file. */
static int find_lines(struct frame_lines *all, int64_t frame, struct source_lines *ret)
{
	const struct line_frame *f;
	struct line_module *m;

	if (frame <= 0 || (uint64_t)frame >= all->frame_limit)
		return -ENOENT;
	f = &all->frames[frame];
	m = &all->modules[f->module];
	if (f->module && m->kind == MODULE_SOURCE)
		return tell_source_line(all, f, ret);
	if (!f->module || (m->kind != MODULE_FILE && m->kind != MODULE_VDSO) || !m->build_id_size)
		return -ENOENT;
	if (!m->lines) {
		struct debug_wanted wanted = { .build_id = m->build_id,
					       .build_id_size = m->build_id_size,
					       .path = m->path,
					       .folders = getenv("SONDE_DEBUG_SYMBOLS") };

		if (all->open == LINES_OPEN)
			close_files(all);
		TRY(lines_new(&m->lines, &wanted, all->folder[0] ? all->folder : NULL));
		all->open++;
	}
	return lines_find(m->lines, f->offset, ret);
}

static int lines_connect(sqlite3 *db, void *aux, int argc, const char *const *argv, sqlite3_vtab **ret, char **error)
{
	int r = vtab_connect(db, LINES_DECLARATION, sizeof(struct lines_vtab), ret);

	if (r == SQLITE_OK)
		((struct lines_vtab *)*ret)->all.q = aux;
	return r;
}

static int lines_best_index(sqlite3_vtab *base, sqlite3_index_info *info)
{
	int r = function_best_index(info, LINES_FRAME, 1, 1);

	info->estimatedCost = 1000;
	info->estimatedRows = 3;
	return r;
}

static int lines_open(sqlite3_vtab *base, sqlite3_vtab_cursor **ret)
{
	struct lines_cursor *c = calloc(1, sizeof(*c));

	if (!c)
		return SQLITE_NOMEM;
	c->all = &((struct lines_vtab *)base)->all;
	*ret = &c->base;
	return SQLITE_OK;
}

static int lines_close(sqlite3_vtab_cursor *base)
{
	struct lines_cursor *c = (struct lines_cursor *)base;

	source_lines_release(&c->lines);
	free(c);
	return SQLITE_OK;
}

static int lines_filter(sqlite3_vtab_cursor *base, int plan, const char *text, int argc, sqlite3_value **argv)
{
	struct lines_cursor *c = (struct lines_cursor *)base;
	int r = load_frame_lines(c->all);

	source_lines_release(&c->lines);
	c->at = 0;
	c->frame = argc ? sqlite3_value_int64(argv[0]) : 0;
	if (r >= 0)
		r = find_lines(c->all, c->frame, &c->lines);
	if (r < 0)
		c->lines.count = 0;
	return r == -ENOMEM ? SQLITE_NOMEM : SQLITE_OK;
}

static int lines_next(sqlite3_vtab_cursor *base)
{
	((struct lines_cursor *)base)->at++;
	return SQLITE_OK;
}

static int lines_eof(sqlite3_vtab_cursor *base)
{
	const struct lines_cursor *c = (struct lines_cursor *)base;

	return c->at >= c->lines.count;
}

static void set_line_text(sqlite3_context *context, const char *text)
{
	if (text[0])
		sqlite3_result_text(context, text, -1, SQLITE_TRANSIENT);
}

static int lines_column(sqlite3_vtab_cursor *base, sqlite3_context *context, int column)
{
	const struct lines_cursor *c = (struct lines_cursor *)base;
	const struct source_line *at = &c->lines.at[c->at];

	switch (column) {
	case LINES_DEPTH: sqlite3_result_int64(context, c->at); break;
	case LINES_FUNCTION: set_line_text(context, at->function); break;
	case LINES_FILE: set_line_text(context, at->file); break;
	case LINES_LINE:
		if (at->line)
			sqlite3_result_int64(context, at->line);
		break;
	default: sqlite3_result_int64(context, c->frame);
	}
	return SQLITE_OK;
}

static int lines_rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *ret)
{
	*ret = ((struct lines_cursor *)base)->at;
	return SQLITE_OK;
}

/* clang-format off */
const sqlite3_module frame_lines_module = {
	.iVersion = 1, .xConnect = lines_connect, .xBestIndex = lines_best_index, .xDisconnect = lines_disconnect, .xOpen = lines_open,
	.xClose = lines_close, .xFilter = lines_filter, .xNext = lines_next, .xEof = lines_eof, .xColumn = lines_column, .xRowid = lines_rowid,
};
/* clang-format on */
