/* speedscope's own format: profiles that share their frames. Threads with CPU samples have one each, in order of time; so
 * have threads with NVTX ranges or imported slices; GPU time by where it was launched is one. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/keymap.h"
#include "base/text/path.h"
#include "export/json_text.h"
#include "export/stacks/work_stacks.h"

/* Frames are numbered: functions of the program first, then the names of ranges and GPU work. */
struct speedscope {
	struct timeline t;
	FILE *out;
	struct stack_tree *tree; /* NULL: no samples */
	uint32_t functions;
	struct work_stacks work; /* its names are those of ranges, too */
	bool any_profile;
};

static void profile_begin(struct speedscope *s, const char *type, const char *name, const char *unit)
{
	fprintf(s->out, "%s\n{\"type\":\"%s\",\"name\":", s->any_profile ? "," : "", type);
	json_put_text(s->out, name, strlen(name));
	fprintf(s->out, ",\"unit\":\"%s\"", unit);
	s->any_profile = true;
}

static void put_list_number(struct speedscope *s, bool *any, uint64_t value)
{
	if (*any)
		putc_unlocked(',', s->out);
	*any = true;
	json_put_integer(s->out, (int64_t)value);
}

static void put_stack(struct speedscope *s, int64_t stack)
{
	uint32_t path[STACK_MAX_DEPTH], at;
	unsigned depth = 0;
	bool any = false;

	putc_unlocked('[', s->out);
	at = stack > 0 && stack < (int64_t)s->tree->stack_count ? (uint32_t)stack : 0;
	for (; at && depth < STACK_MAX_DEPTH; at = s->tree->parents[at])
		path[depth++] = s->tree->code[s->tree->frames[at]].function;
	while (depth > 0)
		put_list_number(s, &any, path[--depth]);
	putc_unlocked(']', s->out);
}

/* Samples that follow each other with the same stack are one. Done twice: for the stacks, then for what they weigh. */
static int put_samples(struct speedscope *s, const struct track_groups *groups, uint32_t track, bool weights, uint64_t *sum)
{
	int64_t stack = -1, next, weight;
	struct event_reader r;
	uint64_t held = 0;
	bool any = false;
	int result;

	event_reader_init(&r, &s->t, TABLE_SAMPLE, groups, track);
	while ((result = event_reader_load(&r)) > 0) {
		next = event_value(&r, EVENT_WHAT);
		weight = event_value(&r, EVENT_RESULT);
		if (export_keeps(s->t.e, event_value(&r, EVENT_START), event_value(&r, EVENT_START))) {
			if (next != stack && !weights) {
				fputs_unlocked(any ? ",\n" : "", s->out);
				put_stack(s, next);
				any = true;
			} else if (next != stack && stack >= 0) {
				put_list_number(s, &any, held);
				held = 0;
			}
			stack = next;
			held += weight > 0 ? (uint64_t)weight : 1;
			*sum += weight > 0 ? (uint64_t)weight : 1;
		}
		r.row++;
	}
	if (weights && stack >= 0)
		put_list_number(s, &any, held);
	event_reader_release(&r);
	return result;
}

static void thread_text(struct speedscope *s, const int64_t *track, const char *behind, char *text, size_t size)
{
	char process[160], thread[160];

	place_text(&s->t, false, track[TRACK_PROCESS], process, sizeof(process));
	place_text(&s->t, true, track[TRACK_THREAD], thread, sizeof(thread));
	snprintf(text, size, "%s %s%s", process, thread, behind);
}

static int put_sampled(struct speedscope *s, const struct track_groups *groups, const int64_t *track)
{
	const char *unit = report_meta(s->t.report, "sampling.unit");
	uint64_t sum = 0, again = 0;
	char name[400];
	int r;

	thread_text(s, track, "", name, sizeof(name));
	profile_begin(s, "sampled", name, unit && strcmp(unit, "ns") == 0 ? "nanoseconds" : "none");
	fputs_unlocked(",\"samples\":[", s->out);
	r = put_samples(s, groups, (uint32_t)track[TRACK_ID], false, &sum);
	fputs_unlocked("],\"weights\":[", s->out);
	if (r >= 0)
		r = put_samples(s, groups, (uint32_t)track[TRACK_ID], true, &again);
	fprintf(s->out, "],\"startValue\":0,\"endValue\":%llu}", (unsigned long long)sum);
	return r;
}

