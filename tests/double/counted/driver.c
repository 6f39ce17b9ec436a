/* libcuda.so.1 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "counted.h"
#include "vendor/cuda/launch.h"

#define EXPORT __attribute__((visibility("default")))
#define ALLOCATIONS 64

static void (*listener)(const struct counted_event *);
static void (*runner)(const char *symbol);
static void (*resetter)(void);
static void (*loader)(void);
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
	void *address;
	size_t size;
} allocations[ALLOCATIONS];
static uint32_t correlation;
static __thread int device_now;
static __thread int pushed[8], pushed_count;
static char contexts[COUNTED_DEVICES]; /* their addresses count */
static struct {
	void *stream;
	int is_begun;
	int is_spoilt; /* by a call that is not allowed meanwhile */
} capture;

int cuInit(unsigned flags);
int cuDeviceGetCount(int *count);
int cuDeviceGetPCIBusId(char *text, int size, int device);
int cuGetErrorString(int result, const char **text);
int cuDriverGetVersion(int *version);
int cuDeviceGet(int *device, int ordinal);
int cuDeviceGetName(char *name, int size, int device);
int cuDeviceTotalMem_v2(size_t *bytes, int device);
int cuDeviceGetUuid(void *uuid, int device);
int cuCtxSynchronize(void);
int cuDevicePrimaryCtxReset_v2(int device);
int cuCtxPushCurrent_v2(void *context);
int cuCtxPopCurrent_v2(void **context);
int cuFuncGetParamInfo(void *function, size_t index, size_t *offset, size_t *size);
int cuFuncIsLoaded(int *state, void *function);
int cuMemGetInfo_v2(size_t *free_bytes, size_t *total);
int cuCtxGetDevice(int *device);
int cuDeviceGetAttribute(int *value, int attribute, int device);
int cuMemAlloc_v2(uint64_t *address, size_t size);
int cuMemFree_v2(uint64_t address);
int cuKernelGetFunction(void **function, void *kernel);
int cuMemsetD8_v2(uint64_t address, uint8_t value, size_t size);
int cuMemcpyHtoD_v2(uint64_t to, const void *from, size_t size);
int cuModuleLoadData(void **module, const void *image);
int cuModuleGetFunction(void **function, void *module, const char *name);
int cuLaunchKernel(void *function, uint32_t gx, uint32_t gy, uint32_t gz, uint32_t bx, uint32_t by, uint32_t bz, uint32_t shared,
		   void *stream, void **parameters, void **extra);
int cuLaunchKernelEx(const struct cuda_launch_config *config, void *function, void **parameters, void **extra);
int cuLaunchCooperativeKernel(void *function, uint32_t gx, uint32_t gy, uint32_t gz, uint32_t bx, uint32_t by, uint32_t bz, uint32_t shared,
			      void *stream, void **parameters);
int cuStreamIsCapturing(void *stream, int *status);
int cuStreamBeginCapture_v2(void *stream, int mode);
int cuStreamEndCapture(void *stream, void **graph);
int cuProfilerStart(void);
int cuProfilerStop(void);
int cuFuncGetAttribute(int *value, int attribute, void *function);
int cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, void *function, int block_size, size_t shared);
int cuOccupancyMaxPotentialClusterSize(int *size, void *function, const struct cuda_launch_config *config);
int cuOccupancyMaxActiveClusters(int *clusters, void *function, const struct cuda_launch_config *config);
int cuCtxGetLimit(size_t *value, int limit);
int cuCtxGetCacheConfig(int *config);
int cuCtxGetDevResource(void *context, void *resource, int type);

EXPORT void counted_log(const char *format, ...)
{
	const char *path = getenv("COUNTED_LOG");
	FILE *file = path ? fopen(path, "a") : NULL;
	va_list args;

	if (!file)
		return;
	va_start(args, format);
	vfprintf(file, format, args);
	va_end(args);
	fputc('\n', file);
	fclose(file);
}

EXPORT int counted_fails(const char *function)
{
	static unsigned calls;
	const char *plan = getenv("COUNTED_FAIL");
	size_t size = strlen(function);
	unsigned nth = 0;
	int result = 0;

	if (!plan || strncmp(plan, function, size) != 0 || plan[size] != ':' || sscanf(plan + size, ":%u:%d", &nth, &result) != 2)
		return 0;
	return !nth || __atomic_add_fetch(&calls, 1, __ATOMIC_RELAXED) == nth ? result : 0;
}

