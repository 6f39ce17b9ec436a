/* From what a user asks for (sets, sections, metrics) to one list of metrics, each once. */
#ifndef SONDE_KERNEL_CHOICE_CHOICE_H
#define SONDE_KERNEL_CHOICE_CHOICE_H

#include "base/keymap.h"
#include "kernel/choice/catalog.h"
#include "kernel/metrics/glossary.h"
#include "kernel/sections/section.h"

enum metric_origin {
	METRIC_COUNTED, /* by the hardware, in passes */
	METRIC_SAMPLED, /* by the hardware, over time */
	METRIC_OWN,     /* made by Sonde, from launches, attributes, instructions and samples */
	METRIC_ORIGINS
};

struct selected_metric {
	char *name; /* without "pmsampling:" */
	enum metric_origin origin;
};

/* Where names are looked up; nothing of it is kept. */
struct choice_sources {
	const struct sections *sections;
	const struct glossary *glossary;
	struct catalog *counted;
	struct catalog *sampled; /* NULL: the chip has none */
	unsigned cc;
};

struct choice_request {
	const char *const *sets; /* "basic" where all three are empty */
	size_t set_count;
	const char *const *sections; /* ids, or regex:EXPRESSION */
	size_t section_count;
	const char *const *metrics; /* names, regex:, group:, breakdown:, pmsampling: */
	size_t metric_count;
	bool companions; /* also the other rollups of what sections show */
};

struct choice {
	struct selected_metric *metrics; /* in the order in which they were asked for */
	size_t count;
	const struct section **sections; /* in their own order */
	size_t section_count;
	char **notes; /* sentences without a full stop: what was meant, what is not there */
	size_t note_count;
	struct keymap names; /* numbered as the metrics are */
};

/* Ten times major plus minor of a chip's compute capability, or 0. */
unsigned chip_capability(const char *chip);

/* An unknown set, section or metric that was asked for is an error with the nearest names; one that a section asks for is a note. */
int choice_make(struct choice *ret, const struct choice_sources *sources, const struct choice_request *request, struct error *err);
/* Marks the sections of a set, and those of one name or of regex:EXPRESSION; without any an error with the nearest names. */
int choice_mark_set(const struct sections *all, const char *name, bool *marks, struct error *err);
int choice_mark_section(const struct sections *all, const char *name, bool *marks, struct error *err);
void choice_release(struct choice *c);
bool choice_has(const struct choice *c, const char *name);
/* Names of one origin, for a schedule. The caller frees the list, not the names. */
const char **choice_names(const struct choice *c, enum metric_origin origin, size_t *ret_count);

#endif