static int put_cpu(struct speedscope *s, struct error *err)
{
	struct track_groups groups = { 0 };
	int r;

	if (report_row_count(s->t.report, TABLE_SAMPLE) == 0)
		return 0;
	r = stack_tree_of(s->t.q, &s->tree);
	if (r >= 0)
		r = track_groups_load(&groups, s->t.q, TABLE_SAMPLE);
	if (r >= 0)
		s->functions = s->tree->function_count;
	if (r < 0)
		error_set(err, ENOMEM, "Not enough memory");
	for (size_t i = 0; r >= 0 && i < s->t.tracks.count; i++) {
		const int64_t *track = s->t.tracks.rows + i * s->t.tracks.width;

		if (!track_groups_has(&groups, (uint32_t)track[TRACK_ID]))
			continue;
		r = put_sampled(s, &groups, track);
		r = r < 0 ? error_set(err, ENOMEM, "Not enough memory") : export_poll(s->t.e, "samples", err);
	}
	track_groups_release(&groups);
	return r;
}

static void put_path(struct speedscope *s, uint32_t node, uint32_t *path)
{
	uint32_t depth = 0;
	bool any = false;

	for (; node; node = s->work.nodes[node].parent)
		path[depth++] = s->work.nodes[node].name;
	putc_unlocked('[', s->out);
	while (depth > 0)
		put_list_number(s, &any, s->functions + path[--depth] - 1);
	putc_unlocked(']', s->out);
}

static int put_gpu(struct speedscope *s, struct error *err)
{
	uint32_t *path = NULL;
	uint64_t sum = 0;
	bool any = false;

	TRY(work_stacks_load(&s->work, &s->t, err));
	for (uint32_t n = 1; n < s->work.node_count; n++)
		sum += s->work.nodes[n].ns;
	if (sum == 0)
		return 0;
	path = calloc((size_t)s->work.node_count + 1, sizeof(*path));
	if (!path)
		return error_set(err, ENOMEM, "Not enough memory");
	profile_begin(s, "sampled", "GPU time by where it was launched", "nanoseconds");
	fputs_unlocked(",\"samples\":[", s->out);
	for (uint32_t n = 1; n < s->work.node_count; n++)
		if (s->work.nodes[n].count) {
			fputs_unlocked(any ? ",\n" : "", s->out);
			any = true;
			put_path(s, n, path);
		}
	any = false;
	fputs_unlocked("],\"weights\":[", s->out);
	for (uint32_t n = 1; n < s->work.node_count; n++)
		if (s->work.nodes[n].count)
			put_list_number(s, &any, s->work.nodes[n].ns);
	fprintf(s->out, "],\"startValue\":0,\"endValue\":%llu}", (unsigned long long)sum);
	free(path);
	return export_poll(s->t.e, "GPU work", err);
}

#define MAX_OPEN 4096u

/* Ranges of a thread and domain. speedscope wants them nested: one that outlasts the range it is in is cut. */
struct open_slices {
	struct {
		int64_t end;
		uint32_t frame;
	} list[MAX_OPEN];
	unsigned count;
	bool any;
};

static void put_edge(struct speedscope *s, struct open_slices *open, char type, uint32_t frame, int64_t at)
{
	fprintf(s->out, "%s{\"type\":\"%c\",\"frame\":%u,\"at\":%lld}", open->any ? ",\n" : "", type, frame, (long long)at);
	open->any = true;
}

static void close_slices(struct speedscope *s, struct open_slices *open, int64_t time)
{
	for (; open->count && open->list[open->count - 1].end <= time; open->count--)
		put_edge(s, open, 'C', open->list[open->count - 1].frame, open->list[open->count - 1].end);
}

