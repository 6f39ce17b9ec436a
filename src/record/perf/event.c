#include "record/perf/event.h"

#include <errno.h>
#include <string.h>
#include <sys/sysmacros.h>

/* pid and tid, time, cpu, identifier: behind every record that is no sample. */
#define TRAILER 32u

static uint64_t read_perf_word(const struct perf_event_header *header, size_t offset)
{
	uint64_t value;

	memcpy(&value, (const uint8_t *)header + offset, sizeof(value));
	return value;
}

int perf_event_stamp(const struct perf_event_header *header, struct perf_stamp *ret)
{
	uint64_t who, cpu;
	size_t at;

	if (header->type == PERF_RECORD_SAMPLE) {
		/* identifier, ip, pid and tid, time, cpu */
		if (header->size < 48)
			return -EINVAL;
		ret->id = read_perf_word(header, 8);
		who = read_perf_word(header, 24);
		ret->time = read_perf_word(header, 32);
		cpu = read_perf_word(header, 40);
	} else {
		if (header->size < sizeof(*header) + TRAILER)
			return -EINVAL;
		at = header->size - TRAILER;
		who = read_perf_word(header, at);
		ret->time = read_perf_word(header, at + 8);
		cpu = read_perf_word(header, at + 16);
		ret->id = read_perf_word(header, at + 24);
	}
	ret->pid = (uint32_t)who;
	ret->tid = (uint32_t)(who >> 32);
	ret->cpu = (uint32_t)cpu;
	/* A time no clock of ours can have. */
	return ret->time > (uint64_t)INT64_MAX ? -EINVAL : 0;
}

/* A place in a record, and how much is left of it. */
struct cursor {
	const uint8_t *at;
	size_t left;
};

static int take_perf_bytes(struct cursor *c, size_t size, const void **ret)
{
	if (size > c->left)
		return -EINVAL;
	*ret = c->at;
	c->at += size;
	c->left -= size;
	return 0;
}

static int take_perf_word(struct cursor *c, uint64_t *ret)
{
	const void *at;

	if (take_perf_bytes(c, sizeof(*ret), &at) < 0)
		return -EINVAL;
	memcpy(ret, at, sizeof(*ret));
	return 0;
}

/* A count and so many things of `size` bytes. */
static int take_list(struct cursor *c, size_t size, uint64_t *ret_count, const void **ret)
{
	if (take_perf_word(c, ret_count) < 0 || *ret_count > c->left / size)
		return -EINVAL;
	return take_perf_bytes(c, (size_t)*ret_count * size, ret);
}

static int take_registers(struct cursor *c, uint64_t mask, struct perf_sample *ret)
{
	const void *registers;
	uint64_t abi;

	if (take_perf_word(c, &abi) < 0)
		return -EINVAL;
	if (abi == PERF_SAMPLE_REGS_ABI_NONE)
		return 0;
	if (take_perf_bytes(c, (size_t)__builtin_popcountll(mask) * sizeof(uint64_t), &registers) < 0)
		return -EINVAL;
	/* A 32-bit program's stack is not taken apart. */
	if (abi == PERF_SAMPLE_REGS_ABI_64)
		ret->registers = registers;
	return 0;
}

static int take_perf_stack(struct cursor *c, struct perf_sample *ret)
{
	const void *bytes;
	uint64_t size, used;

	if (take_perf_word(c, &size) < 0)
		return -EINVAL;
	if (size == 0)
		return 0;
	if (take_perf_bytes(c, (size_t)size, &bytes) < 0 || take_perf_word(c, &used) < 0 || used > size)
		return -EINVAL;
	ret->stack = bytes;
	ret->stack_size = (size_t)used;
	return 0;
}

