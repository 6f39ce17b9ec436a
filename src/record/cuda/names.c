/* What calls, kernels and ways of launching them are called: ids of a process, ids of the report. */
#include "record/cuda/internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <xxhash.h>

#include "symbol/demangle.h"

#define MAX_NAME 65536u
#define NOT_KNOWN INT32_MIN

void cuda_define_call(struct cuda_decoder *d, uint64_t id, const char *text, size_t size)
{
	uint64_t *name;

	if (id >> 32 > 1 || (uint32_t)id >= CUDA_MAX_CALLS)
		return;
	name = &d->c->calls[id >> 32][(uint32_t)id];
	if (!*name) {
		*name = report_string(d->s->writer, text, size);
	} else if (*name & CUDA_UNDEFINED) {
		*name &= ~CUDA_UNDEFINED;
		report_string_define(d->s->writer, *name, text, size);
	}
}

uint64_t cuda_call_name(struct cuda_decoder *d, unsigned is_driver, unsigned number)
{
	uint64_t *name;

	if (number >= CUDA_MAX_CALLS)
		return 0;
	name = &d->c->calls[is_driver][number];
	if (!*name) {
		*name = report_string_later(d->s->writer);
		*name |= *name ? CUDA_UNDEFINED : 0;
	}
	return *name & ~CUDA_UNDEFINED;
}

static uint64_t plain_name(struct session *s, char *text, uint64_t otherwise)
{
	uint64_t id = text ? session_text(s, text) : otherwise;

	free(text);
	return id;
}

static void function_row(struct session *s, uint64_t id, const char *text, size_t size)
{
	uint64_t mangled = report_string(s->writer, text, size);
	int64_t v[TABLE_MAX_COLUMNS];
	char *linkage = strndup(text, size < MAX_NAME ? size : MAX_NAME);

	v[COLUMN_CUDA_FUNCTION_ID] = (int64_t)id;
	v[COLUMN_CUDA_FUNCTION_MANGLED] = (int64_t)mangled;
	v[COLUMN_CUDA_FUNCTION_NAME] = (int64_t)plain_name(s, linkage ? demangle_kernel(linkage) : NULL, mangled);
	v[COLUMN_CUDA_FUNCTION_SHORT_NAME] = (int64_t)plain_name(s, linkage ? demangle_short(linkage) : NULL, mangled);
	session_row(s, TABLE_CUDA_FUNCTION, v, BITS_TO(COLUMN_CUDA_FUNCTION_MANGLED));
	free(linkage);
}

/* The report's id for one of the process's, new or not told yet; 0 when there are too many. */
static uint64_t id_used(struct idmap *map, uint64_t id, uint64_t *next)
{
	uint64_t known = idmap_get(map, id);

	if (known != IDMAP_NONE)
		return known & ~CUDA_UNDEFINED;
	if (map->count >= CUDA_MAX_IDS || idmap_put(map, id, (*next + 1) | CUDA_UNDEFINED) < 0)
		return 0;
	return ++*next;
}

uint64_t cuda_function_id(struct cuda_decoder *d, uint64_t id)
{
	struct cuda_session *all = cuda_session(d->s);

	return all ? id_used(&d->c->functions, id, &all->next_function) : 0;
}

uint64_t cuda_launch_id(struct cuda_decoder *d, uint64_t id)
{
	struct cuda_session *all = cuda_session(d->s);

	return all ? id_used(&d->c->launches, id, &all->next_launch) : 0;
}

/* The id under which a row is to be written for a definition, or 0: there is one already, told by this or by another
 * process (`shared` finds it by `key`). */
static uint64_t id_to_write(struct idmap *own, uint64_t id, struct idmap *shared, uint64_t key, uint64_t *next)
{
	uint64_t known = idmap_get(own, id), same = idmap_get(shared, key), fresh;

	if (known != IDMAP_NONE && !(known & CUDA_UNDEFINED))
		return 0;
	if (known == IDMAP_NONE && own->count >= CUDA_MAX_IDS)
		return 0;
	if (known == IDMAP_NONE && same != IDMAP_NONE) {
		idmap_put(own, id, same);
		return 0;
	}
	fresh = known == IDMAP_NONE ? ++*next : known & ~CUDA_UNDEFINED;
	if (idmap_put(own, id, fresh) < 0)
		return 0;
	if (same == IDMAP_NONE)
		idmap_put(shared, key, fresh);
	return fresh;
}

void cuda_define_function(struct cuda_decoder *d, uint64_t id, const char *text, size_t size)
{
	struct cuda_session *all = cuda_session(d->s);
	uint64_t fresh;

	if (!all)
		return;
	fresh = id_to_write(&d->c->functions, id, &all->functions, report_string(d->s->writer, text, size), &all->next_function);
	if (fresh)
		function_row(d->s, fresh, text, size);
}

