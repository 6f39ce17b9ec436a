/* What this machine allows: one small probe per capability, in a table. */
#ifndef SONDE_CLI_DOCTOR_DOCTOR_H
#define SONDE_CLI_DOCTOR_DOCTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum doctor_verdict { DOCTOR_OK, DOCTOR_PARTLY, DOCTOR_NO };

/* System calls whose answer is a finding; tests give answers of their own.
 * Each returns 0 or a negative errno. */
struct doctor_calls {
	int (*perf_event)(uint32_t type, uint64_t config);
	int (*memfd)(void);
	int (*abstract_socket)(void);
	int (*wipe_on_fork)(void);
	uint64_t (*memlock_limit)(void); /* bytes, UINT64_MAX: no limit */
	int (*landlock)(void);           /* its version */
	int (*call_filter)(void);        /* seccomp */
	char *(*gpu_devices)(void);      /* as --gpu-metrics-devices=help; to be freed */
};

extern const struct doctor_calls doctor_real_calls;

/* The machine looked at. */
struct doctor_host {
	const char *root;   /* before /proc, /sys, /dev; "" is this machine */
	const char *folder; /* where reports would go */
	const struct doctor_calls *calls;
};

struct doctor_answer {
	enum doctor_verdict verdict;
	char reason[400];
	const char *see; /* the check whose remedy is needed instead of this one's, or NULL */
};

/* How to allow it: on the machine itself, for docker, for Kubernetes. NULL: no way. */
struct doctor_advice {
	const char *host;
	const char *docker;
	const char *kubernetes;
};

struct doctor_check {
	const char *name;
	const char *enables;
	bool required; /* nothing can be recorded without it */
	void (*probe)(const struct doctor_host *host, struct doctor_answer *ret);
	struct doctor_advice advice;
};

extern const struct doctor_check doctor_checks[];
extern const size_t doctor_check_count;

void doctor_print_table(FILE *out, const struct doctor_host *host, int *ret_missing);
void doctor_print_json(FILE *out, const struct doctor_host *host, int *ret_missing);

/* For probes. */
void doctor_say(struct doctor_answer *ret, enum doctor_verdict verdict, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* The same for what another check already found missing. */
void doctor_see(struct doctor_answer *ret, const char *other_check, const char *reason);
/* The file's first bytes without the newline at the end; false if it cannot be read. */
bool doctor_read(const struct doctor_host *host, const char *path, char *ret, size_t size);
bool doctor_read_number(const struct doctor_host *host, const char *path, long long *ret);
bool doctor_exists(const struct doctor_host *host, const char *path);
/* The value of "Key: value" in a file such as /proc/self/status. */
bool doctor_read_key(const struct doctor_host *host, const char *path, const char *key, char *ret, size_t size);

enum doctor_capability {
	DOCTOR_CAP_SYS_PTRACE = 19,
	DOCTOR_CAP_SYS_ADMIN = 21,
	DOCTOR_CAP_SYSLOG = 34,
	DOCTOR_CAP_PERFMON = 38,
};
bool doctor_has_capability(const struct doctor_host *host, enum doctor_capability capability);

/* Probes, by file: recording.c, perf.c, gpu.c, container.c. */
typedef void doctor_probe(const struct doctor_host *host, struct doctor_answer *ret);
doctor_probe doctor_probe_agent, doctor_probe_nvtx, doctor_probe_memfd, doctor_probe_socket, doctor_probe_wipe_on_fork, doctor_probe_clock,
	doctor_probe_confine;
doctor_probe doctor_probe_perf_own, doctor_probe_perf_kernel, doctor_probe_perf_system, doctor_probe_perf_hardware, doctor_probe_seccomp,
	doctor_probe_kernel_symbols, doctor_probe_ptrace, doctor_probe_tracefs, doctor_probe_memlock;
doctor_probe doctor_probe_driver, doctor_probe_gpus, doctor_probe_nvml, doctor_probe_cupti, doctor_probe_gpu_counters,
	doctor_probe_gpu_metrics;
doctor_probe doctor_probe_container, doctor_probe_cgroup, doctor_probe_disk;

#endif
