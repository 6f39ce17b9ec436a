/* One event: name, category, flows and annotations. */
#include "export/perfetto/perfetto.h"

/* Names and categories that are ours are keyed by where their text lies, above all string ids. */
#define OWN_TEXT (1ull << 63)

static uint64_t intern_own(struct perfetto *p, unsigned kind, const char *text)
{
	return perfetto_intern(p, kind, OWN_TEXT | (uint64_t)(uintptr_t)text, text, strlen(text));
}

static size_t annotation_begin(struct perfetto *p, uint64_t name)
{
	size_t begin = proto_begin(&p->event, EVENT_FIELD_ANNOTATION);

	proto_number(&p->event, ANNOTATION_NAME, name);
	return begin;
}

void perfetto_annotate_number(struct perfetto *p, const char *name, int64_t value)
{
	size_t begin = annotation_begin(p, intern_own(p, INTERNED_ANNOTATION, name));

	proto_number(&p->event, ANNOTATION_INT, (uint64_t)value);
	proto_end(&p->event, begin);
}

void perfetto_annotate_text(struct perfetto *p, const char *name, const char *text, size_t len)
{
	size_t begin = annotation_begin(p, intern_own(p, INTERNED_ANNOTATION, name));

	proto_bytes(&p->event, ANNOTATION_TEXT, text, len);
	proto_end(&p->event, begin);
}

/* Grid and block are the same for all kernels of a launch. */
static void annotate_triple(struct perfetto *p, const char *name, const int64_t *launch, unsigned column)
{
	uint64_t number;
	char text[80];
	size_t begin;
	bool is_new;

	if (!((uint64_t)launch[LAUNCH_PRESENT] >> column & 1))
		return;
	number = perfetto_number(p, &p->ids[INTERNED_VALUE], (uint64_t)launch[COLUMN_CUDA_LAUNCH_ID] << 6 | column, &is_new);
	if (is_new) {
		snprintf(text, sizeof(text), "[%lld, %lld, %lld]", (long long)launch[column], (long long)launch[column + 1],
			 (long long)launch[column + 2]);
		begin = proto_begin(&p->interned, INTERNED_VALUE);
		proto_number(&p->interned, 1, number);
		proto_text(&p->interned, 2, text);
		proto_end(&p->interned, begin);
	}
	begin = annotation_begin(p, intern_own(p, INTERNED_ANNOTATION, name));
	proto_number(&p->event, ANNOTATION_VALUE, number);
	proto_end(&p->event, begin);
}

static void annotate_launch(struct perfetto *p, const int64_t *launch)
{
	annotate_triple(p, "grid", launch, COLUMN_CUDA_LAUNCH_GRID_X);
	annotate_triple(p, "block", launch, COLUMN_CUDA_LAUNCH_BLOCK_X);
	perfetto_annotate_number(p, "registers per thread", launch[COLUMN_CUDA_LAUNCH_REGISTERS]);
	perfetto_annotate_number(
		p, "shared memory",
		(int64_t)((uint64_t)launch[COLUMN_CUDA_LAUNCH_STATIC_SHARED] + (uint64_t)launch[COLUMN_CUDA_LAUNCH_DYNAMIC_SHARED]));
}

static void annotate_arg(void *context, const struct arg_value *v)
{
	struct perfetto *p = context;
	size_t begin = annotation_begin(p, perfetto_intern(p, INTERNED_ANNOTATION, (uint64_t)v->key_id, v->key, v->key_len));

	switch (v->kind) {
	case ARG_INTEGER: proto_number(&p->event, ANNOTATION_INT, (uint64_t)v->integer); break;
	case ARG_REAL: proto_real(&p->event, ANNOTATION_REAL, v->real); break;
	case ARG_TEXT:
		proto_bytes(&p->event, timeline_is_json(v->text, v->text_len) ? ANNOTATION_JSON : ANNOTATION_TEXT, v->text, v->text_len);
		break;
	case ARG_NOTHING: proto_text(&p->event, ANNOTATION_JSON, "null"); break;
	}
	proto_end(&p->event, begin);
}

