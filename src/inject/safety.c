/* Starting a thread allocates memory and takes locks of the C library and of the dynamic linker. A
 * thread that holds one of them would wait for itself. What it holds is not written anywhere, but
 * where it is can be seen: on its stack. */
#include "inject/safety.h"

#include <errno.h>
#include <fnmatch.h>
#include <linux/futex.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>

#include "base/array.h"
#include "base/macros.h"
#include "inject/dynsym.h"
#include "inject/restart.h"
#include "symbol/unwind/unwind.h"

#define FRAMES_LIMIT 4096u
#define STACK_LIMIT (1u << 20)
#define FUNCTIONS_LIMIT (1u << 20)

#ifndef PTRACE_GET_RSEQ_CONFIGURATION
#define PTRACE_GET_RSEQ_CONFIGURATION 0x420f
#endif

enum danger {
	DANGER_NONE,
	DANGER_UNLESS_WAITING, /* it has locks only while it does something */
	DANGER_ALWAYS
};

/* A function of the C library that has a name. */
struct function {
	uint64_t start, end;
	enum danger danger;
};

struct safety {
	struct image *image;
	struct unwinder *unwinder;
	struct function *functions; /* rising */
	size_t function_count, function_room;
	uint64_t *frames;
	/* What was seen of a thread. */
	const char *obvious; /* a reason that needs no walk */
	arch_thread_registers registers;
	uint8_t *stack;
	size_t stack_size;
};

/* What allocates, starts or ends threads and processes, loads libraries, or changes the user of all
 * threads; without the underscores and "libc_" that some of their names begin with; as patterns. */
/* clang-format off */
static const char *const dangerous[] = {
	"malloc*", "free", "cfree", "calloc", "realloc*", "memalign", "aligned_alloc", "posix_memalign",
	"valloc", "pvalloc", "mallinfo*", "mallopt", "freeres*", "morecore",
	"fork", "Fork", "vfork", "clone", "posix_spawn*", "execve*", "exit", "quick_exit",
	"dl*",
	"pthread_create", "pthread_exit", "pthread_detach", "thrd_create", "thrd_exit", "thrd_detach",
	"pthread_getattr_np", "pthread_setattr_default_np", "pthread_getattr_default_np",
	"set*id", "setgroups", "initgroups",
	"longjmp", "siglongjmp", "swapcontext", "setcontext", "makecontext",
};
/* clang-format on */
static const char *const dangerous_unless_waiting[] = { "pthread_*join*", "thrd_join" };

static int is_any_pattern(const char *name, const char *const *patterns, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (fnmatch(patterns[i], name, 0) == 0)
			return 1;
	return 0;
}

static enum danger danger_of(const char *name)
{
	name += strspn(name, "_");
	if (strncmp(name, "libc_", 5) == 0)
		name += 5;
	name += strspn(name, "_");
	if (is_any_pattern(name, dangerous, COUNT_OF(dangerous)))
		return DANGER_ALWAYS;
	if (is_any_pattern(name, dangerous_unless_waiting, COUNT_OF(dangerous_unless_waiting)))
		return DANGER_UNLESS_WAITING;
	return DANGER_NONE;
}

static void take_libc_function(void *context, const char *name, uint64_t start, uint64_t size)
{
	struct safety *s = context;

	if (!size || start + size < start || s->function_count >= FUNCTIONS_LIMIT)
		return;
	if (!ARRAY_ROOM(s->functions, s->function_count, s->function_room, 1))
		return;
	s->functions[s->function_count++] = (struct function){ start, start + size, danger_of(name) };
}

static int compare_function_starts(const void *a, const void *b)
{
	const struct function *left = a, *right = b;

	return left->start < right->start ? -1 : left->start > right->start;
}

/* Of several names for one function the worst counts. */
static void merge_functions(struct safety *s)
{
	size_t kept = 0;

	qsort(s->functions, s->function_count, sizeof(*s->functions), compare_function_starts);
	for (size_t i = 0; i < s->function_count; i++) {
		struct function *f = &s->functions[i], *last = kept ? &s->functions[kept - 1] : NULL;

		if (!last || last->start != f->start) {
			s->functions[kept++] = *f;
			continue;
		}
		last->end = f->end > last->end ? f->end : last->end;
		last->danger = f->danger > last->danger ? f->danger : last->danger;
	}
	s->function_count = kept;
}

