/* Sizes and types of an operator's inputs. Torch has functions for both (its own profiler uses them), which are right, and slow. So they are
 * asked first, for some operators; meanwhile it is found out where a tensor has its sizes: at the one place where all tensors had what torch
 * said. From then on tensors are read here, and torch is asked only about what was not seen before: a type, a kind of input. */
#include <string.h>

#include "agent/torch/names.h"
#include "base/macros.h"

/* An input (c10::IValue): eight bytes of value, then the kind of it. */
#define INPUT_BYTES 16u
#define KIND_TENSOR 1u
#define KINDS 64u
#define TYPES 64u
#define MOST_INPUTS 64u
#define MOST_DIMS 64u
/* Sizes up to so many stand in the tensor, others elsewhere; then as many strides. */
#define SIZES_INSIDE 5u
#define SIZES_WORDS (1 + 2 * SIZES_INSIDE)
/* Behind them: offset in the storage, number of elements, type. */
#define ELEMENTS_BEHIND (8 * (SIZES_WORDS + 1))
#define TYPE_BEHIND (8 * (SIZES_WORDS + 2))
/* Words of a tensor in which they are looked for. */
#define TENSOR_WORDS 64u
#define ENOUGH_TENSORS 8u

struct vector {
	uint8_t *first, *end, *room;
};

struct known_text {
	_Atomic uint32_t known;
	struct torch_text text;
	char room[32];
};

static struct {
	_Atomic uint32_t busy;
	_Atomic uint32_t sizes; /* where they are, in bytes; 0: not known yet */
	uint32_t started;
	uint32_t seen;
	uint64_t candidates; /* by word */
	struct known_text kinds[KINDS];
	struct known_text types[TYPES];
} learnt;

static const void *inputs_of(const void *op, uint64_t *ret_count)
{
	const uint64_t *inputs = (const void *)((const uint8_t *)op + torch_state.layout.inputs);

	*ret_count = inputs[1] < MOST_INPUTS ? inputs[1] : MOST_INPUTS;
	return (const void *)(uintptr_t)inputs[0];
}

static inline uint32_t kind_at(const uint8_t *input)
{
	return *(const uint32_t *)(const void *)(input + 8);
}

/* What a text of torch's is called in traces; what has no name there is nothing. */
static const char *trace_type(uint32_t kind, const char *text)
{
	static const char *const scalars[] = { "Int", "Double", "Bool", "ComplexDouble", "SymInt", "SymFloat", "SymBool" };

	if (kind == KIND_TENSOR)
		return text;
	for (size_t i = 0; i < COUNT_OF(scalars); i++)
		if (strcmp(text, scalars[i]) == 0)
			return "Scalar";
	return "";
}

static void remember_text(struct known_text *known, const char *text)
{
	size_t length = strlen(text);

	if (atomic_load_explicit(&known->known, memory_order_relaxed) || length >= sizeof(known->room))
		return;
	memcpy(known->room, text, length + 1);
	known->text = torch_text_of(known->room);
	atomic_store_explicit(&known->known, 1, memory_order_release);
}

static int holds_sizes(const uint64_t *tensor, unsigned word, const int64_t *dims, uint64_t count)
{
	int64_t outside[MOST_DIMS], elements = 1;
	const int64_t *stored = (const int64_t *)&tensor[word + 1];

	if (tensor[word] != count || word + SIZES_WORDS + 2 >= TENSOR_WORDS)
		return 0;
	if (count > SIZES_INSIDE) {
		if (agent_copy_readable(outside, (uintptr_t)tensor[word + 1], (uint32_t)(count * 8)) != count * 8)
			return 0;
		stored = outside;
	}
	for (uint64_t i = 0; i < count; i++) {
		if (stored[i] != dims[i])
			return 0;
		elements *= dims[i];
	}
	return (int64_t)tensor[word + SIZES_WORDS + 1] == elements;
}

/* One tensor of which torch has told the sizes: places that have something else are out. */
static void compare_tensor(const uint8_t *input, const int64_t *dims, uint64_t count)
{
	uint64_t tensor[TENSOR_WORDS] = { 0 }, fitting = 0;

	if (agent_copy_readable(tensor, (uintptr_t) * (const uint64_t *)(const void *)input, sizeof(tensor)) < sizeof(tensor) / 2)
		return;
	for (unsigned word = 1; word < TENSOR_WORDS; word++)
		if (holds_sizes(tensor, word, dims, count))
			fitting |= 1ull << word;
	learnt.candidates = learnt.started ? learnt.candidates & fitting : fitting;
	learnt.started = 1;
	learnt.seen++;
	if (learnt.seen >= ENOUGH_TENSORS && learnt.candidates && !(learnt.candidates & (learnt.candidates - 1)))
		atomic_store(&learnt.sizes, (uint32_t)__builtin_ctzll(learnt.candidates) * 8);
}

static void learn(const uint8_t *input, const char *type, const int64_t *dims, uint64_t count)
{
	uint32_t kind = kind_at(input), sizes = atomic_load(&learnt.sizes);
	uint16_t number;

	if (kind != KIND_TENSOR) {
		if (kind < KINDS)
			remember_text(&learnt.kinds[kind], trace_type(kind, type));
		return;
	}
	if (!sizes) {
		/* One without sizes is at many places. */
		if (count && *type)
			compare_tensor(input, dims, count);
		return;
	}
	number = *(const uint16_t *)(const void *)(*(const uint8_t *const *)(const void *)input + sizes + TYPE_BEHIND);
	if (number < TYPES)
		remember_text(&learnt.types[number], type);
}

struct writing {
	struct agent_thread_memory *memory;
	uint8_t *at;
	uint8_t *end;
};

