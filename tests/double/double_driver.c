/* What CUDA does: plays the lines of a script, calls the client's callbacks on the calling thread, makes records. */
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "double.h"

void cupti_double_play_line(struct script_line *line) __asm__("cupti_double_play");
int cuptiGetContextId(void *context, uint32_t *id);
int cuptiGetDeviceId(void *context, uint32_t *id);
int cuptiGetStreamIdEx(void *context, void *stream, uint8_t per_thread, uint32_t *id);
int cuptiGetGraphId(void *graph, uint32_t *id);
int cuptiGetGraphExecId(void *graph, uint32_t *id);
int cuptiGetGraphNodeId(void *node, uint64_t *id);

/* Contexts, streams and graphs are what the script calls them by: a handle points into these tables. */
enum thing_kind { THING_CONTEXT, THING_STREAM, THING_GRAPH, THING_EXEC, THING_NODE, THING_KINDS };
#define THINGS 4096u
static struct thing {
	uint64_t id;
	uint64_t busy_until; /* of a stream */
	uint32_t device, context;
} things[THING_KINDS][THINGS];

static struct script_line devices[8];
static unsigned device_count;

/* Between graph-launch and graph-launched, on this thread. */
static __thread struct {
	struct script_line *line;
	uint64_t called, began, ended;
	uint32_t correlation;
} replay;

static _Atomic int64_t grids;

/* Asked of the kernel once, as CUPTI does. */
static __thread struct {
	unsigned forks;
	int pid, tid;
} self;
static unsigned forks = 1;

static void forked(void)
{
	forks++;
}

__attribute__((constructor)) static void watch_forks(void)
{
	pthread_atfork(NULL, NULL, forked);
}

static void know_self(void)
{
	if (self.forks == forks)
		return;
	self.forks = forks;
	self.pid = getpid();
	self.tid = (int)syscall(SYS_gettid);
}

static const struct call_name call_names[] = {
#define CALL(domain, id, name) { domain, id, name },
#include "double_calls.def"
#undef CALL
};
#define NAME_COUNT (sizeof(call_names) / sizeof(call_names[0]))

const struct call_name *double_call(int domain, uint32_t id)
{
	for (size_t i = 0; i < NAME_COUNT; i++)
		if (call_names[i].domain == domain && call_names[i].id == id)
			return &call_names[i];
	return NULL;
}

const struct call_name *double_call_named(const char *name)
{
	size_t size = strlen(name);

	for (size_t i = 0; i < NAME_COUNT; i++) {
		const char *known = call_names[i].name;

		if (!strncmp(known, name, size) && (!known[size] || !strncmp(known + size, "_v", 2)))
			return &call_names[i];
	}
	double_log("no such call: %s", name);
	abort();
}

static struct thing *thing(enum thing_kind kind, uint64_t id)
{
	struct thing *t = &things[kind][id % THINGS];

	t->id = id;
	return t;
}

int cuptiGetContextId(void *context, uint32_t *id)
{
	*id = (uint32_t)((const struct thing *)context)->id;
	return CUPTI_OK;
}

int cuptiGetDeviceId(void *context, uint32_t *id)
{
	*id = ((const struct thing *)context)->device;
	return CUPTI_OK;
}

int cuptiGetStreamIdEx(void *context, void *stream, uint8_t per_thread, uint32_t *id)
{
	*id = stream ? (uint32_t)((const struct thing *)stream)->id : 7;
	return CUPTI_OK;
}

int cuptiGetGraphId(void *graph, uint32_t *id)
{
	*id = (uint32_t)((const struct thing *)graph)->id;
	return CUPTI_OK;
}

int cuptiGetGraphExecId(void *graph, uint32_t *id)
{
	*id = (uint32_t)((const struct thing *)graph)->id;
	return CUPTI_OK;
}

int cuptiGetGraphNodeId(void *node, uint64_t *id)
{
	*id = ((const struct thing *)node)->id;
	return CUPTI_OK;
}

static void call_back(int domain, uint32_t id, const void *data)
{
	struct client *client = &cupti_double.client;

	/* CUPTI is in every call's way while it is there. */
	if (!client->callback)
		return;
	double_thread_enters();
	if (client->callback && client->callbacks[domain][id])
		client->callback(client->user, domain, id, data);
	double_thread_leaves();
}

