#include "vendor/nvidia/l2.h"

#define COMMAND_FLUSH_CACHE 0x2080130eu
#define MAX_ADDRESSES 500
#define OF_DEVICE 0x0u
#define OF_HOST 0x1u
#define WRITE_BACK 0x4u
#define INVALIDATE 0x8u
#define WHOLE_CACHE 0x10u

struct rm_flush_cache {
	uint64_t addresses[MAX_ADDRESSES];
	uint32_t count;
	uint32_t alignment;
	uint64_t block_size;
	uint32_t flags;
	uint32_t pad;
};

static int empty_l2(const struct nvidia_subdevice *s, uint32_t memory)
{
	struct rm_flush_cache p = { .flags = memory | WRITE_BACK | INVALIDATE | WHOLE_CACHE };

	return nvidia_subdevice_control(s, COMMAND_FLUSH_CACHE, &p, sizeof(p));
}

/* A GPU that keeps nothing of the host's memory may refuse the first. */
int nvidia_l2_empty(const struct nvidia_subdevice *s)
{
	empty_l2(s, OF_HOST);
	return empty_l2(s, OF_DEVICE);
}
