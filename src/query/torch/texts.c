#include <string.h>

#include "base/buf.h"
#include "query/torch/ops.h"

int32_t torch_made_text(struct keymap *texts, const char *text)
{
	uint32_t number = texts->count < INT32_MAX ? keymap_number(texts, text, strlen(text)) : KEYMAP_NONE;

	return number == KEYMAP_NONE ? 0 : -(int32_t)number - 1;
}

/* "[[64,3],[],[[2],[3]]]" becomes "[[64, 3], [], []]": torch has no shapes of lists of tensors. */
int32_t torch_shapes_text(struct keymap *texts, const char *json)
{
	struct buf text = BUF_INIT;
	size_t argument = 0; /* where the current one begins in the text */
	unsigned depth = 0, is_list = 0, closes;
	int32_t id = 0;
	int r = 0;

	for (; *json && r >= 0; json++) {
		if (*json == '[' && ++depth == 2)
			argument = text.len;
		is_list = depth > 2 || (is_list && depth == 2);
		closes = *json == ']' && depth == 2 && is_list;
		depth -= *json == ']' && depth > 0;
		if (closes) {
			text.len = argument;
			is_list = 0;
			r = buf_puts(&text, "[]");
		} else if (*json == ',') {
			r = buf_puts(&text, ", ");
		} else if (!strchr(" \t\r\n", *json)) {
			r = buf_append(&text, json, 1);
		}
		if (depth > 64)
			break;
	}
	if (r >= 0)
		id = torch_made_text(texts, buf_cstr(&text));
	buf_release(&text);
	return id;
}