struct resource_data {
	void *context;
	void *stream;
	void *descriptor;
};

static void report_resource(uint32_t id, uint64_t context, uint64_t stream, void *descriptor)
{
	struct resource_data data = { thing(THING_CONTEXT, context), stream ? thing(THING_STREAM, stream) : NULL, descriptor };

	call_back(DOMAIN_RESOURCE, id, &data);
}

struct module_data {
	uint32_t id;
	size_t size;
	const char *cubin;
};

struct graph_data {
	void *graph, *original_graph;
	void *node, *original_node;
	int node_type;
	void *dependency;
	void *exec;
};

static void *handle(enum thing_kind kind, int64_t id)
{
	return id ? thing(kind, (uint64_t)id) : NULL;
}

static void report_graph(uint32_t id, const int64_t *v, int64_t graph, int64_t original, bool node)
{
	struct graph_data data = { .graph = handle(THING_GRAPH, graph), .node_type = (int)v[KEY_TYPE] };

	if (node) {
		data.node = handle(THING_NODE, v[KEY_ID]);
		data.original_node = handle(THING_NODE, original);
	} else {
		data.original_graph = handle(THING_GRAPH, original);
	}
	if (v[KEY_EXEC])
		data.exec = handle(THING_EXEC, v[KEY_EXEC]);
	report_resource(id, (uint64_t)v[KEY_CONTEXT], 0, &data);
}

struct call_data {
	int site;
	const char *function;
	const void *parameters;
	void *result;
	const char *symbol;
	void *context;
	uint32_t context_id;
	uint64_t *correlation_data;
	uint32_t correlation;
};

/* An API call that is under way. */
struct call {
	const struct call_name *name;
	struct call_data data;
	uint64_t correlation_data;
	uint64_t began;
	uint32_t result;
	char function[80];
};

/* "cudaLaunchKernel_v7000" is called cudaLaunchKernel. */
static void name_function(struct call *call)
{
	char *version;

	strncpy(call->function, call->name->name, sizeof(call->function) - 1);
	call->function[sizeof(call->function) - 1] = '\0';
	version = strstr(call->function, "_v");
	if (version && call->name->domain == DOMAIN_RUNTIME)
		*version = '\0';
}

static bool is_called_back(const struct call_name *name)
{
	return cupti_double.client.callback && cupti_double.client.callbacks[name->domain][name->id];
}

static void begin_call(struct call *call, const struct call_name *name, const int64_t *v)
{
	call->name = name;
	call->correlation_data = 0;
	call->result = (uint32_t)v[KEY_RESULT];
	if (is_called_back(name))
		name_function(call);
	call->data = (struct call_data){ .function = call->function,
					 .result = &call->result,
					 .context = thing(THING_CONTEXT, (uint64_t)v[KEY_CONTEXT]),
					 .context_id = (uint32_t)v[KEY_CONTEXT],
					 .correlation_data = &call->correlation_data,
					 .correlation = ++cupti_double.correlation };
	call_back(call->name->domain, call->name->id, &call->data);
	call->began = double_stamp();
}

static const struct call_name *call_of(struct script_line *line, const char *usual)
{
	if (!line->prepared)
		line->prepared = double_call_named(line->api ? line->api : usual);
	return line->prepared;
}

static void record_call(const struct call *call, uint64_t ended)
{
	int64_t v[KEY_COUNT] = { 0 };
	int class = call->name->domain == DOMAIN_RUNTIME;

	if (!cupti_double.client.calls[class][call->name->id])
		return;
	know_self();
	v[KEY_CBID] = call->name->id;
	v[KEY_BEGAN] = (int64_t)call->began;
	v[KEY_ENDED] = (int64_t)ended;
	v[KEY_PID] = self.pid;
	v[KEY_TID] = cupti_double.client.system_tids ? self.tid : (int64_t)(uint32_t)pthread_self();
	v[KEY_CORRELATION] = call->data.correlation;
	v[KEY_RESULT] = call->result;
	double_append(class ? RECORD_KIND_RUNTIME : RECORD_KIND_DRIVER, v, 0);
}

