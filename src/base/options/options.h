/* Command-line options as data. One table per command says everything about its
 * options: parsing, --help, the man page and shell completion come from it.
 *
 * `--name=value`, `--name value`, `-n value`, `-nvalue`; an option with a `bare` value
 * may stand alone and takes the following word only if that is one of its values.
 * A name may be cut short as long as only one option begins so. `--` ends the options.
 * The last use of an option wins, unless it collects. */
#ifndef SONDE_BASE_OPTIONS_OPTIONS_H
#define SONDE_BASE_OPTIONS_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/macros.h"

/* What the field at `offset` is. */
enum option_type {
	OPTION_TEXT,    /* const char * */
	OPTION_TEXTS,   /* struct option_texts: one more with each use */
	OPTION_BOOL,    /* bool */
	OPTION_INTEGER, /* int64_t, from min to max */
	OPTION_SECONDS, /* int64_t nanoseconds, given in seconds; min and max in ns */
	OPTION_CHOICE,  /* int: which of `values` */
	OPTION_CHOICES, /* uint64_t: a bit for each of `values` in the comma list */
};

/* Its type in C. */
#define OPTION_FIELD_TEXT const char *
#define OPTION_FIELD_TEXTS struct option_texts
#define OPTION_FIELD_BOOL bool
#define OPTION_FIELD_INTEGER int64_t
#define OPTION_FIELD_SECONDS int64_t
#define OPTION_FIELD_CHOICE int
#define OPTION_FIELD_CHOICES uint64_t

/* Options that are not BUILT are checked and remembered but not stored. */
enum option_state {
	OPTION_BUILT,
	OPTION_PLANNED,   /* the capability does not exist yet */
	OPTION_ELSEWHERE, /* has no meaning on Linux servers */
	OPTION_OBSOLETE,  /* accepted for old scripts; does nothing */
};

enum option_flags {
	OPTION_COMMAS = 1,         /* TEXT: a comma list, each piece one of `values` */
	OPTION_HIDDEN = 2,         /* left out of help and completion */
	OPTION_OWN_FLAGS = 1 << 8, /* from here on: the command's own */
};

struct option_texts {
	const char **items;
	size_t count;
};

struct option_spec {
	const char *name; /* without the dashes */
	char letter;      /* 0: none */
	enum option_type type;
	enum option_state state;
	unsigned flags;
	size_t offset;       /* of the field in the command's own struct */
	const char *initial; /* applied before parsing, shown as the default */
	const char *shown;   /* shown as the default where `initial` is not it */
	/* Valid values, separated by '|'. "word[:N]" may and "word:N" must carry a number,
	 * "N" is a number, "TEXT" anything. NULL: any text. */
	const char *values;
	const char *bare;    /* the value when the option stands alone */
	const char *off;     /* the value that asks for nothing, so that not having it is no loss */
	int64_t min, max;    /* both 0: not negative, no upper limit */
	const char *aliases; /* other spellings, separated by '|' */
	const char *arg;     /* what the value is called in help */
	const char *tag;     /* --help=TAG shows one group */
	const char *help;
};

struct option_table {
	const struct option_spec *specs;
	size_t count;
};

/* clang-format off */
#define OPTION_TABLE(specs) { (specs), COUNT_OF(specs) }
/* clang-format on */

/* One option found on the command line. */
struct option_use {
	const struct option_spec *spec;
	const char *value;
};

struct options_parsed {
	struct option_use *uses;
	size_t use_count;
	char **words; /* what is not an option; ends with NULL */
	int word_count;
	bool help;            /* -h or --help */
	const char *help_tag; /* --help=TAG */
	void **owned;
	size_t owned_count;
};

/* clang-format off */
#define OPTIONS_PARSED_INIT { NULL, 0, NULL, 0, false, NULL, NULL, 0 }
/* clang-format on */

enum options_order {
	OPTIONS_ANYWHERE,  /* words and options may be mixed */
	OPTIONS_THEN_WORDS /* the first word ends the options: they belong to a program */
};

/* Fills the command's struct `fields` with the table's defaults, then with what argv (without
 * the command's name) says. Texts in `fields` point into argv or into `ret`, which the
 * caller releases. -EINVAL and one sentence on anything that is not valid. After --help
 * nothing more is looked at. */
int options_parse(const struct option_table *table, enum options_order order, int argc, char **argv, void *fields,
		  struct options_parsed *ret, struct error *err);
void options_release(struct options_parsed *parsed);

/* The last use of an option, or NULL. */
const struct option_use *options_find_use(const struct options_parsed *parsed, const char *name);
const struct option_spec *options_find(const struct option_table *table, const char *name, size_t len);

/* Walks a '|' separated list: the next piece's length, and *list moved behind it;
 * 0 at the end. `*piece` is where the piece begins. */
size_t option_next_value(const char **list, const char **piece);
/* How much of a piece is a plain word: without "[:N]" or ":N", 0 for "N" and "TEXT". */
size_t option_value_word(const char *piece, size_t len);
/* Is value (len bytes) one of `values`? Its index, or -1. */
int option_match(const char *values, const char *value, size_t len);
/* Valid values of an option: its own, "true|false" for a BOOL, or NULL. */
const char *option_values(const struct option_spec *spec);
/* The default as shown in help, or NULL. */
const char *option_shown_default(const struct option_spec *spec);
/* Was the value given one that asks for nothing? */
bool option_use_is_off(const struct option_use *use);

#endif
