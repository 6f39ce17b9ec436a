/* -i with -o: a report under another name, with all of its kernels or with those that the options choose. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/system/output_path.h"
#include "cli/kernel/filter.h"
#include "cli/kernel/output.h"
#include "cli/kernel/rename.h"
#include "cli/reports/open_report.h"
#include "kernel/results/report_rows.h"
#include "report/writer.h"

static int copy_to(int target, const char *from)
{
	int source = open(from, O_RDONLY | O_CLOEXEC), r;
	ssize_t sent = source < 0 ? -1 : 1;

	while (sent > 0)
		sent = sendfile(target, source, NULL, 1 << 20);
	r = sent < 0 ? -errno : 0;
	if (source >= 0)
		close(source);
	return r;
}

static int copy_bytes(const char *from, const struct output_path *to)
{
	mode_t before = umask(0077); /* reports are their owner's; a confined process may not change that later */
	int target = output_path_create(to), r = target;

	if (target >= 0)
		r = copy_to(target, from);
	umask(before);
	if (target >= 0 && close(target) != 0 && r == 0)
		r = -errno;
	if (r == 0)
		r = output_path_keep(to, true);
	if (r < 0)
		unlinkat(to->folder, to->part, 0);
	return r;
}

/* Numbers, or ids of texts and blobs. */
struct id_set {
	int64_t *items;
	size_t count;
};

static bool id_in(const struct id_set *set, int64_t id)
{
	for (size_t i = 0; i < set->count; i++)
		if (set->items[i] == id)
			return true;
	return false;
}

static int id_put(struct id_set *set, int64_t id)
{
	/* Rows of one thing follow each other. */
	if ((set->count && set->items[set->count - 1] == id) || id_in(set, id))
		return 0;
	if (!LIST_ROOM(set->items, set->count))
		return -ENOMEM;
	set->items[set->count++] = id;
	return 0;
}

/* A kernel of the report: which one has what is told once for its device, if it goes. */
struct placed {
	int64_t id;
	const struct kernel_process *process;
	int64_t device;
	bool is_kept;
};

struct part {
	struct placed *kernels; /* by id */
	size_t count;
	struct id_set codes, files; /* that kernels which stay have: kernel_code.id, and texts */
	struct id_set blobs;        /* of others */
};

static int by_id(const void *a, const void *b)
{
	const struct placed *x = a, *y = b;

	return (x->id > y->id) - (x->id < y->id);
}

static struct placed *find_kept_kernel(const struct part *p, int64_t id)
{
	struct placed key = { .id = id };

	return p->count ? bsearch(&key, p->kernels, p->count, sizeof(key), by_id) : NULL;
}

/* The first that stays of the same process and device; NULL: none does. */
static const struct placed *find_heir(const struct part *p, const struct placed *of)
{
	for (size_t i = 0; of && i < p->count; i++)
		if (p->kernels[i].is_kept && p->kernels[i].process == of->process && p->kernels[i].device == of->device)
			return &p->kernels[i];
	return NULL;
}

static bool keeps_metric(const struct part *p, int64_t *v)
{
	const struct placed *k = find_kept_kernel(p, v[COLUMN_KERNEL_METRIC_RESULT]);

	if (v[COLUMN_KERNEL_METRIC_KIND] == KERNEL_METRIC_DEVICE && k && !k->is_kept && (k = find_heir(p, k)))
		v[COLUMN_KERNEL_METRIC_RESULT] = k->id;
	return k && k->is_kept;
}

static bool is_kernel_row_kept(void *context, enum table_id table, int64_t *v, uint32_t present)
{
	const struct part *p = context;
	const struct placed *k;

	switch (table) {
	case TABLE_KERNEL_RESULT: k = find_kept_kernel(p, v[COLUMN_KERNEL_RESULT_ID]); return k && k->is_kept;
	case TABLE_KERNEL_METRIC: return keeps_metric(p, v);
	case TABLE_KERNEL_SOURCE: k = find_kept_kernel(p, v[COLUMN_KERNEL_SOURCE_RESULT]); return k && k->is_kept;
	case TABLE_KERNEL_CODE: return id_in(&p->codes, v[COLUMN_KERNEL_CODE_ID]);
	case TABLE_KERNEL_INSTRUCTION: return id_in(&p->codes, v[COLUMN_KERNEL_INSTRUCTION_CODE]);
	case TABLE_KERNEL_FILE: return HAS(present, COLUMN_KERNEL_FILE_NAME) && id_in(&p->files, v[COLUMN_KERNEL_FILE_NAME]);
	default: return true;
	}
}

