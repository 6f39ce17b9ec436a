#include "cli/torch/pages.h"

#include <string.h>

#include "base/cleanup.h"
#include "base/sort.h"

static double milliseconds(int64_t ns)
{
	return (double)ns / 1e6;
}

/* Of several shapes the one that takes longest. */
static void print_shapes(FILE *out, const struct torch_row *row, const struct torch_rows *shapes)
{
	const struct torch_row *most = NULL;
	unsigned count = 0;

	for (size_t i = 0; i < shapes->count; i++) {
		const struct torch_row *one = &shapes->rows[i];

		if (strcmp(one->name, row->name) != 0 || one->on_device != row->on_device || one->is_annotation != row->is_annotation)
			continue;
		count++;
		if (!most || one->device > most->device || (one->device == most->device && one->cpu > most->cpu))
			most = one;
	}
	fputs("   Input shape: ", out);
	torch_write_visible(out, row->shapes[0] ? row->shapes : most && most->shapes[0] ? most->shapes : "[]");
	if (!row->shapes[0] && count > 1)
		fprintf(out, " (takes longest of %u shapes)", count);
	fputs("\n\n", out);
}

enum { KEY_DEVICE, KEY_CPU, KEY_DEVICE_MEMORY };

static int64_t key_of(const struct torch_row *row, int key)
{
	return key == KEY_DEVICE ? row->device : key == KEY_CPU ? row->cpu : row->self_device_memory;
}

static int compare_rows(const void *a, const void *b, void *context)
{
	const struct torch_row *x = a, *y = b;
	int key = *(const int *)context;

	if (key_of(x, key) != key_of(y, key))
		return key_of(x, key) > key_of(y, key) ? -1 : 1;
	return x->first < y->first ? -1 : x->first > y->first;
}

static void sort_rows(struct torch_rows *rows, int key)
{
	sort_items_with(rows->rows, rows->count, sizeof(*rows->rows), compare_rows, &key);
}

int torch_print_bottlenecks(FILE *out, struct torch_rows *rows, const struct torch_rows *shapes, double threshold_ms)
{
	size_t count = 0;

	sort_rows(rows, KEY_DEVICE);
	for (size_t i = 0; i < rows->count; i++) {
		const struct torch_row *row = &rows->rows[i];

		if (milliseconds(row->device) <= threshold_ms && milliseconds(row->cpu) <= threshold_ms)
			continue;
		fprintf(out, "%zu. ", ++count);
		torch_write_visible(out, row->name);
		fprintf(out, "\n   CUDA time: %.2f ms\n   CPU time: %.2f ms\n", milliseconds(row->device), milliseconds(row->cpu));
		print_shapes(out, row, shapes);
	}
	if (!count)
		fprintf(out, "No operator takes longer than %g ms; --threshold-ms lowers the limit.\n", threshold_ms);
	return torch_write_result(out);
}

void torch_print_unowned(FILE *out, const struct torch_rows *rows, enum torch_unit unit)
{
	char part[48], whole[48];

	if (!rows->device_work)
		return;
	torch_format_time(part, sizeof(part), (double)rows->device_unowned, unit);
	torch_format_time(whole, sizeof(whole), (double)rows->device_work, unit);
	fprintf(out, "GPU time without an operator: %s of %s (%.2f%%)\n", part, whole,
		100.0 * (double)rows->device_unowned / (double)rows->device_work);
}

static int print_part(FILE *out, struct torch_rows *rows, const struct torch_layout *layout, const char *title, int key, int64_t limit)
{
	struct torch_layout of_part = *layout;

	sort_rows(rows, key);
	of_part.row_limit = limit;
	fprintf(out, "%s\n", title);
	TRY(torch_table_print(out, rows, &of_part));
	fputc('\n', out);
	return 0;
}

/* Sums over all rows, as total_average() has them: what is nested counts in each. */
static void print_totals(FILE *out, const struct torch_rows *rows)
{
	double cpu = 0, self_cpu = 0, device = 0, self_device = 0;

	for (size_t i = 0; i < rows->count; i++) {
		const struct torch_row *row = &rows->rows[i];

		cpu += milliseconds(row->cpu);
		self_cpu += milliseconds(row->self_cpu);
		device += milliseconds(row->device);
		self_device += row->on_device && !row->is_annotation ? milliseconds(row->self_device) : 0;
	}
	fprintf(out, "Totals\n- Self CPU time: %.2f ms\n- Self CUDA time: %.2f ms\n", self_cpu, self_device);
	if (self_device > 0)
		fprintf(out, "- CPU/CUDA ratio: %.2f\n", self_cpu / self_device);
	fprintf(out, "- total_average(): %.2f ms CPU, %.2f ms CUDA", cpu, device);
	if (device > 0)
		fprintf(out, ", ratio %.2f", cpu / device);
	fputs(" (nested time counts several times)\n", out);
}

int torch_print_summary(FILE *out, struct torch_rows *rows, const struct torch_layout *layout, const char *name)
{
	torch_write_visible(out, name);
	fputs(": PyTorch operators\n\n", out);
	TRY(print_part(out, rows, layout, "GPU time: the first 20 by CUDA total", KEY_DEVICE, 20));
	if (rows->has_memory)
		TRY(print_part(out, rows, layout, "Memory: the first 10 by Self CUDA Mem", KEY_DEVICE_MEMORY, 10));
	TRY(print_part(out, rows, layout, "CPU time: the first 10 by CPU total", KEY_CPU, 10));
	print_totals(out, rows);
	torch_print_unowned(out, rows, layout->unit);
	return torch_write_result(out);
}
