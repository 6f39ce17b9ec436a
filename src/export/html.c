/* One file that shows the report in any browser: the viewer's page, what answers its requests, and the report. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "export/internal.h"
#include "export/offline_page.h"
#include "report/reader.h"
#include "report/writer.h"

/* A multiple of 3: each piece is whole in base64. */
#define PIECE (3u << 12)

static void put_base64(FILE *out, const uint8_t *data, size_t size)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	static const char *const padding[] = { "", "==", "=" };
	char text[PIECE / 3 * 4];

	while (size) {
		size_t count = size < PIECE ? size : PIECE, digits_count = 0;

		for (size_t i = 0; i < count; i += 3) {
			uint32_t three = (uint32_t)data[i] << 16 | (i + 1 < count ? (uint32_t)data[i + 1] << 8 : 0) |
					 (i + 2 < count ? data[i + 2] : 0);

			for (unsigned k = 0; k < 4 && k <= count - i; k++)
				text[digits_count++] = digits[three >> (18 - 6 * k) & 63];
		}
		fwrite(text, 1, digits_count, out);
		fputs(padding[count % 3], out);
		data += count;
		size -= count;
	}
}

/* In an attribute. */
static void put_escaped(FILE *out, const char *text)
{
	for (; *text; text++) {
		if (strchr("<>&\"'", *text))
			fprintf(out, "&#%d;", *text);
		else
			putc(*text, out);
	}
}

static const char *shown_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static int put_bytes(struct export *e, int fd, struct error *err)
{
	void *data = MAP_FAILED;
	struct stat st;

	if (fstat(fd, &st) == 0)
		data = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (data == MAP_FAILED)
		return error_set_errno(err, errno, "Cannot read %s", e->request->input);
	put_base64(e->stream, data, (size_t)st.st_size);
	munmap(data, (size_t)st.st_size);
	return 0;
}

static bool keeps(void *context, int64_t start, int64_t end)
{
	return export_keeps(context, start, end);
}

/* What is to be shown as a report of its own: a file without a name. Returns its descriptor. */
static int copy_part(struct export *e, struct error *err)
{
	const struct export_times *times = &e->request->times;
	struct report_part part = { .from = times->given ? times->start : INT64_MIN, .to = times->given ? times->end : INT64_MAX,
				    .keeps = keeps, .context = e };
	const char *place = getenv("TMPDIR");
	char folder[PATH_MAX], path[PATH_MAX + 16];
	int fd = -1, r;

	snprintf(folder, sizeof(folder), "%s/sonde-html-XXXXXX", place && *place ? place : "/tmp");
	if (!mkdtemp(folder))
		return error_set_errno(err, errno, "No folder can be made in %s; TMPDIR may name a place", place && *place ? place : "/tmp");
	snprintf(path, sizeof(path), "%s/part.sonde", folder);
	r = report_copy(query_report(e->q), path, 0, &part, err);
	if (r >= 0)
		fd = open(path, O_RDONLY | O_CLOEXEC);
	if (r >= 0 && fd < 0)
		r = error_set_errno(err, errno, "Cannot read %s", path);
	unlink(path);
	rmdir(folder);
	return r < 0 ? r : fd;
}

/* A finished report goes into the page as it is. */
static int open_content(struct export *e, struct error *err)
{
	const char *path = e->request->opened ? e->request->opened : e->request->input;
	int fd;

	if (e->request->times.given || report_is_partial(query_report(e->q)))
		return copy_part(e, err);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	return fd < 0 ? error_set_errno(err, errno, "Cannot read %s", path) : fd;
}

static int write_html(struct export *e, struct error *err)
{
	int r, fd = open_content(e, err);

	if (fd < 0)
		return fd;
	fwrite(offline_page_head, 1, offline_page_head_size, e->stream);
	fputs("<script type=\"text/plain\" class=\"offline-report\" data-name=\"", e->stream);
	put_escaped(e->stream, shown_name(e->request->input));
	if (e->request->times.given) {
		fputs("\" data-note=\"Only events of ", e->stream);
		put_escaped(e->stream, e->request->times_text);
		fputs(" are in this file.", e->stream);
	}
	fputs("\">", e->stream);
	r = put_bytes(e, fd, err);
	close(fd);
	fputs("</script>\n", e->stream);
	fwrite(offline_page_tail, 1, offline_page_tail_size, e->stream);
	return r < 0 ? r : export_poll(e, "page", err);
}

static int begin(struct export *e, struct error *err)
{
	if (!offline_page_head_size)
		return error_set(err, ENOTSUP, "This sonde was built without its page for files of its own: install %s, and build it again",
				 offline_page_missing);
	if (e->shift)
		return error_set(err, EINVAL, "--ts-shift and --ts-normalize are not for html: the page shows the time of day itself");
	return export_stream_begin(e, err);
}

const struct export_format export_html = {
	.name = "html", .ending = ".html", .streams = true, .whole = write_html,
	.begin = begin, .end = export_stream_end, .give_up = export_stream_give_up,
};
