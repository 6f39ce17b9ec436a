/* Results as the recorder writes them: names, device, values and what is computed from them; rows that make no sense. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "kernel/results/derived.h"
#include "kernel/pages/page.h"
#include "report/writer.h"

#define BIT(column) (1u << (column))

struct fixture {
	char folder[64];
	char path[96];
	struct report_writer *writer;
	struct report *report;
	struct kernel_results results;
};

static void row(struct fixture *f, enum table_id table, const int64_t *values, uint32_t present)
{
	assert_int_equal(report_append(report_track(f->writer, table, 0), values, present), 0);
}

static int64_t text(struct fixture *f, const char *text)
{
	return (int64_t)report_string(f->writer, text, strlen(text));
}

static void add_places(struct fixture *f)
{
	int64_t process[TABLE_MAX_COLUMNS] = {
		[COLUMN_PROCESS_UID] = 1, [COLUMN_PROCESS_PID] = 77, [COLUMN_PROCESS_NAME] = text(f, "prog")
	};
	int64_t gpu[TABLE_MAX_COLUMNS] = { [COLUMN_GPU_UID] = 5,
					   [COLUMN_GPU_NAME] = text(f, "NVIDIA H200"),
					   [COLUMN_GPU_SM_COUNT] = 132,
					   [COLUMN_GPU_MAJOR] = 9,
					   [COLUMN_GPU_MINOR] = 0 };
	int64_t device[TABLE_MAX_COLUMNS] = { [COLUMN_CUDA_DEVICE_PROCESS] = 1, [COLUMN_CUDA_DEVICE_ID] = 0, [COLUMN_CUDA_DEVICE_GPU] = 5 };
	int64_t function[TABLE_MAX_COLUMNS] = { [COLUMN_CUDA_FUNCTION_ID] = 3,
						[COLUMN_CUDA_FUNCTION_NAME] = text(f, "void ns::add<int>(int*)"),
						[COLUMN_CUDA_FUNCTION_SHORT_NAME] = text(f, "add"),
						[COLUMN_CUDA_FUNCTION_MANGLED] = text(f, "_ZN2ns3addIiEEvPT_") };

	row(f, TABLE_PROCESS, process, BIT(COLUMN_PROCESS_UID) | BIT(COLUMN_PROCESS_PID) | BIT(COLUMN_PROCESS_NAME));
	row(f, TABLE_GPU, gpu,
	    BIT(COLUMN_GPU_UID) | BIT(COLUMN_GPU_NAME) | BIT(COLUMN_GPU_SM_COUNT) | BIT(COLUMN_GPU_MAJOR) | BIT(COLUMN_GPU_MINOR));
	row(f, TABLE_CUDA_DEVICE, device, BIT(COLUMN_CUDA_DEVICE_PROCESS) | BIT(COLUMN_CUDA_DEVICE_ID) | BIT(COLUMN_CUDA_DEVICE_GPU));
	row(f, TABLE_CUDA_FUNCTION, function, 0xf);
}

static void add_result(struct fixture *f, int64_t id, uint32_t grid, uint32_t block)
{
	/* clang-format off */
	int64_t v[TABLE_MAX_COLUMNS] = { [COLUMN_KERNEL_RESULT_ID] = id, [COLUMN_KERNEL_RESULT_NUMBER] = id - 1, [COLUMN_KERNEL_RESULT_PROCESS] = 1,
					 [COLUMN_KERNEL_RESULT_FUNCTION] = 3, [COLUMN_KERNEL_RESULT_STREAM] = 7, [COLUMN_KERNEL_RESULT_GRID_X] = grid,
					 [COLUMN_KERNEL_RESULT_GRID_Y] = 1, [COLUMN_KERNEL_RESULT_GRID_Z] = 1, [COLUMN_KERNEL_RESULT_BLOCK_X] = block,
					 [COLUMN_KERNEL_RESULT_BLOCK_Y] = 1, [COLUMN_KERNEL_RESULT_BLOCK_Z] = 1 };
	/* clang-format on */

	row(f, TABLE_KERNEL_RESULT, v,
	    BIT(COLUMN_KERNEL_RESULT_BLOCK_Z + 1) - 1 - BIT(COLUMN_KERNEL_RESULT_HOST) - BIT(COLUMN_KERNEL_RESULT_NAME));
}

