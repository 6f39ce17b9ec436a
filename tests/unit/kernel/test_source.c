/* Instructions, lines, and what is said of them. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "kernel/source/disassemble.h"
#include "kernel/source/opcode.h"
#include "kernel/pages/source.h"
#include "kernel/sections/section.h"
#include "kernel/source/compared_lines.h"
#include "kernel/pages/rule_lines.h"

#define SAMPLES "smsp__pcsamp_sample_count"
#define LONG "smsp__pcsamp_warps_issue_stalled_long_scoreboard"
#define WAIT "smsp__pcsamp_warps_issue_stalled_wait"
#define SECTORS "memory_l2_theoretical_sectors_global"
#define IDEAL "memory_l2_theoretical_sectors_global_ideal"

/* A kernel of four instructions on two lines, of which one was never counted; and a function that is not known. Line 12 was inlined in one
 * place, and is the kernel's own in the other. */
static struct source_fact facts[] = {
	{ 1, "kernel", 0, "LDC R1, c[0x0][0x28]", "/a/x.cu", 10, "", "/a/x.cu", 10, "ptx", 4 },
	{ 1, "kernel", 16, "LDG.E R4, desc[UR4][R2.64]", "/a/x.cu", 12, "", "/a/x.cu", 12, "ptx", 5 },
	{ 1, "kernel", 32, "FADD R7, R4, 1", "/a/x.cu", 12, "_Z1fi\t/a/y.h\t3\n\t/a/x.cu\t10\n", "/a/x.cu", 10, "ptx", 4 },
	{ 1, "kernel", 48, "EXIT", "/a/x.cu", 10, "", "/a/x.cu", 10, "", 0 },
};
static const char *metrics[] = { SAMPLES, LONG, WAIT, SECTORS, IDEAL };
static struct source_count counts[] = {
	{ 1, 1, "helper", 64, 0, 3 },  { 1, 1, "kernel", 0, 0, 5 },   { 1, 1, "kernel", 0, 2, 5 },
	{ 1, 1, "kernel", 16, 3, 80 }, { 1, 1, "kernel", 16, 4, 10 }, { 1, 1, "kernel", 32, 0, 90 },
	{ 1, 1, "kernel", 32, 1, 60 }, { 1, 1, "kernel", 32, 2, 30 }, { 2, 1, "kernel", 16, 3, 7 },
};
static struct source_book book = {
	.facts = facts, .fact_count = 4, .counts = counts, .count_count = 9, .metrics = metrics, .metric_count = 5
};

static void instructions_of_a_launch(void **state)
{
	static const uint32_t pcs[] = { 64, 0, 16, 32, 48 };
	struct kernel_source s;

	(void)state;
	assert_int_equal(kernel_source_of(&s, &book, 1), 0);
	assert_int_equal(s.count, 5);
	for (size_t i = 0; i < 5; i++)
		assert_int_equal(s.items[i].pc, pcs[i]);
	assert_string_equal(s.items[0].sass, "");
	assert_int_equal(s.items[0].line, 0);
	assert_int_equal((int)source_value(&s, &s.items[0], SAMPLES), 3);
	assert_int_equal((int)source_value(&s, &s.items[3], LONG), 60);
	assert_int_equal((int)source_value(&s, &s.items[4], SAMPLES), 0);
	assert_true(isnan(source_value(&s, &s.items[4], "inst_executed")));
	kernel_source_release(&s);
	/* Another launch has the same instructions and values of its own. */
	assert_int_equal(kernel_source_of(&s, &book, 2), 0);
	assert_int_equal(s.count, 4);
	assert_int_equal((int)source_value(&s, &s.items[1], SECTORS), 7);
	assert_int_equal((int)source_value(&s, &s.items[2], SAMPLES), 0);
	kernel_source_release(&s);
	assert_int_equal(kernel_source_of(&s, &book, 3), 0);
	assert_int_equal(s.count, 0);
	kernel_source_release(&s);
}

