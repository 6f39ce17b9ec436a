#include "export/chrome/chrome.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/macros.h"
#include "fmt/gpu_enums.h"

void chrome_event_begin(struct chrome *c, const char *phase)
{
	fputs_unlocked(c->any_event ? ",\n{\"ph\":\"" : "\n{\"ph\":\"", c->out);
	fputs_unlocked(phase, c->out);
	putc_unlocked('"', c->out);
	c->any_event = true;
	c->any_arg = false;
}

void chrome_key(struct chrome *c, const char *key)
{
	fputs_unlocked(",\"", c->out);
	fputs_unlocked(key, c->out);
	fputs_unlocked("\":", c->out);
}

/* Microseconds with three digits behind the point. */
void chrome_time(struct chrome *c, const char *key, int64_t ns)
{
	uint64_t left = ns < 0 ? 0 - (uint64_t)ns : (uint64_t)ns, part = left % 1000;
	char digits[4] = { '.', (char)('0' + part / 100), (char)('0' + part / 10 % 10), (char)('0' + part % 10) };

	chrome_key(c, key);
	if (ns < 0)
		putc_unlocked('-', c->out);
	json_put_integer(c->out, (int64_t)(left / 1000));
	fwrite_unlocked(digits, 1, sizeof(digits), c->out);
}

void chrome_number(struct chrome *c, const char *key, int64_t value)
{
	chrome_key(c, key);
	json_put_integer(c->out, value);
}

void chrome_text(struct chrome *c, const char *key, const char *text, size_t len)
{
	chrome_key(c, key);
	json_put_text(c->out, text, len);
}

/* Arguments: the first one opens the list. */
static void arg_key(struct chrome *c, const char *key, size_t len)
{
	fputs_unlocked(c->any_arg ? "," : ",\"args\":{", c->out);
	c->any_arg = true;
	json_put_text(c->out, key, len);
	putc_unlocked(':', c->out);
}

static void arg_number(struct chrome *c, const char *key, int64_t value)
{
	arg_key(c, key, strlen(key));
	json_put_integer(c->out, value);
}

static void put_arg_value(struct chrome *c, const struct arg_value *v)
{
	switch (v->kind) {
	case ARG_INTEGER: json_put_integer(c->out, v->integer); break;
	case ARG_REAL:
		if (isfinite(v->real))
			json_put_real(c->out, v->real);
		else
			fputs_unlocked("null", c->out);
		break;
	case ARG_TEXT:
		if (timeline_is_json(v->text, v->text_len))
			fwrite_unlocked(v->text, 1, v->text_len, c->out);
		else
			json_put_text(c->out, v->text, v->text_len);
		break;
	case ARG_NOTHING: fputs_unlocked("null", c->out); break;
	}
}

static void put_arg(void *context, const struct arg_value *v)
{
	arg_key(context, v->key, v->key_len);
	put_arg_value(context, v);
}

/* In Kineto's words. */
static void put_operator_arg(void *context, const struct arg_value *v)
{
	static const char *const words[][2] = {
		{ "sequence", "Sequence number" }, { "forward", "Fwd thread id" }, { "shapes", "Input Dims" }, { "types", "Input type" }
	};
	struct arg_value kineto = *v;

	for (size_t i = 0; i < COUNT_OF(words); i++)
		if (strcmp(v->key, words[i][0]) == 0) {
			kineto.key = words[i][1];
			kineto.key_len = strlen(words[i][1]);
		}
	put_arg(context, &kineto);
}

static void end_event(struct chrome *c)
{
	fputs_unlocked(c->any_arg ? "}}" : "}", c->out);
}

int64_t chrome_pid(const struct chrome *c, int64_t process)
{
	const int64_t *row = index_find(&c->t.q->index.processes, process);

	return row ? row[PROCESS_PID] : 0;
}

/* A track without a thread has the name "PID / TID" that it was given when it was imported. */
static void put_named_place(struct chrome *c, const struct event_reader *r)
{
	size_t len;
	const char *text = timeline_text(&c->t, r->track ? r->track[TRACK_TEXT] : 0, &len);
	const char *cut = strstr(text, " / ");

	if (r->track && r->track[TRACK_PROCESS])
		chrome_number(c, "pid", chrome_pid(c, r->track[TRACK_PROCESS]));
	else
		chrome_text(c, "pid", text, cut ? (size_t)(cut - text) : len);
	cut = cut ? cut + 3 : text;
	chrome_text(c, "tid", cut, len - (size_t)(cut - text));
}