static void end_call(struct call *call, const int64_t *v)
{
	uint64_t ended;

	if (v[KEY_TAKES] > 0) {
		uint64_t until = call->began + double_units(v[KEY_TAKES]);

		while (double_stamp() < until)
			;
	}
	ended = double_stamp();
	call->data.site = 1;
	call_back(call->name->domain, call->name->id, &call->data);
	record_call(call, ended);
}

/* Sets when the work runs. */
static void place(int64_t *v, uint64_t called)
{
	struct thing *stream = thing(THING_STREAM, (uint64_t)v[KEY_STREAM]);
	uint64_t began;

	if (v[KEY_DELAY] != SCRIPT_UNSET) {
		began = called + double_units(v[KEY_DELAY]);
	} else {
		began = called + double_units(2000);
		if (began < stream->busy_until)
			began = stream->busy_until;
	}
	v[KEY_BEGAN] = (int64_t)began;
	v[KEY_ENDED] = (int64_t)(began + double_units(v[KEY_LASTS]));
	if ((uint64_t)v[KEY_ENDED] > stream->busy_until)
		stream->busy_until = (uint64_t)v[KEY_ENDED];
	if (cupti_double.client.latencies) {
		v[KEY_QUEUED] = (int64_t)(called + double_units(100));
		v[KEY_SUBMITTED] = (int64_t)(called + double_units(200));
	}
}

static void gpu_work(struct script_line *line, unsigned kind, const char *usual_api)
{
	struct client *client = &cupti_double.client;
	int64_t v[KEY_COUNT];
	struct call call;
	bool in_graph = replay.line != NULL;

	memcpy(v, line->values, sizeof(v));
	if (!in_graph) {
		begin_call(&call, call_of(line, usual_api), v);
		place(v, call.began);
		v[KEY_CORRELATION] = call.data.correlation;
	} else {
		place(v, replay.called);
		v[KEY_CORRELATION] = replay.correlation;
		if (!replay.began || (uint64_t)v[KEY_BEGAN] < replay.began)
			replay.began = (uint64_t)v[KEY_BEGAN];
		if ((uint64_t)v[KEY_ENDED] > replay.ended)
			replay.ended = (uint64_t)v[KEY_ENDED];
	}
	v[KEY_TEXT] = (int64_t)(intptr_t)line->text;
	v[KEY_GRID] = ++grids;
	if (client->kinds[kind] && !v[KEY_RESULT] && !(in_graph && client->kinds[RECORD_KIND_GRAPH_TRACE]))
		double_append(kind, v, (uint64_t)v[KEY_ENDED]);
	if (!in_graph) {
		end_call(&call, v);
		if (kind == RECORD_KIND_CONCURRENT_KERNEL && client->calls[0][719]) {
			begin_call(&call, double_call_named("cuKernelGetName"), v);
			record_call(&call, double_stamp());
		}
	}
}

static void graph_launch(struct script_line *line)
{
	struct call call;

	begin_call(&call, call_of(line, "cudaGraphLaunch"), line->values);
	replay.line = line;
	replay.called = call.began;
	replay.correlation = call.data.correlation;
	replay.began = replay.ended = 0;
	end_call(&call, line->values);
}

static void graph_launched(void)
{
	int64_t v[KEY_COUNT];

	if (!replay.line)
		return;
	memcpy(v, replay.line->values, sizeof(v));
	v[KEY_BEGAN] = (int64_t)replay.began;
	v[KEY_ENDED] = (int64_t)replay.ended;
	v[KEY_CORRELATION] = replay.correlation;
	replay.line = NULL;
	if (cupti_double.client.kinds[RECORD_KIND_GRAPH_TRACE])
		double_append(RECORD_KIND_GRAPH_TRACE, v, (uint64_t)v[KEY_ENDED]);
}

void double_streams_forget(void)
{
	for (size_t i = 0; i < THINGS; i++)
		things[THING_STREAM][i].busy_until = 0;
}

/* Not for ever: the clock may have become another. */
static void wait_until(uint64_t until)
{
	uint64_t limit = double_stamp() + double_units(1000000000);

	while (double_stamp() < until && double_stamp() < limit)
		;
}

