/* Opening a report and reading its columns. */
#include "report/reader.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/text/path.h"
#include "report/read/internal.h"

#define MAX_NOTES 200 /* of a file damaged all over */
/* Blocks that were unpacked stay in memory. Names pack to a tenth or so, and are a small part of a report. */
#define UNPACKED_ALWAYS (512ull << 20)
#define UNPACKED_RATIO 8

void reader_note(struct report *r, const char *format, ...)
{
	char text[256];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	pthread_mutex_lock(&r->lock);
	if (r->note_count < MAX_NOTES && buf_append(&r->notes, text, strlen(text) + 1) == 0)
		r->note_count++;
	pthread_mutex_unlock(&r->lock);
}

void reader_damage(struct report *r)
{
	atomic_fetch_add_explicit(&r->damage, 1, memory_order_relaxed);
}

int report_is_damaged(const struct report *r)
{
	return atomic_load_explicit(&((struct report *)(uintptr_t)r)->damage, memory_order_relaxed) > 0;
}

size_t report_note_count(const struct report *r)
{
	return r->note_count;
}

const char *report_note(const struct report *r, size_t i)
{
	const char *text = r->notes.data;

	if (i >= r->note_count)
		return NULL;
	while (i--)
		text += strlen(text) + 1;
	return text;
}

struct scratch *reader_scratch_take(struct report *r)
{
	struct scratch *s;

	pthread_mutex_lock(&r->lock);
	s = r->scratch;
	if (s)
		r->scratch = s->next;
	pthread_mutex_unlock(&r->lock);
	return s ? s : calloc(1, sizeof(*s));
}

void reader_scratch_give(struct report *r, struct scratch *s)
{
	pthread_mutex_lock(&r->lock);
	s->next = r->scratch;
	r->scratch = s;
	pthread_mutex_unlock(&r->lock);
}

int reader_take_room(struct report *r, uint64_t bytes)
{
	uint64_t most = UNPACKED_ALWAYS + (r->size + r->journal_size) * UNPACKED_RATIO;

	if (atomic_fetch_add_explicit(&r->unpacked, bytes, memory_order_relaxed) + bytes <= most)
		return 1;
	atomic_fetch_sub_explicit(&r->unpacked, bytes, memory_order_relaxed);
	return 0;
}

static int check_block(struct report *r, struct block_ref *b, struct block_header *h, const uint8_t **payload, uint8_t **owned)
{
	TRY(block_peek(b->at, b->left, h));
	if (!block_sound(b->at, h, r->seed))
		return -EBADMSG;
	if (h->flags & BLOCK_COMPRESSED && !reader_take_room(r, h->raw_size))
		return -EBADMSG;
	return block_payload(b->at, h, payload, owned);
}

/* The first to have checked a block publishes it; whoever was slower drops his copy. */
int reader_load(struct report *r, uint32_t block)
{
	struct block_ref *b = &r->blocks[block];
	int rc, state = atomic_load_explicit(&b->state, memory_order_acquire);
	struct block_header h;
	const uint8_t *payload = NULL;
	uint8_t *owned = NULL;

	if (state != BLOCK_UNKNOWN)
		return state == BLOCK_GOOD ? 0 : -EBADMSG;
	rc = check_block(r, b, &h, &payload, &owned);
	if (rc == -ENOMEM)
		return rc;
	pthread_mutex_lock(&r->lock);
	state = atomic_load_explicit(&b->state, memory_order_relaxed);
	if (state == BLOCK_UNKNOWN && rc == 0) {
		b->payload = payload;
		b->payload_size = h.raw_size;
		b->items = h.items;
		b->owned = owned;
		owned = NULL;
	}
	if (state == BLOCK_UNKNOWN)
		atomic_store_explicit(&b->state, rc == 0 ? BLOCK_GOOD : BLOCK_BAD, memory_order_release);
	pthread_mutex_unlock(&r->lock);
	free(owned);
	if (rc < 0 && state == BLOCK_UNKNOWN) {
		reader_damage(r);
		reader_note(r, "a damaged block at byte %llu was skipped", (unsigned long long)b->offset);
	}
	return rc;
}

