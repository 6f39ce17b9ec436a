/* SPDX-License-Identifier: MIT
 *
 * Ranges and marks for C and C++ that any NVTX tool sees (Sonde, Nsight Systems ...).
 *
 *	sonde_range_push("decode");          a range of this thread; ranges nest
 *	...
 *	sonde_range_pop();
 *
 *	{ SONDE_SCOPE("decode"); ... }       the same for a block, C and C++
 *	sonde::range r("decode");            the same, C++
 *	sonde_mark("frame dropped");         a point in time
 *
 * Copy this one file into a project: it needs no toolkit and no library (before glibc 2.34,
 * link with -ldl). It speaks NVTX's injection protocol itself: on the first call it loads the
 * library that the environment names in NVTX_INJECTION64_PATH, if there is one, and lets it fill in
 * functions. With no tool a call costs one load and one branch. Names are only read
 * during the call, so a buffer may be used again.
 *
 * Every function may be called from any thread, at any time. With SONDE_ANNOTATE_DISABLE defined
 * before the include, everything compiles to nothing. C99 and C++11; GCC and clang; Linux.
 */
#ifndef SONDE_ANNOTATE_H
#define SONDE_ANNOTATE_H

#include <stddef.h>
#include <stdint.h>

#ifndef SONDE_ANNOTATE_DISABLE
#include <dlfcn.h>
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <time.h>
#ifdef __cplusplus
#include <unistd.h>
#endif
#endif

