#include "support/text_report.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINE_SIZE (1u << 16) /* of the longest line, and so of any text in it */

static int column_of(const struct table_schema *schema, const char *name, size_t len)
{
	for (unsigned i = 0; i < schema->column_count; i++)
		if (strlen(schema->columns[i].name) == len && strncmp(schema->columns[i].name, name, len) == 0)
			return (int)i;
	return -1;
}

/* A quoted text with \" and \\ and \n; returns what follows it. */
static const char *read_text(const char *at, char *text, size_t *len)
{
	*len = 0;
	for (at++; *at && *at != '"'; at++) {
		if (*at == '\\' && at[1])
			at++;
		text[(*len)++] = *at == 'n' && at[-1] == '\\' ? '\n' : *at;
	}
	return *at ? at + 1 : at;
}

static const char *read_hex(const char *at, char *bytes, size_t *len)
{
	unsigned byte;

	*len = 0;
	for (at += 2; *at && *at != '\'' && sscanf(at, "%2x", &byte) == 1; at += 2)
		bytes[(*len)++] = (char)byte;
	return *at ? at + 1 : at;
}

static const char *read_value(struct report_writer *w, enum column_type type, const char *at, int64_t *ret)
{
	char bytes[LINE_SIZE];
	double real;
	char *end;
	size_t len;

	if (*at == '"') {
		at = read_text(at, bytes, &len);
		*ret = (int64_t)report_string(w, bytes, len);
		return at;
	}
	if (*at == 'x') {
		at = read_hex(at, bytes, &len);
		*ret = (int64_t)report_blob(w, bytes, len);
		return at;
	}
	if (type == COLUMN_TYPE_REAL) {
		real = strtod(at, &end);
		memcpy(ret, &real, sizeof(real));
	} else {
		*ret = strtoll(at, &end, 10);
	}
	return end;
}

static int append_line(struct report_writer *w, const char *line)
{
	int64_t values[TABLE_MAX_COLUMNS] = { 0 };
	uint32_t present = 0;
	char name[64];
	const struct table_schema *schema;
	unsigned track;
	int used = 0, column;
	size_t len;

	if (sscanf(line, "%63s %u %n", name, &track, &used) < 2 || !(schema = table_schema_by_name(name)))
		return -EINVAL;
	for (line += used; *line; line += strspn(line, " \n")) {
		len = strcspn(line, "=");
		column = column_of(schema, line, len);
		if (column < 0 || !line[len])
			return -EINVAL;
		line = read_value(w, schema->columns[column].type, line + len + 1, &values[column]);
		present |= 1u << column;
		if (*line && !isspace((unsigned char)*line))
			return -EINVAL;
	}
	return report_append(report_track(w, (enum table_id)schema->id, track), values, present);
}

int text_report_append(struct report_writer *w, const char *text_path, struct error *err)
{
	FILE *in = fopen(text_path, "re");
	char line[LINE_SIZE];
	unsigned number = 0;
	int r = 0;

	if (!in)
		return error_set_errno(err, errno, "%s", text_path);
	while (r >= 0 && fgets(line, sizeof(line), in)) {
		number++;
		if (line[0] != '#' && line[0] != '\n')
			r = append_line(w, line);
	}
	fclose(in);
	return r < 0 ? error_set(err, -r, "%s line %u cannot be understood", text_path, number) : 0;
}

int text_report_write(const char *text_path, const char *report_path, struct error *err)
{
	struct report_writer *w;
	int r = report_writer_open(&w, report_path, 1, NULL, 0, err);

	if (r < 0)
		return r;
	r = text_report_append(w, text_path, err);
	if (r < 0) {
		report_writer_abandon(w);
		return r;
	}
	return report_writer_finish(w, err);
}
