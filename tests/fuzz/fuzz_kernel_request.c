/* libFuzzer: arbitrary text as a request of `sonde kernel`. What is read from it can be written, and reads the same again.
 *
 *   clang -fsanitize=fuzzer,address,undefined ... tests/fuzz/fuzz_kernel_request.c */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fmt/kernel_request.h"
#include "replay.h"

/* NULL: it is refused. The rest is the caller's to free. */
static char *written_again(char *text, size_t lines)
{
	const char **room = calloc(lines, sizeof(*room));
	struct kernel_request request;
	char *again = NULL, why[64];
	size_t size;
	FILE *file;

	if (room && kernel_request_read(&request, text, room, lines, why, sizeof(why)) == 0) {
		file = open_memstream(&again, &size);
		if (!file || kernel_request_write(file, &request) < 0)
			abort();
		fclose(file);
	}
	free(room);
	return again;
}

static size_t count_lines(const char *text)
{
	size_t count = 1;

	for (; *text; text++)
		count += *text == '\n';
	return count;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = calloc(size + 1, 1), *once, *copy, *twice;

	if (!text)
		return 0;
	memcpy(text, data, size);
	once = written_again(text, count_lines(text));
	if (once) {
		copy = strdup(once);
		twice = copy ? written_again(copy, count_lines(copy)) : NULL;
		if (!twice || strcmp(once, twice) != 0)
			abort();
		free(copy);
		free(twice);
	}
	free(once);
	free(text);
	return 0;
}
