/* Inside of the NVTX module: what its files share.
 *
 *   init.c      attaching to a program's linkage units
 *   calls.def   every function a program can call, and its place in the tables
 *   events.c    push, pop, start, end, mark: the hot path
 *   text.c      messages of all three kinds, as UTF-8
 *   registry.c  things found again by content: domains, strings, schemas, counters
 *   define.c    definition records
 *   names.c     domains, strings, categories, threads, resources
 *   sync.c      user-defined synchronisation objects
 *   schema.c    payload schemas, enumerations, scopes
 *   layout.c    where the entries of a payload lie
 *   payload.c   events with binary payloads
 *   counters.c  counters and their samples
 *   window.c    ranges that open and close the capture window
 *   open.c      ranges that are open now, for the counters of kernels; open_calls.c: functions that programs get for that
 */
#ifndef SONDE_AGENT_NVTX_H
#define SONDE_AGENT_NVTX_H

#include "agent/core/agent.h"
#include "agent/nvtx/nvtx_abi.h"
#include "fmt/nvtx_wire.h"

#pragma GCC visibility push(hidden)

/* A message as it goes into a record. `size` is its length there: bytes of UTF-8,
 * or 8 for a registered string's id. */
struct nvtx_text {
	enum nvtx_message_type type;
	uint32_t size;
	union nvtx_message value;
	int cut; /* it was longer */
};

struct nvtx_text nvtx_text_ascii(const char *text);
struct nvtx_text nvtx_text_wide(const wchar_t *text);
struct nvtx_text nvtx_text_message(int32_t type, union nvtx_message value);
/* The same, but a registered string gives its text: for definitions. */
struct nvtx_text nvtx_text_name(int32_t type, union nvtx_message value);
/* Writes text->size bytes. The program may change the text meanwhile. */
void nvtx_text_put(void *to, const struct nvtx_text *text);
/* Once per process: some name was cut. Not between begin and end of a record. */
AGENT_COLD void nvtx_text_report_cut(void);

/* Everything that is looked up by content hangs in one of these tables: chains
 * that only grow at their heads, by one compare-and-swap. No lock, so a fork at any
 * moment leaves a usable table in the child. */
struct nvtx_node {
	_Atomic(struct nvtx_node *) next;
	uint64_t key; /* domain and kind, or an id */
	uint32_t hash;
	uint32_t size;
	/* The definition reached the ring; if not, the next registration tries again. */
	_Atomic uint32_t defined;
};

struct nvtx_domain {
	struct nvtx_node node;
	uint32_t id;
	char name[];
};

struct nvtx_string {
	struct nvtx_node node;
	uint64_t id;
	char text[];
};

struct nvtx_resource {
	uint64_t id;
	uint32_t domain;
	/* Synchronisation objects: names of their marks. */
	struct nvtx_string *events[4];
};

/* In nvtx_field.flags, beside the entry's own flags: a pointer to a text that is copied. */
#define NVTX_FIELD_TEXT_POINTER (1u << 31)
#define NVTX_ENTRY_FLAGS 0xffffu

/* One entry of a schema, as far as events need it. */
struct nvtx_field {
	uint64_t type;
	uint32_t position; /* UINT32_MAX = not known */
	uint32_t width;
	uint32_t entry; /* index in the schema; of a nested one: (its index + 1) << 16 | outer index */
	uint32_t flags;
};

/* A schema with everything nested in it laid flat. */
struct nvtx_schema {
	struct nvtx_node node;
	uint64_t id;
	uint32_t size; /* of a payload; 0 = not known */
	uint32_t align;
	uint32_t field_count;
	int touches_pointers; /* some field has to be rewritten in the copy */
	struct nvtx_field fields[];
};

struct nvtx_counter {
	struct nvtx_node node;
	uint64_t id;
	uint64_t schema;
	uint64_t time_domain;
};

/* The level of a range in a domain whose id is beyond the threads' own arrays. */
struct nvtx_level {
	struct nvtx_node node;
	uint64_t slot;
	uint64_t life; /* of the thread that counts here now */
	int32_t level;
};

/* A name that is not the one a window waits for: the recorder was told of it. */
#define NVTX_SEEN 8u
#define NVTX_SEEN_TEXT 32u
struct nvtx_seen {
	_Atomic(const void *) key; /* where the program keeps it; NULL = none yet */
	_Atomic uint64_t what;     /* hash and domain */
	char text[NVTX_SEEN_TEXT]; /* its begin, if it is ASCII */
};