static const struct function *find_function(const struct safety *s, uint64_t address)
{
	size_t low = 0, high = s->function_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (s->functions[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low && address < s->functions[low - 1].end ? &s->functions[low - 1] : NULL;
}

void safety_free(struct safety *s)
{
	if (!s)
		return;
	unwinder_free(s->unwinder);
	free(s->functions);
	free(s->stack);
	free(s->frames);
	free(s);
}

int safety_new(struct safety **ret, struct image *image, struct error *err)
{
	struct image_object *libc = image_object_of(image, OBJECT_LIBC);
	struct safety *s = calloc(1, sizeof(*s));
	struct dynsym symbols;

	if (!s)
		return error_set(err, ENOMEM, "out of memory");
	s->image = image;
	s->unwinder = unwinder_new();
	s->stack = malloc(STACK_LIMIT);
	s->frames = malloc(FRAMES_LIMIT * sizeof(*s->frames));
	if (!s->unwinder || !s->stack || !s->frames) {
		safety_free(s);
		return error_set(err, ENOMEM, "out of memory");
	}
	if (!libc || dynsym_open(&symbols, image, libc->base) < 0 || dynsym_each(&symbols, take_libc_function, s) < 0) {
		safety_free(s);
		return error_set(err, ENOEXEC, "no symbols of the C library are found in it");
	}
	merge_functions(s);
	*ret = s;
	return 0;
}

/* What the unwinder asks. */
static int find_code(void *context, uint64_t address, int sure, struct unwind_place *ret)
{
	struct image *image = context;
	const struct image_mapping *m = image_find(image, address);
	struct image_object *object;
	struct elf_file *file;
	uint64_t elf_address;

	if (!m || !m->executable)
		return -ENOENT;
	object = m->object >= 0 ? image->objects[m->object] : NULL;
	file = object ? image_file(image, object) : NULL;
	if (file && !object->cfi)
		object->cfi = cfi_new();
	ret->generation = image->generation;
	ret->row = NULL;
	ret->cfi = object ? object->cfi : NULL;
	if (file && object->cfi &&
	    elf_file_address(file, (object->path[0] == '[' ? 0 : m->offset) + (address - m->start), &elf_address) == 0)
		ret->row = cfi_read(object->cfi, file, elf_address);
	return 0;
}

/* Where a thread sleeps until something happens. */
struct waiting {
	int waits;
	int for_lock; /* or for another thread: it may hold something meanwhile */
};

/* The allocator and the linker sleep for locks only, with FUTEX_WAIT; condition variables,
 * semaphores and joining use FUTEX_WAIT_BITSET. */
static struct waiting is_waiting(const struct safety *s, const arch_thread_registers *r)
{
	long call = arch_thread_call(r);
	struct waiting w = { 0, 0 };
	struct image_object *object;

	if (call < 0)
		return w;
	w.waits = restart_pending(arch_thread_result(r));
	if (call == SYS_futex) {
		object = image_object_at(s->image, arch_thread_pc(r));
		w.for_lock = 1;
		if (object && object->role != OBJECT_PLAIN && (arch_thread_call_argument(r, 1) & FUTEX_CMD_MASK) != FUTEX_WAIT_BITSET)
			w.waits = 0;
	} else if (call == SYS_nanosleep || call == SYS_clock_nanosleep || call == SYS_sched_yield) {
		w.for_lock = 1;
	}
	return w;
}

/* A section that the kernel lets begin anew when the thread was interrupted in it: it must not be
 * interrupted by us unseen. */
static int in_restartable_section(const struct safety *s, pid_t thread, uint64_t pc)
{
	struct {
		uint64_t area;
		uint32_t size, signature, flags, padding;
	} configuration = { 0 };
	struct {
		uint32_t version, flags;
		uint64_t start, length, abort;
	} section;
	const size_t size = sizeof(configuration);
	uint64_t current = 0;

	if (ptrace(PTRACE_GET_RSEQ_CONFIGURATION, thread, size, &configuration) < 0 || !configuration.area)
		return 0;
	if (image_read(s->image, configuration.area + 8, &current, sizeof(current)) < 0 || !current)
		return 0;
	if (image_read(s->image, current, &section, sizeof(section)) < 0)
		return 1;
	return pc - section.start < section.length;
}

/* Its own stack, as the kernel or the C library made it: not one for signals, not a coroutine's,
 * whose size nobody knows. */
static const struct image_mapping *own_stack(const struct safety *s, const arch_thread_registers *r)
{
	uint64_t stack = arch_thread_stack(r), local = arch_thread_local(r);
	const struct image_mapping *m = image_find(s->image, stack);

	if (!m || !m->writable || !m->readable)
		return NULL;
	return m->stack || (local > stack && local < m->end) ? m : NULL;
}

static uint32_t walk(struct safety *s, uint8_t *ret_cut)
{
	struct unwind_source source = { s->image, s->image->generation, find_code };
	struct stack_copy copy = { .bytes = s->stack, .size = s->stack_size };

	arch_thread_dwarf(&s->registers, copy.registers);
	return unwind(s->unwinder, &source, &copy, s->frames, FRAMES_LIMIT, ret_cut);
}

/* The code of frame i: a return address is that of the instruction behind a call. */
static uint64_t find_frame_code(const struct safety *s, uint32_t i)
{
	return i ? s->frames[i] - 1 : s->frames[0];
}

static int in_libc(const struct safety *s, uint32_t i)
{
	struct image_object *object = image_object_at(s->image, find_frame_code(s, i));

	return object && object->role == OBJECT_LIBC;
}

/* Consecutive frames of the C library, from `from` on; returns how many. Those without a name may
 * be anything: they are harmless where every thread begins (the first one in _start, which is the
 * program's), or when the thread waits. */
static uint32_t check_libc(const struct safety *s, uint32_t from, uint32_t count, struct waiting w, uint8_t cut, const char **why)
{
	int waits = from == 0 && w.waits, unknown = 0;
	uint32_t end = from;

	for (; end < count && in_libc(s, end); end++) {
		const struct function *f = find_function(s, find_frame_code(s, end));

		unknown |= f == NULL;
		if (f && (f->danger == DANGER_ALWAYS || (f->danger && !waits)))
			*why = "allocates, starts something or loads a library";
	}
	if (unknown && !waits && !(from && !cut && end + 1 >= count))
		*why = "is somewhere in the C library";
	return end - from;
}

static const char *check_frames(const struct safety *s, uint32_t count, struct waiting w, uint8_t cut)
{
	const char *why = NULL;

	for (uint32_t i = 0; i < count && !why;) {
		struct image_object *object = image_object_at(s->image, find_frame_code(s, i));

		if (object && object->role == OBJECT_LIBC) {
			i += check_libc(s, i, count, w, cut, &why);
			continue;
		}
		if (object && object->role == OBJECT_LINKER)
			why = "is in the dynamic linker";
		/* A program with an allocator of its own: nothing is known of its parts, but
		 * allocators do not wait for events. */
		if (object && object->role == OBJECT_ALLOCATOR && !(object->program && w.waits && !w.for_lock))
			why = "is in an allocator";
		i++;
	}
	return why;
}

void safety_look(struct safety *s, pid_t thread, const arch_thread_registers *r, size_t frame_room)
{
	const struct image_mapping *m = own_stack(s, r);
	uint64_t size = m ? m->end - arch_thread_stack(r) : 0;

	s->registers = *r;
	s->stack_size = size < STACK_LIMIT ? size : STACK_LIMIT;
	s->obvious = NULL;
	if (!arch_thread_native(r))
		s->obvious = "runs 32-bit code";
	else if (!m || arch_thread_stack(r) - m->start < frame_room)
		s->obvious = "is not on its own stack, or deep in it";
	else if (in_restartable_section(s, thread, arch_thread_pc(r)))
		s->obvious = "is in a restartable sequence";
	else if (image_read(s->image, arch_thread_stack(r), s->stack, s->stack_size) < 0)
		s->obvious = "has a stack that cannot be read";
}

const char *safety_judge(struct safety *s)
{
	struct waiting w = is_waiting(s, &s->registers);
	uint32_t count;
	uint8_t cut;

	if (s->obvious)
		return s->obvious;
	count = walk(s, &cut);
	if (!count || (cut && (!w.waits || (count < 2 && w.for_lock))))
		return "has a stack that cannot be read to its end";
	return check_frames(s, count, w, cut);
}
