#include "symbol/cfi.h"

#include <stdlib.h>

struct cfi {
	int unused;
};

struct cfi *cfi_new(void)
{
	return calloc(1, sizeof(struct cfi));
}

void cfi_free(struct cfi *cfi)
{
	free(cfi);
}

void cfi_detach(struct cfi *cfi)
{
}
