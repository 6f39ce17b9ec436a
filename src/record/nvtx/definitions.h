/* Names given by processes: domains, registered strings, categories, resources,
 * schemas, counters. */
#ifndef SONDE_RECORD_NVTX_DEFINITIONS_H
#define SONDE_RECORD_NVTX_DEFINITIONS_H

#include "record/session/session.h"

struct definitions *definitions_new(uint64_t process);
void definitions_ref(struct definitions *d);
void definitions_unref(struct definitions *d);
/* A forked child sees what its parent had named: ids below the limits. */
void definitions_inherit(struct definitions *d, struct definitions *parent, uint64_t string_limit, uint64_t domain_limit);

/* The report's id for a registered string: a stand-in when its text has not come
 * yet. 0 only without memory. */
uint64_t definitions_string(struct session *s, struct definitions *d, uint64_t id);
/* The uid of a domain; 0 for the default domain. */
uint64_t definitions_domain(struct session *s, struct definitions *d, uint64_t id);
const struct counter_text *definitions_counter(struct definitions *d, uint64_t id);

/* One RECORD_DEFINE with its body. -EBADMSG when it makes no sense. */
int definitions_record(struct session *s, struct traced_process *p, struct traced_thread *t, const struct record_define *record,
		       const uint8_t *body, size_t size, int64_t time);

/* The bodies of DEFINE_SCHEMA and DEFINE_ENUM. */
int schema_record(struct session *s, uint64_t process, uint64_t domain, uint64_t id, const uint8_t *body, size_t size);
int enum_record(struct session *s, uint64_t process, uint64_t domain, uint64_t id, const uint8_t *body, size_t size);

#endif
