/* Opening events: the richest form first, then with less, until the kernel agrees. */
#include <errno.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "record/perf/perf.h"
#include "record/session/session.h"

#define RING_SMALLEST (32u << 10)
#define RING_LEAST (256u << 10)
#define RING_MOST (8u << 20)
#define RING_FAIR (2u << 20)          /* a CPU of many has this, */
#define RINGS_TOGETHER (128ull << 20) /* one of few its part of this */
#define RING_COPIES 64                /* copies of stacks a ring has room for at least */
/* What a ring must hold: the drain thread may come late. */
#define RING_MS 120
#define MAX_CPUS 8192
#define MANY_FILES (1u << 20)
#define ENOUGH_FILES (1u << 16)

int perf_open_event(struct perf_event_attr *attr, int pid, int cpu)
{
	struct rlimit files;
	int fd = (int)syscall(SYS_perf_event_open, attr, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC);

	if (fd >= 0 || errno != EMFILE)
		return fd >= 0 ? fd : -errno;
	/* Several per CPU: more than a default limit has room for. Only the privileged can raise it. */
	for (rlim_t many = MANY_FILES; many >= ENOUGH_FILES && fd < 0; many /= 4) {
		if (getrlimit(RLIMIT_NOFILE, &files) < 0 || files.rlim_max >= many)
			break;
		files.rlim_cur = files.rlim_max = many;
		if (setrlimit(RLIMIT_NOFILE, &files) == 0)
			fd = (int)syscall(SYS_perf_event_open, attr, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
		else
			errno = EMFILE;
	}
	return fd >= 0 ? fd : -errno;
}

static int64_t read_setting(const char *name, int64_t otherwise)
{
	char path[128];
	long long value;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/sys/kernel/%s", name);
	f = fopen(path, "re");
	if (!f || fscanf(f, "%lld", &value) != 1)
		value = otherwise;
	if (f)
		fclose(f);
	return value;
}

/* Numbers of the CPUs that are online: "0-3,8". False: that cannot be read. */
static bool read_online(struct perf *p)
{
	FILE *f = fopen("/sys/devices/system/cpu/online", "re");
	unsigned from, to;
	int end = ',';

	if (!f)
		return false;
	while (end == ',' && fscanf(f, "%u", &from) == 1) {
		to = from;
		end = fgetc(f);
		if (end == '-' && fscanf(f, "%u", &to) == 1)
			end = fgetc(f);
		for (; from <= to && p->cpu_count < MAX_CPUS; from++)
			p->cpus[p->cpu_count++].cpu = (int)from;
	}
	fclose(f);
	return true;
}

static int online_cpus(struct perf *p)
{
	p->cpus = calloc(2 * MAX_CPUS, sizeof(*p->cpus)); /* with rings for wakeups */
	if (p->cpus && !read_online(p))
		for (long n = sysconf(_SC_NPROCESSORS_ONLN); p->cpu_count < n && p->cpu_count < MAX_CPUS; p->cpu_count++)
			p->cpus[p->cpu_count].cpu = (int)p->cpu_count;
	for (uint32_t i = 0; p->cpus && i < p->cpu_count; i++) {
		p->cpus[i].owner = -1;
		for (int kind = 0; kind < PERF_KINDS; kind++)
			p->cpus[i].fds[kind] = -1;
	}
	return p->cpus && p->cpu_count ? 0 : -ENOMEM;
}

static int is_refusal(int result)
{
	return result == -EACCES || result == -EPERM;
}

/* A thread is woken by anybody: tracepoints are of the whole system always. */
static int is_of_system(const struct perf *p, const struct perf_event_attr *attr)
{
	return p->way.scope == SCOPE_SYSTEM_WIDE || attr->type == PERF_TYPE_TRACEPOINT;
}

static int event_pid(const struct perf *p, const struct perf_event_attr *attr)
{
	if (is_of_system(p, attr))
		return -1;
	return (int)(p->tasks.first ? p->tasks.first : p->target);
}

static void set_scope(const struct perf *p, struct perf_event_attr *attr)
{
	int at_exec = attr->disabled && p->at_exec && p->way.scope == SCOPE_PROCESS_TREE;

	attr->inherit = !is_of_system(p, attr);
	attr->inherit_thread = attr->inherit && p->only_threads;
	attr->enable_on_exec = at_exec && attr->inherit;
	/* What is not of the target cannot wait for its exec. */
	if (at_exec && !attr->inherit)
		attr->disabled = 0;
	attr->exclude_idle = p->way.scope == SCOPE_SYSTEM_WIDE && attr->type != PERF_TYPE_TRACEPOINT;
}

/* Tries one event on the first CPU, to see whether the kernel would. */
static int try_event(const struct perf *p, struct perf_event_attr *attr)
{
	int fd;

	set_scope(p, attr);
	if (p->counts_lost)
		attr->read_format |= PERF_FORMAT_LOST;
	fd = perf_open_event(attr, event_pid(p, attr), p->cpus[0].cpu);
	if (fd >= 0)
		close(fd);
	return fd < 0 ? fd : 0;
}

static int settle_sideband(struct perf *p, size_t ring_size)
{
	struct perf_event_attr *attr = &p->attrs[PERF_KIND_SIDEBAND];
	int result;

	perf_attr_sideband(attr, ring_size);
	result = try_event(p, attr);
	if (result == -EINVAL) {
		attr->build_id = 0; /* before 5.12 */
		result = try_event(p, attr);
	}
	return result;
}

/* With what the kernel has of it: its own part, then user code only. */
static int try_kernel_part(struct perf *p, struct perf_event_attr *attr)
{
	int result = try_event(p, attr);

	if (!is_refusal(result))
		return result;
	attr->exclude_kernel = 1;
	result = try_event(p, attr);
	if (result == 0)
		p->way.user_only = 1;
	return result;
}

static int settle_samples(struct perf *p)
{
	struct perf_event_attr *attr = &p->attrs[PERF_KIND_SAMPLE];
	int64_t max_rate = read_setting("perf_event_max_sample_rate", 100000);
	int result;

	p->way.hardware = 1;
	perf_attr_sample(attr, p->options, p->way.backtrace, 1, max_rate);
	result = try_kernel_part(p, attr);
	if (result < 0 && p->way.backtrace == BACKTRACE_LBR) {
		session_diagnose(p->session, SOURCE_RECORDER, DIAGNOSTIC_WARNING, 0,
				 "Backtraces are found by unwind tables (dwarf): this machine's branch records (lbr) "
				 "cannot be used: %s.",
				 strerror(-result));
		p->way.backtrace = BACKTRACE_DWARF;
		perf_attr_sample(attr, p->options, p->way.backtrace, 1, max_rate);
		result = try_kernel_part(p, attr);
	}
	if (result < 0) {
		p->way.hardware = 0;
		perf_attr_sample(attr, p->options, p->way.backtrace, 0, max_rate);
		result = try_kernel_part(p, attr);
	}
	p->way.period = attr->freq ? 0 : p->options->period;
	p->way.frequency = attr->freq ? (int64_t)attr->sample_freq : 0;
	if (result == 0 && attr->freq && p->options->frequency > max_rate)
		session_diagnose(p->session, SOURCE_RECORDER, DIAGNOSTIC_WARNING, 0,
				 "Samples are taken %lld times a second, not %lld: kernel.perf_event_max_sample_rate "
				 "allows no more.",
				 (long long)max_rate, (long long)p->options->frequency);
	return result;
}

/* Whether memory of rings does not count. */
static int may_lock(void)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2] = { { 0 } };

	return syscall(SYS_capget, &header, data) == 0 && (data[0].effective >> CAP_IPC_LOCK & 1);
}