static uint64_t busy_until(const int64_t *v)
{
	uint64_t until = 0;

	if (v[KEY_KIND] == 3)
		return thing(THING_STREAM, (uint64_t)v[KEY_STREAM])->busy_until;
	if (v[KEY_KIND] == 4)
		for (size_t i = 0; i < THINGS; i++)
			if (things[THING_STREAM][i].busy_until > until)
				until = things[THING_STREAM][i].busy_until;
	return until;
}

static void synchronise(struct script_line *line)
{
	static const char *const usual[] = { "cudaDeviceSynchronize", "cudaEventSynchronize", "cudaStreamWaitEvent",
					     "cudaStreamSynchronize", "cudaDeviceSynchronize" };
	int64_t v[KEY_COUNT];
	struct call call;

	memcpy(v, line->values, sizeof(v));
	begin_call(&call, call_of(line, usual[v[KEY_KIND] % 5]), v);
	v[KEY_BEGAN] = (int64_t)double_stamp();
	wait_until(busy_until(v));
	if (v[KEY_LASTS] > 1000)
		wait_until((uint64_t)v[KEY_BEGAN] + double_units(v[KEY_LASTS]));
	v[KEY_ENDED] = (int64_t)double_stamp();
	v[KEY_CORRELATION] = call.data.correlation;
	if (v[KEY_KIND] == 4)
		v[KEY_STREAM] = 0xffffffff;
	if (cupti_double.client.kinds[RECORD_KIND_SYNCHRONIZATION])
		double_append(RECORD_KIND_SYNCHRONIZATION, v, 0);
	end_call(&call, v);
}

/* A call with a record that is there at once. */
static void host_work(struct script_line *line, unsigned kind, const char *usual_api)
{
	int64_t v[KEY_COUNT];
	struct call call, inner;

	memcpy(v, line->values, sizeof(v));
	begin_call(&call, call_of(line, usual_api), v);
	v[KEY_BEGAN] = (int64_t)call.began;
	v[KEY_ENDED] = (int64_t)(call.began + double_units(v[KEY_LASTS]));
	if (kind == RECORD_KIND_CUDA_EVENT)
		v[KEY_BEGAN] = cupti_double.client.event_times ? (int64_t)(call.began + double_units(3000)) : 0;
	v[KEY_CORRELATION] = call.data.correlation;
	know_self();
	v[KEY_PID] = self.pid;
	v[KEY_TID] = self.tid;
	v[KEY_TEXT] = line->text[0] ? (int64_t)(intptr_t)line->text : 0;
	v[KEY_OBJECT] = 2;
	if (kind && cupti_double.client.kinds[kind])
		double_append(kind, v, 0);
	if (line->inner) {
		begin_call(&inner, double_call_named(line->inner), v);
		end_call(&inner, v);
	}
	end_call(&call, v);
}

static void made(struct script_line *line, enum thing_kind kind, uint32_t callback, unsigned record)
{
	int64_t v[KEY_COUNT];
	struct thing *t = thing(kind, (uint64_t)line->values[KEY_ID]);

	memcpy(v, line->values, sizeof(v));
	t->device = (uint32_t)v[KEY_DEVICE];
	t->context = (uint32_t)v[KEY_CONTEXT];
	v[KEY_CORRELATION] = cupti_double.correlation;
	if (kind == THING_CONTEXT)
		report_resource(callback, t->id, 0, NULL);
	else
		report_resource(callback, t->context, t->id, NULL);
	if (cupti_double.client.kinds[record])
		double_append(record, v, 0);
}

static void module(const int64_t *v, uint32_t callback)
{
	static const char cubin[16] = "a cubin";
	struct module_data data = { (uint32_t)v[KEY_ID], (size_t)v[KEY_SIZE], cubin };

	report_resource(callback, (uint64_t)v[KEY_CONTEXT], 0, &data);
	if (callback == 6 && cupti_double.client.kinds[RECORD_KIND_MODULE])
		double_append(RECORD_KIND_MODULE, v, 0);
}