/* Annotations on a GPU's stream are on a track that is told to be the stream's; in reports of earlier releases it only has the
 * stream's name. */
static const int64_t *annotated_stream(const struct chrome *c, const struct event_reader *r)
{
	const struct index_table *streams = &c->t.q->index.cuda->streams;
	const char *text = timeline_text(&c->t, r->track[TRACK_TEXT], NULL);
	const int64_t *row;
	long long number;

	if (r->track[TRACK_KIND] != TRACK_GENERIC)
		return NULL;
	if (r->track[TRACK_DOMAIN])
		return timeline_stream(&c->t, r->track);
	if (sscanf(text, "stream %lld", &number) != 1)
		return NULL;
	for (size_t i = 0; i < streams->count; i++) {
		row = streams->rows + i * STREAM_WIDTH;
		if (row[STREAM_PROCESS] == r->track[TRACK_PROCESS] && row[STREAM_ID] == number)
			return row;
	}
	return NULL;
}

static void put_pid_tid(struct chrome *c, const struct event_reader *r)
{
	const int64_t *stream = NULL, *thread;

	if (table_is_work(r->table))
		stream = r->track ? timeline_stream(&c->t, r->track) : NULL;
	else if ((r->table == TABLE_SLICE || r->table == TABLE_INSTANT) && r->track && !r->track[TRACK_THREAD] && r->track[TRACK_PROCESS])
		stream = annotated_stream(c, r);
	thread = r->track ? index_find(&c->t.q->index.threads, r->track[TRACK_THREAD]) : NULL;
	if (stream) {
		chrome_number(c, "pid", chrome_gpu_pid(c, stream));
		chrome_number(c, "tid", stream[STREAM_ID]);
	} else if (r->table == TABLE_CUDA_OVERHEAD) {
		chrome_number(c, "pid", -1);
		chrome_number(c, "tid", 0);
	} else if (thread) {
		chrome_number(c, "pid", chrome_pid(c, thread[THREAD_PROCESS]));
		chrome_number(c, "tid", thread[THREAD_TID]);
	} else {
		put_named_place(c, r);
	}
}

static void put_head(struct chrome *c, const struct event_reader *r, const char *phase)
{
	struct event_name name;
	const char *category;
	int64_t class;
	size_t len;

	chrome_event_begin(c, phase);
	category = event_category(r, &class);
	len = category ? strlen(category) : 0;
	if (!category)
		category = timeline_text(&c->t, class, &len);
	if (len)
		chrome_text(c, "cat", category, len);
	event_name(r, &name);
	kineto_kernel_name(&c->kernels, r, &name);
	chrome_text(c, "name", name.text, name.len);
	put_pid_tid(c, r);
	chrome_time(c, "ts", (int64_t)((uint64_t)event_value(r, EVENT_START) + (uint64_t)c->base));
}

static void put_launch_dimensions(struct chrome *c, const char *key, const int64_t *launch, unsigned column)
{
	if (!((uint64_t)launch[LAUNCH_PRESENT] >> column & 1))
		return;
	arg_key(c, key, strlen(key));
	for (unsigned i = 0; i < 3; i++) {
		putc_unlocked(i ? ',' : '[', c->out);
		json_put_integer(c->out, launch[column + i]);
	}
	putc_unlocked(']', c->out);
}

/* Where the trace had no value of its own: as Kineto computes it. */
static void put_per_sm(struct chrome *c, const int64_t *launch, const int64_t *stream)
{
	const int64_t *grid = launch + COLUMN_CUDA_LAUNCH_GRID_X, *block = launch + COLUMN_CUDA_LAUNCH_BLOCK_X;
	double blocks = (double)grid[0] * (double)grid[1] * (double)grid[2];
	int64_t sms = timeline_sm_count(&c->t, stream);

	if (sms <= 0)
		return;
	arg_key(c, "blocks per SM", 13);
	json_put_real(c->out, blocks / (double)sms);
	arg_key(c, "warps per SM", 12);
	json_put_real(c->out, blocks / (double)sms * ((double)block[0] * (double)block[1] * (double)block[2]) / 32);
}

