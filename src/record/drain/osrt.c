#include "record/drain/osrt.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/array.h"
#include "base/macros.h"
#include "fmt/osrt_calls.h"
#include "record/stacks/call_stack.h"
#include "record/session/address_space.h"

#define MAX_DEPTH 64
#define MAX_FILES (1u << 20) /* open at once in a process; further ones have no rows */
#define CALIBRATION_NS 2000000

struct osrt_track {
	struct report_track *track;
	int64_t last_end;
};

/* A thread's rows by nesting. */
struct osrt_thread {
	struct osrt_track tracks[MAX_DEPTH];
};

struct osrt_file {
	uint64_t id;   /* in the report */
	uint64_t path; /* string; 0 = not told yet */
	int64_t opened;
	int opened_known;
	int descriptors; /* openings and duplicates, less closings; -1 = closed, and told */
};

/* What a process told of its files. */
struct osrt_process {
	struct idmap index; /* the agent's id -> index in files */
	struct osrt_file *files;
	uint32_t file_count;
	uint32_t file_cap;
};

static uint64_t to_ticks(int64_t ns, double ticks_per_ns)
{
	return ns <= 0 ? 0 : (uint64_t)((double)ns * ticks_per_ns + 0.5);
}

/* Good to some parts in ten thousand, which is enough for a threshold. */
double ticks_per_ns(int use_tsc)
{
	struct timespec pause = { .tv_nsec = CALIBRATION_NS };
	struct clock_snapshot before, after;

	if (!use_tsc)
		return 1;
	clock_take_snapshot(1, &before);
	nanosleep(&pause, NULL);
	clock_take_snapshot(1, &after);
	if (after.raw <= before.raw)
		return 1;
	return (double)(after.ticks - before.ticks) / (double)(after.raw - before.raw);
}

void osrt_fill_page(struct ring_session *page, const struct osrt_options *options, int use_tsc)
{
	double rate = ticks_per_ns(use_tsc);

	page->osrt_threshold = to_ticks(options->threshold_ns, rate);
	page->osrt_stack_threshold = to_ticks(options->backtrace_threshold_ns, rate);
	page->osrt_stack_size = (uint32_t)options->backtrace_stack_size;
	page->osrt_files = options->file_access;
}

static struct osrt_thread *osrt_of_thread(struct traced_thread *t)
{
	if (!t->osrt)
		t->osrt = calloc(1, sizeof(*t->osrt));
	return t->osrt;
}

static struct osrt_process *osrt_of_process(struct traced_process *p)
{
	if (!p->osrt)
		p->osrt = calloc(1, sizeof(*p->osrt));
	return p->osrt;
}

static uint64_t intern_osrt_name(struct session *s, unsigned number)
{
	static const char *const names[OSRT_NUMBER_COUNT] = {
#define OSRT_CALL(class, name, result, arguments, file) [OSRT_##name] = #name,
#define OSRT_VERSIONS(class, name, result, arguments, version, old) [OSRT_##name] = #name,
#define OSRT_HAND(class, name) [OSRT_##name] = #name,
#define OSRT_ELSEWHERE(class, name) [OSRT_##name] = #name,
#include "fmt/osrt_calls.def"
	};

	if (!s->osrt_names)
		s->osrt_names = calloc(OSRT_NUMBER_COUNT, sizeof(*s->osrt_names));
	if (!s->osrt_names)
		return session_text(s, names[number]);
	if (!s->osrt_names[number])
		s->osrt_names[number] = session_text(s, names[number]);
	return s->osrt_names[number];
}

/* The row's track: the one of its nesting, or the next deeper one that is free since its start. */
static struct osrt_track *find_osrt_track(struct session *s, struct traced_process *p, struct traced_thread *t, uint32_t depth,
					  int64_t start)
{
	struct osrt_track *track;

	for (; depth < MAX_DEPTH; depth++) {
		track = &t->osrt->tracks[depth];
		if (!track->track)
			track->track = session_track(s, TABLE_OSRT, TRACK_OSRT, p->uid, t->uid, 0, depth);
		if (!track->track || track->last_end <= start)
			return track;
	}
	return NULL;
}

