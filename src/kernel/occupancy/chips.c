/* Limits of each compute capability, as CUDA's programming guide lists them. */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/macros.h"
#include "kernel/occupancy/occupancy.h"

#define KB 1024u
#define STEPS_96 .steps = { 0, 8, 16, 32, 64, 96 }, .step_count = 6
#define STEPS_100 .steps = { 0, 8, 16, 32, 64, 100 }, .step_count = 6
#define STEPS_164 .steps = { 0, 8, 16, 32, 64, 100, 132, 164 }, .step_count = 8
#define STEPS_228 .steps = { 0, 8, 16, 32, 64, 100, 132, 164, 196, 228 }, .step_count = 10
#define CLUSTERS(most) .max_cluster = (most), .portable_cluster = 8

static const struct occupancy_chip all_chips[] = {
	{ 7, 0, "GV100", .warps = 64, .blocks = 32, .registers = 65536, .shared = 96 * KB, .shared_unit = 256, STEPS_96 },
	{ 7, 2, "GV11B", .warps = 64, .blocks = 32, .registers = 65536, .shared = 96 * KB, .shared_unit = 256, STEPS_96 },
	{ 7, 5, "TU10x", .warps = 32, .blocks = 16, .registers = 65536, .shared = 64 * KB, .shared_unit = 256, .steps = { 32, 64 },
	  .step_count = 2 },
	{ 8, 0, "GA100", .warps = 64, .blocks = 32, .registers = 65536, .shared = 164 * KB, .reserved = KB, .shared_unit = 128, STEPS_164 },
	{ 8, 6, "GA10x", .warps = 48, .blocks = 16, .registers = 65536, .shared = 100 * KB, .reserved = KB, .shared_unit = 128, STEPS_100 },
	{ 8, 7, "GA10B", .warps = 48, .blocks = 16, .registers = 65536, .shared = 164 * KB, .reserved = KB, .shared_unit = 128, STEPS_164 },
	{ 8, 9, "AD10x", .warps = 48, .blocks = 24, .registers = 65536, .shared = 100 * KB, .reserved = KB, .shared_unit = 128, STEPS_100 },
	{ 9, 0, "GH100", .warps = 64, .blocks = 32, .registers = 65536, .shared = 228 * KB, .reserved = KB, .shared_unit = 128,
	  .barriers = 64, CLUSTERS(16), STEPS_228 },
	{ 10, 0, "GB100, GB102", .warps = 64, .blocks = 32, .registers = 65536, .shared = 228 * KB, .reserved = KB, .shared_unit = 128,
	  .barriers = 64, CLUSTERS(16), STEPS_228 },
	/* The name of 11.0 in toolkits before 13.0. */
	{ 10, 1, "GB10B", .warps = 48, .blocks = 24, .registers = 65536, .shared = 228 * KB, .reserved = KB, .shared_unit = 128,
	  .barriers = 24, CLUSTERS(16), STEPS_228 },
	{ 10, 3, "GB110", .warps = 64, .blocks = 32, .registers = 65536, .shared = 228 * KB, .reserved = KB, .shared_unit = 128,
	  .barriers = 64, CLUSTERS(16), STEPS_228 },
	{ 11, 0, "GB10B", .warps = 48, .blocks = 24, .registers = 65536, .shared = 228 * KB, .reserved = KB, .shared_unit = 128,
	  .barriers = 24, CLUSTERS(16), STEPS_228 },
	{ 12, 0, "GB20x", .warps = 48, .blocks = 24, .registers = 65536, .shared = 100 * KB, .reserved = KB, .shared_unit = 128,
	  .barriers = 24, CLUSTERS(8), STEPS_100 },
	{ 12, 1, "GB20B", .warps = 48, .blocks = 24, .registers = 65536, .shared = 100 * KB, .reserved = KB, .shared_unit = 128,
	  .barriers = 24, CLUSTERS(8), STEPS_100 },
};

#define CHIP_COUNT COUNT_OF(all_chips)

const struct occupancy_chip *occupancy_chips(size_t *ret_count)
{
	*ret_count = CHIP_COUNT;
	return all_chips;
}

/* 9 and 12 are 9.0 and 12.0; beyond it the last digit is the minor number, as in 90. */
#define HIGHEST_MAJOR 12u

/* Ten times the major number plus the minor one, or -1. */
static int read_capability(const char *text)
{
	static const char *const prefixes[] = { "sm_", "compute_", "sm", "cc" };
	unsigned long major, minor = 0;
	char *end;

	for (size_t i = 0; i < COUNT_OF(prefixes); i++) {
		if (strncasecmp(text, prefixes[i], strlen(prefixes[i])) == 0) {
			text += strlen(prefixes[i]);
			break;
		}
	}
	if (!isdigit((unsigned char)*text))
		return -1;
	major = strtoul(text, &end, 10);
	if (*end == '.') {
		if (!isdigit((unsigned char)end[1]))
			return -1;
		minor = strtoul(end + 1, &end, 10);
	} else if (major > HIGHEST_MAJOR) {
		minor = major % 10;
		major /= 10;
	}
	/* Of a family or of one chip: the limits are the same. */
	if (*end == 'a' || *end == 'f')
		end++;
	return *end || major > 99 || minor > 9 ? -1 : (int)(10 * major + minor);
}

static int capability_of(const struct occupancy_chip *chip)
{
	return (int)(10 * chip->major + chip->minor);
}

static void refuse_capability(const char *text, int wanted, struct error *err)
{
	const struct occupancy_chip *below = NULL, *above = NULL;

	if (wanted < 0) {
		error_set(err, EINVAL, "'%s' is not a compute capability; write 9.0 or sm_90", text);
		return;
	}
	for (size_t i = 0; i < CHIP_COUNT; i++) {
		if (capability_of(&all_chips[i]) < wanted)
			below = &all_chips[i];
		else if (!above)
			above = &all_chips[i];
	}
	if (below && above)
		error_set(err, EINVAL, "Compute capability %d.%d is not known; the nearest are %u.%u and %u.%u", wanted / 10, wanted % 10,
			  below->major, below->minor, above->major, above->minor);
	else
		error_set(err, EINVAL, "Compute capability %d.%d is not known; the nearest is %u.%u", wanted / 10, wanted % 10,
			  below ? below->major : above->major, below ? below->minor : above->minor);
}

const struct occupancy_chip *occupancy_find_chip(const char *text, struct error *err)
{
	int wanted = read_capability(text);

	for (size_t i = 0; i < CHIP_COUNT; i++)
		if (capability_of(&all_chips[i]) == wanted)
			return &all_chips[i];
	refuse_capability(text, wanted, err);
	return NULL;
}
