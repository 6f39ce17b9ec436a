/* libFuzzer: arbitrary bytes as a packet on the socket of a session.
 *
 * Layout of an input: a byte; if it is odd, the rest is the packet as it comes. If it is even, the rest is laid over a good request in
 * pieces, each two bytes that say where, one how long, and its bytes: so that the fuzzer need not find the size and the magic number. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "record/requests/requests.h"
#include "replay.h"

static void make_good(struct steer_request *request)
{
	memset(request, 0, sizeof(*request));
	request->magic = STEER_MAGIC;
	request->command = STEER_START;
	strcpy(request->output, "/tmp/report%n.sonde");
	request->capture.given = STEER_GIVEN_ALL;
	request->capture.range = CAPTURE_RANGE_NVTX;
	request->capture.end = CAPTURE_END_STOP;
	request->capture.repeats = 1;
	strcpy(request->capture.range_name, "step");
}

static size_t lay_over(struct steer_request *request, const uint8_t *data, size_t size)
{
	size_t at, length;

	make_good(request);
	while (size >= 3) {
		at = (size_t)(data[0] | data[1] << 8) % sizeof(*request);
		length = data[2];
		data += 3;
		size -= 3;
		length = length < size ? length : size;
		length = length < sizeof(*request) - at ? length : sizeof(*request) - at;
		memcpy((uint8_t *)request + at, data, length);
		data += length;
		size -= length;
	}
	return sizeof(*request);
}

static void require(int holds)
{
	if (!holds)
		abort();
}

/* What passed the check must be safe to use. */
static void use(const struct steer_request *request)
{
	struct profile_options o = { .stop_on_exit = true, .capture_repeats = 1 };

	require(request->magic == STEER_MAGIC && request->signal >= 0 && request->signal <= 64);
	require(strlen(request->output) < sizeof(request->output));
	if (request->command != STEER_START)
		return;
	require(request->output[0] == '/');
	steer_capture_apply(&request->capture, &o);
	require(o.capture_end <= CAPTURE_END_STOP_SHUTDOWN && o.capture_repeats > 0);
	require(o.capture_range == CAPTURE_RANGE_NONE || o.capture_range == CAPTURE_RANGE_CUDA_PROFILER || o.nvtx_capture.range[0]);
	/* A schedule must come to an end of its own sums. */
	if (o.capture_range == CAPTURE_RANGE_SCHEDULE)
		require(o.schedule.active && schedule_next(&o.schedule, 0) > 0 && schedule_first_active(&o.schedule) < INT64_MAX);
	require(strlen(o.nvtx_capture.range) <= RING_NVTX_RANGE && strlen(o.nvtx_capture.domain) <= RING_NVTX_DOMAIN);
	require(o.cpu.sample >= 0 && o.cpu.sample <= SCOPE_NONE && o.cpu.switches >= 0 && o.cpu.switches <= SCOPE_NONE);
	/* Times of a clock that has run for a while are added to them. */
	require(o.delay_ns >= 0 && o.delay_ns + o.duration_ns >= 0 && o.delay_ns + o.duration_ns < INT64_MAX / 2 + 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct steer_request request;
	size_t length;

	if (!size)
		return 0;
	if (data[0] & 1) {
		length = size - 1;
		memset(&request, 0xa5, sizeof(request));
		memcpy(&request, data + 1, length < sizeof(request) ? length : sizeof(request));
	} else {
		length = lay_over(&request, data + 1, size - 1);
	}
	if (steer_request_check(&request, length))
		use(&request);
	return 0;
}
