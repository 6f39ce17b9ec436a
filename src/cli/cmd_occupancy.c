/* sonde occupancy: how many warps of a kernel an SM holds, what limits them, and what would change it. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "kernel/occupancy/occupancy.h"

#define STRETCHES 2048

struct occupancy_fields {
	const char *capability;
	int64_t threads;
	int64_t registers;
	const char *shared;
	const char *shared_config;
	int64_t barriers;
	int64_t cluster;
	int64_t sms;
	bool curves;
	bool json;
	bool csv;
};

#define FIELD(type_, field) .type = OPTION_##type_, .offset = offsetof(struct occupancy_fields, field)

/* clang-format off */
static const struct option_spec occupancy_specs[] = {
	{ .name = "cc", FIELD(TEXT, capability), .arg = "9.0|sm_90", .aliases = "arch", .tag = "kernel",
	  .help = "Set the compute capability of the GPU, 7.0 to 12.1." },
	{ .name = "threads", FIELD(INTEGER, threads), .arg = "N", .initial = "0", .shown = "", .aliases = "block-size", .tag = "kernel",
	  .max = INT32_MAX, .help = "Set the threads per block." },
	{ .name = "regs", FIELD(INTEGER, registers), .arg = "N", .initial = "32", .aliases = "registers", .tag = "kernel",
	  .max = INT32_MAX, .help = "Set the registers per thread, as `cuobjdump -res-usage` or a kernel's launch statistics print "
		  "them." },
	{ .name = "smem", FIELD(TEXT, shared), .arg = "bytes", .initial = "0", .aliases = "shared-memory", .tag = "kernel",
	  .help = "Set the shared memory per block, static and dynamic: bytes, or 48K. Sonde adds what the driver reserves." },
	{ .name = "smem-config", FIELD(TEXT, shared_config), .arg = "bytes|N%", .shown = "as much as the SM has", .tag = "kernel",
	  .help = "Set how much of the L1 cache is shared memory: bytes, 64K, or a percentage. The chip's next larger size is taken." },
	{ .name = "barriers", FIELD(INTEGER, barriers), .arg = "N", .initial = "1", .tag = "kernel", .max = INT32_MAX,
	  .help = "Set the named barriers per block; they limit from compute capability 9.0 on." },
	{ .name = "cluster", FIELD(INTEGER, cluster), .arg = "blocks", .initial = "0", .shown = "no clusters", .tag = "kernel",
	  .max = INT32_MAX, .help = "Set the blocks per cluster (from compute capability 9.0 on); also prints how many clusters run "
		  "at once in a GPC." },
	{ .name = "sms-per-gpc", FIELD(INTEGER, sms), .arg = "N", .initial = "16", .tag = "kernel", .min = 1, .max = 1024,
	  .help = "Set the SMs per GPC, for clusters. Products of a chip with 18 have 16 or 18." },
	{ .name = "curves", FIELD(BOOL, curves), .initial = "true", .bare = "true", .tag = "output",
	  .help = "Also print the occupancy for other block sizes, registers and shared memory." },
	{ .name = "json", FIELD(BOOL, json), .initial = "false", .bare = "true", .tag = "output", .help = "Write JSON." },
	{ .name = "csv", FIELD(BOOL, csv), .initial = "false", .bare = "true", .tag = "output",
	  .help = "Write CSV: the kernel, then a row for each part of the curves." },
};
/* clang-format on */

static const struct option_table occupancy_options_table = OPTION_TABLE(occupancy_specs);

extern const struct command occupancy_command;

/* One calculation, and what is written about it. */
struct sheet {
	const struct occupancy_chip *chip;
	struct occupancy_kernel kernel;
	struct occupancy result;
	uint32_t cluster, sms;
	bool curves;
};

/* Bytes, with K or KB for 1024 of them; a percentage of `whole` where one is allowed. */
static bool read_bytes(const char *text, uint32_t whole, uint32_t *ret)
{
	unsigned long long value;
	char *end;

	if (*text < '0' || *text > '9')
		return false;
	value = strtoull(text, &end, 10);
	if (value > UINT32_MAX)
		return false;
	if (strcasecmp(end, "K") == 0 || strcasecmp(end, "KB") == 0 || strcasecmp(end, "KiB") == 0)
		value *= 1024;
	else if (strcmp(end, "%") == 0 && whole && value <= 100)
		value = (whole * value + 99) / 100;
	else if (*end && strcmp(end, "B") != 0)
		return false;
	*ret = (uint32_t)value;
	return value <= UINT32_MAX;
}

