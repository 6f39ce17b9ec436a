/* Which file a descriptor is, with --osrt-file-access: each opening has a number of its own. */
#include <stdio.h>
#include <string.h>

#include "agent/core/syscalls.h"
#include "agent/osrt/osrt.h"

#define PAGE_ENTRIES 4096
#define PAGES 256      /* a million descriptors */
#define PATH_ROOM 2048 /* on a stack that may be small; longer ones are cut */

enum define_file { FILE_FOUND_OPEN = 0, FILE_OPENED = 1, FILE_CLOSED = 2 };

static _Atomic(uint32_t) next_file;
static _Atomic(_Atomic uint32_t *) pages[PAGES]; /* by descriptor: id of the file; 0 = not known */

/* A forked child's files have the same descriptors, but are told of as its own; so are those of another recording. */
static void reset_known_files(void)
{
	_Atomic uint32_t *page;

	if (agent_likely(atomic_load_explicit(&agent_pages.files_known, memory_order_relaxed)))
		return;
	for (unsigned i = 0; i < PAGES; i++) {
		page = atomic_load_explicit(&pages[i], memory_order_acquire);
		for (unsigned j = 0; page && j < PAGE_ENTRIES; j++)
			if (atomic_load_explicit(&page[j], memory_order_relaxed))
				atomic_store_explicit(&page[j], 0, memory_order_relaxed);
	}
	atomic_store_explicit(&agent_pages.files_known, 1, memory_order_relaxed);
}

static _Atomic uint32_t *entry_of(long fd)
{
	_Atomic uint32_t *page, *none = NULL;

	if (fd < 0 || fd >= (long)PAGES * PAGE_ENTRIES)
		return NULL;
	reset_known_files();
	page = atomic_load_explicit(&pages[fd / PAGE_ENTRIES], memory_order_acquire);
	if (!page) {
		page = agent_permanent(PAGE_ENTRIES * sizeof(*page));
		if (page && !atomic_compare_exchange_strong(&pages[fd / PAGE_ENTRIES], &none, page))
			page = none;
	}
	return page ? &page[fd % PAGE_ENTRIES] : NULL;
}

/* "/proc/self/fd/N", without stdio. */
static long read_path(long fd, char *path)
{
	char link[40] = "/proc/self/fd/", digits[20];
	size_t n = 0, at = strlen(link);

	do
		digits[n++] = (char)('0' + fd % 10);
	while ((fd /= 10) > 0);
	while (n)
		link[at++] = digits[--n];
	return raw_syscall(SYS_readlink, (long)link, (long)path, PATH_ROOM, 0, 0, 0);
}

static void define(uint64_t time, uint32_t id, enum define_file what, const char *path, long length)
{
	size_t size = sizeof(struct record_define) + (length > 0 ? (size_t)length : 0);
	struct record_define *record = agent_begin_definition((uint32_t)size);

	if (!record)
		return;
	record->time = time;
	record->id = id;
	record->extra = what;
	if (length > 0)
		memcpy(record + 1, path, (size_t)length);
	agent_end(record, record_head(RECORD_DEFINE, DEFINE_FILE, (unsigned)size, 0, 0), (uint32_t)size);
}

/* Gives the descriptor a new file. `name` is used where the kernel does not tell. */
static uint32_t new_file(uint64_t time, long fd, enum define_file what, const char *name)
{
	_Atomic uint32_t *entry = entry_of(fd);
	uint32_t id, none = 0;
	char path[PATH_ROOM];
	long length;

	if (!entry)
		return 0;
	length = read_path(fd, path);
	if (length <= 0 && !name)
		return 0;
	id = atomic_fetch_add_explicit(&next_file, 1, memory_order_relaxed) + 1;
	if (what == FILE_OPENED)
		atomic_store_explicit(entry, id, memory_order_release);
	else if (!atomic_compare_exchange_strong(entry, &none, id))
		return none; /* another thread found it at the same time */
	if (length <= 0) {
		length = (long)strnlen(name, PATH_ROOM - 1);
		memcpy(path, name, (size_t)length);
	}
	define(time, id, what, path, length);
	return id;
}

static uint32_t find_file_id(uint64_t time, long fd)
{
	_Atomic uint32_t *entry = entry_of(fd);
	uint32_t id = entry ? atomic_load_explicit(entry, memory_order_acquire) : 0;

	return id || !entry ? id : new_file(time, fd, FILE_FOUND_OPEN, NULL);
}

static uint32_t forget_descriptor(long fd)
{
	_Atomic uint32_t *entry = entry_of(fd);

	return entry ? atomic_exchange(entry, 0) : 0;
}

static long descriptor_of(long stream)
{
	return stream ? ((const FILE *)stream)->_fileno : -1;
}

