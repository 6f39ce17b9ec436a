#include "support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int folder_set_up(void **state)
{
	char path[] = "/tmp/sonde-symbol-XXXXXX";

	*state = mkdtemp(path) ? strdup(path) : NULL;
	return *state ? 0 : -1;
}

int folder_tear_down(void **state)
{
	char command[256];

	snprintf(command, sizeof(command), "rm -rf %s", (char *)*state);
	free(*state);
	return system(command);
}

const char *in_folder(void **state, const char *name)
{
	static char buffers[8][512];
	static unsigned next;
	char *path = buffers[next++ % 8];

	snprintf(path, sizeof(buffers[0]), "%s/%s", (char *)*state, name);
	return path;
}

const char *write_file(void **state, const char *name, const void *bytes, size_t size)
{
	const char *path = in_folder(state, name);
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	assert_int_equal(fwrite(bytes, 1, size, f), size);
	assert_int_equal(fclose(f), 0);
	return path;
}

const char *write_text(void **state, const char *name, const char *text)
{
	return write_file(state, name, text, strlen(text));
}

static char *command_line(void **state, const char *format, va_list args)
{
	static char line[8192];
	int n = snprintf(line, sizeof(line), "cd %s && { ", (char *)*state);

	n += vsnprintf(line + n, sizeof(line) - (size_t)n, format, args);
	assert_true((size_t)n + 20 < sizeof(line));
	strcpy(line + n, "; } 2>/dev/null");
	return line;
}

char *shell_output(void **state, const char *format, ...)
{
	char *text = NULL, piece[4096];
	size_t size, len;
	va_list args;
	FILE *pipe, *all = open_memstream(&text, &size);

	va_start(args, format);
	pipe = popen(command_line(state, format, args), "r");
	va_end(args);
	assert_non_null(pipe);
	while ((len = fread(piece, 1, sizeof(piece), pipe)) > 0)
		fwrite(piece, 1, len, all);
	fclose(all);
	pclose(pipe);
	return text;
}

int shell(void **state, const char *format, ...)
{
	va_list args;
	FILE *pipe;
	char piece[4096];

	va_start(args, format);
	pipe = popen(command_line(state, format, args), "r");
	va_end(args);
	assert_non_null(pipe);
	while (fread(piece, 1, sizeof(piece), pipe) > 0)
		;
	return pclose(pipe);
}
