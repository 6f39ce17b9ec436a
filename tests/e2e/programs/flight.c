/* Work for the flight recorder, told what to do by lines on its input:
 *
 *   flight THREADS RANGES_PER_MILLISECOND
 *
 * Each thread makes ranges "work" whose payload counts up, as many a millisecond as asked for (0: as fast as it can). The main thread
 * makes ranges "step" of 5 ms and obeys a line between two of them:
 *
 *   mark TEXT       a mark; "mark TEXT@DOMAIN" one in a domain of that name, "mark !TEXT" one of a registered string
 *   slow MS         one step that takes so long
 *   apart MS        the same as a start/end range
 *   names COUNT     ranges whose name was never there before
 *   hold MS         a range that lasts so long, with some of those in it
 *   crash, exit STATUS
 *
 * What was obeyed is told in a line with the time of the session clock's base (MONOTONIC_RAW), before it where it is the end; behind it
 * for each thread a time after which it has made ranges, the last. */
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "sonde/annotate.h"

#define MAX_THREADS 16

struct worker {
	uint64_t rate;
	_Atomic uint64_t worked; /* a time after which it has made ranges; 0: it has not begun */
};

static struct worker workers[MAX_THREADS];
static int worker_count;

static uint64_t now(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void rest(uint64_t ms)
{
	usleep((useconds_t)(ms * 1000));
}

static void *work(void *argument)
{
	struct worker *self = argument;
	uint64_t rate = self->rate, start = now(CLOCK_MONOTONIC), count = 0;
	struct sonde_event event = sonde_event_named("work");

	for (uint64_t ms = 1;; ms++) {
		uint64_t before = now(CLOCK_MONOTONIC_RAW);

		for (uint64_t i = 0; i < (rate ? rate : 1000); i++) {
			sonde_event_uint64(&event, count++);
			sonde_domain_push_event(NULL, &event);
			sonde_domain_range_pop(NULL);
		}
		atomic_store(&self->worked, before);
		while (rate && now(CLOCK_MONOTONIC) < start + ms * 1000000)
			usleep(200);
	}
	return NULL;
}

static void step(uint64_t ms)
{
	sonde_range_push("step");
	rest(ms);
	sonde_range_pop();
}

static void mark(char *text)
{
	char *at = strchr(text, '@');
	sonde_domain domain;
	struct sonde_event event;

	if (at) {
		*at = '\0';
		domain = sonde_domain_create(at + 1);
		event = sonde_event_named(text);
		sonde_domain_mark_event(domain, &event);
	} else if (text[0] == '!') {
		event = sonde_event_of(sonde_register_string(NULL, text + 1));
		sonde_domain_mark_event(NULL, &event);
	} else {
		sonde_mark(text);
	}
}

/* Each tells its number twice. */
static void names(uint64_t count)
{
	static uint64_t number;
	struct sonde_event event;
	char text[48];

	for (uint64_t i = 0; i < count; i++) {
		snprintf(text, sizeof(text), "name %llu", (unsigned long long)number);
		event = sonde_event_named(text);
		sonde_event_uint64(&event, number++);
		sonde_domain_push_event(NULL, &event);
		sonde_domain_range_pop(NULL);
		if (i % 2000 == 1999)
			rest(2);
	}
}

/* A name of its own, too, and open for long. */
static void hold(uint64_t ms)
{
	sonde_range_push("held open");
	for (uint64_t i = 0; i < ms; i += 10) {
		names(10);
		rest(10);
	}
	sonde_range_pop();
}

static void apart(uint64_t ms)
{
	sonde_range_id id = sonde_range_start("step");

	rest(ms);
	sonde_range_end(id);
}

static void obey(char *line)
{
	char *word = strtok(line, " "), *rest_of = strtok(NULL, "");
	uint64_t number = rest_of ? strtoull(rest_of, NULL, 10) : 0;

	if (strcmp(word, "mark") == 0 && rest_of)
		mark(rest_of);
	else if (strcmp(word, "slow") == 0)
		step(number);
	else if (strcmp(word, "apart") == 0)
		apart(number);
	else if (strcmp(word, "names") == 0)
		names(number);
	else if (strcmp(word, "hold") == 0)
		hold(number);
	printf("%s %llu", word, (unsigned long long)now(CLOCK_MONOTONIC_RAW));
	for (int i = 0; i < worker_count; i++)
		printf(" %llu", (unsigned long long)atomic_load(&workers[i].worked));
	putchar('\n');
	fflush(stdout);
	if (strcmp(word, "crash") == 0)
		abort();
	if (strcmp(word, "exit") == 0)
		exit((int)number);
}

int main(int argc, char **argv)
{
	uint64_t rate = argc > 2 ? strtoull(argv[2], NULL, 10) : 10;
	struct pollfd input = { .fd = 0, .events = POLLIN };
	pthread_t thread;
	char line[256];

	setvbuf(stdin, NULL, _IONBF, 0);
	worker_count = argc > 1 ? atoi(argv[1]) : 1;
	if (worker_count > MAX_THREADS)
		return 1;
	for (int i = 0; i < worker_count; i++) {
		workers[i].rate = rate;
		pthread_create(&thread, NULL, work, &workers[i]);
	}
	for (;;) {
		if (poll(&input, 1, 0) > 0) {
			if (!fgets(line, sizeof(line), stdin))
				return 0;
			line[strcspn(line, "\n")] = '\0';
			if (line[0])
				obey(line);
		}
		step(5);
	}
}
