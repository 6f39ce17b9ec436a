#include "symbol/kallsyms.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/buf.h"
#include "base/cleanup.h"

#define READ_SIZE (64u << 10)
#define NAME_LIMIT 512u /* the kernel's own */
#define SYMBOL_LIMIT (4u << 20)
#define TEXT_LIMIT (256u << 20)
#define MODULE_LIMIT 4096u
#define PAGE 4096u /* a last symbol ends at most a page after the one it is in */

struct entry {
	uint64_t address;
	uint32_t name;   /* place in names */
	uint16_t module; /* 1 + place in module_names; 0: the kernel */
	uint16_t rank;   /* of those at the same address the lowest stands for all */
};

struct kallsyms {
	struct entry *entries;
	size_t count, cap;
	struct buf names;       /* each ends with a NUL */
	uint32_t *module_names; /* places in names */
	uint64_t *module_starts;
	uint32_t module_count;
	uint64_t text_start;
	bool any_line, any_address;
};

struct line {
	uint64_t address;
	char type;
	const char *name, *module;
	size_t name_len, module_len;
};

static int parse_hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* "ADDRESS TYPE NAME[\t[MODULE]]" */
static bool parse_kallsyms_line(const char *at, const char *end, struct line *ret)
{
	const char *digits = at, *stop;

	ret->address = 0;
	for (; at < end && parse_hex_digit(*at) >= 0; at++)
		ret->address = ret->address << 4 | (unsigned)parse_hex_digit(*at);
	if (at == digits || at - digits > 16 || end - at < 4 || at[0] != ' ' || at[2] != ' ')
		return false;
	ret->type = at[1];
	ret->name = at + 3;
	stop = memchr(ret->name, '\t', (size_t)(end - ret->name));
	ret->name_len = (size_t)((stop ? stop : end) - ret->name);
	ret->module = NULL;
	ret->module_len = 0;
	if (stop && end - stop > 3 && stop[1] == '[' && end[-1] == ']') {
		ret->module = stop + 2;
		ret->module_len = (size_t)(end - 1 - ret->module);
	}
	return ret->name_len > 0 && ret->name_len <= NAME_LIMIT && ret->module_len <= NAME_LIMIT;
}

static bool text_is(const struct line *line, const char *text)
{
	return line->name_len == strlen(text) && memcmp(line->name, text, line->name_len) == 0;
}

static bool has_name_tail(const struct line *line, const char *tail)
{
	size_t len = strlen(tail);

	return line->name_len >= len && memcmp(line->name + line->name_len - len, tail, len) == 0;
}

/* Names of places between functions come last. */
static uint16_t rank_of(const struct line *line)
{
	if (text_is(line, "_stext") || text_is(line, "_text") || text_is(line, "_etext") || has_name_tail(line, "text_start") ||
	    has_name_tail(line, "text_end"))
		return 9;
	switch (line->type) {
	case 'T': return 0;
	case 't': return 1;
	default: return 2; /* weak */
	}
}

static int keep_text(struct kallsyms *k, const char *text, size_t len, uint32_t *ret)
{
	if (k->names.len + len + 1 > TEXT_LIMIT || buf_reserve(&k->names, len + 1) < 0)
		return -ENOMEM;
	*ret = (uint32_t)k->names.len;
	memcpy(k->names.data + k->names.len, text, len);
	k->names.data[k->names.len + len] = '\0';
	k->names.len += len + 1;
	return 0;
}

/* Symbols of a module stand together: the last one is looked at first. */
static int module_of(struct kallsyms *k, const struct line *line, uint16_t *ret)
{
	for (uint32_t i = k->module_count; i-- > 0;) {
		const char *name = k->names.data + k->module_names[i];

		if (strlen(name) == line->module_len && memcmp(name, line->module, line->module_len) == 0) {
			*ret = (uint16_t)(i + 1);
			return 0;
		}
	}
	if (k->module_count == MODULE_LIMIT || !LIST_ROOM(k->module_names, k->module_count) ||
	    !LIST_ROOM(k->module_starts, k->module_count) ||
	    keep_text(k, line->module, line->module_len, &k->module_names[k->module_count]) < 0)
		return -ENOMEM;
	k->module_starts[k->module_count] = UINT64_MAX;
	*ret = (uint16_t)++k->module_count;
	return 0;
}

static int add_kallsyms_entry(struct kallsyms *k, const struct line *line)
{
	struct entry *e;
	int r;

	k->any_line = true;
	if (line->address)
		k->any_address = true;
	if (!line->type || !strchr("tTwW", line->type) || !line->address || k->count == SYMBOL_LIMIT)
		return 0;
	if (!ARRAY_ROOM(k->entries, k->count, k->cap, 1))
		return -ENOMEM;
	e = &k->entries[k->count];
	e->address = line->address;
	e->rank = rank_of(line);
	e->module = 0;
	if (line->module && (r = module_of(k, line, &e->module)) < 0)
		return r;
	if ((r = keep_text(k, line->name, line->name_len, &e->name)) < 0)
		return r;
	if (e->module && line->address < k->module_starts[e->module - 1])
		k->module_starts[e->module - 1] = line->address;
	if (text_is(line, "_stext") || (!k->text_start && text_is(line, "_text")))
		k->text_start = line->address;
	k->count++;
	return 0;
}

