/* Functions of Python that led to a launch, of the thread that makes it.
 *
 * Programs let go of the interpreter's lock before they launch (PyTorch does), so its functions for frames must not be called; and waiting for the lock
 * could be for ever. But the thread's own frames stand still while it is here, with all that they hold: they are read where they lie. Where things are
 * is known for CPython 3.9 to 3.13; each object's type is looked at before anything in it is believed, and all is copied by the kernel, which does not
 * mind what is not there. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

#include "agent/core/syscalls.h"
#include "agent/cuda/kernel/kernel.h"
#include "base/macros.h"
#include "base/text/utf8.h"

#define MOST_FRAMES 256
#define FRAME_BYTES 112u
#define CODE_BYTES 136u
#define TEXT_HEAD 40u
#define OWNED_BY_C 3 /* a frame that stands for a call from C */
/* Of every object, and of those with a size. */
#define OBJECT_TYPE 8u
#define OBJECT_SIZE 16u
#define TEXT_LENGTH 16u
#define TEXT_STATE 32u

#pragma weak dlsym

/* Offsets. */
struct layout {
	uint8_t minor;       /* of 3.x */
	uint8_t top;         /* in the thread: the innermost frame */
	uint8_t is_indirect; /* or something in which it is at `in_it` */
	uint8_t in_it;
	uint8_t frame_size;
	uint8_t previous, code, instruction;
	uint8_t unit;         /* the instruction is a number, in so many bytes; 0: an address */
	uint8_t owner;        /* 0: frames have none */
	uint8_t file, name;   /* in the code */
	uint8_t start;        /* instructions */
	uint8_t narrow, wide; /* characters of a text: of one byte each in ASCII, of others */
};

static const struct layout layouts[] = {
	{ 9, .top = 24, .frame_size = 108, .previous = 24, .code = 32, .instruction = 104, .unit = 1, .file = 104, .name = 112,
	  .narrow = 48, .wide = 72 },
	{ 10, .top = 24, .frame_size = 100, .previous = 24, .code = 32, .instruction = 96, .unit = 2, .file = 104, .name = 112,
	  .narrow = 48, .wide = 72 },
	{ 11, .top = 56, .is_indirect = 1, .in_it = 8, .frame_size = 72, .previous = 48, .code = 32, .instruction = 56, .owner = 69,
	  .file = 112, .name = 128, .start = 184, .narrow = 48, .wide = 72 },
	{ 12, .top = 56, .is_indirect = 1, .in_it = 0, .frame_size = 72, .previous = 8, .code = 0, .instruction = 56, .owner = 70,
	  .file = 112, .name = 128, .start = 192, .narrow = 40, .wide = 56 },
	{ 13, .top = 72, .frame_size = 72, .previous = 8, .code = 0, .instruction = 56, .owner = 70, .file = 112, .name = 128, .start = 200,
	  .narrow = 40, .wide = 56 },
};

/* Found once; only while alone. None of these functions takes the lock, or needs it. */
static struct {
	int was_looked_for;
	const struct layout *layout; /* NULL: there is no Python, or another one */
	int (*is_initialized)(void);
	void *(*this_thread)(void);
	int (*line_of)(void *code, int offset);
	const void *code_type, *text_type;
} python;

static void find_layout(const char *version)
{
	unsigned minor;

	/* Objects have another head where there is no lock at all. */
	if (!version || strncmp(version, "3.", 2) != 0 || strstr(version, "free-threading"))
		return;
	minor = (unsigned)strtoul(version + 2, NULL, 10);
	for (size_t i = 0; i < COUNT_OF(layouts); i++)
		if (layouts[i].minor == minor)
			python.layout = &layouts[i];
}

static int find_python(void)
{
	const char *(*get_version)(void);

	if (python.was_looked_for || !dlsym)
		return python.layout != NULL;
	python.was_looked_for = 1;
	get_version = (const char *(*)(void))dlsym(RTLD_DEFAULT, "Py_GetVersion");
	python.is_initialized = (int (*)(void))dlsym(RTLD_DEFAULT, "Py_IsInitialized");
	python.this_thread = (void *(*)(void))dlsym(RTLD_DEFAULT, "PyGILState_GetThisThreadState");
	python.line_of = (int (*)(void *, int))dlsym(RTLD_DEFAULT, "PyCode_Addr2Line");
	python.code_type = dlsym(RTLD_DEFAULT, "PyCode_Type");
	python.text_type = dlsym(RTLD_DEFAULT, "PyUnicode_Type");
	if (get_version && python.is_initialized && python.this_thread && python.line_of && python.code_type && python.text_type)
		find_layout(get_version());
	return python.layout != NULL;
}

