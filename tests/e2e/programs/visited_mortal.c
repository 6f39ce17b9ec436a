/* Waits for input, and cannot bear a visitor: with an argument a thread that comes from outside ends the program in malloc(), by a fault
 * ("allocator"), as if another thread had just called exit(3) ("exit") or as if somebody had killed it ("kill"). SIGSEGV has a handler that tells so before
 * the program ends by it. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

extern void *__libc_malloc(size_t size);

static char way;

void *malloc(size_t size)
{
	char name[16] = "";

	prctl(PR_GET_NAME, name);
	if (way && !strcmp(name, "sonde")) {
		if (way == 'e')
			_exit(3);
		raise(way == 'k' ? SIGKILL : SIGSEGV);
	}
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
	way = argc > 1 ? argv[1][0] : 0;
	puts("ready");
	fflush(stdout);
	while (read(0, line, sizeof(line)) > 0)
		;
	return 0;
}
