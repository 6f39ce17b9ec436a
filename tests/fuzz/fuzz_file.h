/* An input as a file that readers open by its name. */
#ifndef SONDE_TESTS_FUZZ_FILE_H
#define SONDE_TESTS_FUZZ_FILE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "mend.h"
#include "mutate_report.h"
#include "replay.h"

struct fuzz_file {
	int fd;
	char path[64];
	uint8_t choices[FUZZ_CHOICES];
};

/* False where there is nothing to read. */
static inline int fuzz_file_open(struct fuzz_file *ret, const uint8_t *data, size_t size)
{
	uint8_t *copy;

	if (size <= FUZZ_CHOICES)
		return 0;
	memcpy(ret->choices, data, FUZZ_CHOICES);
	size -= FUZZ_CHOICES;
	copy = malloc(size);
	if (!copy)
		abort();
	memcpy(copy, data + FUZZ_CHOICES, size);
	mend(copy, size);
	ret->fd = memfd_create("fuzz", MFD_CLOEXEC);
	snprintf(ret->path, sizeof(ret->path), "/proc/self/fd/%d", ret->fd);
	if (write(ret->fd, copy, size) != (ssize_t)size)
		abort();
	free(copy);
	return 1;
}

static inline void fuzz_file_close(struct fuzz_file *f)
{
	close(f->fd);
}

#endif
