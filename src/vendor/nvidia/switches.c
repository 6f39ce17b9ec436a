#include "vendor/nvidia/switches.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/macros.h"
#include "vendor/nvidia/resource_manager.h"

#define CLASS_MEMORY 0x90ceu /* of the driver's, without a device */
#define CLASS_BUFFER 0x90cdu
#define HANDLE_HEADER 0x50de0003u
#define HANDLE_RECORDS 0x50de0004u
#define HANDLE_BUFFER 0x50de0005u
#define COMMAND_BIND 0x20801238u
#define COMMAND_ENABLE 0x90cd0101u
#define COMMAND_UPDATE_GET 0x90cd0102u
#define COMMAND_FLUSH 0x90cd0104u
#define ATTRIBUTE_CACHED (1u << 29)
#define ATTRIBUTE2_READ_ONLY (1u << 22) /* for us */
#define MAP_READ_ONLY 1u
#define DETAIL_SIMPLE 1u
#define KEEP_OLDEST 1u
#define HEADER_BYTES 4096u
#define RECORDS_BYTES (NVIDIA_SWITCH_RECORDS * NVIDIA_SWITCH_RECORD_BYTES)
#define SWITCH_RECORD_BYTES 24u /* without what the buffer puts before it */

/* Types of records in the buffer, and of switches. */
#define TYPE_SWITCH_V2 2u
#define TYPE_SWITCH 134u
#define TAG_SAVE_END 3u
#define TAG_CONTEXT_START 5u
#define TAG_SIMPLE_START 6u
#define TAG_SIMPLE_END 7u

struct rm_memory {
	uint32_t unused[6];
	uint32_t attributes;
	uint32_t attributes2;
	uint32_t unused2[4];
	uint64_t unused3[2];
	uint64_t size;
	uint64_t unused4[4];
	uint32_t unused5[6];
};

struct rm_map {
	uint32_t client;
	uint32_t device;
	uint32_t memory;
	uint32_t pad;
	uint64_t offset;
	uint64_t length;
	uint64_t address;
	uint32_t status;
	uint32_t flags;
	int32_t fd;
	uint32_t pad2;
};

struct rm_buffer {
	uint64_t unused[2];
	uint32_t record_size;
	uint32_t record_count;
	uint64_t unused2;
	uint32_t unused3[2];
	uint64_t notification;
	uint32_t unused4;
	uint32_t subdevice;
	uint32_t flags;
	uint32_t header;
	uint32_t records;
	uint32_t variable;
};

struct rm_bind {
	uint32_t buffer;
	uint32_t record_size;
	uint32_t detail;
	uint32_t filter;
	uint8_t all_users;
	uint8_t pad[3];
	uint32_t reason;
};

struct rm_enable {
	uint8_t on;
	uint8_t pad[3];
	uint32_t policy;
};

struct buffer_header {
	uint32_t get;
	uint32_t put;
};

struct buffer_record {
	uint16_t type;
	uint16_t subtype;
	uint32_t variable;
	uint8_t tag;
	uint8_t vm;
	uint16_t sequence;
	uint32_t context;
	uint32_t pid;
	uint32_t unused;
	uint64_t time;
};

_Static_assert(sizeof(struct rm_memory) == 128, "NV_MEMORY_ALLOCATION_PARAMS");
_Static_assert(sizeof(struct rm_map) == 56, "NVOS33_PARAMETERS and a descriptor");
_Static_assert(sizeof(struct rm_buffer) == 72, "NV_EVENT_BUFFER_ALLOC_PARAMETERS");
_Static_assert(sizeof(struct rm_bind) == 24, "NV2080_CTRL_GR_FECS_BIND_EVTBUF_FOR_UID_V2_PARAMS");
_Static_assert(sizeof(struct buffer_record) == NVIDIA_SWITCH_RECORD_BYTES, "NV_EVENT_BUFFER_FECS_RECORD");