static bool keeps_blob(void *context, uint64_t id)
{
	return !id_in(&((const struct part *)context)->blobs, (int64_t)id);
}

static int look_at_source(void *context, const int64_t *v, uint32_t present)
{
	struct part *p = context;
	const struct placed *k = find_kept_kernel(p, v[COLUMN_KERNEL_SOURCE_RESULT]);

	return k && k->is_kept && HAS(present, COLUMN_KERNEL_SOURCE_CODE) ? id_put(&p->codes, v[COLUMN_KERNEL_SOURCE_CODE]) : 0;
}

static int look_at_instruction(void *context, const int64_t *v, uint32_t present)
{
	struct part *p = context;

	if (!HAS(present, COLUMN_KERNEL_INSTRUCTION_FILE) || !id_in(&p->codes, v[COLUMN_KERNEL_INSTRUCTION_CODE]))
		return 0;
	return id_put(&p->files, v[COLUMN_KERNEL_INSTRUCTION_FILE]);
}

static int look_at_code(void *context, const int64_t *v, uint32_t present)
{
	struct part *p = context;
	bool is_dropped = HAS(present, COLUMN_KERNEL_CODE_IMAGE) && !id_in(&p->codes, v[COLUMN_KERNEL_CODE_ID]);

	return is_dropped ? id_put(&p->blobs, v[COLUMN_KERNEL_CODE_IMAGE]) : 0;
}

static int look_at_file(void *context, const int64_t *v, uint32_t present)
{
	struct part *p = context;
	bool is_dropped = HAS(present, COLUMN_KERNEL_FILE_TEXT) && !id_in(&p->files, v[COLUMN_KERNEL_FILE_NAME]);

	return is_dropped ? id_put(&p->blobs, v[COLUMN_KERNEL_FILE_TEXT]) : 0;
}

static int find_kept_tables(struct part *p, struct report *report)
{
	TRY(report_each_row(report, TABLE_KERNEL_SOURCE, COLUMN_KERNEL_SOURCE_CODE + 1, look_at_source, p));
	TRY(report_each_row(report, TABLE_KERNEL_INSTRUCTION, COLUMN_KERNEL_INSTRUCTION_FILE + 1, look_at_instruction, p));
	TRY(report_each_row(report, TABLE_KERNEL_CODE, COLUMN_KERNEL_CODE_IMAGE + 1, look_at_code, p));
	return report_each_row(report, TABLE_KERNEL_FILE, COLUMN_KERNEL_FILE_TEXT + 1, look_at_file, p);
}

static int list_kernels_to_keep(struct part *p, const struct kernel_results *results)
{
	p->kernels = calloc(results->count + 1, sizeof(*p->kernels));
	if (!p->kernels)
		return -ENOMEM;
	for (size_t i = 0; i < results->count; i++)
		p->kernels[i] = (struct placed){ .id = results->items[i].id,
						 .process = results->items[i].process,
						 .device = results->items[i].device };
	p->count = results->count;
	return 0;
}

static void mark_kept_kernels(struct part *p, const struct kernel_results *results)
{
	struct placed *k;

	for (size_t i = 0; i < results->count; i++) {
		k = find_kept_kernel(p, results->items[i].id);
		if (k)
			k->is_kept = true;
	}
}