void osrt_file_before(struct osrt_frame *frame, unsigned role, const long *arguments)
{
	long fd = role == OSRT_FILE_CLOSE         ? (int)arguments[0] :
		  role == OSRT_FILE_STREAM_CLOSE  ? descriptor_of(arguments[0]) :
		  role == OSRT_FILE_STREAM_REOPEN ? descriptor_of(arguments[2]) :
						    -1;

	if (role == OSRT_FILE_DUP2) {
		if ((int)arguments[0] != (int)arguments[1])
			frame->file = forget_descriptor((int)arguments[1]);
	} else if (fd >= 0) {
		frame->file = find_file_id(frame->start, fd);
		forget_descriptor(fd);
	}
}

static uint32_t share(const struct osrt_frame *frame, uint64_t time, const long *arguments, int64_t result)
{
	uint32_t id = find_file_id(time, (int)arguments[0]);
	_Atomic uint32_t *entry = entry_of(result);

	if (frame->file && result < 0) /* nothing was closed */
		atomic_store(entry_of((int)arguments[1]), frame->file);
	else if (frame->file)
		define(time, frame->file, FILE_CLOSED, NULL, 0);
	if (!entry || !id || result == (int)arguments[0])
		return id;
	atomic_store(entry, id);
	define(time, id, FILE_OPENED, NULL, 0); /* once more: closed as often */
	return id;
}

static uint32_t close_file(const struct osrt_frame *frame, uint64_t time)
{
	if (frame->file)
		define(time, frame->file, FILE_CLOSED, NULL, 0);
	return frame->file;
}

static uint32_t open_stream(uint64_t time, int64_t result, const char *name)
{
	return result ? new_file(time, descriptor_of(result), FILE_OPENED, name) : 0;
}

/* Those that open, close or share. */
static int changes_files(const struct osrt_frame *frame, uint64_t time, int64_t result, unsigned role, const long *arguments, uint64_t *ret)
{
	switch (role) {
	case OSRT_FILE_OPEN: *ret = result >= 0 ? new_file(time, result, FILE_OPENED, "") : 0; return 1;
	case OSRT_FILE_STREAM_OPEN: *ret = open_stream(time, result, ""); return 1;
	case OSRT_FILE_STREAM_REOPEN:
		close_file(frame, time);
		*ret = open_stream(time, result, "");
		return 1;
	case OSRT_FILE_CLOSE:
	case OSRT_FILE_STREAM_CLOSE: *ret = close_file(frame, time); return 1;
	case OSRT_FILE_DUP:
	case OSRT_FILE_DUP2: *ret = share(frame, time, arguments, result); return 1;
	default: return 0;
	}
}

/* Where the file is among the arguments of those that use one. */
static long descriptor_among(unsigned role, const long *arguments)
{
	switch (role) {
	case OSRT_FILE_FD:
	case OSRT_FILE_FD_BYTES: return (int)arguments[0];
	case OSRT_FILE_FD2_BYTES: return (int)arguments[1];
	case OSRT_FILE_STREAM2:
	case OSRT_FILE_TEXT2: return descriptor_of(arguments[1]);
	case OSRT_FILE_LINE3:
	case OSRT_FILE_STREAM3_BYTES: return descriptor_of(arguments[2]);
	case OSRT_FILE_ITEMS4:
	case OSRT_FILE_LINE4:
	case OSRT_FILE_STREAM4_BYTES: return descriptor_of(arguments[3]);
	case OSRT_FILE_ITEMS5: return descriptor_of(arguments[4]);
	case OSRT_FILE_TEXT_STDOUT: return descriptor_of((long)stdout);
	default: return descriptor_of(arguments[0]);
	}
}

static int64_t bytes_moved(unsigned role, int64_t result, const long *arguments)
{
	switch (role) {
	case OSRT_FILE_FD_BYTES:
	case OSRT_FILE_FD2_BYTES:
	case OSRT_FILE_STREAM_BYTES:
	case OSRT_FILE_STREAM3_BYTES:
	case OSRT_FILE_STREAM4_BYTES: return result > 0 ? result : 0;
	case OSRT_FILE_ITEMS4: return result * arguments[1];
	case OSRT_FILE_ITEMS5: return result * arguments[2];
	case OSRT_FILE_LINE3:
	case OSRT_FILE_LINE4: return result ? (int64_t)strlen((const char *)result) : 0;
	case OSRT_FILE_TEXT2: return result >= 0 ? (int64_t)strlen((const char *)arguments[0]) : 0;
	case OSRT_FILE_TEXT_STDOUT: return result >= 0 ? (int64_t)strlen((const char *)arguments[0]) + 1 : 0;
	case OSRT_FILE_STREAM_CHAR: return result != EOF;
	default: return 0;
	}
}

uint64_t osrt_file_after(const struct osrt_frame *frame, uint64_t time, int64_t result, unsigned role, const long *arguments,
			 int64_t *ret_bytes)
{
	uint64_t id;

	*ret_bytes = 0;
	if (changes_files(frame, time, result, role, arguments, &id))
		return id;
	*ret_bytes = bytes_moved(role, result, arguments);
	return find_file_id(time, descriptor_among(role, arguments));
}
