#include "kernel/choice/pass_cache.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/hash.h"

#define MAGIC 0x31646568637353ull
#define MOST_FILES 64u
#define MOST_BYTES (16u << 20)

/* Of a file: behind it are the key and the image. */
struct head {
	uint64_t magic;
	uint64_t key_size, image_size, passes;
	uint64_t check; /* of the image */
	uint32_t order;
	uint32_t pad;
};

int schedule_key(const struct catalog *c, const struct schedule_part *part, struct buf *ret)
{
	struct stat st;
	Dl_info library;
	void *function;

	memcpy(&function, &c->nvperf.NVPW_InitializeHost, sizeof(function));
	if (!c->kept || c->availability || !part->by_nvperf || !dladdr(function, &library) || stat(library.dli_fname, &st) < 0)
		return -ENOENT;
	TRY(buf_printf(ret, SONDE_VERSION "\n%s %lld %lld.%09ld\n%s\n", library.dli_fname, (long long)st.st_size,
		       (long long)st.st_mtim.tv_sec, st.st_mtim.tv_nsec, c->chip));
	for (size_t i = 0; i < part->count; i++)
		TRY(buf_printf(ret, "%s\n", part->names[i]));
	return 0;
}

static void make_cache_path(const struct catalog *c, const struct buf *key, char *ret, size_t size)
{
	snprintf(ret, size, "%s/%016" PRIx64, c->kept, hash_bytes(HASH_START, key->data, key->len));
}

static bool is_whole(const struct head *head, const struct buf *key, size_t size)
{
	return head->magic == MAGIC && head->key_size == key->len && head->image_size <= MOST_BYTES && head->passes &&
	       size == sizeof(*head) + head->key_size + head->image_size;
}

static bool read_cached_schedule(FILE *file, const struct buf *key, size_t size, struct schedule_part *part, uint32_t *order)
{
	struct head head;
	char *kept_key = NULL;
	bool ok = fread(&head, sizeof(head), 1, file) == 1 && is_whole(&head, key, size);

	if (!ok)
		return false;
	kept_key = malloc(head.key_size + 1);
	part->image = malloc(head.image_size + 1);
	ok = kept_key && part->image && fread(kept_key, 1, head.key_size, file) == head.key_size &&
	     fread(part->image, 1, head.image_size, file) == head.image_size && memcmp(kept_key, key->data, key->len) == 0 &&
	     hash_bytes(HASH_START, part->image, head.image_size) == head.check;
	free(kept_key);
	if (!ok) {
		free(part->image);
		part->image = NULL;
		return false;
	}
	part->image_size = head.image_size;
	part->passes = head.passes;
	*order = head.order;
	return true;
}

bool schedule_take_kept(const struct catalog *c, const struct buf *key, struct schedule_part *part, uint32_t *order)
{
	char path[PATH_MAX];
	struct stat st;
	FILE *file;
	bool ok;
	int fd;

	make_cache_path(c, key, path, sizeof(path));
	fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	file = fd < 0 ? NULL : fdopen(fd, "r");
	if (!file) {
		if (fd >= 0)
			close(fd);
		return false;
	}
	/* It goes to the driver as it is: another user's is not taken. */
	ok = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == geteuid() &&
	     read_cached_schedule(file, key, (size_t)st.st_size, part, order);
	fclose(file);
	return ok;
}

/* A folder that is full begins anew. */
static void empty_full_folder(const char *folder)
{
	DIR *dir = opendir(folder);
	struct dirent *entry;
	size_t count = 0;

	while (dir && (entry = readdir(dir)))
		count += entry->d_name[0] != '.';
	if (dir && count >= MOST_FILES) {
		rewinddir(dir);
		while ((entry = readdir(dir)))
			if (entry->d_name[0] != '.')
				unlinkat(dirfd(dir), entry->d_name, 0);
	}
	if (dir)
		closedir(dir);
}

/* Readers see all of it or nothing. */
void schedule_keep(const struct catalog *c, const struct buf *key, const struct schedule_part *part, uint32_t order)
{
	struct head head = { MAGIC, key->len, part->image_size, part->passes, hash_bytes(HASH_START, part->image, part->image_size),
			     order, 0 };
	char path[PATH_MAX], made[PATH_MAX];
	FILE *file;
	bool ok;
	int fd;

	empty_full_folder(c->kept);
	make_cache_path(c, key, path, sizeof(path));
	if ((size_t)snprintf(made, sizeof(made), "%s/new-XXXXXX", c->kept) >= sizeof(made))
		return;
	fd = mkostemp(made, O_CLOEXEC);
	file = fd < 0 ? NULL : fdopen(fd, "w");
	if (!file) {
		if (fd >= 0)
			close(fd);
		return;
	}
	ok = fwrite(&head, sizeof(head), 1, file) == 1 && fwrite(key->data, 1, key->len, file) == key->len &&
	     fwrite(part->image, 1, part->image_size, file) == part->image_size;
	if (fclose(file) != 0 || !ok || rename(made, path) < 0)
		unlink(made);
}
