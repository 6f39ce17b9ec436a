/* Names of what `sonde kernel` writes. */
#ifndef SONDE_CLI_KERNEL_OUTPUT_H
#define SONDE_CLI_KERNEL_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

/* The path for a name with macros in its last part: %h, %q{NAME}, %p (this process), %i (lowest free number) and %%. It ends in `ending`:
 * that is added where it does not. -EEXIST where there is such a file and `overwrite` does not allow for it. */
int kernel_output_path(const char *name, const char *ending, bool overwrite, char *ret, size_t size, struct error *err);

/* A folder of our own for a report that nobody keeps, and its end with all that is in it. */
int kernel_output_folder(char *ret, size_t size, struct error *err);
void kernel_output_remove(const char *folder);

#endif