static int check_cluster(const struct sheet *s, struct error *err)
{
	if (!s->cluster)
		return 0;
	if (!s->chip->max_cluster)
		return error_set(err, EINVAL, "Compute capability %u.%u has no clusters: they came with 9.0", s->chip->major,
				 s->chip->minor);
	if (s->cluster > s->chip->max_cluster)
		return error_set(err, EINVAL, "A cluster has at most %u blocks on compute capability %u.%u, not %u", s->chip->max_cluster,
				 s->chip->major, s->chip->minor, s->cluster);
	return 0;
}

/* Fills everything but the result. */
static int read_sheet(const struct occupancy_fields *fields, struct sheet *s, struct error *err)
{
	uint32_t config;

	if (!fields->capability)
		return error_set(err, EINVAL, "--cc is required: the compute capability of the GPU, such as 9.0");
	if (!fields->threads)
		return error_set(err, EINVAL, "--threads is required: the threads per block, 1 to %u", OCCUPANCY_MAX_THREADS);
	s->chip = occupancy_find_chip(fields->capability, err);
	if (!s->chip)
		return -EINVAL;
	s->kernel = (struct occupancy_kernel){ .threads = (uint32_t)fields->threads,
					       .registers = (uint32_t)fields->registers,
					       .barriers = (uint32_t)fields->barriers };
	s->cluster = (uint32_t)fields->cluster;
	s->sms = (uint32_t)fields->sms;
	s->curves = fields->curves;
	if (!read_bytes(fields->shared, 0, &s->kernel.shared))
		return error_set(err, EINVAL, "'%s' is not a size of shared memory; write 16384 or 16K", fields->shared);
	if (occupancy_check(s->chip, &s->kernel, err) < 0 || check_cluster(s, err) < 0)
		return -EINVAL;
	if (!fields->shared_config)
		return 0;
	if (!read_bytes(fields->shared_config, s->chip->shared, &config) || config > s->chip->shared)
		return error_set(err, EINVAL, "'%s' is not a configuration of shared memory; it is 0 to %u bytes, or a percentage",
				 fields->shared_config, s->chip->shared);
	s->kernel.shared_config = occupancy_shared_step(s->chip, &s->kernel, config);
	return 0;
}

/* For each stretch of one curve. */
typedef void stretch_visitor(FILE *out, enum occupancy_curve curve, const struct occupancy_stretch *stretch, bool last, bool here);

static uint32_t get_given_value(const struct sheet *s, enum occupancy_curve curve)
{
	return curve == OCCUPANCY_BY_THREADS ? s->kernel.threads : curve == OCCUPANCY_BY_REGISTERS ? s->kernel.registers : s->kernel.shared;
}

static bool visit_curve(const struct sheet *s, enum occupancy_curve curve, FILE *out, stretch_visitor *visit)
{
	struct occupancy_stretch *stretches = calloc(STRETCHES, sizeof(*stretches));
	uint32_t at = get_given_value(s, curve);
	size_t count;

	if (!stretches)
		return false;
	count = occupancy_curve(s->chip, &s->kernel, curve, stretches, STRETCHES);
	for (size_t i = 0; i < count; i++)
		visit(out, curve, &stretches[i], i + 1 == count, at >= stretches[i].from && at <= stretches[i].to);
	free(stretches);
	return true;
}

static void print_limiters(const struct sheet *s, FILE *out)
{
	const char *separator = "";

	for (unsigned i = 0; i < OCCUPANCY_LIMITS; i++) {
		if (!(s->result.limiters & 1u << i))
			continue;
		fprintf(out, "%s%s", separator, occupancy_limit_name((enum occupancy_limit)i));
		separator = ", ";
	}
}

static void print_limit(const struct sheet *s, FILE *out, enum occupancy_limit limit, const char *label, const char *why)
{
	uint32_t value = s->result.limits[limit];

	if (value == OCCUPANCY_NO_LIMIT)
		fprintf(out, "  %-28s %8s\n", label, "none");
	else
		fprintf(out, "  %-28s %8u  %s%s\n", label, value, s->result.limiters & 1u << limit ? "<- limits  " : "", why);
}

static void print_text_stretch(FILE *out, enum occupancy_curve curve, const struct occupancy_stretch *stretch, bool last, bool here)
{
	char bar[41];
	int filled = (int)(stretch->percent * 0.4 + 0.5);

	memset(bar, '#', sizeof(bar));
	bar[filled < 40 ? filled : 40] = '\0';
	fprintf(out, "  %8u - %-8u %6u %6u %7.1f %%  %s%s\n", stretch->from, stretch->to, stretch->blocks, stretch->warps, stretch->percent,
		bar, here ? "  <- here" : "");
}