EXPORT void counted_listen(void (*event)(const struct counted_event *), void (*ran)(const char *symbol))
{
	listener = event;
	runner = ran;
}

EXPORT void counted_on_reset(void (*reset)(void))
{
	resetter = reset;
}

EXPORT void counted_on_load(void (*load)(void))
{
	loader = load;
}

EXPORT size_t counted_allocations(void **addresses, size_t *sizes, size_t room)
{
	size_t count = 0;

	pthread_mutex_lock(&lock);
	for (size_t i = 0; i < ALLOCATIONS && count < room; i++)
		if (allocations[i].address) {
			addresses[count] = allocations[i].address;
			sizes[count++] = allocations[i].size;
		}
	pthread_mutex_unlock(&lock);
	return count;
}

EXPORT void counted_enter(struct counted_call_state *c, enum counted_call call, const void *parameters, const char *symbol)
{
	*c = (struct counted_call_state){ .event = { .call = call, .parameters = parameters, .symbol = symbol } };
	c->event.result = &c->result;
	c->event.kept = &c->kept;
	c->event.device = device_now;
	c->event.correlation = __atomic_add_fetch(&correlation, 1, __ATOMIC_RELAXED);
	if (listener)
		listener(&c->event);
}

EXPORT int counted_leave(struct counted_call_state *c, int result)
{
	c->result = result;
	c->event.leaving = 1;
	if (listener)
		listener(&c->event);
	return c->result;
}

EXPORT void counted_ran(const char *symbol)
{
	if (runner)
		runner(symbol);
}

EXPORT void counted_use(int device)
{
	device_now = device;
}

EXPORT int counted_device(void)
{
	return device_now;
}

EXPORT void *counted_context(int device)
{
	return &contexts[device];
}

EXPORT int counted_device_of(const void *context)
{
	return (int)((const char *)context - contexts);
}

static int profiler_call(enum counted_call call)
{
	struct counted_call_state c;

	counted_enter(&c, call, NULL, NULL);
	return counted_leave(&c, 0);
}

EXPORT int cuProfilerStart(void)
{
	return profiler_call(COUNTED_START);
}
EXPORT int cuProfilerStop(void)
{
	return profiler_call(COUNTED_STOP);
}

static int runtime_call(enum counted_call call)
{
	struct counted_event event = { .call = call, .is_runtime = 1 };
	int result;

	if (listener)
		listener(&event);
	result = profiler_call(call);
	event.leaving = 1;
	if (listener)
		listener(&event);
	return result;
}

EXPORT int counted_runtime_start(void)
{
	return runtime_call(COUNTED_START);
}
EXPORT int counted_runtime_stop(void)
{
	return runtime_call(COUNTED_STOP);
}

EXPORT int cuInit(unsigned flags)
{
	const char *path = getenv("CUDA_INJECTION64_PATH");
	void *library = path && flags == 0 ? dlopen(path, RTLD_NOW) : NULL;
	int (*begin)(void) = library ? (int (*)(void))dlsym(library, "InitializeInjection") : NULL;

	if (begin) {
		counted_log("init");
		begin();
	}
	return 0;
}

/* COUNTED_GPUS: as many as it says, for whoever asks which chips there are; none where it says nothing. */
COUNTED_FUNCTION(cuDeviceGetCount, (int *count), (count))
{
	const char *text = getenv("COUNTED_GPUS");

	*count = text ? atoi(text) : 0;
	return 0;
}

COUNTED_FUNCTION(cuDeviceGetPCIBusId, (char *text, int size, int device), (text, size, device))
{
	snprintf(text, (size_t)size, "0000:%02x:00.0", device);
	return 0;
}

EXPORT int cuGetErrorString(int result, const char **text)
{
	*text = "error of the double";
	return result ? 0 : 1;
}

COUNTED_FUNCTION(cuDriverGetVersion, (int *version), (version))
{
	*version = 13000;
	return 0;
}

COUNTED_FUNCTION(cuDeviceGet, (int *device, int ordinal), (device, ordinal))
{
	*device = ordinal;
	return ordinal == 0 ? counted_fails("cuDeviceGet") : 101;
}

