#include "base/buf.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* No capacity left, so that nothing fits any more. */
static int fail_buf(struct buf *b, int error)
{
	b->cap = b->len;
	return b->failed = error;
}

int buf_reserve(struct buf *b, size_t extra)
{
	size_t cap;
	char *data;

	if (b->cap - b->len > extra)
		return 0;
	if (b->failed)
		return b->failed;
	if (extra > (size_t)-1 / 4 - b->len)
		return fail_buf(b, -ENOMEM);
	cap = b->cap ? b->cap : 64;
	while (cap - b->len <= extra)
		cap *= 2;
	data = realloc(b->data, cap);
	if (!data)
		return fail_buf(b, -ENOMEM);
	b->data = data;
	b->cap = cap;
	return 0;
}

int buf_append(struct buf *b, const void *data, size_t len)
{
	int r = buf_reserve(b, len);

	if (r < 0)
		return r;
	if (len)
		memcpy(b->data + b->len, data, len);
	b->len += len;
	return 0;
}

int buf_puts(struct buf *b, const char *text)
{
	return buf_append(b, text, strlen(text));
}

int buf_printf(struct buf *b, const char *format, ...)
{
	va_list args;
	int len, r;

	va_start(args, format);
	len = vsnprintf(NULL, 0, format, args);
	va_end(args);
	if (len < 0)
		return fail_buf(b, -EINVAL);
	r = buf_reserve(b, (size_t)len);
	if (r < 0)
		return r;
	va_start(args, format);
	vsnprintf(b->data + b->len, (size_t)len + 1, format, args);
	va_end(args);
	b->len += (size_t)len;
	return 0;
}

const char *buf_cstr(struct buf *b)
{
	if (buf_reserve(b, 1) < 0)
		return "";
	b->data[b->len] = '\0';
	return b->data;
}

void buf_clear(struct buf *b)
{
	if (b->failed)
		buf_release(b);
	b->len = 0;
}

void buf_release(struct buf *b)
{
	free(b->data);
	*b = (struct buf)BUF_INIT;
}
