/* Sits in read() until its input ends. */
#include <unistd.h>

int main(void)
{
	char c;

	return read(0, &c, 1) != 0;
}
