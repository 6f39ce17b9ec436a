/* Finding the functions behind wrappers: in the objects after ours in load order, so that a user's own
 * preloaded library keeps its place; where we came later than the C library, there. By reading symbol tables: dlsym() may
 * allocate, and an allocator that was replaced may call functions we wrap before anything else has run. */
#include <stdatomic.h>
#include <string.h>

#include "agent/core/elf_object.h"
#include "agent/core/wrappers.h"

struct search {
	int past_us;  /* we have come by our own object */
	int anywhere; /* in the C library, wherever that lies */
};

static void resolve_from(const struct agent_object *object)
{
	for (unsigned p = 0; p < agent_part_count; p++) {
		const struct agent_part *part = agent_parts[p];

		for (unsigned i = 0; i < part->wrapper_count; i++) {
			const struct agent_wrapper *wrapper = &part->wrappers[i];

			if (!*wrapper->real)
				*wrapper->real = agent_object_find(object, wrapper->name, wrapper->version);
		}
	}
}

static int look_into(struct dl_phdr_info *info, size_t size, void *context)
{
	struct search *search = context;
	struct agent_object object;

	(void)size;
	if (agent_object_is_ours(info)) {
		search->past_us = 1;
		return 0;
	}
	/* What comes after us then is somebody's plug-in. */
	if (!search->anywhere && !search->past_us && agent_object_is_c_library(info->dlpi_name))
		return 1;
	/* The program itself and the kernel's own object have no path. */
	if (search->anywhere ? !agent_object_is_c_library(info->dlpi_name) : !search->past_us || !strchr(info->dlpi_name, '/'))
		return 0;
	if (agent_object_read(info, &object))
		resolve_from(&object);
	return 0;
}

void agent_wrappers_resolve_missing(void)
{
	struct search search = { 0 };

	dl_iterate_phdr(look_into, &search);
	search.anywhere = 1;
	dl_iterate_phdr(look_into, &search);
}

void agent_wrappers_resolve(void)
{
	static _Atomic int resolved;

	if (atomic_load_explicit(&resolved, memory_order_acquire))
		return;
	agent_wrappers_resolve_missing();
	atomic_store_explicit(&resolved, 1, memory_order_release);
}
