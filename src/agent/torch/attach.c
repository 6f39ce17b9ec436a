/* Noticing torch, and registering with it. */
#include "agent/core/wrappers.h"
#include "agent/torch/torch.h"
#include "base/macros.h"

struct torch_state torch_state;

/* `busy` stays set where it was found out that torch cannot be used. */
static _Atomic uint32_t busy, reported;

struct wanted {
	const char *name;
	size_t offset; /* in struct torch_functions */
	int needed;    /* 0: for the inputs alone */
};

#define WANTED(member, needed, name) \
	{ \
		name, offsetof(struct torch_functions, member), needed \
	}
/* clang-format off */
static const struct wanted wanted[] = {
	WANTED(add_global, 1, "_ZN2at17addGlobalCallbackENS_22RecordFunctionCallbackE"),
	WANTED(remove, 1, "_ZN2at14removeCallbackEm"),
	WANTED(name, 1, "_ZNK2at14RecordFunction4nameEv"),
	WANTED(add_to_thread, 1, "_ZN2at22addThreadLocalCallbackENS_22RecordFunctionCallbackE"),
	WANTED(thread_number, 1, "_ZN2at14RecordFunction15currentThreadIdEv"),
	WANTED(construct, 1, "_ZN2at14RecordFunctionC1ENS_11RecordScopeE"),
	WANTED(destroy, 1, "_ZN2at14RecordFunctionD1Ev"),
	WANTED(make_async, 1, "_ZN2at14RecordFunction9_setAsyncEv"),
	WANTED(sizes, 0, "_ZN5torch8profiler4impl10inputSizesERKN2at14RecordFunctionEb"),
	WANTED(types, 0, "_ZN5torch8profiler4impl10inputTypesB5cxx11ERKN2at14RecordFunctionE"),
	WANTED(input_count, 1, "_ZNK2at14RecordFunction10num_inputsEv"),
};
/* clang-format on */

/* Returns -1 where one is missing that is needed. */
static int find_torch_functions(const struct agent_object *library, struct torch_functions *ret)
{
	int result = 0;

	for (size_t i = 0; i < COUNT_OF(wanted); i++) {
		void *function = agent_object_find(library, wanted[i].name, NULL);

		if (!function && wanted[i].needed)
			result = -1;
		*(void **)((char *)ret + wanted[i].offset) = function;
	}
	return result;
}

static void diagnose_once(enum diagnostic_severity severity, const char *text)
{
	if (!atomic_exchange(&reported, 1))
		agent_diagnose(severity, text);
}

/* Builds with the older std::string have a function of another name. */
static void find_input_functions(const struct agent_object *library, struct torch_functions *call)
{
	static const char short_types[] = "_ZN5torch8profiler4impl10inputTypesERKN2at14RecordFunctionE";
	struct agent_object standard;

	if (!call->types) {
		*(void **)&call->types = agent_object_find(library, short_types, NULL);
		call->types_are_short = call->types != NULL;
	}
	if (agent_object_find_loaded("libstdc++.so", &standard))
		*(void **)&call->give_back = agent_object_find(&standard, "_ZdlPv", NULL);
}

static void choose_inputs(const struct agent_object *library)
{
	struct torch_state *state = &torch_state;

	if (!agent_pages.session.torch_shapes || !state->layout.known)
		return;
	find_input_functions(library, &state->call);
	state->with_inputs = state->call.sizes && state->call.types;
	if (!state->with_inputs)
		diagnose_once(DIAGNOSTIC_WARNING,
			      "PyTorch's operators are recorded without shapes: this version of PyTorch does not offer the functions "
			      "that are needed.");
}

static struct torch_callback our_callback(const struct torch_layout *layout)
{
	struct torch_callback callback = { torch_operator_started, torch_operator_ended, 1.0, { 0 } };

	for (unsigned i = 0; i < layout->scopes; i++)
		callback.flags[i] = i != TORCH_SCOPE_DTYPE && i != TORCH_SCOPE_CLASS && i != TORCH_SCOPE_FEATURE;
	callback.flags[layout->scopes] = torch_state.with_inputs != 0;
	return callback;
}

/* Returns whether torch can be used. */
static int register_callbacks(const struct agent_object *library)
{
	struct torch_state *state = &torch_state;

	if (find_torch_functions(library, &state->call) == 0 && !state->layout.usable)
		torch_find_layout(&state->call, &state->layout);
	if (!state->layout.usable) {
		diagnose_once(DIAGNOSTIC_WARNING,
			      "PyTorch's operators are not recorded: this version of PyTorch does not offer the functions that "
			      "are needed. NVTX ranges (torch.autograd.profiler.emit_nvtx) can be recorded.");
		return 0;
	}
	if (!state->layout.known)
		diagnose_once(DIAGNOSTIC_WARNING,
			      "Only names and times of PyTorch's operators are recorded: the layout of operators of this version "
			      "of PyTorch is not known.");
	choose_inputs(library);
	torch_prepare_contexts();
	atomic_store(&state->handle, state->call.add_global(our_callback(&state->layout)));
	return 1;
}

/* Idempotent; several threads may come at once. */
static void look_for_torch(void)
{
	uint32_t free = 0;
	struct agent_object library;

	if (!(agent_pages.session.modules & RING_GATE_TORCH) || atomic_load(&torch_state.handle))
		return;
	if (!atomic_compare_exchange_strong(&busy, &free, 1))
		return;
	if (atomic_load(&torch_state.handle) || !agent_object_find_loaded("libtorch_cpu.so", &library) || register_callbacks(&library))
		atomic_store(&busy, 0);
}

/* A recording begins: what was said in the one before is said again. */
static void begin(void)
{
	atomic_store(&reported, 0);
	atomic_store(&busy, 0);
	look_for_torch();
}

void torch_leave(void)
{
	uint64_t handle = atomic_exchange(&torch_state.handle, 0);

	if (handle)
		torch_state.call.remove(handle);
}

const struct agent_part agent_part_torch = { .attached = begin, .extended = look_for_torch };