static void add_metric(struct fixture *f, int64_t result, const char *name, double value)
{
	int64_t v[TABLE_MAX_COLUMNS] = { [COLUMN_KERNEL_METRIC_RESULT] = result,
					 [COLUMN_KERNEL_METRIC_KIND] = KERNEL_METRIC_VALUE,
					 [COLUMN_KERNEL_METRIC_NAME] = text(f, name) };
	uint32_t present = BIT(COLUMN_KERNEL_METRIC_RESULT) | BIT(COLUMN_KERNEL_METRIC_KIND) | BIT(COLUMN_KERNEL_METRIC_NAME);

	if (value == rint(value)) {
		v[COLUMN_KERNEL_METRIC_INTEGER] = (int64_t)value;
		present |= BIT(COLUMN_KERNEL_METRIC_INTEGER);
	} else if (isfinite(value)) {
		memcpy(&v[COLUMN_KERNEL_METRIC_REAL], &value, sizeof(value));
		present |= BIT(COLUMN_KERNEL_METRIC_REAL);
	}
	row(f, TABLE_KERNEL_METRIC, v, present);
}

static void add_launch(struct fixture *f, int64_t result, double blocks_per_sm)
{
	static const char *const zero[] = { "launch__shared_mem_per_block_static", "launch__shared_mem_per_block_dynamic",
					    "launch__cluster_dim_x", "launch__cluster_dim_y", "launch__cluster_dim_z" };

	for (size_t i = 0; i < sizeof(zero) / sizeof(zero[0]); i++)
		add_metric(f, result, zero[i], 0);
	add_metric(f, result, "launch__registers_per_thread", 12);
	add_metric(f, result, "launch__occupancy_limit_driver", blocks_per_sm);
}

static void begin(struct fixture *f)
{
	struct error err;

	memset(f, 0, sizeof(*f));
	snprintf(f->folder, sizeof(f->folder), "/tmp/sonde-results-XXXXXX");
	assert_non_null(mkdtemp(f->folder));
	snprintf(f->path, sizeof(f->path), "%s/x.sonde", f->folder);
	assert_int_equal(report_writer_open(&f->writer, f->path, 0, NULL, 0, &err), 0);
}

static void load(struct fixture *f)
{
	struct error err;

	assert_int_equal(report_writer_finish(f->writer, &err), 0);
	assert_int_equal(report_open(&f->report, f->path, &err), 0);
	assert_int_equal(kernel_results_load(&f->results, f->report, &err), 0);
	assert_int_equal(derive_values(&f->results), 0);
}

static void end(struct fixture *f)
{
	kernel_results_release(&f->results);
	report_close(f->report);
	unlink(f->path);
	rmdir(f->folder);
}

static void near(const struct kernel_result *k, const char *metric, double want)
{
	double have = result_number(k, metric);

	if (!(fabs(have - want) < 1e-9 * fmax(1, fabs(want))))
		fail_msg("%s is %g, not %g", metric, have, want);
}

/* vecadd of tests/fixtures: 65536 blocks of 256 threads with 12 registers on an H200. */
static void test_recorded(void **state)
{
	struct fixture f;
	struct kernel_result *k;

	(void)state;
	begin(&f);
	add_places(&f);
	add_result(&f, 1, 65536, 256);
	add_metric(&f, 1, "sm__cycles_active.avg", 110049.3);
	add_metric(&f, 1, "gpu__time_duration.sum", NAN);
	add_launch(&f, 1, 8);
	load(&f);
	assert_int_equal(f.results.count, 1);
	k = f.results.items;
	assert_string_equal(k->name, "void ns::add<int>(T1 *)");
	assert_string_equal(k->function, "add");
	assert_string_equal(k->mangled, "_ZN2ns3addIiEEvPT_");
	assert_int_equal(k->process->pid, 77);
	assert_int_equal(10 * k->major + k->minor, 90);
	assert_string_equal(k->facts->name, "NVIDIA H200");
	near(k, "launch__registers_per_thread", 16);
	near(k, "launch__thread_count", 65536.0 * 256);
	near(k, "launch__waves_per_multiprocessor", 65536.0 / (132 * 8));
	near(k, "sm__maximum_warps_per_active_cycle_pct", 100);
	near(k, "launch__occupancy_limit_registers", 16);
	near(k, "launch__shared_mem_per_block_allocated", 1024);
	/* As ncu reports it for such a launch on this GPU: 32 KB, a KB for each of 32 blocks. */
	near(k, "launch__shared_mem_config_size", 32768);
	near(k, "launch__occupancy_limit_shared_mem", 32);
	near(k, "launch__tpc_count", 66);
	/* Points of a curve: 0 to 256 registers. ncu has this sum for 256 threads without shared memory. */
	near(k, "launch__occupancy_per_register_count", 5504);
	near(k, "derived__pct_occupancy_per_register_count", 8524);
	near(k, "launch__occupancy_per_block_size", 3670);
	near(k, "launch__occupancy_per_barrier_count", 1440);
	assert_int_equal(result_find(k, "gpu__time_duration.sum")->kind, VALUE_NONE);
	assert_null(result_find(k, "derived__local_spilling_requests_pct"));
	end(&f);
}