/* What one CPU's ring may have. */
static size_t ring_limit(const struct perf *p)
{
	uint64_t limit = RINGS_TOGETHER / p->cpu_count;

	if (!may_lock())
		limit = (uint64_t)read_setting("perf_event_mlock_kb", 516) << 10;
	else if (limit < RING_FAIR)
		limit = RING_FAIR;
	return limit < RING_SMALLEST ? RING_SMALLEST : limit > RING_MOST ? RING_MOST : (size_t)limit;
}

/* A small ring holds few large copies, and is read seldom: rather less of each stack than no stack. */
static int64_t affordable_stack(const struct perf *p)
{
	int64_t share = (int64_t)(ring_limit(p) / RING_COPIES);

	return p->options->stack_size < share ? p->options->stack_size : share;
}

/* Bytes of the records of RING_MS milliseconds. */
static size_t ring_size(const struct perf *p)
{
	uint64_t rate = (uint64_t)p->options->frequency, record = 256, size = RING_LEAST;

	if (p->way.backtrace == BACKTRACE_DWARF)
		record = 1024 + (uint64_t)p->options->stack_size;
	else if (p->way.backtrace != BACKTRACE_NONE)
		record = 1280;
	while (p->way.samples && size * 2 <= ring_limit(p) && size < rate * record * RING_MS / 1000)
		size *= 2;
	return (size_t)size;
}

