/* Waits for input, and cannot bear a visitor: with "allocator" a thread that comes from outside dies in malloc(). SIGSEGV has a handler that
 * tells so before the program ends by it. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

extern void *__libc_malloc(size_t size);

static int is_mortal;

void *malloc(size_t size)
{
	char name[16] = "";

	prctl(PR_GET_NAME, name);
	if (is_mortal && !strcmp(name, "sonde"))
		raise(SIGSEGV);
	return __libc_malloc(size);
}

static void fault(int number)
{
	if (write(1, "fault\n", 6) != 6)
		_exit(1);
	signal(number, SIG_DFL);
}

int main(int argc, char **argv)
{
	char line[64];

	signal(SIGSEGV, fault);
	is_mortal = argc > 1 && !strcmp(argv[1], "allocator");
	puts("ready");
	fflush(stdout);
	while (read(0, line, sizeof(line)) > 0)
		;
	return 0;
}
