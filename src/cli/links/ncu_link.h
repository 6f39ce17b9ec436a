/* What the program does differently when it is called ncu: docs/ncu.md. */
#ifndef SONDE_CLI_LINKS_NCU_LINK_H
#define SONDE_CLI_LINKS_NCU_LINK_H

#include "base/error.h"
#include "cli/command.h"
#include "cli/arguments/string_list.h"

/* The whole command line: argv[0] is the program. */
int ncu_main(struct cli *cli, int argc, char **argv);
/* Lines that hold a version where scripts look for ncu's. */
void ncu_print_version(struct cli *cli);

/* Appends the options that ncu's file of settings has for this command line (argv: what follows the program's name). A file
 * that is not there has none. */
int ncu_config_read(int argc, char **argv, struct string_list *words, struct error *err);

#endif
