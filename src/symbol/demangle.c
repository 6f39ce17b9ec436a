#include "symbol/demangle.h"

#include <ctype.h>
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
static void append_demangled_text(const char *piece, size_t len, void *context)
{
	struct output *out = context;

	if (out->text.len + len > PLAIN_LIMIT || buf_append(&out->text, piece, len) < 0)
		longjmp(out->too_long, 1);
}

typedef int (*demangler)(const char *mangled, int options, demangle_callbackref callback, void *context);

static int run_bounded(demangler one, const char *linkage, int style, struct output *out)
{
	return setjmp(out->too_long) == 0 && one(linkage, style, append_demangled_text, out);
}

static char *run_demangler(demangler one, const char *linkage, int style)
{
	struct output out = { .text = BUF_INIT };

	if (!run_bounded(one, linkage, style, &out) || !out.text.len || buf_append(&out.text, "", 1) < 0) {
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
	case 'R': return run_demangler(rust_demangle_callback, linkage, STYLE);
	case 'Z':
		plain = run_demangler(rust_demangle_callback, linkage, STYLE);
		return plain ? plain : run_demangler(cplus_demangle_v3_callback, linkage, STYLE);
	case 'D': return len > MANGLED_LIMIT_D ? NULL : dlang_demangle(linkage, STYLE);
	default: return NULL;
	}
}

/* Behind an operator's name: its signs are no brackets. A conversion's type goes to the end. */
static const char *skip_operator(const char *at)
{
	if (strncmp(at, "()", 2) == 0 || strncmp(at, "[]", 2) == 0)
		return at + 2;
	if (*at == ' ')
		return at + strlen(at);
	return at + strspn(at, "<>=!+-*/%^&|~,");
}

static int begins_operator(const char *at)
{
	return strncmp(at, "operator", 8) == 0 && !isalnum((unsigned char)at[8]) && at[8] != '_';
}

/* The last component of a qualified name, without its template arguments. */
static void find_base(const char *name, const char **ret_start, const char **ret_end)
{
	const char *start = name, *end = NULL, *at = name;
	int depth = 0;

	while (*at) {
		if (depth == 0 && at == start && begins_operator(at)) {
			at = end = skip_operator(at + 8);
			continue;
		}
		if (depth == 0 && at[0] == ':' && at[1] == ':') {
			at = start = at + 2;
			end = NULL;
			continue;
		}
		if (strchr("<([{", *at) && depth++ == 0 && !end && at != start)
			end = at;
		if (strchr(">)]}", *at) && depth > 0)
			depth--;
		/* Qualifiers, and what compilers add: [clone .cold]. */
		if (depth == 0 && *at == ' ' && !end)
			end = at;
		at++;
	}
	*ret_start = start;
	*ret_end = end ? end : at;
}

char *demangle_short(const char *linkage)
{
	char *name, *base = NULL;
	const char *start, *end;

	if (strncmp(linkage, "_Z", 2) != 0 || strnlen(linkage, MANGLED_LIMIT + 1) > MANGLED_LIMIT)
		return NULL;
	name = run_demangler(cplus_demangle_v3_callback, linkage, DMGL_ANSI);
	if (!name)
		return NULL;
	find_base(name, &start, &end);
	if (end > start)
		base = strndup(start, (size_t)(end - start));
	free(name);
	return base;
}
