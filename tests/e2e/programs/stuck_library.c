/* A library whose allocator stands still for one size or, built with STUCK_CONSTRUCTOR, whose constructor does. */
#include <stdlib.h>
#include <unistd.h>

void *__libc_malloc(size_t size);

static void stand(void)
{
	char text[] = "ready 00000000\n", c;

	for (int i = 13, pid = (int)getpid(); i > 5; i--, pid /= 10)
		text[i] = (char)('0' + pid % 10);
	if (write(1, text, sizeof(text) - 1) < 0 || read(0, &c, 1) < 0)
		_exit(2);
}

#ifdef STUCK_CONSTRUCTOR
__attribute__((constructor)) static void begin(void)
{
	stand();
}
#else
void *malloc(size_t size)
{
	if (size == 123457)
		stand();
	return __libc_malloc(size);
}
#endif
