/* Our wrappers in a program that was linked without them: the slots through which objects call functions of the C library (import
 * tables) get ours, and their old contents back at the end.
 *
 * A slot is changed only where it holds the very function that our wrapper calls, or the stub that would look that one up: so a
 * library that stands in front of the C library keeps its place, and an object that is just being loaded is left alone until
 * its slots are what they are going to be. Slots that the linker has made read-only are written between two mprotect()s. */
#include <stdatomic.h>
#include <string.h>
#include <sys/auxv.h>
#include <time.h>

#include "agent/core/attach.h"
#include "agent/core/elf_object.h"
#include "agent/core/attach/maps.h"
#include "agent/core/attach/slots.h"
#include "agent/core/state.h"
#include "agent/core/syscalls.h"
#include "agent/core/wrappers.h"
#include "base/text/path.h"

#define PAGE 4096u
#define C_LIBRARIES 4
/* More symbols than we have. */
#define OWN_SYMBOLS 1024

/* A symbol of ours, by its index. */
struct own_symbol {
	uint8_t looked_at;
	uint8_t only_c_library; /* 1: nobody else has a function of that name, 2: somebody has; 0: not known yet */
	void *real;             /* what ours calls; NULL: is not put anywhere */
};

static struct {
	_Atomic uint32_t holder; /* process that is at work here */
	struct agent_object ours;
	struct agent_object c_libraries[C_LIBRARIES];
	unsigned c_library_count;
	struct own_symbol symbols[OWN_SYMBOLS];
} known;

struct work {
	uint32_t modules;
	/* Or one function of one object, for good. */
	uintptr_t only;
	const char *name;
	void *function;
	int restores;
	unsigned refused; /* objects that the kernel lets nobody change */
	struct agent_maps maps;
};

static int note_library(struct dl_phdr_info *info, size_t size, void *context)
{
	struct agent_object object;

	(void)size;
	(void)context;
	if (!agent_object_read(info, &object))
		return 0;
	if (agent_object_is_ours(info))
		known.ours = object;
	else if (agent_object_is_c_library(object.path) && known.c_library_count < C_LIBRARIES)
		known.c_libraries[known.c_library_count++] = object;
	return 0;
}

static void *find_in_c_library(const char *name, const char *version)
{
	void *found = NULL;

	for (unsigned i = 0; i < known.c_library_count && !found; i++)
		found = agent_object_find(&known.c_libraries[i], name, version);
	return found;
}

/* Wrappers of calls that are recorded, or of what sampling needs, only where that is wanted; programs that are started and the end of the
 * process are always of interest. */
static int is_part_wanted(const struct agent_part *part, uint32_t modules)
{
	if (part == &agent_part_driver)
		return 0;
	if (part == &agent_part_exec || part == &agent_part_leave)
		return 1;
	return (modules & (RING_GATE_OSRT | RING_GATE_SAMPLE)) != 0;
}

/* Functions that end in one that has a line in the tables (execl, ...) have none themselves. */
static void *real_of(const char *name, const char *version, uint32_t modules)
{
	int is_listed = 0;

	for (unsigned p = 0; p < agent_part_count; p++) {
		const struct agent_part *part = agent_parts[p];

		for (unsigned i = 0; i < part->wrapper_count; i++) {
			const struct agent_wrapper *wrapper = &part->wrappers[i];

			if (strcmp(wrapper->name, name) != 0)
				continue;
			is_listed = 1;
			if (is_part_wanted(part, modules) && (!*version || !wrapper->version || !strcmp(wrapper->version, version)))
				return *wrapper->real;
		}
	}
	return is_listed ? NULL : find_in_c_library(name, NULL);
}

struct question {
	const char *name;
	int others;
};

static int ask_object(struct dl_phdr_info *info, size_t size, void *context)
{
	struct question *question = context;
	struct agent_object object;

	(void)size;
	if (agent_object_is_ours(info) || agent_object_is_c_library(info->dlpi_name) || !agent_object_read(info, &object))
		return 0;
	question->others = agent_object_symbol(&object, question->name, NULL) != NULL;
	return question->others;
}

static int only_c_library_has(struct own_symbol *own, const char *name)
{
	struct question question = { .name = name };

	if (!own->only_c_library) {
		dl_iterate_phdr(ask_object, &question);
		own->only_c_library = question.others ? 2 : 1;
	}
	return own->only_c_library == 1;
}

