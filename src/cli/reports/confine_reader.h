/* What the commands that read reports keep when they confine themselves (base/system/confine.h). */
#ifndef SONDE_CLI_REPORTS_CONFINE_READER_H
#define SONDE_CLI_REPORTS_CONFINE_READER_H

#include "base/system/confine.h"
#include "cli/command.h"

/* Reads anything, as lines of code are looked for in the files of programs, wherever those are; writes temporary files and
 * the cache of those lines. */
void confine_reader(struct confinement *c);
/* The same, and may start the disassembler where there is one: it is then confined, too. */
void confine_reader_of_code(struct confinement *c);
/* Unless the process has other work to do later. */
void confine_command(const struct cli *cli, struct confinement *c);

#endif
