/* Calls, the work they started and the ranges around them, in recordings whose truth is plain to see. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "support.h"
#include "support/text_report.h"

/* Two processes with a thread each, a second thread in the first; a stream each, and a second one in the first process. */
#define WORLD \
	"process 0 uid=1 pid=10 name=\"a\"\nprocess 0 uid=2 pid=20 name=\"b\"\n" \
	"thread 0 uid=1 process=1 tid=11 name=\"main\"\nthread 0 uid=2 process=1 tid=12 name=\"other\"\n" \
	"thread 0 uid=3 process=2 tid=21 name=\"main\"\n" \
	"track 0 id=1 kind=1 process=1 thread=1 domain=0 depth=0\n" \
	"track 0 id=2 kind=1 process=1 thread=1 domain=0 depth=1\n" \
	"track 0 id=3 kind=2 process=1 thread=1 domain=0 depth=0\n" \
	"track 0 id=4 kind=1 process=1 thread=2 domain=0 depth=0\n" \
	"track 0 id=5 kind=1 process=2 thread=3 domain=0 depth=0\n" \
	"track 0 id=10 kind=9 process=1 thread=1 depth=0\ntrack 0 id=11 kind=9 process=1 thread=1 depth=1\n" \
	"track 0 id=12 kind=9 process=1 thread=2 depth=0\ntrack 0 id=13 kind=9 process=2 thread=3 depth=0\n" \
	"track 0 id=20 kind=10 process=1 domain=1 depth=0\ntrack 0 id=21 kind=10 process=1 domain=2 depth=0\n" \
	"track 0 id=22 kind=10 process=2 domain=3 depth=0\ntrack 0 id=23 kind=11 process=1 domain=1 depth=0\n" \
	"track 0 id=24 kind=14 process=1 domain=1 depth=0\ntrack 0 id=25 kind=13 process=1 domain=1 depth=0\n" \
	"cuda_stream 0 uid=1 process=1 id=7 context=1 device=0\ncuda_stream 0 uid=2 process=1 id=8 context=1 device=1\n" \
	"cuda_stream 0 uid=3 process=2 id=7 context=1 device=0\n" \
	"cuda_function 0 id=1 name=\"void k<int>(int)\" short_name=\"k\" mangled=\"_Z1kIiEvi\"\n" \
	"cuda_launch 0 id=1 function=1 grid_x=1 grid_y=1 grid_z=1 block_x=32 block_y=1 block_z=1 registers=8\n"

struct recording {
	char folder[64];
	struct query *q;
};

static struct recording recording_of(const char *text)
{
	struct recording r;
	struct error err;
	char source[128], path[128];
	FILE *out;

	make_folder(r.folder, sizeof(r.folder));
	snprintf(source, sizeof(source), "%s/run.txt", r.folder);
	snprintf(path, sizeof(path), "%s/run.sonde", r.folder);
	out = fopen(source, "we");
	assert_non_null(out);
	fputs(WORLD, out);
	fputs(text, out);
	fclose(out);
	if (text_report_write(source, path, &err) < 0 || query_open(&r.q, path, &err) < 0)
		fail_msg("%s", err.text);
	return r;
}

static void drop(struct recording *r)
{
	query_close(r->q);
	remove_folder(r->folder);
}

static void check(struct recording *r, const char *sql, const char *expected)
{
	assert_string_equal(ask(r->q, sql), expected);
}

#define PROJECTION "SELECT name, gpuOps, projStart, projDuration, level, numChild, rangeStack FROM nvtx_projection"

