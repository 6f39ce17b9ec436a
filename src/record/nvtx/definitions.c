#include "record/nvtx/definitions.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/macros.h"
#include "fmt/nvtx_wire.h"
#include "record/cuda/cuda.h"
#include "record/drain/osrt.h"
#include "record/drain/thread.h"
#include "record/session/trigger.h"

/* In a map of strings: used already, text still to come. */
#define PLACEHOLDER (UINT64_C(1) << 62)

struct definitions *definitions_new(uint64_t process)
{
	struct definitions *d = calloc(1, sizeof(*d));

	if (d) {
		d->refs = 1;
		d->process = process;
	}
	return d;
}

void definitions_ref(struct definitions *d)
{
	d->refs++;
}

void definitions_unref(struct definitions *d)
{
	struct definitions *parent;

	while (d && --d->refs == 0) {
		parent = d->parent;
		idmap_release(&d->strings);
		idmap_release(&d->domains);
		idmap_release(&d->counters);
		free(d->counter_texts);
		free(d);
		d = parent;
	}
}

void definitions_inherit(struct definitions *d, struct definitions *parent, uint64_t string_limit, uint64_t domain_limit)
{
	/* A parent that named nothing itself need not be kept for its own sake. */
	while (parent && !parent->strings.count && !parent->domains.count && !parent->counters.count)
		parent = parent->parent;
	if (!parent)
		return;
	definitions_ref(parent);
	d->parent = parent;
	d->string_limit = string_limit;
	d->domain_limit = domain_limit;
}

uint64_t definitions_string(struct session *s, struct definitions *d, uint64_t id)
{
	uint64_t text;

	while (d->parent && id < d->string_limit)
		d = d->parent;
	text = idmap_get(&d->strings, id);
	if (text != IDMAP_NONE)
		return text & ~PLACEHOLDER;
	text = report_string_later(s->writer);
	if (text)
		idmap_put(&d->strings, id, text | PLACEHOLDER);
	return text;
}

/* Binary payloads hold ids or handles of strings: readers find the text by this row. */
static void string_row(struct session *s, const struct definitions *d, uint64_t id, uint64_t handle, uint64_t text)
{
	int64_t v[TABLE_MAX_COLUMNS];

	v[COLUMN_NVTX_STRING_PROCESS] = (int64_t)d->process;
	v[COLUMN_NVTX_STRING_ID] = (int64_t)id;
	v[COLUMN_NVTX_STRING_NAME] = (int64_t)text;
	v[COLUMN_NVTX_STRING_HANDLE] = (int64_t)handle;
	session_row(s, TABLE_NVTX_STRING, v, BITS_TO(COLUMN_NVTX_STRING_HANDLE));
}

static void define_string(struct session *s, struct definitions *d, uint64_t id, uint64_t handle, const char *text, size_t size)
{
	uint64_t known = idmap_get(&d->strings, id);

	if (known == IDMAP_NONE) {
		known = report_string(s->writer, text, size);
	} else if (known & PLACEHOLDER) {
		known &= ~PLACEHOLDER;
		report_string_define(s->writer, known, text, size);
		if (s->triggers)
			trigger_string(s, known, text, size);
	} else {
		return;
	}
	idmap_put(&d->strings, id, known);
	string_row(s, d, id, handle, known);
}

uint64_t definitions_domain(struct session *s, struct definitions *d, uint64_t id)
{
	uint64_t uid;

	if (id == 0)
		return 0;
	while (d->parent && id < d->domain_limit)
		d = d->parent;
	uid = idmap_get(&d->domains, id);
	if (uid != IDMAP_NONE)
		return uid;
	uid = ++s->next_domain;
	idmap_put(&d->domains, id, uid);
	return uid;
}

const struct counter_text *definitions_counter(struct definitions *d, uint64_t id)
{
	uint64_t index = IDMAP_NONE;

	for (; d && index == IDMAP_NONE; d = d->parent) {
		index = idmap_get(&d->counters, id);
		if (index != IDMAP_NONE)
			return &d->counter_texts[index];
	}
	return NULL;
}

