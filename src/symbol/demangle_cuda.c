/* Names as NVIDIA's tools write them:
 *
 *   void add<int>(int*)                        void add<int>(T1 *)
 *   f<4, true>(float const*)                   f<(int)4, (bool)1>(const float *)
 *   (anonymous namespace)::g<{lambda(int)#2}>  <unnamed>::g<[lambda(int) (instance 2)]>
 *
 * libiberty takes the name apart; parts that are written differently become plain text, and what is left is spacing. */
#include "symbol/demangle.h"

#include <ctype.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <libiberty/demangle.h>

#include "base/buf.h"

#define MANGLED_LIMIT (16u << 10)
#define PLAIN_LIMIT (32u << 10)
#define MOST_STEPS 100000u /* parts may be shared: a short name can stand for very many */
#define MOST_DEPTH 500u
#define MOST_TEXTS 2000u
#define STYLE (DMGL_PARAMS | DMGL_ANSI)

struct printed {
	struct buf text;
	jmp_buf too_long;
};

static void append_cuda_text(const char *piece, size_t len, void *context)
{
	struct printed *out = context;

	if (out->text.len + len > PLAIN_LIMIT || buf_append(&out->text, piece, len) < 0)
		longjmp(out->too_long, 1);
}

/* The printer keeps all it has on the stack: leaving it in the middle loses nothing. */
static int print_bounded(struct demangle_component *part, struct printed *out)
{
	return setjmp(out->too_long) == 0 && cplus_demangle_print_callback(STYLE, part, append_cuda_text, out);
}

static char *print(struct demangle_component *part)
{
	struct printed out = { .text = BUF_INIT };

	if (!print_bounded(part, &out) || !out.text.len || buf_append(&out.text, "", 1) < 0) {
		buf_release(&out.text);
		return NULL;
	}
	return out.text.data;
}

struct rewriting {
	unsigned steps;
	char **texts; /* that parts point to */
	size_t count;
	unsigned voids; /* functions that return nothing, by the looks of the name */
	struct demangle_component nothing;
	bool failed;
};

/* The part is this text from now on, which is freed in the end. */
static void replace_part(struct rewriting *w, struct demangle_component *part, char *text)
{
	if (!text || w->count == MOST_TEXTS || !cplus_demangle_fill_name(part, text, (int)strlen(text))) {
		free(text);
		w->failed = true;
		return;
	}
	w->texts[w->count++] = text;
}

static char *join_demangled_name(const char *before, const char *between, char *after)
{
	char *text = NULL;

	if (after && asprintf(&text, "%s%s%s", before, between, after) < 0)
		text = NULL;
	free(after);
	return text;
}

static void name_parameter(struct rewriting *w, struct demangle_component *part)
{
	char *text = NULL;

	if (asprintf(&text, "T%ld", part->u.s_number.number + 1) < 0)
		text = NULL;
	replace_part(w, part, text);
}

static void name_literal(struct rewriting *w, struct demangle_component *part)
{
	struct demangle_component *type = part->u.s_binary.left, *value = part->u.s_binary.right;
	bool negative = part->type == DEMANGLE_COMPONENT_LITERAL_NEG;
	char *name, *text = NULL;

	if (!type || !value || type->type != DEMANGLE_COMPONENT_BUILTIN_TYPE || value->type != DEMANGLE_COMPONENT_NAME)
		return;
	name = print(type);
	if (!name || asprintf(&text, "(%s)%s%.*s", name, negative ? "-" : "", value->u.s_name.len, value->u.s_name.s) < 0)
		text = NULL;
	free(name);
	replace_part(w, part, text);
}

/* "float const" is "const float"; pointers have it behind them in any case. */
static void name_qualified(struct rewriting *w, struct demangle_component *part)
{
	struct demangle_component *of = part->u.s_binary.left;
	const char *word = part->type == DEMANGLE_COMPONENT_CONST ? "const" : "volatile";

	if (!of)
		return;
	switch (of->type) {
	case DEMANGLE_COMPONENT_POINTER:
	case DEMANGLE_COMPONENT_REFERENCE:
	case DEMANGLE_COMPONENT_RVALUE_REFERENCE:
	case DEMANGLE_COMPONENT_FUNCTION_TYPE:
	case DEMANGLE_COMPONENT_ARRAY_TYPE:
	case DEMANGLE_COMPONENT_PTRMEM_TYPE: return;
	default: replace_part(w, part, join_demangled_name(word, " ", print(of)));
	}
}

