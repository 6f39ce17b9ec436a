/* Attaching to NVTX's client code. Each linkage unit of a program (the executable and
 * each library that includes the headers) has tables of its own and calls once or, with older
 * headers, once per thread at the same time: filling a table twice with the same
 * pointers is harmless, and nothing else is done here but what is safe to do at any
 * time, and more than once. NVTX must not be called back: newer headers wait for us to return. */
#include "agent/nvtx/nvtx.h"
#include "agent/nvtx/open.h"
#include "base/macros.h"

struct call {
	uint8_t module;
	uint8_t index;
	nvtx_function function;
};

static const struct call calls[] = {
#define NVTX_CALL(module, index, name, result, function, arguments) { NVTX_MODULE_##module, index, (nvtx_function)function },
#define NVTX_EXTENSION_CALL(extension, index, name, result, function, arguments)
#include "agent/nvtx/calls.def"
#undef NVTX_CALL
#undef NVTX_EXTENSION_CALL
};

static const struct call extension_calls[] = {
#define NVTX_CALL(module, index, name, result, function, arguments)
#define NVTX_EXTENSION_CALL(extension, index, name, result, function, arguments) \
	{ NVTX_EXTENSION_##extension, index, (nvtx_function)function },
#include "agent/nvtx/calls.def"
#undef NVTX_CALL
#undef NVTX_EXTENSION_CALL
	{ 0, 0, NULL }
};

/* One that has our functions keeps them from one recording to the next. */
static int is_nvtx_recorded(void)
{
	atomic_store(&nvtx_state.used, 1);
	return agent_comes_again() || (agent_start() == 0 && (agent_pages.session.modules & RING_GATE_NVTX || nvtx_open_is_kept()));
}

static nvtx_function function_for(const struct call *call)
{
	nvtx_function instead = nvtx_open_is_kept() ? nvtx_open_call(call->module, call->index) : NULL;

	return instead ? instead : call->function;
}

static void fill_module(const struct nvtx_callbacks *callbacks, int module)
{
	nvtx_function **table = NULL;
	unsigned size = 0;

	if (callbacks->get_table(module, &table, &size) != 1 || !table)
		return;
	for (size_t i = 0; i < COUNT_OF(calls); i++)
		if (calls[i].module == module && size > calls[i].index && table[calls[i].index])
			__atomic_store_n(table[calls[i].index], function_for(&calls[i]), __ATOMIC_RELEASE);
}

static void report_version(nvtx_get_export get_export)
{
	const struct nvtx_version *version = get_export(NVTX_EXPORT_VERSION);

	if (version && version->struct_size >= sizeof(*version) && version->set_injection_version)
		version->set_injection_version(NVTX_ABI_VERSION);
}

static int initialize(nvtx_get_export get_export)
{
	const struct nvtx_callbacks *callbacks;

	if (!get_export || !is_nvtx_recorded())
		return 0;
	callbacks = get_export(NVTX_EXPORT_CALLBACKS);
	if (!callbacks || callbacks->struct_size < sizeof(*callbacks) || !callbacks->get_table)
		return 0;
	report_version(get_export);
	for (int module = NVTX_MODULE_CORE; module < NVTX_MODULE_COUNT; module++)
		fill_module(callbacks, module);
	if (nvtx_open_is_kept())
		nvtx_open_provide();
	else
		agent_measure_cost(nvtx_cost_pair);
	return 1;
}

int InitializeInjectionNvtx2(nvtx_get_export get_export)
{
	return initialize(get_export);
}

/* The older name of the same entry, tried by the library of NVTX version 2. */
int InitializeInjectionNvtx(nvtx_get_export get_export)
{
	return initialize(get_export);
}

static void fill_extension(const struct nvtx_module_info *info)
{
	const struct nvtx_segment *segment = info->segments;
	nvtx_function instead;

	for (const struct call *call = extension_calls; call->function; call++) {
		if (call->module != info->module || segment->slot_count <= call->index)
			continue;
		instead = nvtx_open_is_kept() ? nvtx_open_extension_call(call->module, call->index) : NULL;
		__atomic_store_n(&segment->slots[call->index], (intptr_t)(instead ? instead : call->function), __ATOMIC_RELEASE);
	}
}

int InitializeInjectionNvtxExtension(struct nvtx_module_info *info)
{
	if (!info || info->struct_size < sizeof(*info) || !is_nvtx_recorded())
		return 0;
	/* The memory extension was renumbered under the same ids; its slots stay off. */
	if (info->module != NVTX_EXTENSION_PAYLOAD && info->module != NVTX_EXTENSION_COUNTERS)
		return 0;
	if (info->segment_count == 0 || !info->segments || !info->segments->slots)
		return 0;
	fill_extension(info);
	return 1;
}
