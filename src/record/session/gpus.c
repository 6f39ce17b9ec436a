#include "record/session/gpus.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/macros.h"
#include "record/session/session.h"

#define MAX_GPUS 1024u /* no machine comes near */

struct gpu {
	char uuid[GPU_UUID_TEXT];
	int64_t values[TABLE_MAX_COLUMNS];
	uint32_t present;
	uint32_t attributes; /* bit set of those that have rows */
};

struct gpus {
	uint32_t count;
	struct gpu list[MAX_GPUS];
};

void gpu_facts_init(struct gpu_facts *facts, const char *uuid)
{
	/* clang-format off */
	*facts = (struct gpu_facts){ .uuid = uuid, .index = GPU_NOT_KNOWN, .memory = GPU_NOT_KNOWN,
				     .bandwidth = GPU_NOT_KNOWN, .clock = GPU_NOT_KNOWN,
				     .sm_count = GPU_NOT_KNOWN, .l2 = GPU_NOT_KNOWN, .major = GPU_NOT_KNOWN,
				     .minor = GPU_NOT_KNOWN, .mig = GPU_NOT_KNOWN, .mps = GPU_NOT_KNOWN };
	/* clang-format on */
}

void gpu_uuid_text(const char *prefix, const uint8_t *uuid, char *ret)
{
	int at = snprintf(ret, GPU_UUID_TEXT, "%.4s", prefix);

	for (int i = 0; i < 16; i++)
		at += snprintf(ret + at, (size_t)(GPU_UUID_TEXT - at), "%s%02x", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", uuid[i]);
}

static struct gpu *gpu_of(struct session *s, const char *uuid)
{
	struct gpu *g;

	if (!s->gpus)
		s->gpus = calloc(1, sizeof(*s->gpus));
	if (!s->gpus)
		return NULL;
	for (uint32_t i = 0; i < s->gpus->count; i++)
		if (strcmp(s->gpus->list[i].uuid, uuid) == 0)
			return &s->gpus->list[i];
	if (s->gpus->count == MAX_GPUS)
		return NULL;
	g = &s->gpus->list[s->gpus->count++];
	snprintf(g->uuid, sizeof(g->uuid), "%s", uuid);
	g->values[COLUMN_GPU_UID] = s->gpus->count;
	g->values[COLUMN_GPU_UUID] = (int64_t)session_text(s, g->uuid);
	g->present = BIT(COLUMN_GPU_UID) | BIT(COLUMN_GPU_UUID);
	return g;
}

static void add_number(struct gpu *g, unsigned column, int64_t value)
{
	if (value == GPU_NOT_KNOWN || g->present & BIT(column))
		return;
	g->values[column] = value;
	g->present |= BIT(column);
}

static void add_gpu_text(struct session *s, struct gpu *g, unsigned column, const char *text)
{
	if (text && text[0])
		add_number(g, column, (int64_t)session_text(s, text));
}

static void attribute_row(struct session *s, uint64_t set, const char *name, uint32_t value)
{
	int64_t v[TABLE_MAX_COLUMNS];

	v[COLUMN_ARG_SET] = (int64_t)set;
	v[COLUMN_ARG_KEY] = (int64_t)session_text(s, name);
	v[COLUMN_ARG_INTEGER] = value;
	session_row(s, TABLE_ARG, v, BIT(COLUMN_ARG_SET) | BIT(COLUMN_ARG_KEY) | BIT(COLUMN_ARG_INTEGER));
}

static void add_attributes(struct session *s, struct gpu *g, const uint32_t *attributes)
{
	static const char *const names[] = {
#define CUDA_ATTRIBUTE(NAME, name) name,
#include "fmt/cuda_attributes.def"
#undef CUDA_ATTRIBUTE
	};

	for (unsigned i = 0; attributes && i < CUDA_ATTRIBUTE_COUNT; i++) {
		if (attributes[i] == CUDA_NO_ID || g->attributes & BIT(i))
			continue;
		if (!g->attributes)
			add_number(g, COLUMN_GPU_ATTRIBUTES, (int64_t)++s->next_arg_set);
		g->attributes |= BIT(i);
		attribute_row(s, (uint64_t)g->values[COLUMN_GPU_ATTRIBUTES], names[i], attributes[i]);
	}
}

uint64_t gpu_row(struct session *s, const struct gpu_facts *facts)
{
	struct gpu *g = gpu_of(s, facts->uuid);

	if (!g)
		return 0;
	add_gpu_text(s, g, COLUMN_GPU_NAME, facts->name);
	add_gpu_text(s, g, COLUMN_GPU_BUS, facts->bus);
	add_gpu_text(s, g, COLUMN_GPU_CHIP, facts->chip);
	add_number(g, COLUMN_GPU_INDEX, facts->index);
	add_number(g, COLUMN_GPU_MEMORY, facts->memory);
	add_number(g, COLUMN_GPU_BANDWIDTH, facts->bandwidth);
	add_number(g, COLUMN_GPU_CLOCK, facts->clock);
	add_number(g, COLUMN_GPU_SM_COUNT, facts->sm_count);
	add_number(g, COLUMN_GPU_L2, facts->l2);
	add_number(g, COLUMN_GPU_MAJOR, facts->major);
	add_number(g, COLUMN_GPU_MINOR, facts->minor);
	add_number(g, COLUMN_GPU_MIG, facts->mig);
	add_number(g, COLUMN_GPU_MPS, facts->mps);
	add_attributes(s, g, facts->attributes);
	return (uint64_t)g->values[COLUMN_GPU_UID];
}

void gpus_provisional(struct session *s)
{
	struct report_track *track = s->gpus ? report_track(s->writer, TABLE_GPU, 0) : NULL;

	for (uint32_t i = 0; track && i < s->gpus->count; i++)
		report_append_provisional(track, s->gpus->list[i].values, s->gpus->list[i].present);
}

void gpus_finish(struct session *s)
{
	for (uint32_t i = 0; s->gpus && i < s->gpus->count; i++)
		session_row(s, TABLE_GPU, s->gpus->list[i].values, s->gpus->list[i].present);
	gpus_release(s);
}

void gpus_release(struct session *s)
{
	free(s->gpus);
	s->gpus = NULL;
}
