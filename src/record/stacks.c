#include "record/stacks.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "record/session.h"
#include "record/space_internal.h"
#include "record/stacks_internal.h"

#define FRAME_LIMIT (1u << 22)
#define NODE_LIMIT (1u << 24)
#define CACHE_SIZE 4096u /* a power of two */
#define KERNEL_GENERATION UINT64_MAX
#define KNOWN_SIZE 65536u /* a power of two; what is not used is never touched */

#define BIT(column) (1u << (column))

struct node {
	uint32_t parent;
	uint32_t frame;
	uint32_t depth;
};

/* Ids from 1, found by what they stand for: open addressing. */
struct id_index {
	uint32_t *slots; /* 0 = empty */
	uint32_t cap;    /* a power of two, or 0 */
};

/* Where an address led last time, as long as nothing was mapped since. */
struct cached_frame {
	uint64_t generation;
	uint64_t pc;
	uint32_t frame;
};

/* The callers of a stack that was seen before, by a hash that no two share. */
struct known_stack {
	XXH128_hash_t hash;
	uint32_t node; /* 0 = none */
};

struct stacks {
	struct stack_frame *frames; /* by id - 1 */
	uint32_t frame_count;
	uint32_t frame_cap;
	struct id_index frame_index;
	struct node *nodes;         /* by id - 1 */
	uint32_t node_count;
	uint32_t node_cap;
	struct id_index node_index;
	uint32_t cut_frame;         /* 0: not made yet */
	uint32_t kernel_module;     /* uid; 0: none yet */
	uint8_t full;               /* it has been said that there are too many */
	struct cached_frame cache[CACHE_SIZE];
	struct known_stack known[KNOWN_SIZE];
};

static struct stacks *stacks_of(struct session *s)
{
	if (!s->stacks)
		s->stacks = calloc(1, sizeof(*s->stacks));
	return s->stacks;
}

void stacks_release(struct session *s)
{
	struct stacks *all = s->stacks;

	if (!all)
		return;
	free(all->frames);
	free(all->frame_index.slots);
	free(all->nodes);
	free(all->node_index.slots);
	free(all);
	s->stacks = NULL;
}

static uint32_t mix(uint64_t a, uint64_t b)
{
	uint64_t hash = (a ^ b * 0x9e3779b97f4a7c15ull) * 0xbf58476d1ce4e5b9ull;

	return (uint32_t)(hash ^ hash >> 32);
}

static uint32_t frame_hash(const struct stack_frame *f)
{
	return mix(f->offset, f->module);
}

static uint32_t node_hash(uint32_t parent, uint32_t frame)
{
	return mix(parent, frame);
}

static void put_slot(struct id_index *index, uint32_t hash, uint32_t id)
{
	uint32_t i = hash & (index->cap - 1);

	while (index->slots[i])
		i = (i + 1) & (index->cap - 1);
	index->slots[i] = id;
}

/* An empty index for at least `count` ids. */
static int new_index(struct id_index *ret, uint32_t count)
{
	ret->cap = 1024;
	while (ret->cap < count * 2)
		ret->cap *= 2;
	ret->slots = calloc(ret->cap, sizeof(*ret->slots));
	return ret->slots != NULL;
}

/* Makes room for one more item in an array; the index grows with it. */
static int room_for_frame(struct stacks *all)
{
	struct id_index index;
	struct stack_frame *bigger;

	if (all->frame_count < all->frame_cap)
		return 1;
	if (all->frame_count >= FRAME_LIMIT)
		return 0;
	bigger = realloc(all->frames, (size_t)(all->frame_cap * 2 + 1024) * sizeof(*bigger));
	if (!bigger)
		return 0;
	all->frames = bigger;
	if (!new_index(&index, all->frame_cap * 2 + 1024))
		return 0;
	all->frame_cap = all->frame_cap * 2 + 1024;
	for (uint32_t i = 0; i < all->frame_count; i++)
		put_slot(&index, frame_hash(&bigger[i]), i + 1);
	free(all->frame_index.slots);
	all->frame_index = index;
	return 1;
}

