#include "ingest/foreign.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "base/text/path.h"
#include "ingest/kineto/kineto.h"
#include "ingest/ncu.h"
#include "ingest/nsys/nsys.h"
#include "ingest/pickle/pickle.h"
#include "ingest/snapshot/snapshot.h"
#include "ingest/input/trace_file.h"

#define SQLITE_MAGIC "SQLite format 3" /* and its NUL */
#define LOOK 65536                     /* bytes: before its table ncu prints what it and the program had to say */

static int has_import_ending(const char *path, const char *ending)
{
	size_t len = strlen(path), ending_len = strlen(ending);

	return len > ending_len && strcasecmp(path + len - ending_len, ending) == 0;
}

static int begins_with(const char *text, size_t len, const char *magic, size_t magic_len)
{
	return len >= magic_len && memcmp(text, magic, magic_len) == 0;
}

static int looks_like_json(const char *text, size_t len)
{
	size_t i = begins_with(text, len, "\xef\xbb\xbf", 3) ? 3 : 0;

	while (i < len && strchr(" \t\r\n", text[i]) && text[i])
		i++;
	return i < len && (text[i] == '{' || text[i] == '[');
}

/* Of what is packed by gzip only traces and snapshots are read. */
static enum foreign_kind packed_kind(const char *text, size_t len)
{
	char begin[4096];
	z_stream z = {
		.next_in = (z_const Bytef *)(uintptr_t)text, .avail_in = (uInt)len, .next_out = (Bytef *)begin, .avail_out = sizeof(begin)
	};
	size_t got;

	if (inflateInit2(&z, 16 + MAX_WBITS) != Z_OK)
		return FOREIGN_JSON;
	inflate(&z, Z_SYNC_FLUSH);
	got = sizeof(begin) - z.avail_out;
	inflateEnd(&z);
	if (pickle_is(begin, got))
		return FOREIGN_PICKLE;
	return begins_with(begin, got, SQLITE_MAGIC, sizeof(SQLITE_MAGIC)) || ncu_is_table(begin, got) ? FOREIGN_PACKED : FOREIGN_JSON;
}

static enum foreign_kind detect_foreign_kind(const char *path, const char *text, size_t len)
{
	if (len == 0)
		return FOREIGN_EMPTY;
	if (begins_with(text, len, "SONDE", 5))
		return FOREIGN_NOT;
	if (begins_with(text, len, SQLITE_MAGIC, sizeof(SQLITE_MAGIC)))
		return FOREIGN_SQLITE;
	if (begins_with(text, len, "NVR", 4) || has_import_ending(path, ".ncu-rep"))
		return FOREIGN_NCU;
	if (has_import_ending(path, ".nsys-rep") || has_import_ending(path, ".qdrep") || has_import_ending(path, ".qdstrm"))
		return FOREIGN_NSYS;
	if (begins_with(text, len, "\x1f\x8b", 2))
		return packed_kind(text, len);
	if (pickle_is(text, len))
		return FOREIGN_PICKLE;
	/* What a program prints before the table may begin with a bracket. */
	if (ncu_is_table(text, len))
		return FOREIGN_CSV;
	if (looks_like_json(text, len))
		return FOREIGN_JSON;
	/* What is cut off or not well-formed is for its reader to say. */
	if (has_import_ending(path, ".json") || has_import_ending(path, ".json.gz"))
		return FOREIGN_JSON;
	return has_import_ending(path, ".csv") ? FOREIGN_CSV : FOREIGN_UNKNOWN;
}

int foreign_recognize(const char *path, enum foreign_kind *ret, struct error *err)
{
	int file = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK), code;
	static const size_t look = LOOK;
	char text[LOOK];
	struct stat about;
	ssize_t n = 0;
	size_t len = 0;

	if (file < 0 || fstat(file, &about) < 0) {
		code = errno;
		if (file >= 0)
			close(file);
		return error_set_errno(err, code, "'%s' cannot be opened", path);
	}
	if (!S_ISREG(about.st_mode)) {
		close(file);
		return error_set(err, EINVAL, "'%s' is not a file", path);
	}
	while (len < look && (n = pread(file, text + len, look - len, (off_t)len)) > 0)
		len += (size_t)n;
	code = errno;
	close(file);
	if (n < 0)
		return error_set_errno(err, code, "'%s' cannot be read", path);
	*ret = detect_foreign_kind(path, text, len);
	return 0;
}

int foreign_is_readable(enum foreign_kind kind)
{
	return kind == FOREIGN_JSON || kind == FOREIGN_SQLITE || kind == FOREIGN_CSV || kind == FOREIGN_PICKLE;
}