/* What every row of a definition is made from. */
struct definition {
	struct session *s;
	struct traced_process *p;
	struct traced_thread *t;
	uint64_t domain; /* uid of the head's domain */
	uint64_t id;
	uint64_t extra;
	int64_t time;
	const char *text;
	size_t size;
};

static int64_t find_definition_text(const struct definition *d)
{
	return (int64_t)report_string(d->s->writer, d->text, d->size);
}

static void write_nvtx_domain(const struct definition *d, int kind)
{
	int64_t v[TABLE_MAX_COLUMNS];
	uint32_t present = BITS_TO(COLUMN_NVTX_DOMAIN_KIND);

	v[COLUMN_NVTX_DOMAIN_UID] = (int64_t)definitions_domain(d->s, d->p->definitions, d->id);
	v[COLUMN_NVTX_DOMAIN_PROCESS] = (int64_t)d->p->uid;
	v[COLUMN_NVTX_DOMAIN_ID] = (int64_t)d->id;
	v[COLUMN_NVTX_DOMAIN_NAME] = kind == 1 ? find_definition_text(d) : 0;
	v[COLUMN_NVTX_DOMAIN_TIME] = d->time;
	v[COLUMN_NVTX_DOMAIN_THREAD] = (int64_t)d->t->uid;
	v[COLUMN_NVTX_DOMAIN_KIND] = kind;
	if (kind != 1)
		present &= ~BIT(COLUMN_NVTX_DOMAIN_NAME);
	session_row(d->s, TABLE_NVTX_DOMAIN, v, present);
	if (d->s->triggers && kind == 1)
		trigger_domain(d->s, (uint64_t)v[COLUMN_NVTX_DOMAIN_UID], d->text, d->size);
}

static void category_row(const struct definition *d)
{
	int64_t v[TABLE_MAX_COLUMNS];

	v[COLUMN_NVTX_CATEGORY_PROCESS] = (int64_t)d->p->uid;
	v[COLUMN_NVTX_CATEGORY_DOMAIN] = (int64_t)d->domain;
	v[COLUMN_NVTX_CATEGORY_CATEGORY] = (int64_t)d->id;
	v[COLUMN_NVTX_CATEGORY_NAME] = find_definition_text(d);
	v[COLUMN_NVTX_CATEGORY_TIME] = d->time;
	v[COLUMN_NVTX_CATEGORY_THREAD] = (int64_t)d->t->uid;
	session_row(d->s, TABLE_NVTX_CATEGORY, v, BITS_TO(COLUMN_NVTX_CATEGORY_THREAD));
}

/* The tid given is the target's; the report speaks the recorder's. */
static uint32_t outer_tid_of(const struct traced_process *p, uint64_t inner)
{
	for (uint32_t i = 0; i < p->thread_cap; i++)
		if (p->threads[i] && p->threads[i]->inner_tid == inner)
			return p->threads[i]->tid;
	return (uint32_t)inner;
}

static void thread_name_row(const struct definition *d)
{
	int64_t v[TABLE_MAX_COLUMNS];

	v[COLUMN_THREAD_NAME_TIME] = d->time;
	v[COLUMN_THREAD_NAME_PROCESS] = (int64_t)d->p->uid;
	v[COLUMN_THREAD_NAME_TID] = outer_tid_of(d->p, d->id);
	v[COLUMN_THREAD_NAME_NAME] = find_definition_text(d);
	session_row(d->s, TABLE_THREAD_NAME, v, BITS_TO(COLUMN_THREAD_NAME_NAME));
}

