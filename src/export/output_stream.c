/* An output that is one stream: a file, standard output, or a file packed by gzip. */
#include <errno.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "base/text/ending.h"
#include "export/internal.h"

#define WRITE_SIZE (256 * 1024)

int export_write_failed(struct export *e, struct error *err)
{
	return error_set_errno(err, errno ? errno : EIO, "'%s' cannot be written", e->place.path);
}

/* What is larger than the buffer comes in one piece, and to write less of it is an error of the stream. */
static ssize_t packed_write(void *cookie, const char *data, size_t size)
{
	size_t done = 0;
	unsigned part;
	int written = 1;

	for (; done < size && written > 0; done += written > 0 ? (size_t)written : 0) {
		part = size - done < WRITE_SIZE ? (unsigned)(size - done) : WRITE_SIZE;
		written = gzwrite(cookie, data + done, part);
	}
	return (ssize_t)done;
}

static int packed_close(void *cookie)
{
	return gzclose(cookie) == Z_OK ? 0 : EOF;
}

/* The fastest level: a trace is several times smaller by it, and twice as fast as the usual one. */
static FILE *open_packed(int fd)
{
	static const cookie_io_functions_t functions = { .write = packed_write, .close = packed_close };
	gzFile file = gzdopen(fd, "wb1");
	FILE *stream;

	if (!file)
		return NULL;
	gzbuffer(file, WRITE_SIZE);
	stream = fopencookie(file, "w", functions);
	if (!stream)
		gzclose(file);
	return stream;
}

bool export_is_packed(const char *path)
{
	return text_has_ending(path, ".gz");
}

int export_stream_begin(struct export *e, struct error *err)
{
	int fd;

	errno = 0;
	if (!export_has_place(e)) {
		e->stream = e->request->stream;
		return 0;
	}
	fd = output_path_create(&e->place);
	if (fd < 0)
		return error_set_errno(err, -fd, "'%s' cannot be written", e->place.path);
	e->stream = export_is_packed(e->place.path) ? open_packed(fd) : fdopen(fd, "w");
	if (e->stream)
		setvbuf(e->stream, NULL, _IOFBF, WRITE_SIZE);
	else
		close(fd);
	return e->stream ? 0 : export_write_failed(e, err);
}

int export_stream_end(struct export *e, struct error *err)
{
	int failed = ferror(e->stream);
	int r = export_has_place(e) ? fclose(e->stream) : fflush(e->stream);

	e->stream = NULL;
	return r == 0 && !failed ? 0 : export_write_failed(e, err);
}

void export_stream_give_up(struct export *e)
{
	if (export_has_place(e) && e->stream)
		fclose(e->stream);
	e->stream = NULL;
}