static void print_limits(const struct sheet *s, FILE *out)
{
	const struct occupancy *r = &s->result;
	char why[128];

	fprintf(out, "\nBlocks that fit on an SM, by\n");
	snprintf(why, sizeof(why), "the SM's own");
	print_limit(s, out, OCCUPANCY_BLOCKS, "blocks", why);
	snprintf(why, sizeof(why), "%u warps a block of %u", r->warps_per_block, s->chip->warps);
	print_limit(s, out, OCCUPANCY_WARPS, "warps", why);
	snprintf(why, sizeof(why), "%u registers a block of %u", r->registers_per_block, s->chip->registers);
	print_limit(s, out, OCCUPANCY_REGISTERS, "registers", why);
	snprintf(why, sizeof(why), "%u bytes a block of %u", r->shared_per_block, r->shared_config);
	print_limit(s, out, OCCUPANCY_SHARED, "shared memory", why);
	snprintf(why, sizeof(why), "%u a block of %u", s->kernel.barriers, s->chip->barriers);
	print_limit(s, out, OCCUPANCY_BARRIERS, "barriers", why);
}

static void print_clusters(const struct sheet *s, FILE *out)
{
	if (!s->cluster)
		return;
	fprintf(out, "\nClusters of %u blocks: %u at once in a GPC of %u SMs%s\n", s->cluster,
		occupancy_clusters(&s->result, s->cluster, s->sms), s->sms,
		s->cluster > s->chip->portable_cluster ? " (the program must allow more than 8 blocks)" : "");
}

static bool write_text(const struct sheet *s, FILE *out)
{
	static const char *const titles[] = { "Threads of a block", "Registers of a thread", "Shared memory, bytes" };
	bool ok = true;

	fprintf(out, "Compute capability %u.%u (%s): %u threads, %u registers, %u bytes of shared memory\n\n", s->chip->major,
		s->chip->minor, s->chip->chips, s->kernel.threads, s->kernel.registers, s->kernel.shared);
	fprintf(out, "  %-28s %8.1f %%\n  %-28s %8u  of %u\n  %-28s %8u\n", "Theoretical occupancy", s->result.percent, "Warps on an SM",
		s->result.warps, s->chip->warps, "Blocks on an SM", s->result.blocks);
	fprintf(out, "  %-28s ", "Limited by");
	print_limiters(s, out);
	if (!s->result.blocks)
		fprintf(out, ": no block fits, a launch would fail");
	fputc('\n', out);
	print_limits(s, out);
	print_clusters(s, out);
	for (unsigned i = 0; ok && s->curves && i < OCCUPANCY_CURVES; i++) {
		fprintf(out, "\n%-21s blocks  warps  occupancy\n", titles[i]);
		ok = visit_curve(s, (enum occupancy_curve)i, out, print_text_stretch);
	}
	return ok;
}

static void print_csv_stretch(FILE *out, enum occupancy_curve curve, const struct occupancy_stretch *stretch, bool last, bool here)
{
	fprintf(out, "%s,%u,%u,%u,%u,%.4f,%s\n", occupancy_curve_name(curve), stretch->from, stretch->to, stretch->blocks, stretch->warps,
		stretch->percent, here ? "here" : "");
}

static bool write_occupancy_csv(const struct sheet *s, FILE *out)
{
	bool ok = true;

	fprintf(out, "Curve,From,To,Blocks,Warps,Occupancy (%%),Limited by\n");
	fprintf(out, "given,,,%u,%u,%.4f,\"", s->result.blocks, s->result.warps, s->result.percent);
	print_limiters(s, out);
	fputs("\"\n", out);
	for (unsigned i = 0; ok && s->curves && i < OCCUPANCY_CURVES; i++)
		ok = visit_curve(s, (enum occupancy_curve)i, out, print_csv_stretch);
	return ok;
}

static void print_json_stretch(FILE *out, enum occupancy_curve curve, const struct occupancy_stretch *stretch, bool last, bool here)
{
	fprintf(out, "    {\"from\": %u, \"to\": %u, \"blocks\": %u, \"warps\": %u, \"percent\": %.4f}%s\n", stretch->from, stretch->to,
		stretch->blocks, stretch->warps, stretch->percent, last ? "" : ",");
}

