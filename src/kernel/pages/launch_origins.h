/* NVTX ranges and call stacks of kernels, as pages show them. Private to src/kernel. */
#ifndef SONDE_KERNEL_PAGES_LAUNCH_PLACES_H
#define SONDE_KERNEL_PAGES_LAUNCH_PLACES_H

#include "kernel/pages/page.h"

void page_print_place(FILE *out, const struct kernel_result *k);
/* Two columns, between the host's and the kernel's name. */
void csv_ranges_heading(FILE *out);
void csv_ranges(FILE *out, const struct kernel_result *k);
/* `text` writes a text in quotes. */
void json_place(FILE *out, const struct kernel_result *k, void (*text)(FILE *out, const char *text));

#endif