static int resource_row(struct definition *d, int kind)
{
	struct nvtx_wire_resource resource = { .identifier = d->id };
	int64_t v[TABLE_MAX_COLUMNS];
	uint32_t present = BITS_TO(COLUMN_NVTX_RESOURCE_KIND);

	if (kind == 1) {
		if (d->size < sizeof(resource))
			return -EBADMSG;
		memcpy(&resource, d->text, sizeof(resource));
		d->text += sizeof(resource);
		d->size -= sizeof(resource);
	} else {
		present &= ~BIT(COLUMN_NVTX_RESOURCE_NAME);
	}
	v[COLUMN_NVTX_RESOURCE_PROCESS] = (int64_t)d->p->uid;
	v[COLUMN_NVTX_RESOURCE_DOMAIN] = (int64_t)d->domain;
	v[COLUMN_NVTX_RESOURCE_IDENTIFIER_TYPE] = (int64_t)(d->extra >> 32);
	v[COLUMN_NVTX_RESOURCE_IDENTIFIER] = (int64_t)resource.identifier;
	v[COLUMN_NVTX_RESOURCE_NAME] = kind == 1 ? find_definition_text(d) : 0;
	v[COLUMN_NVTX_RESOURCE_TIME] = d->time;
	v[COLUMN_NVTX_RESOURCE_KIND] = kind;
	session_row(d->s, TABLE_NVTX_RESOURCE, v, present);
	return 0;
}

static void scope_row(const struct definition *d)
{
	int64_t v[TABLE_MAX_COLUMNS];

	v[COLUMN_NVTX_SCOPE_PROCESS] = (int64_t)d->p->uid;
	v[COLUMN_NVTX_SCOPE_DOMAIN] = (int64_t)d->domain;
	v[COLUMN_NVTX_SCOPE_ID] = (int64_t)d->id;
	v[COLUMN_NVTX_SCOPE_PARENT] = (int64_t)d->extra;
	v[COLUMN_NVTX_SCOPE_PATH] = find_definition_text(d);
	session_row(d->s, TABLE_NVTX_SCOPE, v, BITS_TO(COLUMN_NVTX_SCOPE_PATH));
}

/* Rows of counters are written with their first sample: only then a track exists. */
static int keep_counter(const struct definition *d)
{
	struct definitions *defs = d->p->definitions;
	const char *end = memchr(d->text, '\0', d->size);
	size_t name = end ? (size_t)(end - d->text) : d->size;
	struct counter_text *text;

	if (!LIST_ROOM(defs->counter_texts, defs->counter_count))
		return 0;
	text = &defs->counter_texts[defs->counter_count];
	*text = (struct counter_text){ .domain = d->domain, .schema = d->extra };
	text->name = report_string(d->s->writer, d->text, name);
	if (name + 1 < d->size)
		text->description = report_string(d->s->writer, end + 1, d->size - name - 1);
	if (idmap_put(&defs->counters, d->id, defs->counter_count) == 0)
		defs->counter_count++;
	return 0;
}

int definitions_record(struct session *s, struct traced_process *p, struct traced_thread *t, const struct record_define *record,
		       const uint8_t *body, size_t size, int64_t time)
{
	/* clang-format off */
	struct definition d = {
		.s = s, .p = p, .t = t, .id = record->id, .extra = record->extra, .time = time,
		.domain = definitions_domain(s, p->definitions, record_domain(record->head)),
		.text = (const char *)body, .size = size,
	};
	/* clang-format on */

	switch (record_flags(record->head)) {
	case DEFINE_DOMAIN: write_nvtx_domain(&d, 1); return 0;
	case DEFINE_DOMAIN_END: write_nvtx_domain(&d, 2); return 0;
	case DEFINE_STRING: define_string(s, p->definitions, d.id, d.extra, d.text, d.size); return 0;
	case DEFINE_CATEGORY: category_row(&d); return 0;
	case DEFINE_THREAD_NAME: thread_name_row(&d); return 0;
	case DEFINE_RESOURCE: return resource_row(&d, 1);
	case DEFINE_RESOURCE_END: return resource_row(&d, 2);
	case DEFINE_SCHEMA: return schema_record(s, p->uid, d.domain, d.id, body, size);
	case DEFINE_ENUM: return enum_record(s, p->uid, d.domain, d.id, body, size);
	case DEFINE_SCOPE: scope_row(&d); return 0;
	case DEFINE_COUNTER: return keep_counter(&d);
	case DEFINE_FILE: osrt_file_record(s, p, record, body, size, time); return 0;
	case DEFINE_MODULE: return osrt_module_record(s, p, body, size, time);
	case DEFINE_CUDA_CALL ... DEFINE_CUDA_STACK: return cuda_definition(s, p, t, record, body, size, time);
	default: return -EBADMSG;
	}
}
