/* libFuzzer: arbitrary text as an NVTX expression, an id of a kernel, numbers of ranges, a list of processes and of devices, applied to ranges and
 * names that are the same each time.
 *
 *   clang -fsanitize=fuzzer,address,undefined ... tests/fuzz/fuzz_launch_filter.c */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "fmt/filter/launch_filter.h"
#include "fmt/filter/nvtx_filter.h"
#include "replay.h"

#define MOST 300 /* expressions that nest deeply take the C library long */

static void ranges(const char *text)
{
	static const struct nvtx_open_range open[] = {
		{ "", "A", 1, 0, 0 }, { "D", "x/y", 1, 0, 0 }, { "", NULL, 1, 0, 0 },
		{ "", "B", 1, 0, 0 }, { "", "S", 0, 0, 0 },    { "D", "a,b", 0, 0, 0 },
	};
	struct nvtx_filter filter;
	char why[200];

	if (nvtx_filter_parse(&filter, text, why, sizeof(why)) < 0)
		return;
	for (size_t i = 0; i <= sizeof(open) / sizeof(open[0]); i++)
		nvtx_filter_matches(&filter, open, i);
	nvtx_filter_release(&filter);
}

static void launches(const char *text)
{
	struct range_numbers numbers;
	struct kernel_id id;
	char why[200];

	if (kernel_id_parse(&id, text, why, sizeof(why)) == 0) {
		id_pattern_matches(&id.context, 1, "main");
		id_pattern_matches(&id.invocation, 12, NULL);
		if (id.has_name)
			name_pattern_matches(&id.name, "void f<int>(int*)");
		kernel_id_release(&id);
	}
	if (range_numbers_parse(&numbers, text, why, sizeof(why)) == 0) {
		id_pattern_matches(&numbers.nvtx, 3, NULL);
		range_numbers_release(&numbers);
	}
	if (process_filter_check(text, why, sizeof(why)) == 0)
		process_filter_choose(text, "python3.11", "python3");
	devices_parse(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char text[MOST + 1];

	size = size < MOST ? size : MOST;
	memcpy(text, data, size);
	text[size] = '\0';
	ranges(text);
	launches(text);
	return 0;
}
