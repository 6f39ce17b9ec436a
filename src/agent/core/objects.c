/* Which ELF objects are loaded where: what unwinding a copied stack needs to know, and cannot ask
 * of a process that has ended. */
#include <elf.h>
#include <link.h>
#include <stddef.h>
#include <string.h>

#include "agent/core/state.h"
#include "agent/core/syscalls.h"

#define PATH_ROOM 1024
#define BUILD_ID_ROOM 64

struct reporting {
	uint64_t time;
	unsigned long long loads; /* objects ever loaded, as told by the first one */
	int unchanged;
};

/* Notes need not be in memory: some tools add them to the file only. */
static int is_loaded(const struct dl_phdr_info *info, const ElfW(Phdr) *part)
{
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &info->dlpi_phdr[i];

		if (segment->p_type == PT_LOAD && segment->p_flags & PF_R && part->p_vaddr >= segment->p_vaddr &&
		    part->p_filesz <= segment->p_filesz && part->p_vaddr - segment->p_vaddr <= segment->p_filesz - part->p_filesz)
			return 1;
	}
	return 0;
}

/* Notes are a sequence of (name size, size, type, name, bytes), each on 4 bytes. */
static const uint8_t *find_build_id(const struct dl_phdr_info *info, uint32_t *ret_size)
{
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
		const uint8_t *notes = (const uint8_t *)(info->dlpi_addr + segment->p_vaddr);

		if (segment->p_type != PT_NOTE || !is_loaded(info, segment))
			continue;
		for (size_t at = 0; at + sizeof(ElfW(Nhdr)) <= segment->p_filesz;) {
			const ElfW(Nhdr) *note = (const void *)(notes + at);
			size_t name = at + sizeof(*note);
			size_t body = name + ((note->n_namesz + 3) & ~(size_t)3);

			if (body + note->n_descsz > segment->p_filesz)
				break;
			if (note->n_type == NT_GNU_BUILD_ID && note->n_namesz == 4 && memcmp(notes + name, "GNU", 4) == 0 &&
			    note->n_descsz <= BUILD_ID_ROOM) {
				*ret_size = note->n_descsz;
				return notes + body;
			}
			at = body + ((note->n_descsz + 3) & ~(size_t)3);
		}
	}
	*ret_size = 0;
	return NULL;
}

static size_t copy_object_path(const struct dl_phdr_info *info, char *path)
{
	const char *name = info->dlpi_name;
	long length;

	if (name && strncmp(name, "linux-vdso", 10) == 0)
		name = "[vdso]";
	if (!name || !*name) {
		length = raw_syscall(SYS_readlink, (long)"/proc/self/exe", (long)path, PATH_ROOM, 0, 0, 0);
		return length > 0 ? (size_t)length : 0;
	}
	length = (long)strnlen(name, PATH_ROOM);
	memcpy(path, name, (size_t)length);
	return (size_t)length;
}

/* Whole pages, as they are mapped. */
static void report_segment(const struct dl_phdr_info *info, const ElfW(Phdr) *segment, uint64_t time)
{
	char path[PATH_ROOM];
	size_t path_size = copy_object_path(info, path);
	uint32_t build_id_size;
	const uint8_t *build_id = find_build_id(info, &build_id_size);
	uint64_t start = info->dlpi_addr + segment->p_vaddr, skew = start & 4095;
	uint32_t size = (uint32_t)(sizeof(struct record_define) + sizeof(struct record_module) + build_id_size + path_size);
	struct record_define *define = agent_begin_definition(size);
	struct record_module *module;

	if (!define)
		return;
	define->time = time;
	define->id = define->extra = 0;
	module = (struct record_module *)(define + 1);
	*module = (struct record_module){ .address = start - skew,
					  .size = (skew + segment->p_memsz + 4095) & ~(uint64_t)4095,
					  .offset = segment->p_offset - (segment->p_offset & 4095),
					  .build_id_size = build_id_size };
	if (build_id_size)
		memcpy(module + 1, build_id, build_id_size);
	memcpy((uint8_t *)(module + 1) + build_id_size, path, path_size);
	agent_end(define, record_head(RECORD_DEFINE, DEFINE_MODULE, size, 0, 0), size);
}

static _Atomic unsigned long long reported; /* of telling.loads */

static int report_object(struct dl_phdr_info *info, size_t size, void *context)
{
	struct reporting *reporting = context;

	if (size < offsetof(struct dl_phdr_info, dlpi_subs))
		return 1;
	if (!reporting->loads) {
		reporting->loads = info->dlpi_adds;
		reporting->unchanged = info->dlpi_adds == atomic_load_explicit(&reported, memory_order_relaxed);
	}
	if (reporting->unchanged)
		return 1;
	for (int i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_LOAD && info->dlpi_phdr[i].p_flags & PF_X)
			report_segment(info, &info->dlpi_phdr[i], reporting->time);
	return 0;
}

/* Walking the list takes a lock of the loader's, which a forked child finds as it was: ours must not be held
 * then, and a child never asks for it (it has its parent's objects, and the recorder reads /proc). */
static _Atomic uint32_t walking, forking;

#define FORK_PATIENCE 10000

void agent_objects_before_fork(void)
{
	atomic_fetch_add(&forking, 1);
	for (int i = 0; i < FORK_PATIENCE && atomic_load(&walking); i++)
		raw_syscall(SYS_sched_yield, 0, 0, 0, 0, 0, 0);
}

void agent_objects_after_fork(void)
{
	atomic_fetch_sub(&forking, 1);
}

void agent_objects_in_child(void)
{
	atomic_store(&forking, UINT32_MAX / 2);
}

int agent_walk_objects(int (*visit)(struct dl_phdr_info *, size_t, void *), void *context)
{
	int may;

	atomic_fetch_add(&walking, 1);
	may = !atomic_load(&forking);
	if (may)
		dl_iterate_phdr(visit, context);
	atomic_fetch_sub(&walking, 1);
	return may;
}

void agent_report_objects(uint64_t time)
{
	struct reporting reporting = { .time = time };

	if (agent_walk_objects(report_object, &reporting))
		atomic_store_explicit(&reported, reporting.loads, memory_order_relaxed);
}

/* Whoever is attached to has just loaded something: a child, too, found the loader's lock free. */
void agent_objects_forget(void)
{
	atomic_store_explicit(&reported, 0, memory_order_relaxed);
	if (atomic_load(&forking) >= UINT32_MAX / 4)
		atomic_store(&forking, 0);
}
