/* Stand-ins for the recorder and the report's recovery: they keep what they were
 * asked and answer what the test has set. */
#ifndef TESTS_UNIT_CLI_DOUBLES_H
#define TESTS_UNIT_CLI_DOUBLES_H

#include "record/profile_options.h"
#include "record/record.h"

struct record_double {
	int calls;
	struct profile_options options; /* its texts live until the command returns */
	char env[4][64];
	char argv[4][64];
	int argc;
	char path[RECORD_PATH_SIZE];
	/* The answer. */
	int returns;
	int started;
	int exit_status;
};

extern struct record_double record_double;

#endif