#ifdef __cplusplus
#define SONDE_NVTX_CAST(type, value) reinterpret_cast<type>(value)
#define SONDE_NVTX_NULL nullptr
extern "C" {
#else
#define SONDE_NVTX_CAST(type, value) ((type)(value))
#define SONDE_NVTX_NULL NULL
#endif

/* Domains keep the names of one library apart from those of others; NULL is the default domain. */
typedef struct sonde_domain_handle *sonde_domain;

/* A name given once and used often: cheaper for the tool than the text. */
typedef struct sonde_string_handle *sonde_string;

/* A range that may end in another thread. */
typedef uint64_t sonde_range_id;

enum sonde_payload_kind {
	SONDE_PAYLOAD_NONE = 0,
	SONDE_PAYLOAD_UINT64 = 1,
	SONDE_PAYLOAD_INT64 = 2,
	SONDE_PAYLOAD_DOUBLE = 3,
	SONDE_PAYLOAD_UINT32 = 4,
	SONDE_PAYLOAD_INT32 = 5,
	SONDE_PAYLOAD_FLOAT = 6
};

/* An event with all it can carry, laid out as NVTX's event attributes. Made by
 * sonde_event_named() or sonde_event_of(), then completed by the setters below. */
struct sonde_event {
	uint16_t version;
	uint16_t size;
	uint32_t category;
	int32_t color_kind; /* 0 none, 1 ARGB */
	uint32_t color;
	int32_t payload_kind; /* enum sonde_payload_kind */
	int32_t reserved;
	union {
		uint64_t uint64;
		int64_t int64;
		double real;
		uint32_t uint32;
		int32_t int32;
		float real32;
	} payload;
	int32_t name_kind; /* 0 none, 1 text, 3 registered */
	union {
		const char *text;
		sonde_string registered;
	} name;
};

/* ---- The protocol ---- */

enum {
	SONDE_NVTX_VERSION = 3,
	SONDE_NVTX_MODULES = 7, /* 1 core, 2 cuda, 3 opencl, 4 cudart, 5 core2, 6 sync; 0 is not one */
	SONDE_NVTX_CORE = 1,
	SONDE_NVTX_CORE2 = 5,
	SONDE_NVTX_SLOTS = 16
};

/* Places of the functions in their module's table. */
enum sonde_nvtx_core {
	SONDE_NVTX_MARK = 2,
	SONDE_NVTX_RANGE_START = 5,
	SONDE_NVTX_RANGE_END = 7,
	SONDE_NVTX_RANGE_PUSH = 9,
	SONDE_NVTX_RANGE_POP = 11,
	SONDE_NVTX_NAME_THREAD = 14
};

enum sonde_nvtx_core2 {
	SONDE_NVTX_DOMAIN_MARK = 1,
	SONDE_NVTX_DOMAIN_RANGE_START = 2,
	SONDE_NVTX_DOMAIN_RANGE_END = 3,
	SONDE_NVTX_DOMAIN_RANGE_PUSH = 4,
	SONDE_NVTX_DOMAIN_RANGE_POP = 5,
	SONDE_NVTX_DOMAIN_NAME_CATEGORY = 8,
	SONDE_NVTX_DOMAIN_REGISTER_STRING = 10,
	SONDE_NVTX_DOMAIN_CREATE = 12,
	SONDE_NVTX_DOMAIN_DESTROY = 14
};

typedef void (*sonde_nvtx_function)(void);

#ifdef SONDE_ANNOTATE_DISABLE

#define SONDE_NVTX_GET(type, module, index) SONDE_NVTX_CAST(type, SONDE_NVTX_NULL_FUNCTION)
#ifdef __cplusplus
#define SONDE_NVTX_NULL_FUNCTION static_cast<sonde_nvtx_function>(nullptr)
#else
#define SONDE_NVTX_NULL_FUNCTION ((sonde_nvtx_function)NULL)
#endif

#else

#ifndef __cplusplus
/* Not declared by <unistd.h> in strict C99. */
long syscall(long number, ...);
#endif

typedef const void *(*sonde_nvtx_get_export_table)(uint32_t id);
typedef int (*sonde_nvtx_initialize)(sonde_nvtx_get_export_table get);

struct sonde_nvtx_callbacks {
	size_t struct_size;
	int (*get_module_function_table)(int module, sonde_nvtx_function ***table, unsigned int *size);
};

struct sonde_nvtx_version {
	size_t struct_size;
	uint32_t version;
	uint32_t reserved;
	void (*set_injection_version)(uint32_t version);
};

enum { SONDE_NVTX_FRESH, SONDE_NVTX_STARTING, SONDE_NVTX_OFF, SONDE_NVTX_ON };

/* One per linkage unit (program or shared library), as NVTX's own. The tool is given the address
 * of each slot; modules we have no calls for are there because tools expect them. */
struct sonde_nvtx_state {
	int state;
	sonde_nvtx_function slot[SONDE_NVTX_MODULES][SONDE_NVTX_SLOTS];
	sonde_nvtx_function *table[SONDE_NVTX_MODULES][SONDE_NVTX_SLOTS + 1];
};

#define SONDE_NVTX_ONE_PER_UNIT __attribute__((weak, visibility("hidden")))

extern struct sonde_nvtx_state sonde_nvtx_state SONDE_NVTX_ONE_PER_UNIT;
struct sonde_nvtx_state sonde_nvtx_state SONDE_NVTX_ONE_PER_UNIT;

static inline int sonde_nvtx_module_table(int module, sonde_nvtx_function ***table, unsigned int *size)
{
	static const unsigned char sizes[SONDE_NVTX_MODULES] = { 0, 16, 9, 15, 7, 16, 7 };

	if (module < 1 || module >= SONDE_NVTX_MODULES)
		return 0;
	if (table)
		*table = sonde_nvtx_state.table[module];
	if (size)
		*size = sizes[module];
	return 1;
}

/* Tools say which version of the protocol they speak; all of them speak this one. */
static inline void sonde_nvtx_set_injection_version(uint32_t version)
{
	(void)version;
}

static inline const void *sonde_nvtx_export_table(uint32_t id)
{
	static const struct sonde_nvtx_callbacks callbacks = { sizeof(callbacks), sonde_nvtx_module_table };
	static const struct sonde_nvtx_version version = { sizeof(version), SONDE_NVTX_VERSION, 0, sonde_nvtx_set_injection_version };

	return id == 1 ? SONDE_NVTX_CAST(const void *, &callbacks) : id == 3 ? SONDE_NVTX_CAST(const void *, &version) : SONDE_NVTX_NULL;
}

static inline int sonde_nvtx_load_tool(void)
{
	/* A library named by the caller has no business in a privileged program. */
	const char *path = getauxval(AT_SECURE) ? SONDE_NVTX_NULL :
						  getenv(sizeof(void *) == 8 ? "NVTX_INJECTION64_PATH" : "NVTX_INJECTION32_PATH");
	void *library = path && *path ? dlopen(path, RTLD_LAZY) : SONDE_NVTX_NULL;
	void *symbol = library ? dlsym(library, "InitializeInjectionNvtx2") : SONDE_NVTX_NULL;
	sonde_nvtx_initialize initialize;
	int module, i;

	/* ISO C has no conversion from dlsym's result to a function. */
	__builtin_memcpy(&initialize, &symbol, sizeof(initialize));
	for (module = 1; module < SONDE_NVTX_MODULES; module++)
		for (i = 1; i < SONDE_NVTX_SLOTS; i++)
			sonde_nvtx_state.table[module][i] = &sonde_nvtx_state.slot[module][i];
	if (initialize && initialize(sonde_nvtx_export_table))
		return 1;
	if (library)
		dlclose(library);
	return 0;
}

/* The first call loads the tool; others meanwhile wait for it, but not for ever: in a child forked
 * at that moment the thread that loads does not exist. There, events are left out. */
int sonde_nvtx_start(void) SONDE_NVTX_ONE_PER_UNIT __attribute__((noinline, cold));
int sonde_nvtx_start(void)
{
	int state = SONDE_NVTX_FRESH;
	int saved_errno = errno;
	time_t patience;

	if (__atomic_compare_exchange_n(&sonde_nvtx_state.state, &state, SONDE_NVTX_STARTING, 0, __ATOMIC_ACQUIRE, __ATOMIC_ACQUIRE)) {
		state = sonde_nvtx_load_tool() ? SONDE_NVTX_ON : SONDE_NVTX_OFF;
		__atomic_store_n(&sonde_nvtx_state.state, state, __ATOMIC_RELEASE);
	}
	for (patience = time(SONDE_NVTX_NULL) + 3; state == SONDE_NVTX_STARTING && time(SONDE_NVTX_NULL) < patience;) {
		sched_yield();
		state = __atomic_load_n(&sonde_nvtx_state.state, __ATOMIC_ACQUIRE);
	}
	if (state == SONDE_NVTX_STARTING)
		__atomic_compare_exchange_n(&sonde_nvtx_state.state, &state, SONDE_NVTX_OFF, 0, __ATOMIC_ACQUIRE, __ATOMIC_ACQUIRE);
	errno = saved_errno;
	return state == SONDE_NVTX_ON;
}

static inline int sonde_nvtx_on(void)
{
	int state = __atomic_load_n(&sonde_nvtx_state.state, __ATOMIC_ACQUIRE);

	if (__builtin_expect(state == SONDE_NVTX_OFF, 1))
		return 0;
	return state == SONDE_NVTX_ON || sonde_nvtx_start();
}

static inline sonde_nvtx_function sonde_nvtx_get(int module, int index)
{
	return sonde_nvtx_on() ? sonde_nvtx_state.slot[module][index] : SONDE_NVTX_NULL;
}

#define SONDE_NVTX_GET(type, module, index) SONDE_NVTX_CAST(type, sonde_nvtx_get(module, index))

#endif /* SONDE_ANNOTATE_DISABLE */

/* ---- Ranges and marks in the default domain ---- */

/* Opens a range in this thread; returns its level, from 0, or a negative number when there is no tool. */
static inline int sonde_range_push(const char *name)
{
	typedef int (*function)(const char *);
	function push = SONDE_NVTX_GET(function, SONDE_NVTX_CORE, SONDE_NVTX_RANGE_PUSH);

	return push ? push(name) : -2;
}

/* Closes the range opened last in this thread; returns its level, or a negative number. */
static inline int sonde_range_pop(void)
{
	typedef int (*function)(void);
	function pop = SONDE_NVTX_GET(function, SONDE_NVTX_CORE, SONDE_NVTX_RANGE_POP);

	return pop ? pop() : -2;
}

static inline void sonde_mark(const char *name)
{
	typedef void (*function)(const char *);
	function mark = SONDE_NVTX_GET(function, SONDE_NVTX_CORE, SONDE_NVTX_MARK);

	if (mark)
		mark(name);
}

/* A range that may overlap others and end in another thread; 0 when there is no tool. */
static inline sonde_range_id sonde_range_start(const char *name)
{
	typedef sonde_range_id (*function)(const char *);
	function start = SONDE_NVTX_GET(function, SONDE_NVTX_CORE, SONDE_NVTX_RANGE_START);

	return start ? start(name) : 0;
}

static inline void sonde_range_end(sonde_range_id id)
{
	typedef void (*function)(sonde_range_id);
	function end = SONDE_NVTX_GET(function, SONDE_NVTX_CORE, SONDE_NVTX_RANGE_END);

	if (end)
		end(id);
}

/* ---- Names ---- */

/* Names the calling thread in the tool's view. */
static inline void sonde_name_thread(const char *name)
{
	typedef void (*function)(uint32_t, const char *);
	function name_thread = SONDE_NVTX_GET(function, SONDE_NVTX_CORE, SONDE_NVTX_NAME_THREAD);

#ifdef SONDE_ANNOTATE_DISABLE
	(void)name_thread;
	(void)name;
#else
	if (name_thread)
		name_thread((uint32_t)syscall(SYS_gettid), name);
#endif
}

/* NULL when there is no tool: that is the default domain, so events need no test. */
static inline sonde_domain sonde_domain_create(const char *name)
{
	typedef sonde_domain (*function)(const char *);
	function create = SONDE_NVTX_GET(function, SONDE_NVTX_CORE2, SONDE_NVTX_DOMAIN_CREATE);

	return create ? create(name) : SONDE_NVTX_NULL;
}

static inline void sonde_domain_destroy(sonde_domain domain)
{
	typedef void (*function)(sonde_domain);
	function destroy = SONDE_NVTX_GET(function, SONDE_NVTX_CORE2, SONDE_NVTX_DOMAIN_DESTROY);

	if (destroy && domain)
		destroy(domain);
}

static inline void sonde_name_category(sonde_domain domain, uint32_t category, const char *name)
{
	typedef void (*function)(sonde_domain, uint32_t, const char *);
	function name_category = SONDE_NVTX_GET(function, SONDE_NVTX_CORE2, SONDE_NVTX_DOMAIN_NAME_CATEGORY);

	if (name_category)
		name_category(domain, category, name);
}

/* NULL when there is no tool; an event of that name is then an event without a name. */
static inline sonde_string sonde_register_string(sonde_domain domain, const char *text)
{
	typedef sonde_string (*function)(sonde_domain, const char *);
	function register_string = SONDE_NVTX_GET(function, SONDE_NVTX_CORE2, SONDE_NVTX_DOMAIN_REGISTER_STRING);

	return register_string ? register_string(domain, text) : SONDE_NVTX_NULL;
}

/* ---- Events with colour, category and payload ---- */

static inline struct sonde_event sonde_event_empty(void)
{
	struct sonde_event event;

	__builtin_memset(&event, 0, sizeof(event));
	event.version = SONDE_NVTX_VERSION;
	event.size = sizeof(event);
	return event;
}

static inline struct sonde_event sonde_event_named(const char *name)
{
	struct sonde_event event = sonde_event_empty();

	event.name_kind = 1;
	event.name.text = name;
	return event;
}

static inline struct sonde_event sonde_event_of(sonde_string name)
{
	struct sonde_event event = sonde_event_empty();

	event.name_kind = name ? 3 : 0;
	event.name.registered = name;
	return event;
}

static inline void sonde_event_color(struct sonde_event *event, uint32_t argb)
{
	event->color_kind = 1;
	event->color = argb;
}

static inline void sonde_event_category(struct sonde_event *event, uint32_t category)
{
	event->category = category;
}

static inline void sonde_event_uint64(struct sonde_event *event, uint64_t value)
{
	event->payload_kind = SONDE_PAYLOAD_UINT64;
	event->payload.uint64 = value;
}

static inline void sonde_event_int64(struct sonde_event *event, int64_t value)
{
	event->payload_kind = SONDE_PAYLOAD_INT64;
	event->payload.int64 = value;
}

static inline void sonde_event_double(struct sonde_event *event, double value)
{
	event->payload_kind = SONDE_PAYLOAD_DOUBLE;
	event->payload.real = value;
}

static inline void sonde_event_uint32(struct sonde_event *event, uint32_t value)
{
	event->payload_kind = SONDE_PAYLOAD_UINT32;
	event->payload.uint32 = value;
}

static inline void sonde_event_int32(struct sonde_event *event, int32_t value)
{
	event->payload_kind = SONDE_PAYLOAD_INT32;
	event->payload.int32 = value;
}

static inline void sonde_event_float(struct sonde_event *event, float value)
{
	event->payload_kind = SONDE_PAYLOAD_FLOAT;
	event->payload.real32 = value;
}

static inline int sonde_domain_push_event(sonde_domain domain, const struct sonde_event *event)
{
	typedef int (*function)(sonde_domain, const struct sonde_event *);
	function push = SONDE_NVTX_GET(function, SONDE_NVTX_CORE2, SONDE_NVTX_DOMAIN_RANGE_PUSH);

	return push ? push(domain, event) : -2;
}

static inline void sonde_domain_mark_event(sonde_domain domain, const struct sonde_event *event)
{
	typedef void (*function)(sonde_domain, const struct sonde_event *);
	function mark = SONDE_NVTX_GET(function, SONDE_NVTX_CORE2, SONDE_NVTX_DOMAIN_MARK);

	if (mark)
		mark(domain, event);
}

static inline sonde_range_id sonde_domain_start_event(sonde_domain domain, const struct sonde_event *event)
{
	typedef sonde_range_id (*function)(sonde_domain, const struct sonde_event *);
	function start = SONDE_NVTX_GET(function, SONDE_NVTX_CORE2, SONDE_NVTX_DOMAIN_RANGE_START);

	return start ? start(domain, event) : 0;
}

/* ---- Ranges and marks in a domain; each domain nests for itself ---- */

static inline int sonde_domain_range_push(sonde_domain domain, const char *name)
{
	struct sonde_event event;

	if (!domain)
		return sonde_range_push(name);
	event = sonde_event_named(name);
	return sonde_domain_push_event(domain, &event);
}

static inline int sonde_domain_range_pop(sonde_domain domain)
{
	typedef int (*function)(sonde_domain);
	function pop;

	if (!domain)
		return sonde_range_pop();
	pop = SONDE_NVTX_GET(function, SONDE_NVTX_CORE2, SONDE_NVTX_DOMAIN_RANGE_POP);
	return pop ? pop(domain) : -2;
}

static inline void sonde_domain_mark(sonde_domain domain, const char *name)
{
	struct sonde_event event = sonde_event_named(name);

	sonde_domain_mark_event(domain, &event);
}

static inline sonde_range_id sonde_domain_range_start(sonde_domain domain, const char *name)
{
	struct sonde_event event = sonde_event_named(name);

	return sonde_domain_start_event(domain, &event);
}

static inline void sonde_domain_range_end(sonde_domain domain, sonde_range_id id)
{
	typedef void (*function)(sonde_domain, sonde_range_id);
	function end = SONDE_NVTX_GET(function, SONDE_NVTX_CORE2, SONDE_NVTX_DOMAIN_RANGE_END);

	if (end)
		end(domain, id);
}

/* ---- A range for a block ---- */

static inline sonde_domain sonde_scope_open(sonde_domain domain, const char *name)
{
	sonde_domain_range_push(domain, name);
	return domain;
}

static inline void sonde_scope_close(sonde_domain *domain)
{
	sonde_domain_range_pop(*domain);
}

#define SONDE_JOIN2(a, b) a##b
#define SONDE_JOIN(a, b) SONDE_JOIN2(a, b)

#ifdef __cplusplus
} /* extern "C" */