COUNTED_FUNCTION(cuDeviceGetName, (char *name, int size, int device), (name, size, device))
{
	snprintf(name, (size_t)size, "Counted GPU %d", device);
	return 0;
}

COUNTED_FUNCTION(cuDeviceTotalMem_v2, (size_t * bytes, int device), (bytes, device))
{
	*bytes = (size_t)(device + 1) << 30;
	return 0;
}

COUNTED_FUNCTION(cuDeviceGetUuid, (void *uuid, int device), (uuid, device))
{
	memset(uuid, device + 7, 16);
	return 0;
}

/* As the real one does: waiting for a context whose streams are captured fails, and ends the capture.
 * "hang": from then on the GPU never is idle. COUNTED_WAIT: it takes so many us. */
COUNTED_FUNCTION(cuCtxSynchronize, (void), ())
{
	struct counted_call_state c;

	counted_enter(&c, COUNTED_SYNC, NULL, NULL);
	if (getenv("COUNTED_WAIT"))
		usleep((useconds_t)atoi(getenv("COUNTED_WAIT")));
	if (counted_fails("hang")) {
		counted_log("hang");
		for (;;)
			pause();
	}
	if (capture.is_begun) {
		capture.is_spoilt = 1;
		return counted_leave(&c, 900);
	}
	return counted_leave(&c, counted_fails("cuCtxSynchronize"));
}

COUNTED_FUNCTION(cuCtxPushCurrent_v2, (void *context), (context))
{
	pushed[pushed_count++] = device_now;
	device_now = counted_device_of(context);
	return 0;
}

COUNTED_FUNCTION(cuCtxPopCurrent_v2, (void **context), (context))
{
	*context = counted_context(device_now);
	device_now = pushed[--pushed_count];
	return 0;
}

/* All kernels take one pointer; COUNTED_ARGUMENTS=unknown: that is not told. */
COUNTED_FUNCTION(cuFuncGetParamInfo, (void *function, size_t index, size_t *offset, size_t *size), (function, index, offset, size))
{
	*offset = 0;
	*size = sizeof(uint64_t) * (getenv("COUNTED_ARGUMENTS") ? 100000 : 1);
	return function && index == 0 ? 0 : 1;
}

/* COUNTED_MEMORY: bytes that are free, of all that there are. */
COUNTED_FUNCTION(cuMemGetInfo_v2, (size_t * free_bytes, size_t *total), (free_bytes, total))
{
	const char *memory = getenv("COUNTED_MEMORY");

	*free_bytes = 800;
	*total = 1000;
	return memory && sscanf(memory, "%zu/%zu", free_bytes, total) != 2;
}

COUNTED_FUNCTION(cuFuncIsLoaded, (int *state, void *function), (state, function))
{
	*state = function != NULL;
	return 0;
}

COUNTED_FUNCTION(cuCtxGetDevice, (int *device), (device))
{
	*device = device_now;
	return 0;
}

COUNTED_FUNCTION(cuDeviceGetAttribute, (int *value, int attribute, int device), (value, attribute, device))
{
	static const int known[] = {
		[5] = INT32_MAX, [10] = 32, [16] = 132, [CUDA_DEVICE_L2] = 1 << 20, [39] = 2048, [CUDA_DEVICE_MAJOR] = 9, [106] = 32
	};
	size_t count = sizeof(known) / sizeof(known[0]);

	*value = (size_t)attribute < count && known[attribute] ? known[attribute] : device;
	return attribute < 140 ? 0 : 1;
}

static void *allocate(size_t size)
{
	void *memory = calloc(1, size);

	pthread_mutex_lock(&lock);
	for (size_t i = 0; i < ALLOCATIONS; i++)
		if (!allocations[i].address) {
			allocations[i].address = memory;
			allocations[i].size = size;
			break;
		}
	pthread_mutex_unlock(&lock);
	return memory;
}

COUNTED_FUNCTION(cuMemAlloc_v2, (uint64_t * address, size_t size), (address, size))
{
	struct counted_call_state c;

	counted_enter(&c, COUNTED_ALLOC, NULL, NULL);
	*address = (uint64_t)(uintptr_t)allocate(size);
	return counted_leave(&c, *address ? 0 : 2);
}