static void lines_of_a_launch(void **state)
{
	struct kernel_source s, lines;
	struct rule_line worst[2];
	double share;

	(void)state;
	assert_int_equal(kernel_source_of(&s, &book, 1), 0);
	assert_int_equal(kernel_source_lines(&lines, &s, SOURCE_WRITTEN), 0);
	assert_int_equal(lines.count, 2);
	assert_int_equal(lines.items[0].line, 10);
	assert_int_equal(lines.items[1].line, 12);
	assert_int_equal((int)source_value(&lines, &lines.items[0], SAMPLES), 5);
	assert_int_equal((int)source_value(&lines, &lines.items[1], SAMPLES), 90);
	assert_int_equal((int)source_value(&lines, &lines.items[1], SECTORS), 80);
	assert_string_equal(source_main_stall(&lines, &lines.items[1], &share), "long_scoreboard");
	assert_int_equal((int)(100 * share + 0.5), 67);
	assert_int_equal(source_worst_lines(&lines, SAMPLES, NULL, worst, 2), 2);
	assert_string_equal(worst[0].place, "x.cu:12");
	assert_string_equal(worst[1].place, "x.cu:10");
	assert_int_equal(source_worst_lines(&lines, SECTORS, IDEAL, worst, 2), 1);
	assert_int_equal((int)(worst[0].more - worst[0].less), 70);
	/* Without lines, the instruction. */
	assert_int_equal(source_worst_lines(&s, SECTORS, IDEAL, worst, 1), 1);
	kernel_source_release(&lines);
	kernel_source_release(&s);
}

static void check_lines(enum source_key key, size_t count, const uint32_t *numbers, const int *samples)
{
	struct kernel_source s, lines;

	assert_int_equal(kernel_source_of(&s, &book, 1), 0);
	assert_int_equal(kernel_source_lines(&lines, &s, key), 0);
	assert_int_equal(lines.count, count);
	for (size_t i = 0; i < count; i++) {
		assert_int_equal(lines.items[i].line, numbers[i]);
		assert_int_equal((int)source_value(&lines, &lines.items[i], SAMPLES), samples[i]);
	}
	kernel_source_release(&lines);
	kernel_source_release(&s);
}

static void what_was_inlined(void **state)
{
	static const char *const bad[] = { "", "\n", "f\n", "f\tx\n", "f\tx\t1", "\t\n\t" };
	const char *at = facts[2].inlined;
	struct source_call call;

	(void)state;
	check_lines(SOURCE_OUTERMOST, 2, (const uint32_t[]){ 10, 12 }, (const int[]){ 95, 0 });
	check_lines(SOURCE_CALLS, 3, (const uint32_t[]){ 10, 12, 12 }, (const int[]){ 5, 0, 90 });
	check_lines(SOURCE_IN_PTX, 2, (const uint32_t[]){ 4, 5 }, (const int[]){ 95, 0 });
	assert_true(source_next_call(&at, &call));
	assert_int_equal(call.function_len, 5);
	assert_memory_equal(call.function, "_Z1fi", 5);
	assert_int_equal(call.file_len, 6);
	assert_memory_equal(call.file, "/a/y.h", 6);
	assert_int_equal(call.line, 3);
	assert_true(source_next_call(&at, &call));
	assert_int_equal(call.function_len, 0);
	assert_int_equal(call.line, 10);
	assert_false(source_next_call(&at, &call));
	/* What a report may say. */
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		at = bad[i];
		assert_false(source_next_call(&at, &call));
	}
}

/* The kernel before a line was put above, and with one instruction less: FADD on line 11 alone, twice the samples. */
static struct source_fact old_facts[] = {
	{ 7, "kernel", 0, "LDC R1, c[0x0][0x28]", "/old/x.cu", 9, "", "/old/x.cu", 9, "", 0 },
	{ 7, "kernel", 16, "FADD R7, R4, 1", "/old/x.cu", 11, "", "/old/x.cu", 11, "", 0 },
	{ 7, "kernel", 32, "EXIT", "/old/x.cu", 9, "", "/old/x.cu", 9, "", 0 },
};
static const char *old_metrics[] = { LONG, SAMPLES };
static struct source_count old_counts[] = {
	{ 4, 7, "kernel", 0, 1, 10 },
	{ 4, 7, "kernel", 16, 1, 100 },
	{ 5, 7, "kernel", 0, 1, 20 },
	{ 5, 7, "kernel", 16, 1, 300 },
};

