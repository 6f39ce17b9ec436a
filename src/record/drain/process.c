#include "record/drain/process.h"

#include <stdlib.h>
#include <string.h>

#include "base/macros.h"
#include "base/text/path.h"
#include "record/cuda/cuda.h"
#include "record/nvtx/definitions.h"
#include "record/drain/osrt.h"
#include "record/nvtx/start_end.h"
#include "record/session/address_space.h"
#include "record/drain/thread.h"
#include "record/torch/operators.h"
#include "ring/wire.h"

struct traced_process *process_new(uint64_t uid, const struct process_info *info)
{
	struct traced_process *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->uid = uid;
	p->info = *info;
	p->reader.owner = p;
	p->definitions = definitions_new(uid);
	if (!p->definitions) {
		free(p);
		return NULL;
	}
	return p;
}

void process_free(struct traced_process *p)
{
	ring_reader_release(&p->reader);
	definitions_unref(p->definitions);
	osrt_process_free(p);
	operators_free_process(p);
	cuda_process_free(p);
	ranges_release(p);
	free(p->threads);
	free(p);
}

struct traced_process *process_by_uid(const struct session *s, uint64_t uid)
{
	uint64_t pointer = idmap_get(&s->process_uids, uid);

	return pointer == IDMAP_NONE ? NULL : (struct traced_process *)(uintptr_t)pointer;
}

static struct definitions *definitions_of(const struct session *s, uint64_t uid)
{
	struct traced_process *p = process_by_uid(s, uid);

	if (p)
		return p->definitions;
	for (uint32_t i = 0; i < SESSION_DEAD_DEFINITIONS; i++)
		if (s->dead_definitions[i] && s->dead_definitions[i]->process == uid)
			return s->dead_definitions[i];
	return NULL;
}

static struct traced_process *process_by_pid(const struct session *s, uint32_t pid)
{
	for (struct traced_process *p = s->processes; p; p = p->next)
		if (p->info.pid == pid && !p->dead)
			return p;
	return NULL;
}

/* A forked child has what its parent had mapped. */
static void inherit_code(const struct traced_process *parent, struct traced_process *child)
{
	memcpy(child->own_code, parent->own_code, sizeof(child->own_code));
	child->own_code_count = parent->own_code_count;
}

void process_begin(struct session *s, struct traced_process *p)
{
	struct traced_process *parent;
	struct definitions *inherited;

	p->next = s->processes;
	p->link = &s->processes;
	if (p->next)
		p->next->link = &p->next;
	s->processes = p;
	idmap_put(&s->process_uids, p->uid, (uint64_t)(uintptr_t)p);
	if (p->info.origin == WIRE_ORIGIN_FORK) {
		p->parent = p->info.parent_process;
		parent = process_by_uid(s, p->parent);
		if (parent)
			inherit_code(parent, p);
		space_fork(s, p->parent, p->uid, p->info.pid);
		inherited = definitions_of(s, p->parent);
		if (inherited && inherited != p->definitions)
			definitions_inherit(p->definitions, inherited, p->info.next_string, p->info.next_domain);
	} else {
		parent = process_by_pid(s, p->info.ppid);
		p->parent = parent && parent != p ? parent->uid : 0;
	}
}

/* A child that comes late may still want the names. */
static void keep_definitions(struct session *s, struct definitions *d)
{
	struct definitions **place = &s->dead_definitions[s->dead_next];

	if (!d->strings.count && !d->domains.count && !d->counters.count && !d->parent)
		return;
	definitions_unref(*place);
	definitions_ref(d);
	*place = d;
	s->dead_next = (s->dead_next + 1) % SESSION_DEAD_DEFINITIONS;
}

static int64_t text(struct session *s, const char *string)
{
	return string[0] ? (int64_t)session_text(s, string) : 0;
}

static uint32_t fill_process_row(struct session *s, const struct traced_process *p, int64_t end, int64_t *v)
{
	const struct roster_life *life = roster_by_uid(s, p->uid);
	int64_t start = life ? life->start : p->info.attached_raw - s->time.start;
	uint64_t parent = !p->parent && life ? life->parent : p->parent;
	uint32_t present = (1u << (COLUMN_PROCESS_EXIT + 1)) - 1;

	v[COLUMN_PROCESS_UID] = (int64_t)p->uid;
	v[COLUMN_PROCESS_PID] = p->info.pid;
	v[COLUMN_PROCESS_INNER_PID] = p->info.inner_pid;
	v[COLUMN_PROCESS_PARENT] = (int64_t)parent;
	v[COLUMN_PROCESS_PPID] = p->info.ppid;
	v[COLUMN_PROCESS_START] = start < 0 ? 0 : start;
	v[COLUMN_PROCESS_END] = end;
	v[COLUMN_PROCESS_ORIGIN] = p->info.origin;
	v[COLUMN_PROCESS_NAME] = text(s, p->info.name);
	v[COLUMN_PROCESS_EXE] = text(s, p->info.exe);
	v[COLUMN_PROCESS_CMDLINE] = text(s, p->info.cmdline);
	v[COLUMN_PROCESS_EXIT] = p->exit_status;
	present &= parent ? ~0u : ~BIT(COLUMN_PROCESS_PARENT);
	present &= p->info.exe[0] ? ~0u : ~BIT(COLUMN_PROCESS_EXE);
	present &= p->info.cmdline[0] ? ~0u : ~BIT(COLUMN_PROCESS_CMDLINE);
	present &= p->exit_known ? ~0u : ~BIT(COLUMN_PROCESS_EXIT);
	return present;
}

