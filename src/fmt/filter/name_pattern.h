/* Names as people choose them on a command line: as they are, or by a regular expression. Agents and the command line use the same. */
#ifndef SONDE_FMT_FILTER_NAME_PATTERN_H
#define SONDE_FMT_FILTER_NAME_PATTERN_H

#include <regex.h>
#include <stddef.h>

struct name_pattern {
	char *text; /* the name; NULL where it is an expression */
	regex_t regex;
	int is_regex;
	int is_negated; /* ^(?!...): all but those */
};

/* Whether an expression has to match the whole name, or some part of it. */
enum name_match { NAME_MATCH_PART, NAME_MATCH_WHOLE };

/* -1: `why` says what is wrong. Of expressions as other tools take them, \d, (?:...) and a leading ^(?!...) are understood, too. */
int name_pattern_exact(struct name_pattern *ret, const char *text);
int name_pattern_regex(struct name_pattern *ret, const char *expression, enum name_match match, char *why, size_t why_size);
/* A name, or an expression that `regex:` stands before. */
int name_pattern_parse(struct name_pattern *ret, const char *text, char *why, size_t why_size);
int name_pattern_matches(const struct name_pattern *p, const char *name);
void name_pattern_release(struct name_pattern *p);

#endif
