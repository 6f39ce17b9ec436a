/* Stands in for libtorch_cpu.so: operators that have their values where one or another version of torch has them. It keeps to what
 * libtorch_cpu.so exports; everything else is made up.
 *
 *	LAYOUT 113   as torch 1.13
 *	LAYOUT 200   as torch 2.x: keyword inputs between the inputs and the outputs
 *	LAYOUT 201   the same, built with the older std::string
 *	LAYOUT 12    as 200, with two scopes more in a callback
 *	LAYOUT 999   like none: the sequence number is nowhere to be seen
 *	LAYOUT 0     nothing is exported that could be called */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#if LAYOUT == 12
#define SCOPES 12
#else
#define SCOPES 10
#endif

struct callback {
	void *(*start)(void **context, const void *op);
	void (*end)(const void *op, void *context);
	double sampling;
	uint8_t scopes[SCOPES], needs_inputs, needs_outputs, needs_ids;
};

struct pair {
	void *(*start)(void **context, const void *op);
	void (*end)(const void *op, void *context);
};

struct operator
{
	void *functions;
	struct {
		struct pair *first;
		uint32_t count, cap;
		struct pair room[4];
	} callbacks;
	uint64_t thread;
	uint8_t scope, needs_inputs, needs_outputs, needs_ids;
	uint8_t called;
	struct {
		void **first;
		uint32_t count, cap;
		void *room[4];
	} contexts;
#if LAYOUT == 201
	char *name;
#else
	char *name;
	uint64_t name_rest[3];
#endif
	uint64_t which;
	int64_t sequence;
	const void *inputs;
	uint64_t input_count;
#if LAYOUT != 113
	uint64_t keywords[7];
#endif
	uint64_t outputs[3];
	uint64_t forward;
	uint64_t id;
	uint8_t async;
	int64_t debug;
};

struct entry {
	struct callback callback;
	uint64_t handle;
};

static struct entry global[8];
static __thread struct entry local[8];
static _Atomic uint64_t handles, ids, threads;
static __thread uint64_t this_thread;

#if LAYOUT != 0

static uint64_t add(struct entry *list, struct callback callback)
{
	for (int i = 0; i < 8; i++)
		if (!list[i].handle) {
			list[i].callback = callback;
			return list[i].handle = ++handles;
		}
	abort();
}

uint64_t add_global(struct callback callback) __asm__("_ZN2at17addGlobalCallbackENS_22RecordFunctionCallbackE");
uint64_t add_global(struct callback callback)
{
	return add(global, callback);
}

uint64_t add_local(struct callback callback) __asm__("_ZN2at22addThreadLocalCallbackENS_22RecordFunctionCallbackE");
uint64_t add_local(struct callback callback)
{
	return add(local, callback);
}

void remove_callback(uint64_t handle) __asm__("_ZN2at14removeCallbackEm");
void remove_callback(uint64_t handle)
{
	for (int i = 0; i < 8; i++) {
		if (global[i].handle == handle)
			global[i].handle = 0;
		if (local[i].handle == handle)
			local[i].handle = 0;
	}
}

uint64_t thread_number(void) __asm__("_ZN2at14RecordFunction15currentThreadIdEv");
uint64_t thread_number(void)
{
	if (!this_thread)
		this_thread = ++threads;
	return this_thread;
}

static void use(struct operator* op, const struct entry *list)
{
	for (int i = 0; i < 8; i++) {
		if (!list[i].handle || !list[i].callback.scopes[op->scope])
			continue;
		op->callbacks.room[op->callbacks.count++] = (struct pair){ list[i].callback.start, list[i].callback.end };
		op->needs_inputs |= list[i].callback.needs_inputs;
		op->needs_outputs |= list[i].callback.needs_outputs;
		op->needs_ids |= list[i].callback.needs_ids;
	}
}

void construct(struct operator* op, uint8_t scope) __asm__("_ZN2at14RecordFunctionC1ENS_11RecordScopeE");
void construct(struct operator* op, uint8_t scope)
{
	memset(op, 0, sizeof(*op));
	op->callbacks.first = op->callbacks.room;
	op->callbacks.cap = op->contexts.cap = 4;
	op->scope = scope;
	op->thread = thread_number();
	use(op, global);
	use(op, local);
	op->contexts.first = op->contexts.room;
	op->contexts.count = op->callbacks.count;
#if LAYOUT != 201
	op->name = (char *)op->name_rest;
#endif
	op->sequence = LAYOUT == 999 ? 0 : -1;
	op->debug = LAYOUT == 999 ? 0 : -1;
	op->id = op->needs_ids ? ++ids : 0;
}

static void end(struct operator* op)
{
	for (uint32_t i = 0; i < op->callbacks.count; i++)
		op->callbacks.room[i].end(op, op->contexts.room[i]);
	for (uint32_t i = 0; i < op->callbacks.count; i++)
		if (op->contexts.room[i])
			(*(void (***)(void *))op->contexts.room[i])[1](op->contexts.room[i]);
	op->called = 0;
}

void destroy(struct operator* op) __asm__("_ZN2at14RecordFunctionD1Ev");
void destroy(struct operator* op)
{
	if (op->called)
		end(op);
}

void make_async(struct operator* op) __asm__("_ZN2at14RecordFunction9_setAsyncEv");
void make_async(struct operator* op)
{
	op->async = 1;
}

size_t input_count(const struct operator* op) __asm__("_ZNK2at14RecordFunction10num_inputsEv");
size_t input_count(const struct operator* op)
{
	return op->input_count;
}

const char *name_of(const struct operator* op) __asm__("_ZNK2at14RecordFunction4nameEv");
const char *name_of(const struct operator* op)
{
	return op->name;
}

static void start(struct operator* op, char *name, int64_t sequence, uint64_t forward)
{
	op->name = name;
	op->sequence = sequence;
	op->forward = forward;
	op->called = 1;
	for (uint32_t i = 0; i < op->callbacks.count; i++)
		op->callbacks.room[i].start(&op->contexts.room[i], op);
}

/* Three operators: one within another, and one that ends after that. */
void double_run(void)
{
	struct operator outer, inner, late;

	construct(&outer, 0);
	start(&outer, "aten::outer", 41, 0);
	construct(&inner, 1);
	start(&inner, "aten::inner", 42, 7);
	construct(&late, 7);
	make_async(&late);
	start(&late, "late", -1, 0);
	destroy(&inner);
	destroy(&outer);
	destroy(&late);
}

#else

void double_run(void)
{
}

#endif
