/* libFuzzer: arbitrary bytes as a trace to import.
 *
 *   clang -fsanitize=fuzzer,address,undefined ... tests/fuzz/fuzz_kineto.c */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ingest/kineto/kineto.h"
#include "replay.h"

static void remove_ending(const char *folder, const char *ending)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/t.sonde%s", folder, ending);
	unlink(path);
}

static void import(const uint8_t *data, size_t size, size_t window, struct kineto_result *ret)
{
	char folder[] = "/tmp/sonde-fuzz-XXXXXX", path[128];
	struct report_writer *writer;
	struct source source;
	struct error err;
	int r;

	memset(ret, 0, sizeof(*ret));
	if (!mkdtemp(folder))
		return;
	snprintf(path, sizeof(path), "%s/t.sonde", folder);
	if (report_writer_open(&writer, path, 0, NULL, 0, &err) == 0) {
		source_of_text(&source, (const char *)data, size);
		source.window = window;
		/* Whatever the bytes are, rows must be such that the writer takes them. */
		r = kineto_import(&source, writer, ret, &err);
		if (r < 0 && r != -ENODATA)
			abort();
		report_writer_abandon(writer);
	}
	remove_ending(folder, ".part");
	remove_ending(folder, ".journal");
	rmdir(folder);
}

/* Where windows end must make no difference. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct kineto_result whole, parts;

	import(data, size, size + 1, &whole);
	import(data, size, size ? 1 + data[size / 2] % 13 : 1, &parts);
	if (whole.events != parts.events || whole.troubles != parts.troubles || whole.offset != parts.offset || whole.line != parts.line ||
	    whole.before != parts.before)
		abort();
	return 0;
}