/* Kernels that are numbers below 64 are of modules that are loaded when their function is asked for the first time: a variable is allocated. */
EXPORT int cuKernelGetFunction(void **function, void *kernel)
{
	static uint64_t loaded;
	struct {
		void **function;
		void *kernel;
	} p = { function, kernel };
	struct counted_call_state c;
	uint64_t bit = (uintptr_t)kernel < 64 ? UINT64_C(1) << (uintptr_t)kernel : 0;

	counted_enter(&c, COUNTED_KERNEL_FUNCTION, &p, NULL);
	if (bit & ~loaded) {
		allocate(16);
		if (loader)
			loader();
	}
	loaded |= bit;
	*function = kernel;
	return counted_leave(&c, 0);
}

COUNTED_FUNCTION(cuMemFree_v2, (uint64_t address), (address))
{
	struct counted_call_state c;

	counted_enter(&c, COUNTED_FREE, NULL, NULL);
	pthread_mutex_lock(&lock);
	for (size_t i = 0; i < ALLOCATIONS; i++)
		if (allocations[i].address == (void *)(uintptr_t)address)
			allocations[i].address = NULL;
	pthread_mutex_unlock(&lock);
	free((void *)(uintptr_t)address);
	return counted_leave(&c, 0);
}

EXPORT int cuDevicePrimaryCtxReset_v2(int device)
{
	struct counted_call_state c;

	counted_enter(&c, COUNTED_RESET, NULL, NULL);
	if (resetter)
		resetter();
	pthread_mutex_lock(&lock);
	for (size_t i = 0; i < ALLOCATIONS; i++) {
		free(allocations[i].address);
		allocations[i].address = NULL;
	}
	pthread_mutex_unlock(&lock);
	counted_log("reset");
	return counted_leave(&c, device);
}

COUNTED_FUNCTION(cuMemsetD8_v2, (uint64_t address, uint8_t value, size_t size), (address, value, size))
{
	struct {
		uint64_t address;
		uint8_t value;
		size_t size;
	} p = { address, value, size };
	struct counted_call_state c;

	counted_enter(&c, COUNTED_SET, &p, NULL);
	memset((void *)(uintptr_t)address, value, size);
	return counted_leave(&c, 0);
}

COUNTED_FUNCTION(cuMemcpyHtoD_v2, (uint64_t to, const void *from, size_t size), (to, from, size))
{
	struct {
		uint64_t to;
		const void *from;
		size_t size;
	} p = { to, from, size };
	struct counted_call_state c;

	counted_enter(&c, COUNTED_COPY, &p, NULL);
	memcpy((void *)(uintptr_t)to, from, size);
	return counted_leave(&c, 0);
}

static void read_all(void **parameters)
{
	(void)parameters;
}

/* The image is text: what is in it is taken at its word. */
static const struct counted_kernel reading = { "sonde_read", read_all };

COUNTED_FUNCTION(cuModuleLoadData, (void **module, const void *image), (module, image))
{
	*module = (void *)(uintptr_t)image;
	return strstr(image, ".entry sonde_read(") ? 0 : 218;
}

COUNTED_FUNCTION(cuModuleGetFunction, (void **function, void *module, const char *name), (function, module, name))
{
	*function = (void *)(uintptr_t)&reading;
	return module && strcmp(name, "sonde_read") == 0 ? 0 : 500;
}

static int launch(enum counted_call call, const void *parameters, const struct counted_kernel *kernel, void *stream, void **arguments)
{
	struct counted_call_state c;
	int result = counted_fails("launch");

	counted_enter(&c, call, parameters, kernel->symbol);
	if (result == 0 && !(capture.is_begun && stream == capture.stream)) {
		kernel->run(arguments);
		if (device_now)
			counted_log("run %s on %d", kernel->symbol, device_now);
		else
			counted_log("run %s", kernel->symbol);
		counted_ran(kernel->symbol);
	}
	return counted_leave(&c, result);
}

COUNTED_FUNCTION(cuLaunchKernel,
		 (void *function, uint32_t gx, uint32_t gy, uint32_t gz, uint32_t bx, uint32_t by, uint32_t bz, uint32_t shared,
		  void *stream, void **parameters, void **extra),
		 (function, gx, gy, gz, bx, by, bz, shared, stream, parameters, extra))
{
	struct cuda_launch_kernel p = { function, { gx, gy, gz }, { bx, by, bz }, shared, stream, parameters, extra };

	return launch(COUNTED_LAUNCH, &p, function, stream, parameters);
}

