/* The end of a recording. */
#ifndef SONDE_RECORD_FINISH_H
#define SONDE_RECORD_FINISH_H

#include "record/recorder.h"

/* Reads the rest, writes the last rows, completes the report and fills the answer to the
 * command line. */
void recorder_finish(struct recorder *r, struct control_message *ret);

#endif
