#include "record/perf/sched_syscalls.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

#include "base/array.h"
#include "symbol/kallsyms.h"

/* No more places of the kernel's code than this call schedule(). */
#define MAX_PLACES 65536
#define MAX_STACKS (1u << 20) /* words */

static int is_named_symbol(const char *symbol, const char *const *names)
{
	for (; *names; names++)
		if (strcmp(symbol, *names) == 0)
			return 1;
	return 0;
}

static const char *without_prefix(const char *symbol, const char *const *prefixes)
{
	for (; *prefixes; prefixes++)
		if (strncmp(symbol, *prefixes, strlen(*prefixes)) == 0 && symbol[strlen(*prefixes)])
			return symbol + strlen(*prefixes);
	return NULL;
}

/* Where the wrapper of a system call ends in a jump, only what it calls is on the stack: these
 * are found where the entry code called them. */
static const char *inner_name(const char *symbol)
{
	static const char *const prefixes[] = { "ksys_", "kernel_", "__sys_", "do_sys_", "do_", NULL };
	const char *name = without_prefix(symbol, prefixes);

	return name ? name : symbol;
}

enum kernel_place kernel_place(const char *symbol, char *name, size_t size)
{
	/* clang-format off */
	static const char *const entries[] = {
		"do_syscall_64", "x64_sys_call", "ia32_sys_call", "__do_fast_syscall_32", "do_int80_emulation",
		"int80_emulation", "do_SYSENTER_32", "invoke_syscall", "el0_svc_common", NULL
	};
	/* clang-format on */
	static const char *const faults[] = {
		"asm_exc_page_fault", "exc_page_fault", "do_user_addr_fault", "el0_da", "el0_ia", "do_page_fault", NULL
	};
	static const char *const exits[] = { "do_exit", "do_group_exit", NULL };
	/* clang-format off */
	static const char *const prefixes[] = {
		"__x64_sys_", "__ia32_compat_sys_", "__ia32_sys_", "__x32_compat_sys_", "__arm64_compat_sys_",
		"__arm64_sys_", "__se_compat_sys_", "__se_sys_", "__do_compat_sys_", "__do_sys_", NULL
	};
	/* clang-format on */
	char plain[128];
	const char *call;

	/* The compiler marks the parts and variants of a function behind a dot. */
	snprintf(plain, sizeof(plain), "%.*s", (int)strcspn(symbol, "."), symbol);
	call = without_prefix(plain, prefixes);
	snprintf(name, size, "%s", call ? call : inner_name(plain));
	if (is_named_symbol(plain, entries))
		return PLACE_ENTRY;
	if (is_named_symbol(plain, faults))
		return PLACE_FAULT;
	if (is_named_symbol(plain, exits))
		return PLACE_EXIT;
	return call ? PLACE_SYSCALL : PLACE_NOTHING;
}

/* A return address belongs to the call before it. */
static enum kernel_place look_up_kernel_address(const struct sched_syscalls *s, uint64_t pc, char *name, size_t size)
{
	struct kernel_symbol symbol;

	name[0] = '\0';
	return kallsyms_find(s->symbols, pc - 1, &symbol) < 0 ? PLACE_NOTHING : kernel_place(symbol.name, name, size);
}

static enum kernel_place classify_kernel_address(struct sched_syscalls *s, uint64_t pc)
{
	uint64_t known = idmap_get(&s->places, pc);
	char name[128];

	if (known != IDMAP_NONE)
		return (enum kernel_place)known;
	known = look_up_kernel_address(s, pc, name, sizeof(name));
	if (s->places.count < MAX_PLACES)
		idmap_put(&s->places, pc, known);
	return (enum kernel_place)known;
}

static uint64_t find_syscall_name(struct sched_syscalls *s, uint64_t pc)
{
	uint64_t known = idmap_get(&s->names, pc);
	char name[128];

	if (known != IDMAP_NONE)
		return known;
	switch (look_up_kernel_address(s, pc, name, sizeof(name))) {
	case PLACE_FAULT: snprintf(name, sizeof(name), "page fault"); break;
	case PLACE_EXIT: snprintf(name, sizeof(name), "exit"); break;
	default: break;
	}
	known = name[0] ? s->intern(s->context, name) : 0;
	if (s->names.count < MAX_PLACES)
		idmap_put(&s->names, pc, known);
	return known;
}