static int map_ring(struct perf_cpu *c, size_t size)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	void *memory = MAP_FAILED;

	for (; size >= RING_SMALLEST; size /= 2) {
		memory = mmap(NULL, page + size, PROT_READ | PROT_WRITE, MAP_SHARED, c->owner, 0);
		if (memory != MAP_FAILED || (errno != EPERM && errno != ENOMEM && errno != EINVAL))
			break;
	}
	if (memory == MAP_FAILED)
		return -errno;
	c->mapped = page + size;
	return perf_ring_init(&c->ring, memory, page, size);
}

static int open_kind(struct perf *p, struct perf_cpu *c, enum perf_kind kind, size_t size)
{
	uint64_t id;
	int fd = perf_open_event(&p->attrs[kind], event_pid(p, &p->attrs[kind]), c->cpu);

	if (fd < 0)
		return fd;
	c->fds[kind] = fd;
	if (ioctl(fd, PERF_EVENT_IOC_ID, &id) < 0 || idmap_put(&p->kinds, id, PERF_SOURCE(kind, p->tasks.first)) < 0)
		return -errno;
	if (c->owner >= 0)
		return ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, c->owner) < 0 ? -errno : 0;
	c->owner = fd;
	return map_ring(c, size);
}

/* The events of some kinds, on one ring: that of the first of them that is wanted. */
static int open_cpu(struct perf *p, struct perf_cpu *c, size_t size, int first, int limit)
{
	int result = 0;

	for (int kind = first; kind < limit && result == 0; kind++)
		if (p->attrs[kind].size)
			result = open_kind(p, c, kind, size);
	/* It went offline. */
	return result == -ENODEV && c->owner < 0 ? 0 : result;
}

/* Every event costs each new thread time, once per CPU: what can be asked of the sampling event is. The
 * side-band can when they begin together. */
static void settle_together(struct perf *p)
{
	struct perf_event_attr *sideband = &p->attrs[PERF_KIND_SIDEBAND];
	struct perf_event_attr together = p->attrs[PERF_KIND_SAMPLE];

	if (!p->way.samples || p->way.scope != SCOPE_PROCESS_TREE)
		return;
	together.context_switch = p->way.switches;
	if (p->at_exec) {
		together.mmap = together.mmap2 = together.comm = together.comm_exec = together.task = 1;
		together.build_id = sideband->build_id;
		together.watermark = 1;
		together.wakeup_watermark = sideband->wakeup_watermark;
	}
	if (try_event(p, &together) < 0)
		return;
	p->attrs[PERF_KIND_SAMPLE] = together;
	p->attrs[PERF_KIND_SWITCH].size = 0;
	if (p->at_exec)
		sideband->size = 0;
}

/* Whatever the options want beside samples. */
static int settle_perf_events(struct perf *p, struct error *why)
{
	int result;

	perf_lost_settle(p);
	result = settle_sideband(p, ring_size(p));
	if (result < 0)
		return error_set_errno(why, -result, "perf_event_open");
	if (p->way.samples && (result = settle_samples(p)) < 0)
		return error_set_errno(why, -result, "perf_event_open");
	if (p->way.switches) {
		perf_attr_switch(&p->attrs[PERF_KIND_SWITCH], !p->way.samples);
		if (try_event(p, &p->attrs[PERF_KIND_SWITCH]) < 0) {
			p->attrs[PERF_KIND_SWITCH].size = 0;
			p->way.switches = 0;
		}
	}
	if (p->way.switches)
		sched_events_settle(p);
	settle_together(p);
	return 0;
}

