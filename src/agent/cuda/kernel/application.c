/* A pass for each run of the program (--replay-mode application): nothing is made again and no memory is kept. What CUPTI counted of a
 * launch lies in a file between runs, named by the part and the number of the launch; the last run evaluates it. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "agent/core/syscalls.h"
#include "agent/cuda/kernel/kernel.h"

#define MAGIC 0x3172656e6b646e73u

/* The launch that a file is of: another run must make the same. */
struct header {
	uint64_t magic;
	uint64_t size;
	uint64_t function; /* names are numbered as they come */
	uint32_t grid[3];
	uint32_t block[3];
};

static struct kernel_part *part_of(struct kernel_counters *c, size_t number)
{
	for (size_t i = 0; i < c->part_count; i++)
		if (c->parts[i].number == number)
			return &c->parts[i];
	return NULL;
}

static struct header header_of(const struct kernel_part *part, const struct record_kernel *r)
{
	struct header h = { .magic = MAGIC, .size = part->image_size, .function = r->function };

	memcpy(h.grid, r->grid, sizeof(h.grid));
	memcpy(h.block, r->block, sizeof(h.block));
	return h;
}

static long open_image(const struct kernel_part *part, const struct record_kernel *r, const struct kernel_request *request, int flags)
{
	char path[600];

	if ((size_t)snprintf(path, sizeof(path), "%s/%zu-%u", request->application_folder, part->number, r->number) >= sizeof(path))
		return -1;
	return raw_syscall(SYS_openat, AT_FDCWD, (long)path, flags | O_CLOEXEC, 0600, 0, 0);
}

static int move_all(long call, long fd, void *data, size_t size)
{
	size_t done = 0;
	long got = 1;

	while (done < size && got > 0) {
		got = raw_syscall(call, fd, (long)((uint8_t *)data + done), (long)(size - done), 0, 0, 0);
		done += got > 0 ? (size_t)got : 0;
	}
	return done == size ? 0 : -1;
}

static int load_part_image(struct kernel_part *part, const struct record_kernel *r, const struct kernel_request *request, char *why)
{
	struct header want = header_of(part, r), have;
	long fd = open_image(part, r, request, O_RDONLY);
	int result = -1;

	if (fd < 0 || move_all(SYS_read, fd, &have, sizeof(have)) < 0)
		snprintf(why, KERNEL_WHY_SIZE, "an earlier run of the program did not make this launch");
	else if (memcmp(&want, &have, sizeof(want)) != 0)
		snprintf(why, KERNEL_WHY_SIZE, "an earlier run of the program launched another kernel here, or with another grid");
	else
		result = move_all(SYS_read, fd, part->image, part->image_size);
	if (fd >= 0)
		raw_close((int)fd);
	return result;
}

static int save_part_image(struct kernel_part *part, const struct record_kernel *r, const struct kernel_request *request, char *why)
{
	struct header h = header_of(part, r);
	long fd = open_image(part, r, request, O_WRONLY | O_CREAT | O_TRUNC);
	int result = fd < 0 || move_all(SYS_write, fd, &h, sizeof(h)) < 0 || move_all(SYS_write, fd, part->image, part->image_size) < 0;

	if (fd >= 0)
		raw_close((int)fd);
	if (result)
		snprintf(why, KERNEL_WHY_SIZE, "what was counted could not be kept for the next run in %.100s",
			 request->application_folder);
	return result ? -1 : 0;
}

int kernel_application_enter(struct kernel_counters *c, const struct record_kernel *record, const struct kernel_request *request, char *why)
{
	struct kernel_part *part = part_of(c, request->application_part);

	if (!part)
		return 0;
	if (kernel_counters_clear(c, part, why) < 0 || (request->application_pass && load_part_image(part, record, request, why) < 0) ||
	    kernel_counters_continue(c, part, request->application_pass, why) < 0 || kernel_counters_start(c, why) < 0)
		return -1;
	return request->flush_caches ? kernel_caches_flush(&c->caches, why) : 0;
}

static int evaluate_all(struct kernel_counters *c, const struct record_kernel *record, const struct kernel_request *request, char *why)
{
	size_t range = request->flush_caches && !request->ranges ? kernel_caches_ranges(&c->caches) : 0;

	for (size_t i = 0; i < c->part_count; i++) {
		struct kernel_part *part = &c->parts[i];

		if (part->number != request->application_part &&
		    (kernel_counters_clear(c, part, why) < 0 || load_part_image(part, record, request, why) < 0))
			return -1;
		if (kernel_counters_evaluate(part, range, why) < 0)
			return -1;
		kernel_report_values(part, part->values, 0, record->number, record->time);
	}
	return 0;
}

int kernel_application_leave(struct kernel_counters *c, const struct record_kernel *record, const struct kernel_request *request, char *why)
{
	struct kernel_part *part = part_of(c, request->application_part);

	if (part && (kernel_counters_stop(c, why) < 0 || kernel_counters_decode_pass(c, why) < 0 ||
		     save_part_image(part, record, request, why) < 0))
		return -1;
	return request->application_is_last ? evaluate_all(c, record, request, why) : 0;
}