/* Samples of an item's counterpart; -1: it has none. */
static int samples_before(const struct kernel_source *s, size_t item)
{
	return s->items[item].before ? (int)source_value(s->before, s->items[item].before, SAMPLES) : -1;
}

static void beside_another(void **state)
{
	struct source_file files[] = { { "/a/x.cu", 0, "1\n2\n3\n4\n5\n6\n7\n8\nnew\n\tload\n\n  add\n", 35, false } };
	struct source_file old_files[] = { { "/old/x.cu", 0, "1\n2\n3\n4\n5\n6\n7\n8\nload\n\nadd\n", 26, false } };
	/* clang-format off */
	struct source_book now = book, old = { .facts = old_facts, .fact_count = 3, .counts = old_counts, .count_count = 4, .metrics = old_metrics,
					       .metric_count = 2, .files = old_files };
	/* clang-format on */
	struct kernel_source s, before, lines, lines_before;

	(void)state;
	now.files = files;
	for (unsigned texts = 0; texts < 2; texts++) {
		now.file_count = old.file_count = texts;
		assert_int_equal(kernel_source_of(&s, &now, 1), 0);
		assert_int_equal(kernel_source_mean(&before, &old, (const int64_t[]){ 4, 5 }, 2), 0);
		assert_int_equal(kernel_source_match_instructions(&s, &before), 0);
		/* helper, LDC, LDG, FADD, EXIT: by line and text, where the lines' texts are known; numbers of lines alone are others. */
		assert_int_equal(samples_before(&s, 0), -1);
		assert_int_equal(samples_before(&s, 1), texts ? 15 : -1);
		assert_int_equal(samples_before(&s, 2), -1);
		assert_int_equal(samples_before(&s, 3), texts ? 200 : -1);
		assert_int_equal(samples_before(&s, 4), texts ? 0 : -1);
		assert_int_equal(kernel_source_lines(&lines, &s, SOURCE_WRITTEN), 0);
		assert_int_equal(kernel_source_lines(&lines_before, &before, SOURCE_WRITTEN), 0);
		assert_int_equal(kernel_source_match(&lines, &lines_before, SOURCE_WRITTEN), 0);
		assert_int_equal(samples_before(&lines, 0), texts ? 15 : -1);
		assert_int_equal(samples_before(&lines, 1), texts ? 200 : -1);
		kernel_source_release(&lines);
		kernel_source_release(&lines_before);
		kernel_source_release(&before);
		kernel_source_release(&s);
	}
	assert_int_equal(kernel_source_mean(&before, &old, NULL, 0), 0);
	assert_int_equal(before.count, 0);
}

static struct kernel_source looked_at;
static double global_sectors = 80, global_ideal = 10, samples_taken = 98;

static double value(void *context, const char *metric)
{
	(void)context;
	if (strcmp(metric, SECTORS) == 0)
		return global_sectors;
	if (strcmp(metric, IDEAL) == 0)
		return global_ideal;
	if (strcmp(metric, SAMPLES) == 0)
		return samples_taken;
	if (strcmp(metric, "smsp__pcsamp_interval_cycles") == 0)
		return 2048;
	if (strcmp(metric, "lts__cycles_active.avg") == 0)
		return 600;
	return strcmp(metric, "lts__cycles_elapsed.avg") == 0 ? 1000 : NAN;
}

static size_t lines(void *context, const char *more, const char *less, struct rule_line *ret, size_t room)
{
	(void)context;
	return source_worst_lines(&looked_at, more, less, ret, room);
}

static const struct rule_result *said(const struct rule_run *run, const char *rule)
{
	for (size_t i = 0; i < run->count; i++)
		if (strcmp(run->results[i].rule, rule) == 0)
			return &run->results[i];
	return NULL;
}

static bool says(const struct rule_run *run, const char *rule, const char *text)
{
	const struct rule_result *r = said(run, rule);

	return r && strstr(r->text, text);
}

static void apply_all(struct rule_run *run, const struct sections *rules)
{
	rules_begin(run, value, lines, NULL);
	for (size_t i = 0; i < rules->rule_count; i++)
		written_rule_apply(&rules->rules[i], run);
}