/* Nested ranges, a gap between them, one without work; work of both streams; a call at the very edges of its range. */
static void test_nested(void **state)
{
	struct recording r = recording_of(
		"slice 1 start=100 end=1000 name=\"outer\" flags=0\n"
		"slice 1 start=2000 end=3000 name=\"idle\" flags=0\n"
		"slice 2 start=200 end=300 name=\"first\" flags=0\nslice 2 start=400 end=600 name=\"second\" flags=0\n"
		"cuda_api 10 start=150 end=160 name=\"cudaLaunchKernel_v7000\" correlation=1 flags=0\n"
		"cuda_api 10 start=200 end=300 name=\"cudaLaunchKernel_v7000\" correlation=2 flags=0\n"
		"cuda_api 10 start=350 end=360 name=\"cudaLaunchKernel_v7000\" correlation=3 flags=0\n"
		"cuda_api 10 start=400 end=410 name=\"cudaLaunchKernel_v7000\" correlation=4 flags=0\n"
		"cuda_api 10 start=590 end=601 name=\"cudaLaunchKernel_v7000\" correlation=5 flags=0\n"
		"cuda_api 10 start=1500 end=1600 name=\"cudaLaunchKernel_v7000\" correlation=6 flags=0\n"
		"gpu_kernel 20 start=5000 end=5100 launch=1 correlation=1\ngpu_kernel 20 start=5200 end=5300 launch=1 correlation=3\n"
		"gpu_kernel 20 start=5400 end=5500 launch=1 correlation=4\ngpu_kernel 20 start=9000 end=9100 launch=1 correlation=6\n"
		"gpu_kernel 21 start=4000 end=4500 launch=1 correlation=2\ngpu_kernel 21 start=6000 end=8000 launch=1 correlation=5\n");

	/* The call that ends behind "second" is of "outer" alone. */
	check(&r, PROJECTION, "outer|5|4000|4000|0|2|:1;first|1|4000|500|1|0|:1:2;second|1|5400|100|1|0|:1:3;idle|0|||0|0|:4");
	check(&r, "SELECT correlationId, nvtxName, deviceId, streamId FROM cuda_gpu_ops ORDER BY correlationId",
	      "1|outer|0|7;2|first|1|8;3|outer|0|7;4|second|0|7;5|outer|1|8;6||0|7");
	check(&r, "SELECT name, count, projTotal, rangeTotal, gpuOps, levels, children FROM nvtx_projection_stats ORDER BY name",
	      "first|1|500|100|1|1|0;outer|1|4000|900|5|0|2;second|1|100|200|1|1|0");
	check(&r, "SELECT rangeName, ranges, count, sum, tid, name FROM nvtx_kernel_stats('base') ORDER BY sum, rangeName",
	      "||1|100|11|k;second|1|1|100|11|k;first|1|1|500|11|k;outer|1|5|2800|11|k");
	drop(&r);
}

/* Ranges that cross; one ended by another thread, one that never ended. */
static void test_crossing(void **state)
{
	struct recording r = recording_of(
		"track 0 id=6 kind=2 process=1 thread=1 domain=0 depth=1\ntrack 0 id=7 kind=2 process=1 thread=1 domain=0 depth=2\n"
		"track 0 id=8 kind=2 process=1 thread=1 domain=0 depth=3\n"
		"slice 1 start=100 end=500 name=\"push\" flags=0\nslice 2 start=450 end=490 name=\"inner\" flags=0\n"
		"slice 3 start=200 end=900 name=\"x\" flags=0 range_id=1\nslice 6 start=300 end=1200 name=\"y\" flags=0 range_id=2\n"
		"slice 7 start=50 end=2000 name=\"handed over\" flags=0 range_id=3 end_thread=2\n"
		"slice 8 start=60 end=5000 name=\"open\" flags=1 range_id=4\n"
		"cuda_api 10 start=150 end=160 name=\"f\" correlation=1 flags=0\ncuda_api 10 start=250 end=260 name=\"f\" correlation=2 flags=0\n"
		"cuda_api 10 start=460 end=470 name=\"f\" correlation=3 flags=0\ncuda_api 10 start=600 end=610 name=\"f\" correlation=4 flags=0\n"
		"cuda_api 10 start=1000 end=1010 name=\"f\" correlation=5 flags=0\ncuda_api 10 start=1300 end=1310 name=\"f\" correlation=6 flags=0\n"
		"gpu_kernel 20 start=1 end=2 launch=1 correlation=1\ngpu_kernel 20 start=3 end=4 launch=1 correlation=2\n"
		"gpu_kernel 20 start=5 end=6 launch=1 correlation=3\ngpu_kernel 20 start=7 end=8 launch=1 correlation=4\n"
		"gpu_kernel 20 start=9 end=10 launch=1 correlation=5\ngpu_kernel 20 start=11 end=12 launch=1 correlation=6\n");

	check(&r, PROJECTION, "push|3|1|5|0|1|:1;x|3|3|5|0|0|:2;y|3|5|5|0|0|:3;inner|1|5|1|1|0|:1:4");
	check(&r, "SELECT correlationId, nvtxName, nvtxRange FROM cuda_gpu_ops ORDER BY correlationId",
	      "1|push|1;2|x|2;3|inner|4;4|y|3;5|y|3;6||");
	drop(&r);
}

