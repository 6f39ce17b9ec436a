#include "fmt/gpu_enums.h"

#include <stddef.h>
#include <string.h>

#include "base/macros.h"

#define OVERHEAD_SHIFT 16 /* kinds of CUPTI's own overhead are numbered above it */
#define COUNT(array) ((int64_t)COUNT_OF(array))

static const struct gpu_word copy_kinds[] = {
#define COPY_KIND(number, NAME, word, text, kineto, nsys) [number] = { word, text, kineto, number },
#include "fmt/gpu_enums.def"
};

static const struct gpu_word memory_kinds[] = {
#define MEMORY_KIND(number, NAME, word, text, at, nsys) [number] = { word, text, text, at },
#define MEMORY_KIND_ELSEWHERE(number, NAME, word, text) [number] = { word, text, text, -1 },
#include "fmt/gpu_enums.def"
};

static const struct gpu_word sync_kinds[] = {
#define SYNC_KIND(number, NAME, word, text, kineto, label, nsys) [number] = { word, text, kineto, number },
#include "fmt/gpu_enums.def"
};

static const char *const memory_operations[] = {
#define MEMORY_OPERATION(number, NAME, word, at, label, nsys) [number] = word,
#include "fmt/gpu_enums.def"
};

static const struct gpu_word jit_operations[] = {
#define JIT_OPERATION(number, NAME, word, kineto) [number] = { word, NULL, kineto, number },
#include "fmt/gpu_enums.def"
};

static const struct gpu_word overheads[] = {
#define OVERHEAD_KIND(number, NAME, word, text) [number] = { word, text, NULL, number },
#include "fmt/gpu_enums.def"
};

const struct gpu_word *gpu_copy_kind(int64_t number)
{
	return &copy_kinds[number > 0 && number < COUNT(copy_kinds) ? number : 0];
}

const struct gpu_word *gpu_memory_kind(int64_t number)
{
	return &memory_kinds[number > 0 && number < COUNT(memory_kinds) ? number : 0];
}

const struct gpu_word *gpu_sync_kind(int64_t number)
{
	return &sync_kinds[number > 0 && number < COUNT(sync_kinds) ? number : 0];
}

const char *gpu_memory_operation_word(int64_t number)
{
	return number > 0 && number < COUNT(memory_operations) ? memory_operations[number] : NULL;
}

const char *gpu_jit_operation_word(int64_t number)
{
	return number > 0 && number < COUNT(jit_operations) ? jit_operations[number].word : NULL;
}

const char *gpu_jit_operation_kineto(int64_t number)
{
	return jit_operations[number > 0 && number < COUNT(jit_operations) ? number : GPU_JIT_COMPILE].kineto;
}

int64_t gpu_overhead_number(int64_t kind)
{
	int64_t own = kind >> OVERHEAD_SHIFT;

	if (kind == GPU_OVERHEAD_UNKNOWN || kind == GPU_OVERHEAD_COMPILER)
		return kind;
	return own >= 1 && own + 1 < COUNT(overheads) && kind == own << OVERHEAD_SHIFT ? own + 1 : -1;
}

const char *gpu_overhead_word(int64_t kind)
{
	int64_t number = gpu_overhead_number(kind);

	return number >= 0 ? overheads[number].word : NULL;
}

const char *gpu_overhead_text(int64_t kind)
{
	int64_t number = gpu_overhead_number(kind);

	return number >= 0 ? overheads[number].text : NULL;
}

int64_t gpu_memory_kind_of_nsys(int64_t nsys)
{
	for (int64_t i = 0; nsys >= 0 && i < COUNT(memory_kinds); i++)
		if (memory_kinds[i].nsys == nsys)
			return i;
	return GPU_MEMORY_UNKNOWN;
}

int64_t gpu_memory_kind_of_text(const char *text)
{
	int64_t found = GPU_MEMORY_UNKNOWN;
	size_t longest = 0;

	for (int64_t i = 1; i < COUNT(memory_kinds); i++) {
		size_t len = strlen(memory_kinds[i].text);

		if (len > longest && strncmp(text, memory_kinds[i].text, len) == 0) {
			found = i;
			longest = len;
		}
	}
	return found;
}
