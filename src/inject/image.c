#include "inject/image.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/array.h"
#include "base/text/path.h"
#include "inject/dynsym.h"

#define LINES_LIMIT 300000u
#define PATH_SIZE 4200
#define REBUILT_LIMIT (64u << 20)

int image_read(const struct image *image, uint64_t address, void *to, size_t size)
{
	struct iovec local = { to, size }, remote = { (void *)(uintptr_t)address, size };
	ssize_t n = size ? process_vm_readv(image->pid, &local, 1, &remote, 1, 0) : 0;

	if (n < 0)
		return -errno;
	return (size_t)n == size ? 0 : -EFAULT;
}

int image_write(const struct image *image, uint64_t address, const void *from, size_t size)
{
	struct iovec local = { (void *)(uintptr_t)from, size }, remote = { (void *)(uintptr_t)address, size };
	ssize_t n = size ? process_vm_writev(image->pid, &local, 1, &remote, 1, 0) : 0;

	if (n < 0)
		return -errno;
	return (size_t)n == size ? 0 : -EFAULT;
}

void image_read_text(const struct image *image, uint64_t address, char *to, size_t size)
{
	size_t have = 0;

	while (have + 1 < size && image_read(image, address + have, to + have, 1) == 0 && to[have])
		have++;
	to[have] = '\0';
}

static void find_role(struct image *image, struct image_object *object)
{
	const char *name = path_name(object->path);
	struct dynsym symbols;
	uint64_t address;

	if (object->role_known)
		return;
	object->role_known = 1;
	object->role = OBJECT_PLAIN;
	if (strncmp(name, "ld-linux", 8) == 0 || (strncmp(name, "ld-2.", 5) == 0 && strstr(name, ".so"))) {
		object->role = OBJECT_LINKER;
	} else if (dynsym_open(&symbols, image, object->base) == 0) {
		if (dynsym_find(&symbols, "gnu_get_libc_version", &address) == 0)
			object->role = OBJECT_LIBC;
		else if (dynsym_find(&symbols, "_dl_find_dso_for_object", &address) == 0 ||
			 dynsym_find(&symbols, "_rtld_global", &address) == 0)
			object->role = OBJECT_LINKER;
		else if (dynsym_find(&symbols, "malloc", &address) == 0)
			object->role = OBJECT_ALLOCATOR;
	}
}

static int32_t object_number(struct image *image, const struct image_object *wanted)
{
	struct image_object *object;

	for (size_t i = image->object_count; i-- > 0;) {
		object = image->objects[i];
		if (object->inode == wanted->inode && object->device == wanted->device && (object->base == wanted->base || !wanted->base) &&
		    strcmp(object->path, wanted->path) == 0)
			return (int32_t)i;
	}
	object = ARRAY_ROOM(image->objects, image->object_count, image->object_room, 1) ? calloc(1, sizeof(*object)) : NULL;
	if (!object)
		return -1;
	*object = *wanted;
	object->path = strdup(wanted->path);
	if (!object->path) {
		free(object);
		return -1;
	}
	image->objects[image->object_count] = object;
	return (int32_t)image->object_count++;
}

/* "55d0-55d1 r-xp 00002000 fd:01 1234   /path" */
static int parse_mapping_line(char *line, struct image_mapping *m, struct image_object *object)
{
	unsigned major_number, minor_number;
	char permissions[5];
	int path = 0;

	line[strcspn(line, "\n")] = '\0';
	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %x:%x %" SCNu64 " %n", &m->start, &m->end, permissions, &m->offset,
		   &major_number, &minor_number, &object->inode, &path) != 7 ||
	    !path || m->end <= m->start)
		return -EBADMSG;
	m->readable = permissions[0] == 'r';
	m->writable = permissions[1] == 'w';
	m->executable = permissions[2] == 'x';
	object->device = makedev(major_number, minor_number);
	object->path = line + path;
	m->stack = strcmp(object->path, "[stack]") == 0;
	return 0;
}

/* A file's parts are told one after the other, beginning with its beginning. */
static void take_mapping(struct image *image, struct image_mapping *m, struct image_object *wanted)
{
	const struct image_mapping *last = image->mapping_count ? &image->mappings[image->mapping_count - 1] : NULL;
	const struct image_object *before = last && last->object >= 0 ? image->objects[last->object] : NULL;

	m->object = -1;
	if (wanted->path[0] != '/' && strcmp(wanted->path, "[vdso]") != 0)
		return;
	if (m->offset == 0 || wanted->path[0] == '[')
		wanted->base = m->start;
	else if (before && before->inode == wanted->inode && before->device == wanted->device && strcmp(before->path, wanted->path) == 0)
		wanted->base = before->base;
	m->object = object_number(image, wanted);
}

static int read_image_mappings(struct image *image, FILE *maps)
{
	char *line = NULL;
	size_t room = 0;
	int r = 0;

	image->mapping_count = 0;
	for (unsigned i = 0; i < LINES_LIMIT && r == 0 && getline(&line, &room, maps) > 0; i++) {
		struct image_object object = { 0 };
		struct image_mapping m = { 0 };

		if (parse_mapping_line(line, &m, &object) < 0)
			continue;
		if (!ARRAY_ROOM(image->mappings, image->mapping_count, image->mapping_room, 1)) {
			r = -ENOMEM;
			break;
		}
		take_mapping(image, &m, &object);
		image->mappings[image->mapping_count++] = m;
	}
	free(line);
	return r;
}