/* Our function for a symbol that an object wants, or NULL. */
static const ElfW(Sym) *ours_for(const struct agent_object *object, uint32_t symbol, const char *name)
{
	const ElfW(Sym) *own = agent_object_symbol(&known.ours, name, NULL);
	const char *version;

	if (!own || ELF64_ST_TYPE(own->st_info) != STT_FUNC)
		return NULL;
	/* Where ours has versions, each goes to its own. */
	if (!*agent_object_version(&known.ours, (uint32_t)(own - known.ours.symbols)))
		return own;
	version = agent_object_version(object, symbol);
	own = agent_object_symbol(&known.ours, name, version);
	return strcmp(agent_object_version(&known.ours, (uint32_t)(own - known.ours.symbols)), version) == 0 ? own : NULL;
}

static struct own_symbol *examine_own_symbol(const ElfW(Sym) *symbol, uint32_t modules)
{
	size_t index = (size_t)(symbol - known.ours.symbols);
	struct own_symbol *own = &known.symbols[index];

	if (index >= OWN_SYMBOLS)
		return NULL;
	if (!own->looked_at) {
		own->looked_at = 1;
		own->real = real_of(known.ours.strings + symbol->st_name, agent_object_version(&known.ours, (uint32_t)index), modules);
	}
	return own->real ? own : NULL;
}

static int is_in(const struct agent_object *object, uintptr_t address, uint32_t flags)
{
	for (unsigned i = 0; i < object->segment_count; i++)
		if (object->segments[i].p_type == PT_LOAD && (object->segments[i].p_flags & flags) == flags &&
		    address - (object->base + object->segments[i].p_vaddr) < object->segments[i].p_memsz)
			return 1;
	return 0;
}

/* The function that the slot is to have; NULL: it stays as it is. */
static void *select_replacement(const struct work *work, const struct agent_object *object, uint32_t symbol, void *value)
{
	const char *name = object->strings + object->symbols[symbol].st_name;
	const ElfW(Sym) *ours = ours_for(object, symbol, name);
	struct own_symbol *own = ours ? examine_own_symbol(ours, work->modules) : NULL;

	if (!own)
		return NULL;
	if (value != own->real) {
		if (!is_in(object, (uintptr_t)value, PF_X) || !only_c_library_has(own, name) ||
		    find_in_c_library(name, agent_object_version(object, symbol)) != own->real)
			return NULL;
	}
	return (void *)(known.ours.base + ours->st_value);
}

static void patch_slot(const struct work *work, const struct agent_object *object, uint32_t symbol, _Atomic(void *) *slot)
{
	void *value = atomic_load(slot);
	void *ours;

	if (work->only) {
		if (strcmp(object->strings + object->symbols[symbol].st_name, work->name) == 0)
			atomic_store(slot, work->function);
		return;
	}
	ours = select_replacement(work, object, symbol, value);
	if (ours && agent_slots_keep(slot, value))
		atomic_compare_exchange_strong(slot, &value, ours);
}

static void restore_slot(_Atomic(void *) *slot)
{
	void *value = atomic_load(slot), *old;

	if (agent_owns_code((uintptr_t)value) && agent_slots_find(slot, &old))
		atomic_compare_exchange_strong(slot, &value, old);
}

/* Which pages the linker makes read-only when it has filled them in. */
struct protected_range {
	uintptr_t start;
	uintptr_t end;
	int is_read_only; /* it has */
};

static struct protected_range protected_part(const struct agent_object *object, const struct agent_maps *maps)
{
	struct protected_range range = { 0 };

	for (unsigned i = 0; i < object->segment_count; i++) {
		const ElfW(Phdr) *part = &object->segments[i];

		if (part->p_type != PT_GNU_RELRO)
			continue;
		range.start = (object->base + part->p_vaddr) & ~(uintptr_t)(PAGE - 1);
		range.end = (object->base + part->p_vaddr + part->p_memsz) & ~(uintptr_t)(PAGE - 1);
	}
	range.is_read_only = range.start < range.end && agent_maps_protection(maps, range.start, range.end) == PROT_READ;
	return range;
}

static int is_of_interest(const struct work *work, const struct agent_object *object, const ElfW(Rela) *relocation)
{
	uint32_t type = (uint32_t)ELF64_R_TYPE(relocation->r_info), symbol = (uint32_t)ELF64_R_SYM(relocation->r_info);

	if ((type != ARCH_RELOC_JUMP_SLOT && type != ARCH_RELOC_GLOB_DAT) || !symbol || relocation->r_offset % sizeof(void *))
		return 0;
	return work->restores || object->symbols[symbol].st_shndx == SHN_UNDEF;
}