static int put_speedscope_range(struct speedscope *s, struct open_slices *open, const struct event_reader *r)
{
	int64_t start = event_value(r, EVENT_START), end = event_end(r);
	struct event_name name;
	uint32_t number;

	close_slices(s, open, start);
	if (open->count == MAX_OPEN) {
		s->t.e->left_out++;
		return 0;
	}
	if (open->count && open->list[open->count - 1].end < end)
		end = open->list[open->count - 1].end;
	event_name(r, &name);
	number = work_name(&s->work, name.id, name.text, name.len);
	if (!number)
		return -ENOMEM;
	open->list[open->count].end = end;
	open->list[open->count].frame = s->functions + number - 1;
	put_edge(s, open, 'O', open->list[open->count++].frame, start);
	return 0;
}

static int put_evented(struct speedscope *s, struct event_merge *events, const char *name, struct error *err)
{
	struct open_slices *open = calloc(1, sizeof(*open));
	int64_t first = INT64_MAX, last = 0;
	struct event_reader *r = NULL;
	int result = open ? 0 : -ENOMEM;

	profile_begin(s, "evented", name, "nanoseconds");
	fputs_unlocked(",\"events\":[", s->out);
	while (result >= 0 && (result = event_merge_next(events, &r)) >= 0 && r) {
		if (export_keeps(s->t.e, event_value(r, EVENT_START), event_end(r))) {
			first = first == INT64_MAX ? event_value(r, EVENT_START) : first;
			last = event_end(r) > last ? event_end(r) : last;
			result = put_speedscope_range(s, open, r);
		}
		r->row++;
	}
	if (result >= 0)
		close_slices(s, open, INT64_MAX);
	fprintf(s->out, "],\"startValue\":%lld,\"endValue\":%lld}", first == INT64_MAX ? 0 : (long long)first, (long long)last);
	free(open);
	return result < 0 ? error_set(err, ENOMEM, "Not enough memory") : export_poll(s->t.e, "ranges", err);
}

static const int64_t *track_at(const struct speedscope *s, size_t i)
{
	return s->t.tracks.rows + i * s->t.tracks.width;
}

/* The tracks of one thread (and domain) lie on top of each other: each knows the next of its row. */
static int put_thread_ranges(struct speedscope *s, const struct track_groups *groups, uint32_t first, const uint32_t *next,
			     struct error *err)
{
	const int64_t *track = track_at(s, first);
	const char *domain = timeline_domain_name(&s->t, track[TRACK_DOMAIN]);
	struct event_merge events = { 0 };
	char name[600], behind[200];
	int r = 0;

	for (uint32_t i = first + 1; r >= 0 && i; i = next[i - 1])
		r = event_merge_add(&events, &s->t, groups, (uint32_t)track_at(s, i - 1)[TRACK_ID]);
	snprintf(behind, sizeof(behind), ": %s", track[TRACK_KIND] == TRACK_GENERIC ? "slices" : domain[0] ? domain : "NVTX");
	thread_text(s, track, behind, name, sizeof(name));
	r = r < 0 ? error_set(err, ENOMEM, "Not enough memory") : put_evented(s, &events, name, err);
	event_merge_release(&events);
	return r;
}

/* For each track the next of its row, plus 1; and the first of all rows, in their order. */
static int find_rows(struct speedscope *s, const struct track_groups *groups, uint32_t *next, uint32_t *firsts, uint32_t *lasts,
		     uint32_t *ret_count)
{
	struct keymap rows = { 0 };
	int r = 0;

	for (uint32_t i = 0; r >= 0 && i < s->t.tracks.count; i++) {
		const int64_t *track = track_at(s, i), key[] = { track[TRACK_KIND], track[TRACK_THREAD], track[TRACK_DOMAIN] };
		uint32_t known = rows.count, number;

		if ((key[0] != TRACK_NVTX_PUSHPOP && key[0] != TRACK_GENERIC) || !key[1] ||
		    !track_groups_has(groups, (uint32_t)track[TRACK_ID]))
			continue;
		number = keymap_number(&rows, key, sizeof(key));
		r = number == KEYMAP_NONE ? -ENOMEM : 0;
		if (r >= 0 && number == known)
			firsts[number] = i;
		else if (r >= 0)
			next[lasts[number]] = i + 1;
		if (r >= 0)
			lasts[number] = i;
	}
	*ret_count = rows.count;
	keymap_release(&rows);
	return r;
}

