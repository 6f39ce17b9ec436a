#include "record/session/module.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/hash.h"
#include "base/macros.h"
#include "record/session/session.h"
#include "symbol/unwind/cfi.h"

#define MODULE_LIMIT 65536u /* more are all one */
#define OPEN_FILES 256u     /* kept open at a time */
#define DIAGNOSTICS 64u     /* files that are named as missing or replaced */

struct modules {
	struct module **made;
	size_t made_count;
	size_t made_cap;
	struct module **settled; /* by uid - 1 */
	size_t settled_count;
	size_t settled_cap;
	struct idmap by_key;      /* hash -> struct module */
	struct idmap by_build_id; /* hash -> struct module, settled */
	uint64_t clock;           /* counts uses */
	uint32_t open_count;
	uint32_t diagnostics;
};

/* What a module is told apart by before its file has been seen. */
struct module_key {
	enum module_kind kind;
	const char *path;
	size_t path_size;
	const uint8_t *build_id;
	size_t build_id_size;
	uint64_t process;
	uint64_t device;
	uint64_t inode;
};

static uint64_t key_hash(const struct module_key *key)
{
	uint64_t numbers[4] = { (uint64_t)key->kind, key->process, key->device, key->inode };
	uint64_t hash = hash_bytes(HASH_START, numbers, sizeof(numbers));

	if (key->build_id_size)
		return hash_bytes(hash, key->build_id, key->build_id_size);
	return hash_bytes(hash, key->path, key->path_size);
}

static uint64_t build_id_hash(const struct module *m)
{
	return hash_bytes((uint64_t)m->kind, m->build_id, m->build_id_size);
}

static struct module *pointer(uint64_t value)
{
	return value == IDMAP_NONE ? NULL : (struct module *)(uintptr_t)value;
}

static int same_build_id(const struct module *m, const uint8_t *bytes, size_t size)
{
	return m->build_id_size == size && size && memcmp(m->build_id, bytes, size) == 0;
}

struct modules *modules_new(void)
{
	return calloc(1, sizeof(struct modules));
}

void modules_free(struct modules *all)
{
	if (!all)
		return;
	for (size_t i = 0; i < all->made_count; i++) {
		struct module *m = all->made[i];

		cfi_free(m->cfi);
		elf_file_close(m->file);
		free(m->path);
		free(m);
	}
	idmap_release(&all->by_key);
	idmap_release(&all->by_build_id);
	free(all->made);
	free(all->settled);
	free(all);
}

static int append_module(struct module ***list, size_t *count, size_t *cap, struct module *m)
{
	if (!ARRAY_ROOM(*list, *count, *cap, 1))
		return -ENOMEM;
	(*list)[(*count)++] = m;
	return 0;
}

static int has_key(const struct module *m, const struct module_key *key)
{
	if (m->mapped_as != key->kind || m->process != key->process)
		return 0;
	if (key->build_id_size)
		return m->build_id_reported && same_build_id(m, key->build_id, key->build_id_size);
	return !m->build_id_reported && m->device == key->device && m->inode == key->inode && strlen(m->path) == key->path_size &&
	       memcmp(m->path, key->path, key->path_size) == 0;
}

static struct module *create_module(struct modules *all, const struct module_key *key, uint64_t hash)
{
	struct module *m = calloc(1, sizeof(*m));

	if (!m)
		return NULL;
	m->path = strndup(key->path, key->path_size);
	m->kind = m->mapped_as = key->kind;
	m->process = key->process;
	m->device = key->device;
	m->inode = key->inode;
	m->build_id_reported = key->build_id_size != 0;
	m->build_id_size = key->build_id_size;
	if (key->build_id_size)
		memcpy(m->build_id, key->build_id, key->build_id_size);
	m->next_same_key = pointer(idmap_get(&all->by_key, hash));
	if (!m->path || append_module(&all->made, &all->made_count, &all->made_cap, m) < 0) {
		free(m->path);
		free(m);
		return NULL;
	}
	idmap_put(&all->by_key, hash, (uint64_t)(uintptr_t)m);
	return m;
}

static struct module *find_or_make(struct modules *all, const struct module_key *key, uint32_t pid)
{
	uint64_t hash = key_hash(key);
	struct module *m = pointer(idmap_get(&all->by_key, hash));