/* The driver's word on blocks goes before our calculation; without a chip there is none. */
static void test_driver_decides(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f);
	add_result(&f, 1, 100, 256);
	add_launch(&f, 1, 8);
	load(&f);
	assert_null(f.results.items[0].process);
	near(f.results.items, "launch__grid_size", 100);
	assert_null(result_find(f.results.items, "launch__occupancy_limit_warps"));
	assert_null(result_find(f.results.items, "launch__sm_count"));
	end(&f);
	begin(&f);
	add_places(&f);
	add_result(&f, 1, 132, 256);
	add_launch(&f, 1, 4);
	load(&f);
	near(f.results.items, "sm__maximum_warps_avg_per_active_cycle", 32);
	near(f.results.items, "launch__waves_per_multiprocessor", 0.25);
	near(f.results.items, "launch__occupancy_limit_warps", 8);
	end(&f);
}

static void test_odd_rows(void **state)
{
	int64_t odd[TABLE_MAX_COLUMNS] = {
		[COLUMN_KERNEL_METRIC_RESULT] = 2, [COLUMN_KERNEL_METRIC_KIND] = 99, [COLUMN_KERNEL_METRIC_NAME] = 1 << 20
	};
	struct fixture f;

	(void)state;
	begin(&f);
	add_result(&f, 9, 0, 0);
	add_result(&f, 2, UINT32_MAX, UINT32_MAX);
	add_metric(&f, 4, "no__such.result", 1);
	add_metric(&f, -1, "no__such.result", 1);
	add_metric(&f, 2, "sm__cycles_active.avg", 1);
	add_metric(&f, 2, "sm__cycles_active.avg", 2);
	row(&f, TABLE_KERNEL_METRIC, odd, BIT(COLUMN_KERNEL_METRIC_RESULT) | BIT(COLUMN_KERNEL_METRIC_KIND));
	odd[COLUMN_KERNEL_METRIC_KIND] = KERNEL_METRIC_VALUE;
	row(&f, TABLE_KERNEL_METRIC, odd,
	    BIT(COLUMN_KERNEL_METRIC_RESULT) | BIT(COLUMN_KERNEL_METRIC_KIND) | BIT(COLUMN_KERNEL_METRIC_NAME));
	odd[COLUMN_KERNEL_METRIC_KIND] = KERNEL_METRIC_RULE;
	row(&f, TABLE_KERNEL_METRIC, odd, BIT(COLUMN_KERNEL_METRIC_RESULT) | BIT(COLUMN_KERNEL_METRIC_KIND));
	load(&f);
	assert_int_equal(f.results.count, 2);
	assert_int_equal(f.results.items[0].id, 2);
	assert_int_equal(f.results.items[1].value_count, 0);
	assert_int_equal(f.results.items[0].rule_count, 1);
	assert_true(isfinite(result_number(f.results.items, "sm__cycles_active.avg")));
	near(f.results.items, "launch__grid_size", UINT32_MAX);
	end(&f);
}

