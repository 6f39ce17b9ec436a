/* Names of kernels, as -k and --kernel-id mean them. What was found out about a name is kept. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/cuda/kernel/kernel.h"
#include "fmt/launch_filter.h"
#include "vendor/dl.h"

#define NAMES 4096u

static const struct kernel_request *request;
static const struct kernel_id *ids;
static struct name_pattern pattern;
static char *(*demangle)(const char *name, char *buffer, size_t *size, int *status);
/* CUPTI keeps a name at one address while its module is loaded. A module loaded later may have another there, so the text is
 * compared, by its hash. */
static struct kernel_name known[NAMES];

/* C++'s own demangler, where the program or the system has one; names stay as they are otherwise. */
static void find_demangler(void)
{
	void *library = dlopen("libstdc++.so.6", RTLD_LAZY | RTLD_LOCAL);

	if (library)
		demangle = (char *(*)(const char *, char *, size_t *, int *))dlsym(library, "__cxa_demangle");
}

int kernel_names_prepare(const struct kernel_request *r, const struct kernel_id *all_ids, char *why)
{
	request = r;
	ids = all_ids;
	if ((r->pattern || r->ids.count) && r->name_base != KERNEL_NAME_MANGLED)
		find_demangler();
	return r->pattern ? name_pattern_parse(&pattern, r->pattern, why, KERNEL_WHY_SIZE) : 0;
}

/* Brackets of templates and of parameters may hold each other. */
static size_t skip_brackets(const char *text, size_t at)
{
	int depth = 0;

	for (; text[at]; at++) {
		if (text[at] == '<' || text[at] == '(')
			depth++;
		else if ((text[at] == '>' && (at == 0 || text[at - 1] != '-')) || text[at] == ')')
			depth--;
		if (depth == 0)
			return at + 1;
	}
	return at;
}

/* "void ns::(anonymous namespace)::kernel<int, 4>(float*)" to "kernel", in place. */
static void to_function(char *name)
{
	size_t at = 0, begin = 0, end = 0;

	while (name[at]) {
		if (name[at] == '(' && strncmp(name + at, "(anonymous namespace)", 21) != 0)
			break;
		if (name[at] == '<' || name[at] == '(') {
			end = end > begin ? end : at;
			at = skip_brackets(name, at);
			continue;
		}
		if (name[at] == ' ' || (name[at] == ':' && name[at + 1] == ':')) {
			at += name[at] == ' ' ? 1 : 2;
			begin = at;
			end = 0;
			continue;
		}
		at++;
		end = at;
	}
	memmove(name, name + begin, end > begin ? end - begin : 0);
	name[end > begin ? end - begin : 0] = '\0';
}

uint64_t kernel_hash(uint64_t hash, const void *bytes, size_t size)
{
	const uint8_t *at = bytes;

	for (size_t i = 0; i < size; i++)
		hash = (hash ^ at[i]) * 0x100000001b3u;
	return hash;
}

static void compare(struct kernel_name *entry, const char *name)
{
	entry->base_hash = kernel_hash(entry->base_hash, name, strlen(name));
	entry->matches = !request->pattern || name_pattern_matches(&pattern, name);
	entry->ids = 0;
	for (unsigned i = 0; i < request->ids.count; i++)
		if (!ids[i].has_name || name_pattern_matches(&ids[i].name, name))
			entry->ids |= UINT64_C(1) << i;
}

static void look(struct kernel_name *entry, const char *name)
{
	int status = -1;
	char *plain = NULL;

	if (demangle && request->name_base != KERNEL_NAME_MANGLED)
		plain = demangle(name, NULL, NULL, &status);
	if (plain && request->name_base == KERNEL_NAME_FUNCTION)
		to_function(plain);
	compare(entry, plain ? plain : name);
	free(plain);
}

struct kernel_name *kernel_name_of(const char *name)
{
	const uint64_t begin = 0xcbf29ce484222325u;
	struct kernel_name *entry;
	uint64_t hash;

	name = name ? name : "";
	hash = kernel_hash(begin, name, strlen(name));
	entry = &known[hash % NAMES];
	if (entry->name != name || entry->hash != hash) {
		*entry = (struct kernel_name){ .name = name, .hash = hash, .base_hash = begin };
		look(entry, name);
	}
	return entry;
}