/* Processes count their correlations for themselves; threads have ranges of their own. */
static void test_processes(void **state)
{
	struct recording r = recording_of(
		"slice 1 start=100 end=200 name=\"a\" flags=0\nslice 4 start=100 end=200 name=\"t\" flags=0\n"
		"slice 5 start=100 end=200 name=\"b\" flags=0\n"
		"cuda_api 10 start=110 end=120 name=\"first\" correlation=5 flags=0\ncuda_api 12 start=130 end=140 name=\"second\" correlation=6 flags=0\n"
		"cuda_api 13 start=150 end=160 name=\"third\" correlation=5 flags=0\n"
		"gpu_kernel 20 start=300 end=310 launch=1 correlation=5\ngpu_kernel 20 start=320 end=340 launch=1 correlation=6\n"
		"gpu_kernel 22 start=300 end=330 launch=1 correlation=5\ngpu_kernel 22 start=350 end=360 launch=1 correlation=6\n");

	check(&r, "SELECT processUid, start, apiName, globalTid % 0x1000000, nvtxName FROM cuda_gpu_ops ORDER BY 1, 2",
	      "1|300|first|11|a;1|320|second|12|t;2|300|third|21|b;2|350|||");
	check(&r, "SELECT name, pid, tid, gpuOps, projDuration FROM nvtx_projection", "a|10|11|1|10;t|10|12|1|20;b|20|21|1|30");
	drop(&r);
}

/* Total, call, queue and kernel; the kernel before its call had returned, and before it was made. */
static void test_phases(void **state)
{
	struct recording r = recording_of(
		"cuda_api 10 start=100 end=200 name=\"cudaLaunchKernel_v7000\" correlation=1 flags=0\n"
		"cuda_api 10 start=300 end=400 name=\"cudaLaunchKernel_v7000\" correlation=2 flags=0\n"
		"cuda_api 10 start=500 end=600 name=\"cudaLaunchKernelExC_v11060\" correlation=3 flags=0\n"
		"cuda_api 10 start=700 end=800 name=\"cuLaunchKernel\" correlation=4 flags=0\n"
		"gpu_kernel 20 start=250 end=290 launch=1 correlation=1\ngpu_kernel 20 start=350 end=390 launch=1 correlation=2\n"
		"gpu_kernel 20 start=490 end=650 launch=1 correlation=3\ngpu_kernel 20 start=800 end=900 launch=1 correlation=4\n"
		"gpu_kernel 20 start=1000 end=1001 launch=1 correlation=77\ngpu_kernel 20 start=1002 end=1003 launch=1\n");

	check(&r,
	      "SELECT apiStart, apiDuration, queueStart, queueDuration, kernelStart, kernelDuration, totalDuration, apiName "
	      "FROM cuda_kernel_exec",
	      "100|100|200|50|250|40|190|cudaLaunchKernel;300|100|||350|40|100|cudaLaunchKernel;"
	      "500|100|||490|160|150|cudaLaunchKernelExC_v11060;700|100|||800|100|200|cuLaunchKernel;||||1000|1||;||||1002|1||");
	drop(&r);
}

