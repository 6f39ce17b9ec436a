/* Files made for a test, in a folder of its own. */
#ifndef SONDE_TEST_SYMBOL_SUPPORT_H
#define SONDE_TEST_SYMBOL_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* For cmocka's setup and teardown: *state is the folder's path. */
int folder_set_up(void **state);
int folder_tear_down(void **state);
/* The path of NAME in the folder; one of a few buffers used in turn. */
const char *in_folder(void **state, const char *name);
const char *write_file(void **state, const char *name, const void *bytes, size_t size);
const char *write_text(void **state, const char *name, const char *text);
/* Runs a shell command in the folder; 0 when it succeeded. Its output is not shown. */
int shell(void **state, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* What a shell command prints, NUL at the end; freed by the caller. */
char *shell_output(void **state, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