static void report_unreachable(struct session *s, struct traced_process *p, uint32_t count)
{
	if (count == p->unreachable_seen)
		return;
	p->unreachable_seen = count;
	s->untraced++;
	session_diagnose(s, SOURCE_RECORDER, DIAGNOSTIC_WARNING, p->uid,
			 "Programs or children started by process %u (%s) were not traced: they could not reach the "
			 "recorder (another network namespace, no descriptor left, or no answer in time).",
			 p->info.pid, p->info.name);
}

uint32_t process_unfinished(struct session *s, struct traced_process *p)
{
	uint32_t cuda = atomic_load_explicit(&ring_reader_pool(&p->reader)->cuda, memory_order_acquire);

	s->cuda_seen |= (cuda & RING_CUDA_HERE) != 0;
	return !p->dead && cuda & RING_CUDA_UNFINISHED;
}

void process_report_losses(struct session *s, struct traced_process *p)
{
	struct ring_pool *pool = ring_reader_pool(&p->reader);
	struct ring_slot slot;
	uint64_t without_slot;

	for (uint32_t i = 0; i < p->thread_cap; i++) {
		if (!p->threads[i])
			continue;
		ring_reader_slot(&p->reader, i, &slot);
		thread_report_losses(s, p, p->threads[i], &slot);
	}
	without_slot = atomic_load_explicit(&pool->dropped_without_slot, memory_order_relaxed);
	if (without_slot > p->no_slot_seen) {
		p->lost_some = 1;
		session_loss(s, p->uid, 0, LOSS_NO_SLOT, without_slot - p->no_slot_seen);
		p->no_slot_seen = without_slot;
	}
	report_unreachable(s, p, atomic_load_explicit(&pool->unreachable, memory_order_relaxed));
	if (pool->cost_pair_ps)
		s->cost_pair_ps = pool->cost_pair_ps;
	if (pool->cost_clock_ps)
		s->cost_clock_ps = pool->cost_clock_ps;
}

void process_end(struct session *s, struct traced_process *p, int64_t end)
{
	int64_t values[TABLE_MAX_COLUMNS];

	process_report_losses(s, p);
	process_unfinished(s, p);
	for (uint32_t i = 0; i < p->thread_cap; i++)
		if (p->threads[i])
			thread_close(s, p, p->threads[i], end, NULL);
	if (end < p->last_time)
		end = p->last_time;
	ranges_age(s, p, 1);
	ranges_end_all(s, p, end);
	operators_end_process(s, p, end);
	osrt_process_end(s, p);
	cuda_process_end(s, p, end);
	cuda_kernel_disconnect(s, p);
	space_end(s, p->uid);
	session_row(s, TABLE_PROCESS, values, fill_process_row(s, p, end, values));
	roster_agent_over(s, p->uid, end);
	keep_definitions(s, p->definitions);
	s->chunks_in_circulation -= p->reader.chunk_limit;
	idmap_take(&s->process_uids, p->uid);
	*p->link = p->next;
	if (p->next)
		p->next->link = p->link;
	process_free(p);
}

void process_provisional(struct session *s, struct traced_process *p)
{
	int64_t values[TABLE_MAX_COLUMNS];
	uint32_t present = fill_process_row(s, p, s->now, values);

	report_append_provisional(s->tables[TABLE_PROCESS], values, present);
	for (uint32_t i = 0; i < p->thread_cap; i++)
		if (p->threads[i])
			thread_provisional(s, p, p->threads[i]);
	ranges_provisional(s, p);
	cuda_provisional(s, p);
}

void process_untraced_row(struct session *s, uint64_t uid, uint32_t pid, const char *exe, const int *exit_status)
{
	int64_t v[TABLE_MAX_COLUMNS];
	uint32_t present = BIT(COLUMN_PROCESS_UID) | BIT(COLUMN_PROCESS_PID) | BIT(COLUMN_PROCESS_INNER_PID) | BIT(COLUMN_PROCESS_START) |
			   BIT(COLUMN_PROCESS_END) | BIT(COLUMN_PROCESS_ORIGIN) | BIT(COLUMN_PROCESS_NAME) | BIT(COLUMN_PROCESS_EXE);

	v[COLUMN_PROCESS_UID] = (int64_t)uid;
	v[COLUMN_PROCESS_PID] = pid;
	v[COLUMN_PROCESS_INNER_PID] = pid;
	v[COLUMN_PROCESS_START] = 0;
	v[COLUMN_PROCESS_END] = s->now;
	v[COLUMN_PROCESS_ORIGIN] = 0;
	v[COLUMN_PROCESS_NAME] = text(s, path_name(exe));
	v[COLUMN_PROCESS_EXE] = text(s, exe);
	if (exit_status) {
		v[COLUMN_PROCESS_EXIT] = *exit_status;
		present |= BIT(COLUMN_PROCESS_EXIT);
	}
	session_row(s, TABLE_PROCESS, v, present);
}
