/* One file that shows the report in any browser: the viewer's page, what answers its requests, and the report. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/text/path.h"
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

/* What goes into the page. */
struct content {
	int fd;
	uint64_t size;
	uint64_t left_out; /* events of which only the levels of detail tell */
	int exact_fd;      /* the report with them; -1: it is in the page itself */
};

static int content_measure(struct content *c, struct error *err)
{
	struct stat st;

	if (fstat(c->fd, &st) < 0)
		return error_set_errno(err, errno, "The report cannot be read");
	c->size = (uint64_t)st.st_size;
	return 0;
}

static bool keeps_event(void *context, int64_t start, int64_t end)
{
	return export_keeps(context, start, end);
}

static int write_html_part(struct export *e, struct report *r, const char *path, struct content *c, struct error *err)
{
	const struct export_times *times = &e->request->times;
	struct report_part part = { .from = times->given ? times->start : INT64_MIN,
				    .to = times->given ? times->end : INT64_MAX,
				    .keeps = keeps_event,
				    .context = e };

	return report_copy(r, path, 0, &part, err);
}

static int write_outline(struct export *e, struct report *r, const char *path, struct content *c, struct error *err)
{
	return report_outline(r, path, &c->left_out, err);
}

/* A report made of another, in a file without a name that takes the place of what is there. */
static int content_make(struct export *e, struct report *r, struct content *c,
			int (*write)(struct export *, struct report *, const char *, struct content *, struct error *), struct error *err)
{
	const char *place = getenv("TMPDIR");
	char folder[PATH_MAX], path[PATH_MAX + 16];
	int fd, rc;

	snprintf(folder, sizeof(folder), "%s/sonde-html-XXXXXX", place && *place ? place : "/tmp");
	if (!mkdtemp(folder))
		return error_set_errno(err, errno, "Cannot make a folder for a copy of the report; set TMPDIR to a writable folder");
	snprintf(path, sizeof(path), "%s/part.sonde", folder);
	rc = write(e, r, path, c, err);
	fd = rc < 0 ? -1 : open(path, O_RDONLY | O_CLOEXEC);
	if (rc >= 0 && fd < 0)
		rc = error_set_errno(err, errno, "Cannot read %s", path);
	unlink(path);
	rmdir(folder);
	if (rc < 0)
		return rc;
	c->exact_fd = c->fd;
	c->fd = fd;
	return content_measure(c, err);
}

/* By level of detail. */
static int content_outline(struct export *e, struct content *c, struct error *err)
{
	struct report *r;
	char path[64];
	int rc;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", c->fd);
	TRY(report_open(&r, path, err));
	rc = content_make(e, r, c, write_outline, err);
	report_close(r);
	return rc;
}

/* A finished report goes into the page as it is, unless it is too large. */
static int content_open(struct export *e, struct content *c, struct error *err)
{
	const char *path = e->request->opened ? e->request->opened : e->request->input;
	int r = 0;

	c->fd = -1;
	if (e->request->times.given || report_is_partial(query_report(e->q))) {
		r = content_make(e, query_report(e->q), c, write_html_part, err);
	} else {
		c->fd = open(path, O_RDONLY | O_CLOEXEC);
		r = c->fd < 0 ? error_set_errno(err, errno, "Cannot read %s", path) : content_measure(c, err);
	}
	if (r == 0 && e->request->most_bytes && c->size > e->request->most_bytes)
		r = content_outline(e, c, err);
	return r;
}

static int put_bytes(struct export *e, const struct content *c, struct error *err)
{
	void *data = mmap(NULL, c->size, PROT_READ, MAP_PRIVATE, c->fd, 0);

	if (data == MAP_FAILED)
		return error_set_errno(err, errno, "The report cannot be read");
	put_base64(e->stream, data, c->size);
	munmap(data, c->size);
	return 0;
}

