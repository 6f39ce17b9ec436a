/* Rows of processes and their threads. */
#include <errno.h>

#include "view/rows/rows.h"

static enum row_kind find_track_kind(const int64_t *track_row)
{
	switch (track_row[TRACK_KIND]) {
	case TRACK_NVTX_PUSHPOP:
	case TRACK_NVTX_STARTEND: return ROW_NVTX;
	case TRACK_NVTX_MARK: return ROW_MARKS;
	case TRACK_COUNTER: return ROW_COUNTER;
	case TRACK_SAMPLES: return ROW_SAMPLES;
	case TRACK_RUN: return ROW_STATE;
	case TRACK_OSRT: return ROW_OSRT;
	case TRACK_CUDA_API: return ROW_CUDA_API;
	case TRACK_CUDA_OVERHEAD:
	case TRACK_CUDA_JIT: return ROW_OVERHEAD;
	default: return ROW_GENERIC;
	}
}

/* The main thread first, then as they are numbered; what belongs to no thread comes last. */
static int64_t thread_order(const struct view_report *r, int64_t uid, int64_t process_uid)
{
	const int64_t *thread = index_find(&r->index.threads, uid);
	const int64_t *process = index_find(&r->index.processes, process_uid);

	if (!thread)
		return uid ? INT64_MAX - 1 : INT64_MAX;
	return process && process[PROCESS_PID] == thread[THREAD_TID] ? INT64_MIN : thread[THREAD_TID];
}

bool process_track_key(const struct view_report *r, const int64_t *track_row, struct track_key *ret)
{
	const int64_t *thread = index_find(&r->index.threads, track_row[TRACK_THREAD]);

	ret->section = SECTION_PROCESS;
	ret->kind = find_track_kind(track_row);
	ret->place = track_row[TRACK_PROCESS] ? track_row[TRACK_PROCESS] : thread ? thread[THREAD_PROCESS] : 0;
	ret->owner = track_row[TRACK_THREAD];
	ret->order = thread_order(r, track_row[TRACK_THREAD], ret->place);
	ret->depth = track_row[TRACK_DEPTH];
	ret->domain = track_row[TRACK_DOMAIN];
	/* Ranges that may overlap are a row of their own. */
	if (track_row[TRACK_KIND] == TRACK_NVTX_STARTEND || track_row[TRACK_KIND] == TRACK_CUDA_JIT)
		ret->label = 1;
	if (ret->kind == ROW_GENERIC)
		ret->label = track_row[TRACK_LABEL] ? track_row[TRACK_LABEL] : -(int64_t)table_of_tracks((unsigned)track_row[TRACK_KIND]);
	if (ret->kind == ROW_COUNTER)
		ret->label = track_row[TRACK_ID];
	return true;
}

static int add_process(struct row_maker *m, int64_t uid)
{
	const int64_t *process = index_find(&m->r->index.processes, uid);
	struct row *row = row_add(m, ROW_NO_PARENT, ROW_PROCESS, DRAW_GROUP);
	const char *name;

	if (!row)
		return -ENOMEM;
	m->place_row = (uint32_t)(m->r->row_count - 1);
	row->uid = uid;
	if (!process)
		return row_print(&row->label, "process");
	name = row_text(m->r, process[PROCESS_NAME]);
	if (*name)
		row_print(&row->detail, "process %lld", (long long)process[PROCESS_PID]);
	return *name ? row_print(&row->label, "%s", name) : row_print(&row->label, "process %lld", (long long)process[PROCESS_PID]);
}

static int add_thread_row(struct row_maker *m, int64_t uid)
{
	const int64_t *thread = index_find(&m->r->index.threads, uid);
	const char *name = thread ? row_text(m->r, index_thread_name(&m->r->index, uid)) : "";
	struct row *row;

	m->owner_row = m->place_row;
	m->owner_has_heat = uid == 0;
	if (!uid)
		return 0;
	row = row_add(m, m->place_row, ROW_THREAD, DRAW_GROUP);
	if (!row)
		return -ENOMEM;
	m->owner_row = (uint32_t)(m->r->row_count - 1);
	row->uid = uid;
	if (!thread)
		return row_print(&row->label, "thread");
	if (*name)
		row_print(&row->detail, "thread %lld", (long long)thread[THREAD_TID]);
	return *name ? row_print(&row->label, "%s", name) : row_print(&row->label, "thread %lld", (long long)thread[THREAD_TID]);
}

int process_headings(struct row_maker *m, const struct track_key *before, const struct track_key *key)
{
	bool new_process = !before || before->section != SECTION_PROCESS || before->place != key->place;
	int r = new_process ? add_process(m, key->place) : 0;

	if (r >= 0 && (new_process || before->owner != key->owner))
		r = add_thread_row(m, key->owner);
	return r;
}

static int nvtx_label(struct view_report *r, const struct track_key *key, struct row *row)
{
	const int64_t *domain = index_find(&r->index.domains, key->domain);
	const char *name = domain ? row_text(r, domain[DOMAIN_NAME]) : "";

	if (key->label || key->kind == ROW_MARKS)
		row_print(&row->detail, "%s", key->label ? "ranges that may overlap" : "marks");
	return row_print(&row->label, "%s", *name ? name : "NVTX");
}

static int counter_label(struct view_report *r, const struct track_key *key, struct row *row)
{
	const int64_t *counter = index_find(&r->counters, key->label), *track_row = view_report_track_row(r, (uint32_t)key->label);
	const char *name = row_text(r, counter ? counter[VIEW_COUNTER_NAME] : track_row ? track_row[TRACK_LABEL] : 0);

	return row_print(&row->label, "%s", *name ? name : "counter");
}

int process_label(struct view_report *r, const struct track_key *key, struct row *row)
{
	const struct table_tracks *tracks;
	const char *name;

	switch ((int)key->kind) {
	case ROW_NVTX:
	case ROW_MARKS: return nvtx_label(r, key, row);
	case ROW_COUNTER: return counter_label(r, key, row);
	case ROW_SAMPLES: return row_print(&row->label, "CPU samples");
	case ROW_STATE: return row_print(&row->label, "on a CPU");
	case ROW_OSRT: return row_print(&row->label, "OS runtime");
	case ROW_CUDA_API: return row_print(&row->label, "CUDA API");
	case ROW_OVERHEAD: return row_print(&row->label, "%s", key->label ? "JIT" : "CUDA overhead");
	default:
		tracks = key->label < 0 && key->label > -TABLE_ID_LIMIT ? table_tracks((unsigned)-key->label) : NULL;
		if (tracks)
			return row_print(&row->label, "%s", tracks->word);
		name = row_text(r, key->label);
		return row_print(&row->label, "%s", *name ? name : "events");
	}
}
