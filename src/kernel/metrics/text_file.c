#include "kernel/metrics/text_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/text/path.h"

/* A plain file; a pipe of that name would make us wait for its writer. */
static FILE *open_plain(const char *path)
{
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	struct stat status;
	FILE *file = NULL;

	if (fd < 0)
		return NULL;
	if (fstat(fd, &status) == 0 && !S_ISREG(status.st_mode))
		errno = EINVAL;
	else
		file = fdopen(fd, "r");
	if (!file)
		close(fd);
	return file;
}

char *text_file_name(const char *path)
{
	const char *name = path_name(path), *dot = strrchr(name, '.');

	return strndup(name, dot ? (size_t)(dot - name) : strlen(name));
}

int text_file_read(const char *path, char **ret, size_t *ret_size, struct error *err)
{
	FILE *file = open_plain(path);
	char *data;

	if (!file)
		return error_set_errno(err, errno, "%s cannot be read", path);
	data = malloc(TEXT_FILE_MOST + 1);
	if (!data) {
		fclose(file);
		return error_set(err, ENOMEM, "Not enough memory");
	}
	*ret_size = fread(data, 1, TEXT_FILE_MOST + 1, file);
	fclose(file);
	if (*ret_size > TEXT_FILE_MOST) {
		free(data);
		return error_set(err, EINVAL, "%s is larger than %u bytes", path, TEXT_FILE_MOST);
	}
	*ret = data;
	return 0;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

struct text_part text_trim(struct text_part part)
{
	while (part.len && is_blank(*part.text)) {
		part.text++;
		part.len--;
	}
	while (part.len && is_blank(part.text[part.len - 1]))
		part.len--;
	return part;
}

int text_refuse(const struct text_lines *lines, struct error *err, const char *what)
{
	return error_set(err, EINVAL, "%s:%u: %s", lines->path, lines->number, what);
}

/* The end of the line that begins here. */
static const char *line_end(const char *at, const char *end)
{
	const char *newline = memchr(at, '\n', (size_t)(end - at));

	return newline ? newline : end;
}

static bool goes_on(const char *at, const char *end)
{
	while (at < end && (*at == ' ' || *at == '\t'))
		at++;
	return at < end && *at == '|';
}

int text_next_line(struct text_lines *lines, struct text_part *ret, struct error *err)
{
	const char *end;

	while (lines->at < lines->end) {
		lines->number += 1 + lines->more;
		lines->more = 0;
		end = line_end(lines->at, lines->end);
		for (; end < lines->end && goes_on(end + 1, lines->end); lines->more++)
			end = line_end(end + 1, lines->end);
		*ret = (struct text_part){ lines->at, (size_t)(end - lines->at) };
		lines->at = end < lines->end ? end + 1 : end;
		if (ret->len > TEXT_LINE_MOST)
			return text_refuse(lines, err, "the line is too long");
		if (memchr(ret->text, '\0', ret->len))
			return text_refuse(lines, err, "the file is not text");
		*ret = text_trim(*ret);
		if (ret->len && ret->text[0] != '#')
			return 1;
	}
	return 0;
}

bool text_split(struct text_part whole, char separator, struct text_part *ret_before, struct text_part *ret_after)
{
	const char *at = memchr(whole.text, separator, whole.len);

	if (!at)
		return false;
	*ret_before = text_trim((struct text_part){ whole.text, (size_t)(at - whole.text) });
	*ret_after = text_trim((struct text_part){ at + 1, whole.len - (size_t)(at - whole.text) - 1 });
	return true;
}

bool text_is(struct text_part part, const char *word)
{
	return part.len == strlen(word) && memcmp(part.text, word, part.len) == 0;
}

struct text_part text_take_unit(struct text_part *part)
{
	struct text_part unit = { part->text, 0 };
	size_t open = part->len;

	if (!part->len || part->text[part->len - 1] != ']')
		return unit;
	while (open && part->text[open - 1] != '[')
		open--;
	if (!open)
		return unit;
	unit = text_trim((struct text_part){ part->text + open, part->len - open - 1 });
	*part = text_trim((struct text_part){ part->text, open - 1 });
	return unit;
}

char *text_copy(struct text_part part)
{
	return strndup(part.text, part.len);
}

static int visit_entries(const char *folder, struct dirent **entries, int count, int (*visit)(void *context, const char *path),
			 void *context)
{
	char path[4096];
	int r = 0;

	for (int i = 0; i < count; i++) {
		if (r >= 0 && (size_t)snprintf(path, sizeof(path), "%s/%s", folder, entries[i]->d_name) < sizeof(path))
			r = visit(context, path);
		free(entries[i]);
	}
	TRY(r);
	return 0;
}

int text_each_file(const char *folder, const char *ending, int (*visit)(void *context, const char *path), void *context)
{
	struct dirent **entries;
	int count = scandir(folder, &entries, NULL, alphasort), kept = 0, r;
	size_t len, ending_len = strlen(ending);

	if (count < 0)
		return errno == ENOMEM ? -ENOMEM : -ENOENT;
	for (int i = 0; i < count; i++) {
		len = strlen(entries[i]->d_name);
		if (len > ending_len && entries[i]->d_name[0] != '.' && strcmp(entries[i]->d_name + len - ending_len, ending) == 0)
			entries[kept++] = entries[i];
		else
			free(entries[i]);
	}
	r = visit_entries(folder, entries, kept, visit, context);
	free(entries);
	return r;
}