/* Copies, graphs and synchronisation find their calls as well; a graph counts for its range, synchronisation does not. */
static void test_kinds(void **state)
{
	struct recording r = recording_of(
		"slice 1 start=100 end=900 name=\"all\" flags=0\n"
		"cuda_api 10 start=110 end=120 name=\"cudaMemcpy_v3020\" correlation=1 flags=0\ncuda_api 10 start=130 end=140 name=\"cudaGraphLaunch_v10000\" correlation=2 flags=0\n"
		"cuda_api 10 start=150 end=800 name=\"cudaDeviceSynchronize_v3020\" correlation=3 flags=0\n"
		"gpu_copy 23 start=200 end=210 bytes=64 kind=1 source=1 target=3 correlation=1\ngpu_graph 24 start=300 end=400 graph=1 correlation=2\n"
		"gpu_sync 25 start=160 end=790 kind=4 correlation=3\n");

	check(&r, "SELECT kind, apiName, nvtxName, bytes, cuda_op_label(kind, copyKind) FROM cuda_gpu_ops ORDER BY kind",
	      "2|cudaMemcpy|all|64|[CUDA memcpy Host-to-Device];4|cudaGraphLaunch_v10000|all||[CUDA Graph];5|cudaDeviceSynchronize|all||");
	check(&r, PROJECTION, "all|2|200|200|0|0|:1");
	drop(&r);
}

/* Numbers far apart; the same number twice; calls without one. */
static void test_numbers(void **state)
{
	struct recording r = recording_of(
		"cuda_api 10 start=100 end=110 name=\"low\" correlation=1 flags=0\ncuda_api 10 start=120 end=130 name=\"high\" correlation=4294967294 flags=0\n"
		"cuda_api 10 start=140 end=150 name=\"again\" correlation=1 flags=0\ncuda_api 10 start=160 end=170 name=\"none\" flags=0\n"
		"cuda_api 10 start=180 end=190 name=\"middle\" correlation=2000000000 flags=0\n"
		"gpu_kernel 20 start=1 end=2 launch=1 correlation=1\ngpu_kernel 20 start=3 end=4 launch=1 correlation=4294967294\n"
		"gpu_kernel 20 start=5 end=6 launch=1 correlation=2000000000\ngpu_kernel 20 start=7 end=8 launch=1 correlation=2000000001\n"
		"gpu_kernel 20 start=9 end=10 launch=1 correlation=0\ngpu_kernel 20 start=11 end=12 launch=1 correlation=-1\n"
		"gpu_kernel 20 start=13 end=14 launch=1 correlation=9223372036854775807\n");

	check(&r, "SELECT start, apiName FROM cuda_gpu_ops", "1|low;3|high;5|middle;7|;9|;11|;13|");
	drop(&r);
}

/* Nodes of graphs have the range of their capture where the launch has none; clones lead to it. */
static void test_captures(void **state)
{
	struct recording r = recording_of(
		"slice 1 start=100 end=200 name=\"capture\" flags=0\nslice 1 start=500 end=600 name=\"replay\" flags=0\n"
		"cuda_graph_node 0 process=1 thread=1 time=150 node=70 graph=1 type=0\ncuda_graph_node 0 process=1 thread=1 time=250 node=80 original=70 graph=2 type=0\n"
		"cuda_graph_node 0 process=1 thread=1 time=260 node=90 original=80 graph=3 type=0\n"
		"cuda_api 10 start=510 end=520 name=\"cudaGraphLaunch_v10000\" correlation=1 flags=0\ncuda_api 10 start=700 end=710 name=\"cudaGraphLaunch_v10000\" correlation=2 flags=0\n"
		"gpu_kernel 20 start=1000 end=1010 launch=1 correlation=1 graph_node=90 graph=3\n"
		"gpu_kernel 20 start=1020 end=1030 launch=1 correlation=2 graph_node=90 graph=3\n"
		"gpu_kernel 20 start=1040 end=1050 launch=1 correlation=2 graph_node=91 graph=3\n"
		"gpu_kernel 22 start=1040 end=1050 launch=1 graph_node=90 graph=3\n");

	check(&r, "SELECT processUid, start, nvtxName, nvtxRange, captureRange FROM cuda_gpu_ops",
	      "1|1000|replay|2|1;1|1020|capture||1;1|1040|||;2|1040|||");
	check(&r, "SELECT name, gpuOps FROM nvtx_projection", "capture|0;replay|1");
	drop(&r);
}

