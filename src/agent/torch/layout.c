/* Where an operator has its values. Versions of torch differ, and so do builds of one version (std::string has 8 or 32 bytes). So it is not
 * looked up in a table: an operator is made by torch's own constructor, in memory of ours, and what it has put where is recognised.
 *
 *	scope     behind the number of this thread, together with what callbacks need
 *	sequence  the first -1 behind that; address and number of the inputs follow, both 0
 *	async     the byte that torch's function for it changes; before it the operator's id, and before that the forward thread
 *
 * That the inputs are there is seen by asking torch how many there are when we have changed it. The operator never starts, so nobody's
 * callback is called: a profiler that runs at that moment does not see it. */
#include <string.h>

#include "agent/torch/torch.h"

/* One has about 400 bytes. */
#define WORDS 512u
#define SEARCHED 128u /* words within which everything is */
#define UNTOUCHED 0xe7
#define PLANTED_INPUTS 5u
/* Of things that no program of today does. */
#define PROBE_SCOPE TORCH_SCOPE_DTYPE

struct probe {
	_Alignas(16) uint64_t words[WORDS];
};

static void *start_nothing(void **context, const void *op)
{
	(void)op;
	*context = NULL;
	return context;
}

static void end_nothing(const void *op, void *context)
{
	(void)op;
	(void)context;
}

/* needs_inputs yes, needs_outputs no, needs_ids yes. */
static int has_flags(const struct probe *probe, unsigned word)
{
	const uint8_t *byte = (const uint8_t *)&probe->words[word];

	return byte[0] == PROBE_SCOPE && byte[1] == 1 && byte[2] == 0 && byte[3] == 1;
}

static unsigned find_thread_offset(const struct probe *probe, uint64_t number)
{
	for (unsigned i = 1; number && i + 1 < SEARCHED; i++)
		if (probe->words[i] == number && has_flags(probe, i + 1))
			return i;
	return 0;
}

static unsigned find_sequence(const struct probe *probe, unsigned from)
{
	for (unsigned i = from; i + 2 < SEARCHED; i++)
		if (probe->words[i] == UINT64_MAX)
			return probe->words[i + 1] == 0 && probe->words[i + 2] == 0 ? i : 0;
	return 0;
}

/* The word whose first byte became 1. */
static unsigned find_async(const struct torch_functions *call, struct probe *probe, unsigned from)
{
	struct probe before = *probe;
	unsigned found = 0;

	call->make_async(probe);
	for (unsigned i = 0; i < WORDS; i++) {
		if (probe->words[i] == before.words[i])
			continue;
		if (found || i < from || (uint8_t)before.words[i] != 0 || probe->words[i] != (before.words[i] | 1))
			return 0;
		found = i;
	}
	return found;
}

static int are_inputs_there(const struct torch_functions *call, struct probe *probe, unsigned sequence)
{
	size_t count;

	if (call->input_count(probe) != 0)
		return 0;
	probe->words[sequence + 2] = PLANTED_INPUTS;
	count = call->input_count(probe);
	probe->words[sequence + 2] = 0;
	return count == PLANTED_INPUTS;
}

/* What was registered is what will be called: anything else is not touched. */
static int has_callback(const struct probe *probe)
{
	for (unsigned i = 0; i + 1 < SEARCHED; i++)
		if (probe->words[i] == (uintptr_t)start_nothing && probe->words[i + 1] == (uintptr_t)end_nothing)
			return 1;
	return 0;
}

static int recognise(const struct torch_functions *call, struct probe *probe, struct torch_layout *ret)
{
	unsigned thread = find_thread_offset(probe, call->thread_number());
	unsigned sequence = thread ? find_sequence(probe, thread + 2) : 0;
	unsigned async = sequence ? find_async(call, probe, sequence + 5) : 0;

	/* It has an id, as we asked for one, and no forward thread. */
	if (!async || probe->words[async - 1] == 0 || probe->words[async - 2] != 0 || !are_inputs_there(call, probe, sequence))
		return 0;
	ret->thread = thread * 8;
	ret->scope = (thread + 1) * 8;
	ret->sequence = sequence * 8;
	ret->inputs = (sequence + 1) * 8;
	ret->async = async * 8;
	ret->forward = (async - 2) * 8;
	return 1;
}

/* With so many scopes in a callback, are its further members where torch looks for them? */
static int try_scopes(const struct torch_functions *call, unsigned scopes, struct torch_layout *ret)
{
	struct torch_callback callback = { start_nothing, end_nothing, 1.0, { 0 } };
	struct probe probe;
	uint64_t handle;
	int known;

	callback.flags[PROBE_SCOPE] = 1;
	callback.flags[scopes] = callback.flags[scopes + 2] = 1;
	memset(&probe, UNTOUCHED, sizeof(probe));
	handle = call->add_to_thread(callback);
	call->construct(&probe, PROBE_SCOPE);
	ret->usable |= (uint32_t)has_callback(&probe);
	known = recognise(call, &probe, ret);
	call->destroy(&probe);
	call->remove(handle);
	return known;
}

void torch_find_layout(const struct torch_functions *call, struct torch_layout *ret)
{
	*ret = (struct torch_layout){ .scopes = TORCH_SCOPES_USUAL };
	for (unsigned scopes = TORCH_SCOPES_USUAL; !ret->known && scopes <= TORCH_SCOPES_MOST; scopes++)
		if (try_scopes(call, scopes, ret)) {
			ret->known = 1;
			ret->scopes = scopes;
		}
}
