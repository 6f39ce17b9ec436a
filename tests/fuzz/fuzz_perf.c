/* libFuzzer: arbitrary bytes as the contents of two perf rings, read as the recorder does.
 *
 *   clang -fsanitize=fuzzer,address,undefined ... tests/fuzz/fuzz_perf.c
 *
 * Layout of an input: a byte that says how stacks are found, and one that cuts the rest in two. The
 * sizes in record headers are made believable unless a byte says not to, so that the fuzzer need not find them. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/system/arch.h"
#include "record/perf/perf.h"
#include "record/perf/sched.h"
#include "record/session/session.h"
#include "record/stacks/stacks.h"
#include "replay.h"

#define PAGE 4096
#define DATA 65536
#define IDS 8

struct world {
	struct session s;
	struct perf perf;
	struct perf_cpu cpus[2];
	struct perf_cpu *heap[2];
	uint8_t *memory[2];
	char path[128];
	unsigned runs;
};

static void set_event(struct perf_event_attr *attr, unsigned choice)
{
	*attr = (struct perf_event_attr){ .size = sizeof(*attr), .sample_type = PERF_COMMON_SAMPLE_TYPE | PERF_SAMPLE_PERIOD };
	if (choice & 1)
		attr->sample_type |= PERF_SAMPLE_CALLCHAIN;
	if (choice & 2)
		attr->sample_type |= PERF_SAMPLE_BRANCH_STACK;
	if (choice & 4) {
		attr->sample_type |= PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
		attr->sample_regs_user = ARCH_PERF_REGISTERS;
	}
}

static void begin_world(struct world *w)
{
	static const struct cpu_options options = { .samples_per_backtrace = 1, .frequency = 1000 };
	struct clock_snapshot first = { .ticks = 0, .raw = 0 }, last = { .ticks = 1 << 30, .raw = 1 << 30 };
	const char *folder = getenv("TMPDIR");
	struct error err;

	*w = (struct world){ .runs = 0 };
	snprintf(w->path, sizeof(w->path), "%s/fuzz-perf-%d.sonde", folder ? folder : "/dev/shm", (int)getpid());
	if (report_writer_open(&w->s.writer, w->path, 1, NULL, 0, &err) < 0)
		abort();
	timebase_init(&w->s.time, 0, 0);
	for (int i = 0; i < 2; i++) {
		w->cpus[i].cpu = i;
		for (int kind = 0; kind < PERF_KINDS; kind++)
			w->cpus[i].fds[kind] = -1;
	}
	timebase_add(&w->s.time, &first);
	timebase_add(&w->s.time, &last);
	w->s.now = 1 << 30;
	w->s.tables[TABLE_THREAD] = report_track(w->s.writer, TABLE_THREAD, 0);
	w->s.tables[TABLE_PROCESS] = report_track(w->s.writer, TABLE_PROCESS, 0);
	roster_init(&w->s.roster);
	w->s.roster.sideband = 1;
	/* clang-format off */
	w->perf = (struct perf){ .session = &w->s, .options = &options, .cpu_count = 2, .cpus = w->cpus,
				 .heap = w->heap, .way = { .scope = SCOPE_PROCESS_TREE, .samples = 1 } };
	/* clang-format on */
	for (int i = 0; i < 2; i++)
		w->memory[i] = aligned_alloc(PAGE, PAGE + DATA);
	for (uint64_t id = 0; id < IDS; id++)
		idmap_put(&w->perf.kinds, id, id % PERF_KINDS);
}

static void end_world(struct world *w)
{
	char name[256];

	sched_release(&w->s);
	stacks_release(&w->s);
	spaces_release(&w->s);
	report_writer_abandon(w->s.writer);
	roster_release(&w->s.roster);
	timebase_release(&w->s.time);
	idmap_release(&w->perf.kinds);
	for (int i = 0; i < 2; i++)
		free(w->memory[i]);
	snprintf(name, sizeof(name), "%s.part", w->path);
	unlink(name);
	snprintf(name, sizeof(name), "%s.journal", w->path);
	unlink(name);
}

/* The input's bytes as records, one behind the other. */
static void fill(uint8_t *memory, const uint8_t *data, size_t size)
{
	struct perf_event_mmap_page *page = (void *)memory;
	size_t at = 0;

	memset(memory, 0, PAGE + DATA);
	size = (size < DATA ? size : DATA) & ~(size_t)7;
	memcpy(memory + PAGE, data, size);
	while (at + sizeof(struct perf_event_header) <= size) {
		struct perf_event_header *header = (void *)(memory + PAGE + at);

		if (header->type >> 24 == 0xff)
			break;
		header->type = header->type % 22;
		header->size = (uint16_t)((header->size % 512 + 8) & ~7u);
		at += header->size;
	}
	page->data_head = size;
}

static void run_one(struct world *w, const uint8_t *data, size_t size)
{
	size_t cut = (size - 2) * data[1] / 255;

	set_event(&w->perf.attrs[PERF_KIND_SAMPLE], data[0]);
	w->perf.way.backtrace = data[0] & 2 ? BACKTRACE_LBR : BACKTRACE_DWARF;
	fill(w->memory[0], data + 2, cut);
	fill(w->memory[1], data + 2 + cut, size - 2 - cut);
	for (int i = 0; i < 2; i++)
		if (perf_ring_init(&w->cpus[i].ring, w->memory[i], PAGE, DATA) < 0)
			abort();
	perf_round(&w->perf, 1);
	roster_provisional(&w->s);
	roster_finish(&w->s);
	for (int i = 0; i < 2; i++)
		perf_ring_release(&w->cpus[i].ring);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct world world;

	if (size < 2)
		return 0;
	if (world.runs == 0)
		begin_world(&world);
	run_one(&world, data, size);
	if (++world.runs == 1000) {
		end_world(&world);
		world.runs = 0;
	}
	return 0;
}
