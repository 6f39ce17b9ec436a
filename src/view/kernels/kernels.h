/* What was counted of kernels, as the page asks for it: read once for each report, and the texts of share/ once for all. */
#ifndef SONDE_VIEW_KERNELS_KERNELS_H
#define SONDE_VIEW_KERNELS_KERNELS_H

#include "kernel/results/baseline.h"
#include "kernel/metrics/glossary.h"
#include "kernel/pages/page.h"
#include "kernel/results/results.h"
#include "kernel/sections/section.h"
#include "view/request/answer.h"
#include "view/request/json_out.h"

struct view_report;

struct view_texts {
	struct sections sections;
	struct glossary glossary;
};

/* -ENOENT and a sentence where share/ is missing. They are the view's. */
int view_texts(struct view *v, const struct view_texts **ret, struct error *err);
void view_texts_release(struct view *v);

/* With derived values and rules, and operators of that trace (NULL: none); they are the recording's. */
int view_report_kernels(struct view_report *r, const struct sections *texts, const char *operators, struct kernel_results **ret,
			struct error *err);
void view_report_kernels_release(struct view_report *r);

/* A kernel, what it is shown with and what it is compared with, for one request. */
struct kernel_view {
	struct view *view;
	const struct view_texts *texts;
	struct kernel_results *results;
	struct kernel_result *k;             /* NULL: the request is for all */
	unsigned cc;                         /* 10 x major + minor; 0: not known */
	struct view_report *other;           /* of the baseline; NULL: none */
	struct baseline baseline;            /* its results are the recording's */
	const struct kernel_result *against; /* one kernel of it for all; NULL: each its like */
	struct page_options options;
	const struct section **selected;
	struct json_out *j;
};

/* Parameters "report", with `one` "kernel" (its place in the report), "baseline" (a report) and "against" (place of a kernel of it). */
int kernel_view_begin(struct kernel_view *ret, struct view *v, struct params *p, bool one, struct error *err);
void kernel_view_end(struct kernel_view *kv);
/* What the kernel is compared with from here on. */
void kernel_view_compare(struct kernel_view *kv, const struct kernel_result *k);
/* The sections that something was counted for. -ENOMEM. */
int kernel_view_choose(struct kernel_view *kv);

/* Whether a formula has a value, and which; `before` in the baseline, `warm` with warm caches. */
double kernel_view_number(const struct kernel_view *kv, const struct formula *f);
double kernel_view_before(struct kernel_view *kv, const struct formula *f);
double kernel_view_warm(const struct kernel_view *kv, const struct formula *f);

/* Which launches are typical of their kernel: options.typical. -ENOMEM. */
int kernel_view_look_around(struct kernel_view *kv);

/* Columns of the list, in base units; the first is the time. */
#define KERNEL_COLUMNS 6
extern const struct kernel_column {
	const char *key, *metric;
} kernel_columns[KERNEL_COLUMNS];

/* What the baseline has of a kernel. */
struct kernel_before {
	size_t matches;
	double numbers[KERNEL_COLUMNS];
};
void kernel_view_find_before(struct kernel_view *kv, const struct kernel_result *k, struct kernel_before *ret);
/* Of each kernel; launches that are alike are compared with the same. The caller frees it; NULL: no memory. */
struct kernel_before *kernel_view_all_before(struct kernel_view *kv);

void put_size_triple(struct json_out *j, const char *key, const uint32_t values[3]);

/* With all digits. */
void put_json_number(struct json_out *j, const char *key, double value);
/* "key": { value in base units, its text as the command line prints it, the same with warm caches and before }. Without a key where it is NULL. -ENOMEM. */
int put_metric_row(struct kernel_view *kv, const char *key, const struct page_row *row);

/* blocks.c: everything of a section; -ENOMEM. */
int put_section(struct kernel_view *kv, const struct page_section *derived);
/* occupancy.c: what other block sizes, registers and shared memory would give. */
void put_occupancy(struct kernel_view *kv);

#endif
