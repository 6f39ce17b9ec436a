/* Where tables go: files, commands, the console; what is skipped and what is said. */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/buf.h"
#include "report/writer.h"
#include "stats/stats.h"
#include "support/text_report.h"

static char folder[64], report[128], empty[128];

static const char *const folders[] = { REPORTS_FOLDER };

struct answer {
	char *out, *remarks;
	size_t out_len, remarks_len;
	struct error err;
	int result;
};

static void ask(struct answer *a, struct stats_options options, const char *path)
{
	FILE *out = open_memstream(&a->out, &a->out_len), *remarks = open_memstream(&a->remarks, &a->remarks_len);

	options.folders = folders;
	options.folder_count = 1;
	a->err.text[0] = '\0';
	a->result = stats_run(&options, path, out, remarks, &a->err);
	fclose(out);
	fclose(remarks);
}

static void forget(struct answer *a)
{
	free(a->out);
	free(a->remarks);
}

#define COUNT(...) (sizeof((const char *const[]){ __VA_ARGS__ }) / sizeof(char *))
#define REPORTS(...) .reports = (const char *const[]){ __VA_ARGS__ }, .report_count = COUNT(__VA_ARGS__)
#define FORMATS(...) .formats = (const char *const[]){ __VA_ARGS__ }, .format_count = COUNT(__VA_ARGS__)
#define OUTPUTS(...) .outputs = (const char *const[]){ __VA_ARGS__ }, .output_count = COUNT(__VA_ARGS__)

static char *contents(const char *path)
{
	struct buf text = BUF_INIT;
	FILE *in = fopen(path, "r");
	char piece[4096];
	size_t n;

	assert_non_null(in);
	while ((n = fread(piece, 1, sizeof(piece), in)) > 0)
		buf_append(&text, piece, n);
	fclose(in);
	buf_cstr(&text);
	return text.data;
}

static int set_up(void **state)
{
	struct report_writer *w;
	struct error err;

	signal(SIGPIPE, SIG_IGN);
	strcpy(folder, "run.XXXXXX");
	if (!mkdtemp(folder))
		return -1;
	snprintf(report, sizeof(report), "%s/run.sonde", folder);
	snprintf(empty, sizeof(empty), "%s/empty.sonde", folder);
	if (text_report_write(GOLDEN_FOLDER "/recording.txt", report, &err) < 0 || report_writer_open(&w, empty, 1, NULL, 0, &err) < 0)
		return -1;
	return report_writer_finish(w, &err);
}

static int tear_down(void **state)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -rf '%s'", folder);
	return system(command);
}

static void test_files(void **state)
{
	struct stats_options options = { REPORTS("nvtx_startend_sum,nvtx_pushpop_sum"), FORMATS("csv", "json"), OUTPUTS(".") };
	struct answer a;
	char path[256], *text;

	ask(&a, options, report);
	assert_int_equal(a.result, 0);
	assert_string_equal(a.out, "");
	snprintf(path, sizeof(path), "%s/run_nvtx_startend_sum.csv", folder);
	text = contents(path);
	assert_non_null(strstr(text, "100.0,3000,2,1500.0,1500.0,1000,2000,707.1,:request\n"));
	free(text);
	snprintf(path, sizeof(path), "%s/run_nvtx_pushpop_sum.json", folder);
	text = contents(path);
	assert_int_equal(text[0], '[');
	free(text);
	forget(&a);
	/* A second time the files are there. */
	ask(&a, options, report);
	assert_int_equal(a.result, -EEXIST);
	assert_non_null(strstr(a.err.text, "--force-overwrite"));
	forget(&a);
	options.overwrite = 1;
	ask(&a, options, report);
	assert_int_equal(a.result, 0);
	forget(&a);
}

static void test_default_format_of_files_is_csv(void **state)
{
	struct stats_options options = { REPORTS("nvtx_startend_sum"), .quiet = 1 };
	struct answer a;
	char base[128], path[256], *text;

	snprintf(base, sizeof(base), "%s/other", folder);
	options.outputs = (const char *const[]){ base };
	options.output_count = 1;
	ask(&a, options, report);
	assert_int_equal(a.result, 0);
	assert_string_equal(a.remarks, "");
	snprintf(path, sizeof(path), "%s_nvtx_startend_sum.csv", base);
	text = contents(path);
	assert_int_equal(strncmp(text, "Time (%),", 9), 0);
	free(text);
	forget(&a);
}

static void test_pipe(void **state)
{
	struct stats_options options = { REPORTS("nvtx_startend_sum"), .quiet = 1 };
	struct answer a;
	char command[200], path[128], *text;

	snprintf(path, sizeof(path), "%s/piped", folder);
	snprintf(command, sizeof(command), "@tee  %s", path);
	options.outputs = (const char *const[]){ command };
	options.output_count = 1;
	ask(&a, options, report);
	assert_int_equal(a.result, 0);
	text = contents(path);
	assert_int_equal(strncmp(text, "Time (%),", 9), 0);
	free(text);
	forget(&a);
	options.outputs = (const char *const[]){ "@false" };
	ask(&a, options, report);
	assert_int_equal(a.result, -EIO);
	forget(&a);
	options.outputs = (const char *const[]){ "@/no/such/command" };
	ask(&a, options, report);
	assert_int_equal(a.result, -ENOENT);
	forget(&a);
}

static void test_skipped(void **state)
{
	struct stats_options options = { REPORTS("nvtx_sum", "nvtxpptrace") };
	struct answer a;

	ask(&a, options, empty);
	assert_int_equal(a.result, 0);
	assert_string_equal(a.out, "SKIPPED: empty.sonde does not contain NV Tools Extension (NVTX) data.\n\n"
				   "SKIPPED: empty.sonde does not contain NV Tools Extension (NVTX) data.\n\n");
	forget(&a);
	options.formats = (const char *const[]){ "csv" };
	options.format_count = 1;
	ask(&a, options, empty);
	assert_string_equal(a.out, "");
	assert_non_null(strstr(a.remarks, "SKIPPED"));
	forget(&a);
}

static void test_default_set(void **state)
{
	struct stats_options options = { .quiet = 1 };
	struct answer a;

	ask(&a, options, report);
	assert_int_equal(a.result, 0);
	assert_int_equal(strncmp(a.out, " ** NVTX Range Summary (nvtx_sum):", 34), 0);
	assert_non_null(strstr(a.out, " ** Diagnostics (diagnostics):"));
	forget(&a);
}

static void test_bad_input(void **state)
{
	struct stats_options options = { REPORTS("nvtx_sum") };
	struct answer a;

	ask(&a, options, "no/such.sonde");
	assert_int_equal(a.result, -ENOENT);
	forget(&a);
	ask(&a, options, GOLDEN_FOLDER "/recording.txt");
	assert_int_equal(a.result, -EBADMSG);
	forget(&a);
	options.time_unit = "parsec";
	ask(&a, options, report);
	assert_int_equal(a.result, -EINVAL);
	forget(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_files),       cmocka_unit_test(test_default_format_of_files_is_csv),
		cmocka_unit_test(test_pipe),        cmocka_unit_test(test_skipped),
		cmocka_unit_test(test_default_set), cmocka_unit_test(test_bad_input),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
