/* A program for unusual ways of being built and started; says on both streams that it
 * ran and ends with status 7. With ODD_RANGES it also emits three ranges.
 *
 *   odd [print NAME]          the value of a variable of its environment
 *   odd exec PROGRAM ARGS...  becomes another program
 *   odd count                 what two functions return that a preloaded library may replace */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef ODD_RANGES
#include "sonde/annotate.h"
#endif

static void three_ranges(void)
{
#ifdef ODD_RANGES
	for (int i = 0; i < 3; i++) {
		sonde_range_push("odd");
		sonde_range_pop();
	}
#endif
}

int main(int argc, char **argv)
{
	const char *value = argc > 2 && strcmp(argv[1], "print") == 0 ? getenv(argv[2]) : NULL;

	three_ranges();
	if (argc > 2 && strcmp(argv[1], "exec") == 0) {
		execv(argv[2], argv + 2);
		return 127;
	}
	if (argc > 1 && strcmp(argv[1], "count") == 0)
		printf("%d\n", (int)getppid());
	else
		printf("odd ran %s\n", value ? value : "well");
	fflush(stdout);
	fprintf(stderr, "odd says so\n");
	return 7;
}
