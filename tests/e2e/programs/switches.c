/* Threads whose scheduling is known in advance. Each role tells at its end what the kernel counted
 * for it: "ROLE tid voluntary forced cpu_ns wall_ns".
 *
 *   sleeper   sleeps COUNT times 5 ms
 *   spinner   uses MS milliseconds of CPU time
 *   ping pong hand over to each other COUNT times
 *   left right  use MS milliseconds each, both on the same CPU
 *   migrant   moves to the other CPU COUNT times
 *
 * Usage: switches ROLE[,ROLE...] COUNT MS */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define MAX_ROLES 16

struct role {
	char name[16];
	long count;
	long ms;
	pthread_t thread;
	long tid, voluntary, forced;
	long long cpu_ns, wall_ns;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t turned = PTHREAD_COND_INITIALIZER;
static int turn;

static long long now(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return t.tv_sec * 1000000000ll + t.tv_nsec;
}

static void spin(long ms)
{
	long long end = now(CLOCK_THREAD_CPUTIME_ID) + ms * 1000000ll;

	while (now(CLOCK_THREAD_CPUTIME_ID) < end)
		for (volatile int i = 0; i < 1000; i++)
			;
}

static void sleep_often(long count)
{
	struct timespec t = { .tv_nsec = 5000000 };

	while (count-- > 0)
		nanosleep(&t, NULL);
}

static void hand_over(long count, int me)
{
	pthread_mutex_lock(&lock);
	while (count-- > 0) {
		while (turn != me)
			pthread_cond_wait(&turned, &lock);
		turn = !me;
		pthread_cond_signal(&turned);
	}
	pthread_mutex_unlock(&lock);
}

/* The n-th CPU this program may use, counted in a circle. */
static int allowed_cpu(const cpu_set_t *allowed, long n)
{
	n %= CPU_COUNT(allowed);
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, allowed) && n-- == 0)
			return cpu;
	return 0;
}

static void pin(const cpu_set_t *allowed, long n)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(allowed_cpu(allowed, n), &one);
	sched_setaffinity(0, sizeof(one), &one);
}

static void migrate(const cpu_set_t *allowed, long count)
{
	pin(allowed, 0);
	for (long i = 1; i <= count; i++)
		pin(allowed, i);
}

static long status_number(const char *text, const char *key)
{
	const char *found = strstr(text, key);

	return found ? strtol(found + strlen(key), NULL, 10) : -1;
}

static void tell(struct role *r)
{
	static char texts[MAX_ROLES][4096];
	static int next;
	char *text = texts[__atomic_fetch_add(&next, 1, __ATOMIC_RELAXED) % MAX_ROLES];
	FILE *f = fopen("/proc/thread-self/status", "r");
	size_t len = f ? fread(text, 1, 4095, f) : 0;

	text[len] = '\0';
	if (f)
		fclose(f);
	r->voluntary = status_number(text, "\nvoluntary_ctxt_switches:");
	r->forced = status_number(text, "nonvoluntary_ctxt_switches:");
	r->cpu_ns = now(CLOCK_THREAD_CPUTIME_ID);
}

static void *play(void *argument)
{
	struct role *r = argument;
	long long start = now(CLOCK_MONOTONIC);
	cpu_set_t allowed;

	prctl(PR_SET_NAME, r->name);
	r->tid = syscall(SYS_gettid);
	sched_getaffinity(0, sizeof(allowed), &allowed);
	if (strcmp(r->name, "sleeper") == 0) {
		sleep_often(r->count);
	} else if (strcmp(r->name, "spinner") == 0) {
		spin(r->ms);
	} else if (strcmp(r->name, "ping") == 0 || strcmp(r->name, "pong") == 0) {
		hand_over(r->count, r->name[1] == 'o');
	} else if (strcmp(r->name, "left") == 0 || strcmp(r->name, "right") == 0) {
		pin(&allowed, 0);
		spin(r->ms);
	} else if (strcmp(r->name, "migrant") == 0) {
		migrate(&allowed, r->count);
	}
	r->wall_ns = now(CLOCK_MONOTONIC) - start;
	tell(r);
	return NULL;
}

int main(int argc, char **argv)
{
	static struct role roles[MAX_ROLES];
	int count = 0;

	if (argc != 4)
		return 2;
	for (char *name = strtok(argv[1], ","); name && count < MAX_ROLES; name = strtok(NULL, ",")) {
		snprintf(roles[count].name, sizeof(roles[0].name), "%s", name);
		roles[count].count = atol(argv[2]);
		roles[count].ms = atol(argv[3]);
		pthread_create(&roles[count].thread, NULL, play, &roles[count]);
		count++;
	}
	for (int i = 0; i < count; i++) {
		pthread_join(roles[i].thread, NULL);
		printf("%s %ld %ld %ld %lld %lld\n", roles[i].name, roles[i].tid, roles[i].voluntary, roles[i].forced, roles[i].cpu_ns,
		       roles[i].wall_ns);
	}
	return 0;
}
