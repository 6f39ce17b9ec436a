#include "symbol/demangle.h"

#include <setjmp.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <libiberty/demangle.h>

#include "base/buf.h"

/* A short name can stand for a text that would fill memory: both ends are bounded, and libiberty's own
 * limit on nesting stays on. */
#define MANGLED_LIMIT (16u << 10)
#define MANGLED_LIMIT_D (1u << 10)
#define PLAIN_LIMIT (32u << 10)
#define STYLE (DMGL_PARAMS | DMGL_ANSI)

struct output {
	struct buf text;
	jmp_buf too_long;
};

/* The demanglers keep all they have on the stack: leaving them in the middle loses nothing. */
static void take_piece(const char *piece, size_t len, void *context)
{
	struct output *out = context;

	if (out->text.len + len > PLAIN_LIMIT || buf_append(&out->text, piece, len) < 0)
		longjmp(out->too_long, 1);
}

typedef int (*demangler)(const char *mangled, int options, demangle_callbackref callback, void *context);

static int run_bounded(demangler one, const char *linkage, struct output *out)
{
	return setjmp(out->too_long) == 0 && one(linkage, STYLE, take_piece, out);
}

static char *run(demangler one, const char *linkage)
{
	struct output out = { .text = BUF_INIT };

	if (!run_bounded(one, linkage, &out) || !out.text.len || buf_append(&out.text, "", 1) < 0) {
		buf_release(&out.text);
		return NULL;
	}
	return out.text.data;
}

char *demangle(const char *linkage)
{
	size_t len = strnlen(linkage, MANGLED_LIMIT + 1);
	char *plain;

	if (linkage[0] != '_' || len > MANGLED_LIMIT)
		return NULL;
	switch (linkage[1]) {
	case 'R':
		return run(rust_demangle_callback, linkage);
	case 'Z':
		plain = run(rust_demangle_callback, linkage);
		return plain ? plain : run(cplus_demangle_v3_callback, linkage);
	case 'D':
		return len > MANGLED_LIMIT_D ? NULL : dlang_demangle(linkage, STYLE);
	default:
		return NULL;
	}
}
