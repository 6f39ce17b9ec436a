#include "record/stacks/symbolize.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "fmt/tables.h"
#include "record/stacks/symbol_rows.h"
#include "report/reader.h"
#include "symbol/elf/build_id.h"
#include "symbol/kallsyms.h"

struct known_module {
	enum module_kind kind;
	const char *path;
	uint8_t build_id[BUILD_ID_LIMIT];
	size_t build_id_size;
};

struct symbolizing {
	struct symbol_rows rows;
	struct report *report;
	const struct symbolize_request *request;
	struct known_module *modules; /* by uid */
	size_t module_limit;
	struct namer_frame *frames; /* by id, as far as they are to be named: module 0 for the others */
	size_t frame_limit;
	uint64_t frame_rows;
	uint64_t last_symbol;
};

_Static_assert(offsetof(struct symbolizing, rows) == 0, "it is the context of the rows as well");

/* Ids run from 1 without gaps: those beyond the number of rows are damage. */
static bool is_valid_id(int64_t id, size_t limit)
{
	return id > 0 && (uint64_t)id < limit;
}

static int take_known_module(void *context, const int64_t *values, uint32_t present)
{
	struct symbolizing *s = context;
	struct known_module *m;

	if (!is_valid_id(values[COLUMN_MODULE_UID], s->module_limit))
		return 0;
	m = &s->modules[values[COLUMN_MODULE_UID]];
	m->kind = (enum module_kind)values[COLUMN_MODULE_KIND];
	m->path = report_text(s->report, (uint64_t)values[COLUMN_MODULE_PATH], NULL);
	m->build_id_size = build_id_from_text(report_text(s->report, (uint64_t)values[COLUMN_MODULE_BUILD_ID], NULL), m->build_id);
	(void)present;
	return 0;
}

/* What is no file, and never was, has no names: "[truncated]" and the like. */
static bool can_have_names(const struct known_module *m)
{
	return m->path && (m->kind != MODULE_OTHER || m->build_id_size);
}

static int take_known_frame(void *context, const int64_t *values, uint32_t present)
{
	struct symbolizing *s = context;

	if (!is_valid_id(values[COLUMN_FRAME_ID], s->frame_limit))
		return 0;
	if ((present >> COLUMN_FRAME_MODULE & 1) && is_valid_id(values[COLUMN_FRAME_MODULE], s->module_limit) &&
	    can_have_names(&s->modules[values[COLUMN_FRAME_MODULE]]))
		s->frames[values[COLUMN_FRAME_ID]] = (struct namer_frame){ (uint64_t)values[COLUMN_FRAME_OFFSET],
									   (uint32_t)values[COLUMN_FRAME_MODULE],
									   (uint32_t)values[COLUMN_FRAME_ID] };
	return 0;
}

static int take_known_name(void *context, const int64_t *values, uint32_t present)
{
	struct symbolizing *s = context;

	if (is_valid_id(values[COLUMN_FRAME_SYMBOL_FRAME], s->frame_limit) && (present >> COLUMN_FRAME_SYMBOL_SYMBOL & 1) &&
	    !s->request->all)
		s->frames[values[COLUMN_FRAME_SYMBOL_FRAME]].module = 0;
	return 0;
}

static int take_symbol(void *context, const int64_t *values, uint32_t present)
{
	struct symbolizing *s = context;

	(void)present;
	if (values[COLUMN_SYMBOL_ID] > 0 && (uint64_t)values[COLUMN_SYMBOL_ID] > s->last_symbol)
		s->last_symbol = (uint64_t)values[COLUMN_SYMBOL_ID];
	return 0;
}