static void put_kernel_launch(struct chrome *c, const struct event_reader *r, const int64_t *stream)
{
	const int64_t *launch = cuda_launch(c->t.q->index.cuda, event_value(r, EVENT_WHAT));
	uint64_t present = launch ? (uint64_t)launch[LAUNCH_PRESENT] : 0;

	if (!launch)
		return;
	if (present >> COLUMN_CUDA_LAUNCH_REGISTERS & 1)
		arg_number(c, "registers per thread", launch[COLUMN_CUDA_LAUNCH_REGISTERS]);
	if (present >> COLUMN_CUDA_LAUNCH_DYNAMIC_SHARED & 1)
		arg_number(c, "shared memory",
			   (int64_t)((uint64_t)launch[COLUMN_CUDA_LAUNCH_STATIC_SHARED] +
				     (uint64_t)launch[COLUMN_CUDA_LAUNCH_DYNAMIC_SHARED]));
	if (stream && !event_value(r, EVENT_ARGS) && present >> COLUMN_CUDA_LAUNCH_GRID_X & 1)
		put_per_sm(c, launch, stream);
	put_launch_dimensions(c, "grid", launch, COLUMN_CUDA_LAUNCH_GRID_X);
	put_launch_dimensions(c, "block", launch, COLUMN_CUDA_LAUNCH_BLOCK_X);
}

static void put_transfer(struct chrome *c, const struct event_reader *r)
{
	int64_t bytes = event_value(r, EVENT_BYTES), duration = time_between(event_value(r, EVENT_START), event_end(r));

	arg_number(c, "bytes", bytes);
	if (!event_value(r, EVENT_ARGS) && duration > 0) {
		arg_key(c, "memory bandwidth (GB/s)", 23);
		json_put_real(c->out, (double)bytes / (double)duration);
	}
}

static void put_graph(struct chrome *c, const struct event_reader *r)
{
	int64_t channel = event_value(r, EVENT_CHANNEL);

	if (event_value(r, EVENT_NODE)) {
		arg_number(c, "graph id", event_value(r, EVENT_GRAPH));
		arg_number(c, "graph node id", event_value(r, EVENT_NODE));
	}
	if (channel) {
		arg_number(c, "channel", channel & 0xffffffff);
		arg_number(c, "channel_type", channel >> 32);
	}
}

static void put_work(struct chrome *c, const struct event_reader *r)
{
	const int64_t *stream = r->track ? timeline_stream(&c->t, r->track) : NULL;

	if (stream) {
		arg_number(c, "device", chrome_device(c, stream));
		arg_number(c, "context", stream[STREAM_CONTEXT]);
		arg_number(c, "stream", stream[STREAM_ID]);
	}
	if (event_value(r, EVENT_CORRELATION))
		arg_number(c, "correlation", event_value(r, EVENT_CORRELATION));
	if (r->table == TABLE_GPU_KERNEL)
		put_kernel_launch(c, r, stream);
	if (r->has_bytes)
		put_transfer(c, r);
	if (r->is_work)
		put_graph(c, r);
	if (r->table == TABLE_GPU_SYNC && !event_value(r, EVENT_ARGS)) {
		const char *kind = gpu_sync_kind(event_value(r, EVENT_WHAT))->kineto;

		arg_key(c, "cuda_sync_kind", 14);
		json_put_text(c->out, kind, strlen(kind));
	}
}

static void put_nvtx(struct chrome *c, const struct event_reader *r)
{
	const char *domain = timeline_domain_name(&c->t, r->track[TRACK_DOMAIN]);

	if (domain[0]) {
		arg_key(c, "domain", 6);
		json_put_text(c->out, domain, strlen(domain));
	}
}

