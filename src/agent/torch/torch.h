/* Operators of PyTorch: torch calls us when one begins and when one ends (at::RecordFunction). Nothing of torch's is needed to build this:
 * its functions are found by their names, and the places of values within an operator are looked for in one that we make (layout.c). */
#ifndef SONDE_AGENT_TORCH_TORCH_H
#define SONDE_AGENT_TORCH_TORCH_H

#include "agent/core/agent.h"
#include "agent/core/elf_object.h"
#include "fmt/torch_wire.h"

#pragma GCC visibility push(hidden)

/* at::RecordFunctionCallback, passed by value. Behind the scopes follow needs_inputs, needs_outputs and needs_ids. It is a little longer than
 * torch's own, so that one with more scopes reads nothing else. */
struct torch_callback {
	void *(*start)(void **context, const void *op); /* returns a std::unique_ptr, in memory of the caller's */
	void (*end)(const void *op, void *context);
	double sampling;
	uint8_t flags[40];
};

/* Scopes that torch 1.13 to 2.11 has. */
#define TORCH_SCOPES_USUAL 10u
#define TORCH_SCOPES_MOST 24u

struct torch_functions {
	uint64_t (*add_global)(struct torch_callback callback);
	uint64_t (*add_to_thread)(struct torch_callback callback);
	void (*remove)(uint64_t handle);
	const char *(*name)(const void *op);
	uint64_t (*thread_number)(void);
	void (*construct)(void *op, uint8_t scope);
	void (*destroy)(void *op);
	void (*make_async)(void *op);
	size_t (*input_count)(const void *op);
	/* Sizes and types of inputs: vectors of vectors, and of strings. May be missing. */
	void (*sizes)(void *ret, const void *op, uint8_t flatten);
	void (*types)(void *ret, const void *op);
	void (*give_back)(void *memory); /* operator delete; NULL: nothing is given back */
	uint32_t types_are_short;        /* strings have 8 bytes */
};

/* Where an operator has its values, in bytes. */
struct torch_layout {
	uint32_t usable; /* callbacks are what we think they are */
	uint32_t known;  /* 0: nothing but the name can be had */
	uint32_t scopes;
	uint32_t scope;
	uint32_t thread;
	uint32_t sequence;
	uint32_t inputs; /* address and count */
	uint32_t forward;
	uint32_t async;
};

struct torch_state {
	struct torch_functions call;
	struct torch_layout layout;
	uint32_t with_inputs;    /* operators are recorded with sizes and types of their inputs */
	_Atomic uint64_t handle; /* of our callbacks; 0: torch does not call us */
};

extern struct torch_state torch_state;

/* Finds out where an operator has its values. No callback of anybody's is called. */
void torch_find_layout(const struct torch_functions *call, struct torch_layout *ret);

/* The inputs of an operator that begins, as fmt/torch_wire.h has them: how many bytes. */
#define TORCH_INPUTS_ROOM 1024u
uint32_t torch_write_inputs(struct agent_thread_memory *memory, const void *op, uint8_t *to);

/* What torch calls. */
void *torch_operator_started(void **context, const void *op);
void torch_operator_ended(const void *op, void *context);
/* Contexts are handed out from here on. */
void torch_prepare_contexts(void);
/* The recording is over: torch calls us no more. */
AGENT_COLD void torch_leave(void);

#pragma GCC visibility pop

#endif
