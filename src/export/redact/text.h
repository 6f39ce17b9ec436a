/* Texts of a report without what they tell of people, machines and places. The same always becomes the same, and different things
 * stay different, so that what is counted by name still is. */
#ifndef SONDE_EXPORT_REDACT_TEXT_H
#define SONDE_EXPORT_REDACT_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

/* How freely paths are looked for in a text. */
enum text_role {
	TEXT_UNUSED,  /* no row that is kept has it */
	TEXT_KEPT,    /* a word of Sonde's or of CUDA's */
	TEXT_NAME,    /* of a range, a function ...: paths that look like those of files, and those below folders that are known */
	TEXT_PROSE,   /* sentences: all absolute paths */
	TEXT_INLINED, /* lines of a function, a path and a number, with tabs between */
	TEXT_PATH,    /* is a path */
	TEXT_LINE,    /* a command line: all paths, and secrets */
	TEXT_WORDS,   /* the same as a list in JSON */
	TEXT_HOST,    /* is the name of a machine */
};

struct redactor;

struct redactor *redactor_new(void);
void redactor_free(struct redactor *r);

/* What is to be replaced wherever it stands; what is too common to tell anything is not. */
int redactor_add_host(struct redactor *r, const char *name);
int redactor_add_user(struct redactor *r, const char *name);
/* A folder whose own name tells something: of the user, or that the program ran in. */
int redactor_add_folder(struct redactor *r, const char *path);

int redactor_text(struct redactor *r, enum text_role role, const char *text, size_t len, struct buf *ret);
/* Bytes of which the layout is not known: what is to be replaced is overwritten in place. */
void redactor_blob(struct redactor *r, char *data, size_t size);

#endif
