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

/* All bytes of what it answers are looked at. */
static size_t ask(const struct cubin *c, const struct cubin_function *f, uint64_t pc, struct cubin_place places[8])
{
	size_t seen = 0, size = 0, count = cubin_places(c, f, pc, places, 8);
	const char *text;

	for (size_t i = 0; i < count; i++)
		seen += strlen(places[i].file) + (places[i].function ? strlen(places[i].function) : 0);
	if (!cubin_ptx_place(c, f, pc, &places[0]))
		return seen;
	text = cubin_ptx_text(c, places[0].file, &size);
	for (size_t i = 0; text && i < size && pc == 0; i++)
		seen += text[i] == 0;
	return seen;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct cubin_function *all;
	struct cubin_place places[8];
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
			seen += ask(c, &all[i], pc, places);
	}
	cubin_close(c);
	return seen == SIZE_MAX;
}