/* What was asked for and has no value is shown as such; what nobody asked for is not. */
static void test_page(void **state)
{
	static const char section[] = "title = T\nsets = basic\norder = 1\n[rows]\nDuration = gpu__time_duration.sum [ns]\n"
				      "Cycles = sm__cycles_active.avg [cycle]\nMissing = a__b.sum\n";
	struct sections sections = { .count = 1 };
	struct page_options options = { .sections = &sections };
	struct section parsed;
	struct error err;
	struct fixture f;
	char *out = NULL;
	size_t size;
	FILE *file;

	(void)state;
	assert_int_equal(section_parse(&parsed, "T.section", section, sizeof(section) - 1, &err), 0);
	sections.items = &parsed;
	begin(&f);
	add_places(&f);
	add_result(&f, 1, 8, 32);
	add_metric(&f, 1, "sm__cycles_active.avg", 1234567.891);
	add_metric(&f, 1, "gpu__time_duration.sum", NAN);
	load(&f);
	file = open_memstream(&out, &size);
	assert_int_equal(page_print_details(file, &f.results, &options), 0);
	fclose(file);
	assert_string_equal(out, "[77] prog@127.0.0.1\n"
				 "  void ns::add<int>(T1 *) (8, 1, 1)x(32, 1, 1), Context 0, Stream 7, Device 0, CC 9.0\n"
				 "    Section: T\n"
				 "    ----------- ----------- ------------\n"
				 "    Metric Name Metric Unit Metric Value\n"
				 "    ----------- ----------- ------------\n"
				 "    Duration             ns          nan\n"
				 "    Cycles            cycle 1,234,567.89\n"
				 "    ----------- ----------- ------------\n\n");
	free(out);
	section_release(&parsed);
	end(&f);
}

static void test_units(void **state)
{
	static const char *const known[][2] = {
		{ "dram__bytes.sum.per_second", "byte/s" },
		{ "dram__cycles_elapsed.avg.per_second", "hz" },
		{ "gpu__time_duration.sum", "ns" },
		{ "sm__inst_executed.avg.per_cycle_active", "inst/cycle" },
		{ "sm__warps_active.avg.per_cycle_active", "warp" },
		{ "lts__t_sectors.sum", "sector" },
		{ "lts__t_requests.sum", "request" },
		{ "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", "" },
		{ "l1tex__t_sector_hit_rate.pct", "%" },
		{ "smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.ratio", "byte/sector" },
		{ "smsp__average_warps_issue_stalled_barrier_per_issue_active.ratio", "inst" },
		{ "TPC.TriageCompute.sm__cycles_active.avg", "cycle" },
		{ "launch__grid_size", "" },
		{ "l1tex__lsu_writeback_active_cycles.sum.peak_sustained", "" },
		{ "inst_executed", "inst" },
		{ "memory_l2_theoretical_sectors_global_ideal", "sectors" },
		{ "smsp__pcsamp_warps_issue_stalled_wait_not_issued", "warp" },
		{ "smsp__pcsamp_interval", "" },
		{ "smsp__pcsamp_interval_cycles", "cycle" },
		{ "profiler__pmsampler_interval_time", "ns" },
		{ "", "" },
		{ ".", "" },
		{ "A.B.", "" },
	};
	char unit[UNIT_MAX], number[NUMBER_MAX];

	(void)state;
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		unit_of_metric(known[i][0], unit);
		assert_string_equal(unit, known[i][1]);
	}
	assert_true(unit_divisor("byte/block", 1024, unit) == 1e3);
	assert_string_equal(unit, "Kbyte/block");
	assert_true(unit_divisor("ns", 2.73e6, unit) == 1e6);
	assert_string_equal(unit, "ms");
	assert_true(unit_divisor("cycle", 1e9, unit) == 1);
	assert_true(unit_divisor("byte", 0, unit) == 1);
	number_text(-1234567.891, false, number);
	assert_string_equal(number, "-1,234,567.89");
	number_text(-123, false, number);
	assert_string_equal(number, "-123");
	number_text(1e300, true, number);
	assert_int_equal(strlen(number), 301 + 100 + 3);
	integer_text(INT64_MIN, number);
	assert_string_equal(number, "-9,223,372,036,854,775,808");
	number_text(NAN, true, number);
	assert_string_equal(number, "nan");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_recorded), cmocka_unit_test(test_driver_decides), cmocka_unit_test(test_odd_rows),
		cmocka_unit_test(test_page),     cmocka_unit_test(test_units),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
