/* Where CUPTI may be: a list of places, best first. It is put together in somebody else's process,
 * so files are looked at by system calls that no wrapper sees. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/system/arch.h"
#include "base/macros.h"
#include "vendor/cupti/cupti.h"

/* Newest first. */
static const char *const names[] = { "libcupti.so.13", "libcupti.so.12", "libcupti.so.11.8", "libcupti.so" };
#define NAME_COUNT COUNT_OF(names)

/* Under a folder of a toolkit, and under Python's site-packages. */
static const char *const toolkit_folders[] = { "extras/CUPTI/lib64", "lib64", "targets/" ARCH_NAME "-linux/lib", "lib" };
static const char *const package_folders[] = { "nvidia/cu13/lib", "nvidia/cuda_cupti/lib" };
static const char *const system_folders[] = { "/usr/lib/" ARCH_NAME "-linux-gnu", "/usr/lib64", "/usr/lib" };

struct finding {
	struct cupti_places *places;
	const char *root;
};

static int is_readable_path(const char *path)
{
	return arch_syscall(SYS_faccessat, AT_FDCWD, (long)path, R_OK, 0, 0, 0) == 0;
}

static void add_cupti_path(struct cupti_places *p, const char *path)
{
	for (unsigned i = 0; i < p->count; i++)
		if (strcmp(p->paths[i], path) == 0)
			return;
	if (p->count < CUPTI_PLACES && strlen(path) < sizeof(p->paths[0]))
		snprintf(p->paths[p->count++], sizeof(p->paths[0]), "%s", path);
}

/* "" as `tail`: the folder itself. */
static void add_folder(const struct finding *f, const char *folder, const char *tail)
{
	char path[640];
	int length;

	for (size_t i = 0; i < NAME_COUNT; i++) {
		length = snprintf(path, sizeof(path), "%s%s%s%s/%s", f->root, folder, *tail ? "/" : "", tail, names[i]);
		if (length < (int)sizeof(path) && is_readable_path(path)) {
			add_cupti_path(f->places, path);
			return;
		}
	}
}

static void add_folders(const struct finding *f, const char *folder, const char *const *tails, size_t count)
{
	for (size_t i = 0; i < count; i++)
		add_folder(f, folder, tails[i]);
}

/* Calls `visit` with every entry of the folder whose name begins so. */
static void each_entry(const struct finding *f, const char *folder, const char *prefix, void (*visit)(const struct finding *, const char *))
{
	struct entry {
		uint64_t inode;
		int64_t offset;
		uint16_t size;
		uint8_t type;
		char name[];
	} * entry;
	char path[640], buffer[4096] __attribute__((aligned(8)));
	long fd, length;

	snprintf(path, sizeof(path), "%s%s", f->root, folder);
	fd = arch_syscall(SYS_openat, AT_FDCWD, (long)path, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0, 0, 0);
	if (fd < 0)
		return;
	do {
		length = arch_syscall(SYS_getdents64, fd, (long)buffer, sizeof(buffer), 0, 0, 0);
		for (long at = 0; at < length; at += entry->size) {
			entry = (struct entry *)(buffer + at);
			if (entry->name[0] == '.' || strncmp(entry->name, prefix, strlen(prefix)) != 0)
				continue;
			if (snprintf(path, sizeof(path), "%s/%s", folder, entry->name) < (int)sizeof(path))
				visit(f, path);
		}
	} while (length > 0);
	arch_syscall(SYS_close, fd, 0, 0, 0, 0, 0);
}

static void add_python(const struct finding *f, const char *library)
{
	static const char *const kinds[] = { "site-packages", "dist-packages" };
	char path[640];

	for (size_t i = 0; i < COUNT_OF(kinds); i++)
		if (snprintf(path, sizeof(path), "%s/%s", library, kinds[i]) < (int)sizeof(path))
			add_folders(f, path, package_folders, COUNT_OF(package_folders));
}

static void add_toolkit(const struct finding *f, const char *folder)
{
	add_folders(f, folder, toolkit_folders, COUNT_OF(toolkit_folders));
}

/* A prefix with a lib folder: a virtual environment, conda, the user's own. */
static void add_prefix(const struct finding *f, const char *prefix)
{
	char library[600];

	if (snprintf(library, sizeof(library), "%s/lib", prefix) >= (int)sizeof(library))
		return;
	each_entry(f, library, "python3", add_python);
	add_folder(f, library, "");
}

/* Who says where it is wants that one and no other. */
static int add_given(const struct finding *f)
{
	const char *given = getenv("SONDE_CUPTI");

	if (!given || !*given)
		return 0;
	add_folder(f, given, "");
	add_folder(f, given, "extras/CUPTI/lib64");
	if (f->places->count == 0)
		add_cupti_path(f->places, given);
	return 1;
}

