#include "vendor/nvidia/timer.h"

#define COMMAND_TIME 0x20800403u
#define COMMAND_CORRELATION 0x20800406u
#define CLOCK_MONOTONIC_RAW_NS 3u /* its name for it: the platform's constant-rate clock */
#define MAX_PAIRS 16

struct rm_correlation {
	uint8_t clock;
	uint8_t count;
	uint8_t pad[6];
	struct {
		uint64_t cpu;
		uint64_t gpu;
	} pairs[MAX_PAIRS];
};

int nvidia_timer_open(struct nvidia_subdevice *ret, uint32_t domain, uint32_t bus, uint32_t device)
{
	int result = nvidia_subdevice_open(ret, domain, bus, device);
	uint64_t time;
	int64_t raw;

	if (result == 0)
		result = nvidia_timer_read(ret, &time, &raw);
	if (result < 0)
		nvidia_subdevice_close(ret);
	return result;
}

/* Both clocks at once where the driver has that, and the timer alone where it has not. */
int nvidia_timer_read(const struct nvidia_subdevice *s, uint64_t *ret_ticks, int64_t *ret_raw)
{
	struct rm_correlation c = { .clock = CLOCK_MONOTONIC_RAW_NS, .count = 1 };

	*ret_ticks = 0;
	*ret_raw = 0;
	if (nvidia_subdevice_control(s, COMMAND_CORRELATION, &c, sizeof(c)) == 0 && c.pairs[0].gpu) {
		*ret_ticks = c.pairs[0].gpu;
		*ret_raw = (int64_t)c.pairs[0].cpu;
		return 0;
	}
	return nvidia_subdevice_control(s, COMMAND_TIME, ret_ticks, sizeof(*ret_ticks));
}
