#include "scenario.h"

int main(void)
{
	scenario();
	return 0;
}
