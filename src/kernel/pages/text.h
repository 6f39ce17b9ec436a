/* Tables and lines that pages share. Private to src/kernel. */
#ifndef SONDE_KERNEL_PAGES_TEXT_H
#define SONDE_KERNEL_PAGES_TEXT_H

#include "kernel/pages/page.h"

#define TABLE_COLUMNS 20

/* Cells of a table, row by row; the caller's texts are copied. */
struct text_table {
	unsigned columns;
	unsigned left; /* bits: columns that are aligned to the left */
	char **cells;
	size_t count, capacity;
};

int text_table_add(struct text_table *t, const char *cell);
/* Lines above and below the heading and at the end, each behind four blanks. */
void text_table_print(FILE *out, const struct text_table *t, const char *const *heading, const unsigned *min_widths);
void text_table_release(struct text_table *t);

/* "[7] program@host" where another process begins. */
void page_process_line(FILE *out, const struct kernel_result *k, const struct kernel_result *before);
/* Tables of what a section shows over time. */
int page_print_series(FILE *out, const struct page_options *options, const struct kernel_result *k, const char *section);
/* The metrics that a rule looked at. */
int page_print_rule_details(FILE *out, const struct page_options *options, const struct kernel_results *results,
			    const struct kernel_result *k, const struct kernel_rule *rule);
/* A quoted cell, with a comma before all but the first. */
void csv_cell(FILE *out, const char *text, bool is_first);
void csv_triple(FILE *out, const uint32_t size[3]);
void csv_integer(FILE *out, int64_t value, bool is_known);
/* From "ID" to "CC". */
void csv_launch_heading(FILE *out, const struct page_options *options);
void csv_launch(FILE *out, const struct page_options *options, const struct kernel_result *k);

#endif
