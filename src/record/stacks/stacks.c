#include "record/stacks/stacks.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/array.h"
#include "base/hash_index.h"
#include "base/macros.h"
#include "record/session/session.h"
#include "record/session/address_space_internal.h"
#include "record/session/frames.h"

#define FRAME_LIMIT (1u << 22)
#define NODE_LIMIT (1u << 24)
#define CACHE_SIZE 4096u /* a power of two */
#define KERNEL_GENERATION UINT64_MAX
#define KNOWN_SIZE 65536u /* a power of two; what is not used is never touched */

struct node {
	uint32_t parent;
	uint32_t frame;
	uint32_t depth;
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
	struct hash_index frame_index;
	struct node *nodes; /* by id - 1 */
	uint32_t node_count;
	uint32_t node_cap;
	struct hash_index node_index;
	uint32_t cut_frame;     /* 0: not made yet */
	uint32_t kernel_module; /* uid; 0: none yet */
	uint8_t full;           /* it has been said that there are too many */
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
	hash_index_release(&all->frame_index);
	free(all->nodes);
	hash_index_release(&all->node_index);
	free(all);
	s->stacks = NULL;
}

static uint64_t mix_stack_hash(uint64_t a, uint64_t b)
{
	return (a ^ b * 0x9e3779b97f4a7c15ull) * 0xbf58476d1ce4e5b9ull;
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
	uint64_t hash = mix_stack_hash(f->offset, f->module);
	struct hash_probe at = hash_probe(hash);

	while (hash_next(&all->frame_index, &at))
		if (all->frames[at.item].module == f->module && all->frames[at.item].offset == f->offset)
			return at.item + 1;
	if (all->frame_count >= FRAME_LIMIT || !ARRAY_ROOM(all->frames, all->frame_count, all->frame_cap, 1) ||
	    !hash_index_add(&all->frame_index, hash, all->frame_count))
		return 0;
	all->frames[all->frame_count++] = *f;
	frame_row(s, all->frame_count, f);
	return all->frame_count;
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
	uint64_t hash = mix_stack_hash(parent, frame);
	struct hash_probe at = hash_probe(hash);
	struct node *n;

	while (hash_next(&all->node_index, &at))
		if (all->nodes[at.item].parent == parent && all->nodes[at.item].frame == frame)
			return at.item + 1;
	if (all->node_count >= NODE_LIMIT || !ARRAY_ROOM(all->nodes, all->node_count, all->node_cap, 1) ||
	    !hash_index_add(&all->node_index, hash, all->node_count))
		return 0;
	n = &all->nodes[all->node_count++];
	*n = (struct node){ parent, frame, parent ? all->nodes[parent - 1].depth + 1 : 0 };
	node_row(s, all->node_count, n);
	return all->node_count;
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
	struct code_address place;

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
	struct cached_frame *cached = &all->cache[mix_stack_hash(pc, 1) & (CACHE_SIZE - 1)];
	struct stack_frame frame;

	if (cached->pc == pc && cached->frame && cached->generation == (space ? space_generation(space) : KERNEL_GENERATION))
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
			 "there are more than %u distinct addresses or %u distinct stacks, or no memory for them: new ones are cut "
			 "where they leave known ones",
			 FRAME_LIMIT, NODE_LIMIT);
}

/* The node of one place, called from `parent`; 0 when there is no more room. */
static uint32_t add_frame(struct session *s, struct stacks *all, struct space *space, const struct stack_walk *walk, uint32_t i,
			  uint32_t parent)
{
	uint32_t frame = frame_of(s, all, i < walk->kernel ? NULL : space, instruction(walk, i));
	uint32_t node = frame ? node_id(s, all, parent, frame) : 0;

	if (!node)
		say_full(s, all);
	return node;
}

/* All but the place that was executing. Returns whether there was room for all; *ret is as far as it came. */
static int intern_callers(struct session *s, struct stacks *all, struct space *space, const struct stack_walk *walk, uint32_t *ret)
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

	if (!all || !space || !walk->count || walk->count > STACK_MAX_FRAMES || walk->kernel > walk->count)
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