/* Returns 0 where there is no more room for another one. */
static inline int write_input(struct writing *w, const struct torch_text *type, const int64_t *dims, uint64_t count)
{
	int number = type->length ? torch_name_number(w->memory, type) : -1;
	uint32_t word = (uint32_t)count << TORCH_INPUT_COUNT_SHIFT, wide = 0;

	if (w->at + 4 + 8 * count > w->end)
		return 0;
	if (number >= 0)
		word |= (uint32_t)number | TORCH_INPUT_TYPED;
	for (uint64_t i = 0; i < count; i++)
		wide |= (uint32_t)((uint64_t)dims[i] >> 32 != 0);
	*(uint32_t *)(void *)w->at = word | (wide ? TORCH_INPUT_WIDE : 0);
	w->at += 4;
	for (uint64_t i = 0; i < count; i++) {
		if (wide)
			memcpy(w->at, &dims[i], 8);
		else
			*(uint32_t *)(void *)w->at = (uint32_t)dims[i];
		w->at += wide ? 8 : 4;
	}
	return 1;
}

static const char *string_at(const struct vector *strings, uint64_t index, size_t size)
{
	return *(const char *const *)(const void *)(strings->first + index * size);
}

static void give_back(void *memory)
{
	if (memory && torch_state.call.give_back)
		torch_state.call.give_back(memory);
}

/* Strings of 32 bytes have short texts within themselves; those of 8 bytes are shared, and stay. */
static void release_strings(const struct vector *strings, uint64_t count, size_t size)
{
	for (uint64_t i = 0; i < count && size > 8; i++)
		if (string_at(strings, i, size) != (const char *)strings->first + i * size + 16)
			give_back(*(void **)(void *)(strings->first + i * size));
	give_back(strings->first);
}

static void release_sizes(const struct vector *sizes, uint64_t count)
{
	for (uint64_t i = 0; i < count; i++)
		give_back(((struct vector *)(void *)sizes->first)[i].first);
	give_back(sizes->first);
}

/* As torch says. It may throw an exception: nothing is held meanwhile. */
static AGENT_COLD void ask_torch(struct writing *w, const void *op)
{
	size_t string_size = torch_state.call.types_are_short ? 8 : 32;
	uint64_t count, type_count, dim_count;
	const uint8_t *input = inputs_of(op, &count);
	struct vector sizes, types;
	uint32_t free = 0;
	int mine;

	torch_state.call.sizes(&sizes, op, 0);
	torch_state.call.types(&types, op);
	type_count = (uint64_t)(types.end - types.first) / string_size;
	dim_count = (uint64_t)(sizes.end - sizes.first) / sizeof(struct vector);
	mine = atomic_compare_exchange_strong(&learnt.busy, &free, 1);
	for (uint64_t i = 0; i < count && i < type_count && i < dim_count; i++, input += INPUT_BYTES) {
		const struct vector *dims = (const struct vector *)(void *)sizes.first + i;
		uint64_t here = (uint64_t)(dims->end - dims->first) / 8;
		const char *type = string_at(&types, i, string_size);
		struct torch_text text = torch_text_of(trace_type(kind_at(input), type));

		here = here < MOST_DIMS ? here : MOST_DIMS;
		if (mine)
			learn(input, type, (const int64_t *)(void *)dims->first, here);
		if (!write_input(w, &text, (const int64_t *)(void *)dims->first, here))
			break;
	}
	if (mine)
		atomic_store(&learnt.busy, 0);
	release_strings(&types, type_count, string_size);
	release_sizes(&sizes, dim_count);
}

static inline const struct torch_text *text_of(const struct known_text *known)
{
	return agent_likely(atomic_load_explicit(&known->known, memory_order_acquire)) ? &known->text : NULL;
}

/* Returns 0 where torch must be asked. */
static inline int read_tensor(struct writing *w, const uint8_t *tensor, uint32_t offset)
{
	uint64_t count = *(const uint64_t *)(const void *)(tensor + offset);
	uint16_t number = *(const uint16_t *)(const void *)(tensor + offset + TYPE_BEHIND);
	const struct torch_text *type = number < TYPES ? text_of(&learnt.types[number]) : NULL;
	const int64_t *dims = (const int64_t *)(const void *)(tensor + offset + 8);

	if (agent_unlikely(!type || count > MOST_DIMS))
		return 0;
	if (agent_unlikely(count > SIZES_INSIDE))
		dims = *(const int64_t *const *)(const void *)dims;
	/* A tensor that is not defined has no type. */
	write_input(w, type, dims, type->length ? count : 0);
	return 1;
}

static inline int read_inputs(struct writing *w, const void *op)
{
	uint32_t offset = atomic_load_explicit(&learnt.sizes, memory_order_acquire), kind;
	const struct torch_text *text;
	const uint8_t *input;
	uint64_t count;

	if (agent_unlikely(!offset))
		return 0;
	input = inputs_of(op, &count);
	for (uint64_t i = 0; i < count; i++, input += INPUT_BYTES) {
		kind = kind_at(input);
		if (kind == KIND_TENSOR) {
			if (!read_tensor(w, *(const uint8_t *const *)(const void *)input, offset))
				return 0;
			continue;
		}
		text = kind < KINDS ? text_of(&learnt.kinds[kind]) : NULL;
		if (!text)
			return 0;
		write_input(w, text, NULL, 0);
	}
	return 1;
}

uint32_t torch_write_inputs(struct agent_thread_memory *memory, const void *op, uint8_t *to)
{
	struct writing w = { memory, to, to + TORCH_INPUTS_ROOM };

	if (agent_likely(read_inputs(&w, op)))
		return (uint32_t)(w.at - to);
	w.at = to;
	ask_torch(&w, op);
	return (uint32_t)(w.at - to);
}
