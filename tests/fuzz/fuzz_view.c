/* Addresses of requests, and what they ask of a report: any text is answered, by data or by a sentence. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "replay.h"
#include "report/writer.h"
#include "view/internal.h"
#include "view_texts.h"

static int64_t put_text(struct report_writer *w, const char *text)
{
	return (int64_t)report_string(w, text, strlen(text));
}

/* A thread with ranges and calls, a stream with kernels, a counter. */
static void fill(struct report_writer *w)
{
	int64_t process[] = { 1, 100, 100, 0, 1, 0, 0, 1, put_text(w, "app") }, thread[] = { 1, 1, 100, 100 };
	int64_t tracks[][6] = { { 1, TRACK_NVTX_PUSHPOP, 1, 1, 0, 0 },
				{ 2, TRACK_CUDA_API, 1, 1, 0, 0 },
				{ 3, TRACK_GPU_KERNEL, 1, 0, 1, 0 },
				{ 4, TRACK_COUNTER, 1, 0, 0, 0 },
				{ 5, TRACK_NVTX_MARK, 1, 1, 0, 0 } };
	int64_t stream[] = { 1, 1, 7, 1, 0 }, name = put_text(w, "range"), call = put_text(w, "cudaLaunchKernel_v7000");

	report_append(report_track(w, TABLE_PROCESS, 0), process, 0x1ff);
	report_append(report_track(w, TABLE_THREAD, 0), thread, 0xf);
	report_append(report_track(w, TABLE_CUDA_STREAM, 0), stream, 0x1f);
	for (size_t i = 0; i < 5; i++)
		report_append(report_track(w, TABLE_TRACK, 0), tracks[i], 0x3f);
	for (int64_t i = 0; i < 3000; i++) {
		int64_t range[] = { i * 1000, i * 1000 + 900, name }, api[] = { i * 1000 + 100, i * 1000 + 200, call, 0, 0, i + 1 };
		int64_t kernel[] = { i * 1000 + 300, i * 1000 + 1200, 1, i + 1 }, value[] = { i * 1000, i }, mark[] = { i * 1000, name };

		report_append(report_track(w, TABLE_SLICE, 1), range, 7);
		report_append(report_track(w, TABLE_CUDA_API, 2), api, 0x3f);
		report_append(report_track(w, TABLE_GPU_KERNEL, 3), kernel, 0xf);
		report_append(report_track(w, TABLE_COUNTER, 4), value, 3);
		report_append(report_track(w, TABLE_INSTANT, 5), mark, 3);
	}
}

/* Two kernels with values, samples and instructions. */
static void fill_kernels(struct report_writer *w)
{
	static const char *const metrics[] = { "a__b.sum", "c__d.sum", "gpu__time_duration.sum", "sass__inst_executed_per_opcode",
					       "lts__d_sectors.avg.pct_of_peak_sustained_elapsed" };
	int64_t function = put_text(w, "_Z1kPf"), executed = put_text(w, "inst_executed");

	for (int64_t i = 1; i <= 2; i++) {
		int64_t result[COLUMN_KERNEL_RESULT_MINOR + 1] = { i, i, 1, 0, put_text(w, "k(float*)"), 0, 1, 7, 0, 64, 1, 1, 256,
								   1, 1, 9, 0 };

		report_append(report_track(w, TABLE_KERNEL_RESULT, 0), result, 0x1ffd7);
		for (size_t j = 0; j < sizeof(metrics) / sizeof(metrics[0]); j++) {
			int64_t metric[COLUMN_KERNEL_METRIC_OFFSET + 1] = { 0 };

			metric[COLUMN_KERNEL_METRIC_RESULT] = i;
			metric[COLUMN_KERNEL_METRIC_KIND] = KERNEL_METRIC_VALUE;
			metric[COLUMN_KERNEL_METRIC_NAME] = put_text(w, metrics[j]);
			metric[COLUMN_KERNEL_METRIC_INTEGER] = (int64_t)(1000 * j + 1);
			report_append(report_track(w, TABLE_KERNEL_METRIC, 0), metric,
				      1u << COLUMN_KERNEL_METRIC_RESULT | 1u << COLUMN_KERNEL_METRIC_KIND |
					      1u << COLUMN_KERNEL_METRIC_NAME | 1u << COLUMN_KERNEL_METRIC_INTEGER |
					      (uint32_t)(j == 3) << COLUMN_KERNEL_METRIC_INSTANCE);
		}
		for (int64_t pc = 0; pc < 64; pc += 16) {
			int64_t source[] = { i, 1, function, pc, executed, pc + 1 };
			int64_t instruction[] = { 1,        function, pc, function, function, pc, put_text(w, "f\tx.cu\t7\ng\ty.cu\t8\n"),
						  function, pc };

			report_append(report_track(w, TABLE_KERNEL_SOURCE, 0), source, 0x3f);
			report_append(report_track(w, TABLE_KERNEL_INSTRUCTION, 0), instruction, 0x1ff);
		}
	}
}

static struct view *open_view(void)
{
	char path[64];
	struct view *v = calloc(1, sizeof(*v));
	struct report_writer *w;
	struct error err;

	snprintf(path, sizeof(path), "/tmp/sonde-fuzz-view-%d.sonde", (int)getpid());
	v->reports = calloc(1, sizeof(*v->reports));
	v->report_count = 1;
	v->texts = fuzz_texts();
	if (report_writer_open(&w, path, 1, NULL, 0, &err) < 0)
		abort();
	fill(w);
	fill_kernels(w);
	if (report_writer_finish(w, &err) < 0 || view_report_open(&v->reports[0], path, "x", &err) < 0)
		abort();
	unlink(path);
	return v;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct view *v;
	char *uri = malloc(size + 1);
	const struct route *route;
	struct params params;
	struct answer a;
	struct error err;

	v = v ? v : open_view();
	memcpy(uri, data, size);
	uri[size] = '\0';
	if (params_parse(&params, uri, &err) == 0) {
		route = route_find(params.path);
		/* Statistics read files and open the report anew, by a name that is gone. */
		if (route && strcmp(route->path, "/api/stats") && strcmp(route->path, "/api/flame") && strcmp(route->path, "/api/stack")) {
			answer_make(v, route, &params, &a);
			if (a.status != 200 && (a.status < 400 || !strstr(buf_cstr(&a.body), "\"error\"")))
				abort();
			buf_release(&a.body);
		}
		params_release(&params);
	}
	free(uri);
	return 0;
}
