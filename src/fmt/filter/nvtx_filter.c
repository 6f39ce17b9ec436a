#include "fmt/filter/nvtx_filter.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_TEXT 4096u

struct parser {
	struct nvtx_filter *filter;
	int is_regex;
	char *why;
	size_t why_size;
};

static int refuse_nvtx_filter(struct parser *p, const char *text)
{
	snprintf(p->why, p->why_size, "%s", text);
	return -1;
}

/* Of `size` characters, the first that is `wanted` and not escaped; `size` where there is none. */
static size_t find_unescaped(const char *text, size_t size, char wanted)
{
	for (size_t i = 0; i < size; i++) {
		if (text[i] == '\\' && i + 1 < size)
			i++;
		else if (text[i] == wanted)
			return i;
	}
	return size;
}

/* The last character is escaped where an odd number of backslashes stands before it. */
static int has_unescaped_end(const char *text, size_t size, char wanted)
{
	size_t slashes = 0;

	if (!size || text[size - 1] != wanted)
		return 0;
	while (slashes + 1 < size && text[size - 2 - slashes] == '\\')
		slashes++;
	return slashes % 2 == 0;
}

/* Escapes of our own signs are taken away; those of expressions stay. */
static void unescape(const struct parser *p, const char *text, size_t size, char *ret)
{
	for (size_t i = 0; i < size; i++) {
		if (text[i] == '\\' && i + 1 < size) {
			if (p->is_regex && !strchr("@,/", text[i + 1]))
				*ret++ = text[i];
			i++;
		}
		*ret++ = text[i];
	}
	*ret = '\0';
}

static int make_pattern(struct parser *p, const char *text, size_t size, struct name_pattern *ret)
{
	char plain[MOST_TEXT + 1];

	unescape(p, text, size, plain);
	if (p->is_regex)
		return name_pattern_regex(ret, plain, NAME_MATCH_PART, p->why, p->why_size);
	return name_pattern_exact(ret, plain) == 0 ? 0 : refuse_nvtx_filter(p, "not enough memory");
}

static int add_filter_range(struct parser *p, const char *text, size_t size)
{
	struct nvtx_filter *f = p->filter;
	struct nvtx_filter_part *part = &f->parts[f->part_count];

	if (!size)
		return refuse_nvtx_filter(p, "a range without a name");
	if (f->part_count == NVTX_FILTER_PARTS)
		return refuse_nvtx_filter(p, "too many ranges");
	*part = (struct nvtx_filter_part){ .kind = NVTX_FILTER_NAME };
	if (f->is_stack && size == 1 && (*text == '*' || *text == '+'))
		part->kind = *text == '*' ? NVTX_FILTER_MANY : NVTX_FILTER_ONE;
	else if (make_pattern(p, text, size, &part->name) < 0)
		return -1;
	f->part_count++;
	return 0;
}

/* Names with a sign between them. */
static int add_parts(struct parser *p, const char *text, size_t size, char sign)
{
	size_t length;

	for (;;) {
		length = find_unescaped(text, size, sign);
		if (add_filter_range(p, text, length) < 0)
			return -1;
		if (length == size)
			return 0;
		text += length + 1;
		size -= length + 1;
	}
}

/* In an expression: "/[" at the beginning and "/]" at the end are brackets of the expression. Their slashes go; the text is a copy. */
static size_t take_own_brackets(char *text, size_t size, int *opens, int *closes)
{
	*opens = size > 1 && text[0] == '/' && text[1] == '[';
	if (*opens)
		memmove(text, text + 1, --size);
	*closes = size > 1 && text[size - 1] == ']' && has_unescaped_end(text, size - 1, '/');
	if (*closes) {
		text[size - 2] = ']';
		size--;
	}
	text[size] = '\0';
	return size;
}

static int add_stack(struct parser *p, const char *text, size_t size)
{
	struct nvtx_filter *f = p->filter;

	/* "A/": what follows the last name says that it is one of a stack. */
	if (has_unescaped_end(text, size, '/'))
		size--;
	if (add_parts(p, text, size, '/') < 0)
		return -1;
	if (f->parts[0].kind != NVTX_FILTER_NAME || f->parts[f->part_count - 1].kind != NVTX_FILTER_NAME)
		return refuse_nvtx_filter(p, "* and + stand between two ranges");
	return 0;
}

static int parse_ranges(struct parser *p, char *text, size_t size)
{
	struct nvtx_filter *f = p->filter;
	int opens = 0, closes = 0;

	if (p->is_regex)
		size = take_own_brackets(text, size, &opens, &closes);
	if (!opens && size && text[0] == '[') {
		f->from_bottom = 1;
		text++;
		size--;
	}
	if (!closes && has_unescaped_end(text, size, ']')) {
		f->to_top = 1;
		size--;
	}
	f->is_stack = f->from_bottom || f->to_top || find_unescaped(text, size, '/') < size;
	if (!size)
		return refuse_nvtx_filter(p, "a range without a name");
	return f->is_stack ? add_stack(p, text, size) : add_parts(p, text, size, ',');
}