static struct report *report_new(void)
{
	struct report *r = calloc(1, sizeof(*r));

	if (r)
		pthread_mutex_init(&r->lock, NULL);
	return r;
}

void report_close(struct report *r)
{
	struct scratch *s;

	if (!r)
		return;
	for (size_t i = 0; i < r->block_count; i++)
		free(r->blocks[i].owned);
	free(r->blocks);
	for (unsigned i = 0; i < TABLE_ID_LIMIT; i++) {
		free(r->tables[i].groups);
		free(r->tables[i].places);
		free(r->tables[i].absent);
	}
	text_store_release(&r->strings);
	text_store_release(&r->blobs);
	while ((s = r->scratch)) {
		r->scratch = s->next;
		scratch_release(s);
		free(s);
	}
	buf_release(&r->notes);
	if (r->is_mapped) {
		munmap((void *)(uintptr_t)r->map, r->size);
		free(r->journal);
	}
	pthread_mutex_destroy(&r->lock);
	free(r);
}

static int check_header(struct report *r, const char *name, struct error *err)
{
	struct file_header h;

	if (r->size < sizeof(h) || memcmp(r->map, FILE_MAGIC, sizeof(h.magic)))
		return error_set(err, EBADMSG, "%s is not a Sonde report", name);
	memcpy(&h, r->map, sizeof(h));
	if (h.major > FORMAT_MAJOR)
		return error_set(err, EPROTO,
				 "%s was made by a newer Sonde (format %u.%u, this one reads up to %u): "
				 "read it with that version or update this one",
				 name, h.major, h.minor, FORMAT_MAJOR);
	if (!file_header_sound(&h) || h.size < sizeof(h) || h.size % 8 || h.size > r->size)
		return error_set(err, EBADMSG, "%s is damaged at its very beginning and cannot be read", name);
	memcpy(r->id, h.id, sizeof(r->id));
	r->seed = block_seed(h.id);
	return (int)(h.size < 4096 ? h.size : 4096);
}

int reader_footer(const struct report *r, struct footer *ret)
{
	struct block_header h;
	uint64_t at;

	if (r->size < sizeof(struct file_header) + FOOTER_BLOCK_SIZE || r->size % 8)
		return 0;
	at = r->size - FOOTER_BLOCK_SIZE;
	if (block_peek(r->map + at, FOOTER_BLOCK_SIZE, &h) < 0 || h.kind != BLOCK_FOOTER || h.size != sizeof(*ret) ||
	    !block_sound(r->map + at, &h, r->seed))
		return 0;
	memcpy(ret, r->map + at + sizeof(h), sizeof(*ret));
	return ret->magic == FOOTER_MAGIC && ret->file_size == r->size;
}

/* Back to nothing known, after a directory that turned out to be damaged. */
static void forget_directory(struct report *r)
{
	for (unsigned i = 0; i < TABLE_ID_LIMIT; i++)
		r->tables[i].count = r->tables[i].absent_count = r->tables[i].rows = 0;
	text_store_release(&r->strings);
	text_store_release(&r->blobs);
	memset(&r->strings, 0, sizeof(r->strings));
	memset(&r->blobs, 0, sizeof(r->blobs));
	for (size_t i = 0; i < r->block_count; i++)
		free(r->blocks[i].owned);
	r->block_count = 0;
	r->unknown_groups = r->rows = 0;
	r->has_too_many = 0;
}

static int index_report(struct report *r, const char *name, struct error *err)
{
	struct footer footer;
	struct error why;
	int rc, header = check_header(r, name, err);

	if (header < 0)
		return header;
	rc = -EBADMSG;
	if (reader_footer(r, &footer)) {
		rc = index_directory(r, &footer, &why);
		if (rc == -EBADMSG) {
			forget_directory(r);
			reader_note(r, "the directory is damaged; the file was searched instead");
		}
	}
	if (rc == -EBADMSG) {
		r->partial = 1;
		rc = scan_file(r, (uint64_t)header);
	}
	if (rc < 0)
		return error_set_errno(err, -rc, "cannot read %s", name);
	if (r->unknown_groups)
		reader_note(r, "%llu groups of tables this version does not know were skipped", (unsigned long long)r->unknown_groups);
	return 0;
}