COUNTED_FUNCTION(cuLaunchKernelEx, (const struct cuda_launch_config *config, void *function, void **parameters, void **extra),
		 (config, function, parameters, extra))
{
	struct cuda_launch_kernel_ex p = { config, function, parameters, extra };

	return launch(COUNTED_LAUNCH_EX, &p, function, config->stream, parameters);
}

COUNTED_FUNCTION(cuLaunchCooperativeKernel,
		 (void *function, uint32_t gx, uint32_t gy, uint32_t gz, uint32_t bx, uint32_t by, uint32_t bz, uint32_t shared,
		  void *stream, void **parameters),
		 (function, gx, gy, gz, bx, by, bz, shared, stream, parameters))
{
	struct cuda_launch_kernel p = { function, { gx, gy, gz }, { bx, by, bz }, shared, stream, parameters, NULL };

	return launch(COUNTED_COOPERATIVE, &p, function, stream, parameters);
}

COUNTED_FUNCTION(cuStreamIsCapturing, (void *stream, int *status), (stream, status))
{
	*status = stream == (void *)0x77 || (capture.is_begun && stream == capture.stream) ? 1 + capture.is_spoilt : 0;
	return 0;
}

COUNTED_FUNCTION(cuStreamBeginCapture_v2, (void *stream, int mode), (stream, mode))
{
	const void *p[] = { stream };
	struct counted_call_state c;

	counted_enter(&c, COUNTED_BEGIN_CAPTURE, p, NULL);
	capture.stream = stream;
	capture.is_begun = 1;
	capture.is_spoilt = 0;
	return counted_leave(&c, mode < 0);
}

COUNTED_FUNCTION(cuStreamEndCapture, (void *stream, void **graph), (stream, graph))
{
	const void *p[] = { stream, graph };
	struct counted_call_state c;
	int result;

	counted_enter(&c, COUNTED_END_CAPTURE, p, NULL);
	result = !capture.is_begun || stream != capture.stream ? 401 : capture.is_spoilt ? 901 : 0;
	capture.is_begun &= stream != capture.stream;
	*graph = NULL;
	return counted_leave(&c, result);
}

COUNTED_FUNCTION(cuFuncGetAttribute, (int *value, int attribute, void *function), (value, attribute, function))
{
	*value = 10 + attribute;
	return function ? 0 : 400;
}

COUNTED_FUNCTION(cuOccupancyMaxActiveBlocksPerMultiprocessor, (int *blocks, void *function, int block_size, size_t shared),
		 (blocks, function, block_size, shared))
{
	*blocks = function && shared < 65536 ? 2048 / block_size : 0;
	return 0;
}

COUNTED_FUNCTION(cuOccupancyMaxPotentialClusterSize, (int *size, void *function, const struct cuda_launch_config *config),
		 (size, function, config))
{
	*size = config->block[0] == 64 ? 8 : 16;
	return function ? 0 : 400;
}

COUNTED_FUNCTION(cuOccupancyMaxActiveClusters, (int *clusters, void *function, const struct cuda_launch_config *config),
		 (clusters, function, config))
{
	*clusters = config->attribute_count == 1 && config->attributes[0].id == CUDA_LAUNCH_CLUSTER ?
			    120 / (int)config->attributes[0].value[0] :
			    -1;
	return function ? 0 : 400;
}

COUNTED_FUNCTION(cuCtxGetLimit, (size_t * value, int limit), (value, limit))
{
	*value = limit == 0 ? 1024 : limit == 6 ? 3 << 20 : 7;
	return 0;
}

COUNTED_FUNCTION(cuCtxGetCacheConfig, (int *config), (config))
{
	*config = 2;
	return 0;
}

/* 100 of the 132 multiprocessors: a green context. */
COUNTED_FUNCTION(cuCtxGetDevResource, (void *context, void *resource, int type), (context, resource, type))
{
	uint32_t count = 100;

	memcpy((char *)resource + 96, &count, sizeof(count));
	return context && type == 1 ? 0 : 1;
}
