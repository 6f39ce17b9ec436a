/* What room there is for a file: on its disk, and below the limit on the size of files. */
#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/statvfs.h>

#include "report/write/internal.h"

#define FLOOR_BYTES (256ull << 20)
#define FLOOR_PERCENT 3
/* Parts of a small disk, or of what a file may hold, that are kept for the end of the file and that the journal may take. */
#define DISK_PART 16
#define LIMIT_PART 4
/* Less than this holds no report. */
#define LEAST_BYTES (256ull << 10)

static uint64_t limit_room_size(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t size_limit(void)
{
	struct rlimit limit;

	return getrlimit(RLIMIT_FSIZE, &limit) < 0 || limit.rlim_cur == RLIM_INFINITY ? UINT64_MAX : limit.rlim_cur;
}

void room_measure(struct report_writer *w)
{
	struct statvfs disk = { 0 };
	uint64_t part, size;

	w->size_limit = size_limit();
	part = w->size_limit / LIMIT_PART;
	/* Some filesystems do not say how large they are. */
	if (fstatvfs(w->fd, &disk) == 0 && disk.f_blocks) {
		size = (uint64_t)disk.f_blocks * disk.f_frsize;
		part = limit_room_size(part, size / DISK_PART);
		if (!w->floor_given)
			w->floor_bytes = limit_room_size(FLOOR_BYTES, size / 100 * FLOOR_PERCENT);
	}
	w->finish_reserve = limit_room_size(FINISH_RESERVE, part);
	if (!w->parked)
		w->journal_limit = limit_room_size(w->journal_limit, part);
}

void report_writer_set_disk_floor(struct report_writer *w, uint64_t bytes)
{
	w->floor_bytes = bytes;
	w->floor_given = 1;
}

/* How large the file is to be at its end, if nothing more came. */
static uint64_t size_at_end(const struct report_writer *w)
{
	return w->size + w->finish_reserve + w->builder_bytes / 4 + w->entry_count * sizeof(struct entry) / 2;
}

/* Keeps room for the directory and the rest of the rows allocated behind the end of the
 * file. Best effort: where the filesystem cannot, the floor of free space has to do. */
static int reserve(struct report_writer *w)
{
	uint64_t want = size_at_end(w);

	if (want <= w->reserved)
		return 0;
	want = limit_room_size(want + w->finish_reserve, w->size_limit);
	if (want <= w->size || fallocate(w->fd, FALLOC_FL_KEEP_SIZE, (off_t)w->size, (off_t)(want - w->size)) == 0)
		w->reserved = want;
	else if (errno == ENOSPC)
		return -ENOSPC;
	return 0;
}

static int limit_error(const struct report_writer *w, struct error *err)
{
	return error_set(err, EFBIG, "%s may not be larger than %llu kB, the limit on the size of files ('ulimit -f')", w->path,
			 (unsigned long long)(w->size_limit >> 10));
}

static int disk_error(const struct report_writer *w, uint64_t left, struct error *err)
{
	return error_set(err, ENOSPC,
			 "only %llu MB are free where %s is written (%llu MB are kept free); free some space or choose another folder "
			 "with -o",
			 (unsigned long long)(left >> 20), w->path, (unsigned long long)(w->floor_bytes >> 20));
}

static int check_disk_room(struct report_writer *w, struct error *err)
{
	struct statvfs disk;
	uint64_t left;
	int r;

	if (size_at_end(w) > w->size_limit)
		return limit_error(w, err);
	r = w->ring.on ? 0 : reserve(w);
	if (fstatvfs(w->fd, &disk) < 0 || !disk.f_blocks)
		return r < 0 ? error_set_errno(err, -r, "cannot write %s", w->part_path) : 0;
	left = (uint64_t)disk.f_bavail * disk.f_frsize;
	return r < 0 || left < w->floor_bytes ? disk_error(w, left, err) : 0;
}

int room_check(struct report_writer *w, struct error *err)
{
	int r;

	if (w->parked)
		return 0;
	r = check_disk_room(w, err);
	if (r == 0 || !w->builder_bytes)
		return r;
	/* What rows will take is not known before they are encoded; mostly it is much less. */
	r = flush_all(w, 1);
	return r < 0 ? error_set_errno(err, -r, "cannot write %s", w->part_path) : check_disk_room(w, err);
}

int room_check_first(struct report_writer *w, struct error *err)
{
	return w->size_limit < LEAST_BYTES ? limit_error(w, err) : room_check(w, err);
}

int room_for_texts(const struct report_writer *w, uint64_t bytes)
{
	return !w->stopped || bytes < w->finish_reserve / 2;
}
