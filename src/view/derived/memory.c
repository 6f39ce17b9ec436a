/* GPU memory in use: allocations less what was released, by GPU and kind of memory. */
#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "fmt/gpu_enums.h"
#include "view/derived/derived.h"
#include "view/rows/rows.h"

/* None is allocated of the kinds behind. */
#define MEMORY_KINDS GPU_MEMORY_HOST

struct use {
	int64_t gpu;
	struct {
		struct report_track *track;
		int64_t bytes;
	} kinds[MEMORY_KINDS];
};

struct uses {
	struct use *items;
	size_t count;
};

static struct use *use_of(struct uses *u, int64_t gpu)
{
	for (size_t i = 0; i < u->count; i++)
		if (u->items[i].gpu == gpu)
			return &u->items[i];
	if (!LIST_ROOM(u->items, u->count))
		return NULL;
	u->items[u->count] = (struct use){ .gpu = gpu };
	return &u->items[u->count++];
}

/* What was there before the recording began and is released in it is not known of: never below nothing. */
static int put_use(struct making *m, struct use *use, const struct track_reader *t)
{
	int64_t operation = t->columns[1][t->row], bytes = t->columns[2][t->row], kind = t->columns[3][t->row], *sum;
	struct derived_track track = { .kind = ROW_GPU_MEMORY, .place = use->gpu, .domain = kind };

	if (kind < 0 || kind >= MEMORY_KINDS || bytes < 0 || (operation != GPU_MEMORY_ALLOCATION && operation != GPU_MEMORY_RELEASE))
		return 0;
	sum = &use->kinds[kind].bytes;
	if (__builtin_add_overflow(*sum, operation == GPU_MEMORY_ALLOCATION ? bytes : -bytes, sum) || *sum < 0)
		*sum = 0;
	if (!use->kinds[kind].track)
		TRY(making_track(m, TABLE_COUNTER, &track, &use->kinds[kind].track));
	return making_value(m, use->kinds[kind].track, t->columns[0][t->row], *sum);
}

int make_memory(struct making *m)
{
	static const uint8_t columns[] = { COLUMN_GPU_MEMORY_TIME, COLUMN_GPU_MEMORY_OPERATION, COLUMN_GPU_MEMORY_BYTES,
					   COLUMN_GPU_MEMORY_KIND };
	struct uses uses = { 0 };
	struct merge g;
	struct merged *s;
	int rc = merge_open(&g, m, TABLE_GPU_MEMORY, TRACK_GPU_MEMORY, columns, sizeof(columns));

	while (rc >= 0 && (s = merge_next(&g, &rc)) != NULL) {
		struct use *use = use_of(&uses, gpu_of_context(m->r, s->track_row[TRACK_DOMAIN]));

		rc = use ? put_use(m, use, &s->reader) : -ENOMEM;
		merge_advance(&g, s);
	}
	merge_close(&g);
	free(uses.items);
	return rc;
}
