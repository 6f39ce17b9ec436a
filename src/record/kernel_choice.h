/* sonde kernel: which counters are read, and who is told how far that is. */
#ifndef SONDE_RECORD_KERNEL_CHOICE_H
#define SONDE_RECORD_KERNEL_CHOICE_H

#include <stdbool.h>
#include <stdint.h>

/* A link of a GPU to another device, as NVML has it. */
struct kernel_link {
	bool is_active;
	unsigned remote_type; /* 0 GPU, 1 CPU, 2 switch */
	unsigned remote[3];   /* PCI domain, bus, device */
	bool peer_access, peer_atomics, system_access, system_atomics;
};

#define KERNEL_LINKS 18
struct kernel_gpu_links {
	unsigned place[3]; /* PCI domain, bus, device */
	char name[96];
	unsigned link_count;
	struct kernel_link links[KERNEL_LINKS];
	double bandwidth; /* of a link, bytes a second; 0: not known */
};

/* The report's fact that has the names of `asked`. */
#define KERNEL_ASKED_KEY "kernel_metrics"
/* ... and at which clocks they were read. */
#define KERNEL_CLOCKS_KEY "kernel_clocks"

struct kernel_choice {
	const char *request;        /* file that agents read */
	const char *const *metrics; /* in the order of the request */
	const char *const *units;   /* of each; NULL or "": none */
	uint32_t count;
	char *const *asked; /* those that were asked for by name, NULL behind them: shown under their names; NULL: not known */
	const char *clocks; /* at which the program runs, in words; NULL: not known */
	int nvtx;           /* NVTX ranges are kept for them */
	int nvtx_process;   /* pushed ones of all threads together */
	const char *code;   /* folder in which agents leave cubins; NULL: none */
	const struct kernel_gpu_links *gpus; /* where links are asked for */
	uint32_t gpu_count;
	int progress;         /* descriptor: a struct kernel_progress for each step; -1: nobody wants to know */
	uint32_t stuck_after; /* seconds that a pass may take before it is told of; 0: for ever */
};

/* What is told beside kernels: a process has initialised CUDA, and has ended; before that, graphs that it launched and that were not read. */
enum kernel_step { KERNEL_CONNECTED = 16, KERNEL_DISCONNECTED, KERNEL_LEFT_ALONE };

#define KERNEL_PROGRESS_NAME 400

/* One write, smaller than PIPE_BUF: never torn. */
struct kernel_progress {
	uint32_t state;  /* enum kernel_state or kernel_step */
	uint32_t number; /* of all processes together; of a step: pid, or launches of graphs */
	uint32_t passes;
	uint32_t pid;
	uint32_t seconds;                /* of one that is stuck: for how long */
	char text[KERNEL_PROGRESS_NAME]; /* the kernel's short name; of one that failed, why; of a step: the program, or why */
};

#endif