/* What the page says of the report. */
static void put_note(struct export *e, const struct content *c)
{
	const struct export_times *times = &e->request->times;

	if (!times->given && !c->left_out)
		return;
	if (times->given && times->start > INT64_MIN / 2 && times->end < INT64_MAX / 2)
		fprintf(e->stream, " data-from=\"%lld\" data-to=\"%lld\"", (long long)times->start, (long long)times->end);
	fputs(" data-note=\"", e->stream);
	if (times->given) {
		fputs("Only events of ", e->stream);
		put_escaped(e->stream, e->request->times_text);
		fputs(" are in this file. ", e->stream);
	}
	if (c->left_out)
		fprintf(e->stream, "By level of detail: it does not have %llu single events; export a time range to have them.",
			(unsigned long long)c->left_out);
	fputs("\"", e->stream);
}

static int put_html_report(struct export *e, const struct content *c, struct error *err)
{
	int r;

	fputs("<script type=\"text/plain\" class=\"offline-report\" data-name=\"", e->stream);
	put_escaped(e->stream, path_name(e->request->input));
	fputs("\"", e->stream);
	put_note(e, c);
	fputs(">", e->stream);
	r = put_bytes(e, c, err);
	fputs("</script>\n", e->stream);
	return r;
}

/* What the page cannot compute without the events. */
static int put_answers(struct export *e, const struct content *c, struct error *err)
{
	char path[64];
	int r;

	if (!c->left_out || !e->request->answers)
		return 0;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", c->exact_fd);
	fputs("<script type=\"application/json\" id=\"offline-answers\">", e->stream);
	r = e->request->answers(e->request->answers_context, path, e->stream, err);
	fputs("</script>\n", e->stream);
	return r;
}

static void put_packed(struct export *e, const char *id, const struct buf *bytes)
{
	fprintf(e->stream, "<script type=\"text/plain\" id=\"%s\">", id);
	put_base64(e->stream, (const uint8_t *)bytes->data, bytes->len);
	fputs("</script>\n", e->stream);
}

/* Rows that the viewer makes; they cannot be made without the events. */
static int put_made(struct export *e, const struct content *c, struct error *err)
{
	struct buf report = BUF_INIT, tracks = BUF_INIT;
	char path[64];
	int r;

	if (c->left_out || !e->request->made)
		return 0;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", c->fd);
	r = e->request->made(e->request->answers_context, path, &report, &tracks, err);
	if (r == 0 && report.len) {
		put_packed(e, "offline-made", &report);
		put_packed(e, "offline-made-tracks", &tracks);
	}
	buf_release(&report);
	buf_release(&tracks);
	return r;
}

/* Sections and rules of the user's own. */
static void put_texts(struct export *e)
{
	for (size_t i = 0; i < e->request->text_count; i++) {
		const struct export_text *text = &e->request->texts[i];

		fputs("<script type=\"text/plain\" class=\"offline-text\" data-name=\"", e->stream);
		put_escaped(e->stream, text->name);
		fputs("\">", e->stream);
		put_base64(e->stream, (const uint8_t *)text->data, text->size);
		fputs("</script>\n", e->stream);
	}
}

static int put_data(struct export *e, struct content *c, struct error *err)
{
	TRY(put_html_report(e, c, err));
	TRY(put_answers(e, c, err));
	return put_made(e, c, err);
}

static int write_html(struct export *e, struct error *err)
{
	struct content c = { .fd = -1, .exact_fd = -1 };
	int r = content_open(e, &c, err);

	if (r == 0) {
		fwrite(offline_page_head, 1, offline_page_head_size, e->stream);
		put_texts(e);
		r = put_data(e, &c, err);
		fwrite(offline_page_tail, 1, offline_page_tail_size, e->stream);
	}
	e->left_out = c.left_out;
	if (c.fd >= 0)
		close(c.fd);
	if (c.exact_fd >= 0)
		close(c.exact_fd);
	TRY(r);
	return export_poll(e, "page", err);
}

static int begin_html_page(struct export *e, struct error *err)
{
	if (!offline_page_head_size)
		return error_set(err, ENOTSUP, "This sonde was built without the offline page: install %s and build it again",
				 offline_page_missing);
	if (e->shift)
		return error_set(err, EINVAL,
				 "--ts-shift and --ts-normalize are not supported with -t html; the page shows the time "
				 "of day itself");
	return export_stream_begin(e, err);
}

/* clang-format off */
const struct export_format export_html = {
	.name = "html", .streams = true, .whole = write_html,
	.begin = begin_html_page, .end = export_stream_end, .give_up = export_stream_give_up,
};
/* clang-format on */