static struct osrt_file *find_osrt_file(struct session *s, struct traced_process *p, uint64_t id)
{
	struct osrt_process *o = osrt_of_process(p);
	uint64_t index = o ? idmap_get(&o->index, id) : IDMAP_NONE;

	if (index != IDMAP_NONE)
		return &o->files[index];
	if (!o || o->file_count >= MAX_FILES)
		return NULL;
	if (!ARRAY_ROOM(o->files, o->file_count, o->file_cap, 1))
		return NULL;
	if (idmap_put(&o->index, id, o->file_count) < 0)
		return NULL;
	o->files[o->file_count] = (struct osrt_file){ .id = ++s->next_file };
	return &o->files[o->file_count++];
}

int osrt_call_record(struct session *s, struct traced_process *p, struct traced_thread *t, const uint8_t *bytes, uint32_t size,
		     int64_t start, int64_t end)
{
	uint32_t present = BIT(COLUMN_OSRT_START) | BIT(COLUMN_OSRT_END) | BIT(COLUMN_OSRT_NAME) | BIT(COLUMN_OSRT_RESULT);
	struct osrt_thread *o = osrt_of_thread(t);
	int64_t v[TABLE_MAX_COLUMNS];
	struct record_osrt record;
	struct record_osrt_file used;
	struct osrt_track *track;
	struct osrt_file *file;
	unsigned flags;

	if (size < sizeof(record))
		return -EBADMSG;
	memcpy(&record, bytes, sizeof(record));
	flags = record_flags(record.head);
	if (record_domain(record.head) >= OSRT_NUMBER_COUNT || (flags & OSRT_FLAG_FILE && size < sizeof(record) + sizeof(used)))
		return -EBADMSG;
	if (!o)
		return -ENOMEM;
	v[COLUMN_OSRT_START] = start;
	v[COLUMN_OSRT_END] = end;
	v[COLUMN_OSRT_NAME] = (int64_t)intern_osrt_name(s, record_domain(record.head));
	v[COLUMN_OSRT_RESULT] = record.result;
	if (flags & OSRT_FLAG_STACK) {
		v[COLUMN_OSRT_STACK] = (int64_t)call_stack_take(s, p, t, record.time, s->osrt_depth);
		present |= v[COLUMN_OSRT_STACK] ? BIT(COLUMN_OSRT_STACK) : 0;
	}
	if (flags & OSRT_FLAG_FILE) {
		memcpy(&used, bytes + sizeof(record), sizeof(used));
		file = find_osrt_file(s, p, used.file);
		v[COLUMN_OSRT_FILE] = file ? (int64_t)file->id : 0;
		v[COLUMN_OSRT_BYTES] = used.bytes;
		present |= file ? BIT(COLUMN_OSRT_FILE) | BIT(COLUMN_OSRT_BYTES) : 0;
	}
	track = find_osrt_track(s, p, t, record_level(record.head) % MAX_DEPTH, start);
	session_event_row(s, t, track ? track->track : NULL, v, present, 1);
	if (track)
		track->last_end = end;
	return 0;
}

/* Nothing a killed thread left behind is believed: a call that began before the last one recorded ended is not one
 * it was in (it may have left it by longjmp). */
void osrt_open_call(struct session *s, struct traced_process *p, struct traced_thread *t, const struct ring_slot *slot, int64_t end)
{
	struct osrt_thread *o = slot->call ? osrt_of_thread(t) : NULL;
	int64_t start = timebase_convert(&s->time, slot->call_start);
	int64_t v[TABLE_MAX_COLUMNS];
	struct osrt_track *track;

	if (!o || slot->call > OSRT_NUMBER_COUNT || start < o->tracks[0].last_end || start < t->start || start > end)
		return;
	track = find_osrt_track(s, p, t, 0, start);
	v[COLUMN_OSRT_START] = start;
	v[COLUMN_OSRT_END] = end;
	v[COLUMN_OSRT_NAME] = (int64_t)intern_osrt_name(s, slot->call - 1);
	v[COLUMN_OSRT_FLAGS] = SLICE_OPEN;
	s->events++;
	session_event_row(s, t, track ? track->track : NULL, v,
			  BIT(COLUMN_OSRT_START) | BIT(COLUMN_OSRT_END) | BIT(COLUMN_OSRT_NAME) | BIT(COLUMN_OSRT_FLAGS), 1);
}

