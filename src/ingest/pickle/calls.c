/* Opcodes by which a pickle has the reader call functions, or asks for objects that are not in it. None is carried out. */
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "ingest/pickle/machine.h"

#define PLAIN_ONLY "a snapshot consists of plain data only"

/* Names come from the file: what a terminal could take for a command is left out. */
static void copy_name(char *ret, size_t size, const char *text, size_t len)
{
	size_t i;

	for (i = 0; i < len && i + 1 < size; i++)
		ret[i] = text[i] > ' ' && text[i] < 0x7f ? text[i] : '?';
	ret[i] = '\0';
}

static int refuse_named(struct machine *m, const char *module, size_t module_len, const char *name, size_t name_len)
{
	char module_text[80], name_text[80];

	copy_name(module_text, sizeof(module_text), module, module_len);
	copy_name(name_text, sizeof(name_text), name, name_len);
	return machine_fail(m, "asks to call %s.%s; " PLAIN_ONLY, module_text, name_text);
}

static int refuse_global(struct machine *m, uint8_t letter)
{
	const char *module, *name;
	size_t module_len, name_len;
	char kept[80];

	(void)letter;
	TRY(machine_take_line(m, &module, &module_len));
	copy_name(kept, sizeof(kept), module, module_len);
	TRY(machine_take_line(m, &name, &name_len));
	return refuse_named(m, kept, strlen(kept), name, name_len);
}

static int refuse_global_of_stack(struct machine *m, uint8_t letter)
{
	const struct pickle_value *module, *name;
	uint32_t values[2];

	(void)letter;
	TRY(machine_pop(m, &values[1]));
	TRY(machine_pop(m, &values[0]));
	module = pickle_value(m->to, values[0]);
	name = pickle_value(m->to, values[1]);
	if (module->kind != PICKLE_TEXT || name->kind != PICKLE_TEXT)
		return machine_fail(m, "asks to call something without a name; " PLAIN_ONLY);
	return refuse_named(m, pickle_text(m->to, module)->bytes, pickle_text(m->to, module)->len, pickle_text(m->to, name)->bytes,
			    pickle_text(m->to, name)->len);
}

static int refuse_call(struct machine *m, uint8_t letter)
{
	(void)letter;
	return machine_fail(m, "asks to make an object; " PLAIN_ONLY);
}

static int refuse_extension(struct machine *m, uint8_t letter)
{
	uint64_t number;

	TRY(machine_take_number(m, letter == 0x82 ? 1 : letter == 0x83 ? 2 : 4, &number));
	return machine_fail(m, "asks to call extension %llu; " PLAIN_ONLY, (unsigned long long)number);
}

static int refuse_outside(struct machine *m, uint8_t letter)
{
	(void)letter;
	return machine_fail(m, "asks for an object outside of the file; " PLAIN_ONLY);
}

machine_op *machine_call_op(uint8_t letter)
{
	switch (letter) {
	case 'c':
	case 'i': return refuse_global;
	case 0x93: return refuse_global_of_stack;
	case 'R':
	case 'b':
	case 'o':
	case 0x81:
	case 0x92: return refuse_call;
	case 0x82:
	case 0x83:
	case 0x84: return refuse_extension;
	case 'P':
	case 'Q':
	case 0x97:
	case 0x98: return refuse_outside;
	default: return NULL;
	}
}
