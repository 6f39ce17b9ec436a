/* --page source: instructions and source lines of kernels with what they did. */
#ifndef SONDE_KERNEL_PAGES_SOURCE_H
#define SONDE_KERNEL_PAGES_SOURCE_H

#include "kernel/pages/page.h"
#include "kernel/source/instructions.h"

enum source_view { SOURCE_SASS, SOURCE_PTX, SOURCE_CUDA, SOURCE_CUDA_SASS };
enum source_format { SOURCE_TEXT, SOURCE_CSV, SOURCE_JSON };

struct source_options {
	enum source_view view;
	enum source_format format;
	bool only_ncu;                    /* tables have no column that ncu's have not */
	bool outermost;                   /* what was inlined counts for the line of the kernel that called it */
	const struct source_book *before; /* of the baseline (page_options.baseline); NULL: there is none */
};

/* -ENOMEM. */
int page_print_source(FILE *out, const struct kernel_results *results, const struct page_options *options, const struct source_book *book,
		      const struct source_options *source);

/* The lines of PTX (SOURCE_IN_PTX) that belong to a kernel, each with the name of its text and what is counted for it (NULL: nothing). */
typedef int (*source_ptx_fn)(void *context, const char *name, uint32_t line, const char *text, size_t len, const struct source_item *item);
int source_each_ptx(const struct kernel_source *ptx, source_ptx_fn take, void *context);

/* The reason for waiting that most samples have, without what all names begin with; NULL: no samples. */
const char *source_main_stall(const struct kernel_source *source, const struct source_item *item, double *ret_share);

#endif
