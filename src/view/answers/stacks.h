#ifndef SONDE_VIEW_ANSWERS_STACKS_H
#define SONDE_VIEW_ANSWERS_STACKS_H

#include "view/request/json_out.h"
#include "view/report/view_report.h"

/* The key stack: what the functions are called, the innermost first. None where the stacks cannot be had. -ENOMEM. */
int stack_put(struct json_out *j, struct view_report *r, int64_t id);

#endif