static int put_args(struct chrome *c, const struct event_reader *r)
{
	int result = timeline_args(&c->t, event_value(r, EVENT_ARGS), put_arg, c);

	if (table_is_work(r->table)) {
		put_work(c, r);
	} else if (r->table == TABLE_SLICE || r->table == TABLE_INSTANT) {
		if (r->track && r->track[TRACK_KIND] != TRACK_GENERIC)
			put_nvtx(c, r);
	} else if (event_value(r, EVENT_CORRELATION)) {
		arg_number(c, "correlation", event_value(r, EVENT_CORRELATION));
	}
	event_more(r, r->table == TABLE_TORCH_OP ? put_operator_arg : put_arg, c);
	end_event(c);
	return result;
}

/* The arrow from a call to its work. */
static void put_flow(struct chrome *c, const struct event_reader *r)
{
	int64_t correlation = event_value(r, EVENT_CORRELATION), process = r->track ? r->track[TRACK_PROCESS] : 0;
	uint64_t number = idmap_get(&c->gpu_processes, (uint64_t)process), at = number == IDMAP_NONE ? 0 : number - 1;
	bool from = r->table == TABLE_CUDA_API;

	if ((!from && !r->is_work) || !timeline_linked(&c->t, process, correlation))
		return;
	chrome_event_begin(c, from ? "s" : "f");
	fputs_unlocked(",\"cat\":\"ac2g\",\"name\":\"ac2g\"", c->out);
	chrome_number(c, "id", (int64_t)(at << 32 | (uint64_t)correlation));
	put_pid_tid(c, r);
	chrome_time(c, "ts", (int64_t)((uint64_t)event_value(r, EVENT_START) + (uint64_t)c->base));
	fputs_unlocked(from ? "}" : ",\"bp\":\"e\"}", c->out);
}

static int put_complete_event(struct chrome *c, const struct event_reader *r)
{
	bool open = (r->table == TABLE_SLICE || r->table == TABLE_CUDA_API || r->table == TABLE_OSRT || r->table == TABLE_TORCH_OP) &&
		    (event_value(r, EVENT_FLAGS) & SLICE_OPEN);
	int result;

	put_head(c, r, open ? "B" : "X");
	if (!open)
		chrome_time(c, "dur", (int64_t)((uint64_t)event_end(r) - (uint64_t)event_value(r, EVENT_START)));
	result = put_args(c, r);
	put_flow(c, r);
	return result;
}

/* What an imported event of another phase had beside its arguments is among them in the report. */
static const char *const members[] = { "ph", "id", "bp", "s", "id2", "bind_id", "scope" };

static bool is_member(const struct arg_value *v)
{
	for (size_t i = 0; i < COUNT_OF(members); i++)
		if (v->key_len == strlen(members[i]) && memcmp(v->key, members[i], v->key_len) == 0)
			return true;
	return false;
}

struct instant_members {
	struct chrome *c;
	char phase[2];
	bool has_scope;
	bool writing; /* else: looking for the phase */
};

static void take_member(void *context, const struct arg_value *v)
{
	struct instant_members *m = context;

	if (!is_member(v))
		return;
	if (strcmp(v->key, "ph") == 0) {
		if (v->kind == ARG_TEXT && v->text_len == 1 && v->text[0] >= ' ' && v->text[0] != '"' && v->text[0] != '\\')
			m->phase[0] = v->text[0];
	} else if (m->writing) {
		m->has_scope |= strcmp(v->key, "s") == 0;
		chrome_key(m->c, v->key);
		put_arg_value(m->c, v);
	}
}

static void take_other(void *context, const struct arg_value *v)
{
	if (!is_member(v))
		put_arg(context, v);
}

static int put_instant(struct chrome *c, const struct event_reader *r)
{
	struct instant_members m = { .c = c, .phase = "i" };
	int64_t set = event_value(r, EVENT_ARGS);
	int result = timeline_args(&c->t, set, take_member, &m);

	put_head(c, r, m.phase);
	m.writing = true;
	if (result >= 0)
		result = timeline_args(&c->t, set, take_member, &m);
	if (m.phase[0] == 'i' && !m.has_scope)
		fputs_unlocked(",\"s\":\"t\"", c->out);
	if (result >= 0)
		result = timeline_args(&c->t, set, take_other, c);
	if (r->track && r->track[TRACK_KIND] == TRACK_NVTX_MARK)
		put_nvtx(c, r);
	end_event(c);
	return result;
}