#define NVTX_STRING_BUCKETS (1u << 17)
#define NVTX_OTHER_BUCKETS (1u << 12)

struct nvtx_state {
	_Atomic uint32_t used;  /* some library has got our functions */
	_Atomic uint64_t lives; /* threads that needed a number of their own */
	_Atomic uint64_t resources;
	_Atomic uint64_t dynamic_ids; /* of schemas, scopes and counters */
	_Atomic uint32_t cut_reported;
	_Atomic uint32_t domains_reported;
	_Atomic uint32_t times_reported;
	_Atomic uint64_t window_range; /* the window lasts until this range's end; 0 = until none's */
	_Atomic uint32_t window_gate;  /* of that window */
	_Atomic uint32_t seen_looks;   /* at names while a window is waited for */
	struct nvtx_seen seen[NVTX_SEEN];
	_Atomic(struct nvtx_node *) strings[NVTX_STRING_BUCKETS];
	_Atomic(struct nvtx_node *) others[NVTX_OTHER_BUCKETS];
};

/* The module's only state: its functions are called without a context. */
extern struct nvtx_state nvtx_state;

/* Kinds of nodes in `others`; part of their key. */
enum nvtx_node_kind {
	NVTX_NODE_DOMAIN = 1,
	NVTX_NODE_SCHEMA = 2,
	NVTX_NODE_COUNTER = 3,
	NVTX_NODE_LEVEL = 4,
	NVTX_NODE_STACK = 5,
	NVTX_NODE_NAMED = 6
};

uint32_t nvtx_hash(uint64_t key, const void *bytes, size_t size);
/* The node with this key and these bytes (at `offset` of a node), or NULL. */
struct nvtx_node *nvtx_find(_Atomic(struct nvtx_node *) *bucket, uint64_t key, uint32_t hash, const void *bytes, size_t size,
			    size_t offset);
/* Puts `fresh` in unless an equal node is there; returns the one in the table. */
struct nvtx_node *nvtx_insert(_Atomic(struct nvtx_node *) *bucket, struct nvtx_node *fresh, size_t offset);
/* Nodes found by a number alone, which is the first member behind the common part. */
struct nvtx_node *nvtx_find_number(enum nvtx_node_kind kind, uint32_t domain, uint64_t number);
struct nvtx_node *nvtx_insert_number(enum nvtx_node_kind kind, uint32_t domain, uint64_t number, struct nvtx_node *fresh);

struct nvtx_string *nvtx_string_register(uint32_t domain, const struct nvtx_text *name);
uint64_t nvtx_dynamic_id(void);

struct nvtx_resource *nvtx_resource_new(uint32_t domain);
void nvtx_resource_define(uint32_t domain, uint64_t id, uint32_t type, uint64_t identifier, const struct nvtx_text *name);

/* True when definitions are kept; brings a forked child to life if need be. */
static inline int nvtx_defining(void)
{
	return agent_on(RING_GATE_NVTX) || agent_attached() || agent_comes_again();
}

struct nvtx_definition {
	enum define_kind kind;
	uint32_t domain;
	uint64_t id;
	uint64_t extra;
};

/* Writes a definition: the bytes of `fixed`, then the text. 0 on success. */
int nvtx_define(const struct nvtx_definition *what, const void *fixed, uint32_t fixed_size, const struct nvtx_text *text);
/* Room for a definition with `size` bytes behind the fixed part, NULL when refused; end it
 * with nvtx_define_end(). */
void *nvtx_define_begin(const struct nvtx_definition *what, uint32_t size);
void nvtx_define_end(const struct nvtx_definition *what, void *body, uint32_t size);

/* reattach.c: definitions that are kept for recordings to come, too. */
int nvtx_is_kept(const struct nvtx_definition *what);
void *nvtx_keep_begin(const struct nvtx_definition *what, uint32_t size);
void nvtx_keep_end(void *body, uint32_t size);

static inline uint32_t nvtx_domain_id(const struct nvtx_domain *domain)
{
	return domain ? domain->id : 0;
}

/* Leaves a record that was begun unwritten. */
static inline void nvtx_abandon(void)
{
	atomic_signal_fence(memory_order_seq_cst);
	agent_tls.busy = 0;
}

/* In the flags of an event, beyond those of a record: a piece of its payload found no room. That
 * was counted; the event is not written, so that one call counts once. */
#define NVTX_EVENT_LOST 0x100u

/* An event with everything it can have. */
struct nvtx_event {
	uint32_t color;
	NVTX_FIELDS(NVTX_FIELD_MEMBER)
	uint64_t payload;
	uint32_t flags; /* of the record's head, but for those that the message gives; NVTX_EVENT_LOST */
	uint64_t time;  /* 0 = now */
	struct nvtx_text text;
};