static int parse_nvtx_filter(struct parser *p, char *text)
{
	size_t size = strlen(text), at = find_unescaped(text, size, '@');
	struct nvtx_filter *f = p->filter;

	if (at == size)
		return parse_ranges(p, text, size);
	if (!at)
		return refuse_nvtx_filter(p, "a domain without a name");
	if (find_unescaped(text + at + 1, size - at - 1, '@') < size - at - 1)
		return refuse_nvtx_filter(p, "more than one domain: give each an option of its own");
	if (make_pattern(p, text, at, &f->domain) < 0)
		return -1;
	f->has_domain = 1;
	return parse_ranges(p, text + at + 1, size - at - 1);
}

int nvtx_filter_parse(struct nvtx_filter *ret, const char *text, char *why, size_t why_size)
{
	struct parser p = { .filter = ret, .why = why, .why_size = why_size };
	char copy[MOST_TEXT + 1];
	int r;

	memset(ret, 0, sizeof(*ret));
	p.is_regex = strncmp(text, "regex:", 6) == 0;
	text += p.is_regex ? 6 : 0;
	if (strlen(text) > MOST_TEXT)
		return refuse_nvtx_filter(&p, "it is too long");
	strcpy(copy, text);
	r = parse_nvtx_filter(&p, copy);
	if (r < 0)
		nvtx_filter_release(ret);
	return r;
}

static int is_domain(const struct nvtx_filter *f, const char *domain)
{
	if (!f->has_domain)
		return !*domain;
	return name_pattern_matches(&f->domain, *domain ? domain : NVTX_DEFAULT_DOMAIN);
}

/* Bits: places in the stack at which what follows may go on. */
static int matches_stack(const struct nvtx_filter *f, const char *const *names, unsigned depth)
{
	const uint64_t all = (UINT64_C(2) << depth) - 1;
	uint64_t places = f->from_bottom ? 1 : all, next;

	for (unsigned i = 0; i < f->part_count && places; i++) {
		const struct nvtx_filter_part *part = &f->parts[i];

		next = 0;
		if (part->kind == NVTX_FILTER_MANY)
			next = all & ~((places & -places) - 1);
		else if (part->kind == NVTX_FILTER_ONE)
			next = places << 1 & all;
		for (unsigned k = 0; k < depth && part->kind == NVTX_FILTER_NAME; k++)
			if (places >> k & 1 && names[k] && name_pattern_matches(&part->name, names[k]))
				next |= UINT64_C(2) << k;
		places = next;
	}
	return (f->to_top ? places >> depth & 1 : places) != 0;
}

static int matches_started(const struct nvtx_filter *f, const char *domain, const struct nvtx_open_range *ranges, size_t count)
{
	for (unsigned part = 0; part < f->part_count; part++) {
		size_t i = 0;

		while (i < count && (ranges[i].is_pushed || !ranges[i].name || strcmp(ranges[i].domain, domain) != 0 ||
				     !name_pattern_matches(&f->parts[part].name, ranges[i].name)))
			i++;
		if (i == count)
			return 0;
	}
	return 1;
}

static int matches_domain(const struct nvtx_filter *f, const char *domain, const struct nvtx_open_range *ranges, size_t count)
{
	const char *names[NVTX_FILTER_DEPTH];
	unsigned depth = 0;

	if (!f->is_stack)
		return matches_started(f, domain, ranges, count);
	for (size_t i = 0; i < count && depth < NVTX_FILTER_DEPTH; i++)
		if (ranges[i].is_pushed && strcmp(ranges[i].domain, domain) == 0)
			names[depth++] = ranges[i].name;
	return matches_stack(f, names, depth);
}

int nvtx_filter_matches(const struct nvtx_filter *f, const struct nvtx_open_range *ranges, size_t count)
{
	/* Domains are looked at once each: where their first range stands. */
	for (size_t i = 0; i < count; i++) {
		size_t first = 0;

		while (strcmp(ranges[first].domain, ranges[i].domain) != 0)
			first++;
		if (first == i && is_domain(f, ranges[i].domain) && matches_domain(f, ranges[i].domain, ranges, count))
			return 1;
	}
	return 0;
}

void nvtx_filter_release(struct nvtx_filter *f)
{
	name_pattern_release(&f->domain);
	for (unsigned i = 0; i < f->part_count; i++)
		name_pattern_release(&f->parts[i].name);
	memset(f, 0, sizeof(*f));
}
