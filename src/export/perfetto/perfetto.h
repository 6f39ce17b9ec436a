/* Perfetto's trace format: packets with TrackEvents. The numbers of fields are those of its public .proto files.
 * Packets are in any order: Perfetto sorts them by time, and keeps the order of those of the same time. */
#ifndef SONDE_EXPORT_PERFETTO_PERFETTO_H
#define SONDE_EXPORT_PERFETTO_PERFETTO_H

#include "base/idmap.h"
#include "export/perfetto/protobuf.h"
#include "export/timeline.h"

/* clang-format off */
enum {
	PACKET_CLOCK_SNAPSHOT = 6, PACKET_TIMESTAMP = 8, PACKET_SEQUENCE = 10, PACKET_TRACK_EVENT = 11, PACKET_INTERNED = 12,
	PACKET_SEQUENCE_FLAGS = 13, PACKET_DEFAULTS = 59, PACKET_TRACK_DESCRIPTOR = 60, PACKET_PERF_SAMPLE = 66,
	PACKET_FIRST_ON_SEQUENCE = 87,
	DEFAULTS_CLOCK = 58
};
enum {
	INTERNED_CATEGORY = 1, INTERNED_NAME = 2, INTERNED_ANNOTATION = 3, INTERNED_FUNCTION = 5, INTERNED_FRAME = 6,
	INTERNED_CALLSTACK = 7, INTERNED_PATH = 17, INTERNED_MAPPING = 19, INTERNED_VALUE = 29,
	INTERNED_KINDS = 30
};
enum {
	EVENT_FIELD_CATEGORY = 3, EVENT_FIELD_ANNOTATION = 4, EVENT_FIELD_TYPE = 9, EVENT_FIELD_NAME = 10,
	EVENT_FIELD_TRACK = 11, EVENT_FIELD_COUNTER = 30, EVENT_FIELD_REAL_COUNTER = 44, EVENT_FIELD_FLOW = 47,
	EVENT_FIELD_LAST_FLOW = 48
};
/* clang-format on */
enum { EVENT_TYPE_BEGIN = 1, EVENT_TYPE_END = 2, EVENT_TYPE_INSTANT = 3, EVENT_TYPE_COUNTER = 4 };
/* clang-format off */
enum { ANNOTATION_NAME = 1, ANNOTATION_UINT = 3, ANNOTATION_INT = 4, ANNOTATION_REAL = 5, ANNOTATION_TEXT = 6,
       ANNOTATION_JSON = 9, ANNOTATION_VALUE = 17 };
enum { TRACK_FIELD_UUID = 1, TRACK_FIELD_NAME = 2, TRACK_FIELD_PROCESS = 3, TRACK_FIELD_THREAD = 4, TRACK_FIELD_PARENT = 5,
       TRACK_FIELD_COUNTER = 8 };
/* clang-format on */

struct perfetto {
	struct export *e;
	struct timeline t;
	int64_t base;                     /* added to times */
	struct proto out;                 /* packets to be written */
	struct proto event;               /* the message of the packet being made */
	struct proto interned;            /* what it is the first to refer to */
	struct idmap ids[INTERNED_KINDS]; /* interning ids by kind and key */
	struct idmap tracks;              /* uuids of processes, threads, GPUs, contexts */
	uint64_t last_uuid;
	int result;
};

/* 0: no memory (and `result` is set). */
uint32_t perfetto_number(struct perfetto *p, struct idmap *map, uint64_t key, bool *ret_new);

/* Interning ids; the text is only looked at when it is new. */
uint64_t perfetto_intern(struct perfetto *p, unsigned kind, uint64_t key, const char *text, size_t len);

/* Parents of tracks; their descriptors are written when first asked for. 0: none. */
uint64_t perfetto_process(struct perfetto *p, int64_t process);
uint64_t perfetto_thread(struct perfetto *p, int64_t thread);
uint64_t perfetto_gpu(struct perfetto *p, int64_t gpu);
uint64_t perfetto_context(struct perfetto *p, const int64_t *stream);
/* A new track. */
uint64_t perfetto_track(struct perfetto *p, uint64_t parent, const char *name);
uint64_t perfetto_counter_track(struct perfetto *p, uint64_t parent, const char *name, const char *unit);

/* Writes p->event and p->interned as a packet and clears them. */
void perfetto_packet(struct perfetto *p, int64_t time, unsigned field);
void perfetto_end_slice(struct perfetto *p, uint64_t track, int64_t time);
/* The beginning of an event in p->event. */
void perfetto_event_head(struct perfetto *p, unsigned type, uint64_t track);
/* Writes out what has come together. */
int perfetto_flush(struct perfetto *p, const char *doing, struct error *err);

void perfetto_annotate_number(struct perfetto *p, const char *name, int64_t value);
void perfetto_annotate_text(struct perfetto *p, const char *name, const char *text, size_t len);

/* events.c: p->event becomes that of the reader's row. */
void perfetto_event(struct perfetto *p, const struct event_reader *r, unsigned type, uint64_t track);

/* rows.c: slices and instants. cpu.c: counters, samples, states of threads. */
int perfetto_rows(struct perfetto *p, struct error *err);
int perfetto_counters(struct perfetto *p, struct error *err);
int perfetto_samples(struct perfetto *p, struct error *err);
int perfetto_states(struct perfetto *p, struct error *err);

#endif
