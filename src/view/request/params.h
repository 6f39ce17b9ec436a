/* What a request's address says. It comes from anywhere: everything is checked. */
#ifndef SONDE_VIEW_REQUEST_PARAMS_H
#define SONDE_VIEW_REQUEST_PARAMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

#define PARAMS_MAX 16

struct view_report;

struct params {
	char *path; /* decoded, begins with '/' */
	struct param {
		const char *name;
		const char *value;
		bool used;
	} items[PARAMS_MAX];
	unsigned count;
	char *room;
	struct view_report *held; /* taken for the request */
};

/* -EINVAL and a sentence: not a path, bad escapes, a parameter twice, too many. */
int params_parse(struct params *ret, const char *uri, struct error *err);
void params_release(struct params *p);

/* NULL where it is not given. */
const char *params_text(struct params *p, const char *name);
/* -EINVAL and a sentence where it is missing or not a whole number between the two. */
int params_integer(struct params *p, const char *name, int64_t least, int64_t most, int64_t *ret, struct error *err);
/* The same, but may be missing. */
int params_integer_or(struct params *p, const char *name, int64_t least, int64_t most, int64_t otherwise, int64_t *ret, struct error *err);
/* -EINVAL where a parameter was given that nobody asked for. */
int params_all_used(const struct params *p, struct error *err);

/* Reads a whole number at *at and moves it behind. False where there is none or it is out of range. */
bool params_number(const char **at, int64_t least, int64_t most, int64_t *ret);

#endif
