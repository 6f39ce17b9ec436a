/* The source page's parts: one kernel's instructions and lines, and how they are written. */
#ifndef SONDE_KERNEL_PAGES_SOURCE_INTERNAL_H
#define SONDE_KERNEL_PAGES_SOURCE_INTERNAL_H

#include "kernel/pages/source.h"

#define SOURCE_COLUMNS 19
#define SOURCE_BEFORE_MEMORY 10 /* columns before what is said of the access */
#define SOURCE_STALLS 19

struct source_page {
	FILE *out;
	const struct source_book *book;
	const struct source_options *options;
	const char *name; /* of the kernel at hand */
	struct kernel_source instructions;
	struct kernel_source lines;
	struct kernel_source calls; /* lines, with the calls that were inlined */
	struct kernel_source ptx;
	bool is_inlined; /* some of it is, and tables say so */
	/* The same of the baseline's launches; without items where there are none. */
	struct kernel_source before, lines_before, calls_before, ptx_before;
	struct formula formulas[SOURCE_COLUMNS];
	bool shown[SOURCE_COLUMNS];
	bool shown_stalls[2][SOURCE_STALLS]; /* all samples, and those in which nothing was issued */
};

const char *source_column_title(size_t column);
double source_column_value(const struct source_page *p, const struct kernel_source *s, const struct source_item *item, size_t column);
const char *source_stall_title(size_t stall);
double source_stall_value(const struct kernel_source *s, const struct source_item *item, size_t stall, bool without_issue);

/* All of these: -ENOMEM. */
int source_write_csv(const struct source_page *p);
int source_write_text(const struct source_page *p);
int source_write_json(const struct source_page *p, const struct kernel_result *k, bool is_first);

/* source_origin.c */
/* The text of a source line, for the caller to free; "" where it is not known, NULL: no memory. */
char *source_line_text(const struct source_page *p, const struct source_item *line);
/* Whether an instruction is counted for a line. */
bool source_is_of(const struct source_item *item, const struct source_item *line, bool outermost);
/* "deep(int *) at x.cu:7, middle(int *) at x.cu:12", for the caller to free. */
char *source_calls_text(const char *inlined);

#endif
