/* Reports with flipped and cut bytes: any answer or error will do, but no crash and no hang. Sanitizers
 * watch. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support.h"
#include "support/text_report.h"

#define ROUNDS 400

static uint64_t next_random(uint64_t *state)
{
	*state = *state * 6364136223846793005ull + 1442695040888963407ull;
	return *state >> 24;
}

static void ask_everything(struct query *q)
{
	/* clang-format off */
	static const char *const questions[] = {
		"SELECT * FROM NVTX_EVENTS", "SELECT eventName, domainName, eventDuration, eventIsOpen, eventDepth FROM NVTX_EVENTS",
		"SELECT * FROM StringIds", "SELECT * FROM PROCESSES", "SELECT * FROM ThreadNames",
		"SELECT * FROM DIAGNOSTIC_EVENT", "SELECT * FROM NVTX_PAYLOAD_SCHEMA_ENTRIES",
		"SELECT * FROM META_DATA_CAPTURE", "SELECT * FROM nvtx_pushpop_tree",
		"SELECT * FROM group_stats('NVTX_EVENTS', 'eventType, domainName, name', 'duration')",
		"SELECT * FROM group_stats('sonde_counter', 'track', 'real')",
		"SELECT * FROM interval_union('NVTX_EVENTS', 'globalTid')",
		"SELECT * FROM interval_overlap('NVTX_EVENTS', 'name', 'eventType = 59', 'eventType = 60')",
		"SELECT * FROM sonde_slice", "SELECT * FROM sonde_track", "SELECT * FROM sonde_meta", "SELECT * FROM sonde_lod",
		"SELECT * FROM OSRT_API", "SELECT * FROM OSRT_CALLCHAINS", "SELECT * FROM COMPOSITE_EVENTS WHERE id = 3",
		"SELECT * FROM SAMPLING_CALLCHAINS", "SELECT * FROM SAMPLING_CALLCHAINS WHERE id = 3",
		"SELECT * FROM OSRT_FILE_ACCESS_EVENTS", "SELECT * FROM OSRT_FILE_ACCESS_DESCRIPTORS",
		"SELECT * FROM sample_stats('samples', 'function, thread')", "SELECT * FROM sample_stats('osrt', 'module')",
		"SELECT *, kernelName, kernelShape FROM CUPTI_ACTIVITY_KIND_KERNEL", "SELECT * FROM CUPTI_ACTIVITY_KIND_MEMCPY",
		"SELECT *, apiName FROM CUPTI_ACTIVITY_KIND_RUNTIME", "SELECT * FROM CUPTI_ACTIVITY_KIND_OVERHEAD",
		"SELECT * FROM CUDA_GRAPH_NODE_EVENTS", "SELECT * FROM CUDA_UM_CPU_PAGE_FAULT_EVENTS",
		"SELECT * FROM CUDA_GPU_MEMORY_USAGE_EVENTS", "SELECT * FROM GPU_METRICS", "SELECT * FROM TARGET_INFO_GPU",
		"SELECT * FROM CUPTI_ACTIVITY_KIND_RUNTIME r JOIN CUPTI_ACTIVITY_KIND_KERNEL k USING (correlationId)",
		"SELECT * FROM cuda_gpu_ops", "SELECT * FROM cuda_kernel_exec", "SELECT * FROM nvtx_projection",
		"SELECT * FROM nvtx_projection_stats", "SELECT * FROM nvtx_kernel_stats('base')",
		"SELECT * FROM group_stats('cuda_gpu_ops', 'kind, name, apiName, nvtxDomain, nvtxName, globalTid', 'duration')",
		"SELECT * FROM kernels ORDER BY device, stream, start", "SELECT * FROM memcpys ORDER BY start DESC",
		"SELECT * FROM memsets", "SELECT * FROM syncs", "SELECT * FROM apis WHERE duration > 5 ORDER BY start",
		"SELECT * FROM ranges ORDER BY start", "SELECT * FROM samples ORDER BY tid, time", "SELECT * FROM threads",
		"SELECT * FROM gpus", "SELECT union_ns(start, end), percentile(duration, 90) FROM apis",
		"SELECT * FROM stack_stats('offcpu', 'tree')", "SELECT * FROM stack_stats('samples')",
	};
	/* clang-format on */

	for (size_t i = 0; i < sizeof(questions) / sizeof(questions[0]); i++)
		ask(q, questions[i]);
}

static size_t read_all(const char *path, unsigned char **ret)
{
	FILE *in = fopen(path, "r");
	size_t len;

	assert_non_null(in);
	fseek(in, 0, SEEK_END);
	len = (size_t)ftell(in);
	rewind(in);
	*ret = malloc(len);
	assert_int_equal(fread(*ret, 1, len, in), len);
	fclose(in);
	return len;
}

static void write_all(const char *path, const unsigned char *bytes, size_t len)
{
	FILE *out = fopen(path, "w");

	assert_non_null(out);
	assert_int_equal(fwrite(bytes, 1, len, out), len);
	fclose(out);
}

static void damage(const char *recording)
{
	char folder[64], path[128], damaged[128];
	unsigned char *bytes, *copy;
	uint64_t random = 1;
	struct query *q;
	struct error err;
	size_t len, kept, opened = 0;

	make_folder(folder, sizeof(folder));
	snprintf(path, sizeof(path), "%s/run.sonde", folder);
	snprintf(damaged, sizeof(damaged), "%s/damaged.sonde", folder);
	assert_int_equal(text_report_write(recording, path, &err), 0);
	len = read_all(path, &bytes);
	copy = malloc(len);
	for (unsigned round = 0; round < ROUNDS; round++) {
		memcpy(copy, bytes, len);
		for (unsigned i = 0; i <= round % 4; i++)
			copy[next_random(&random) % len] ^= (unsigned char)(1 + next_random(&random) % 255);
		kept = round % 8 == 7 ? next_random(&random) % len : len;
		write_all(damaged, copy, kept);
		err.text[0] = '\0';
		if (query_open(&q, damaged, &err) < 0) {
			assert_true(err.text[0] != '\0');
			continue;
		}
		opened++;
		ask_everything(q);
		query_close(q);
	}
	assert_true(opened > 0);
	free(bytes);
	free(copy);
	remove_folder(folder);
}

static void test_damaged_ranges(void **state)
{
	damage(GOLDEN_FOLDER "/recording.txt");
}

static void test_damaged_stacks(void **state)
{
	damage(GOLDEN_FOLDER "/cpu.txt");
}

static void test_damaged_kernels(void **state)
{
	damage(GOLDEN_FOLDER "/cuda.txt");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_damaged_ranges),
		cmocka_unit_test(test_damaged_stacks),
		cmocka_unit_test(test_damaged_kernels),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