/* The general way for each; negative or 0 as NVTX wants it when nothing is recorded. */
int nvtx_push_event(uint32_t domain, const struct nvtx_event *event);
int nvtx_pop_event(uint32_t domain, uint32_t flags, uint64_t time);
uint64_t nvtx_start_event(uint32_t domain, const struct nvtx_event *event);
void nvtx_end_event(uint32_t domain, uint64_t range, uint32_t flags, uint64_t time);
void nvtx_mark_event(uint32_t domain, const struct nvtx_event *event);

/* While a range is waited for: whether one that begins is recorded, because a window is open or it is the one that opens it. It is open
 * then, and belongs to this thread's range unless another's was quicker, or its end is without meaning. */
enum nvtx_opens { NVTX_OPENS_NOTHING, NVTX_OPENS_ANOTHERS, NVTX_OPENS_OWN };
AGENT_COLD enum nvtx_opens nvtx_window_opens(uint32_t domain, int32_t type, union nvtx_message message);
/* The same for a push, whose pop will be the end. */
AGENT_COLD int nvtx_window_opens_by_push(uint32_t domain, int32_t type, union nvtx_message message);
/* The end of the range that opened the window: after its own record. Returns its level. */
AGENT_COLD int nvtx_window_popped(void);
AGENT_COLD void nvtx_window_ended(void);
AGENT_COLD void nvtx_window_is(uint64_t range);
/* Whether ranges of this name, ASCII or a registered string, are steps that are counted. */
AGENT_COLD int nvtx_window_counts(int registered, const void *name);

static inline int nvtx_window_is_awaited(void)
{
	return agent_unlikely(atomic_load_explicit(&agent_pages.session.nvtx_wait, memory_order_relaxed) != 0);
}

/* A push and a pop whether a window is open or not, for measuring what they cost. */
void nvtx_cost_pair(void);
extern const char nvtx_cost_name[]; /* of its range */

/* A number for this life of this thread, unique in the process. */
uint64_t nvtx_thread_life(void);

/* Whether a pop in this domain would end a range. */
int nvtx_range_is_open(uint32_t domain);

/* Writes the pieces of an event's payloads, all stamped `time`. Returns NVTX_FLAG_BLOB, 0 when
 * there is none, or NVTX_EVENT_LOST when a piece found no room. */
uint32_t nvtx_payload_put(uint32_t domain, const struct nvtx_payload *payloads, size_t count, uint64_t time);

const struct nvtx_schema *nvtx_schema_find(uint32_t domain, uint64_t id);
/* Placing entries one after the other. Positions are UINT32_MAX and widths 0 where they
 * depend on the data. */
#define NVTX_LAYOUT_MAX (1u << 30)
struct nvtx_layout {
	uint32_t domain;
	uint32_t pack_align;
	uint32_t align; /* of the whole */
	uint32_t count;
	uint64_t at, end;
	int is_union;
	int lost; /* where the next entry lies is not known */
	int open; /* some width is not known */
};

void nvtx_layout_begin(struct nvtx_layout *layout, uint32_t domain, uint64_t schema_type, uint32_t pack_align);
void nvtx_layout_next(struct nvtx_layout *layout, const struct nvtx_schema_entry *entry, uint32_t *ret_position, uint32_t *ret_width);
uint32_t nvtx_layout_size(const struct nvtx_layout *layout);
int nvtx_entry_is_text_pointer(const struct nvtx_schema_entry *entry);
uint64_t nvtx_unsigned_of_size(uint32_t size);

/* Bytes of a predefined type, which is also its alignment; 0 when it has no fixed size. */
uint32_t nvtx_type_size(uint64_t type);

/* Functions the program calls. */
#define NVTX_CALL(module, index, name, result, function, arguments) result function arguments;
#define NVTX_EXTENSION_CALL(extension, index, name, result, function, arguments) result function arguments;
#include "agent/nvtx/calls.def"
#undef NVTX_CALL
#undef NVTX_EXTENSION_CALL

#pragma GCC visibility pop

/* Called by NVTX's client code in the program; non-zero: attached. */
AGENT_EXPORT int InitializeInjectionNvtx(nvtx_get_export get_export);
AGENT_EXPORT int InitializeInjectionNvtx2(nvtx_get_export get_export);
AGENT_EXPORT int InitializeInjectionNvtxExtension(struct nvtx_module_info *info);

#endif
