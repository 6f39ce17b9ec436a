/* Whether a report of statistics has anything to read. */
#ifndef SONDE_STATS_HAS_DATA_H
#define SONDE_STATS_HAS_DATA_H

#include <stdbool.h>

#include "query/query.h"
#include "stats/report_file.h"

/* One of what it requires is there; it may still have no rows. Looks at what the report file lists, not at rows. */
bool report_file_has_data(const struct report_file *file, struct query *q);
/* All that it requires are slices of imported traces: a recording of ours will never have them. */
bool report_file_is_of_imports(const struct report_file *file);

#endif
