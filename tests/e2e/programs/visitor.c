/* Visits another process, as a command: `visitor PID LIBRARY FUNCTION TEXT [COUNT [nothread]]` prints one line a visit, "value N" or "error ERRNO
 * TEXT"; VISIT_MS is how long it may take. `visitor PID` examines it. `visitor hold PID` traces it until its input ends. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <unistd.h>

#include "inject/inject.h"
#include "inject/visit.h"

static int examine(pid_t pid)
{
	struct inject_report report;
	struct error err;
	int r = inject_examine(pid, &report, &err);

	if (r < 0)
		printf("error %d %s\n", -r, err.text);
	else if (report.obstacle)
		printf("obstacle %d %s\n", (int)report.obstacle, report.reason);
	else
		printf("free %u\n", report.threads);
	return r < 0;
}

static int hold(pid_t pid)
{
	char byte;

	if (ptrace(PTRACE_SEIZE, pid, 0, 0) < 0)
		return 1;
	puts("held");
	fflush(stdout);
	return read(0, &byte, 1) < 0;
}

static int visit_once(pid_t pid, char **words, int nothread)
{
	struct visit_request request = {
		.pid = pid, .library = words[0], .function = words[1], .argument = words[2], .size = strlen(words[2]) + 1, .no_thread = 1
	};
	const char *limit = getenv("VISIT_MS");
	int ms = limit ? atoi(limit) : 10000;
	struct error err;
	int64_t value = 0;
	int r = nothread ? inject_call_as(&request, ms, &value, &err) :
			   inject_call(pid, words[0], words[1], words[2], strlen(words[2]) + 1, ms, &value, &err);

	if (r < 0)
		printf("error %d %s\n", -r, err.text);
	else
		printf("value %lld\n", (long long)value);
	fflush(stdout);
	return r;
}

int main(int argc, char **argv)
{
	int count = argc > 5 ? atoi(argv[5]) : 1, failed = 0;

	if (argc == 3 && strcmp(argv[1], "hold") == 0)
		return hold((pid_t)atoi(argv[2]));
	if (argc == 2)
		return examine((pid_t)atoi(argv[1]));
	for (int i = 0; i < count; i++)
		failed |= visit_once((pid_t)atoi(argv[1]), argv + 2, argc > 6) < 0;
	return failed;
}
