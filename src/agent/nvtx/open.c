#include "agent/nvtx/open.h"

#include <string.h>

#define LEVELS 64u
#define STARTED 1024u
#define NAME_SIZE 256u
#define PATIENCE 100000u

struct frame {
	const struct nvtx_domain *domain;
	uint32_t color;
	uint32_t number; /* what the listener said */
	uint32_t has_name;
	char name[NAME_SIZE]; /* always ends in 0 */
};

/* Pushed ranges of a thread, or of all threads together. */
struct stack {
	struct nvtx_node node;
	uint64_t owner; /* where the thread has its memory; 0: all */
	uint64_t life;  /* of the thread that was here last */
	_Atomic uint32_t busy;
	uint32_t depth;
	uint32_t lost; /* ranges above those that are kept */
	struct frame frames[LEVELS];
};

/* Started ranges end in any thread. The last two bits of `state`: 0 free, 1 open, 2 being written;
 * the others say how often the place was used. */
struct started {
	_Atomic uint64_t state;
	struct frame frame;
};

struct named {
	struct nvtx_node node;
	uint64_t handle;
	char name[NAME_SIZE];
};

static _Atomic(struct started *) all_started;
static _Atomic uint32_t started_places; /* that were ever used: the first ones */

static __attribute__((noinline)) void put_long_way(char *to, const struct nvtx_text *name, uint32_t size)
{
	char bytes[NVTX_WIRE_TEXT_MAX];

	nvtx_text_put(bytes, name);
	memcpy(to, bytes, size);
}

static void put_name(char *to, const struct nvtx_text *name)
{
	uint32_t size = name->size < NAME_SIZE - 1 ? name->size : NAME_SIZE - 1;

	if (name->type == NVTX_MESSAGE_ASCII)
		arch_copy(to, name->value.ascii, size);
	else
		put_long_way(to, name, size);
	memset(to + size, 0, NAME_SIZE - size);
}

static void put_open_frame(struct frame *f, const struct nvtx_domain *domain, const struct nvtx_text *name, uint32_t color)
{
	f->domain = domain;
	f->color = color;
	f->number = 0;
	f->has_name = name->type != NVTX_MESSAGE_NONE;
	if (f->has_name)
		put_name(f->name, name);
}

static uint64_t thread_life(void)
{
	struct agent_tls *tls = &agent_tls;

	if (tls->ranges >> 32 == 0)
		tls->ranges = nvtx_thread_life() << 32 | 1;
	return tls->ranges >> 32;
}

static struct stack *find_stack(int make)
{
	int together = (agent_pages.session.cuda_flags & RING_CUDA_NVTX_PROCESS) != 0;
	uint64_t owner = together ? 0 : (uint64_t)(uintptr_t)&agent_tls, life = together ? 0 : thread_life();
	struct stack *s = (struct stack *)nvtx_find_number(NVTX_NODE_STACK, 0, owner), *fresh;

	if (!s && make) {
		fresh = agent_permanent(sizeof(*fresh));
		if (!fresh)
			return NULL;
		s = (struct stack *)nvtx_insert_number(NVTX_NODE_STACK, 0, owner, &fresh->node);
	}
	/* Memory of a thread that has ended is another's now. */
	if (s && s->life != life) {
		s->life = life;
		s->depth = s->lost = 0;
	}
	return s;
}

/* Refused to a signal handler that comes in between, and in a child that was forked then. */
static struct stack *take_open_stack(int make)
{
	struct stack *s = find_stack(make);
	uint32_t free = 0;

	for (uint32_t i = 0; s && i < PATIENCE; i++) {
		if (atomic_compare_exchange_strong(&s->busy, &free, 1))
			return s;
		free = 0;
	}
	return NULL;
}

static void give_stack(struct stack *s)
{
	atomic_store(&s->busy, 0);
}

static int count_open_levels(const struct stack *s, const struct nvtx_domain *domain)
{
	int level = 0;

	for (uint32_t i = 0; i < s->depth; i++)
		level += s->frames[i].domain == domain;
	return level;
}

int nvtx_open_push(const struct nvtx_domain *domain, const struct nvtx_text *name, uint32_t color)
{
	struct stack *s = take_open_stack(1);
	uint32_t at;
	int level;

	if (!s)
		return NVTX_FAILED;
	level = count_open_levels(s, domain);
	at = s->depth;
	if (at == LEVELS) {
		s->lost++;
		give_stack(s);
		return level;
	}
	put_open_frame(&s->frames[at], domain, name, color);
	s->depth++;
	give_stack(s);
	s->frames[at].number = agent_nvtx_begun();
	return level;
}

