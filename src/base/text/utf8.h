/* Code points and the bytes of UTF-8. Allocates nothing and calls nothing, so agents may use it, too. */
#ifndef SONDE_BASE_TEXT_UTF8_H
#define SONDE_BASE_TEXT_UTF8_H

#include <stddef.h>
#include <stdint.h>

#define UTF8_REPLACEMENT 0xfffdu

/* How many bytes of valid UTF-8 are the character that begins here; 0 for none. */
static inline size_t utf8_length(const char *text, size_t left)
{
	const unsigned char *s = (const unsigned char *)text;
	size_t len = s[0] < 0x80 ? 1 : s[0] < 0xc2 ? 0 : s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : s[0] < 0xf5 ? 4 : 0;

	if (len == 0 || len > left)
		return 0;
	for (size_t i = 1; i < len; i++)
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	/* Overlong forms, surrogates, beyond the last code point. */
	if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f) || (s[0] == 0xf0 && s[1] < 0x90) ||
	    (s[0] == 0xf4 && s[1] > 0x8f))
		return 0;
	return len;
}

/* Of a code point: 1 to 4. */
static inline size_t utf8_size(uint32_t code)
{
	return code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
}

/* Writes so many bytes, which are returned. */
static inline size_t utf8_put(void *to, uint32_t code)
{
	size_t size = utf8_size(code);
	uint8_t *bytes = to;

	if (size == 1) {
		bytes[0] = (uint8_t)code;
		return 1;
	}
	for (size_t i = size - 1; i > 0; i--) {
		bytes[i] = (uint8_t)(0x80 | (code & 0x3f));
		code >>= 6;
	}
	bytes[0] = (uint8_t)(0xf00 >> size | code);
	return size;
}

#endif
