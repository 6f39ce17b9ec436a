#include "symbol/elf/build_id.h"

#include <string.h>

static const char digits[] = "0123456789abcdef";

size_t build_id_from_text(const char *text, uint8_t *ret)
{
	size_t len = text ? strlen(text) : 0;

	if (len % 2 || len > 2 * BUILD_ID_LIMIT || strspn(text ? text : "", digits) != len)
		return 0;
	for (size_t i = 0; i < len / 2; i++)
		ret[i] = (uint8_t)((strchr(digits, text[2 * i]) - digits) << 4 | (strchr(digits, text[2 * i + 1]) - digits));
	return len / 2;
}

void build_id_to_text(const uint8_t *bytes, size_t size, char *ret)
{
	if (size > BUILD_ID_LIMIT)
		size = 0;
	for (size_t i = 0; i < size; i++) {
		*ret++ = digits[bytes[i] >> 4];
		*ret++ = digits[bytes[i] & 15];
	}
	*ret = '\0';
}
