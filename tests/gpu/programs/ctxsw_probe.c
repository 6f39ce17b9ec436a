/* Can the context switches of a GPU be read through the driver's own interface (open-gpu-kernel-modules)? An event buffer (class 0x90cd) in
 * memory that the driver allocates and we may only read, bound to the switches of a GPU. Says what each call answered, and what came.
 *
 * usage: ctxsw_probe [command [argument ...]]    runs the command meanwhile; ends by itself */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define RECORDS 8192u
#define RECORD_BYTES 32u
#define HEADER_BYTES 4096u
#define LONGEST_NS 8000000000
#define SHOWN 40

struct rm_alloc { uint32_t root, parent, object, class; uint64_t parameters; uint32_t size_or_status, status; };
struct rm_control { uint32_t client, object, command, flags; uint64_t parameters; uint32_t size, status; };
struct rm_map { uint32_t client, device, memory, pad; uint64_t offset, length, address; uint32_t status, flags; int32_t fd, pad2; };
struct rm_os_event { uint32_t client, device, fd, status; };
struct rm_device { uint32_t device, share, target_client, target_device, flags, pad; uint64_t va[3]; uint32_t va_mode, pad2; };
struct rm_memory {
	uint32_t owner, type, flags, width, height, pitch, attr, attr2, format, compression, zcull, pad;
	uint64_t range_low, range_high, size, alignment, offset, limit, address;
	uint32_t tags, va_space, internal, tag, numa, pad2;
	uint64_t spare[8];
};
struct rm_event_buffer {
	uint64_t header, records;
	uint32_t record_size, record_count;
	uint64_t variable;
	uint32_t variable_size, records_free;
	uint64_t notification;
	uint32_t variable_free, subdevice, flags, header_memory, record_memory, variable_memory;
	uint64_t spare[8];
};
struct rm_bind { uint32_t buffer, record_size, detail, filter; uint8_t all_users, pad[3]; uint32_t reason; };
struct rm_enable { uint8_t enable, pad[3]; uint32_t flags; };
struct rm_get { uint32_t record, variable; };
struct rm_correlation { uint8_t clock, count, pad[6]; struct { uint64_t cpu, gpu; } pairs[16]; };

struct ring_header { uint32_t get, put; uint64_t count, dropped, variable_dropped; };
struct ring_record {
	uint16_t type, subtype;
	uint32_t variable;
	uint8_t tag, vm;
	uint16_t sequence;
	uint32_t context, pid;
	uint16_t reserved;
	uint8_t instance, compute_instance;
	uint64_t time;
};
_Static_assert(sizeof(struct ring_record) == RECORD_BYTES, "a record");
_Static_assert(sizeof(struct rm_map) == 56, "nv_ioctl_nvos33_parameters_with_fd");

static int ctl;
static uint32_t client, device, subdevice;