/* Copies a path up to its `count`th slash from the end; 0 when it has not that many. */
static int parent(char *to, size_t size, const char *path, unsigned count)
{
	snprintf(to, size, "%s", path);
	for (; count; count--) {
		char *slash = strrchr(to, '/');

		if (!slash || slash == to)
			return 0;
		*slash = '\0';
	}
	return 1;
}

/* In a toolkit libcudart lies in lib64, in Python's packages in nvidia/<package>/lib. */
static void add_beside_runtime(const struct finding *f, const char *path)
{
	char folder[512];

	if (parent(folder, sizeof(folder), path, 1))
		add_folder(f, folder, "");
	if (parent(folder, sizeof(folder), path, 2))
		add_toolkit(f, folder);
	if (parent(folder, sizeof(folder), path, 3)) {
		add_folder(f, folder, "cuda_cupti/lib");
		add_folder(f, folder, "extras/CUPTI/lib64"); /* targets/<cpu>/lib of a toolkit */
	}
	if (parent(folder, sizeof(folder), path, 4))
		add_folder(f, folder, "extras/CUPTI/lib64");
}

static void add_packages_of(const struct finding *f, const char *path)
{
	static const char *const kinds[] = { "/site-packages/", "/dist-packages/" };
	char folder[512];
	const char *at;

	for (size_t i = 0; i < COUNT_OF(kinds); i++) {
		at = strstr(path, kinds[i]);
		if (at && snprintf(folder, sizeof(folder), "%.*s", (int)(at - path + strlen(kinds[i]) - 1), path) < (int)sizeof(folder))
			add_folders(f, folder, package_folders, COUNT_OF(package_folders));
	}
}

enum { LOADED_CUPTI, LOADED_RUNTIME, LOADED_PACKAGES, LOADED_STEPS };

struct loaded {
	const struct finding *f;
	int step;
};

static int look_at_loaded(struct dl_phdr_info *info, size_t size, void *context)
{
	const struct loaded *loaded = context;
	const char *path = info->dlpi_name, *slash = path ? strrchr(path, '/') : NULL;

	(void)size;
	if (!slash || path[0] != '/')
		return 0;
	if (loaded->step == LOADED_CUPTI && strncmp(slash, "/libcupti.so", 12) == 0)
		add_cupti_path(loaded->f->places, path);
	else if (loaded->step == LOADED_RUNTIME && strncmp(slash, "/libcudart.so", 13) == 0)
		add_beside_runtime(loaded->f, path);
	else if (loaded->step == LOADED_PACKAGES)
		add_packages_of(loaded->f, path);
	return 0;
}

static void add_by_loaded(const struct finding *f)
{
	struct loaded loaded = { f, 0 };

	for (; loaded.step < LOADED_STEPS; loaded.step++)
		dl_iterate_phdr(look_at_loaded, &loaded);
}

static void add_by_variables(const struct finding *f)
{
	static const char *const toolkits[] = { "CUDA_HOME", "CUDA_PATH", "CUDA_ROOT" };
	static const char *const prefixes[] = { "VIRTUAL_ENV", "CONDA_PREFIX" };
	const char *value;

	for (size_t i = 0; i < COUNT_OF(toolkits); i++)
		if ((value = getenv(toolkits[i])) && *value)
			add_toolkit(f, value);
	for (size_t i = 0; i < COUNT_OF(prefixes); i++)
		if ((value = getenv(prefixes[i])) && *value)
			add_prefix(f, value);
}

/* A Python without any of the packages loaded so far. */
static void add_by_executable(const struct finding *f)
{
	char path[512], prefix[512];
	long length = arch_syscall(SYS_readlinkat, AT_FDCWD, (long)"/proc/self/exe", (long)path, sizeof(path) - 1, 0, 0);

	path[length > 0 ? length : 0] = '\0';
	if (strstr(path, "python") && parent(prefix, sizeof(prefix), path, 2))
		add_prefix(f, prefix);
}

static void add_usual(const struct finding *f)
{
	const char *home = getenv("HOME");
	char own[512];

	add_toolkit(f, "/usr/local/cuda");
	each_entry(f, "/usr/local", "cuda-", add_toolkit);
	add_toolkit(f, "/opt/cuda");
	for (size_t i = 0; i < COUNT_OF(system_folders); i++)
		add_folder(f, system_folders[i], "");
	add_prefix(f, "/usr/local");
	add_prefix(f, "/usr");
	each_entry(f, "/opt", "", add_prefix); /* conda */
	if (home && *home && snprintf(own, sizeof(own), "%s/.local", home) < (int)sizeof(own))
		add_prefix(f, own);
}

void cupti_find(struct cupti_places *ret, const char *root)
{
	struct finding f = { ret, root };

	ret->count = 0;
	if (add_given(&f))
		return;
	if (!*root)
		add_by_loaded(&f);
	add_by_variables(&f);
	if (!*root)
		add_by_executable(&f);
	add_usual(&f);
	if (*root)
		return;
	for (size_t i = 0; i < NAME_COUNT; i++)
		add_cupti_path(ret, names[i]);
}