void double_devices_report(void)
{
	for (unsigned i = 0; i < device_count && cupti_double.client.kinds[RECORD_KIND_DEVICE]; i++)
		double_append(RECORD_KIND_DEVICE, devices[i].values, 0);
}

static void add_device(const struct script_line *line)
{
	if (device_count == 8)
		abort();
	devices[device_count] = *line;
	devices[device_count++].values[KEY_TEXT] = (int64_t)(intptr_t)line->text;
}

static void initialised(void)
{
	cupti_double.cuda_ready = true;
	report_resource(5, 0, 0, NULL);
	double_devices_report();
	/* So that no call is long for the sake of measuring. */
	double_units(1);
}

void cupti_double_play_line(struct script_line *line)
{
	const int64_t *v = line->values;

	switch (line->action) {
	case ACTION_INIT: initialised(); break;
	case ACTION_LOG: double_log("# %s", line->text); break;
	case ACTION_DEVICE:
		add_device(line);
		if (cupti_double.cuda_ready)
			double_devices_report();
		break;
	case ACTION_CONTEXT: made(line, THING_CONTEXT, 1, RECORD_KIND_CONTEXT); break;
	case ACTION_CONTEXT_END: report_resource(2, (uint64_t)v[KEY_ID], 0, NULL); break;
	case ACTION_STREAM: made(line, THING_STREAM, 3, RECORD_KIND_STREAM); break;
	case ACTION_STREAM_END: report_resource(4, (uint64_t)v[KEY_CONTEXT], (uint64_t)v[KEY_ID], NULL); break;
	case ACTION_MODULE: module(v, 6); break;
	case ACTION_MODULE_END: module(v, 7); break;
	case ACTION_GRAPH: report_graph(v[KEY_ORIGINAL] ? 11 : 9, v, v[KEY_ID], v[KEY_ORIGINAL], false); break;
	case ACTION_GRAPH_END: report_graph(10, v, v[KEY_ID], 0, false); break;
	case ACTION_NODE: report_graph(v[KEY_ORIGINAL] ? 20 : 13, v, v[KEY_GRAPH], v[KEY_ORIGINAL], true); break;
	case ACTION_GRAPH_EXEC: report_graph(18, v, v[KEY_GRAPH], 0, false); break;
	case ACTION_CALL: host_work(line, 0, line->text); break;
	case ACTION_LAUNCH: gpu_work(line, RECORD_KIND_CONCURRENT_KERNEL, "cudaLaunchKernel"); break;
	case ACTION_COPY: gpu_work(line, RECORD_KIND_MEMCPY, "cudaMemcpyAsync"); break;
	case ACTION_PEER_COPY: gpu_work(line, RECORD_KIND_MEMCPY2, "cudaMemcpyPeerAsync"); break;
	case ACTION_SET: gpu_work(line, RECORD_KIND_MEMSET, "cudaMemsetAsync"); break;
	case ACTION_SYNC: synchronise(line); break;
	case ACTION_EVENT: host_work(line, RECORD_KIND_CUDA_EVENT, "cudaEventRecord"); break;
	case ACTION_GRAPH_LAUNCH: graph_launch(line); break;
	case ACTION_GRAPH_LAUNCHED: graph_launched(); break;
	case ACTION_MEMORY: host_work(line, RECORD_KIND_MEMORY2, v[KEY_OPERATION] == 2 ? "cudaFree" : "cudaMalloc"); break;
	case ACTION_POOL: host_work(line, RECORD_KIND_MEMORY_POOL, "cudaMemPoolCreate"); break;
	case ACTION_UNIFIED: host_work(line, RECORD_KIND_UNIFIED, "cudaMemPrefetchAsync"); break;
	case ACTION_OVERHEAD: host_work(line, RECORD_KIND_OVERHEAD, "cudaMalloc"); break;
	case ACTION_JIT: host_work(line, RECORD_KIND_JIT, "cuModuleLoadDataEx"); break;
	case ACTION_WORK: gpu_work(line, double_record_named(line->text), "cudaMemcpyAsync"); break;
	case ACTION_UNKNOWN: double_append(RECORD_KIND_UNKNOWN, v, 0); break;
	default: break;
	}
}
