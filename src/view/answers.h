/* The requests of docs/view.md. */
#ifndef SONDE_VIEW_ANSWERS_H
#define SONDE_VIEW_ANSWERS_H

#include "view/answer.h"

int answer_reports(struct view *v, struct params *p, struct answer *a, struct error *err);
int answer_rows(struct view *v, struct params *p, struct answer *a, struct error *err);
int answer_tiles(struct view *v, struct params *p, struct answer *a, struct error *err);
int answer_names(struct view *v, struct params *p, struct answer *a, struct error *err);
int answer_slice(struct view *v, struct params *p, struct answer *a, struct error *err);
int answer_alike(struct view *v, struct params *p, struct answer *a, struct error *err);
int answer_find(struct view *v, struct params *p, struct answer *a, struct error *err);
int answer_sums(struct view *v, struct params *p, struct answer *a, struct error *err);
int answer_events(struct view *v, struct params *p, struct answer *a, struct error *err);
int answer_stats(struct view *v, struct params *p, struct answer *a, struct error *err);
int answer_flame(struct view *v, struct params *p, struct answer *a, struct error *err);
int answer_tree(struct view *v, struct params *p, struct answer *a, struct error *err);
int answer_session(struct view *v, struct params *p, struct answer *a, struct error *err);
int answer_diagnostics(struct view *v, struct params *p, struct answer *a, struct error *err);
int answer_findings(struct view *v, struct params *p, struct answer *a, struct error *err);
int answer_kernels(struct view *v, struct params *p, struct answer *a, struct error *err);
int answer_kernel(struct view *v, struct params *p, struct answer *a, struct error *err);
int answer_values(struct view *v, struct params *p, struct answer *a, struct error *err);
int answer_variation(struct view *v, struct params *p, struct answer *a, struct error *err);
int answer_groups(struct view *v, struct params *p, struct answer *a, struct error *err);
int answer_source(struct view *v, struct params *p, struct answer *a, struct error *err);
int answer_explain(struct view *v, struct params *p, struct answer *a, struct error *err);
int answer_counters(struct view *v, struct params *p, struct answer *a, struct error *err);

#endif
