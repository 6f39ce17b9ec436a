/* What the program does differently when it is called nsys, nsys-ui or nvprof. */
#ifndef SONDE_CLI_LINKS_NSYS_LINK_H
#define SONDE_CLI_LINKS_NSYS_LINK_H

#include "cli/command.h"

/* One line that holds a version where scripts look for nsys's. */
void nsys_print_version(struct cli *cli);

#endif