int perf_event_sample(const struct perf_event_header *header, const struct perf_event_attr *attr, struct perf_sample *ret)
{
	struct cursor c = { (const uint8_t *)header, header->size };
	const void *list = NULL;
	uint64_t type = attr->sample_type;

	*ret = (struct perf_sample){ 0 };
	if (header->size < 48)
		return -EINVAL;
	ret->ip = read_perf_word(header, 16);
	c.at += 48;
	c.left -= 48;
	if ((type & PERF_SAMPLE_PERIOD) && take_perf_word(&c, &ret->period) < 0)
		return -EINVAL;
	if (type & PERF_SAMPLE_CALLCHAIN) {
		if (take_list(&c, sizeof(uint64_t), &ret->chain_count, &list) < 0)
			return -EINVAL;
		ret->chain = list;
	}
	if (type & PERF_SAMPLE_BRANCH_STACK) {
		if (take_list(&c, sizeof(struct perf_branch), &ret->branch_count, &list) < 0)
			return -EINVAL;
		ret->branches = list;
	}
	if ((type & PERF_SAMPLE_REGS_USER) && take_registers(&c, attr->sample_regs_user, ret) < 0)
		return -EINVAL;
	if ((type & PERF_SAMPLE_STACK_USER) && take_perf_stack(&c, ret) < 0)
		return -EINVAL;
	return 0;
}

/* A text that ends within the record, before its trailer. */
static const char *text_at(const struct perf_event_header *header, size_t offset)
{
	const char *text = (const char *)header + offset;
	size_t room;

	if (header->size < offset + TRAILER + 1)
		return NULL;
	room = header->size - offset - TRAILER;
	return memchr(text, '\0', room) ? text : NULL;
}

int perf_event_mapping(const struct perf_event_header *header, struct perf_mapping *ret)
{
	const uint8_t *bytes = (const uint8_t *)header;
	uint64_t device;

	/* pid and tid, address, size, offset, file, generation, protection and flags, path */
	ret->path = text_at(header, 72);
	if (!ret->path)
		return -EINVAL;
	ret->pid = (uint32_t)read_perf_word(header, 8);
	ret->address = read_perf_word(header, 16);
	ret->size = read_perf_word(header, 24);
	ret->offset = read_perf_word(header, 32);
	ret->device = ret->inode = 0;
	ret->build_id = NULL;
	ret->build_id_size = 0;
	if (header->misc & PERF_RECORD_MISC_MMAP_BUILD_ID) {
		ret->build_id_size = bytes[40];
		ret->build_id = bytes + 44;
		return ret->build_id_size > 20 ? -EINVAL : 0;
	}
	device = read_perf_word(header, 40); /* major, then minor */
	ret->device = makedev((unsigned)device, (unsigned)(device >> 32));
	ret->inode = read_perf_word(header, 48);
	return 0;
}

int perf_event_comm(const struct perf_event_header *header, uint32_t *pid, uint32_t *tid, const char **name)
{
	uint64_t who;

	*name = text_at(header, 16);
	if (!*name)
		return -EINVAL;
	who = read_perf_word(header, 8);
	*pid = (uint32_t)who;
	*tid = (uint32_t)(who >> 32);
	return 0;
}

int perf_event_task(const struct perf_event_header *header, struct perf_task *ret)
{
	uint64_t ids, threads;

	if (header->size < 32 + TRAILER)
		return -EINVAL;
	ids = read_perf_word(header, 8);
	threads = read_perf_word(header, 16);
	*ret = (struct perf_task){ .pid = (uint32_t)ids,
				   .ppid = (uint32_t)(ids >> 32),
				   .tid = (uint32_t)threads,
				   .ptid = (uint32_t)(threads >> 32),
				   .time = read_perf_word(header, 24) };
	return 0;
}

int perf_event_lost(const struct perf_event_header *header, uint64_t *count)
{
	size_t at = header->type == PERF_RECORD_LOST ? 16 : 8;

	if (header->size < at + 8 + TRAILER)
		return -EINVAL;
	*count = read_perf_word(header, at);
	return 0;
}
