/* Which process is which, and what code it has mapped. */
#include "record/perf/perf.h"
#include "record/perf/sched.h"
#include "record/session/roster.h"
#include "record/session/session.h"
#include "record/session/address_space.h"

void perf_take_mapping(struct perf *p, const struct perf_event_header *header, int64_t time)
{
	struct perf_mapping m;
	struct space_mapping mapping;
	struct roster_life *life;

	if (perf_event_mapping(header, &m) < 0) {
		p->damaged++;
		return;
	}
	life = m.pid == UINT32_MAX ? NULL : roster_life(p->session, m.pid, time);
	if (!life)
		return;
	/* clang-format off */
	mapping = (struct space_mapping){
		.time = time, .address = m.address, .size = m.size, .offset = m.offset,
		.path = m.path, .build_id = m.build_id, .build_id_size = m.build_id_size,
		.device = m.device, .inode = m.inode,
	};
	/* clang-format on */
	roster_mapped(p->session, life, m.path);
	space_map(p->session, space_of(p->session, life->uid, life->pid), &mapping);
}

void perf_take_comm(struct perf *p, const struct perf_event_header *header, const struct perf_stamp *stamp, int64_t time)
{
	struct sched_event exec = { .time = time, .kind = SCHED_EXEC, .cpu = stamp->cpu };
	const char *name;

	if (perf_event_comm(header, &exec.pid, &exec.tid, &name) < 0) {
		p->damaged++;
	} else if (header->misc & PERF_RECORD_MISC_COMM_EXEC) {
		roster_exec(p->session, exec.pid, time, name);
		sched_events_take_life(p, &exec);
	} else {
		roster_rename(p->session, exec.pid, exec.tid, name, time);
	}
}

void perf_take_task(struct perf *p, const struct perf_event_header *header, const struct perf_stamp *stamp, int64_t time)
{
	int ends = header->type == PERF_RECORD_EXIT;
	/* A thread tells of its own end; of its birth another one does. */
	struct sched_event event = {
		.time = time,
		.cpu = ends ? stamp->cpu : SCHED_NO_CPU,
		.kind = ends ? SCHED_GONE : SCHED_BORN,
	};
	struct perf_task task;
	struct roster_life *life;

	if (perf_event_task(header, &task) < 0) {
		p->damaged++;
		return;
	}
	event.pid = task.pid;
	event.tid = task.tid;
	if (ends) {
		sched_events_take_life(p, &event);
		roster_exit(p->session, task.pid, task.tid, time);
	} else if (task.pid != task.ppid) {
		roster_fork(p->session, task.pid, task.ppid, time);
	} else {
		life = roster_life(p->session, task.pid, time);
		if (life)
			roster_thread(p->session, life, task.tid, time);
	}
	if (!ends)
		sched_events_take_life(p, &event);
}