int report_open_memory(struct report **ret, const void *data, size_t size, const void *journal, size_t journal_size, struct error *err)
{
	struct report *r = report_new();
	int rc;

	*ret = NULL;
	if (!r)
		return error_set(err, ENOMEM, "no memory for the report");
	r->map = data;
	r->size = size;
	r->journal = (uint8_t *)(uintptr_t)journal;
	r->journal_size = journal_size;
	rc = index_report(r, "the report", err);
	if (rc < 0)
		report_close(r);
	else
		*ret = r;
	return rc;
}

static int map_file(struct report *r, int fd, const char *path, struct error *err)
{
	struct stat st;
	void *map;

	if (fstat(fd, &st) < 0)
		return error_set_errno(err, errno, "cannot read %s", path);
	if (!S_ISREG(st.st_mode))
		return error_set(err, EBADMSG, "%s is not a file", path);
	if (st.st_size == 0)
		return error_set(err, EBADMSG, "%s is empty: its recording ended before it began", path);
	map = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_SHARED, fd, 0);
	if (map == MAP_FAILED)
		return error_set_errno(err, errno, "cannot map %s", path);
	r->map = map;
	r->size = (uint64_t)st.st_size;
	r->is_mapped = 1;
	return 0;
}

static int cannot_open(const char *path, int code, struct error *err)
{
	char part[4096];

	snprintf(part, sizeof(part), "%s.part", path);
	if (code != ENOENT)
		return error_set_errno(err, code, "cannot open %s", path);
	if (access(part, F_OK) == 0)
		return error_set(err, ENOENT,
				 "%s does not exist, but %s does: it is still being recorded, or the recorder was killed and 'sonde "
				 "recover %s' makes a report of it",
				 path, part, part);
	return error_set(err, ENOENT, "%s does not exist", path);
}

/* The journal is read before the file is looked at: what moves from the one to the other
 * meanwhile is then seen twice, and told apart, instead of not at all. */
static int map_report(struct report *r, int fd, const char *path, struct error *err)
{
	int rc = journal_read(path, &r->journal, &r->journal_size);

	if (rc == 0)
		rc = map_file(r, fd, path, err);
	if (rc < 0 && !r->is_mapped)
		free(r->journal);
	return rc;
}

int report_open(struct report **ret, const char *path, struct error *err)
{
	int rc, fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	struct report *r;

	*ret = NULL;
	if (fd < 0)
		return cannot_open(path, errno, err);
	r = report_new();
	rc = r ? map_report(r, fd, path, err) : error_set(err, ENOMEM, "no memory for the report");
	close(fd);
	if (rc == 0)
		rc = index_report(r, path, err);
	if (rc < 0)
		report_close(r);
	else
		*ret = r;
	return rc;
}

const void *report_bytes(const struct report *r, size_t *ret_size)
{
	*ret_size = (size_t)r->size;
	return r->map;
}

int report_is_partial(const struct report *r)
{
	return r->partial;
}

int report_check_whole(const struct report *r, const char *path, struct error *err)
{
	if (!r->partial || strstr(path_name(path), ".part"))
		return 0;
	return error_set(err, EBADMSG, "%s is cut off or damaged at its end; rename it to %s.part, and 'sonde recover' saves the rest",
			 path, path);
}

size_t report_group_count(const struct report *r, enum table_id table)
{
	return (unsigned)table < TABLE_ID_LIMIT ? r->tables[table].count : 0;
}

size_t report_absent_count(const struct report *r, enum table_id table)
{
	return (unsigned)table < TABLE_ID_LIMIT ? r->tables[table].absent_count : 0;
}

const struct report_group *report_group(const struct report *r, enum table_id table, size_t i)
{
	size_t count = report_group_count(r, table);

	if (i < count)
		return &r->tables[table].groups[i];
	return i - count < report_absent_count(r, table) ? &r->tables[table].absent[i - count] : NULL;
}

uint64_t report_row_count(const struct report *r, enum table_id table)
{
	return (unsigned)table < TABLE_ID_LIMIT ? r->tables[table].rows : 0;
}
