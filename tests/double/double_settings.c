/* How this CUPTI behaves: the script's lines that begin with "cupti"; and the log of the calls made on it.
 *
 *	cupti version 26
 *	cupti result cuptiActivityEnable 21 49     what a function returns (for this first argument only)
 *	cupti held nsys                            somebody else has subscribed
 *	cupti flush worker|caller|late             which thread delivers on a flush; late: after it has returned
 *	cupti order swapped                        every second buffer comes before its predecessor
 *	cupti shuffle 16                           records change places within groups of so many
 *	cupti drop 10                              every tenth GPU record is lost
 *	cupti workers 2                            threads that deliver
 *	cupti slow 50                              us in its own code, before and after each callback, and when a thread ends
 *	cupti finalize 20                          ms that cuptiFinalize takes
 *	cupti deliver 20                           ms that a buffer is being handed over
 *	cupti flushing 20                          ms that a flush takes, at least
 *	cupti clock 200 1000000                    drift in parts per million and offset in ns of its own clock */
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "double.h"

struct answer {
	char function[64];
	int result;
	long argument; /* -1: any */
};

static struct answer answers[64];
static unsigned answer_count;

static void read_setting(struct settings *s, const char *line)
{
	char word[64];
	struct answer *answer = &answers[answer_count];

	if (sscanf(line, "cupti version %u", &s->version) == 1 || sscanf(line, "cupti held %63s", s->holder) == 1 ||
	    sscanf(line, "cupti shuffle %u", &s->shuffle) == 1 || sscanf(line, "cupti drop %u", &s->drop) == 1 ||
	    sscanf(line, "cupti workers %u", &s->workers) == 1 || sscanf(line, "cupti slow %u", &s->slow) == 1 ||
	    sscanf(line, "cupti finalize %u", &s->finalize_ms) == 1 || sscanf(line, "cupti deliver %u", &s->deliver_ms) == 1 ||
	    sscanf(line, "cupti flushing %u", &s->flush_ms) == 1 || sscanf(line, "cupti clock %lf %ld", &s->drift, &s->offset) == 2)
		return;
	if (sscanf(line, "cupti flush %63s", word) == 1) {
		s->flush = !strcmp(word, "caller") ? FLUSH_BY_CALLER : !strcmp(word, "late") ? FLUSH_LATE : FLUSH_BY_WORKER;
		return;
	}
	if (!strncmp(line, "cupti order swapped", 19)) {
		s->swapped = true;
		return;
	}
	answer->argument = -1;
	if (answer_count < 63 && sscanf(line, "cupti result %63s %d %ld", answer->function, &answer->result, &answer->argument) >= 2) {
		answer_count++;
		return;
	}
	fprintf(stderr, "double: %s", line);
	abort();
}

void double_settings_read(void)
{
	const char *path = getenv("CUPTI_DOUBLE_SCRIPT");
	FILE *file = path ? fopen(path, "re") : NULL;
	char *line = NULL;
	size_t size = 0;

	cupti_double.settings.version = 130001;
	cupti_double.settings.workers = 1;
	while (file && getline(&line, &size, file) > 0)
		if (!strncmp(line, "cupti ", 6))
			read_setting(&cupti_double.settings, line);
	free(line);
	if (file)
		fclose(file);
}

static void write_log(const char *text)
{
	const char *path = getenv("CUPTI_DOUBLE_LOG");
	char line[256];
	int size, fd;

	if (!path)
		return;
	size = snprintf(line, sizeof(line), "%d %ld %s\n", getpid(), syscall(SYS_gettid), text);
	fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0)
		return;
	if (write(fd, line, (size_t)size) < 0)
		perror("log of the double");
	close(fd);
}

void double_log(const char *format, ...)
{
	char text[200];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	write_log(text);
}

int double_called(const char *function, const char *format, ...)
{
	char parameters[128], text[200];
	va_list arguments;
	int result = CUPTI_OK;

	va_start(arguments, format);
	vsnprintf(parameters, sizeof(parameters), format, arguments);
	va_end(arguments);
	for (unsigned i = 0; i < answer_count; i++)
		if (!strcmp(answers[i].function, function) &&
		    (answers[i].argument == -1 || answers[i].argument == strtol(parameters, NULL, 10)))
			result = answers[i].result;
	snprintf(text, sizeof(text), "%s(%s) = %d", function, parameters, result);
	write_log(text);
	return result;
}