static uint32_t launch_values(struct cuda_decoder *d, const struct cuda_wire_launch *l, int64_t *v)
{
	uint32_t present = BITS_TO(COLUMN_CUDA_LAUNCH_FROM_DEVICE);

	v[COLUMN_CUDA_LAUNCH_FUNCTION] = l->function ? (int64_t)cuda_function_id(d, l->function) : 0;
	for (unsigned i = 0; i < 3; i++) {
		v[COLUMN_CUDA_LAUNCH_GRID_X + i] = l->grid[i];
		v[COLUMN_CUDA_LAUNCH_BLOCK_X + i] = l->block[i];
		v[COLUMN_CUDA_LAUNCH_CLUSTER_X + i] = l->cluster[i];
	}
	v[COLUMN_CUDA_LAUNCH_REGISTERS] = l->registers;
	v[COLUMN_CUDA_LAUNCH_STATIC_SHARED] = l->static_shared;
	v[COLUMN_CUDA_LAUNCH_DYNAMIC_SHARED] = l->dynamic_shared;
	v[COLUMN_CUDA_LAUNCH_SHARED_EXECUTED] = l->shared_executed;
	v[COLUMN_CUDA_LAUNCH_LOCAL_PER_THREAD] = l->local_per_thread;
	v[COLUMN_CUDA_LAUNCH_LOCAL_TOTAL] = (int64_t)l->local_total;
	v[COLUMN_CUDA_LAUNCH_CACHE_CONFIG] = l->cache_config;
	v[COLUMN_CUDA_LAUNCH_SHARED_CONFIG] = l->shared_config;
	v[COLUMN_CUDA_LAUNCH_SHARED_LIMIT] = l->shared_limit;
	v[COLUMN_CUDA_LAUNCH_CARVEOUT] = l->carveout;
	v[COLUMN_CUDA_LAUNCH_LAUNCH_TYPE] = l->launch_type;
	v[COLUMN_CUDA_LAUNCH_CLUSTER_POLICY] = l->cluster_policy;
	v[COLUMN_CUDA_LAUNCH_CLUSTER_POTENTIAL] = l->cluster_potential;
	v[COLUMN_CUDA_LAUNCH_CLUSTER_ACTIVE] = l->cluster_active;
	v[COLUMN_CUDA_LAUNCH_PRIORITY] = l->priority;
	v[COLUMN_CUDA_LAUNCH_FROM_DEVICE] = l->from_device;
	if (l->carveout == 0xff)
		present &= ~BIT(COLUMN_CUDA_LAUNCH_CARVEOUT);
	if (l->cluster[0] == CUDA_NO_ID)
		present &= ~(BIT(COLUMN_CUDA_LAUNCH_CLUSTER_X) | BIT(COLUMN_CUDA_LAUNCH_CLUSTER_Y) | BIT(COLUMN_CUDA_LAUNCH_CLUSTER_Z) |
			     BIT(COLUMN_CUDA_LAUNCH_CLUSTER_POLICY));
	if (l->cluster_potential == CUDA_NO_ID)
		present &= ~BIT(COLUMN_CUDA_LAUNCH_CLUSTER_POTENTIAL);
	if (l->cluster_active == CUDA_NO_ID)
		present &= ~BIT(COLUMN_CUDA_LAUNCH_CLUSTER_ACTIVE);
	if (l->priority == NOT_KNOWN)
		present &= ~BIT(COLUMN_CUDA_LAUNCH_PRIORITY);
	if (!v[COLUMN_CUDA_LAUNCH_FUNCTION])
		present &= ~BIT(COLUMN_CUDA_LAUNCH_FUNCTION);
	return present;
}

int cuda_define_launch(struct cuda_decoder *d, uint64_t id, const uint8_t *body, size_t size)
{
	struct cuda_session *all = cuda_session(d->s);
	int64_t v[TABLE_MAX_COLUMNS] = { 0 };
	struct cuda_wire_launch wire;
	uint32_t present;
	uint64_t hash;

	if (size < sizeof(wire))
		return -EBADMSG;
	if (!all)
		return -ENOMEM;
	memcpy(&wire, body, sizeof(wire));
	present = launch_values(d, &wire, v);
	hash = XXH3_64bits_withSeed(v, sizeof(v), present);
	v[COLUMN_CUDA_LAUNCH_ID] = (int64_t)id_to_write(&d->c->launches, id, &all->launches, hash, &all->next_launch);
	if (v[COLUMN_CUDA_LAUNCH_ID])
		session_row(d->s, TABLE_CUDA_LAUNCH, v, present);
	return 0;
}

static uint64_t rows_of_unknown(struct session *s, const struct idmap *map, enum table_id table)
{
	int64_t v[TABLE_MAX_COLUMNS];
	uint64_t count = 0;

	for (size_t i = 0; i < map->cap; i++) {
		if (map->entries[i].value == IDMAP_NONE || !(map->entries[i].value & CUDA_UNDEFINED))
			continue;
		v[0] = (int64_t)(map->entries[i].value & ~CUDA_UNDEFINED);
		session_row(s, table, v, 1);
		count++;
	}
	return count;
}

void cuda_names_end(struct cuda_decoder *d)
{
	_Static_assert(COLUMN_CUDA_FUNCTION_ID == 0 && COLUMN_CUDA_LAUNCH_ID == 0, "the id is first");
	uint64_t missing = rows_of_unknown(d->s, &d->c->functions, TABLE_CUDA_FUNCTION) +
			   rows_of_unknown(d->s, &d->c->launches, TABLE_CUDA_LAUNCH);

	if (missing)
		session_diagnose(d->s, SOURCE_RECORDER, DIAGNOSTIC_WARNING, d->p->uid,
				 "%llu CUDA functions or launches of process %u were never described: their kernels have no name.",
				 (unsigned long long)missing, d->p->info.pid);
	idmap_release(&d->c->functions);
	idmap_release(&d->c->launches);
}