static int write_chrome_table(struct chrome *c, enum table_id table, struct error *err)
{
	struct event_reader r;
	uint32_t rows = 0;
	int result;

	event_reader_init(&r, &c->t, table, NULL, 0);
	while ((result = event_reader_load(&r)) > 0) {
		if (export_keeps(c->e, event_value(&r, EVENT_START), event_end(&r)))
			result = table == TABLE_INSTANT ? put_instant(c, &r) : put_complete_event(c, &r);
		r.row++;
		if (result >= 0 && ++rows % 4096 == 0)
			result = export_poll(c->e, table_schema(table)->name, err);
		if (result < 0)
			break;
	}
	event_reader_release(&r);
	return result == -ENOMEM ? error_set(err, ENOMEM, "Not enough memory") : result;
}

static void put_counter(struct chrome *c, const struct event_reader *r, const struct counter_name *name)
{
	int64_t whole = event_value(r, EVENT_WHAT), bits = event_value(r, EVENT_CORRELATION);
	double real;

	memcpy(&real, &bits, sizeof(real));
	chrome_event_begin(c, "C");
	if (name->gpu) {
		fputs_unlocked(",\"cat\":\"hardware_counters\",\"pid\":\"GPU ", c->out);
		json_put_integer(c->out, name->gpu_index);
		fputs_unlocked(" Counters\",\"tid\":0", c->out);
	} else {
		chrome_number(c, "pid", chrome_pid(c, r->track ? r->track[TRACK_PROCESS] : 0));
	}
	chrome_text(c, "name", name->text, strlen(name->text));
	chrome_time(c, "ts", (int64_t)((uint64_t)event_value(r, EVENT_START) + (uint64_t)c->base));
	arg_key(c, "", 0);
	if (whole == 0 && bits != 0 && isfinite(real))
		json_put_real(c->out, real);
	else
		json_put_integer(c->out, whole);
	end_event(c);
}

static int write_counters(struct chrome *c, struct error *err)
{
	struct counter_name name = { .track = -1 };
	struct event_reader r;
	uint32_t rows = 0;
	int result;

	event_reader_init(&r, &c->t, TABLE_COUNTER, NULL, 0);
	while ((result = event_reader_load(&r)) > 0) {
		if (r.track && name.track != r.track[TRACK_ID])
			timeline_counter_name(&c->t, r.track, &name);
		if (r.track && export_keeps(c->e, event_value(&r, EVENT_START), event_value(&r, EVENT_START)))
			put_counter(c, &r, &name);
		r.row++;
		if (++rows % 4096 == 0 && (result = export_poll(c->e, "counter", err)) < 0)
			break;
	}
	event_reader_release(&r);
	return result == -ENOMEM ? error_set(err, ENOMEM, "Not enough memory") : result;
}

static int write_chrome_body(struct chrome *c, struct error *err)
{
	enum table_id tables[EVENT_ROW_TABLES];
	unsigned count = event_row_tables(tables);
	int r = chrome_begin(c);

	if (r < 0)
		return error_set(err, ENOMEM, "Not enough memory");
	for (size_t i = 0; r >= 0 && i < count; i++)
		r = write_chrome_table(c, tables[i], err);
	if (r >= 0 && !c->imported)
		r = chrome_ranges(c, err);
	if (r >= 0)
		r = write_counters(c, err);
	if (r < 0)
		return r;
	chrome_finish(c);
	return export_poll(c->e, "", err);
}

static int write_chrome_file(struct export *e, struct error *err)
{
	struct chrome c = { .e = e, .out = e->stream };
	int r = timeline_open(&c.t, e, err);

	if (r >= 0)
		r = write_chrome_body(&c, err);
	timeline_close(&c.t);
	idmap_release(&c.gpu_processes);
	kineto_names_release(&c.kernels);
	return r;
}

/* clang-format off */
const struct export_format export_chrome = {
	.name = "Chrome", .streams = true, .whole = write_chrome_file, .begin = export_stream_begin,
	.end = export_stream_end, .give_up = export_stream_give_up,
};
/* clang-format on */
