#include "record/session/address_space.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/macros.h"
#include "record/session/session.h"
#include "record/session/address_space_internal.h"
#include "record/session/frames.h"

#define SET_LIMIT (1u << 18) /* mappings of one process */
#define ENDED_LIMIT 256u     /* processes that ended and may still be asked for */

static struct spaces *spaces_of(struct session *s)
{
	if (!s->spaces) {
		struct spaces *all = calloc(1, sizeof(*all));

		if (!all)
			return NULL;
		all->modules = modules_new();
		if (!all->modules) {
			free(all);
			return NULL;
		}
		s->spaces = all;
	}
	return s->spaces;
}

struct modules *spaces_modules(struct session *s)
{
	struct spaces *all = spaces_of(s);

	return all ? all->modules : NULL;
}

static void set_unref(struct mapping_set *set)
{
	if (set && --set->refs == 0) {
		free(set->mappings);
		free(set);
	}
}

static struct space *find_space(const struct session *s, uint64_t process)
{
	uint64_t value = s->spaces ? idmap_get(&s->spaces->by_process, process) : IDMAP_NONE;

	return value == IDMAP_NONE ? NULL : (struct space *)(uintptr_t)value;
}

static struct space *new_space(struct spaces *all, uint64_t process, uint32_t pid, struct mapping_set *set)
{
	struct space *space = calloc(1, sizeof(*space));

	if (space && !set) {
		set = calloc(1, sizeof(*set));
		if (set)
			set->generation = ++all->generations;
	}
	if (!space || !set || idmap_put(&all->by_process, process, (uint64_t)(uintptr_t)space) < 0) {
		if (set && !set->refs)
			free(set);
		free(space);
		return NULL;
	}
	set->refs++;
	space->process = process;
	space->pid = pid;
	space->set = set;
	return space;
}

struct space *space_of(struct session *s, uint64_t process, uint32_t pid)
{
	struct spaces *all = spaces_of(s);
	struct space *space = find_space(s, process);

	if (!all)
		return NULL;
	if (!space)
		return new_space(all, process, pid, NULL);
	if (!space->pid && !space->ended)
		space->pid = pid;
	return space;
}

static void drop(struct spaces *all, uint64_t process)
{
	uint64_t value = idmap_take(&all->by_process, process);
	struct space *space = (struct space *)(uintptr_t)value;

	if (value == IDMAP_NONE)
		return;
	set_unref(space->set);
	free(space);
}

void space_fork(struct session *s, uint64_t parent, uint64_t child, uint32_t child_pid)
{
	struct spaces *all = spaces_of(s);
	struct space *from = find_space(s, parent), *to = find_space(s, child);

	if (!all || !from || from == to)
		return;
	if (!to) {
		new_space(all, child, child_pid, from->set);
		return;
	}
	/* It has been seen before its fork was: only if it has nothing yet. */
	if (to->set->count)
		return;
	from->set->refs++;
	set_unref(to->set);
	to->set = from->set;
}

void space_end(struct session *s, uint64_t process)
{
	struct space *space = find_space(s, process);
	struct spaces *all = s->spaces;

	if (!space || space->ended)
		return;
	/* What it wrote into its rings may be read a little later. Its pid may be another's soon. */
	space->ended = 1;
	space->pid = 0;
	if (!all->ended)
		all->ended = calloc(ENDED_LIMIT, sizeof(*all->ended));
	if (!all->ended) {
		drop(all, process);
		return;
	}
	if (all->ended_count >= ENDED_LIMIT)
		drop(all, all->ended[all->ended_count % ENDED_LIMIT]);
	all->ended[all->ended_count++ % ENDED_LIMIT] = process;
}

void spaces_release(struct session *s)
{
	struct spaces *all = s->spaces;

	if (!all)
		return;
	for (size_t i = 0; i < all->by_process.cap; i++) {
		struct idmap_entry *entry = &all->by_process.entries[i];
		struct space *space = (struct space *)(uintptr_t)entry->value;

		if (entry->value == IDMAP_NONE)
			continue;
		set_unref(space->set);
		free(space);
	}
	idmap_release(&all->by_process);
	modules_free(all->modules);
	unwinder_free(all->unwinder);
	free(all->ended);
	free(all);
	s->spaces = NULL;
}