int nvtx_open_pop(const struct nvtx_domain *domain)
{
	struct stack *s = take_open_stack(0);
	int level = s ? count_open_levels(s, domain) - 1 : -1;
	uint32_t at = s ? s->depth : 0;

	if (s && s->lost) {
		s->lost--;
	} else {
		/* The last of its domain; those of others may lie above it. */
		while (at > 0 && s->frames[at - 1].domain != domain)
			at--;
		if (at > 0) {
			memmove(&s->frames[at - 1], &s->frames[at], (s->depth - at) * sizeof(s->frames[0]));
			s->depth--;
		}
	}
	if (s) {
		give_stack(s);
		agent_nvtx_ended();
	}
	return level < 0 ? NVTX_FAILED : level;
}

static struct started *started_ranges(void)
{
	struct started *all = atomic_load(&all_started), *none = NULL;

	if (all)
		return all;
	all = agent_permanent(STARTED * sizeof(*all));
	if (all && !atomic_compare_exchange_strong(&all_started, &none, all))
		all = none; /* another thread was first */
	return all;
}

static void note_place(uint32_t count)
{
	uint32_t known = atomic_load(&started_places);

	while (known < count && !atomic_compare_exchange_weak(&started_places, &known, count))
		;
}

/* The place, and how often it was used. */
uint64_t nvtx_open_start(const struct nvtx_domain *domain, const struct nvtx_text *name, uint32_t color)
{
	struct started *all = started_ranges();
	uint64_t state;

	for (uint64_t i = 0; all && i < STARTED; i++) {
		state = atomic_load(&all[i].state);
		if (state % 4 != 0 || !atomic_compare_exchange_strong(&all[i].state, &state, state + 2))
			continue;
		put_open_frame(&all[i].frame, domain, name, color);
		note_place((uint32_t)i + 1);
		atomic_store(&all[i].state, state + 1);
		all[i].frame.number = agent_nvtx_begun();
		return ((state + 1) / 4 * STARTED + i) + 1;
	}
	return 0;
}

void nvtx_open_end(uint64_t id)
{
	struct started *all = atomic_load(&all_started);
	uint64_t at = (id - 1) % STARTED, open = (id - 1) / STARTED * 4 + 1;

	if (all && id && atomic_compare_exchange_strong(&all[at].state, &open, open + 3))
		agent_nvtx_ended();
}

void nvtx_open_name(const void *handle, const struct nvtx_text *name)
{
	struct named *known = (struct named *)nvtx_find_number(NVTX_NODE_NAMED, 0, (uint64_t)(uintptr_t)handle), *fresh;

	if (!handle || name->type == NVTX_MESSAGE_NONE)
		return;
	if (known) {
		put_name(known->name, name);
		return;
	}
	fresh = agent_permanent(sizeof(*fresh));
	if (!fresh)
		return;
	put_name(fresh->name, name);
	nvtx_insert_number(NVTX_NODE_NAMED, 0, (uint64_t)(uintptr_t)handle, &fresh->node);
}

static struct nvtx_open_range describe_open_range(const struct frame *f, int is_pushed)
{
	return (struct nvtx_open_range){ .domain = f->domain ? f->domain->name : "",
					 .name = f->has_name ? f->name : NULL,
					 .is_pushed = is_pushed,
					 .color = f->color,
					 .number = f->number };
}

/* Texts may change as soon as ranges end: those of started ones, and pushed ones of all threads. They end in 0 all the time. */
static size_t open_ranges(struct nvtx_open_range *ret, size_t room)
{
	const struct started *all = atomic_load(&all_started);
	const struct stack *s = find_stack(0);
	uint32_t places = atomic_load(&started_places);
	size_t count = 0;

	for (uint32_t i = 0; s && i < s->depth && count < room; i++)
		ret[count++] = describe_open_range(&s->frames[i], 1);
	for (uint32_t i = 0; all && i < places && count < room; i++)
		if (atomic_load(&all[i].state) % 4 == 1)
			ret[count++] = describe_open_range(&all[i].frame, 0);
	return count;
}

static const char *find_handle_name(const void *handle)
{
	const struct named *known = (const struct named *)nvtx_find_number(NVTX_NODE_NAMED, 0, (uint64_t)(uintptr_t)handle);

	return known ? known->name : NULL;
}

static const struct agent_nvtx_view view = { open_ranges, find_handle_name };

void nvtx_open_provide(void)
{
	agent_provide_nvtx(&view);
}