static void visit_table(const struct work *work, const struct agent_object *object, unsigned which, const struct protected_range *protected,
			int in_protected)
{
	const ElfW(Rela) *relocation = object->relocations[which].first;
	size_t count = relocation ? object->relocations[which].bytes / sizeof(*relocation) : 0;

	for (size_t i = 0; i < count; i++, relocation++) {
		uintptr_t address = object->base + relocation->r_offset;
		int is_protected = address >= protected->start && address < protected->end;

		if (is_protected != in_protected || !is_of_interest(work, object, relocation) || !is_in(object, address, PF_W))
			continue;
		if (work->restores)
			restore_slot((_Atomic(void *) *)address);
		else
			patch_slot(work, object, (uint32_t)ELF64_R_SYM(relocation->r_info), (_Atomic(void *) *)address);
	}
}

static int visit_tables(const struct work *work, const struct agent_object *object, const struct protected_range *protected,
			int in_protected)
{
	if (object->plt_kind == DT_RELA)
		visit_table(work, object, 0, protected, in_protected);
	visit_table(work, object, 1, protected, in_protected);
	return 0;
}

static int is_linker(const struct agent_object *object)
{
	return object->base == getauxval(AT_BASE) || strncmp(object->path, "linux-vdso", 10) == 0;
}

static int is_other_agent(const char *path)
{
	return strncmp(path_name(path), "libsonde", 8) == 0;
}

static int visit_object(struct dl_phdr_info *info, size_t size, void *context)
{
	struct work *work = context;
	struct agent_object object;
	struct protected_range protected;
	size_t length;

	(void)size;
	if (!agent_object_read(info, &object) || agent_object_is_ours(info) || agent_object_is_c_library(object.path) ||
	    is_linker(&object) || is_other_agent(object.path) || (work->only && !is_in(&object, work->only, 0)))
		return 0;
	protected = protected_part(&object, &work->maps);
	visit_tables(work, &object, &protected, 0);
	/* Writable still: the object is just being loaded, and the linker about to protect it. */
	if (!protected.is_read_only)
		return 0;
	length = protected.end - protected.start;
	if (raw_syscall(SYS_mprotect, (long)protected.start, (long)length, PROT_READ | PROT_WRITE, 0, 0, 0) < 0) {
		work->refused++;
		return 0;
	}
	visit_tables(work, &object, &protected, 1);
	raw_syscall(SYS_mprotect, (long)protected.start, (long)length, PROT_READ, 0, 0, 0);
	return 0;
}

static void visit_all(struct work *work)
{
	if (agent_maps_read(&work->maps) < 0)
		return;
	agent_walk_objects(visit_object, work);
	agent_maps_free(&work->maps);
}

static void patch(uint32_t modules)
{
	struct work work = { .modules = modules };

	if (!known.ours.symbols)
		agent_walk_objects(note_library, NULL);
	if (!known.ours.symbols || !known.c_library_count)
		return;
	/* Others may have been loaded since, and something else be wanted. */
	memset(known.symbols, 0, sizeof(known.symbols));
	visit_all(&work);
	if (work.refused && modules & RING_GATE_OSRT)
		agent_diagnose(DIAGNOSTIC_WARNING,
			       "Calls of some libraries are not recorded: the kernel does not allow changing their import tables.");
}

/* Attaching and the thread that looks for new objects; one of them may have been copied by a fork in the middle of it. */
static int take_turn(void)
{
	uint32_t self = (uint32_t)raw_getpid(), holder = 0;

	if (atomic_compare_exchange_strong(&known.holder, &holder, self))
		return 1;
	return holder != self && atomic_compare_exchange_strong(&known.holder, &holder, self);
}

static void wait_for_turn(void)
{
	const struct timespec pause = { .tv_nsec = 1000000 };

	while (!take_turn())
		raw_syscall(SYS_nanosleep, (long)&pause, 0, 0, 0, 0, 0);
}

void agent_got_patch(uint32_t modules)
{
	wait_for_turn();
	patch(modules);
	atomic_store(&known.holder, 0);
}

void agent_got_replace(const void *inside, const char *name, void *function)
{
	struct work work = { .only = (uintptr_t)inside, .name = name, .function = function };

	wait_for_turn();
	visit_all(&work);
	atomic_store(&known.holder, 0);
}

void agent_got_restore(void)
{
	struct work work = { .restores = 1 };

	wait_for_turn();
	visit_all(&work);
	atomic_store(&known.holder, 0);
}
