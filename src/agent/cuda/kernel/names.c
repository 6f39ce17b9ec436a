/* Names of kernels, as -k and --kernel-id mean them: the same as reports show. What was found out about a name is kept. */
#include <stdlib.h>
#include <string.h>

#include "agent/cuda/kernel/kernel.h"
#include "base/hash.h"
#include "fmt/filter/launch_filter.h"
#include "symbol/demangle.h"

#define NAMES 4096u

static const struct kernel_request *request;
static const struct kernel_id *ids;
static struct name_pattern pattern;
/* CUPTI keeps a name at one address while its module is loaded. A module loaded later may have another there, so the text is
 * compared, by its hash. */
static struct kernel_name known[NAMES];

int kernel_names_prepare(const struct kernel_request *r, const struct kernel_id *all_ids, char *why)
{
	request = r;
	ids = all_ids;
	return r->pattern ? name_pattern_parse(&pattern, r->pattern, why, KERNEL_WHY_SIZE) : 0;
}

static void match_kernel_name(struct kernel_name *entry, const char *name)
{
	entry->base_hash = hash_text(entry->base_hash, name);
	entry->matches = !request->pattern || name_pattern_matches(&pattern, name);
	entry->ids = 0;
	for (unsigned i = 0; i < request->ids.count; i++)
		if (!ids[i].has_name || name_pattern_matches(&ids[i].name, name))
			entry->ids |= UINT64_C(1) << i;
}

/* A whole name may also be as other tools write it: (int*) for (int *). */
static void compare_plain(struct kernel_name *entry, const char *name)
{
	char *plain = request->pattern || request->ids.count ? demangle(name) : NULL;

	if (plain && request->pattern && !pattern.is_regex)
		entry->matches |= name_pattern_matches(&pattern, plain);
	for (unsigned i = 0; plain && i < request->ids.count; i++)
		if (ids[i].has_name && !ids[i].name.is_regex && name_pattern_matches(&ids[i].name, plain))
			entry->ids |= UINT64_C(1) << i;
	free(plain);
}

/* A name of the user's own, or the name itself. */
static const char *find_renamed_kernel(const char *name)
{
	size_t size = strlen(name);

	for (unsigned i = 0; i < request->renames.count; i++)
		if (strncmp(request->renames.items[i], name, size) == 0 && request->renames.items[i][size] == '\t')
			return request->renames.items[i] + size + 1;
	return name;
}

static void examine_kernel_name(struct kernel_name *entry, const char *name)
{
	int is_compared = request->pattern || request->ids.count;
	char *plain = NULL;

	if (is_compared && request->name_base == KERNEL_NAME_FUNCTION)
		plain = demangle_short(name);
	else if (is_compared && request->name_base == KERNEL_NAME_DEMANGLED)
		plain = demangle_cuda(name);
	if (request->name_base != KERNEL_NAME_DEMANGLED) {
		match_kernel_name(entry, plain ? plain : name);
	} else {
		match_kernel_name(entry, find_renamed_kernel(plain ? plain : name));
		compare_plain(entry, name);
	}
	free(plain);
}

struct kernel_name *kernel_name_of(const char *name)
{
	struct kernel_name *entry;
	uint64_t hash;

	name = name ? name : "";
	hash = hash_text(HASH_START, name);
	entry = &known[hash % NAMES];
	if (entry->name != name || entry->hash != hash) {
		*entry = (struct kernel_name){ .name = name, .hash = hash, .base_hash = HASH_START };
		examine_kernel_name(entry, name);
	}
	return entry;
}
