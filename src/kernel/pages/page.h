/* What `sonde kernel` prints of results: pages as ncu's, for people, as CSV and as JSON. */
#ifndef SONDE_KERNEL_PAGES_PAGE_H
#define SONDE_KERNEL_PAGES_PAGE_H

#include <stdbool.h>
#include <stdio.h>

#include "kernel/results/baseline.h"
#include "kernel/results/results.h"
#include "kernel/sections/section.h"
#include "kernel/metrics/units.h"
#include "kernel/results/variation.h"

struct metric_names;

enum page_kind { PAGE_DETAILS, PAGE_RAW, PAGE_SOURCE, PAGE_SESSION };
enum page_details { DETAILS_HEADER, DETAILS_BODY, DETAILS_ALL };
enum page_names { NAMES_LABEL, NAMES_METRIC, NAMES_BOTH };
enum page_kernel_base { KERNEL_DEMANGLED, KERNEL_FUNCTION, KERNEL_MANGLED };
enum page_instances { INSTANCES_NONE, INSTANCES_VALUES, INSTANCES_DETAILS };
enum page_summary { SUMMARY_NONE, SUMMARY_PER_GPU, SUMMARY_PER_KERNEL, SUMMARY_PER_NVTX, SUMMARY_PER_OPERATOR };
enum page_form { FORM_TEXT, FORM_CSV, FORM_JSON };

struct page_options {
	bool base_units; /* no larger ones */
	bool all_real;   /* whole numbers have decimals, too */
	enum page_details details;
	enum page_names names;
	enum page_kernel_base kernel_base;
	enum page_instances instances;
	const struct sections *sections;
	const struct section *const *selected; /* those to be shown; NULL: those that have values */
	size_t selected_count;
	const struct metric_names *named; /* asked for: a section of their own; NULL: none */
	bool nvtx;                        /* tables have columns for NVTX ranges */
	bool nvtx_names;                  /* kernels are called by the innermost range of theirs */
	bool only_named;                  /* on the raw page, too */
	struct baseline *baseline;        /* shown beside each number; NULL: none */
	bool warm;                        /* values with warm caches are shown beside the others */
	double variation;                 /* percent between launches of a kernel that are worth a word; 0: not looked at */
	bool rule_details;                /* metrics that rules looked at are shown below them */
	const struct typical *typical;    /* of each launch; NULL: not looked at */
};

/* A value, ready to be printed. */
struct page_row {
	const char *label;
	const char *key;               /* the metric, or the first of a formula's: rows are in its order */
	const struct formula *formula; /* NULL: it is the metric itself */
	const char *row;               /* of a table: the label is made of it and the column */
	size_t column;
	char unit[UNIT_MAX]; /* base */
	struct metric_value value;
};

/* Rows of one table of a section. */
struct page_group {
	const char *title;                 /* "" for the first */
	const struct section_block *block; /* NULL for the first */
	struct page_row *rows;
	size_t count, capacity;
};

struct page_section {
	const char *id;
	const char *title;
	struct page_group *groups;
	size_t count;
};

/* The sections of one kernel, in their order. -ENOMEM. */
struct page_sections {
	struct page_section *items;
	size_t count;
	char **labels; /* made here, as are these: */
	size_t label_count;
	struct formula **formulas;
	size_t formula_count;
};
int page_sections_make(struct page_sections *ret, const struct page_options *options, const struct kernel_results *results,
		       const struct kernel_result *k);
void page_sections_release(struct page_sections *sections);

/* Adds what rules say, and verdicts, to kernels that have none. -ENOMEM. */
int apply_rules(struct kernel_results *results, const struct sections *texts);

/* The unit of a value: as it was recorded, or by the metric's name. */
void page_unit(const struct kernel_results *results, const struct metric_value *value, const char *otherwise, char ret[UNIT_MAX]);
/* Unit and text of a row as they are printed. The caller frees the text; NULL: no memory. */
char *page_value(const struct page_options *options, const struct kernel_results *results, const struct kernel_result *k,
		 const struct page_row *row, char ret_unit[UNIT_MAX]);
/* The same in a unit that was chosen before: by what the value is divided. */
char *page_value_by(const struct page_options *options, const struct kernel_results *results, const struct kernel_result *k,
		    const struct page_row *row, double scale);
/* The row's value in the baseline, and by how many percent it changed; not a number where that is not known. */
double page_before(const struct page_options *options, const struct kernel_result *k, const struct page_row *row, double *ret_change);
/* The row's value with warm caches; not a number where there is none. */
double page_warm(const struct kernel_result *k, const struct page_row *row);
/* Whether a metric is one of those asked for. */
bool page_is_named(const struct page_options *options, const char *name);
const char *page_kernel_name(const struct page_options *options, const struct kernel_result *k);

/* All return 0, or -ENOMEM. */
int page_print_details(FILE *out, const struct kernel_results *results, const struct page_options *options);
int page_print_raw(FILE *out, const struct kernel_results *results, const struct page_options *options);
int page_print_summary(FILE *out, const struct kernel_results *results, const struct page_options *options, enum page_summary by,
		       enum page_form form);
int page_write_details_csv(FILE *out, const struct kernel_results *results, const struct page_options *options);
int page_write_raw_csv(FILE *out, const struct kernel_results *results, const struct page_options *options);
int page_write_json(FILE *out, const struct kernel_results *results, const struct page_options *options);
/* The GPUs, and one line for each kernel. */
void page_print_overview(FILE *out, const struct kernel_results *results, const struct page_options *options);
/* A line for each kernel: how long it took, and did in the baseline. Nothing without one. */
void page_print_baseline(FILE *out, const struct kernel_results *results, const struct page_options *options);
void page_print_session(FILE *out, const struct kernel_results *results, bool csv);

#endif