#define SONDE_DOMAIN_SCOPE(domain, name) const ::sonde::range SONDE_JOIN(sonde_scope_, __LINE__)((domain), (name))
#define SONDE_SCOPE(name) const ::sonde::range SONDE_JOIN(sonde_scope_, __LINE__)(name)

namespace sonde
{
/* Units with and without SONDE_ANNOTATE_DISABLE may be linked together. */
#ifdef SONDE_ANNOTATE_DISABLE
inline namespace disabled
{
#else
inline namespace enabled
{
#endif

/* A range of this thread from here to the end of the block. */
class range
{
      public:
	explicit range(const char *name) : domain_(nullptr)
	{
		sonde_domain_range_push(domain_, name);
	}
	range(sonde_domain domain, const char *name) : domain_(domain)
	{
		sonde_domain_range_push(domain_, name);
	}
	range(sonde_domain domain, const sonde_event &event) : domain_(domain)
	{
		sonde_domain_push_event(domain_, &event);
	}
	~range()
	{
		sonde_domain_range_pop(domain_);
	}
	range(const range &) = delete;
	range &operator=(const range &) = delete;

      private:
	sonde_domain domain_;
};

} /* namespace enabled or disabled */
} /* namespace sonde */

#else

#define SONDE_DOMAIN_SCOPE(domain, name) \
	__attribute__((cleanup(sonde_scope_close), unused)) sonde_domain SONDE_JOIN(sonde_scope_, __LINE__) = sonde_scope_open((domain), \
															       (name))
#define SONDE_SCOPE(name) SONDE_DOMAIN_SCOPE(NULL, name)

#endif

#endif