static void rules_with_lines(void **state)
{
	static const char *const folders[] = { SHARE "/rules" };
	struct rule_run *run = malloc(sizeof(*run));
	const struct rule_result *r;
	struct kernel_source s;
	struct sections rules;
	struct error err;

	(void)state;
	assert_int_equal(sections_load(&rules, folders, 1, &err), 0);
	assert_int_equal(kernel_source_of(&s, &book, 1), 0);
	assert_int_equal(kernel_source_lines(&looked_at, &s, SOURCE_WRITTEN), 0);
	apply_all(run, &rules);
	/* 70 of 80 sectors too many, L2 busy for 60 % of the time: 0.6 * 70 / 80 = 52.5 %. */
	r = said(run, "UncoalescedGlobalAccess");
	assert_true(says(run, "UncoalescedGlobalAccess", "70 of 80 sectors (88%)"));
	assert_true(says(run, "UncoalescedGlobalAccess", "x.cu:12 (80 sectors instead of 10)"));
	assert_true(r && fabs(r->percent - 52.5) < 1e-9);
	assert_null(said(run, "UncoalescedSharedAccess"));
	/* 90 of 98 samples. */
	assert_true(says(run, "PCSamplingData", "92% of the samples are at x.cu:12 (67% long_scoreboard)"));
	assert_false(says(run, "PCSamplingData", "x.cu:10"));
	/* As good as it gets, and no sample at all. */
	global_sectors = global_ideal;
	samples_taken = 0;
	apply_all(run, &rules);
	assert_null(said(run, "UncoalescedGlobalAccess"));
	r = said(run, "PCSamplingData");
	assert_true(r && r->tag == RULE_WARN);
	assert_true(says(run, "PCSamplingData", "2048 cycles"));
	kernel_source_release(&looked_at);
	kernel_source_release(&s);
	sections_release(&rules);
	free(run);
}

static void accesses(void **state)
{
	static const struct {
		const char *sass;
		const char *space, *operation; /* NULL: none */
		unsigned bits;
	} known[] = {
		{ "LDG.E R4, desc[UR4][R4.64]", "Global", "Load", 32 },
		{ "@!P0 STG.E.128 desc[UR4][R2.64], R8", "Global", "Store", 128 },
		{ "LDS.U8 R5, [R5]", "Shared", "Load", 8 },
		{ "STS.64 [R7], R6", "Shared", "Store", 64 },
		{ "LDL R3, [R1]", "Local", "Load", 32 },
		{ "LDGSTS.E.BYPASS.128 [R7], desc[UR6][R2.64]", "Global", "Load", 128 },
		{ "FADD R7, R4, 1", NULL, NULL, 0 },
		{ "LDC.64 R2, c[0x0][0x218]", NULL, NULL, 0 },
		{ "", NULL, NULL, 0 },
		{ "@P0", NULL, NULL, 0 },
	};
	struct source_access a;

	(void)state;
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		assert_int_equal(source_access(known[i].sass, &a), known[i].space != NULL);
		if (!known[i].space)
			continue;
		assert_string_equal(a.space, known[i].space);
		assert_string_equal(a.operation, known[i].operation);
		assert_int_equal(a.bits, known[i].bits);
	}
}

static char taken[1024];

static int take(void *context, const char *function, uint32_t pc, const char *text)
{
	size_t used = strlen(taken);

	(void)context;
	snprintf(taken + used, sizeof(taken) - used, "%s+%x=%s|", function, pc, text);
	return 0;
}

