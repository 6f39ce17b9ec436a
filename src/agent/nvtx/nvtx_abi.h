/* The binary interface between NVTX's header-only client code and a tool, as far
 * as we use it: layouts and numbers only, declared here so that building needs
 * no toolkit. A unit test compares them with the vendor's headers where those
 * are installed. */
#ifndef SONDE_AGENT_NVTX_ABI_H
#define SONDE_AGENT_NVTX_ABI_H

#include <stddef.h>
#include <stdint.h>
#include <wchar.h>

#define NVTX_ABI_VERSION 3u

/* What push and pop return when nobody keeps levels. */
#define NVTX_UNTRACKED (-2)
#define NVTX_FAILED (-1)

/* Attaching: one call per linkage unit of the program. */
enum nvtx_export { NVTX_EXPORT_CALLBACKS = 1, NVTX_EXPORT_VERSION = 3 };

enum nvtx_module {
	NVTX_MODULE_CORE = 1,
	NVTX_MODULE_CUDA = 2,
	NVTX_MODULE_OPENCL = 3,
	NVTX_MODULE_CUDART = 4,
	NVTX_MODULE_CORE2 = 5,
	NVTX_MODULE_SYNC = 6,
	NVTX_MODULE_COUNT
};

typedef void (*nvtx_function)(void);
typedef const void *(*nvtx_get_export)(uint32_t id);

struct nvtx_callbacks {
	size_t struct_size;
	/* 1 on success; (*table)[i] points to the slot of function i, [0] is unused */
	int (*get_table)(int module, nvtx_function ***table, unsigned *size);
};

struct nvtx_version {
	size_t struct_size;
	uint32_t version;
	uint32_t reserved;
	void (*set_injection_version)(uint32_t version);
};

/* Extensions attach apart, one call per extension and linkage unit. */
enum nvtx_extension { NVTX_EXTENSION_MEMORY = 1, NVTX_EXTENSION_PAYLOAD = 2, NVTX_EXTENSION_COUNTERS = 4 };

struct nvtx_segment {
	size_t id;
	size_t slot_count;
	intptr_t *slots; /* the functions themselves; 0 = untouched, 1 = off */
};

struct nvtx_module_info {
	uint16_t version;
	uint16_t struct_size;
	uint16_t module;
	uint16_t compat;
	size_t segment_count;
	struct nvtx_segment *segments;
	intptr_t (*get_export)(uint32_t id);
	const void *info; /* payload: sizes of the basic types, which are our own as well */
};

/* Events. */
enum nvtx_message_type { NVTX_MESSAGE_NONE = 0, NVTX_MESSAGE_ASCII = 1, NVTX_MESSAGE_WIDE = 2, NVTX_MESSAGE_REGISTERED = 3 };

#define NVTX_COLOR_IS_ARGB 1
#define NVTX_PAYLOAD_IS_EXTENDED ((int32_t)0xDFBD0009)

struct nvtx_domain;
struct nvtx_string;
struct nvtx_resource;

union nvtx_message {
	const char *ascii;
	const wchar_t *wide;
	struct nvtx_string *string;
};

struct nvtx_attributes {
	uint16_t version;
	uint16_t size;
	uint32_t category;
	int32_t color_type;
	uint32_t color;
	int32_t payload_type;
	int32_t payload_count; /* of nvtx_payload, for extended payloads */
	uint64_t payload;
	int32_t message_type;
	union nvtx_message message;
};

struct nvtx_resource_attributes {
	uint16_t version;
	uint16_t size;
	int32_t identifier_type;
	uint64_t identifier;
	int32_t message_type;
	union nvtx_message message;
};

struct nvtx_sync_attributes {
	uint16_t version;
	uint16_t size;
	int32_t message_type;
	union nvtx_message message;
};

#define NVTX_RESOURCE(class, index) ((uint32_t)(class) << 16 | (uint32_t)(index))
enum nvtx_resource_class { NVTX_CLASS_CUDA = 4, NVTX_CLASS_CUDART = 5, NVTX_CLASS_OPENCL = 6 };

/* Payload extension. */
struct nvtx_payload {
	uint64_t schema;
	size_t size; /* SIZE_MAX: to be found out */
	const void *data;
};

struct nvtx_semantics {
	uint32_t struct_size;
	uint16_t id;
	uint16_t version;
	const struct nvtx_semantics *next;
};

#define NVTX_SEMANTICS_TIME 2
struct nvtx_semantics_time {
	struct nvtx_semantics header;
	uint64_t time_domain;
};

struct nvtx_schema_entry {
	uint64_t flags;
	uint64_t type;
	const char *name;
	const char *description;
	uint64_t detail; /* length of an array or a text, selector of a union */
	uint64_t offset;
	const struct nvtx_semantics *semantics;
	const void *reserved;
};

/* Bits of the two `fields` masks below: which members are set. */
enum {
	NVTX_SCHEMA_HAS_NAME = 1 << 1,
	NVTX_SCHEMA_HAS_TYPE = 1 << 2,
	NVTX_SCHEMA_HAS_FLAGS = 1 << 3,
	NVTX_SCHEMA_HAS_ENTRIES = 1 << 4,
	NVTX_SCHEMA_HAS_ENTRY_COUNT = 1 << 5,
	NVTX_SCHEMA_HAS_SIZE = 1 << 6,
	NVTX_SCHEMA_HAS_ALIGN = 1 << 7,
	NVTX_SCHEMA_HAS_ID = 1 << 8,

