/* A growable run of bytes. BUF_INIT is a valid empty one; release returns it to
 * that state. Appending fails (returns -ENOMEM) instead of aborting, and from then on everything fails until
 * the buffer is cleared: several pieces can be appended and asked about once, with buf_result(). */
#ifndef SONDE_BASE_BUF_H
#define SONDE_BASE_BUF_H

#include <stddef.h>

struct buf {
	char *data;
	size_t len;
	size_t cap;
	int failed; /* 0, or the first error */
};

/* clang-format off */
#define BUF_INIT { NULL, 0, 0, 0 }
/* clang-format on */

int buf_reserve(struct buf *b, size_t extra);
int buf_append(struct buf *b, const void *data, size_t len);
int buf_puts(struct buf *b, const char *text);
int buf_printf(struct buf *b, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The content as a C string (a NUL is kept behind the data, not counted in len). */
const char *buf_cstr(struct buf *b);
static inline int buf_result(const struct buf *b)
{
	return b->failed;
}

void buf_clear(struct buf *b);
void buf_release(struct buf *b);

#endif
