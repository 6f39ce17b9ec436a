/* Which launches are read: by name, then the first so many are passed over, then so many are taken. */
#include <regex.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/kernel/kernel.h"
#include "vendor/dl.h"

#define NAMES 4096u

static const struct kernel_request *request;
static regex_t pattern;
static uint64_t seen, matched, taken;
static char *(*demangle)(const char *name, char *buffer, size_t *size, int *status);
/* Names that were looked at before: CUPTI keeps them at one address while the module is loaded. A module loaded later may have
 * another there, so the text is compared, by its hash. */
static struct {
	const char *name;
	uint64_t hash;
	int matches;
} known[NAMES];

/* C++'s own demangler, where the program or the system has one; names stay as they are otherwise. */
static void find_demangler(void)
{
	void *library = dlopen("libstdc++.so.6", RTLD_LAZY | RTLD_LOCAL);

	if (library)
		demangle = (char *(*)(const char *, char *, size_t *, int *))dlsym(library, "__cxa_demangle");
}

int kernel_choose_prepare(const struct kernel_request *r, char *why)
{
	request = r;
	if (r->pattern && r->name_base != KERNEL_NAME_MANGLED)
		find_demangler();
	if (r->pattern && r->pattern_is_regex && regcomp(&pattern, r->pattern, REG_EXTENDED | REG_NOSUB) != 0) {
		snprintf(why, KERNEL_WHY_SIZE, "'%.120s' is no regular expression", r->pattern);
		return -1;
	}
	return 0;
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

static int compare(const char *name)
{
	return request->pattern_is_regex ? regexec(&pattern, name, 0, NULL, 0) == 0 : strcmp(name, request->pattern) == 0;
}

static int look(const char *name)
{
	int status = -1, result;
	char *plain = NULL;

	if (demangle && request->name_base != KERNEL_NAME_MANGLED)
		plain = demangle(name, NULL, NULL, &status);
	if (!plain)
		return compare(name);
	if (request->name_base == KERNEL_NAME_FUNCTION)
		to_function(plain);
	result = compare(plain);
	free(plain);
	return result;
}

static uint64_t hash_of(const char *name)
{
	uint64_t hash = 0xcbf29ce484222325u;

	for (; *name; name++)
		hash = (hash ^ (uint8_t)*name) * 0x100000001b3u;
	return hash;
}

static int matches(const char *name)
{
	uint64_t hash;
	uint32_t slot;

	if (!request->pattern)
		return 1;
	if (!name)
		return 0;
	hash = hash_of(name);
	slot = (uint32_t)(hash % NAMES);
	if (known[slot].name != name || known[slot].hash != hash) {
		known[slot].name = name;
		known[slot].hash = hash;
		known[slot].matches = look(name);
	}
	return known[slot].matches;
}

int kernel_choose(const struct kernel_launch *launch)
{
	if (seen++ < request->skip_before || taken >= request->count || !matches(launch->name))
		return 0;
	if (matched++ < request->skip)
		return 0;
	taken++;
	return 1;
}

int kernel_choose_done(void)
{
	return taken >= request->count;
}
