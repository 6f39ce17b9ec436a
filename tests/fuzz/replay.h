/* A fuzz target is searched by libFuzzer; built with SONDE_REPLAY it is a program that runs the files named on
 * its command line once, for `make test`. Included by the target's one file. */
#ifndef SONDE_TESTS_FUZZ_REPLAY_H
#define SONDE_TESTS_FUZZ_REPLAY_H

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#ifdef SONDE_REPLAY
#include <stdio.h>
#include <sys/time.h>

/* Seconds of processor time for one input, under any sanitizer: what takes more hangs, and is ended by SIGPROF. */
#define REPLAY_SECONDS 20

int main(int argc, char **argv)
{
	static const struct itimerval limit = { .it_value = { .tv_sec = REPLAY_SECONDS } };
	static uint8_t data[1 << 20];
	size_t size;
	FILE *f;

	for (int i = 1; i < argc; i++) {
		f = fopen(argv[i], "rb");
		if (!f) {
			perror(argv[i]);
			return 1;
		}
		size = fread(data, 1, sizeof(data), f);
		fclose(f);
		setitimer(ITIMER_PROF, &limit, NULL);
		LLVMFuzzerTestOneInput(data, size);
	}
	printf("%d inputs replayed\n", argc - 1);
	return argc > 1 ? 0 : 1;
}
#endif

#endif
