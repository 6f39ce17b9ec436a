#include "record/gpu/switches.h"

#include <stdlib.h>
#include <string.h>

#include "fmt/record.h"
#include "vendor/nvidia/switches.h"

#define AT_ONCE 1024u
_Static_assert(sizeof(struct gpu_wire_switches) + AT_ONCE * sizeof(struct gpu_wire_switch) <= GPU_WIRE_MAX, "a message");
/* A buffer full of them, and what came while that was read. */
#define ROUNDS_MOST (2 * NVIDIA_SWITCH_RECORDS / AT_ONCE)

struct source {
	const struct gpu_device *gpu;
	struct nvidia_switches log;
	int failed;
};

struct switches {
	struct collector *collector;
	struct source sources[COLLECTOR_MAX_GPUS];
	uint32_t count;
	struct nvidia_switch found[AT_ONCE];
	struct gpu_wire_switches *message;
};

/* One line for all GPUs where none tells, and one for each that does not where others do. */
static void open_gpu_switches(struct switches *s)
{
	struct collector *c = s->collector;
	char why[COLLECTOR_MAX_GPUS][160];
	struct source *source;

	for (uint32_t i = 0; i < c->gpu_count; i++) {
		const struct nvml_pci *pci = &c->gpus[i].pci;

		why[i][0] = '\0';
		source = &s->sources[s->count];
		*source = (struct source){ .gpu = &c->gpus[i] };
		if (nvidia_switches_open(&source->log, pci->domain, pci->bus, pci->device, why[i], sizeof(why[i])) == 0)
			s->count++;
	}
	for (uint32_t i = 0; i < c->gpu_count && s->count; i++)
		if (why[i][0])
			collector_diagnose(c, DIAGNOSTIC_WARNING, "Context switches of GPU %u are not recorded: %s.", c->gpus[i].index,
					   why[i]);
	if (!s->count)
		collector_diagnose(c, DIAGNOSTIC_WARNING, "GPU context switches are not recorded: %s.", why[0]);
}

struct switches *switches_open(struct collector *c)
{
	struct switches *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->collector = c;
	s->message = calloc(1, sizeof(*s->message) + AT_ONCE * sizeof(s->message->switches[0]));
	if (s->message)
		open_gpu_switches(s);
	if (s->message && s->count)
		return s;
	free(s->message);
	free(s);
	return NULL;
}

static void send_found(struct switches *s, const struct source *source, uint32_t count)
{
	struct gpu_wire_switches *m = s->message;

	m->head = (struct gpu_wire_head){ .kind = GPU_WIRE_SWITCHES, .gpu = source->gpu->index, .count = count };
	for (uint32_t i = 0; i < count; i++) {
		const struct nvidia_switch *f = &s->found[i];

		m->switches[i] = (struct gpu_wire_switch){ f->time, f->context, f->pid == NVIDIA_SWITCH_NOT_TOLD ? 0 : f->pid, f->sequence,
							   f->begins };
	}
	collector_send(s->collector, m, sizeof(*m) + count * sizeof(m->switches[0]));
}

static void send_lost(struct switches *s, const struct source *source, uint64_t lost)
{
	struct gpu_wire_lost m = { .head = { .kind = GPU_WIRE_LOST, .gpu = source->gpu->index, .number = GPU_LOST_SWITCHES },
				   .count = lost };

	collector_send(s->collector, &m, sizeof(m));
}

static void fail_gpu_switches(struct switches *s, struct source *source, int result)
{
	source->failed = 1;
	collector_diagnose(s->collector, DIAGNOSTIC_WARNING, "Context switches of GPU %u end here: %s.", source->gpu->index,
			   strerror(-result));
}

static void fetch_gpu_switches(struct switches *s, struct source *source)
{
	uint64_t lost = 0;
	int found = 0;

	collector_read_timer(s->collector, source->gpu, &source->log.timer);
	for (uint32_t i = 0; i < ROUNDS_MOST; i++) {
		found = nvidia_switches_read(&source->log, s->found, AT_ONCE, &lost);
		if (found > 0)
			send_found(s, source, (uint32_t)found);
		if (found < (int)AT_ONCE)
			break;
	}
	if (lost)
		send_lost(s, source, lost);
	if (found < 0)
		fail_gpu_switches(s, source, found);
}

void switches_fetch(struct switches *s)
{
	for (uint32_t i = 0; i < s->count; i++)
		if (!s->sources[i].failed)
			fetch_gpu_switches(s, &s->sources[i]);
	collector_ring(s->collector);
}

void switches_window(struct switches *s, int open)
{
	int result;

	for (uint32_t i = 0; i < s->count; i++) {
		struct source *source = &s->sources[i];

		if (source->failed)
			continue;
		/* The driver writes down late what the hardware has logged: what came before this moment belongs to what was before. */
		fetch_gpu_switches(s, source);
		result = nvidia_switches_enable(&source->log, open);
		if (result < 0)
			fail_gpu_switches(s, source, result);
		else
			fetch_gpu_switches(s, source);
	}
}
