/* The JSON that torch.profiler (Kineto) writes, which Chrome's trace viewer, Perfetto and HTA read. */
#ifndef SONDE_EXPORT_CHROME_CHROME_H
#define SONDE_EXPORT_CHROME_CHROME_H

#include "base/idmap.h"
#include "export/json_text.h"
#include "export/chrome/kineto_name.h"
#include "export/timeline.h"

struct chrome {
	struct export *e;
	struct timeline t;
	FILE *out;
	int64_t base;   /* added to times, so that they count from baseTimeNanoseconds */
	bool any_event; /* the next one needs a comma */
	bool any_arg;
	bool imported; /* from a trace of this kind, which has its own annotations */
	/* Processes with GPU work: devices of all but the first have numbers of their own. */
	struct idmap gpu_processes; /* number of each, from 1 */
	int64_t first_gpu_pid;      /* added to a device's number */
	struct kineto_names kernels;
};

/* Places between which Kineto tells devices of one process apart. */
#define CHROME_DEVICES 64

/* head.c: what stands before and behind the events, and the events that give names. */
int chrome_begin(struct chrome *c);
void chrome_names(struct chrome *c);
void chrome_finish(struct chrome *c);
/* Which number a device has among those of all processes. */
int64_t chrome_device(const struct chrome *c, const int64_t *stream);
/* Under which process its row is. */
int64_t chrome_gpu_pid(const struct chrome *c, const int64_t *stream);

/* ranges.c: NVTX ranges on the GPUs that did their work, and steps by torch.profiler's name. */
int chrome_ranges(struct chrome *c, struct error *err);

/* chrome.c */
void chrome_number(struct chrome *c, const char *key, int64_t value);
void chrome_text(struct chrome *c, const char *key, const char *text, size_t len);
int64_t chrome_pid(const struct chrome *c, int64_t process);
void chrome_event_begin(struct chrome *c, const char *phase);
void chrome_key(struct chrome *c, const char *key);
void chrome_time(struct chrome *c, const char *key, int64_t ns);

#endif