static void report_what_is_missing(struct perf *p)
{
	int64_t level = read_setting("perf_event_paranoid", 2);

	if (p->way.user_only && p->way.samples)
		session_diagnose(p->session, SOURCE_RECORDER, DIAGNOSTIC_INFO, 0,
				 "Only user code is sampled, not the kernel: kernel.perf_event_paranoid is %lld; 1 or less, or "
				 "CAP_PERFMON, allows it.",
				 (long long)level);
	sched_events_report_missing(p);
}

static void close_cpu(struct perf_cpu *c)
{
	if (c->ring.page)
		munmap(c->ring.page, c->mapped);
	perf_ring_release(&c->ring);
	for (int kind = 0; kind < PERF_KINDS; kind++)
		if (c->fds[kind] >= 0)
			close(c->fds[kind]);
}

/* Rings of their own: those of others do not take the place of what is recorded. */
static void open_wakeups(struct perf *p)
{
	uint32_t count = p->cpu_count;
	int result = 0;

	for (uint32_t i = 0; i < count && result == 0; i++) {
		struct perf_cpu *c = &p->cpus[count + i];

		c->cpu = p->cpus[i].cpu;
		c->owner = -1;
		for (int kind = 0; kind < PERF_KINDS; kind++)
			c->fds[kind] = -1;
		p->cpu_count++;
		result = open_cpu(p, c, p->sched.wakeup_ring, PERF_KIND_WAKEUP, PERF_KINDS);
	}
	for (; result < 0 && p->cpu_count > count; p->cpu_count--)
		close_cpu(&p->cpus[p->cpu_count - 1]);
	p->sched.wakeups = result == 0;
}

int perf_try_event(const struct perf *p, struct perf_event_attr *attr)
{
	return try_event(p, attr);
}

int perf_open_all(struct perf *p, struct error *why)
{
	size_t size;
	int result;

	if (online_cpus(p) < 0)
		return error_set(why, ENOMEM, "no memory");
	p->affordable = *p->options;
	p->affordable.stack_size = affordable_stack(p);
	p->options = &p->affordable;
	result = settle_perf_events(p, why);
	if (result == -EINVAL && p->only_threads) {
		session_diagnose(p->session, SOURCE_RECORDER, DIAGNOSTIC_WARNING, 0,
				 "Processes that the program starts from now on are recorded, too: leaving them out requires Linux "
				 "5.13.");
		p->only_threads = 0;
		result = settle_perf_events(p, why);
	}
	if (is_refusal(result) && p->way.scope == SCOPE_SYSTEM_WIDE) {
		session_diagnose(p->session, SOURCE_RECORDER, DIAGNOSTIC_WARNING, 0,
				 "Only the program and its children are recorded, not the whole system: kernel.perf_event_paranoid "
				 "is %lld; 0 or less, or CAP_PERFMON, allows it.",
				 (long long)read_setting("perf_event_paranoid", 2));
		p->way.scope = SCOPE_PROCESS_TREE;
		result = settle_perf_events(p, why);
	}
	size = ring_size(p);
	for (uint32_t i = 0; i < p->cpu_count && result == 0; i++) {
		result = open_cpu(p, &p->cpus[i], size, 0, PERF_KIND_WAKEUP);
		if (result < 0)
			error_set_errno(why, -result, "perf events of CPU %d", p->cpus[i].cpu);
	}
	if (result == 0 && p->sched.wakeups)
		open_wakeups(p);
	if (result == 0)
		report_what_is_missing(p);
	else
		perf_close_all(p);
	return result;
}

void perf_close_all(struct perf *p)
{
	for (uint32_t i = 0; i < p->cpu_count; i++)
		close_cpu(&p->cpus[i]);
	free(p->cpus);
	p->cpus = NULL;
	p->cpu_count = 0;
	idmap_release(&p->kinds);
}
