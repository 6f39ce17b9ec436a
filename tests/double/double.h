/* The double of CUPTI from within. One lock; never held while the client's callbacks run, but for the one that asks for a
 * buffer. */
#ifndef SONDE_TESTS_DOUBLE_DOUBLE_H
#define SONDE_TESTS_DOUBLE_DOUBLE_H

#include <pthread.h>
#include <stdbool.h>

#include "script.h"
#include "vendor/cupti/cupti.h"

enum { DOMAIN_DRIVER = 1, DOMAIN_RUNTIME = 2, DOMAIN_RESOURCE = 3, DOMAIN_COUNT = 7 };
enum {
#define RECORD(NAME, kind) RECORD_KIND_##NAME = (kind),
#define FIELD(since, bytes, key)
#define RECORD_END
#include "double_records.def"
#undef RECORD
#undef FIELD
#undef RECORD_END
	KIND_COUNT = 64
};
#define CALL_COUNT 1024u

enum flush_by { FLUSH_BY_WORKER, FLUSH_BY_CALLER, FLUSH_LATE };

struct settings {
	uint32_t version;
	char holder[64]; /* the tool that holds CUPTI, "" = none */
	enum flush_by flush;
	bool swapped;     /* buffers come in another order */
	unsigned shuffle; /* records of a buffer change places within so many */
	unsigned drop;    /* every so many GPU records one is lost */
	unsigned workers;
	unsigned slow; /* us that a thread is in CUPTI's own code, before and after a callback */
	unsigned finalize_ms, deliver_ms, flush_ms;
	double drift; /* of our own clock, parts per million */
	int64_t offset;
};

struct call_name {
	int domain;
	uint32_t id;
	const char *name;
};

struct client {
	cupti_callback *callback;
	void *user;
	cupti_buffer_requested *requested;
	cupti_buffer_completed *completed;
	uint64_t (*stamp)(void);
	bool callbacks[DOMAIN_COUNT][CALL_COUNT];
	bool calls[2][CALL_COUNT]; /* records of: driver, runtime */
	bool kinds[KIND_COUNT];
	bool latencies, event_times, system_tids;
};

struct cupti_double {
	pthread_mutex_t lock;
	struct settings settings;
	struct client client;
	_Atomic uint32_t correlation;
	bool cuda_ready;
};

extern struct cupti_double cupti_double;

/* double_settings.c */
void double_settings_read(void);
/* What the script says the function returns, or CUPTI_OK. Writes the call into the log. */
int double_called(const char *function, const char *format, ...) __attribute__((format(printf, 2, 3)));
void double_log(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* double_threads.c */
void double_thread_enters(void);
void double_thread_leaves(void);
void double_sleep_ms(unsigned ms);
void double_finalize_begin(void);
void double_finalize_end(void);

/* double_clock.c */
uint64_t double_stamp(void);
uint64_t double_units(int64_t ns);

/* double_records.c. `values` by enum script_key. Returns the size. */
size_t double_record_size(unsigned kind);
unsigned double_record_named(const char *name);
size_t double_record_make(unsigned kind, const int64_t *values, uint8_t *ret_bytes);

/* double_buffers.c. `ready`: when CUPTI has it, 0 = now; times at `zero_at` are made 0 where it is fetched before. */
#define RECORD_MAX 320
void double_append(unsigned kind, const int64_t *values, uint64_t ready);
void double_workers_start(void);
void double_flush(bool forced);
size_t double_dropped(void);
bool double_delivers(void);

/* double_driver.c */
const struct call_name *double_call_named(const char *name);
const struct call_name *double_call(int domain, uint32_t id);
void double_devices_report(void);
/* Times of before mean nothing any more. */
void double_streams_forget(void);

#endif