	while (m && !has_key(m, key))
		m = m->next_same_key;
	/* The same name and number, but another file since: a program built anew. The newer one
	 * comes first in the chain. */
	if (m && !m->build_id_reported && m->file_size && module_changed(m, pid))
		m = NULL;
	if (m)
		return m;
	if (all->made_count >= MODULE_LIMIT && key->kind != MODULE_OTHER)
		return modules_named(all, MODULE_OTHER, "[too many files]");
	return create_module(all, key, hash);
}

struct module *modules_named(struct modules *all, enum module_kind kind, const char *name)
{
	struct module_key key = { .kind = kind, .path = name, .path_size = strlen(name) };

	return find_or_make(all, &key, 0);
}

static int has_path_prefix(const char *text, const char *with)
{
	return strncmp(text, with, strlen(with)) == 0;
}

/* Memory without a file that lasts: what runs there was made while running. */
static int is_anonymous(const char *path)
{
	return !path[0] || has_path_prefix(path, "//anon") || has_path_prefix(path, "/memfd:") || has_path_prefix(path, "/SYSV") ||
	       has_path_prefix(path, "/dev/zero") || has_path_prefix(path, "[anon") || has_path_prefix(path, "[heap]") ||
	       has_path_prefix(path, "[stack") || has_path_prefix(path, "anon_inode:") || has_path_prefix(path, "/anon_hugepage");
}

static enum module_kind find_mapping_kind(const struct space_mapping *mapping)
{
	if (strcmp(mapping->path, "[vdso]") == 0)
		return MODULE_VDSO;
	if (!mapping->build_id_size && is_anonymous(mapping->path))
		return MODULE_JIT;
	return mapping->path[0] == '[' ? MODULE_OTHER : MODULE_FILE;
}

static size_t length_without(const char *path, const char *suffix)
{
	size_t length = strlen(path), cut = strlen(suffix);

	return length > cut && strcmp(path + length - cut, suffix) == 0 ? length - cut : length;
}

struct module *modules_of(struct modules *all, const struct space_mapping *mapping, uint64_t process, uint32_t pid)
{
	struct module_key key = { .kind = find_mapping_kind(mapping), .path = mapping->path };
	struct module *m;

	key.path_size = length_without(key.path, " (deleted)");
	if (key.kind == MODULE_JIT) {
		key.path = "[jit]";
		key.path_size = strlen(key.path);
		key.process = process;
	} else if (key.kind == MODULE_FILE && mapping->build_id_size && mapping->build_id_size <= MODULE_BUILD_ID_LIMIT) {
		key.build_id = mapping->build_id;
		key.build_id_size = mapping->build_id_size;
	} else if (key.kind == MODULE_FILE) {
		key.device = mapping->device;
		key.inode = mapping->inode;
	}
	m = find_or_make(all, &key, pid);
	if (m && pid) {
		m->pid = pid;
		m->mapped_start = mapping->address;
		m->mapped_end = mapping->address + mapping->size;
	}
	return m;
}

static void hexadecimal(char *ret, const uint8_t *bytes, size_t size)
{
	for (size_t i = 0; i < size; i++) {
		ret[2 * i] = "0123456789abcdef"[bytes[i] >> 4];
		ret[2 * i + 1] = "0123456789abcdef"[bytes[i] & 15];
	}
	ret[2 * size] = '\0';
}

static void write_module_row(struct session *s, const struct module *m)
{
	uint32_t present = BIT(COLUMN_MODULE_UID) | BIT(COLUMN_MODULE_KIND) | BIT(COLUMN_MODULE_PATH);
	int64_t values[TABLE_MAX_COLUMNS];
	char id[2 * MODULE_BUILD_ID_LIMIT + 1];

	values[COLUMN_MODULE_UID] = (int64_t)m->uid;
	values[COLUMN_MODULE_KIND] = m->kind;
	values[COLUMN_MODULE_PATH] = (int64_t)session_text(s, m->path);
	if (m->build_id_size) {
		hexadecimal(id, m->build_id, m->build_id_size);
		values[COLUMN_MODULE_BUILD_ID] = (int64_t)session_text(s, id);
		present |= BIT(COLUMN_MODULE_BUILD_ID);
	}
	if (m->process) {
		values[COLUMN_MODULE_PROCESS] = (int64_t)m->process;
		present |= BIT(COLUMN_MODULE_PROCESS);
	}
	session_row(s, TABLE_MODULE, values, present);
}

