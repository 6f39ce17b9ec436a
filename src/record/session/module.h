/* Modules: the files (and other things) that code is mapped from. One is made when something is
 * mapped; it gets its row, and its file is opened, when the first frame lies in it. */
#ifndef SONDE_RECORD_SESSION_MODULE_H
#define SONDE_RECORD_SESSION_MODULE_H

#include <stddef.h>
#include <stdint.h>

#include "fmt/tables.h"
#include "base/idmap.h"
#include "record/session/address_space.h"
#include "symbol/elf/elf_file.h"

#define MODULE_BUILD_ID_LIMIT 64
#define MODULE_SEGMENTS 16

struct cfi;
struct modules;
struct session;

/* Where a part of the file belongs in memory, before the loader adds its base. */
struct module_segment {
	uint64_t offset;
	uint64_t size;
	uint64_t address;
};

struct module {
	uint64_t uid;               /* of its row; 0: no frame lies in it so far */
	enum module_kind kind;      /* settled when uid is */
	enum module_kind mapped_as; /* what the mapping made it look like */
	struct module *same;        /* another module with the same row; it has the file */
	struct module *next_same_key;
	uint64_t process;      /* JIT: uid of the process, else 0 */
	uint32_t pid;          /* a process that has it mapped, for /proc; 0 = none */
	uint64_t mapped_start; /* where, there */
	uint64_t mapped_end;
	char *path; /* without " (deleted)" */
	uint8_t build_id[MODULE_BUILD_ID_LIMIT];
	size_t build_id_size;
	uint8_t build_id_reported; /* by the kernel or the agent: a file must have the same */
	uint8_t unusable;          /* there is no file, or not the right one: not tried again */
	uint64_t device;           /* 0 = not told */
	uint64_t inode;
	uint64_t file_size;    /* of the file that was opened */
	int64_t file_changed;  /* its mtime, ns */
	struct elf_file *file; /* open; NULL: not, or closed again */
	struct cfi *cfi;       /* unwind tables, as far as they were needed */
	uint64_t last_used;
	uint32_t segment_count;
	struct module_segment segments[MODULE_SEGMENTS];
};

struct modules *modules_new(void);
void modules_free(struct modules *all);

/* The module of a mapping; NULL only without memory. `pid` has it mapped (0 = ask nobody). */
struct module *modules_of(struct modules *all, const struct space_mapping *mapping, uint64_t process, uint32_t pid);
/* One that stands for no file: "[kernel]" and the like. */
struct module *modules_named(struct modules *all, enum module_kind kind, const char *name);

/* Gives it a row, if it has none yet. The uid; 0 without memory. */
uint64_t module_settle(struct session *s, struct modules *all, struct module *m);
/* Its file, opened if need be; NULL where there is none or not the right one. Valid until the
 * next call about another module. */
struct elf_file *module_file(struct session *s, struct modules *all, struct module *m);
/* ELF address of a byte of the file; the offset itself where the file could not be read. -ENOENT
 * when it is in no segment. */
int module_address(const struct module *m, uint64_t offset, uint64_t *ret);

/* In the order of their uids, those of the same row only once. */
size_t modules_count(const struct modules *all);
struct module *modules_at(const struct modules *all, size_t i);

/* module_file.c */
int module_open(struct module *m);
/* Whether the file behind the path is no longer the one that was opened. */
int module_changed(const struct module *m, uint32_t pid);

#endif