/* References into nothing, in a circle, and times that make no sense. */
static void test_hostile(void **state)
{
	struct recording r = recording_of(
		"track 0 id=30 kind=10 process=99 domain=77 depth=0\ntrack 0 id=31 kind=9 process=99 thread=88 depth=0\n"
		"track 0 id=32 kind=1 process=99 thread=88 domain=55 depth=0\ntrack 0 id=33 kind=9\ntrack 0 id=34 kind=10\ntrack 0 id=35 kind=1\n"
		"cuda_graph_node 0 process=1 thread=1 time=150 node=70 original=80 graph=1\ncuda_graph_node 0 process=1 thread=1 time=150 node=80 original=70 graph=1\n"
		"cuda_graph_node 0 process=1 node=81 original=81 graph=1\ncuda_graph_node 0 node=82\n"
		"cuda_launch 0 id=2 function=4444\ncuda_launch 0 id=-5 function=1\ncuda_launch 0 id=9223372036854775807 function=1\n"
		"slice 32 start=-9223372036854775807 end=9223372036854775807 name=\"all\" flags=0\nslice 35 start=0 end=10 flags=0\n"
		"slice 1 start=-100 end=-50 name=\"before\" flags=0\n"
		"cuda_api 31 start=-9223372036854775807 end=9223372036854775807 name=\"f\" correlation=1 flags=0\n"
		"cuda_api 33 start=1 end=2 correlation=1 flags=0\ncuda_api 10 start=-90 end=-80 correlation=3 flags=0\n"
		"gpu_kernel 30 start=-9223372036854775807 end=9223372036854775807 launch=2 correlation=1 graph_node=70\n"
		"gpu_kernel 34 start=1 end=2 launch=777 correlation=1\ngpu_kernel 20 start=-70 end=-60 correlation=3 graph_node=70 launch=-5\n"
		"gpu_kernel 20 start=1 end=2 launch=9223372036854775807 graph_node=81\ngpu_kernel 20 start=3 end=4 graph_node=82\n");

	check(&r, "SELECT count(*), count(apiStart), count(nvtxName) FROM cuda_gpu_ops", "5|3|2");
	check(&r, "SELECT name, gpuOps, projStart FROM nvtx_projection ORDER BY name", "|1|1;all|1|-9223372036854775807;before|1|-70");
	check(&r, "SELECT sum(count) FROM nvtx_kernel_stats", "5");
	check(&r, "SELECT sum(count) FROM nvtx_projection_stats", "3");
	check(&r, "SELECT count(*) FROM cuda_kernel_exec", "5");
	check(&r, "SELECT count(*) FROM nvtx_kernel_stats('nonsense')",
	      "error: Kernels can be grouped by name, base or mangled, not by 'nonsense'");
	drop(&r);
}

static void test_empty(void **state)
{
	struct recording r = recording_of("");

	check(&r, "SELECT count(*) FROM cuda_gpu_ops", "0");
	check(&r, "SELECT count(*) FROM nvtx_projection", "0");
	check(&r, "SELECT count(*) FROM nvtx_projection_stats", "0");
	check(&r, "SELECT count(*) FROM nvtx_kernel_stats", "0");
	drop(&r);
}

/* Anything against going through all of it. */

#define RANGES 120
#define CALLS 300

struct span {
	int64_t start;
	int64_t end;
	int push;
};

static uint64_t random_number(uint64_t *state, uint64_t below)
{
	*state = *state * 6364136223846793005ull + 1442695040888963407ull;
	return (*state >> 33) % below;
}

static int contains(const struct span *outer, const struct span *inner)
{
	return outer->start <= inner->start && inner->end <= outer->end;
}