/* A function template that something lies in is written with the type it returns, which libiberty does not keep. The mangled name has
 * that behind the template's arguments: nearly always it is void. */
static void put_void(struct rewriting *w, struct demangle_component *function)
{
	struct demangle_component *name, *type;

	if (!function || function->type != DEMANGLE_COMPONENT_TYPED_NAME || !w->voids)
		return;
	name = function->u.s_binary.left;
	type = function->u.s_binary.right;
	if (!name || name->type != DEMANGLE_COMPONENT_TEMPLATE || !type || type->type != DEMANGLE_COMPONENT_FUNCTION_TYPE ||
	    type->u.s_binary.left)
		return;
	w->voids--;
	type->u.s_binary.left = &w->nothing;
}

static unsigned count_voids(const char *linkage)
{
	unsigned count = 0;

	for (; (linkage = strstr(linkage, "Ev")); linkage += 2)
		count++;
	return count ? count - 1 : 0;
}

static bool has_parts(enum demangle_component_type type)
{
	switch (type) {
	case DEMANGLE_COMPONENT_QUAL_NAME:
	case DEMANGLE_COMPONENT_LOCAL_NAME:
	case DEMANGLE_COMPONENT_TYPED_NAME:
	case DEMANGLE_COMPONENT_TEMPLATE:
	case DEMANGLE_COMPONENT_RESTRICT:
	case DEMANGLE_COMPONENT_VOLATILE:
	case DEMANGLE_COMPONENT_CONST:
	case DEMANGLE_COMPONENT_RESTRICT_THIS:
	case DEMANGLE_COMPONENT_VOLATILE_THIS:
	case DEMANGLE_COMPONENT_CONST_THIS:
	case DEMANGLE_COMPONENT_VENDOR_TYPE_QUAL:
	case DEMANGLE_COMPONENT_POINTER:
	case DEMANGLE_COMPONENT_REFERENCE:
	case DEMANGLE_COMPONENT_RVALUE_REFERENCE:
	case DEMANGLE_COMPONENT_FUNCTION_TYPE:
	case DEMANGLE_COMPONENT_ARRAY_TYPE:
	case DEMANGLE_COMPONENT_PTRMEM_TYPE:
	case DEMANGLE_COMPONENT_ARGLIST:
	case DEMANGLE_COMPONENT_TEMPLATE_ARGLIST:
	case DEMANGLE_COMPONENT_CAST:
	case DEMANGLE_COMPONENT_UNARY:
	case DEMANGLE_COMPONENT_BINARY:
	case DEMANGLE_COMPONENT_BINARY_ARGS:
	case DEMANGLE_COMPONENT_TRINARY:
	case DEMANGLE_COMPONENT_TRINARY_ARG1:
	case DEMANGLE_COMPONENT_TRINARY_ARG2:
	case DEMANGLE_COMPONENT_DECLTYPE:
	case DEMANGLE_COMPONENT_PACK_EXPANSION:
	case DEMANGLE_COMPONENT_LITERAL:
	case DEMANGLE_COMPONENT_LITERAL_NEG: return true;
	default: return false;
	}
}

static void rewrite(struct rewriting *w, struct demangle_component *part, unsigned depth)
{
	if (!part || w->failed)
		return;
	if (++w->steps > MOST_STEPS || depth > MOST_DEPTH) {
		w->failed = true;
		return;
	}
	if (part->type == DEMANGLE_COMPONENT_TEMPLATE_PARAM) {
		name_parameter(w, part);
		return;
	}
	if (part->type == DEMANGLE_COMPONENT_LAMBDA)
		rewrite(w, part->u.s_unary_num.sub, depth + 1);
	if (!has_parts(part->type))
		return;
	if (part->type == DEMANGLE_COMPONENT_LOCAL_NAME)
		put_void(w, part->u.s_binary.left);
	rewrite(w, part->u.s_binary.left, depth + 1);
	rewrite(w, part->u.s_binary.right, depth + 1);
	if (part->type == DEMANGLE_COMPONENT_LITERAL || part->type == DEMANGLE_COMPONENT_LITERAL_NEG)
		name_literal(w, part);
	else if (part->type == DEMANGLE_COMPONENT_CONST || part->type == DEMANGLE_COMPONENT_VOLATILE)
		name_qualified(w, part);
}

