/* Names of instructions (SASS), as disassemblers write them. */
#ifndef SONDE_KERNEL_SOURCE_OPCODE_H
#define SONDE_KERNEL_SOURCE_OPCODE_H

#include <stdbool.h>
#include <stddef.h>

#define OPCODE_MAX 64

/* What is left of "@!P0 LDG.E.128.CONSTANT R4, desc[UR4][R2.64]": "LDG"; without modifiers that only say how caches, order and rounding are
 * handled, "LDG.E.128"; with all of them, "LDG.E.128.CONSTANT". */
enum opcode_form { OPCODE_PLAIN, OPCODE_SELECTIVE, OPCODE_ALL };
/* Behind a predicate. */
const char *opcode_start(const char *sass);
/* "" where it is none. */
void opcode_name(const char *sass, enum opcode_form form, char ret[OPCODE_MAX]);
/* What kind of work a plain name is: "Floating Point", "Load/Store" ...; "Other" for one that is not known. */
const char *opcode_category(const char *name);

/* What an instruction does to memory, by its name: "Global", "Load", 32 bits. False where it does nothing. */
struct source_access {
	const char *space;
	const char *operation;
	unsigned bits;
};
bool source_access(const char *sass, struct source_access *ret);

#endif