/* NVTX's kinds: 1 unsigned, 2 signed and 4, 5 of 32 bits, 3 double, 6 float. */
static void annotate_payload(struct perfetto *p, const struct event_reader *r)
{
	int64_t bits = event_value(r, EVENT_PAYLOAD), kind = event_value(r, EVENT_PAYLOAD_KIND);
	uint32_t half = (uint32_t)bits;
	double real;
	float single;
	size_t begin;

	if (kind < 1 || kind > 6)
		return;
	begin = annotation_begin(p, intern_own(p, INTERNED_ANNOTATION, "payload"));
	memcpy(&real, &bits, sizeof(real));
	memcpy(&single, &half, sizeof(single));
	if (kind == 3 || kind == 6)
		proto_real(&p->event, ANNOTATION_REAL, kind == 3 ? real : (double)single);
	else if (kind == 2)
		proto_number(&p->event, ANNOTATION_INT, (uint64_t)bits);
	else if (kind == 5)
		proto_number(&p->event, ANNOTATION_INT, (uint64_t)(int64_t)(int32_t)half);
	else
		proto_number(&p->event, ANNOTATION_UINT, (uint64_t)bits);
	proto_end(&p->event, begin);
}

/* From the call to its work. A launch of a graph has many, which follow each other in one flow. */
static void put_flow(struct perfetto *p, const struct event_reader *r)
{
	int64_t correlation = event_value(r, EVENT_CORRELATION);
	uint64_t flow;

	if (!r->track || !timeline_linked(&p->t, r->track[TRACK_PROCESS], correlation))
		return;
	flow = (uint64_t)r->track[TRACK_PROCESS] << 32 | (uint64_t)correlation;
	if (r->table == TABLE_CUDA_API || (r->is_work && event_value(r, EVENT_NODE)))
		proto_fixed64(&p->event, EVENT_FIELD_FLOW, flow);
	else if (r->is_work)
		proto_fixed64(&p->event, EVENT_FIELD_LAST_FLOW, flow);
}

static void annotate(struct perfetto *p, const struct event_reader *r)
{
	const int64_t *launch;

	if (r->is_work && event_value(r, EVENT_NODE))
		perfetto_annotate_number(p, "graph node id", event_value(r, EVENT_NODE));
	if (r->has_bytes)
		perfetto_annotate_number(p, "bytes", event_value(r, EVENT_BYTES));
	if ((r->table == TABLE_CUDA_API || r->table == TABLE_OSRT) && event_value(r, EVENT_RESULT))
		perfetto_annotate_number(p, "result", event_value(r, EVENT_RESULT));
	if (r->table == TABLE_SLICE || r->table == TABLE_INSTANT)
		annotate_payload(p, r);
	if (event_value(r, EVENT_CORRELATION))
		perfetto_annotate_number(p, "correlation", event_value(r, EVENT_CORRELATION));
	if (r->table == TABLE_GPU_KERNEL) {
		launch = cuda_launch(p->t.q->index.cuda, event_value(r, EVENT_WHAT));
		if (launch)
			annotate_launch(p, launch);
	}
}

void perfetto_event(struct perfetto *p, const struct event_reader *r, unsigned type, uint64_t track)
{
	struct event_name name;
	const char *category;
	int64_t class;
	size_t len;
	int result;

	perfetto_event_head(p, type, track);
	event_name(r, &name);
	proto_number(&p->event, EVENT_FIELD_NAME, perfetto_intern(p, INTERNED_NAME, name.id, name.text, name.len));
	category = event_category(r, &class);
	if (category) {
		proto_number(&p->event, EVENT_FIELD_CATEGORY, intern_own(p, INTERNED_CATEGORY, category));
	} else if (class) {
		category = timeline_text(&p->t, class, &len);
		proto_number(&p->event, EVENT_FIELD_CATEGORY, perfetto_intern(p, INTERNED_CATEGORY, (uint64_t) class, category, len));
	}
	put_flow(p, r);
	annotate(p, r);
	event_more(r, annotate_arg, p);
	result = timeline_args(&p->t, event_value(r, EVENT_ARGS), annotate_arg, p);
	if (result < 0)
		p->result = result;
}
