/* libFuzzer target: any bytes as a cubin whose functions and lines are asked for. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "replay.h"
#include "symbol/cubin.h"

const char *__lsan_default_suppressions(void);

/* elfutils loses a few bytes over some damaged files. */
const char *__lsan_default_suppressions(void)
{
	return "leak:libdw.so\nleak:libelf.so\n";
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct cubin_function *all;
	struct cubin_place place;
	struct cubin *c;
	struct error err;
	size_t count, seen = 0;

	if (cubin_open(&c, data, size, &err) < 0)
		return 0;
	all = cubin_functions(c, &count);
	for (size_t i = 0; i < count && i < 64; i++) {
		if (!cubin_find(c, all[i].name))
			abort();
		for (uint64_t pc = 0; pc < all[i].size && pc < 65536; pc += cubin_step(c))
			if (cubin_line(c, &all[i], pc, &place))
				seen += strlen(place.file);
	}
	cubin_close(c);
	return seen == SIZE_MAX;
}