int image_refresh(struct image *image, struct error *err)
{
	struct image_mapping *old = NULL;
	size_t old_count = image->mapping_count;
	char name[64];
	FILE *maps;
	int r, same;

	snprintf(name, sizeof(name), "/proc/%d/maps", (int)image->pid);
	maps = fopen(name, "re");
	if (!maps)
		return error_set_errno(err, errno, "cannot read %s", name);
	if (old_count)
		old = malloc(old_count * sizeof(*old));
	if (old)
		memcpy(old, image->mappings, old_count * sizeof(*old));
	r = read_image_mappings(image, maps);
	fclose(maps);
	same = old && old_count == image->mapping_count && memcmp(old, image->mappings, old_count * sizeof(*old)) == 0;
	free(old);
	if (r < 0)
		return error_set(err, ENOMEM, "out of memory");
	image->generation += !same;
	return !same;
}

static void mark_program(struct image *image)
{
	char name[64], path[PATH_SIZE];
	ssize_t n;

	snprintf(name, sizeof(name), "/proc/%d/exe", (int)image->pid);
	n = readlink(name, path, sizeof(path) - 1);
	if (n <= 0)
		return;
	path[n] = '\0';
	for (size_t i = 0; i < image->object_count; i++)
		image->objects[i]->program = strcmp(image->objects[i]->path, path) == 0;
}

int image_open(struct image *ret, pid_t pid, struct error *err)
{
	int r;

	*ret = (struct image){ .pid = pid };
	r = image_refresh(ret, err);
	if (r < 0) {
		image_close(ret);
		return r;
	}
	mark_program(ret);
	return 0;
}

void image_close(struct image *image)
{
	for (size_t i = 0; i < image->object_count; i++) {
		struct image_object *object = image->objects[i];

		cfi_free(object->cfi);
		elf_file_close(object->file);
		free(object->path);
		free(object);
	}
	free(image->objects);
	free(image->mappings);
	*image = (struct image){ 0 };
}

const struct image_mapping *image_find(const struct image *image, uint64_t address)
{
	size_t low = 0, high = image->mapping_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (image->mappings[middle].end <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low < image->mapping_count && image->mappings[low].start <= address ? &image->mappings[low] : NULL;
}

struct image_object *image_object_at(struct image *image, uint64_t address)
{
	const struct image_mapping *m = image_find(image, address);

	if (!m || m->object < 0)
		return NULL;
	find_role(image, image->objects[m->object]);
	return image->objects[m->object];
}

/* Only what is mapped now: an object may have been closed. */
struct image_object *image_object_of(struct image *image, enum object_role role)
{
	for (size_t i = 0; i < image->mapping_count; i++) {
		struct image_object *object;

		if (image->mappings[i].object < 0 || !image->mappings[i].executable)
			continue;
		object = image->objects[image->mappings[i].object];
		find_role(image, object);
		if (object->role == role)
			return object;
	}
	return NULL;
}

static struct elf_file *try_file(const char *path, const struct image_object *object)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	struct elf_file *file;
	struct stat st;

	if (fd < 0)
		return NULL;
	/* Some file systems show another device in /proc than stat() does; the file's number is
	 * enough. */
	if (fstat(fd, &st) < 0 || st.st_ino != object->inode) {
		close(fd);
		return NULL;
	}
	return elf_file_open(&file, fd, NULL) < 0 ? NULL : file;
}

/* The file is gone, or was replaced: its parts are in memory, and where they belong is known. */
static struct elf_file *rebuild(const struct image *image, const struct image_object *object)
{
	struct elf_file *file = NULL;
	uint8_t *bytes = NULL;
	uint64_t size = 0;

	for (int pass = 0; pass < 2; pass++) {
		for (size_t i = 0; i < image->mapping_count; i++) {
			const struct image_mapping *m = &image->mappings[i];
			uint64_t length = m->end - m->start, at = object->path[0] == '[' ? 0 : m->offset;

			if (m->object < 0 || image->objects[m->object] != object || m->writable || !m->readable || length > REBUILT_LIMIT ||
			    at > REBUILT_LIMIT)
				continue;
			if (pass == 0 && at + length > size)
				size = at + length;
			if (pass == 1 && image_read(image, m->start, bytes + at, length) < 0)
				continue;
		}
		if (pass == 0 && (!size || !(bytes = calloc(1, size))))
			return NULL;
	}
	if (elf_file_open_memory(&file, bytes, size, NULL) < 0)
		file = NULL;
	free(bytes);
	return file;
}

struct elf_file *image_file(struct image *image, struct image_object *object)
{
	char path[PATH_SIZE];

	if (object->opened)
		return object->file;
	object->opened = 1;
	if (object->path[0] == '/') {
		snprintf(path, sizeof(path), "/proc/%d/root%s", (int)image->pid, object->path);
		object->file = try_file(path, object);
	}
	if (!object->file && object->program) {
		snprintf(path, sizeof(path), "/proc/%d/exe", (int)image->pid);
		object->file = try_file(path, object);
	}
	if (!object->file)
		object->file = rebuild(image, object);
	return object->file;
}