static int room_for_node(struct stacks *all)
{
	struct id_index index;
	struct node *bigger;

	if (all->node_count < all->node_cap)
		return 1;
	if (all->node_count >= NODE_LIMIT)
		return 0;
	bigger = realloc(all->nodes, (size_t)(all->node_cap * 2 + 1024) * sizeof(*bigger));
	if (!bigger)
		return 0;
	all->nodes = bigger;
	if (!new_index(&index, all->node_cap * 2 + 1024))
		return 0;
	all->node_cap = all->node_cap * 2 + 1024;
	for (uint32_t i = 0; i < all->node_count; i++)
		put_slot(&index, node_hash(bigger[i].parent, bigger[i].frame), i + 1);
	free(all->node_index.slots);
	all->node_index = index;
	return 1;
}

static void frame_row(struct session *s, uint32_t id, const struct stack_frame *f)
{
	uint32_t present = BIT(COLUMN_FRAME_ID) | BIT(COLUMN_FRAME_OFFSET);
	int64_t values[TABLE_MAX_COLUMNS];

	values[COLUMN_FRAME_ID] = id;
	values[COLUMN_FRAME_MODULE] = f->module;
	values[COLUMN_FRAME_OFFSET] = (int64_t)f->offset;
	if (f->module)
		present |= BIT(COLUMN_FRAME_MODULE);
	session_row(s, TABLE_FRAME, values, present);
}

static uint32_t frame_id(struct session *s, struct stacks *all, const struct stack_frame *f)
{
	uint32_t i, id;

	if (!room_for_frame(all))
		return 0;
	i = frame_hash(f) & (all->frame_index.cap - 1);
	while ((id = all->frame_index.slots[i])) {
		if (all->frames[id - 1].module == f->module && all->frames[id - 1].offset == f->offset)
			return id;
		i = (i + 1) & (all->frame_index.cap - 1);
	}
	all->frames[all->frame_count] = *f;
	id = all->frame_index.slots[i] = ++all->frame_count;
	frame_row(s, id, f);
	return id;
}

static void node_row(struct session *s, uint32_t id, const struct node *n)
{
	uint32_t present = BIT(COLUMN_STACK_ID) | BIT(COLUMN_STACK_FRAME) | BIT(COLUMN_STACK_DEPTH);
	int64_t values[TABLE_MAX_COLUMNS];

	values[COLUMN_STACK_ID] = id;
	values[COLUMN_STACK_PARENT] = n->parent;
	values[COLUMN_STACK_FRAME] = n->frame;
	values[COLUMN_STACK_DEPTH] = n->depth;
	if (n->parent)
		present |= BIT(COLUMN_STACK_PARENT);
	session_row(s, TABLE_STACK, values, present);
}

static uint32_t node_id(struct session *s, struct stacks *all, uint32_t parent, uint32_t frame)
{
	struct node *n;
	uint32_t i, id;

	if (!room_for_node(all))
		return 0;
	i = node_hash(parent, frame) & (all->node_index.cap - 1);
	while ((id = all->node_index.slots[i])) {
		if (all->nodes[id - 1].parent == parent && all->nodes[id - 1].frame == frame)
			return id;
		i = (i + 1) & (all->node_index.cap - 1);
	}
	n = &all->nodes[all->node_count];
	*n = (struct node){ parent, frame, parent ? all->nodes[parent - 1].depth + 1 : 0 };
	id = all->node_index.slots[i] = ++all->node_count;
	node_row(s, id, n);
	return id;
}

/* Uid of a module that stands for no file; 0 without memory. */
static uint32_t named_module(struct session *s, enum module_kind kind, const char *name)
{
	struct module *m = modules_named(s->spaces->modules, kind, name);

	return m ? (uint32_t)module_settle(s, s->spaces->modules, m) : 0;
}

/* The frame that stands for callers which are not known. */
static uint32_t cut_frame(struct session *s, struct stacks *all)
{
	struct stack_frame frame = { 0 };

	if (!all->cut_frame) {
		frame.module = named_module(s, MODULE_OTHER, STACKS_CUT);
		all->cut_frame = frame_id(s, all, &frame);
	}
	return all->cut_frame;
}

static struct stack_frame find_frame(struct session *s, struct stacks *all, struct space *space, uint64_t pc)
{
	struct place place;

	if (!space) {
		if (!all->kernel_module)
			all->kernel_module = named_module(s, MODULE_KERNEL, "[kernel]");
		return (struct stack_frame){ pc, all->kernel_module };
	}
	space_place(s, space, pc, &place);
	return (struct stack_frame){ place.offset, (uint32_t)place.module };
}