/* Takes the whole lines at the front of the buffer; says how many bytes they were, or a negative errno. */
static ptrdiff_t take_lines(struct kallsyms *k, const char *data, size_t size)
{
	const char *at = data, *end = data + size, *newline;
	struct line line;

	while (at < end && (newline = memchr(at, '\n', (size_t)(end - at)))) {
		if (parse_kallsyms_line(at, newline, &line))
			TRY(add_kallsyms_entry(k, &line));
		at = newline + 1;
	}
	return at - data;
}

static int read_kallsyms(struct kallsyms *k, int fd, struct error *err)
{
	char buffer[READ_SIZE];
	size_t held = 0;

	for (;;) {
		ssize_t n = read(fd, buffer + held, sizeof(buffer) - held);
		ptrdiff_t taken;

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return error_set_errno(err, errno, "reading the kernel's symbols");
		if (n == 0)
			return 0;
		held += (size_t)n;
		taken = take_lines(k, buffer, held);
		if (taken < 0)
			return error_set(err, ENOMEM, "no memory for the kernel's symbols");
		held -= (size_t)taken;
		memmove(buffer, buffer + taken, held);
		if (held == sizeof(buffer))
			held = 0; /* no line is that long: not what the kernel writes */
	}
}

static int compare_kallsyms(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	return x->name < y->name ? -1 : x->name > y->name;
}

/* The kernel gives them nearly in order. Of several at one address one is kept. */
static void put_in_order(struct kallsyms *k)
{
	size_t kept = 0;

	qsort(k->entries, k->count, sizeof(*k->entries), compare_kallsyms);
	for (size_t i = 0; i < k->count; i++)
		if (!kept || k->entries[kept - 1].address != k->entries[i].address)
			k->entries[kept++] = k->entries[i];
	k->count = kept;
}

int kallsyms_load(struct kallsyms **ret, const char *path, struct error *err)
{
	struct kallsyms *k = calloc(1, sizeof(*k));
	int fd, r;

	if (!k)
		return error_set(err, ENOMEM, "no memory for the kernel's symbols");
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0) {
		r = error_set_errno(err, errno, "the kernel's symbols cannot be read (%s)", path);
	} else {
		r = read_kallsyms(k, fd, err);
		close(fd);
	}
	if (r == 0 && k->count == 0)
		r = k->any_line && !k->any_address ? error_set(err, EACCES, "the kernel hides its addresses (kernel.kptr_restrict)") :
						     error_set(err, ENODATA, "%s names no function", path);
	if (r < 0) {
		kallsyms_free(k);
		return r;
	}
	put_in_order(k);
	*ret = k;
	return 0;
}

void kallsyms_free(struct kallsyms *k)
{
	if (!k)
		return;
	free(k->entries);
	free(k->module_names);
	free(k->module_starts);
	buf_release(&k->names);
	free(k);
}

static uint64_t end_of(const struct kallsyms *k, size_t i)
{
	const struct entry *e = &k->entries[i];
	uint64_t page_end = (e->address | (PAGE - 1)) + PAGE;

	if (page_end < e->address)
		page_end = UINT64_MAX;
	if (i + 1 == k->count)
		return page_end;
	if (k->entries[i + 1].module != e->module && page_end < k->entries[i + 1].address)
		return page_end;
	return k->entries[i + 1].address;
}

int kallsyms_find(const struct kallsyms *k, uint64_t address, struct kernel_symbol *ret)
{
	size_t low = 0, high = k->count;
	const struct entry *e;
	uint64_t end;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (k->entries[middle].address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == 0)
		return -ENOENT;
	e = &k->entries[low - 1];
	end = end_of(k, low - 1);
	if (address >= end || strcmp(k->names.data + e->name, "_etext") == 0)
		return -ENOENT;
	ret->name = k->names.data + e->name;
	ret->module = e->module ? k->names.data + k->module_names[e->module - 1] : NULL;
	ret->start = e->address;
	ret->size = end - e->address;
	return 0;
}

uint64_t kallsyms_text_start(const struct kallsyms *k)
{
	return k->text_start;
}

uint64_t kallsyms_module_start(const struct kallsyms *k, const char *module)
{
	for (uint32_t i = 0; i < k->module_count; i++)
		if (strcmp(k->names.data + k->module_names[i], module) == 0)
			return k->module_starts[i];
	return 0;
}