/* Which kernels of the report stay; false after an error was printed. */
static bool select_kept_kernels(struct cli *cli, const struct kernel_fields *fields, struct kernel_results *results, struct part *p)
{
	struct kernel_renames renames = KERNEL_RENAMES_INIT;
	bool ok = kernel_renames_load(cli, fields, &renames);

	if (ok && (kernel_renames_apply(&renames, results) < 0 || list_kernels_to_keep(p, results) < 0 ||
		   kernel_filter_results(fields, results) < 0)) {
		command_fail(cli, &kernel_command, "Not enough memory");
		ok = false;
	}
	kernel_renames_release(&renames);
	if (ok && fields->import && p->count && !results->count) {
		command_fail(cli, &kernel_command, "None of the %zu kernels of %s is selected; nothing is written", p->count,
			     fields->import);
		ok = false;
	}
	if (ok)
		mark_kept_kernels(p, results);
	return ok;
}

static int write_kernel_part(struct cli *cli, const struct kernel_fields *fields, const char *from, const char *to)
{
	struct part p = { 0 };
	struct report_part keep = {
		.from = INT64_MIN, .to = INT64_MAX, .keeps_row = is_kernel_row_kept, .keeps_blob = keeps_blob, .context = &p
	};
	struct kernel_results results = { 0 };
	struct report *report;
	struct error err;
	int status = 1, r;

	if (open_whole(&report, from, &err) < 0)
		return command_fail(cli, &kernel_command, "%s", err.text);
	if (kernel_results_load(&results, report, &err) < 0) {
		command_fail(cli, &kernel_command, "%s", err.text);
	} else if (select_kept_kernels(cli, fields, &results, &p)) {
		r = find_kept_tables(&p, report);
		r = r < 0 ? error_set_errno(&err, -r, "The report cannot be read") : report_copy(report, to, 1, &keep, &err);
		status = r < 0 ? command_fail(cli, &kernel_command, "%s", err.text) : 0;
	}
	kernel_results_release(&results);
	report_close(report);
	free(p.kernels);
	free(p.codes.items);
	free(p.files.items);
	free(p.blobs.items);
	return status;
}

static bool is_same_file(const char *a, const char *b)
{
	struct stat x, y;

	return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

static int write_whole(struct cli *cli, const char *from, const char *to)
{
	struct output_path place;
	struct report *report;
	struct error err;
	int r;

	/* What is no report must not become one by its name. */
	if (open_whole(&report, from, &err) < 0)
		return command_fail(cli, &kernel_command, "%s", err.text);
	report_close(report);
	if (is_same_file(from, to))
		return 0;
	if (output_path_find(&place, to, &err) < 0)
		return command_fail(cli, &kernel_command, "%s", err.text);
	r = copy_bytes(from, &place);
	output_path_release(&place);
	return r < 0 ? command_fail(cli, &kernel_command, "%s cannot be written: %s", to, strerror(-r)) : 0;
}

static bool has_filter(const struct kernel_fields *f)
{
	return f->name || f->range_filter || f->ids.count || f->devices || f->python_include.count || f->python_exclude.count ||
	       kernel_filter_is_native(f) || f->nvtx_include.count || f->nvtx_exclude.count || f->skip || f->skip_before || f->count;
}

int kernel_copy(struct cli *cli, const struct kernel_fields *fields)
{
	struct opened_report opened;
	char path[PATH_MAX];
	struct error err;
	int status;

	if (kernel_output_path(fields->output, cli->role == CLI_NCU ? ".ncu-rep" : ".sonde", fields->overwrite, path, sizeof(path), &err) <
	    0)
		return command_fail(cli, &kernel_command, "%s", err.text);
	if (!open_report(cli, &kernel_command, fields->import, &opened, &status))
		return status;
	status = has_filter(fields) ? write_kernel_part(cli, fields, opened.path, path) : write_whole(cli, opened.path, path);
	if (!status && !fields->quiet)
		fprintf(kernel_reported(cli), "==PROF== Report: %s\n", path);
	return close_report(&opened, status);
}

int kernel_choose_by_stacks(struct cli *cli, const struct kernel_fields *fields, const char *path)
{
	/* All other options were applied before. */
	struct kernel_fields left = { .native_include = fields->native_include,
				      .native_exclude = fields->native_exclude,
				      .skip = fields->skip,
				      .count = fields->count,
				      .filter_mode = fields->filter_mode,
				      .rename = fields->rename,
				      .rename_path = fields->rename_path };

	return kernel_filter_is_native(fields) ? write_kernel_part(cli, &left, path, path) : 0;
}
