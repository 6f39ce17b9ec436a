#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ingest/nsys/internal.h"

static void read_strings(struct nsys *n)
{
	struct nsys_rows rows;
	uint64_t text;
	int64_t id;

	if (!nsys_rows_open(&rows, n, &nsys_tables[NSYS_StringIds]))
		return;
	while (nsys_rows_next(&rows)) {
		text = nsys_text(&rows, NSYS_AT(StringIds, value));
		if (text && nsys_number(&rows, NSYS_AT(StringIds, id), &id) && nsys_map_put(&n->strings, id, text) < 0 && !n->sink.result)
			n->sink.result = -ENOMEM;
	}
	nsys_rows_close(&rows);
}

static void read_nsys_tables(struct nsys *n)
{
	read_strings(n);
	nsys_read_names(n);
	nsys_read_info(n);
	nsys_read_nvtx(n);
	nsys_read_calls(n);
	nsys_read_work(n);
	nsys_read_memory(n);
	nsys_read_devices(n);
	nsys_read_cpu(n);
	nsys_read_metrics(n);
	nsys_read_others(n);
	nsys_nvtx_finish(n);
	nsys_devices_finish(n);
	nsys_places_finish(n);
}

static void diagnose_nsys_count(struct nsys *n, uint64_t count, const char *what)
{
	if (count)
		sink_diagnose(&n->sink, 2, "%llu %s", (unsigned long long)count, what);
}

/* Kernels, calls and threads without a name are worth a line of their own. */
static void report_nameless(struct nsys *n)
{
	if (!n->nameless)
		return;
	snprintf(n->result->note, sizeof(n->result->note), "%s: %llu names read as [string N]",
		 nsys_has_table(n, nsys_tables[NSYS_StringIds].name) ? "StringIds lacks texts that other tables refer to" :
								       "The file has no table StringIds, where names are",
		 (unsigned long long)n->nameless);
	sink_diagnose(&n->sink, 2, "%s.", n->result->note);
}

static void report_all(struct nsys *n)
{
	report_nameless(n);
	diagnose_nsys_count(n, n->untimed, "rows had no readable time and are left out.");
	diagnose_nsys_count(n, n->backwards, "rows had an end before their start, or none that could be read: they end where they start.");
	diagnose_nsys_count(n, n->odd, "cells were not of the kind that their column is; they read as null.");
	diagnose_nsys_count(n, n->unpaired, "scheduling events had no counterpart: their threads got or left a CPU twice.");
	diagnose_nsys_count(n, n->deep, "frames of call chains were deeper than 4096 and are left out.");
	diagnose_nsys_count(n, n->contentless, "outputs of programs, and files that nsys kept, have no text in the file.");
	if (n->unkept)
		sink_diagnose(&n->sink, 2, "%llu rows without a time are left out (%.600s).", (unsigned long long)n->unkept,
			      buf_cstr(&n->unkept_tables));
}

static void release_nsys(struct nsys *n)
{
	/* clang-format off */
	struct keymap *const keys[] = { &n->track_keys, &n->function_keys, &n->launch_keys, &n->stream_keys, &n->any_device_keys,
					&n->context_keys, &n->device_keys, &n->domain_keys, &n->module_keys, &n->symbol_keys,
					&n->frame_keys, &n->stack_keys, &n->overhead_keys };
	struct nsys_map *const maps[] = { &n->strings, &n->process_ids, &n->thread_ids, &n->cuda_stacks, &n->osrt_stacks, &n->gpus,
					  &n->context_devices, &n->any_domain };
	/* clang-format on */

	for (unsigned i = 0; i < COUNT_OF(keys); i++)
		keymap_release(keys[i]);
	for (unsigned i = 0; i < COUNT_OF(maps); i++)
		nsys_map_release(maps[i]);
	free(n->processes);
	free(n->threads);
	free(n->tracks);
	free(n->streams);
	free(n->contexts);
	free(n->devices);
	free(n->of_any_device);
	free(n->domains);
	free(n->profilers_overhead);
	buf_release(&n->text);
	buf_release(&n->unkept_tables);
	sink_release(&n->sink);
	sqlite3_close(n->db);
}

int nsys_import(const char *path, struct report_writer *writer, struct nsys_result *ret, struct error *err)
{
	struct nsys n = { .result = ret, .duration = -1 };
	int is_cut, r = nsys_file_open(&n.db, path, &is_cut, err);

	*ret = (struct nsys_result){ 0 };
	if (r < 0)
		return r;
	if (is_cut)
		snprintf(ret->trouble, sizeof(ret->trouble), "The file is cut off, or damaged");
	sink_begin(&n.sink, writer);
	read_nsys_tables(&n);
	report_all(&n);
	if (n.duration < 0 && n.sink.last > 0)
		n.duration = n.sink.last;
	if (n.duration >= 0)
		sink_meta_number(&n.sink, "duration_ns", n.duration);
	/* Times stay what they are in the file. */
	n.sink.first = 0;
	r = n.sink.result ? n.sink.result : sink_finish(&n.sink);
	release_nsys(&n);
	if (r < 0)
		return error_set_errno(err, -r, "The report cannot be written");
	return 0;
}
