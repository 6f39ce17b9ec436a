/* Ring records: what an agent writes and the recorder reads.
 *
 * A record is a 64-bit head, a 64-bit time stamp in ticks of the session clock
 * (TSC, or MONOTONIC_RAW nanoseconds where the TSC is not to be trusted) and a
 * body that depends on the type. Records start on 8-byte boundaries; `size` is
 * the exact length in bytes, head included, so a trailing text needs neither a
 * length field nor a terminator. The layout is shared with untrusted processes:
 * the reader checks every size before it looks further.
 *
 *   63         48 47        32 31        16 15     8 7      0
 *   +------------+------------+------------+--------+--------+
 *   |   domain   |   level    |    size    | flags  |  type  |
 *   +------------+------------+------------+--------+--------+
 *
 * Pushes and pops come by the million, and every cache line they fill moves between two
 * cores: they have a short form, one word in all (a push with a scalar payload
 * has it in a second word). `which` is a name that a RECORD_NVTX_NAME of this ring gave this
 * number to, latest first; for a pop it is the domain. The reader knows the upper
 * bits of the time: a record is read soon after it was written.
 *
 *   63                                16 15     8 7 6  5 4   0
 *   +------------------------------------+--------+-+----+-----+
 *   |        low 48 bits of the time     | which  |1|kind|level|
 *   +------------------------------------+--------+-+----+-----+
 */
#ifndef SONDE_FMT_RECORD_H
#define SONDE_FMT_RECORD_H

#include <stdint.h>

#include "base/system/arch.h"
#include "fmt/nvtx_fields.h"

enum record_type {
#define RECORD(type, NAME, name, body, kind) RECORD_##NAME = type,
#define CUDA_RECORD(type, NAME, name) RECORD_##NAME = type,
#include "fmt/records.def"
#undef RECORD
#undef CUDA_RECORD
	RECORD_TYPE_COUNT
};

enum record_short_kind {
	RECORD_SHORT_PUSH = 0,
	RECORD_SHORT_PUSH_PAYLOAD = 1, /* the payload is the next word; its kind is the name's */
	RECORD_SHORT_POP = 2
};

#define RECORD_SHORT 0x80u
#define RECORD_SHORT_LEVELS 32u /* deeper ones use the long form */
#define RECORD_SHORT_NAMES 128u
#define RECORD_SHORT_DOMAINS 256u
#define RECORD_SHORT_TIME_BITS 48

/* Flags of the NVTX event records. */
enum {
	NVTX_FLAG_REGISTERED = 1, /* the 8 bytes behind the fixed part are a string id */
	NVTX_FLAG_COLOR = 2,
	NVTX_FLAG_BLOB = 4, /* RECORD_NVTX_BLOB records precede; level of BLOB counts down to 0 */
	NVTX_FLAG_NO_MESSAGE = 8,
	NVTX_FLAG_PAYLOAD_SHIFT = 4 /* the upper four bits: enum nvtx_payload_kind */
};

/* Order of the value columns of NVTX_EVENTS; also NVTX's own numbering. */
enum nvtx_payload_kind {
	NVTX_PAYLOAD_NONE = 0,
	NVTX_PAYLOAD_UINT64 = 1,
	NVTX_PAYLOAD_INT64 = 2,
	NVTX_PAYLOAD_DOUBLE = 3,
	NVTX_PAYLOAD_UINT32 = 4,
	NVTX_PAYLOAD_INT32 = 5,
	NVTX_PAYLOAD_FLOAT = 6,
	NVTX_PAYLOAD_KIND_COUNT
};

/* What a RECORD_DEFINE defines. Definitions are written whether a capture
 * window is open or not, and may use the ring's reserve when the pool is empty. */
enum define_kind {
	DEFINE_DOMAIN = 1,       /* id = domain id, text = name */
	DEFINE_DOMAIN_END = 2,   /* id = domain id */
	DEFINE_STRING = 3,       /* head domain, id = string id, extra = the handle the program has, text */
	DEFINE_CATEGORY = 4,     /* head domain, id = category, text = name */
	DEFINE_THREAD_NAME = 5,  /* id = tid in the target's namespace, text = name */
	DEFINE_RESOURCE = 6,     /* head domain, id = resource id, extra = identifier type<<32 | 0, text = name; see define_resource */
	DEFINE_RESOURCE_END = 7, /* id = resource id */
	DEFINE_SCHEMA = 8,       /* head domain, id = schema id, bytes = struct nvtx_wire_schema ... */
	DEFINE_ENUM = 9,         /* head domain, id = schema id, bytes = struct nvtx_wire_enum ... */
	DEFINE_SCOPE = 10,       /* head domain, id = scope id, extra = parent scope, text = path */
	DEFINE_COUNTER = 11,     /* head domain, id = counter id, extra = schema id, bytes: name NUL description */
	DEFINE_FILE = 12,        /* id = file id, extra = 1 opened / 2 closed / 0 found open, text = path */
	DEFINE_MODULE = 13,      /* record_module behind the head: an ELF object in memory */
	DEFINE_CUDA_CALL = 14,   /* bodies: fmt/cuda_wire.h */
	DEFINE_CUDA_FUNCTION = 15,
	DEFINE_CUDA_LAUNCH = 16,
	DEFINE_CUDA_DEVICE = 17,
	DEFINE_CUDA_CONTEXT = 18,
	DEFINE_CUDA_STREAM = 19,
	DEFINE_CUDA_MODULE = 20,
	DEFINE_CUDA_GRAPH_NODE = 21,
	DEFINE_CUDA_GRAPH = 22,
	DEFINE_CUDA_CLOCK = 23,
	DEFINE_CUDA_STACK = 24,
	DEFINE_KIND_COUNT
};