static int put_all_ranges(struct speedscope *s, struct error *err)
{
	size_t count = s->t.tracks.count;
	uint32_t *next = count < UINT32_MAX ? calloc(3 * count + 1, sizeof(*next)) : NULL, rows = 0;
	struct track_groups groups = { 0 };
	int r = next ? track_groups_load(&groups, s->t.q, TABLE_SLICE) : -ENOMEM;

	if (r >= 0)
		r = find_rows(s, &groups, next, next + count, next + 2 * count, &rows);
	if (r < 0)
		error_set(err, ENOMEM, "Not enough memory");
	for (uint32_t i = 0; r >= 0 && i < rows; i++)
		r = put_thread_ranges(s, &groups, next[count + i], next, err);
	track_groups_release(&groups);
	free(next);
	return r;
}

static int put_frames(struct speedscope *s)
{
	struct buf text = BUF_INIT;
	const char *path;
	size_t len;
	int r = 0;

	fputs_unlocked("\n],\"shared\":{\"frames\":[", s->out);
	for (uint32_t i = 0; r >= 0 && i < s->functions; i++) {
		buf_clear(&text);
		r = code_function_text(s->t.q, &s->tree->functions[i], &text);
		fputs_unlocked(i ? ",\n{\"name\":" : "\n{\"name\":", s->out);
		json_put_text(s->out, text.data, text.len);
		path = timeline_text(&s->t, s->tree->functions[i].path, &len);
		if (len) {
			fputs_unlocked(",\"file\":", s->out);
			json_put_text(s->out, path, len);
		}
		putc_unlocked('}', s->out);
	}
	buf_release(&text);
	for (uint32_t i = 0; i < s->work.names.count; i++) {
		fputs_unlocked(i || s->functions ? ",\n{\"name\":" : "\n{\"name\":", s->out);
		json_put_text(s->out, s->work.texts[i], strlen(s->work.texts[i]));
		putc_unlocked('}', s->out);
	}
	fputs_unlocked("\n]}}\n", s->out);
	return r;
}

static int say_nothing(const struct speedscope *s, enum export_stacks stacks, struct error *err)
{
	const char *missing = stacks == EXPORT_STACKS_CPU ? "CPU samples" :
			      stacks == EXPORT_STACKS_GPU ? "ranges and no GPU work" :
							    "CPU samples, no ranges and no GPU work";

	return error_set(err, ENODATA, "%s has no %s", s->t.e->request->input, missing);
}

static int put_all(struct speedscope *s, struct error *err)
{
	enum export_stacks stacks = s->t.e->request->stacks;
	const char *name = path_name(s->t.e->request->input);

	if (stacks != EXPORT_STACKS_ANY && stacks != EXPORT_STACKS_CPU && stacks != EXPORT_STACKS_GPU)
		return error_set(err, EINVAL, "--stacks=offcpu and --stacks=osrt are only supported with -t folded");
	fputs_unlocked("{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\"exporter\":\"sonde\",\"name\":", s->out);
	json_put_text(s->out, name, strlen(name));
	fputs_unlocked(",\"activeProfileIndex\":0,\"profiles\":[", s->out);
	if (stacks != EXPORT_STACKS_GPU)
		TRY(put_cpu(s, err));
	if (stacks != EXPORT_STACKS_CPU)
		TRY(put_gpu(s, err));
	if (stacks != EXPORT_STACKS_CPU)
		TRY(put_all_ranges(s, err));
	if (!s->any_profile)
		return say_nothing(s, stacks, err);
	if (put_frames(s) < 0)
		return error_set(err, ENOMEM, "Not enough memory");
	return export_poll(s->t.e, "frames", err);
}

static int write_speedscope_file(struct export *e, struct error *err)
{
	struct speedscope s = { .out = e->stream };
	int r = timeline_open(&s.t, e, err);

	s.work.t = &s.t;
	if (r >= 0)
		r = put_all(&s, err);
	work_stacks_release(&s.work);
	timeline_close(&s.t);
	return r;
}

/* clang-format off */
const struct export_format export_speedscope = {
	.name = "speedscope", .streams = true, .whole = write_speedscope_file, .begin = export_stream_begin,
	.end = export_stream_end, .give_up = export_stream_give_up,
};
/* clang-format on */
