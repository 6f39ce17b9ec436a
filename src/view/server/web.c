#include "view/server/web.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/macros.h"

const struct web_file *web_find(const char *path)
{
	for (const struct web_file *f = web_files; f->path; f++)
		if (strcmp(f->path, path) == 0)
			return f;
	return NULL;
}

static const char *type_of(const char *path)
{
	static const char *const types[][2] = {
		{ ".html", "text/html; charset=utf-8" },
		{ ".js", "text/javascript; charset=utf-8" },
		{ ".css", "text/css; charset=utf-8" },
		{ ".svg", "image/svg+xml" },
		{ ".png", "image/png" },
		{ ".json", "application/json" },
	};
	const char *end = strrchr(path, '.');

	for (size_t i = 0; end && i < COUNT_OF(types); i++)
		if (strcmp(end, types[i][0]) == 0)
			return types[i][1];
	return NULL;
}

static int read_web_file(int fd, struct buf *ret)
{
	ssize_t n = 1;
	int r = 0;

	while (r == 0 && n > 0) {
		r = buf_reserve(ret, 65536);
		n = r == 0 ? read(fd, ret->data + ret->len, 65536) : 0;
		ret->len += n > 0 ? (size_t)n : 0;
	}
	return n < 0 ? -errno : r;
}

int web_read(const char *folder, const char *path, struct buf *ret, const char **ret_type)
{
	char name[4096];
	int fd, r;

	*ret_type = type_of(path);
	if (!*ret_type || strstr(path, "/.") || snprintf(name, sizeof(name), "%s%s", folder, path) >= (int)sizeof(name))
		return -ENOENT;
	fd = open(name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0)
		return -errno;
	r = read_web_file(fd, ret);
	close(fd);
	return r;
}