/* Behind "{lambda": the length up to the bracket that closes it; 0: there is none. */
static size_t lambda_length(const char *text)
{
	size_t at = 0;
	int depth = 1;

	for (; text[at]; at++) {
		depth += text[at] == '{' || text[at] == '(';
		depth -= text[at] == '}' || text[at] == ')';
		if (depth == 0)
			return at;
	}
	return 0;
}

static bool is_after_operator(const struct buf *out)
{
	return out->len >= 8 && memcmp(out->data + out->len - 8, "operator", 8) == 0;
}

static char last_of(const struct buf *out)
{
	return out->len ? out->data[out->len - 1] : '\0';
}

static size_t write_spaced(struct buf *out, const char *text, size_t len);

/* "{lambda(int)#2}" as "[lambda(int) (instance 2)]". */
static size_t write_lambda(struct buf *out, const char *text, size_t len)
{
	size_t whole = lambda_length(text + 1) + 1, sign = whole;

	while (sign && text[sign] != '#')
		sign--;
	if (whole <= 1 || whole >= len || !sign)
		return 0;
	buf_puts(out, "[");
	for (size_t at = 1; at < sign;)
		at += write_spaced(out, text + at, sign - at);
	buf_printf(out, " (instance %.*s)]", (int)(whole - sign - 1), text + sign + 1);
	return whole + 1;
}

/* Writes what the text begins with; returns how much of it that was. */
static size_t write_spaced(struct buf *out, const char *text, size_t len)
{
	static const char unnamed[] = "(anonymous namespace)";
	size_t used;

	if (len >= sizeof(unnamed) - 1 && strncmp(text, unnamed, sizeof(unnamed) - 1) == 0) {
		buf_puts(out, "<unnamed>");
		return sizeof(unnamed) - 1;
	}
	if (len > 7 && strncmp(text, "{lambda", 7) == 0 && (used = write_lambda(out, text, len)) > 0)
		return used;
	if ((*text == '(' || *text == '[') && is_after_operator(out))
		buf_puts(out, " ");
	else if ((*text == '*' || *text == '&') && !is_after_operator(out) && !strchr(" (*&", last_of(out)))
		buf_puts(out, " ");
	else if (len > 1 && *text == ' ' && text[1] == '>' && last_of(out) == '>')
		return 1;
	else if (len > 6 && strncmp(text, " const", 6) == 0 && last_of(out) == '*')
		return 1;
	buf_append(out, text, 1);
	return 1;
}

static char *space_out(const char *text)
{
	size_t len = strlen(text);
	struct buf out = BUF_INIT;

	for (size_t at = 0; at < len;)
		at += write_spaced(&out, text + at, len - at);
	if (!out.len || buf_append(&out, "", 1) < 0) {
		buf_release(&out);
		return NULL;
	}
	return out.data;
}

char *demangle_cuda(const char *linkage)
{
	struct rewriting w = { .texts = calloc(MOST_TEXTS, sizeof(*w.texts)) };
	struct demangle_component *whole = NULL;
	char *text = NULL, *spaced = NULL;
	void *memory = NULL;

	w.voids = cplus_demangle_fill_builtin_type(&w.nothing, "void") ? count_voids(linkage) : 0;
	if (w.texts && linkage[0] == '_' && linkage[1] == 'Z' && strnlen(linkage, MANGLED_LIMIT + 1) <= MANGLED_LIMIT)
		whole = cplus_demangle_v3_components(linkage, STYLE, &memory);
	rewrite(&w, whole, 0);
	if (whole && !w.failed)
		text = print(whole);
	if (text)
		spaced = space_out(text);
	free(text);
	free(memory);
	for (size_t i = 0; i < w.count; i++)
		free(w.texts[i]);
	free(w.texts);
	return spaced;
}

char *demangle_kernel(const char *linkage)
{
	char *name = demangle_cuda(linkage);

	return name ? name : demangle(linkage);
}
