/* Golden tests: every tests/golden/NAME.golden has a command line in its first line and
 * below it what the command must print, byte for byte. The recordings are written from
 * tests/golden/recording.txt, cpu.txt, cuda.txt and steps.txt; expected.py beside it computed the texts. */
#include <dirent.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/buf.h"
#include "cli/command.h"
#include "support/text_report.h"

#define MAX_WORDS 32

struct world {
	char folder[64];
	char report[128];
	char cpu_report[128];
	char cuda_report[128];
	char steps_report[128];
};

static int set_up(void **state)
{
	static struct world world;
	struct error err;

	strcpy(world.folder, "golden.XXXXXX");
	if (!mkdtemp(world.folder))
		return -1;
	snprintf(world.report, sizeof(world.report), "%s/run.sonde", world.folder);
	snprintf(world.cpu_report, sizeof(world.cpu_report), "%s/cpu.sonde", world.folder);
	snprintf(world.cuda_report, sizeof(world.cuda_report), "%s/cuda.sonde", world.folder);
	snprintf(world.steps_report, sizeof(world.steps_report), "%s/steps.sonde", world.folder);
	if (text_report_write(GOLDEN_FOLDER "/recording.txt", world.report, &err) < 0 ||
	    text_report_write(GOLDEN_FOLDER "/cpu.txt", world.cpu_report, &err) < 0 ||
	    text_report_write(GOLDEN_FOLDER "/cuda.txt", world.cuda_report, &err) < 0 ||
	    text_report_write(GOLDEN_FOLDER "/steps.txt", world.steps_report, &err) < 0) {
		print_error("%s\n", err.text);
		return -1;
	}
	*state = &world;
	return 0;
}

static int tear_down(void **state)
{
	struct world *world = *state;

	unlink(world->report);
	unlink(world->cpu_report);
	unlink(world->cuda_report);
	unlink(world->steps_report);
	rmdir(world->folder);
	return 0;
}

/* Words at blanks; "..." keeps blanks together. */
static int split(char *line, char **words)
{
	int count = 0;

	while (*line && count < MAX_WORDS - 3) {
		line += strspn(line, " ");
		if (!*line)
			break;
		if (*line == '"') {
			words[count++] = ++line;
			line += strcspn(line, "\"");
		} else {
			words[count++] = line;
			line += strcspn(line, " ");
		}
		if (*line)
			*line++ = '\0';
	}
	return count;
}

static void append_replaced(struct buf *to, const char *text, const char *what, const char *with)
{
	const char *found;

	while ((found = strstr(text, what)) != NULL) {
		buf_append(to, text, (size_t)(found - text));
		buf_puts(to, with);
		text = found + strlen(what);
	}
	buf_puts(to, text);
}

/* What a command printed, with the places of this machine under fixed names. */
static void run_command(const struct world *world, char *line, struct buf *ret)
{
	char *words[MAX_WORDS] = { (char *)"sonde" }, *out = NULL, *err = NULL;
	size_t out_len, err_len;
	struct cli cli = { open_memstream(&out, &out_len), open_memstream(&err, &err_len), "", words, CLI_SONDE, NULL, false };
	struct buf all = BUF_INIT, once = BUF_INIT, twice = BUF_INIT, thrice = BUF_INIT, last = BUF_INIT;
	int count = 1 + split(line, words + 1), status;

	for (int i = 1; i < count; i++) {
		if (strcmp(words[i], "REPORT") == 0)
			words[i] = (char *)(uintptr_t)world->report;
		if (strcmp(words[i], "CPU_REPORT") == 0)
			words[i] = (char *)(uintptr_t)world->cpu_report;
		if (strcmp(words[i], "CUDA_REPORT") == 0)
			words[i] = (char *)(uintptr_t)world->cuda_report;
		if (strcmp(words[i], "STEPS_REPORT") == 0)
			words[i] = (char *)(uintptr_t)world->steps_report;
	}
	if (strcmp(words[1], "stats") == 0) {
		words[count++] = (char *)"--report-dir";
		words[count++] = (char *)REPORTS_FOLDER;
	}
	words[count] = NULL;
	status = cli_main(&cli, count, words);
	fclose(cli.out);
	fclose(cli.err);
	buf_append(&all, out, out_len);
	if (err_len)
		buf_printf(&all, "[remarks]\n%s", err);
	if (status)
		buf_printf(&all, "[status %d]\n", status);
	append_replaced(&once, buf_cstr(&all), REPORTS_FOLDER, "REPORTS");
	append_replaced(&twice, buf_cstr(&once), world->cpu_report, "CPU_REPORT");
	append_replaced(&thrice, buf_cstr(&twice), world->cuda_report, "CUDA_REPORT");
	append_replaced(&last, buf_cstr(&thrice), world->steps_report, "STEPS_REPORT");
	append_replaced(ret, buf_cstr(&last), world->report, "REPORT");
	buf_release(&all);
	buf_release(&once);
	buf_release(&twice);
	buf_release(&thrice);
	buf_release(&last);
	free(out);
	free(err);
}

static void read_file(const char *name, struct buf *ret)
{
	char path[4096], piece[4096];
	FILE *in;
	size_t n;

	snprintf(path, sizeof(path), "%s/%s", GOLDEN_FOLDER, name);
	in = fopen(path, "re");
	assert_non_null(in);
	while ((n = fread(piece, 1, sizeof(piece), in)) > 0)
		buf_append(ret, piece, n);
	fclose(in);
}

static int check(const struct world *world, const char *name)
{
	struct buf file = BUF_INIT, printed = BUF_INIT;
	char *line, *expected;
	int same;

	read_file(name, &file);
	line = file.data;
	buf_cstr(&file);
	line = file.data;
	expected = strchr(line, '\n');
	assert_non_null(expected);
	*expected++ = '\0';
	run_command(world, line, &printed);
	same = strcmp(buf_cstr(&printed), expected) == 0;
	if (!same)
		print_error("%s differs.\n--- expected\n%s--- printed\n%s", name, expected, buf_cstr(&printed));
	buf_release(&file);
	buf_release(&printed);
	return same;
}

static void test_golden(void **state)
{
	DIR *dir = opendir(GOLDEN_FOLDER);
	struct dirent *entry;
	size_t len;
	int cases = 0, wrong = 0;

	assert_non_null(dir);
	while ((entry = readdir(dir)) != NULL) {
		len = strlen(entry->d_name);
		if (len > 7 && strcmp(entry->d_name + len - 7, ".golden") == 0) {
			cases++;
			wrong += !check(*state, entry->d_name);
		}
	}
	closedir(dir);
	assert_true(cases > 10);
	assert_int_equal(wrong, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_golden) };

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
