/* Names things at once, then uses the names every ten milliseconds: what a capture window
 * lets through can be told from the payload, milliseconds since the start. Each
 * payload goes into the file of WINDOW_TICKS, with the time before and after it was used.
 *
 *   window MILLISECONDS STATUS */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "sonde/annotate.h"

static int64_t milliseconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static void rest(long ms)
{
	struct timespec pause = { 0, ms * 1000000 };

	nanosleep(&pause, NULL);
}

static FILE *open_ticks(void)
{
	const char *path = getenv("WINDOW_TICKS");
	FILE *file = path ? fopen(path, "w") : NULL;

	if (file)
		setlinebuf(file);
	return file;
}

int main(int argc, char **argv)
{
	int64_t start = milliseconds(), length = argc > 1 ? atoll(argv[1]) : 1000;
	sonde_domain domain = sonde_domain_create("early domain");
	struct sonde_event event = sonde_event_of(sonde_register_string(domain, "registered early"));
	FILE *made = open_ticks();
	unsigned ticks = 0;

	sonde_name_thread("early thread");
	sonde_name_category(domain, 7, "early category");
	sonde_event_category(&event, 7);
	sonde_range_push("all of it");
	for (; milliseconds() - start < length; ticks++) {
		int64_t now = milliseconds() - start;

		sonde_event_int64(&event, now);
		sonde_domain_push_event(domain, &event);
		if (made)
			fprintf(made, "%lld %lld %lld\n", (long long)now, (long long)(start + now), (long long)milliseconds());
		rest(2);
		sonde_domain_range_pop(domain);
		rest(8);
	}
	sonde_range_pop();
	if (made)
		fclose(made);
	printf("ticks %u\n", ticks);
	return argc > 2 ? atoi(argv[2]) : 0;
}
