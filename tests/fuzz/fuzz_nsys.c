/* libFuzzer: arbitrary bytes as an SQLite file to import.
 *
 *   clang -fsanitize=fuzzer,address,undefined ... tests/fuzz/fuzz_nsys.c */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ingest/nsys/nsys.h"
#include "replay.h"

static void remove_name(const char *folder, const char *name)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	unlink(path);
}

static int write_file(const char *path, const uint8_t *data, size_t size)
{
	int file = open(path, O_WRONLY | O_CREAT | O_EXCL, 0600);
	int whole = file >= 0 && write(file, data, size) == (ssize_t)size;

	if (file >= 0)
		close(file);
	return whole;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char folder[] = "/dev/shm/sonde-fuzz-XXXXXX", path[128], input[128];
	struct report_writer *writer;
	struct nsys_result result;
	struct error err;
	int r;

	if (!mkdtemp(folder))
		return 0;
	snprintf(path, sizeof(path), "%s/t.sonde", folder);
	snprintf(input, sizeof(input), "%s/i.sqlite", folder);
	if (write_file(input, data, size) && report_writer_open(&writer, path, 0, NULL, 0, &err) == 0) {
		/* Whatever the bytes are, rows must be such that the writer takes them. */
		r = nsys_import(input, writer, &result, &err);
		if (r < 0 && r != -EBADMSG && r != -ENOMEM)
			abort();
		report_writer_abandon(writer);
	}
	remove_name(folder, "t.sonde.part");
	remove_name(folder, "t.sonde.journal");
	remove_name(folder, "i.sqlite");
	rmdir(folder);
	return 0;
}
