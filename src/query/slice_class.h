/* What imported traces have besides what has tables of its own: slices and instants, told apart by class. */
#ifndef SONDE_QUERY_SLICE_CLASS_H
#define SONDE_QUERY_SLICE_CLASS_H

#include "query/query.h"

/* Whether the report may have slices of a class; the pattern has * and ?. Looks at names only, so that reports
 * about them cost nothing where there are none. */
int query_has_class(struct query *q, const char *pattern);
/* The same for the names of NVTX ranges that were recorded. */
int query_has_range(struct query *q, const char *pattern);

#endif