/* Returns a negative errno for what a call returned. */
static int report_refused_call(int result, const char *call, const char *reason, char *why, size_t size)
{
	if (result == 0)
		return 0;
	if (result < 0)
		snprintf(why, size, "%s: %s", call, strerror(-result));
	else
		snprintf(why, size, "the driver refused %s with status %#x%s%s", call, (unsigned)result, *reason ? ": " : "", reason);
	return result < 0 ? result : -EPERM;
}

static const char *bind_reason(uint32_t reason)
{
	/* clang-format off */
	static const char *const reasons[] = { "", "the GPU is too old", "this GPU does not log context switches", "logging is not enabled",
					       "administrators only", "a capability of the virtual GPU is missing" };
	/* clang-format on */

	return reason < COUNT_OF(reasons) ? reasons[reason] : "";
}

static int new_memory(const struct nvidia_subdevice *t, uint32_t handle, uint64_t bytes)
{
	struct rm_memory m = { .attributes = ATTRIBUTE_CACHED, .attributes2 = ATTRIBUTE2_READ_ONLY, .size = bytes };

	return nvidia_rm_allocate(t->fd, t->client, t->client, CLASS_MEMORY, &m, &handle);
}

/* The driver keeps with a descriptor what may be mapped through it: one for each mapping, which outlives it. */
static int map(const struct nvidia_subdevice *t, uint32_t memory, size_t bytes, const volatile void **ret)
{
	/* clang-format off */
	struct rm_map m = { .client = t->client, .device = t->client, .memory = memory, .length = bytes, .flags = MAP_READ_ONLY,
			    .fd = open("/dev/nvidiactl", O_RDWR | O_CLOEXEC) };
	/* clang-format on */
	int result = 0;
	void *p;

	if (m.fd < 0)
		return -errno;
	if (ioctl(t->fd, _IOWR('F', 0x4e, struct rm_map), &m) < 0)
		result = -errno;
	else if (m.status)
		result = (int)(m.status & 0x7fffffff);
	if (result == 0) {
		p = mmap(NULL, bytes, PROT_READ, MAP_SHARED, m.fd, 0);
		if (p == MAP_FAILED)
			result = -errno;
		else
			*ret = p;
	}
	close(m.fd);
	return result;
}

static int make_buffer(struct nvidia_switches *s, char *why, size_t size)
{
	const struct nvidia_subdevice *t = &s->timer;
	struct rm_buffer b = { .record_size = NVIDIA_SWITCH_RECORD_BYTES,
			       .record_count = NVIDIA_SWITCH_RECORDS,
			       .subdevice = t->object,
			       .header = HANDLE_HEADER,
			       .records = HANDLE_RECORDS };
	int result = report_refused_call(new_memory(t, HANDLE_HEADER, HEADER_BYTES), "memory for an event buffer", "", why, size);

	if (result == 0)
		result = report_refused_call(new_memory(t, HANDLE_RECORDS, RECORDS_BYTES), "memory for an event buffer", "", why, size);
	s->buffer = HANDLE_BUFFER;
	if (result == 0)
		result = report_refused_call(nvidia_rm_allocate(t->fd, t->client, t->client, CLASS_BUFFER, &b, &s->buffer),
					     "an event buffer", "", why, size);
	if (result == 0)
		result = report_refused_call(map(t, HANDLE_HEADER, HEADER_BYTES, &s->header), "a mapping of the event buffer", "", why,
					     size);
	if (result == 0)
		result = report_refused_call(map(t, HANDLE_RECORDS, RECORDS_BYTES, &s->records), "a mapping of the event buffer", "", why,
					     size);
	return result;
}

