/* Runs a command line inside the test and keeps what it printed. */
#ifndef TESTS_UNIT_CLI_RUN_CLI_H
#define TESTS_UNIT_CLI_RUN_CLI_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

struct cli_run {
	int status;
	char *out;
	char *err;
};

/* Words after "sonde", ended by NULL. */
void cli_run_words(struct cli_run *run, const char *const *words);
void cli_run_release(struct cli_run *run);
#define CLI_RUN(run, ...) cli_run_words(run, (const char *const[]){ __VA_ARGS__, NULL })

void assert_contains(const char *text, const char *part);
unsigned count_lines(const char *text);
/* Writes a file below a folder, making the folders it is in. */
void write_under(const char *root, const char *path, const char *text);
/* A new empty folder below the current one; removed by remove_folder(). */
char *make_folder(void);
void remove_folder(char *folder);

#endif
