#include "export/chrome/kineto_name.h"

#include <stdlib.h>
#include <string.h>

#include "query/index/cuda_index.h"
#include "symbol/demangle.h"

static const char *find_demangled_name(struct kineto_names *names, uint64_t id, const char *linkage)
{
	struct kineto_name *known = &names->known[id % KINETO_NAMES];

	if (!known->is_known || known->id != id) {
		free(known->text);
		*known = (struct kineto_name){ .id = id, .text = demangle(linkage), .is_known = true };
	}
	return known->text;
}

void kineto_kernel_name(struct kineto_names *names, const struct event_reader *r, struct event_name *name)
{
	const int64_t *launch;
	const char *linkage, *text;
	size_t len;

	if (r->table != TABLE_GPU_KERNEL)
		return;
	launch = cuda_launch(r->t->q->index.cuda, event_value(r, EVENT_WHAT));
	linkage = launch && launch[LAUNCH_MANGLED] ? timeline_text(r->t, launch[LAUNCH_MANGLED], &len) : NULL;
	text = linkage ? find_demangled_name(names, (uint64_t)launch[LAUNCH_MANGLED], linkage) : NULL;
	if (text) {
		name->text = text;
		name->len = strlen(text);
	}
}

void kineto_names_release(struct kineto_names *names)
{
	for (size_t i = 0; i < KINETO_NAMES; i++)
		free(names->known[i].text);
}
