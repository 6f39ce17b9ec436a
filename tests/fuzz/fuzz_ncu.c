/* libFuzzer: arbitrary bytes as a table of ncu.
 *
 *   clang -fsanitize=fuzzer,address,undefined ... tests/fuzz/fuzz_ncu.c */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ingest/ncu.h"
#include "replay.h"

static void remove_ending(const char *folder, const char *ending)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/t.sonde%s", folder, ending);
	unlink(path);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char folder[] = "/dev/shm/sonde-fuzz-XXXXXX", path[128];
	struct report_writer *writer;
	struct ncu_result result;
	struct error err;

	if (!mkdtemp(folder))
		return 0;
	snprintf(path, sizeof(path), "%s/t.sonde", folder);
	if (report_writer_open(&writer, path, 0, NULL, 0, &err) == 0) {
		/* Whatever the bytes are, rows must be such that the writer takes them. */
		if (ncu_import((const char *)data, size, writer, &result, &err) < 0)
			abort();
		report_writer_abandon(writer);
	}
	remove_ending(folder, ".part");
	remove_ending(folder, ".journal");
	rmdir(folder);
	return 0;
}
