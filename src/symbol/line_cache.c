#include "symbol/line_cache.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "base/system/cache_folder.h"
#include "base/idmap.h"
#include "symbol/elf/build_id.h"

#define MAGIC "SLINES1\n"
#define MAGIC_SIZE 8u
#define FILE_LIMIT (64u << 20)
#define TEXT_LIMIT 4096u

/* A record: this head, then for each line its number and the lengths of two texts, then the texts. */
struct record_head {
	uint32_t size; /* with the head */
	uint32_t crc;  /* of what follows here */
	uint64_t address;
	uint32_t count;
	uint32_t pad;
};

struct record_line {
	uint32_t line;
	uint32_t function; /* lengths, with the NUL */
	uint32_t file;
};

struct line_cache {
	struct buf bytes; /* the file, and behind it what is to be added */
	size_t saved;
	char *path;          /* NULL: in memory only */
	struct idmap places; /* of records, by address */
};

void source_lines_release(struct source_lines *lines)
{
	free(lines->texts);
	lines->texts = NULL;
	lines->count = 0;
}

static uint32_t checksum(const char *record, uint32_t size)
{
	const size_t from = offsetof(struct record_head, address);

	return (uint32_t)crc32(crc32(0, NULL, 0), (const Bytef *)record + from, (uInt)(size - from));
}

/* Whether a whole, sound record lies at the front of `left` bytes: its size, or 0. */
static uint32_t record_sound(const char *at, size_t left, struct record_head *ret)
{
	struct record_line line;
	uint64_t need;

	if (left < sizeof(*ret))
		return 0;
	memcpy(ret, at, sizeof(*ret));
	if (ret->size < sizeof(*ret) || ret->size > left || ret->count > SOURCE_LINES_DEPTH || checksum(at, ret->size) != ret->crc)
		return 0;
	need = sizeof(*ret) + (uint64_t)ret->count * sizeof(line);
	for (uint32_t i = 0; i < ret->count && need <= ret->size; i++) {
		memcpy(&line, at + sizeof(*ret) + i * sizeof(line), sizeof(line));
		if (!line.function || !line.file || line.function > TEXT_LIMIT || line.file > TEXT_LIMIT ||
		    need + line.function + line.file > ret->size || at[need + line.function - 1] ||
		    at[need + line.function + line.file - 1])
			return 0;
		need += line.function + line.file;
	}
	return need == ret->size ? ret->size : 0;
}

/* Takes the records up to the first that is damaged; what lies behind is of no use. */
static int index_records(struct line_cache *c, size_t from)
{
	struct record_head head;
	uint32_t size;
	int r = 0;

	while (r == 0 && (size = record_sound(c->bytes.data + from, c->bytes.len - from, &head))) {
		r = idmap_put(&c->places, head.address, from);
		from += size;
	}
	c->bytes.len = from;
	return r;
}

/* Ours alone, or it is not looked at. */
static bool is_file_trusted(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == geteuid() && !(st.st_mode & 022) &&
	       st.st_size <= (off_t)FILE_LIMIT;
}

static int read_line_cache(struct line_cache *c, int fd)
{
	ssize_t n;

	do {
		if (buf_reserve(&c->bytes, 64u << 10) < 0)
			return -ENOMEM;
		n = read(fd, c->bytes.data + c->bytes.len, c->bytes.cap - c->bytes.len);
		if (n > 0)
			c->bytes.len += (size_t)n;
	} while ((n > 0 && c->bytes.len <= FILE_LIMIT) || (n < 0 && errno == EINTR));
	return n < 0 ? -EIO : 0;
}

static int load_line_cache(struct line_cache *c)
{
	int fd = open(c->path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC), r = 0;
	size_t size;

	if (fd >= 0 && is_file_trusted(fd))
		r = read_line_cache(c, fd);
	if (fd >= 0)
		close(fd);
	size = c->bytes.len;
	if (size < MAGIC_SIZE || memcmp(c->bytes.data, MAGIC, MAGIC_SIZE) != 0)
		c->bytes.len = 0;
	else if (r >= 0)
		r = index_records(c, MAGIC_SIZE);
	/* A file that is damaged, or none, begins anew. */
	c->saved = c->bytes.len == size ? size : 0;
	return r == -EIO ? 0 : r;
}