int nvidia_switches_open(struct nvidia_switches *ret, uint32_t domain, uint32_t bus, uint32_t device, char *why, size_t size)
{
	struct rm_bind bind = { .buffer = HANDLE_BUFFER, .record_size = SWITCH_RECORD_BYTES, .detail = DETAIL_SIMPLE, .all_users = 1 };
	int result;

	*ret = (struct nvidia_switches){ .timer = { .fd = -1 } };
	result = report_refused_call(nvidia_timer_open(&ret->timer, domain, bus, device), "the interface of the kernel module", "", why,
				     size);
	if (result < 0)
		return result;
	result = make_buffer(ret, why, size);
	if (result == 0) {
		result = nvidia_rm_control(ret->timer.fd, ret->timer.client, ret->timer.object, COMMAND_BIND, &bind, sizeof(bind));
		result = report_refused_call(result, "to log context switches", bind_reason(bind.reason), why, size);
	}
	if (result < 0)
		nvidia_switches_close(ret);
	return result;
}

static int command(const struct nvidia_switches *s, uint32_t number, void *parameters, uint32_t size)
{
	int result = nvidia_rm_control(s->timer.fd, s->timer.client, s->buffer, number, parameters, size);

	return result > 0 ? -EIO : result;
}

int nvidia_switches_enable(struct nvidia_switches *s, int on)
{
	struct rm_enable e = { .on = (uint8_t)on, .policy = KEEP_OLDEST };

	s->expects = 0;
	return command(s, COMMAND_ENABLE, &e, sizeof(e));
}

int nvidia_switch_decode(const volatile void *record, struct nvidia_switch *ret)
{
	const volatile struct buffer_record *r = record;
	uint8_t tag = r->tag;

	if (r->type != TYPE_SWITCH_V2 && r->type != TYPE_SWITCH)
		return 0;
	if (tag != TAG_SIMPLE_START && tag != TAG_SIMPLE_END && tag != TAG_CONTEXT_START && tag != TAG_SAVE_END)
		return 0;
	*ret = (struct nvidia_switch){ .time = r->time,
				       .context = r->context,
				       .pid = r->pid,
				       .sequence = r->sequence,
				       .begins = tag == TAG_SIMPLE_START || tag == TAG_CONTEXT_START };
	return 1;
}

/* Numbers have 16 bits. */
static void count_lost(struct nvidia_switches *s, uint16_t sequence, uint64_t *lost)
{
	if (s->expects)
		*lost += (uint16_t)(sequence - s->sequence);
	s->sequence = (uint16_t)(sequence + 1u);
	s->expects = 1;
}

/* A record counts as written before it is: what lay before `put` ahead of a flush is complete after it, as both hold the GPU's lock. */
int nvidia_switches_read(struct nvidia_switches *s, struct nvidia_switch *ret, uint32_t most, uint64_t *lost)
{
	const volatile struct buffer_header *header = s->header;
	const volatile struct buffer_record *records = s->records;
	struct buffer_header update = { 0 };
	uint32_t put = header->put, count = 0, before = s->get;
	int result = command(s, COMMAND_FLUSH, NULL, 0);

	if (result < 0)
		return result;
	if (put >= NVIDIA_SWITCH_RECORDS)
		return -EPROTO;
	while (s->get != put && count < most) {
		if (nvidia_switch_decode(&records[s->get], &ret[count])) {
			count_lost(s, ret[count].sequence, lost);
			count++;
		}
		s->get = (s->get + 1) % NVIDIA_SWITCH_RECORDS;
	}
	if (s->get == before)
		return 0;
	update.get = s->get;
	result = command(s, COMMAND_UPDATE_GET, &update, sizeof(update));
	return result < 0 ? result : (int)count;
}

/* The buffer and what it is bound to go with the descriptor. */
void nvidia_switches_close(struct nvidia_switches *s)
{
	if (s->header)
		munmap((void *)(uintptr_t)s->header, HEADER_BYTES);
	if (s->records)
		munmap((void *)(uintptr_t)s->records, RECORDS_BYTES);
	s->header = s->records = NULL;
	nvidia_subdevice_close(&s->timer);
}