/* Values are those of nsys's ENUM_DIAGNOSTIC_SEVERITY_LEVEL. */
enum diagnostic_severity { DIAGNOSTIC_INFO = 1, DIAGNOSTIC_WARNING = 2, DIAGNOSTIC_ERROR = 3 };

struct record_plain {
	uint64_t head;
	uint64_t time;
};

struct record_nvtx_event {
	uint64_t head;
	uint64_t time;
	uint32_t color;
	NVTX_FIELDS(NVTX_FIELD_MEMBER)
	uint64_t payload; /* bit pattern of the value; its kind is in the head's flags */
};

struct record_nvtx_range {
	struct record_nvtx_event event;
	uint64_t range_id; /* unique in the process */
};

struct record_nvtx_end {
	uint64_t head;
	uint64_t time;
	uint64_t range_id;
};

struct record_blob {
	uint64_t head; /* level = how many further pieces follow, flags = number of the payload in its call */
	uint64_t time;
	uint64_t schema_id;
	uint64_t total; /* bytes of the whole payload, all pieces together */
};

struct record_counter {
	uint64_t head; /* flags: 0 int64, 1 double, 2 no value (reason in value) */
	uint64_t time;
	uint64_t counter_id;
	uint64_t value;
	uint64_t field; /* index within the counter group */
};

struct record_define {
	uint64_t head;
	uint64_t time;
	uint64_t id;
	uint64_t extra;
};

enum {
	OSRT_FLAG_NESTED = 1, /* within another recorded call of this thread */
	OSRT_FLAG_STACK = 2,  /* the RECORD_STACK before is its caller */
	OSRT_FLAG_FILE = 4    /* record_osrt_file follows */
};

/* The call's end is when it is written; records of a thread are in order of their ends. */
struct record_osrt {
	uint64_t head; /* domain = number of the function in osrt_calls.def */
	uint64_t time; /* end */
	uint64_t start;
	int64_t result;
};

struct record_osrt_file {
	uint64_t file; /* id of a DEFINE_FILE */
	int64_t bytes;
};

/* Registers by DWARF number at the place where unwinding begins, then the stack from
 * the stack pointer upwards. level = how many further pieces follow (each a record of
 * the same type, with the same time, whose bytes go on where the last ended). */
struct record_stack {
	uint64_t head;
	uint64_t time;
	uint64_t registers[ARCH_DWARF_REGISTERS];
};

enum {
	SAMPLE_FLAG_REST = 1 /* a thread's end: the CPU time after its last sample, no place in the code */
};

struct record_sample {
	struct record_stack at;
	uint32_t cpu;
	uint32_t overrun; /* timer expirations that gave no sample of their own */
	uint64_t weight;  /* ns of CPU time since the thread's last one */
};

/* Body of DEFINE_MODULE: build-id bytes, then the path without a terminator. */
struct record_module {
	uint64_t address; /* of the executable segment */
	uint64_t size;
	uint64_t offset; /* of the segment in the file */
	uint32_t build_id_size;
	uint32_t pad;
};

static inline uint64_t record_head(unsigned type, unsigned flags, unsigned size, unsigned level, unsigned domain)
{
	return (uint64_t)type | (uint64_t)flags << 8 | (uint64_t)size << 16 | (uint64_t)level << 32 | (uint64_t)domain << 48;
}

static inline unsigned record_type(uint64_t head)
{
	return head & 0xff;
}
static inline unsigned record_flags(uint64_t head)
{
	return head >> 8 & 0xff;
}
static inline unsigned record_size(uint64_t head)
{
	return head >> 16 & 0xffff;
}
static inline unsigned record_level(uint64_t head)
{
	return head >> 32 & 0xffff;
}
static inline unsigned record_domain(uint64_t head)
{
	return head >> 48;
}

static inline uint64_t record_short(unsigned kind, unsigned level, unsigned which, uint64_t time)
{
	return time << 16 | which << 8 | RECORD_SHORT | kind << 5 | level;
}

static inline int record_is_short(uint64_t head)
{
	return (head & RECORD_SHORT) != 0;
}
static inline unsigned record_short_kind(uint64_t head)
{
	return head >> 5 & 3;
}
static inline unsigned record_short_level(uint64_t head)
{
	return head & 31;
}
static inline unsigned record_short_which(uint64_t head)
{
	return head >> 8 & 0xff;
}
static inline uint32_t record_short_size(uint64_t head)
{
	return record_short_kind(head) == RECORD_SHORT_PUSH_PAYLOAD ? 16 : 8;
}

/* The whole time of a short record, read not long before `now` (ticks); a little after
 * it is taken for what it is: another core's clock. */
static inline uint64_t record_short_time(uint64_t head, uint64_t now)
{
	const uint64_t mask = (1ull << RECORD_SHORT_TIME_BITS) - 1;
	uint64_t reference = now + (1ull << 32);

	return reference - ((reference - (head >> 16)) & mask);
}

/* The distance to the next record. */
static inline uint32_t record_stride(uint32_t size)
{
	return (size + 7u) & ~7u;
}

#endif
