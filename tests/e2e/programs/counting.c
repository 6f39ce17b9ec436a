/* A library of the user's own, preloaded: replaces getppid, and with COUNTING_EXEC also
 * execve and execv, through which it marks the environment it hands on. */
#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>

extern char **environ;

pid_t getppid(void)
{
	static pid_t calls = 4241;

	return ++calls;
}

#ifdef COUNTING_EXEC
int execve(const char *path, char *const argv[], char *const environment[])
{
	static char mark[] = "COUNTING_SEEN=yes";
	int (*next)(const char *, char *const[], char *const[]);
	char *list[1024];
	size_t n = 0;

	*(void **)&next = dlsym(RTLD_NEXT, "execve");
	for (; environment[n] && n < 1022; n++)
		list[n] = environment[n];
	list[n++] = mark;
	list[n] = NULL;
	return next(path, argv, list);
}

int execv(const char *path, char *const argv[])
{
	return execve(path, argv, environ);
}
#endif
