/* What visitors bring: functions that use what a library may use, and say what they saw. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

int count_visit(const void *argument);
int length_of(const void *argument);
int negative(const void *argument);
int check_surroundings(const void *argument);
int sleep_long(const void *argument);

static int visits;
static __thread int own = 7;

/* The number of this visit; memory, thread-local variables and floating point as in any library. */
int count_visit(const void *argument)
{
	char *copy = strdup(argument);
	volatile double x = 1.0;

	for (int i = 0; i < 1000; i++)
		x = x * 1.0000001 + (double)i;
	if (!copy || strcmp(copy, argument) != 0 || own != 7)
		return -1;
	free(copy);
	return __atomic_add_fetch(&visits, 1, __ATOMIC_SEQ_CST);
}

int length_of(const void *argument)
{
	return (int)strlen(argument);
}

int negative(const void *argument)
{
	return -(int)strlen(argument);
}

/* What the program's own handlers must see. */
static int is_fault(int number)
{
	return number == SIGSEGV || number == SIGBUS || number == SIGFPE || number == SIGILL || number == SIGTRAP || number == SIGSYS ||
	       number == SIGABRT;
}

/* The thread's name, its signals, and that the stack is as functions expect it: 0 when all is right. */
int check_surroundings(const void *argument)
{
	char name[16] = "";
	sigset_t blocked;
	int wrong = 0;

	prctl(PR_GET_NAME, name);
	pthread_sigmask(SIG_BLOCK, NULL, &blocked);
	wrong |= strcmp(name, "sonde") != 0 ? 1 : 0;
	for (int i = 1; i < 32; i++)
		if (i != SIGKILL && i != SIGSTOP && sigismember(&blocked, i) == is_fault(i))
			wrong |= 2;
	wrong |= ((unsigned long)__builtin_frame_address(0) & 15) ? 4 : 0;
	return wrong;
}

int sleep_long(const void *argument)
{
	sleep((unsigned)atoi(argument));
	return 0;
}
