/* The end of a recording. */
#ifndef SONDE_RECORD_CONTROL_FINISH_H
#define SONDE_RECORD_CONTROL_FINISH_H

#include "record/control/recorder.h"

/* Reads the rest, writes the last rows, completes the report and fills the answer to the
 * command line. */
void recorder_finish(struct recorder *r, struct control_message *ret);
/* The second half of it, where reading has ended: also in a copy of the process. */
void recorder_write_report(struct recorder *r, struct control_message *ret);
/* The end of a session in which nothing is being recorded. */
void recorder_finish_idle(struct recorder *r, struct control_message *ret);

#endif