static void diagnose(struct session *s, struct modules *all, const struct module *m, int why)
{
	if (all->diagnostics++ >= DIAGNOSTICS)
		return;
	session_diagnose(s, SOURCE_RECORDER, DIAGNOSTIC_WARNING, 0,
			 why == -ESTALE ? "%s has been replaced since it was mapped: stacks through it are "
					  "followed by frame pointers only, and it has no names unless a "
					  "file with its build-id is found" :
			 why == -ENOEXEC || why == -EBADMSG ?
					  "%s is not a readable ELF file: stacks through it are followed by frame pointers only" :
					  "%s cannot be read here: stacks through it are followed by frame pointers only",
			 m->path);
}

static void close_least_used(struct modules *all)
{
	struct module *oldest = NULL;

	for (size_t i = 0; i < all->settled_count; i++) {
		struct module *m = all->settled[i];

		if (m->file && (!oldest || m->last_used < oldest->last_used))
			oldest = m;
	}
	if (!oldest)
		return;
	cfi_detach(oldest->cfi);
	elf_file_close(oldest->file);
	oldest->file = NULL;
	all->open_count--;
}

/* -errno when there is nothing to open. */
static int open_module_file(struct modules *all, struct module *m)
{
	int r;

	m->last_used = ++all->clock;
	if (m->file)
		return 0;
	if (m->unusable || (m->kind != MODULE_FILE && m->kind != MODULE_VDSO))
		return -ENOENT;
	if (all->open_count >= OPEN_FILES)
		close_least_used(all);
	r = module_open(m);
	if (r < 0)
		m->unusable = 1;
	else
		all->open_count++;
	return r;
}

struct elf_file *module_file(struct session *s, struct modules *all, struct module *m)
{
	if (!module_settle(s, all, m))
		return NULL;
	if (m->same)
		m = m->same;
	return open_module_file(all, m) < 0 ? NULL : m->file;
}

/* The module that has this one's build-id and a row already. */
static struct module *find_same(struct modules *all, const struct module *m)
{
	struct module *other;

	if (!m->build_id_size)
		return NULL;
	other = pointer(idmap_get(&all->by_build_id, build_id_hash(m)));
	return other && other->kind == m->kind && same_build_id(other, m->build_id, m->build_id_size) ? other : NULL;
}

static void share(struct modules *all, struct module *m, struct module *with)
{
	m->same = with;
	m->uid = with->uid;
	if (m->file)
		all->open_count--;
	elf_file_close(m->file);
	m->file = NULL;
}

uint64_t module_settle(struct session *s, struct modules *all, struct module *m)
{
	struct module *same;
	int r;

	if (m->uid)
		return m->uid;
	if (m->kind == MODULE_FILE || m->kind == MODULE_VDSO) {
		r = open_module_file(all, m);
		if (r < 0) {
			diagnose(s, all, m, r);
			m->kind = MODULE_OTHER;
		}
	}
	same = find_same(all, m);
	if (same) {
		share(all, m, same);
		return m->uid;
	}
	if (append_module(&all->settled, &all->settled_count, &all->settled_cap, m) < 0)
		return 0;
	m->uid = all->settled_count;
	if (m->build_id_size)
		idmap_put(&all->by_build_id, build_id_hash(m), (uint64_t)(uintptr_t)m);
	write_module_row(s, m);
	return m->uid;
}

int module_address(const struct module *m, uint64_t offset, uint64_t *ret)
{
	const struct module *with = m->same ? m->same : m;

	*ret = offset;
	if (with->kind != MODULE_FILE && with->kind != MODULE_VDSO)
		return 0;
	for (uint32_t i = 0; i < with->segment_count; i++) {
		const struct module_segment *at = &with->segments[i];

		if (offset >= at->offset && offset - at->offset < at->size) {
			*ret = offset - at->offset + at->address;
			return 0;
		}
	}
	return -ENOENT;
}

size_t modules_count(const struct modules *all)
{
	return all->settled_count;
}

struct module *modules_at(const struct modules *all, size_t i)
{
	return all->settled[i];
}