int line_cache_open(struct line_cache **ret, const char *folder, const uint8_t *build_id, size_t build_id_size)
{
	struct line_cache *c = calloc(1, sizeof(*c));
	char hex[BUILD_ID_TEXT_SIZE];
	int r = c ? 0 : -ENOMEM;

	build_id_to_text(build_id, build_id_size, hex);
	if (r == 0 && folder && hex[0]) {
		r = asprintf(&c->path, "%s/%s", folder, hex) < 0 ? -ENOMEM : load_line_cache(c);
	}
	if (r == 0 && !c->bytes.len)
		r = buf_append(&c->bytes, MAGIC, MAGIC_SIZE);
	if (r < 0) {
		if (c)
			c->saved = c->bytes.len;
		line_cache_close(c);
		return r;
	}
	*ret = c;
	return 0;
}

static void write_line_cache(int fd, const char *data, size_t size)
{
	while (size) {
		ssize_t n = write(fd, data, size);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return; /* half a record: the next reader begins anew */
		data += n;
		size -= (size_t)n;
	}
}

/* Appends what is new. Another reader may have done so as well: the same lines twice do no harm. */
static void save(struct line_cache *c)
{
	int fd;

	if (!c->path || c->bytes.len <= MAGIC_SIZE || c->saved == c->bytes.len || c->bytes.len > FILE_LIMIT)
		return;
	if (!c->saved)
		unlink(c->path);
	fd = open(c->path, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
	if (fd < 0)
		return;
	if (flock(fd, LOCK_EX) == 0 && is_file_trusted(fd)) {
		struct stat st;
		size_t from = fstat(fd, &st) == 0 && st.st_size > 0 && !c->saved ? MAGIC_SIZE : c->saved;

		write_line_cache(fd, c->bytes.data + from, c->bytes.len - from);
	}
	close(fd);
}

void line_cache_close(struct line_cache *c)
{
	if (!c)
		return;
	save(c);
	buf_release(&c->bytes);
	free(c->path);
	idmap_release(&c->places);
	free(c);
}

int line_cache_folder(char *ret, size_t size)
{
	return cache_folder("lines", ret, size);
}

int line_cache_get(const struct line_cache *c, uint64_t address, struct source_lines *ret)
{
	uint64_t place = idmap_get(&c->places, address);
	struct record_head head;
	struct record_line line;
	const char *record;
	char *text;

	if (place == IDMAP_NONE)
		return -ENOENT;
	record = c->bytes.data + place;
	memcpy(&head, record, sizeof(head));
	ret->texts = text = malloc(head.size);
	if (!text)
		return -ENOMEM;
	memcpy(text, record, head.size);
	text += sizeof(head) + head.count * sizeof(line);
	ret->count = head.count;
	for (uint32_t i = 0; i < head.count; i++) {
		memcpy(&line, record + sizeof(head) + i * sizeof(line), sizeof(line));
		ret->at[i] = (struct source_line){ text, text + line.function, line.line };
		text += line.function + line.file;
	}
	return 0;
}

static uint32_t keep_cached_text(const char *text)
{
	return (uint32_t)strnlen(text, TEXT_LIMIT - 1) + 1;
}

static void add_cached_text(struct buf *b, const char *text)
{
	uint32_t len = keep_cached_text(text);

	buf_append(b, text, len - 1);
	buf_append(b, "", 1);
}

int line_cache_put(struct line_cache *c, uint64_t address, const struct source_lines *lines)
{
	struct record_head head = { .address = address, .count = lines->count };
	size_t at = c->bytes.len;

	head.size = (uint32_t)(sizeof(head) + head.count * sizeof(struct record_line));
	for (uint32_t i = 0; i < lines->count; i++)
		head.size += keep_cached_text(lines->at[i].function) + keep_cached_text(lines->at[i].file);
	if (buf_reserve(&c->bytes, head.size) < 0)
		return -ENOMEM;
	buf_append(&c->bytes, &head, sizeof(head));
	for (uint32_t i = 0; i < lines->count; i++) {
		struct record_line line = { lines->at[i].line, keep_cached_text(lines->at[i].function),
					    keep_cached_text(lines->at[i].file) };

		buf_append(&c->bytes, &line, sizeof(line));
	}
	for (uint32_t i = 0; i < lines->count; i++) {
		add_cached_text(&c->bytes, lines->at[i].function);
		add_cached_text(&c->bytes, lines->at[i].file);
	}
	head.crc = checksum(c->bytes.data + at, head.size);
	memcpy(c->bytes.data + at, &head, sizeof(head));
	return idmap_put(&c->places, address, at);
}