static int load_frame_tables(struct symbolizing *s)
{
	s->module_limit = (size_t)report_row_count(s->report, TABLE_MODULE) + 1;
	s->frame_rows = report_row_count(s->report, TABLE_FRAME);
	s->frame_limit = (size_t)s->frame_rows + 1;
	if (s->frame_limit > UINT32_MAX)
		return -EBADMSG;
	s->modules = calloc(s->module_limit, sizeof(*s->modules));
	s->frames = calloc(s->frame_limit, sizeof(*s->frames));
	if (!s->modules || !s->frames)
		return -ENOMEM;
	TRY(report_each_row(s->report, TABLE_MODULE, COLUMN_MODULE_BUILD_ID + 1, take_known_module, s));
	TRY(report_each_row(s->report, TABLE_FRAME, COLUMN_FRAME_OFFSET + 1, take_known_frame, s));
	TRY(report_each_row(s->report, TABLE_FRAME_SYMBOL, COLUMN_FRAME_SYMBOL_SYMBOL + 1, take_known_name, s));
	return report_each_row(s->report, TABLE_SYMBOL, COLUMN_SYMBOL_ID + 1, take_symbol, s);
}

static bool describe_known_module(void *context, uint32_t module, struct namer_module *ret)
{
	const struct symbolizing *s = context;
	const struct known_module *m = &s->modules[module];

	*ret = (struct namer_module){ .kind = m->kind, .path = m->path, .build_id = m->build_id, .build_id_size = m->build_id_size };
	return true;
}

static void report_symbol_trouble(void *context, const char *text)
{
	const struct symbolizing *s = context;

	s->request->trouble(s->request->context, text);
}

static void report_left_frames(void *context, uint32_t module, size_t frames)
{
	const struct symbolizing *s = context;
	const struct known_module *m = &s->modules[module];
	char build_id[BUILD_ID_TEXT_SIZE];

	build_id_to_text(m->build_id, m->build_id_size, build_id);
	s->request->left(s->request->context, m->path, build_id, frames);
}

/* The kernel's symbols move with every boot. */
static bool same_boot(struct report *r)
{
	const char *then = report_meta(r, "boot_id");
	int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
	char now[64] = "";
	ssize_t n = fd < 0 ? -1 : read(fd, now, sizeof(now) - 1);

	if (fd >= 0)
		close(fd);
	if (n > 0 && now[n - 1] == '\n')
		now[n - 1] = '\0';
	return then && n > 0 && strcmp(then, now) == 0;
}

/* Brings those to be named together; how many they are. */
static size_t collect(struct symbolizing *s)
{
	size_t count = 0;

	for (size_t id = 1; id < s->frame_limit; id++)
		if (s->frames[id].module)
			s->frames[count++] = s->frames[id];
	return count;
}

static int add_names(struct symbolizing *s, struct symbolize_result *ret, struct error *err)
{
	const struct symbolize_request *q = s->request;
	/* clang-format off */
	struct namer namer = { .context = s, .describe = describe_known_module, .symbol = symbol_rows_symbol,
			       .frame = symbol_rows_frame, .trouble = report_symbol_trouble, .left = report_left_frames, .folders = q->folders,
			       .kallsyms = same_boot(s->report) ? KALLSYMS_PATH : NULL,
			       .last_symbol = s->last_symbol };
	/* clang-format on */
	int rc;

	TRY(report_extend_begin(&s->rows.writer, s->report, q->output, q->overwrite, err));
	ret->frames = s->frame_rows;
	ret->looked_at = collect(s);
	rc = namer_run(&namer, s->frames, ret->looked_at);
	if (rc >= 0)
		rc = s->rows.failed;
	ret->named = namer.named;
	if (rc < 0 || (!ret->named && strcmp(q->output, q->report) == 0)) {
		report_extend_cancel(s->rows.writer);
		return rc < 0 ? error_set_errno(err, -rc, "cannot write %s", q->output) : 0;
	}
	return report_extend_finish(s->rows.writer, err);
}

int symbolize_report(const struct symbolize_request *request, struct symbolize_result *ret, struct error *err)
{
	struct symbolizing s = { .request = request };
	int rc;

	*ret = (struct symbolize_result){ 0, 0, 0 };
	TRY(report_open(&s.report, request->report, err));
	rc = load_frame_tables(&s);
	if (rc < 0)
		error_set_errno(err, -rc, "cannot read the stacks of %s", request->report);
	else
		rc = add_names(&s, ret, err);
	free(s.modules);
	free(s.frames);
	report_close(s.report);
	return rc;
}
