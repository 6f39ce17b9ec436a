/* A range that opens the window, for tests/bench/programs/torch_cost.py. */
#include "sonde/annotate.h"

void bench_open(void);
void bench_close(void);

void bench_open(void)
{
	sonde_range_push("open");
}

void bench_close(void)
{
	sonde_range_pop();
}
