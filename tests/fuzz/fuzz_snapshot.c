/* libFuzzer: arbitrary bytes as a pickle with a memory snapshot.
 *
 *   clang -fsanitize=fuzzer,address,undefined ... tests/fuzz/fuzz_snapshot.c */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ingest/snapshot/snapshot.h"
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
	struct error err = { "" };
	struct source source;
	int r;

	if (!mkdtemp(folder))
		return 0;
	snprintf(path, sizeof(path), "%s/t.sonde", folder);
	if (report_writer_open(&writer, path, 0, NULL, 0, &err) == 0) {
		source_of_text(&source, (const char *)data, size);
		source.window = 1 + size / 3;
		/* Whatever the bytes are, rows must be such that the writer takes them, and what is refused is so in words. */
		r = snapshot_import(&source, writer, &err);
		if ((r < 0 && r != -EBADMSG) || (r < 0) != !!err.text[0])
			abort();
		report_writer_abandon(writer);
	}
	remove_ending(folder, ".part");
	remove_ending(folder, ".journal");
	rmdir(folder);
	return 0;
}