/* The first mapping that ends behind the address. */
static uint32_t position(const struct mapping_set *set, uint64_t address)
{
	uint32_t low = 0, high = set->count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (set->mappings[middle].end <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static struct mapping *find_mapping(const struct space *space, uint64_t address)
{
	struct mapping_set *set = space->set;
	uint32_t at = position(set, address);

	return at < set->count && set->mappings[at].start <= address ? &set->mappings[at] : NULL;
}

/* A set that only this space has, with room for two more. */
static struct mapping_set *own_set(struct spaces *all, struct space *space)
{
	struct mapping_set *set = space->set;

	if (set->refs > 1) {
		struct mapping_set *copy = calloc(1, sizeof(*copy));

		if (!copy)
			return NULL;
		copy->refs = 1;
		copy->cap = set->count + 16;
		copy->mappings = malloc(copy->cap * sizeof(*copy->mappings));
		if (!copy->mappings) {
			free(copy);
			return NULL;
		}
		copy->count = set->count;
		memcpy(copy->mappings, set->mappings, set->count * sizeof(*set->mappings));
		set->refs--;
		space->set = set = copy;
	}
	if (!ARRAY_ROOM(set->mappings, set->count, set->cap, 2))
		return NULL;
	set->generation = ++all->generations;
	return set;
}

static void replace_mappings(struct mapping_set *set, uint32_t at, uint32_t removed, const struct mapping *with, uint32_t count)
{
	memmove(set->mappings + at + count, set->mappings + at + removed, (set->count - at - removed) * sizeof(*set->mappings));
	memcpy(set->mappings + at, with, count * sizeof(*with));
	set->count += count - removed;
}

/* Puts it in place of what it overlaps; what sticks out at either side stays. */
static void insert(struct mapping_set *set, const struct mapping *new_one)
{
	uint32_t first = position(set, new_one->start), last = first;
	struct mapping pieces[3];
	uint32_t count = 0;

	while (last < set->count && set->mappings[last].start < new_one->end)
		last++;
	if (last > first && set->mappings[first].start < new_one->start) {
		pieces[count] = set->mappings[first];
		pieces[count++].end = new_one->start;
	}
	pieces[count++] = *new_one;
	if (last > first && set->mappings[last - 1].end > new_one->end) {
		struct mapping *rest = &set->mappings[last - 1];

		pieces[count] = *rest;
		pieces[count].offset += new_one->end - rest->start;
		pieces[count++].start = new_one->end;
	}
	replace_mappings(set, first, last - first, pieces, count);
}

static int differ_if_reported(uint64_t a, uint64_t b)
{
	return a && b && a != b;
}

static int is_same_mapping(const struct mapping *known, const struct space_mapping *reported)
{
	const struct module *m = known->module;
	size_t length = strlen(m->path);

	if (known->start != reported->address || known->end != reported->address + reported->size ||
	    (known->offset != reported->offset && reported->path[0] != '['))
		return 0;
	if (m->mapped_as == MODULE_JIT)
		return 0;
	if (m->build_id_size && reported->build_id_size &&
	    (m->build_id_size != reported->build_id_size || memcmp(m->build_id, reported->build_id, m->build_id_size) != 0))
		return 0;
	return strncmp(m->path, reported->path, length) == 0 &&
	       (!reported->path[length] || strcmp(reported->path + length, " (deleted)") == 0) &&
	       !differ_if_reported(m->inode, reported->inode);
}

void space_map(struct session *s, struct space *space, const struct space_mapping *mapping)
{
	struct mapping new_one = {
		.start = mapping->address, .end = mapping->address + mapping->size, .offset = mapping->offset, .time = mapping->time
	};
	struct mapping *known = space ? find_mapping(space, mapping->address) : NULL;
	struct mapping_set *set;

	if (!space || new_one.end <= new_one.start || (known && is_same_mapping(known, mapping)))
		return;
	new_one.module = modules_of(s->spaces->modules, mapping, space->process, space->pid);
	if (!new_one.module)
		return;
	/* What has no file has no offset in it, whatever the kernel writes there. */
	if (mapping->path[0] == '[')
		new_one.offset = 0;
	/* Code made while running is mapped, and changes its protection, all the time. */
	if (known && known->module == new_one.module && new_one.module->mapped_as == MODULE_JIT && known->end >= new_one.end)
		return;
	if (space->set->count + 2 > SET_LIMIT)
		return;
	set = own_set(s->spaces, space);
	if (set)
		insert(set, &new_one);
}

static void mapping_row(struct session *s, const struct space *space, const struct mapping *m)
{
	int64_t values[TABLE_MAX_COLUMNS];

	values[COLUMN_MAPPING_PROCESS] = (int64_t)space->process;
	values[COLUMN_MAPPING_TIME] = m->time;
	values[COLUMN_MAPPING_ADDRESS] = (int64_t)m->start;
	values[COLUMN_MAPPING_SIZE] = (int64_t)(m->end - m->start);
	values[COLUMN_MAPPING_OFFSET] = (int64_t)m->offset;
	values[COLUMN_MAPPING_MODULE] = (int64_t)m->module->uid;
	session_row(s, TABLE_MAPPING, values, BIT(COLUMN_MAPPING_MODULE + 1) - 1);
}

/* Finds out, the first time, how ELF addresses differ from the process's. */
static void use_mapping(struct session *s, const struct space *space, struct mapping *m, uint64_t pc)
{
	uint64_t address;

	m->used = 1;
	if (!module_settle(s, s->spaces->modules, m->module))
		return;
	m->bias = 0;
	m->nowhere = 0;
	if (m->module->kind != MODULE_JIT) {
		m->nowhere = module_address(m->module, m->offset + (pc - m->start), &address) < 0;
		m->bias = pc - address;
	}
	mapping_row(s, space, m);
}

struct mapping *space_lookup(struct session *s, struct space *space, uint64_t pc, int sure)
{
	struct mapping *m = find_mapping(space, pc);

	if (!m && sure && space_read_maps(s, space))
		m = find_mapping(space, pc);
	if (m && !m->used)
		use_mapping(s, space, m, pc);
	return m;
}

void space_place(struct session *s, struct space *space, uint64_t pc, struct code_address *ret)
{
	struct mapping *m = space_lookup(s, space, pc, 1);

	*ret = (struct code_address){ 0, pc };
	if (m && !m->nowhere)
		*ret = (struct code_address){ m->module->uid, pc - m->bias };
}

uint64_t space_generation(const struct space *space)
{
	return space->set->generation;
}

/* Where the unwinder looks things up. */
struct code {
	struct session *s;
	struct space *space;
};

static const struct cfi_row *find_space_cfi_row(struct session *s, struct module *m, uint64_t address)
{
	const struct cfi_row *row;
	struct elf_file *file;

	if (!m->cfi && !(m->cfi = cfi_new()))
		return NULL;
	row = cfi_find(m->cfi, address);
	if (row)
		return row;
	file = module_file(s, s->spaces->modules, m);
	return file ? cfi_read(m->cfi, file, address) : NULL;
}

static int find_code(void *context, uint64_t address, int sure, struct unwind_place *ret)
{
	struct code *code = context;
	struct mapping *mapping = space_lookup(code->s, code->space, address, sure);
	struct module *m;

	if (!mapping)
		return -ENOENT;
	m = mapping->module->same ? mapping->module->same : mapping->module;
	ret->row = (m->kind == MODULE_FILE || m->kind == MODULE_VDSO) && !mapping->nowhere ?
			   find_space_cfi_row(code->s, m, address - mapping->bias) :
			   NULL;
	ret->cfi = m->cfi;
	ret->generation = space_generation(code->space);
	return 0;
}

void space_unwind(struct session *s, struct space *space, const struct stack_copy *copy, struct stack_walk *walk)
{
	struct code code = { s, space };
	struct unwind_source source = { &code, space ? space_generation(space) : 0, find_code };
	struct spaces *all = s->spaces;

	if (!space || walk->count >= STACK_MAX_FRAMES || (!all->unwinder && !(all->unwinder = unwinder_new()))) {
		walk->cut = 1;
		return;
	}
	walk->count += unwind(all->unwinder, &source, copy, walk->pcs + walk->count, STACK_MAX_FRAMES - walk->count, &walk->cut);
}