	NVTX_ENUM_HAS_NAME = 1 << 1,
	NVTX_ENUM_HAS_ENTRIES = 1 << 2,
	NVTX_ENUM_HAS_ENTRY_COUNT = 1 << 3,
	NVTX_ENUM_HAS_SIZE = 1 << 4,
	NVTX_ENUM_HAS_ID = 1 << 5
};

struct nvtx_schema_attributes {
	uint64_t fields;
	const char *name;
	uint64_t type;
	uint64_t flags;
	const struct nvtx_schema_entry *entries;
	size_t entry_count;
	size_t static_size;
	size_t pack_align;
	uint64_t id;
	void *extension;
};

struct nvtx_enum_entry {
	const char *name;
	uint64_t value;
	int8_t is_flag;
};

struct nvtx_enum_attributes {
	uint64_t fields;
	const char *name;
	const struct nvtx_enum_entry *entries;
	size_t entry_count;
	size_t size;
	uint64_t id;
	void *extension;
};

struct nvtx_scope_attributes {
	size_t struct_size;
	const char *path;
	uint64_t parent;
	uint64_t id;
};

enum nvtx_schema_type { NVTX_SCHEMA_STATIC = 1, NVTX_SCHEMA_DYNAMIC = 2, NVTX_SCHEMA_UNION = 3, NVTX_SCHEMA_UNION_SELECTED = 4 };

/* Flags of a schema's entries. */
#define NVTX_ENTRY_POINTER (1u << 1)
#define NVTX_ENTRY_OFFSET_BASE (1u << 2)
#define NVTX_ENTRY_OFFSET_HERE (1u << 3)
#define NVTX_ENTRY_ARRAY_MASK (7u << 4)
#define NVTX_ENTRY_ARRAY_FIXED (1u << 4)
#define NVTX_ENTRY_ARRAY_ZERO (2u << 4)
#define NVTX_ENTRY_MESSAGE (1u << 10)
#define NVTX_ENTRY_TIMESTAMP (2u << 10)
#define NVTX_ENTRY_KIND_MASK (3u << 10)

/* Types of entries we have to tell apart. */
enum nvtx_entry_type {
	NVTX_TYPE_CHAR = 1,
	NVTX_TYPE_INT8 = 11,
	NVTX_TYPE_UINT8 = 12,
	NVTX_TYPE_INT16 = 13,
	NVTX_TYPE_UINT16 = 14,
	NVTX_TYPE_INT32 = 15,
	NVTX_TYPE_UINT32 = 16,
	NVTX_TYPE_INT64 = 17,
	NVTX_TYPE_UINT64 = 18,
	NVTX_TYPE_FLOAT = 19,
	NVTX_TYPE_DOUBLE = 20,
	NVTX_TYPE_LONG_DOUBLE = 21,
	NVTX_TYPE_SIZE = 22,
	NVTX_TYPE_ADDRESS = 23,
	NVTX_TYPE_INFO_COUNT = 28,
	NVTX_TYPE_BYTE = 32,
	NVTX_TYPE_INT128 = 33,
	NVTX_TYPE_UINT128 = 34,
	NVTX_TYPE_FLOAT16 = 42,
	NVTX_TYPE_FLOAT32 = 43,
	NVTX_TYPE_FLOAT64 = 44,
	NVTX_TYPE_FLOAT128 = 45,
	NVTX_TYPE_BF16 = 50,
	NVTX_TYPE_TF32 = 52,
	NVTX_TYPE_CATEGORY = 68,
	NVTX_TYPE_COLOR = 69,
	NVTX_TYPE_SCOPE = 70,
	NVTX_TYPE_PID32 = 71,
	NVTX_TYPE_PID64 = 72,
	NVTX_TYPE_TID32 = 73,
	NVTX_TYPE_TID64 = 74,
	NVTX_TYPE_TEXT = 75,
	NVTX_TYPE_TEXT_UTF8 = 76,
	NVTX_TYPE_TEXT_UTF16 = 77,
	NVTX_TYPE_TEXT_UTF32 = 78,
	NVTX_TYPE_REGISTERED = 80
};

/* Ids chosen by the program start here, those given by the tool there. */
#define NVTX_ID_STATIC_START (1ull << 24)
#define NVTX_ID_DYNAMIC_START (1ull << 32)

/* Counters extension. */
struct nvtx_counter_attributes {
	size_t struct_size;
	uint64_t schema;
	const char *name;
	const char *description;
	uint64_t scope;
	const struct nvtx_semantics *semantics;
	uint64_t id;
};

struct nvtx_counter_batch {
	uint64_t counter;
	const void *samples;
	size_t size;
	uint64_t flags;
	const int64_t *times;
	size_t times_size;
};

#define NVTX_BATCH_BEGIN_INTERVAL (1ull << 32)
#define NVTX_BATCH_END_INTERVAL (2ull << 32)

enum nvtx_time_type { NVTX_TIME_NONE = 0, NVTX_TIME_OF_TOOL = 1, NVTX_TIME_TSC = 10, NVTX_TIME_MONOTONIC_RAW = 15 };

#endif
