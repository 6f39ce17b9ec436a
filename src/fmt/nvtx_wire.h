/* Bodies of NVTX's definitions and binary payloads in ring records: what follows
 * struct record_define or struct record_blob. All integers little-endian, sizes
 * in bytes; texts are UTF-8 without a terminator, their lengths lie in the fixed
 * parts. The reader checks every count and size against the record's size.
 *
 * Levels. Push and pop carry the 0-based level of the range in the head; 65535
 * stands for 65535 and everything deeper. A pop carries the level of the range it
 * ends, so that a reader that missed records knows which one that is.
 *
 * Ranges. A RECORD_NVTX_START that was dropped still gave its id to the program,
 * so a RECORD_NVTX_END may name a range nobody saw.
 *
 * Binary payloads. An event may have several payloads. Each is written as one or
 * more RECORD_NVTX_BLOB pieces in order; `level` counts down to 0 at its last
 * piece; then the next payload's pieces follow, and at last the event, with
 * NVTX_FLAG_BLOB. `flags` is the payload's number in its call: others refer to it, and some may be left out. Pieces carry the event's own time stamp and domain: pieces whose
 * time is not the event's were left by an event that got lost, or belong to one of a
 * signal handler that came between, and are dropped. An event whose payload found no room is dropped
 * with it and counts once. RECORD_NVTX_POP and
 * RECORD_NVTX_END may have payloads as well (nvtxRangePopPayload).
 *
 * What stands in a payload differs from the program's memory in two places, where
 * a pointer would say nothing to a reader:
 *   - an entry that is a pointer to a text (types 75 and 76 without a
 *     length) holds the offset from the payload's beginning of a copy of the text with its
 *     terminating NUL; 0 = NULL or not copied. The copies lie behind the
 *     program's own bytes.
 *   - an entry of type 80 (registered string) holds the string's id, 0 = none.
 * Within arrays and unions nothing is followed: an element that is not in use, or the member that is not
 * selected, may hold anything. Handles of registered strings are told with their
 * definition and can be looked up; pointers to texts stay pointers.
 * A payload cut at NVTX_WIRE_PAYLOAD_MAX has a `total` larger than the bytes that came.
 */
#ifndef SONDE_FMT_NVTX_WIRE_H
#define SONDE_FMT_NVTX_WIRE_H

#include <stdint.h>

#define NVTX_WIRE_LEVEL_MAX 65535u
#define NVTX_WIRE_TEXT_MAX 4000u     /* longer names are cut */
#define NVTX_WIRE_PIECE_MAX 7168u    /* bytes of a payload in one record */
#define NVTX_WIRE_PAYLOAD_MAX 65536u /* bytes of one payload that are kept */

/* Identifier type of user-defined synchronisation objects (nvtxDomainSyncUserCreate):
 * NVTX has none; the identifier is the resource id. */
#define NVTX_WIRE_RESOURCE_SYNC 0x007f0001u

/* DEFINE_RESOURCE: id = resource id (0 for names given without a resource: CUDA and
 * OpenCL objects), extra = identifier type << 32. Body: this, then the name. */
struct nvtx_wire_resource {
	uint64_t identifier; /* handle, address or number */
};

/* DEFINE_SCHEMA. A schema too long for one record comes as several with the same id;
 * `first` says where a piece's entries belong. Body: this, `count` entries, then the
 * texts: the schema's name, and each entry's name and description in turn. */
struct nvtx_wire_schema {
	uint64_t type; /* 1 static, 2 dynamic, 3 union, 4 union with selector */
	uint64_t flags;
	uint64_t static_size; /* 0 = not given */
	uint32_t pack_align;
	uint32_t entries;   /* of the whole schema */
	uint32_t first;     /* index of the first entry in this record */
	uint32_t count;     /* entries in this record */
	uint32_t name_size; /* 0 but in the first record */
	uint32_t semantics; /* semantic extensions seen on all entries; not recorded */
};

struct nvtx_wire_entry {
	uint64_t flags;
	uint64_t type; /* predefined type or schema id */
	uint64_t detail;
	uint64_t offset;   /* as registered; 0 for most means "by alignment" */
	uint32_t position; /* worked out by alignment rules; UINT32_MAX = not known */
	uint32_t width;    /* bytes in the payload, arrays included; 0 = not known */
	uint16_t name_size;
	uint16_t description_size;
	uint32_t pad;
};

/* DEFINE_ENUM: the same scheme. */
struct nvtx_wire_enum {
	uint64_t size; /* of the enumeration type */
	uint32_t entries;
	uint32_t first;
	uint32_t count;
	uint32_t name_size;
};

struct nvtx_wire_enum_entry {
	uint64_t value;
	uint16_t name_size;
	uint16_t is_flag;
	uint32_t pad;
};

/* DEFINE_COUNTER: extra = schema id or predefined number type. Body: name NUL
 * description. Samples of a group are one record per number of its schema, all with one time;
 * `field` is the entry's index in the schema; within a nested schema it is
 * (inner index + 1) << 16 | outer index. Flags 2 (no value) concern the whole group. */
enum nvtx_wire_counter_kind {
	NVTX_WIRE_COUNTER_INT64 = 0,
	NVTX_WIRE_COUNTER_DOUBLE = 1,
	NVTX_WIRE_COUNTER_NO_VALUE = 2 /* value: 0 zero, 1 unchanged, 2 unavailable */
};

#endif