void foreign_advice(const char *path, enum foreign_kind kind, char *ret, size_t size)
{
	const char *name = path_name(path), *dot = strrchr(name, '.');
	int len = dot ? (int)(dot - name) : (int)strlen(name);

	switch (kind) {
	case FOREIGN_NSYS:
		snprintf(ret, size, "is in a format that only nsys reads; 'nsys export -t sqlite %s' writes %.*s.sqlite, which Sonde reads",
			 path, len, name);
		break;
	case FOREIGN_NCU:
		snprintf(ret, size,
			 "is in a format that only ncu reads; 'ncu --import %s --csv --page raw > %.*s.csv' writes a file that Sonde "
			 "reads",
			 path, len, name);
		break;
	case FOREIGN_PACKED:
		snprintf(ret, size, "is compressed and not a trace; 'gunzip -k %s' writes %.*s, which Sonde reads", path, len, name);
		break;
	case FOREIGN_EMPTY: snprintf(ret, size, "is empty"); break;
	case FOREIGN_NOT: snprintf(ret, size, "is a report already"); break;
	default:
		snprintf(ret, size,
			 "is neither a report nor a trace that can be imported: JSON of torch.profiler or Chrome, SQLite of "
			 "nsys export, CSV of ncu --page raw, memory snapshots of PyTorch");
	}
}

static void report_trouble(struct foreign_result *ret, const struct source *source, const struct kineto_result *kineto,
			   const struct ncu_result *ncu)
{
	size_t len = 0;

	if (source->trouble)
		len = (size_t)snprintf(ret->trouble, sizeof(ret->trouble), "%.200s%s", source->trouble,
				       kineto->trouble || ncu->trouble ? "; " : "");
	if (kineto->trouble)
		snprintf(ret->trouble + len, sizeof(ret->trouble) - len,
			 "line %zu, byte %zu: %.200s. The %llu events before it are in the report, and %llu behind it; %llu %s malformed",
			 kineto->line, kineto->offset, kineto->trouble, (unsigned long long)kineto->before,
			 (unsigned long long)(kineto->events - kineto->before), (unsigned long long)kineto->troubles,
			 kineto->troubles == 1 ? "place is" : "places are");
	if (ncu->trouble)
		snprintf(ret->trouble + len, sizeof(ret->trouble) - len, "line %zu: %.200s. The %llu kernels before it are in the report",
			 ncu->line, ncu->trouble, (unsigned long long)ncu->kernels);
}

/* Tables are read as a whole. */
static int import_table(struct source *source, struct report_writer *writer, struct ncu_result *ret, struct error *err)
{
	source_hold_all(source);
	return ncu_import(source->text, source->len, writer, ret, err);
}

/* Any JSON could be a trace until it is read. */
static int say_no_events(const char *path, const struct kineto_result *r, struct error *err)
{
	char where[300] = "";

	if (r->trouble)
		snprintf(where, sizeof(where), " (line %zu, byte %zu: %.200s)", r->line, r->offset, r->trouble);
	return error_set(err, ENODATA,
			 "'%s' has no trace events, neither in an array \"traceEvents\" of an object nor in an array at the top%s", path,
			 where);
}

static int import_snapshot(const char *path, struct report_writer *writer, struct error *err)
{
	struct error why = { "" };
	struct source source;
	int r = source_open(&source, path, err);

	if (r >= 0) {
		r = snapshot_import(&source, writer, &why);
		if (r < 0)
			error_set(err, -r, "'%s' %s", path, why.text);
	}
	source_close(&source);
	return r;
}

static int import_text(const char *path, enum foreign_kind kind, struct report_writer *writer, struct foreign_result *ret,
		       struct error *err)
{
	struct kineto_result kineto = { 0 };
	struct ncu_result ncu = { 0 };
	struct source source;
	int r = source_open(&source, path, err);

	if (r >= 0)
		r = kind == FOREIGN_CSV ? import_table(&source, writer, &ncu, err) : kineto_import(&source, writer, &kineto, err);
	if (r == -ENODATA)
		say_no_events(path, &kineto, err);
	if (r >= 0)
		report_trouble(ret, &source, &kineto, &ncu);
	source_close(&source);
	return r;
}

int foreign_import(const char *path, enum foreign_kind kind, struct report_writer *writer, struct foreign_result *ret, struct error *err)
{
	struct nsys_result nsys;
	int r;

	*ret = (struct foreign_result){ .trouble = "" };
	if (kind == FOREIGN_PICKLE)
		return import_snapshot(path, writer, err);
	if (kind != FOREIGN_SQLITE)
		return import_text(path, kind, writer, ret, err);
	r = nsys_import(path, writer, &nsys, err);
	if (r >= 0) {
		snprintf(ret->trouble, sizeof(ret->trouble), "%s", nsys.trouble);
		snprintf(ret->note, sizeof(ret->note), "%s", nsys.note);
	}
	return r;
}