/* The frame of an address in a space, or (NULL) in the kernel. */
static uint32_t frame_of(struct session *s, struct stacks *all, struct space *space, uint64_t pc)
{
	struct cached_frame *cached = &all->cache[mix(pc, 1) & (CACHE_SIZE - 1)];
	struct stack_frame frame;

	if (cached->pc == pc && cached->frame &&
	    cached->generation == (space ? space_generation(space) : KERNEL_GENERATION))
		return cached->frame;
	frame = find_frame(s, all, space, pc);
	cached->frame = frame_id(s, all, &frame);
	cached->pc = pc;
	/* Asked now: looking the address up may have changed what is mapped. */
	cached->generation = space ? space_generation(space) : KERNEL_GENERATION;
	return cached->frame;
}

/* The instruction a program counter of the walk stands for. */
static uint64_t instruction(const struct stack_walk *walk, uint32_t i)
{
	int executing = i == 0 || i == walk->kernel;

	return walk->pcs[i] - (executing || !walk->pcs[i] ? 0 : 1);
}

static void say_full(struct session *s, struct stacks *all)
{
	if (all->full)
		return;
	all->full = 1;
	session_diagnose(s, SOURCE_RECORDER, DIAGNOSTIC_WARNING, 0,
			 "there are more than %u distinct places or %u distinct stacks (or no memory for them): "
			 "new ones are cut where they leave those known", FRAME_LIMIT, NODE_LIMIT);
}

/* The node of one place, called from `parent`; 0 when there is no more room. */
static uint32_t add_frame(struct session *s, struct stacks *all, struct space *space,
			  const struct stack_walk *walk, uint32_t i, uint32_t parent)
{
	uint32_t frame = frame_of(s, all, i < walk->kernel ? NULL : space, instruction(walk, i));
	uint32_t node = frame ? node_id(s, all, parent, frame) : 0;

	if (!node)
		say_full(s, all);
	return node;
}

/* All but the place that was executing. Returns whether there was room for all; *ret is as far as it came. */
static int intern_callers(struct session *s, struct stacks *all, struct space *space,
			  const struct stack_walk *walk, uint32_t *ret)
{
	uint32_t frame, next;

	*ret = 0;
	if (walk->cut) {
		frame = cut_frame(s, all);
		*ret = frame ? node_id(s, all, 0, frame) : 0;
	}
	for (uint32_t i = walk->count; i-- > 1; *ret = next) {
		next = add_frame(s, all, space, walk, i, *ret);
		if (!next)
			return 0;
	}
	return 1;
}

/* Everything the callers depend on: their addresses, and what is mapped there. */
static XXH128_hash_t callers_hash(const struct space *space, const struct stack_walk *walk)
{
	uint64_t seed = space_generation(space) << 24 ^ (uint64_t)walk->kernel << 1 ^ walk->cut;

	return XXH3_128bits_withSeed(walk->pcs + 1, (walk->count - 1) * sizeof(walk->pcs[0]), seed);
}

uint64_t stacks_intern(struct session *s, struct space *space, const struct stack_walk *walk)
{
	struct stacks *all = stacks_of(s);
	struct known_stack *known;
	XXH128_hash_t hash;
	uint32_t node;

	if (!all || !space || !walk->count || walk->count > STACK_MAX_FRAMES ||
	    walk->kernel > walk->count)
		return 0;
	/* A function is called from few places, and interrupted anywhere. */
	hash = callers_hash(space, walk);
	known = &all->known[hash.low64 & (KNOWN_SIZE - 1)];
	if (!known->node || !XXH128_isEqual(known->hash, hash)) {
		if (!intern_callers(s, all, space, walk, &node))
			return node;
		*known = (struct known_stack){ hash, node };
	}
	node = add_frame(s, all, space, walk, 0, known->node);
	return node ? node : known->node;
}

uint32_t stacks_frame(struct session *s, struct space *space, uint64_t pc)
{
	struct stacks *all = stacks_of(s);

	return all && space ? frame_of(s, all, space, pc) : 0;
}

const struct stack_frame *stacks_frames(const struct session *s, uint32_t *ret_count)
{
	*ret_count = s->stacks ? s->stacks->frame_count : 0;
	return s->stacks ? s->stacks->frames : NULL;
}