/* 0: all of it was there. */
static int copy_python_bytes(void *to, const void *from, size_t size)
{
	struct iovec target = { to, size }, source = { (void *)from, size };
	long copied = raw_syscall(SYS_process_vm_readv, raw_getpid(), (long)&target, 1, (long)&source, 1, 0);

	if (copied == -EPERM || copied == -ENOSYS) {
		/* Some containers forbid that call. No copy is larger than a page: it lies in two at most. */
		if (!raw_readable(from) || !raw_readable((const char *)from + size - 1))
			return -1;
		memcpy(to, from, size);
		return 0;
	}
	return copied == (long)size ? 0 : -1;
}

static const char *pointer_at(const uint8_t *bytes, size_t offset)
{
	const char *value;

	memcpy(&value, bytes + offset, sizeof(value));
	return value;
}

static int copy_pointer(const char **ret, const char *from)
{
	return copy_python_bytes(ret, from, sizeof(*ret));
}

/* Characters of `kind` bytes each, as far as there is room; of what has no place in a text, nothing is left. */
static void put_characters(char *ret, size_t room, const uint8_t *bytes, size_t length, unsigned kind)
{
	size_t used = 0, put = 1;
	uint16_t two;
	uint32_t c;

	for (size_t i = 0; i < length && put; i++) {
		if (kind == 1) {
			c = bytes[i];
		} else if (kind == 2) {
			memcpy(&two, bytes + 2 * i, sizeof(two));
			c = two;
		} else {
			memcpy(&c, bytes + 4 * i, sizeof(c));
		}
		if (c < ' ' || (c >= 0xd800 && c < 0xe000) || c > 0x10ffff)
			continue;
		put = utf8_size(c) < room - used ? utf8_put(ret + used, c) : 0;
		used += put;
	}
	ret[used] = '\0';
}

/* "" where it is no text that could be read. */
static void read_python_text(char *ret, size_t room, const char *text)
{
	uint8_t head[TEXT_HEAD], bytes[KERNEL_PYTHON_TEXT];
	uint32_t state;
	uint64_t length;
	unsigned kind;

	ret[0] = '\0';
	if (!text || copy_python_bytes(head, text, sizeof(head)) < 0 || pointer_at(head, OBJECT_TYPE) != python.text_type)
		return;
	memcpy(&length, head + TEXT_LENGTH, sizeof(length));
	memcpy(&state, head + TEXT_STATE, sizeof(state));
	kind = state >> 2 & 7;
	/* Only those whose characters lie behind the head. */
	if (!(state >> 5 & 1) || (kind != 1 && kind != 2 && kind != 4) || !length)
		return;
	length = length < sizeof(bytes) / kind ? length : sizeof(bytes) / kind;
	if (copy_python_bytes(bytes, text + (state >> 6 & 1 ? python.layout->narrow : python.layout->wide), length * kind) == 0)
		put_characters(ret, room, bytes, length, kind);
}

static int line_of(const uint8_t *frame, const uint8_t *code_bytes, const char *code)
{
	const struct layout *l = python.layout;
	int64_t size, offset;
	int number;

	if (l->unit) {
		memcpy(&number, frame + l->instruction, sizeof(number));
		offset = (int64_t)number * l->unit;
		return python.line_of((void *)code, number < 0 || offset > INT32_MAX ? -1 : (int)offset);
	}
	memcpy(&size, code_bytes + OBJECT_SIZE, sizeof(size));
	offset = pointer_at(frame, l->instruction) - (code + l->start);
	/* -1 is the line where the function begins. */
	return python.line_of((void *)code, offset < 0 || size > INT32_MAX / 2 || offset >= 2 * size ? -1 : (int)offset);
}

/* 0 where it is no function's. */
static int read_frame(struct kernel_python_frame *ret, const uint8_t *frame)
{
	const struct layout *l = python.layout;
	const char *code = pointer_at(frame, l->code);
	uint8_t bytes[CODE_BYTES];

	if (l->owner && frame[l->owner] == OWNED_BY_C)
		return 0;
	if (!code || copy_python_bytes(bytes, code, sizeof(bytes)) < 0 || pointer_at(bytes, OBJECT_TYPE) != python.code_type)
		return 0;
	read_python_text(ret->file, sizeof(ret->file), pointer_at(bytes, l->file));
	read_python_text(ret->function, sizeof(ret->function), pointer_at(bytes, l->name));
	ret->line = line_of(frame, bytes, code);
	return 1;
}

int kernel_python_each(int (*take)(void *context, const struct kernel_python_frame *frame), void *context)
{
	const struct layout *l;
	struct kernel_python_frame found;
	const char *thread, *at = NULL;
	uint8_t frame[FRAME_BYTES];
	int r = 0;

	if (!find_python() || !python.is_initialized() || !(thread = python.this_thread()))
		return 0;
	l = python.layout;
	if (copy_pointer(&at, thread + l->top) < 0 || (l->is_indirect && at && copy_pointer(&at, at + l->in_it) < 0))
		return 0;
	for (int i = 0; i < MOST_FRAMES && at && !r; i++) {
		if (copy_python_bytes(frame, at, l->frame_size) < 0)
			break;
		if (read_frame(&found, frame))
			r = take(context, &found);
		at = pointer_at(frame, l->previous);
	}
	return r;
}
