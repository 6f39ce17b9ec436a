/* A shared library that annotates for itself. */
#include <sonde/annotate.h>

__attribute__((visibility("default"))) void second_unit(void);
void second_unit(void)
{
	SONDE_SCOPE("in the library");
}
