/* launch_compare SECONDS LIBRARY: what a launch costs its thread, alone, in a window of the profiler's API ("sonde") and in one of bare_cupti.c
 * ("0"), in turn and in one process: processes of the same program differ by more than what is measured. Prints, as JSON, ns per launch of
 * each batch; the first window of a round takes turns. */
#include <ctype.h>
#include <cuda_profiler_api.h>
#include <dirent.h>
#include <dlfcn.h>
#include <sched.h>
#include <unistd.h>

#include "tell.h"

#define BATCH 500u /* fewer than the driver queues without waiting */
#define INSIDE 24
#define ALONE 16
#define CPUS 64

static struct {
	int (*load)(const char *path);
	int (*open)(unsigned settings);
	void (*close)(void);
} bare;
static unsigned long launched; /* in windows of the profiler's API */

__global__ void nothing(int)
{
}

static double batch(void)
{
	uint64_t began = now_ns();

	for (unsigned i = 0; i < BATCH; i++)
		nothing<<<1, 32>>>((int)i);
	double took = (double)(now_ns() - began) / BATCH;
	MUST(cudaDeviceSynchronize());
	return took;
}

static void go_on(double seconds)
{
	uint64_t until = now_ns() + (uint64_t)(seconds * 1e9);

	while (now_ns() < until)
		batch();
}

/* The thread that launches has a CPU, all others are elsewhere. */
static void settle(void)
{
	int count = (int)sysconf(_SC_NPROCESSORS_ONLN);
	DIR *tasks = opendir("/proc/self/task");
	struct dirent *task;
	cpu_set_t set;

	while (count >= 8 && count <= CPUS && tasks && (task = readdir(tasks))) {
		pid_t thread = atoi(task->d_name);

		CPU_ZERO(&set);
		for (int i = 0; i < count - 4; i++)
			CPU_SET(thread == getpid() ? count - 1 : i, &set);
		if (thread)
			sched_setaffinity(thread, sizeof(set), &set);
	}
	closedir(tasks);
}

static void batches(int count)
{
	batch();
	settle();
	batch();
	printf("[");
	for (int i = 0; i < count; i++)
		printf("%s%.1f", i ? ", " : "", batch());
	printf("]");
}

static void sonde_window(void)
{
	MUST(cudaProfilerStart());
	batches(INSIDE);
	launched += (INSIDE + 2) * BATCH;
	MUST(cudaProfilerStop());
	go_on(1.35); /* long enough for the window to be fetched, and CUPTI to be away */
}

static void bare_window(void)
{
	if (bare.open(0)) {
		fprintf(stderr, "CUPTI does not take another subscriber\n");
		exit(3);
	}
	batches(INSIDE);
	bare.close();
	go_on(0.2);
}

/* "alone" and "inside" are printed as they come: [alone, inside, alone, inside, alone]. */
static void play(int number)
{
	printf("%s{\"order\": %s, \"times\": [", number ? ",\n" : "", number % 2 ? "[\"0\", \"sonde\"]" : "[\"sonde\", \"0\"]");
	batches(ALONE);
	for (int i = 0; i < 2; i++) {
		printf(", ");
		if ((number + i) % 2)
			bare_window();
		else
			sonde_window();
		printf(", ");
		batches(ALONE);
	}
	printf("]}");
}

/* The one that is in the process already. */
static int find_cupti(char *path, size_t size)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	char line[4400], *found;
	int got = 0;

	while (maps && !got && fgets(line, sizeof(line), maps)) {
		found = strstr(line, "libcupti.so") ? strchr(line, '/') : NULL;
		if (found) {
			found[strcspn(found, "\n")] = '\0';
			snprintf(path, size, "%s", found);
			got = 1;
		}
	}
	if (maps)
		fclose(maps);
	return got;
}

int main(int argc, char **argv)
{
	void *library = argc > 2 ? dlopen(argv[2], RTLD_NOW) : NULL;
	char path[4400];

	MUST(cudaFree(NULL));
	go_on(0.5);
	if (library) {
		bare.load = (int (*)(const char *))dlsym(library, "bare_cupti_load");
		bare.open = (int (*)(unsigned))dlsym(library, "bare_cupti_open");
		bare.close = (void (*)(void))dlsym(library, "bare_cupti_close");
	}
	if (!bare.load || !bare.open || !bare.close || !find_cupti(path, sizeof(path)) || bare.load(path)) {
		fprintf(stderr, "no bare CUPTI\n");
		return 3;
	}
	uint64_t until = now_ns() + (uint64_t)(atof(argv[1]) * 1e9);
	printf("{\"rounds\": [");
	for (int number = 0; number < 5 || now_ns() < until; number++)
		play(number);
	printf("],\n\"launched\": %lu}\n", launched);
	return 0;
}
