/* Runs operators of the double of libtorch_cpu.so. */
#include <stdlib.h>

void double_run(void);

int main(int argc, char **argv)
{
	for (int i = argc > 1 ? atoi(argv[1]) : 1; i > 0; i--)
		double_run();
	return 0;
}
