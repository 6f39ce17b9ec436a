#include "stats/format.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/macros.h"
#include "base/text/nearest.h"
#include "stats/format_internal.h"

static const struct {
	const char *name;
	const char *extension;
	const struct format_ops *ops;
	const char *arguments;
	const char *help;
} formats[] = {
	[FORMAT_COLUMN] = { "column", "txt", &format_column_ops, "[:nohdr][:nolimit][:nofmt][:width]...",
			    "Columns for reading. Widths: a number, '.' automatic, 0 hidden." },
	[FORMAT_TABLE] = { "table", "txt", &format_column_ops, "[:nohdr][:nolimit][:nofmt][:width]...",
			   "The same with lines drawn around." },
	[FORMAT_CSV] = { "csv", "csv", &format_csv_ops, "[:nohdr]", "Comma-separated values (RFC 4180)." },
	[FORMAT_TSV] = { "tsv", "tsv", &format_csv_ops, "[:nohdr][:esc]",
			 "Tab-separated values; tabs in texts become blanks, with esc \\t." },
	[FORMAT_JSON] = { "json", "json", &format_json_ops, "", "An array with one object per row." },
	[FORMAT_HDOC] = { "hdoc", "html", &format_html_ops, "[:title=text][:css=file]", "A whole HTML page." },
	[FORMAT_HTABLE] = { "htable", "html", &format_html_ops, "", "A bare HTML table." },
};

#define FORMAT_COUNT COUNT_OF(formats)

int format_describe(unsigned i, const char **ret_name, const char **ret_arguments, const char **ret_help)
{
	if (i >= FORMAT_COUNT)
		return 0;
	*ret_name = formats[i].name;
	*ret_arguments = formats[i].arguments;
	*ret_help = formats[i].help;
	return 1;
}

const char *format_extension(enum format_kind kind)
{
	return formats[kind].extension;
}

int format_is_for_people(enum format_kind kind)
{
	return kind == FORMAT_COLUMN || kind == FORMAT_TABLE;
}

static int parse_name(struct format_spec *spec, const char *name, size_t len, struct error *err)
{
	struct nearest nearest;
	char word[64], hint[128];

	for (unsigned i = 0; i < FORMAT_COUNT; i++)
		if (strlen(formats[i].name) == len && strncmp(formats[i].name, name, len) == 0) {
			spec->kind = (enum format_kind)i;
			return 0;
		}
	snprintf(word, sizeof(word), "%.*s", (int)(len < 60 ? len : 60), name);
	nearest_begin(&nearest, word);
	for (unsigned i = 0; i < FORMAT_COUNT; i++)
		nearest_offer(&nearest, formats[i].name, strlen(formats[i].name));
	return error_set(err, EINVAL, "Unknown format '%s'.%s", word, nearest_hint(&nearest, "", hint, sizeof(hint)));
}

static int is_columns(const struct format_spec *spec)
{
	return spec->kind == FORMAT_COLUMN || spec->kind == FORMAT_TABLE;
}

static int parse_width(struct format_spec *spec, const char *word)
{
	char *end;
	long width = strtol(word, &end, 10);

	if (!is_columns(spec) || spec->width_count == FORMAT_MAX_WIDTHS)
		return 0;
	if (strcmp(word, ".") == 0)
		width = -1;
	else if (end == word || *end || width < 0 || width > 100000)
		return 0;
	spec->widths[spec->width_count++] = (int)width;
	return 1;
}

static int parse_flag(struct format_spec *spec, const char *word)
{
	int is_html = spec->kind == FORMAT_HDOC;

	if (strcmp(word, "nohdr") == 0 && spec->kind <= FORMAT_TSV)
		spec->no_header = 1;
	else if (strcmp(word, "nolimit") == 0 && is_columns(spec))
		spec->no_limit = 1;
	else if (strcmp(word, "nofmt") == 0 && is_columns(spec))
		spec->no_separators = 1;
	else if (strcmp(word, "esc") == 0 && spec->kind == FORMAT_TSV)
		spec->escape_tabs = 1;
	else if (strncmp(word, "title=", 6) == 0 && is_html)
		snprintf(spec->title, sizeof(spec->title), "%s", word + 6);
	else if (strncmp(word, "css=", 4) == 0 && is_html)
		snprintf(spec->css, sizeof(spec->css), "%s", word + 4);
	else
		return parse_width(spec, word);
	return 1;
}

static int parse_argument(struct format_spec *spec, const char *word, struct error *err)
{
	if (strncmp(word, "time=", 5) == 0) {
		spec->has_unit = 1;
		return time_unit_parse(word + 5, &spec->unit, err);
	}
	if (!parse_flag(spec, word))
		return error_set(err, EINVAL, "Format %s has no argument '%s': %s%s", formats[spec->kind].name, word,
				 formats[spec->kind].name, formats[spec->kind].arguments);
	return 0;
}

int format_parse(struct format_spec *ret, const char *text, struct error *err)
{
	size_t len = strcspn(text, ":");
	char word[256];
	int r;

	memset(ret, 0, sizeof(*ret));
	r = parse_name(ret, text, len, err);
	for (text += len; r >= 0 && *text; text += len) {
		text++;
		len = strcspn(text, ":");
		if (len >= sizeof(word))
			return error_set(err, EINVAL, "An argument of the format is too long");
		memcpy(word, text, len);
		word[len] = '\0';
		if (len)
			r = parse_argument(ret, word, err);
	}
	return r;
}

int format_flush_line(struct formatter *f)
{
	size_t len = f->line.len, written;
	int r = buf_result(&f->line);

	errno = 0;
	written = len ? fwrite(f->line.data, 1, len, f->out) : 0;
	buf_clear(&f->line);
	if (written != len)
		return errno ? -errno : -EIO;
	return r;
}

int formatter_open(struct formatter **ret, const struct format_spec *spec, const struct format_target *target,
		   const struct table_column *columns, size_t column_count)
{
	struct formatter *f = calloc(1, sizeof(*f));
	int r;

	if (!f)
		return -ENOMEM;
	f->ops = formats[spec->kind].ops;
	f->spec = *spec;
	f->out = target->out;
	f->unit = spec->has_unit ? spec->unit : target->unit;
	f->title = target->title;
	f->columns = columns;
	f->column_count = column_count;
	r = f->ops->begin ? f->ops->begin(f) : 0;
	if (r < 0) {
		f->ops = NULL;
		formatter_close(f);
		return r;
	}
	*ret = f;
	return 0;
}

int formatter_row(struct formatter *f, const struct cell *cells)
{
	int r = f->ops->row(f, cells);

	f->rows++;
	return r;
}

int formatter_close(struct formatter *f)
{
	int r = f->ops && f->ops->end ? f->ops->end(f) : 0;

	for (size_t i = 0; f->sample && i < FORMAT_SAMPLE_ROWS * f->column_count; i++)
		buf_release(&f->sample[i]);
	free(f->sample);
	free(f->sample_number);
	free(f->widths);
	free(f->right);
	buf_release(&f->line);
	if (r >= 0 && fflush(f->out) != 0)
		r = -errno;
	free(f);
	return r;
}