static void load_sched_symbols(struct sched_syscalls *s)
{
	struct error ignored;

	if (kallsyms_load(&s->symbols, s->path ? s->path : KALLSYMS_PATH, &ignored) < 0)
		s->symbols = NULL;
}

static void *loader_main(void *argument)
{
	struct sched_syscalls *s = argument;

	prctl(PR_SET_NAME, "sonde-names");
	load_sched_symbols(s);
	atomic_store(&s->loaded, 1);
	return NULL;
}

void sched_syscalls_start(struct sched_syscalls *s)
{
	s->loading = pthread_create(&s->loader, NULL, loader_main, s) == 0;
}

int sched_syscalls_ready(const struct sched_syscalls *s)
{
	return !s->loading || atomic_load(&s->loaded);
}

void sched_syscalls_wait(struct sched_syscalls *s)
{
	if (!s->loading)
		return;
	pthread_join(s->loader, NULL);
	s->loading = 0;
	s->tried = 1;
}

static int has_symbols(struct sched_syscalls *s)
{
	if (!sched_syscalls_ready(s))
		return 0;
	sched_syscalls_wait(s);
	if (!s->tried)
		load_sched_symbols(s);
	s->tried = 1;
	return s->symbols != NULL;
}

static uint64_t hash_sched_frames(const uint64_t *frames, size_t count)
{
	uint64_t hash = count;

	for (size_t i = 0; i < count; i++) {
		hash = (hash ^ frames[i]) * 0x9e3779b97f4a7c15u;
		hash ^= hash >> 32;
	}
	return hash;
}

static int keep_stack(struct sched_syscalls *s, const uint64_t *frames, size_t count)
{
	if (count >= MAX_STACKS - s->stacks_used || !ARRAY_ROOM(s->stacks, s->stacks_used, s->stacks_cap, count + 1))
		return -1;
	s->stacks[s->stacks_used] = count;
	memcpy(s->stacks + s->stacks_used + 1, frames, count * sizeof(*frames));
	s->stacks_used += count + 1;
	return 0;
}

static uint64_t ask_later(struct sched_syscalls *s, const uint64_t *frames, size_t count)
{
	uint64_t hash = hash_sched_frames(frames, count), place = idmap_get(&s->known_stacks, hash);

	if (!count)
		return 0;
	if (place != IDMAP_NONE && s->stacks[place] == count && memcmp(s->stacks + place + 1, frames, count * sizeof(*frames)) == 0)
		return SCHED_UNNAMED | place;
	place = s->stacks_used;
	if (keep_stack(s, frames, count) < 0)
		return 0;
	idmap_put(&s->known_stacks, hash, place);
	return SCHED_UNNAMED | place;
}

uint64_t sched_syscalls_name(struct sched_syscalls *s, uint64_t later)
{
	uint64_t place = later & ~SCHED_UNNAMED;

	s->later = 0;
	return place < s->stacks_used ? sched_syscalls_find(s, s->stacks + place + 1, s->stacks[place]) : 0;
}

uint64_t sched_syscalls_find(struct sched_syscalls *s, const uint64_t *frames, size_t count)
{
	int inside = 0;

	if (s->later)
		return ask_later(s, frames, count);
	if (!has_symbols(s))
		return 0;
	/* From the outside in: the first that says something, else what the entry code called. */
	for (size_t i = count; i-- > 0;) {
		switch (classify_kernel_address(s, frames[i])) {
		case PLACE_ENTRY: inside = 1; break;
		case PLACE_NOTHING:
			if (inside)
				return find_syscall_name(s, frames[i]);
			break;
		default: return find_syscall_name(s, frames[i]);
		}
	}
	return 0;
}

void sched_syscalls_release(struct sched_syscalls *s)
{
	sched_syscalls_wait(s);
	kallsyms_free(s->symbols);
	idmap_release(&s->places);
	idmap_release(&s->names);
	idmap_release(&s->known_stacks);
	free(s->stacks);
	s->stacks = NULL;
	s->stacks_used = s->stacks_cap = 0;
	s->symbols = NULL;
	s->tried = 0;
}
