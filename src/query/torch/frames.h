/* Python's functions around operators, from traces made with with_stack=True: their stacks, and the modules they are calls of. */
#ifndef SONDE_QUERY_TORCH_FRAMES_H
#define SONDE_QUERY_TORCH_FRAMES_H

#include "query/torch/ops.h"

/* A call of one of Python's functions. */
struct torch_frame {
	int64_t start;
	int64_t end;
	int32_t name;    /* string id, as of events */
	int32_t path;    /* of the modules that are being called, outermost first: Net_0.Conv2d_1. 0: none */
	uint32_t parent; /* place + 1; 0: none */
	uint32_t module; /* place + 1 of the innermost call of a module, which may be this; 0: none */
	uint32_t thread;
	uint8_t is_module; /* begins a call of a module */
	uint8_t is_hidden; /* torch leaves it out of stacks */
	uint8_t counts;    /* query/engine/scope.h */
};

/* By thread and start. */
struct torch_frames {
	struct torch_frame *frames;
	uint32_t count;
	uint32_t cap;
	uint32_t *of_event; /* of those on CPUs: place + 1 of the innermost around its begin; 0: none */
};

/* Fills `frames` of `t`, and `forward`: backward operators have the stack and the module of their forward operator. */
int torch_load_frames(struct torch_ops *t);
void torch_frames_release(struct torch_frames *f);

/* Place + 1 of the frame that an event belongs to; 0: none. */
uint32_t torch_frame_of(const struct torch_ops *t, uint32_t event);

/* The path of the modules that were being called; 0: none. */
int32_t torch_module_of(const struct torch_ops *t, uint32_t event);

/* The innermost `most` functions around an event, one a line, as a made text; 0: none is known. -ENOMEM. */
int torch_stack_text(struct torch_ops *t, uint32_t event, unsigned most, int32_t *ret);

#endif