/* Ranges have their own lanes, all of different begin, so that any two may cross. Work of call i is one kernel at 10 * i. */
static void write_random(struct buf *text, struct span *ranges, struct span *calls, uint64_t *state)
{
	for (int i = 0; i < RANGES; i++) {
		ranges[i] = (struct span){ 20 * i, 0, random_number(state, 2) == 0 };
		ranges[i].end = ranges[i].start + (int64_t)random_number(state, random_number(state, 4) ? 100 : 20 * RANGES);
		buf_printf(text, "track 0 id=%d kind=%d process=1 thread=1 domain=0 depth=0\n", 100 + i, ranges[i].push ? 1 : 2);
		buf_printf(text, "slice %d start=%d end=%d name=\"r\" flags=0\n", 100 + i, (int)ranges[i].start, (int)ranges[i].end);
	}
	for (int i = 0; i < CALLS; i++) {
		calls[i].start = 8 * i + (int64_t)random_number(state, 4);
		calls[i].end = calls[i].start + (int64_t)random_number(state, 4);
		buf_printf(text, "cuda_api 10 start=%d end=%d name=\"f\" correlation=%d flags=0\n", (int)calls[i].start, (int)calls[i].end,
			   i + 1);
		buf_printf(text, "gpu_kernel 20 start=%d end=%d launch=1 correlation=%d\n", 10 * i, 10 * i + 5, i + 1);
	}
}

static void expect_range(struct buf *expected, const struct span *ranges, const struct span *calls, int i)
{
	int ops = 0, first = 0, last = 0, level = 0, parent = -1, children = 0, inner;

	for (int c = 0; c < CALLS; c++)
		if (contains(&ranges[i], &calls[c])) {
			first = ops++ ? first : 10 * c;
			last = 10 * c + 5;
		}
	for (int o = 0; o < i; o++)
		if (ranges[o].push && contains(&ranges[o], &ranges[i]))
			parent = o;
	for (int at = parent; at >= 0; at = inner) {
		level++;
		inner = -1;
		for (int o = 0; o < at; o++)
			inner = ranges[o].push && contains(&ranges[o], &ranges[at]) ? o : inner;
	}
	for (int o = i + 1; ranges[i].push && o < RANGES; o++) {
		inner = -1;
		for (int p = 0; p < o; p++)
			inner = ranges[p].push && contains(&ranges[p], &ranges[o]) ? p : inner;
		children += inner == i;
	}
	buf_printf(expected, "%s%d|%d|", i ? ";" : "", i + 1, ops);
	if (ops)
		buf_printf(expected, "%d|%d", first, last);
	else
		buf_puts(expected, "|");
	buf_printf(expected, "|%d|%d|", level, children);
	if (parent >= 0)
		buf_printf(expected, "%d", parent + 1);
}

static void test_random(void **state)
{
	struct span ranges[RANGES], calls[CALLS];
	uint64_t seed = 7;

	for (int round = 0; round < 5; round++) {
		struct buf text = BUF_INIT, expected = BUF_INIT, innermost = BUF_INIT;
		struct recording r;

		write_random(&text, ranges, calls, &seed);
		for (int i = 0; i < RANGES; i++)
			expect_range(&expected, ranges, calls, i);
		for (int c = 0; c < CALLS; c++) {
			int found = -1;

			for (int i = 0; i < RANGES; i++)
				found = contains(&ranges[i], &calls[c]) ? i : found;
			buf_puts(&innermost, c ? ";" : "");
			if (found >= 0)
				buf_printf(&innermost, "%d", found + 1);
		}
		r = recording_of(buf_cstr(&text));
		check(&r, "SELECT rangeId, gpuOps, projStart, projEnd, level, numChild, parentId FROM nvtx_projection",
		      buf_cstr(&expected));
		check(&r, "SELECT nvtxRange FROM cuda_gpu_ops WHERE kind = 1 ORDER BY correlationId", buf_cstr(&innermost));
		drop(&r);
		buf_release(&text);
		buf_release(&expected);
		buf_release(&innermost);
	}
}

int main(void)
{
	/* clang-format off */
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nested), cmocka_unit_test(test_crossing), cmocka_unit_test(test_processes),
		cmocka_unit_test(test_phases), cmocka_unit_test(test_kinds), cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_captures), cmocka_unit_test(test_hostile), cmocka_unit_test(test_empty),
		cmocka_unit_test(test_random),
	};
	/* clang-format on */

	return cmocka_run_group_tests(tests, NULL, NULL);
}
