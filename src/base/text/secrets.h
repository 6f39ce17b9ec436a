/* What a report may hold of the environment and of command lines. */
#ifndef SONDE_BASE_TEXT_SECRETS_H
#define SONDE_BASE_TEXT_SECRETS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

enum store_environment {
	STORE_NONE, /* no environment; command lines as with SAFE */
	STORE_SAFE, /* variables that say how the program ran, and nothing that looks like a secret */
	STORE_ALL   /* as it is */
};

/* As --store-environment has them. */
#define STORE_ENVIRONMENT_NAMES "none|safe|all"

/* What stands where a secret stood. */
#define SECRET_REPLACED "<secret>"

/* Whether what has such a name is a secret: HF_TOKEN, --db-password, api_key. */
bool secret_name(const char *name, size_t len);
/* ... unless its value is a number or a switch: --sort-key 2. */
bool secret_name_is_weak(const char *name, size_t len);
/* Whether a text looks like one: a URL with a password, a key in one of the usual forms, long and random. */
bool secret_value(const char *text, size_t len);

/* Whether a variable of that name says something about how a program runs. */
bool environment_explains(const char *name, size_t len);
/* "NAME=value" as it may be stored, in ret. False: not at all. *changed counts values replaced. */
bool environment_clean(const char *variable, struct buf *ret, size_t *changed);

/* Words of a command line, one after the other: what is secret may be the word behind its name. A word may be a line of a shell, or
 * a whole command line in one text. */
struct secret_words {
	bool value_follows;
	bool weak;       /* the name of that value */
	size_t replaced; /* so far */
};

int secret_words_clean(struct secret_words *w, const char *word, struct buf *ret);

#endif