static void file_row(struct session *s, const struct traced_process *p, const struct osrt_file *file, const int64_t *closed)
{
	uint32_t present = BIT(COLUMN_FILE_ID) | BIT(COLUMN_FILE_PROCESS);
	int64_t v[TABLE_MAX_COLUMNS];

	v[COLUMN_FILE_ID] = (int64_t)file->id;
	v[COLUMN_FILE_PROCESS] = (int64_t)p->uid;
	v[COLUMN_FILE_PATH] = (int64_t)file->path;
	v[COLUMN_FILE_OPENED] = file->opened;
	v[COLUMN_FILE_CLOSED] = closed ? *closed : 0;
	present |= file->path ? BIT(COLUMN_FILE_PATH) : 0;
	present |= file->opened_known ? BIT(COLUMN_FILE_OPENED) : 0;
	present |= closed ? BIT(COLUMN_FILE_CLOSED) : 0;
	session_row(s, TABLE_FILE, v, present);
}

void osrt_file_record(struct session *s, struct traced_process *p, const struct record_define *define, const uint8_t *path, size_t size,
		      int64_t time)
{
	struct osrt_file *file = find_osrt_file(s, p, define->id);

	if (!file || file->descriptors < 0)
		return;
	if (size)
		file->path = report_string(s->writer, (const char *)path, size);
	if (define->extra == 2) {
		if (--file->descriptors <= 0) {
			file_row(s, p, file, &time);
			file->descriptors = -1;
		}
		return;
	}
	file->descriptors++;
	if (define->extra == 1 && size) {
		file->opened = time;
		file->opened_known = 1;
	}
}

int osrt_module_record(struct session *s, struct traced_process *p, const uint8_t *body, size_t size, int64_t time)
{
	struct space *space = space_of(s, p->uid, p->info.pid);
	struct space_mapping mapping = { .time = time };
	struct record_module module;
	char path[1024];
	size_t length;

	if (size < sizeof(module))
		return -EBADMSG;
	memcpy(&module, body, sizeof(module));
	size -= sizeof(module);
	if (module.build_id_size > size || module.build_id_size > 64 || module.address + module.size < module.address)
		return -EBADMSG;
	length = size - module.build_id_size;
	length = length < sizeof(path) - 1 ? length : sizeof(path) - 1;
	memcpy(path, body + sizeof(module) + module.build_id_size, length);
	path[length] = '\0';
	mapping.address = module.address;
	mapping.size = module.size;
	mapping.offset = module.offset;
	mapping.path = path;
	mapping.build_id = module.build_id_size ? body + sizeof(module) : NULL;
	mapping.build_id_size = module.build_id_size;
	if (space)
		space_map(s, space, &mapping);
	call_stack_module(p, path, module.address, module.address + module.size);
	return 0;
}

void osrt_thread_end(struct traced_thread *t)
{
	if (!t->osrt)
		return;
	for (uint32_t i = 0; i < MAX_DEPTH; i++)
		report_track_close(t->osrt->tracks[i].track);
	free(t->osrt);
	t->osrt = NULL;
}

void osrt_process_end(struct session *s, struct traced_process *p)
{
	for (uint32_t i = 0; p->osrt && i < p->osrt->file_count; i++)
		if (p->osrt->files[i].descriptors >= 0)
			file_row(s, p, &p->osrt->files[i], NULL);
}

void osrt_process_free(struct traced_process *p)
{
	if (!p->osrt)
		return;
	idmap_release(&p->osrt->index);
	free(p->osrt->files);
	free(p->osrt);
	p->osrt = NULL;
}

void osrt_session_release(struct session *s)
{
	free(s->osrt_names);
	s->osrt_names = NULL;
}
