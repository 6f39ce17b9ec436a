#include "record/session/process_tree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"

#define MAX_PROCESSES 65536u

/* A process of the machine; `in` when it belongs to the tree. */
struct relative {
	uint32_t pid;
	uint32_t parent;
	uint8_t in;
};

struct relatives {
	struct relative *items;
	size_t count;
	size_t cap;
};

int tree_read_stat(const char *path, struct tree_stat *ret)
{
	char text[1024], *fields;
	ssize_t n = -1;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd >= 0) {
		n = read(fd, text, sizeof(text) - 1);
		close(fd);
	}
	if (n <= 0)
		return -ESRCH;
	text[n] = '\0';
	fields = strrchr(text, ')'); /* the name before it may contain anything */
	if (!fields || sscanf(fields,
			      ") %c %" SCNu32 " %*d %*d %*d %*d %" SCNu64 " %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d "
			      "%*d %" SCNu64,
			      &ret->state, &ret->parent, &ret->flags, &ret->start) != 4)
		return -ESRCH;
	return 0;
}

static int add_tree_thread(struct tree *tree, uint32_t pid, uint32_t tid, const struct tree_stat *stat)
{
	if (!ARRAY_ROOM(tree->threads, tree->count, tree->cap, 1))
		return -ENOMEM;
	tree->threads[tree->count++] = (struct tree_thread){
		.pid = pid,
		.tid = tid,
		.parent = stat->parent,
		.start = stat->start,
		.ended = stat->state == 'Z' || stat->state == 'X',
	};
	return 0;
}

/* Those that end meanwhile are left out. */
static int add_threads(struct tree *tree, uint32_t pid)
{
	char path[64];
	struct tree_stat stat;
	struct dirent *entry;
	int result = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%u/task", pid);
	dir = opendir(path);
	while (dir && result == 0 && (entry = readdir(dir))) {
		uint32_t tid = (uint32_t)strtoul(entry->d_name, NULL, 10);

		snprintf(path, sizeof(path), "/proc/%u/task/%u/stat", pid, tid);
		if (tid && tree_read_stat(path, &stat) == 0)
			result = add_tree_thread(tree, pid, tid, &stat);
	}
	if (dir)
		closedir(dir);
	return result;
}

static int read_relatives(struct relatives *r)
{
	struct tree_stat stat;
	struct dirent *entry;
	char path[64];
	int result = 0;
	DIR *dir = opendir("/proc");

	while (dir && result == 0 && r->count < MAX_PROCESSES && (entry = readdir(dir))) {
		uint32_t pid = (uint32_t)strtoul(entry->d_name, NULL, 10);

		snprintf(path, sizeof(path), "/proc/%u/stat", pid);
		if (!pid || tree_read_stat(path, &stat) < 0)
			continue;
		result = ARRAY_ROOM(r->items, r->count, r->cap, 1) ? 0 : -ENOMEM;
		if (result == 0)
			r->items[r->count++] = (struct relative){ .pid = pid, .parent = stat.parent };
	}
	if (dir)
		closedir(dir);
	return result;
}

/* Marks the children of a process and adds their threads. */
static int add_children(struct tree *tree, struct relatives *r, uint32_t parent)
{
	int result = 0;

	for (size_t i = 0; i < r->count && result == 0; i++) {
		if (r->items[i].parent != parent || r->items[i].in)
			continue;
		r->items[i].in = 1;
		result = add_threads(tree, r->items[i].pid);
	}
	return result;
}

static int add_all_below(struct tree *tree, uint32_t pid)
{
	struct relatives r = { 0 };
	int result = read_relatives(&r);

	for (size_t i = 0; i < r.count; i++)
		r.items[i].in = r.items[i].pid == pid;
	/* The list grows while it is walked. */
	for (size_t i = 0; i < tree->count && result == 0; i++)
		if (i == 0 || tree->threads[i].pid != tree->threads[i - 1].pid)
			result = add_children(tree, &r, tree->threads[i].pid);
	free(r.items);
	return result;
}

int tree_read(struct tree *ret, uint32_t pid, int with_children)
{
	int result;

	*ret = (struct tree){ 0 };
	result = add_threads(ret, pid);
	if (result == 0 && !ret->count)
		result = -ESRCH;
	if (result == 0 && with_children)
		result = add_all_below(ret, pid);
	if (result < 0)
		tree_release(ret);
	return result;
}

void tree_release(struct tree *tree)
{
	free(tree->threads);
	*tree = (struct tree){ 0 };
}
