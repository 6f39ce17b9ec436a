/* Operators as torch's emit_nvtx names its ranges: "aten::mm, seq = 5, op_id = 7, sizes = [[2, 3], [3, 4]]". Each part may be missing. */
#include <stdlib.h>
#include <string.h>

#include "base/macros.h"
#include "query/torch/ops.h"

static const char sequence_part[] = ", seq = ", id_part[] = ", op_id = ", sizes_part[] = ", sizes = ";

/* "[[2, 3], [], [[1], [2]]]": where it ends. */
static const char *end_of_list(const char *at)
{
	unsigned depth = 0;

	for (; *at; at++) {
		depth += *at == '[';
		if (*at == ']' && --depth == 0)
			return at + 1;
		if (!depth)
			return at;
	}
	return at;
}

bool torch_parse_nvtx(const char *text, struct torch_nvtx_text *ret)
{
	const char *sequence = strstr(text, sequence_part), *id = strstr(text, id_part), *sizes = strstr(text, sizes_part);
	const char *parts[] = { sequence, id, sizes }, *end = text + strlen(text);

	if (!sequence && !id && !sizes && strncmp(text, "aten::", 6) != 0)
		return false;
	for (unsigned i = 0; i < COUNT_OF(parts); i++)
		if (parts[i] && parts[i] < end)
			end = parts[i];
	ret->name_len = (size_t)(end - text);
	ret->sequence = sequence ? strtoll(sequence + sizeof(sequence_part) - 1, NULL, 10) : -1;
	ret->sizes = sizes ? sizes + sizeof(sizes_part) - 1 : NULL;
	ret->sizes_len = sizes ? (size_t)(end_of_list(ret->sizes) - ret->sizes) : 0;
	return ret->name_len > 0;
}
