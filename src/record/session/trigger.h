/* What makes the flight recorder write a report, as the drain thread sees it: a mark, a range that took long, one that does not
 * end. The other thread is told through a pipe. */
#ifndef SONDE_RECORD_SESSION_TRIGGER_H
#define SONDE_RECORD_SESSION_TRIGGER_H

#include <stddef.h>
#include <stdint.h>

#include "base/idmap.h"
#include "record/profile_options.h"

struct session;

/* Durations that the median is of, and how many there must be. */
#define TRIGGER_DURATIONS 127u
#define TRIGGER_FEWEST 10u
/* Texts of registered strings may come after their first use, under another id. */
#define TRIGGER_IDS 16u

enum trigger_kind { TRIGGER_COMMAND, TRIGGER_SIGNAL, TRIGGER_MARK, TRIGGER_SLOW, TRIGGER_CRASH };

struct trigger_message {
	int64_t time; /* when it happened, of the report: the recorder may hear of it seconds later */
	uint32_t kind;
	char text[244]; /* what happened */
};

struct trigger_name {
	const struct nvtx_capture *wanted;
	uint64_t ids[TRIGGER_IDS];
	uint32_t id_count;
	struct idmap domains; /* uids of those that have the name */
};

struct trigger_slow {
	struct trigger_name name;
	double factor;
	int64_t recent[TRIGGER_DURATIONS]; /* in order of their ends */
	int64_t sorted[TRIGGER_DURATIONS];
	uint32_t count;
	uint32_t next;
};

struct triggers {
	int fd;
	int64_t last_check;
	int64_t last_renewal;
	uint32_t unheard; /* messages that found the pipe full */
	struct trigger_name marks[FLIGHT_NAMES];
	uint32_t mark_count;
	struct trigger_slow slow[FLIGHT_NAMES];
	uint32_t slow_count;
};

/* `fd` does not block and gets struct trigger_message. NULL without memory. */
struct triggers *triggers_new(struct session *s, const struct flight_options *o, int fd);
void triggers_free(struct triggers *t);

/* Names are string ids, domains are uids. A range that was told of while it was open is no news when it ends. */
void trigger_mark(struct session *s, uint64_t domain, uint64_t name, int64_t time);
void trigger_range(struct session *s, uint64_t domain, uint64_t name, int64_t start, int64_t end, int reported);
void trigger_string(struct session *s, uint64_t id, const char *text, size_t size);
void trigger_domain(struct session *s, uint64_t uid, const char *text, size_t size);
/* When all rings have been read to where they stood at `time`: ranges that were open for too long then. */
void trigger_check_open(struct session *s, int64_t time);

/* Now and then: names that pass (report/writer.h) get new ids while their ranges are open. */
void trigger_renew_names(struct session *s);

/* The median of what came last; 0 while there are too few. */
int64_t trigger_median(const struct trigger_slow *slow);
void trigger_add_duration(struct trigger_slow *slow, int64_t duration);

#endif
