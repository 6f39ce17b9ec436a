/* Sizes and types of operators' inputs: from a record to two texts, which repeat. */
#ifndef SONDE_RECORD_TORCH_INPUTS_H
#define SONDE_RECORD_TORCH_INPUTS_H

#include "record/session/session.h"

#define INPUT_TEXTS 1024u

/* By a hash of the record's bytes and the types that they name. */
struct input_texts {
	uint64_t key;
	int64_t since;
	uint64_t shapes; /* string ids */
	uint64_t types;
};

/* A name of a ring, as JSON has it. */
struct input_type {
	uint64_t id;
	char text[48]; /* with quotes; empty: the name is too long for a type */
};

/* JSON as Kineto writes it: [[64, 3], []] and ["float", "Scalar"]. NULL: the bytes make no sense, or there is no memory. Valid until the next
 * call. */
const struct input_texts *input_texts_of(struct session *s, struct input_texts *cache, const struct input_type *types, const uint8_t *bytes,
					 uint32_t size);
void input_type_set(struct input_type *type, uint64_t id, const char *text, size_t size);

#endif
