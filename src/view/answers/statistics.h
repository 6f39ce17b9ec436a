#ifndef SONDE_VIEW_ANSWERS_STATISTICS_H
#define SONDE_VIEW_ANSWERS_STATISTICS_H

#include "base/error.h"
#include "view/request/json_out.h"
#include "view/report/view_report.h"

/* The key instead: the first lines of the reports that have any, where there are no findings. */
int stats_put_instead(struct json_out *j, struct view_report *r, int64_t from, int64_t to, struct error *err);

#endif
