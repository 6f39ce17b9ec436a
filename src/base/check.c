#include "base/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

void check_failed(const char *condition, const char *file, int line)
{
	char text[512];
	int len = snprintf(text, sizeof(text), "sonde: %s:%d: this should always hold: %s\n", file, line, condition);

	if (len > 0 && write(STDERR_FILENO, text, (size_t)len < sizeof(text) ? (size_t)len : sizeof(text) - 1) < 0)
		abort();
	abort();
}