static int64_t now(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static uint32_t rm_new(uint32_t parent, uint32_t object, uint32_t class, void *parameters, const char *what)
{
	struct rm_alloc a = { client, parent, object, class, (uintptr_t)parameters, 0, 0 };
	int r = ioctl(ctl, _IOWR('F', 0x2b, struct rm_alloc), &a);

	printf("  %s (class %#x): ioctl %d (%s), status %#x/%#x, handle %#x\n", what, class, r, r ? strerror(errno) : "ok", a.size_or_status, a.status, a.object);
	return r || a.size_or_status || a.status ? 0 : a.object;
}

static int rm_call(uint32_t object, uint32_t command, void *parameters, uint32_t size, const char *what)
{
	struct rm_control c = { client, object, command, 0, (uintptr_t)parameters, size, 0 };
	int r = ioctl(ctl, _IOWR('F', 0x2a, struct rm_control), &c);

	if (what || r || c.status)
		printf("  %s (command %#x): ioctl %d (%s), status %#x\n", what ? what : "command", command, r, r ? strerror(errno) : "ok", c.status);
	return r || c.status ? -1 : 0;
}

static int open_gpu(void)
{
	struct rm_device parameters = { 0 };
	uint32_t ids[32] = { 0 }, subdevice_id = 0;
	struct { uint32_t id, flags, device, subdevice, sli, board, gpu_instance, numa; } info = { 0 };
	int card = open("/dev/nvidia0", O_RDWR | O_CLOEXEC);

	ctl = open("/dev/nvidiactl", O_RDWR | O_CLOEXEC);
	printf("/dev/nvidiactl %d, /dev/nvidia0 %d, uid %d\n", ctl, card, getuid());
	client = ctl < 0 ? 0 : rm_new(0, 0, 0x41, NULL, "client");
	if (!client || rm_call(client, 0x201, ids, sizeof(ids), "attached GPUs"))
		return -1;
	info.id = ids[0];
	if (rm_call(client, 0x205, &info, sizeof(info), "which device"))
		return -1;
	parameters.device = info.device;
	subdevice_id = info.subdevice;
	device = rm_new(client, 0x5d0001, 0x80, &parameters, "device");
	subdevice = device ? rm_new(device, 0x5d0002, 0x2080, &subdevice_id, "subdevice") : 0;
	return subdevice ? 0 : -1;
}

/* Each mapping takes a descriptor of its own: the driver keeps what may be mapped with it. */
static const void *map(uint32_t of, uint32_t memory, uint64_t size, const char *what)
{
	struct rm_map m = { .client = client, .device = of, .memory = memory, .length = size, .flags = 1,
			    .fd = open("/dev/nvidiactl", O_RDWR | O_CLOEXEC) };
	int r = ioctl(ctl, _IOWR('F', 0x4e, struct rm_map), &m);
	void *p = MAP_FAILED;

	if (r == 0 && m.status == 0)
		p = mmap(NULL, size, PROT_READ, MAP_SHARED, m.fd, 0);
	printf("  map %s: fd %d, ioctl %d (%s), status %#x, mmap %s\n", what, m.fd, r, r ? strerror(errno) : "ok", m.status,
	       p == MAP_FAILED ? strerror(errno) : "ok");
	return p == MAP_FAILED ? NULL : p;
}

static uint32_t new_memory(uint32_t parent, uint32_t handle, uint32_t class, uint64_t size, const char *what)
{
	/* Cached (1 at bit 29); in system memory (1 at bit 25) where a device is told; the user may only read (bit 22). */
	struct rm_memory m = { .attr = 1u << 29 | (class == 0x3e ? 1u << 25 : 0), .attr2 = 1u << 22, .size = size };

	return rm_new(parent, handle, class, &m, what);
}

static uint32_t new_event(void)
{
	struct rm_os_event e = { .client = client, .fd = (uint32_t)open("/dev/nvidiactl", O_RDWR | O_CLOEXEC) };
	int r = ioctl((int)e.fd, _IOWR('F', 206, struct rm_os_event), &e);

	printf("  event to be told by: ioctl %d (%s), status %#x, fd %u\n", r, r ? strerror(errno) : "ok", e.status, e.fd);
	return r || e.status ? 0 : e.fd;
}

struct buffer { uint32_t object; const volatile struct ring_header *header; const volatile struct ring_record *records; };

static int open_buffer(struct buffer *ret, int of_device, int with_event, uint32_t handle)
{
	uint32_t parent = of_device ? device : client, class = of_device ? 0x3e : 0x90ce;
	struct rm_event_buffer b = { .record_size = RECORD_BYTES, .record_count = RECORDS, .records_free = RECORDS / 2, .subdevice = subdevice };

	printf("buffer in %s, %s:\n", of_device ? "memory of the device (0x3e)" : "memory without a device (0x90ce)", with_event ? "with an event" : "no event");
	b.header_memory = new_memory(parent, handle, class, HEADER_BYTES, "memory of the header");
	b.record_memory = b.header_memory ? new_memory(parent, handle + 1, class, RECORDS * RECORD_BYTES, "memory of the records") : 0;
	if (!b.record_memory)
		return -1;
	b.notification = with_event ? new_event() : 0;
	ret->object = rm_new(client, handle + 2, 0x90cd, &b, "event buffer");
	if (!ret->object)
		return -1;
	ret->header = map(parent, b.header_memory, HEADER_BYTES, "header");
	ret->records = map(parent, b.record_memory, RECORDS * RECORD_BYTES, "records");
	return ret->header && ret->records ? 0 : -1;
}

static int bind_switches(struct buffer *b)
{
	for (int all = 1; all >= 0; all--) {
		struct rm_bind v = { .buffer = b->object, .record_size = 24, .detail = 1, .all_users = (uint8_t)all };

		printf(" %s:\n", all ? "all users" : "this user");
		if (rm_call(subdevice, 0x20801238, &v, sizeof(v), "bind, version 2") == 0)
			return 0;
		printf("  reason %u (1 too old, 2 not on this GPU, 3 not enabled, 4 administrators only, 5 a capability is missing)\n", v.reason);
		if (rm_call(subdevice, 0x20801231, &v, 20, "bind, version 1") == 0)
			return 0;
	}
	return -1;
}

static unsigned seen, tags[256];

static void show(const volatile struct ring_record *r)
{
	struct rm_correlation c = { .clock = 3, .count = 1 };

	seen++;
	tags[r->tag]++;
	if (seen > SHOWN)
		return;
	printf("    type %u/%u tag %u vm %u sequence %u context %#x pid %u (%#x) MIG %u/%u time %" PRIu64 "\n", r->type, r->subtype, r->tag, r->vm,
	       r->sequence, r->context, r->pid, r->pid, r->instance, r->compute_instance, r->time);
	if (seen == 1 && rm_call(subdevice, 0x20800406, &c, sizeof(c), "timer") == 0)
		printf("    timer now %" PRIu64 ", raw %" PRIu64 "\n", c.pairs[0].gpu, c.pairs[0].cpu);
}

/* What is before `put` as read before a flush is complete after it: both take the GPU's lock. */
static void take(struct buffer *b, uint32_t *get, const char *what)
{
	uint32_t put = b->header->put, from = *get;
	struct rm_get g = { .record = put };
	int64_t before = now(CLOCK_MONOTONIC);

	rm_call(b->object, 0x90cd0104, NULL, 0, what);
	if (what)
		printf("    flush took %" PRId64 " ns; get %u put %u count %" PRIu64 " dropped %" PRIu64 "\n", now(CLOCK_MONOTONIC) - before,
		       b->header->get, b->header->put, b->header->count, b->header->dropped);
	if (put >= RECORDS)
		return;
	for (; *get != put; *get = (*get + 1) % RECORDS)
		show(&b->records[*get]);
	if (put != from)
		rm_call(b->object, 0x90cd0102, &g, sizeof(g), seen < SHOWN ? "update get" : NULL);
}

static pid_t run(char **argv)
{
	pid_t pid = argv[0] ? fork() : 0;

	if (argv[0] && pid == 0) {
		execvp(argv[0], argv);
		_exit(127);
	}
	return pid;
}

static void watch(struct buffer *b, char **argv)
{
	struct rm_enable e = { .enable = 1, .flags = 1 };
	const struct timespec moment = { .tv_nsec = 20000000 };
	int64_t start = now(CLOCK_MONOTONIC), until = start + LONGEST_NS;
	uint32_t get = 0;
	int rounds = 0, status = 0;
	pid_t child;

	if (rm_call(b->object, 0x90cd0101, &e, sizeof(e), "enable, oldest are kept"))
		return;
	child = run(argv);
	printf("  child %d\n", child);
	if (!child)
		until = start + LONGEST_NS / 4;
	while (now(CLOCK_MONOTONIC) < until) {
		take(b, &get, rounds++ < 2 ? "flush" : NULL);
		nanosleep(&moment, NULL);
		if (child > 0 && waitpid(child, &status, WNOHANG) == child) {
			printf("  child ended, status %#x, after %" PRId64 " ms\n", status, (now(CLOCK_MONOTONIC) - start) / 1000000);
			child = 0;
			until = now(CLOCK_MONOTONIC) + 1500000000;
		}
	}
	if (child > 0) {
		kill(child, SIGKILL);
		waitpid(child, &status, 0);
	}
	e.enable = 0;
	rm_call(b->object, 0x90cd0101, &e, sizeof(e), "disable");
	take(b, &get, "last flush");
	take(b, &get, "very last flush");
	printf("%u records in %d rounds\n", seen, rounds);
	for (int i = 0; i < 256; i++)
		if (tags[i])
			printf("  tag %d: %u\n", i, tags[i]);
}

int main(int argc, char **argv)
{
	struct buffer b = { 0 };

	(void)argc;
	setvbuf(stdout, NULL, _IOLBF, 0);
	alarm(20);
	if (open_gpu() < 0)
		return 1;
	for (uint32_t way = 0; way < 4; way++) {
		if (open_buffer(&b, way & 1, way >> 1, 0x5d0100 + way * 16) < 0)
			continue;
		if (bind_switches(&b) < 0)
			continue;
		watch(&b, argv + 1);
		printf("works: way %u\n", way);
		return 0;
	}
	printf("does not work\n");
	return 1;
}
