/* exits MODE: 40 kernels, then the process ends in one of many ways. What it did is written before. */
#include <errno.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tell.h"

__global__ void last_words(void)
{
}

static void launch(int count)
{
	for (int i = 0; i < count; i++)
		last_words<<<3, 64>>>();
	MUST(cudaDeviceSynchronize());
	tell("kernel", "\"name\": \"last_words\", \"count\": %d, \"pid\": %d", count, (int)getpid());
	fflush(stdout);
}

static int forked(void)
{
	int status = 0;
	pid_t child = fork(); /* before CUDA is initialised: both may use it */

	launch(child ? 40 : 25);
	if (!child)
		_exit(0);
	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	return status;
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "return";

	if (!strcmp(mode, "fork"))
		return forked();
	launch(40);
	if (!strcmp(mode, "_exit"))
		_exit(0);
	if (!strcmp(mode, "quick"))
		quick_exit(0);
	if (!strcmp(mode, "exec")) {
		execl(argv[0], argv[0], "return", (char *)NULL);
		return 4;
	}
	if (!strcmp(mode, "abort"))
		abort();
	if (!strcmp(mode, "kill")) {
		/* Longer than CUPTI's records may stay in the process. */
		usleep(3000000);
		raise(SIGKILL);
	}
	if (!strcmp(mode, "child")) {
		/* The child of a process that uses CUDA does not use it. */
		pid_t child = fork();

		if (!child)
			_exit(7);
		waitpid(child, NULL, 0);
	}
	return 0;
}