/* Lines as nvdisasm 13.0 writes them, and others. */
static void opcodes(void **state)
{
	static const struct {
		const char *sass, *plain, *selective, *all, *category;
	} known[] = {
		{ "@!P0 LDG.E.128.CONSTANT R4, desc[UR4][R2.64]", "LDG", "LDG.E.128", "LDG.E.128.CONSTANT", "Load/Store" },
		{ "FFMA.FTZ R1, R2, R3, R4", "FFMA", "FFMA", "FFMA.FTZ", "Floating Point" },
		{ "MUFU.RCP R1, R2", "MUFU", "MUFU.RCP", "MUFU.RCP", "Floating Point" },
		{ "HMMA.16816.F32.BF16 R4, R8, R10, R4", "HMMA", "HMMA.16816.F32.BF16", "HMMA.16816.F32.BF16", "Tensor" },
		{ "UTCHMMA gdesc[UR4], tmem[UR6]", "UTCHMMA", "UTCHMMA", "UTCHMMA", "Tensor" },
		{ "UTMALDG.2D [UR8], [UR4]", "UTMALDG", "UTMALDG.2D", "UTMALDG.2D", "Tensor Memory Access" },
		{ "UIADD3 UR4, UR4, 0x1, URZ", "UIADD3", "UIADD3", "UIADD3", "Uniform Datapath" },
		{ "IMAD.WIDE R2, R3, 0x4, R4", "IMAD", "IMAD.WIDE", "IMAD.WIDE", "Integer" },
		{ "STG.E.STRONG.GPU desc[UR4][R2.64], R1", "STG", "STG.E", "STG.E.STRONG.GPU", "Load/Store" },
		{ "F2F.F64.F32 R2, R3", "F2F", "F2F.F64.F32", "F2F.F64.F32", "Conversion" },
		{ "@P0 EXIT", "EXIT", "EXIT", "EXIT", "Control" },
		{ "EXIT", "EXIT", "EXIT", "EXIT", "Control" },
		{ "BAR.SYNC.DEFER_BLOCKING 0x0", "BAR", "BAR.SYNC.DEFER_BLOCKING", "BAR.SYNC.DEFER_BLOCKING", "Miscellaneous" },
		{ "NEWOP.X R1", "NEWOP", "NEWOP.X", "NEWOP.X", "Other" },
		{ "", "", "", "", "Other" },
		{ "@P0", "", "", "", "Other" },
	};
	char name[OPCODE_MAX], huge[3 * OPCODE_MAX];

	(void)state;
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		opcode_name(known[i].sass, OPCODE_SELECTIVE, name);
		assert_string_equal(name, known[i].selective);
		opcode_name(known[i].sass, OPCODE_ALL, name);
		assert_string_equal(name, known[i].all);
		opcode_name(known[i].sass, OPCODE_PLAIN, name);
		assert_string_equal(name, known[i].plain);
		assert_string_equal(opcode_category(name), known[i].category);
	}
	/* Longer than any. */
	for (size_t i = 0; i < sizeof(huge); i++)
		huge[i] = i % 3 == 1 ? '.' : 'A';
	huge[sizeof(huge) - 1] = '\0';
	for (enum opcode_form form = OPCODE_PLAIN; form <= OPCODE_ALL; form++) {
		opcode_name(huge, form, name);
		assert_true(strlen(name) < OPCODE_MAX);
	}
}

static void disassembly(void **state)
{
	static const char *const text[] = { "\t.target\tsm_90",
					    "        /*0000*/                   NOP ;", /* of no function */
					    "//--------------------- .text._Z1fPf  --------------------------",
					    "\t.section\t.text._Z1fPf,\"ax\",@progbits",
					    "_Z1fPf:",
					    ".text._Z1fPf:",
					    "        /*0000*/                   LDC R1, c[0x0][0x28] ;",
					    "        /*0010*/               @P0 BRA `(.L_x_1) ;",
					    ".L_x_1:",
					    "        /*00z0*/                   NOP ;",
					    "        /*0020*/                   NOP",
					    "        /*123456789a*/             NOP ;",
					    "        /*0030*/ 	.byte	0xff ;",
					    "/*",
					    "",
					    "\t.section\t.nv.info",
					    "        /*0040*/                   NOP ;" };
	struct disassembly d = { "" };
	char line[256];

	(void)state;
	for (size_t i = 0; i < sizeof(text) / sizeof(text[0]); i++) {
		snprintf(line, sizeof(line), "%s", text[i]);
		assert_int_equal(disassembly_line(&d, line, take, NULL), 0);
	}
	assert_string_equal(taken, "_Z1fPf+0=LDC R1, c[0x0][0x28]|_Z1fPf+10=@P0 BRA `(.L_x_1)|");
}

int main(void)
{
	/* clang-format off */
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(instructions_of_a_launch), cmocka_unit_test(lines_of_a_launch), cmocka_unit_test(what_was_inlined), cmocka_unit_test(beside_another), cmocka_unit_test(rules_with_lines),
		cmocka_unit_test(accesses),                 cmocka_unit_test(disassembly), cmocka_unit_test(opcodes),
	};
	/* clang-format on */

	return cmocka_run_group_tests(tests, NULL, NULL);
}
