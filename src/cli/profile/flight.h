/* The options of the flight recorder: docs/flight.md */
#ifndef SONDE_CLI_PROFILE_FLIGHT_H
#define SONDE_CLI_PROFILE_FLIGHT_H

#include "cli/command.h"
#include "cli/profile/table.h"
#include "record/record.h"

/* Returns 0 or -EINVAL. NVTX is recorded where a trigger needs it. */
int profile_flight_fill(struct profile_options *o, const struct profile_fields *fields, const struct options_parsed *parsed,
			struct error *err);
/* A line for each report. */
void profile_flight_print(struct cli *cli, const struct record_result *result);

#endif