static void print_json_limits(const struct sheet *s, FILE *out)
{
	const char *separator = "";

	fputs("  \"limits\": {", out);
	for (unsigned i = 0; i < OCCUPANCY_LIMITS; i++, separator = ", ") {
		fprintf(out, "%s\"%s\": ", separator, occupancy_limit_name((enum occupancy_limit)i));
		if (s->result.limits[i] == OCCUPANCY_NO_LIMIT)
			fputs("null", out);
		else
			fprintf(out, "%u", s->result.limits[i]);
	}
	fputs("},\n  \"limited_by\": [", out);
	separator = "";
	for (unsigned i = 0; i < OCCUPANCY_LIMITS; i++) {
		if (!(s->result.limiters & 1u << i))
			continue;
		fprintf(out, "%s\"%s\"", separator, occupancy_limit_name((enum occupancy_limit)i));
		separator = ", ";
	}
	fputc(']', out);
}

static bool write_json(const struct sheet *s, FILE *out)
{
	const struct occupancy *r = &s->result;
	bool ok = true;

	fprintf(out, "{\n  \"compute_capability\": \"%u.%u\",\n  \"threads\": %u,\n  \"registers\": %u,\n  \"shared_memory\": %u,\n",
		s->chip->major, s->chip->minor, s->kernel.threads, s->kernel.registers, s->kernel.shared);
	fprintf(out, "  \"shared_memory_config\": %u,\n  \"percent\": %.4f,\n  \"warps\": %u,\n  \"max_warps\": %u,\n  \"blocks\": %u,\n",
		r->shared_config, r->percent, r->warps, s->chip->warps, r->blocks);
	if (s->cluster)
		fprintf(out, "  \"cluster\": %u,\n  \"clusters_per_gpc\": %u,\n", s->cluster, occupancy_clusters(r, s->cluster, s->sms));
	print_json_limits(s, out);
	for (unsigned i = 0; ok && s->curves && i < OCCUPANCY_CURVES; i++) {
		fprintf(out, ",\n  \"by %s\": [\n", occupancy_curve_name((enum occupancy_curve)i));
		ok = visit_curve(s, (enum occupancy_curve)i, out, print_json_stretch);
		fputs("  ]", out);
	}
	fputs("\n}\n", out);
	return ok;
}

static int answer_occupancy_command(struct cli *cli, const struct occupancy_fields *fields, const struct options_parsed *parsed)
{
	struct sheet sheet = { 0 };
	struct error err;
	bool ok;

	if (parsed->word_count)
		return command_fail(cli, &occupancy_command, "'%s': unexpected argument; only options are accepted", parsed->words[0]);
	if (fields->json && fields->csv)
		return command_fail(cli, &occupancy_command, "--json and --csv exclude each other");
	if (read_sheet(fields, &sheet, &err) < 0)
		return command_fail(cli, &occupancy_command, "%s", err.text);
	occupancy_compute(sheet.chip, &sheet.kernel, &sheet.result);
	ok = fields->json ? write_json(&sheet, cli->out) :
	     fields->csv  ? write_occupancy_csv(&sheet, cli->out) :
			    write_text(&sheet, cli->out);
	return ok ? 0 : command_fail(cli, &occupancy_command, "Not enough memory");
}

static int run_occupancy(struct cli *cli, int argc, char **argv)
{
	struct occupancy_fields fields = { 0 };
	struct options_parsed parsed;
	int status;

	if (!command_parse(cli, &occupancy_command, argc, argv, &fields, &parsed, &status))
		return status;
	status = answer_occupancy_command(cli, &fields, &parsed);
	options_release(&parsed);
	return status;
}

/* clang-format off */
static const char *const occupancy_examples[] = {
	"sonde occupancy --cc 9.0 --threads 256 --regs 64 --smem 16384", "print the warps on an SM of an H100, and what limits them",
	"sonde occupancy --cc 8.6 --threads 128 --regs 40 --smem 24K --smem-config 64K --json", "print JSON, with 64 KB of shared "
		"memory",
	"sonde occupancy --cc 10.0 --threads 384 --regs 168 --smem 200K --cluster 2", "also print how many clusters fit on a GPC",
	NULL,
};
/* clang-format on */

const struct command occupancy_command = {
	.name = "occupancy",
	.summary = "Calculate the theoretical occupancy of a kernel",
	.synopsis = "--cc CC --threads N [--regs N] [--smem BYTES] [options]",
	.description = "Computes how many warps of a kernel fit on a multiprocessor, from a block's threads, registers and shared "
		       "memory. It prints what limits them, and what other values would give. No GPU is needed.",
	.examples = occupancy_examples,
	.options = &occupancy_options_table,
	.words = COMMAND_NO_WORDS,
	.run = run_occupancy,
};
