/* JSON, piece by piece. */
#ifndef SONDE_KERNEL_PAGES_JSON_H
#define SONDE_KERNEL_PAGES_JSON_H

#include <stdio.h>

/* Behind another member: ', "name": "text"'. */
void json_member(FILE *out, const char *name, const char *text);
/* null where it is no number. */
void json_number(FILE *out, double value);

#endif
