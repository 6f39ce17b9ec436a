// Spins for a while in functions whose names have something to them: usage: symbols MILLISECONDS [unlink]
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <unistd.h>

static volatile unsigned long sink;

static inline __attribute__((always_inline)) long now(void)
{
	timespec t;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static inline __attribute__((always_inline)) void inlined_step(unsigned long n)
{
	for (unsigned long i = 0; i < 20000; i++)
		sink += i * n; /* line of the loop */
}

#define SPIN(ms) for (long end = now() + (ms); now() < end;) inlined_step(3)

namespace work {
template <typename T> struct Engine {
	__attribute__((noipa)) void spin(T ms) const { SPIN(ms); sink++; }
};
}
static __attribute__((noipa)) void local_spin(const char *text, int ms) { SPIN(ms); sink += text[0]; }
extern "C" __attribute__((noipa)) void c_spin(int ms) { SPIN(ms); sink++; }

int main(int argc, char **argv)
{
	int ms = argc > 1 ? std::atoi(argv[1]) : 100;

	if (argc > 2)
		unlink(argv[0]);
	work::Engine<int>().spin(ms);
	local_spin("x", ms);
	c_spin(ms);
	return 0;
}
