#include "inject/proc_status.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

#define THREADS_LIMIT (1u << 20)

static int field(const char *line, const char *name, const char **ret)
{
	size_t length = strlen(name);

	if (strncmp(line, name, length) != 0 || line[length] != ':')
		return 0;
	*ret = line + length + 1 + strspn(line + length + 1, " \t");
	return 1;
}

static uint32_t parse_status_number(const char *text)
{
	return (uint32_t)strtoul(text, NULL, 10);
}

static void take_status_line(struct proc_status *s, char *line)
{
	const char *value, *second;

	line[strcspn(line, "\n")] = '\0';
	if (field(line, "Name", &value))
		snprintf(s->name, sizeof(s->name), "%s", value);
	else if (field(line, "State", &value))
		s->state = value[0];
	else if (field(line, "Tgid", &value))
		s->group = parse_status_number(value);
	else if (field(line, "PPid", &value))
		s->parent = parse_status_number(value);
	else if (field(line, "TracerPid", &value))
		s->tracer = parse_status_number(value);
	else if (field(line, "Uid", &value) && (second = strchr(value, '\t')))
		s->user = parse_status_number(second + 1);
	else if (field(line, "Threads", &value))
		s->threads = parse_status_number(value);
	else if (field(line, "VmSize", &value))
		s->has_memory = 1;
	else if (field(line, "Seccomp", &value))
		s->seccomp = parse_status_number(value);
	else if (field(line, "Seccomp_filters", &value))
		s->filters = parse_status_number(value);
	else if (field(line, "x86_Thread_features", &value))
		s->shadow_stack = strstr(value, "shstk") != NULL;
}

int proc_status_read(pid_t pid, struct proc_status *ret)
{
	char path[64], *line = NULL;
	size_t room = 0;
	FILE *f;

	*ret = (struct proc_status){ 0 };
	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	f = pid > 0 ? fopen(path, "re") : NULL;
	if (!f)
		return -ESRCH;
	while (getline(&line, &room, f) > 0)
		take_status_line(ret, line);
	free(line);
	fclose(f);
	ret->kernel = !ret->has_memory && !strchr("ZX", ret->state);
	return ret->state ? 0 : -ESRCH;
}

ssize_t proc_threads(pid_t pid, pid_t **ret)
{
	pid_t *list = NULL;
	size_t count = 0, room = 0;
	struct dirent *entry;
	char path[64];
	DIR *folder;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	folder = opendir(path);
	if (!folder)
		return -ESRCH;
	while ((entry = readdir(folder)) && count < THREADS_LIMIT) {
		pid_t thread = (pid_t)strtol(entry->d_name, NULL, 10);

		if (thread <= 0)
			continue;
		if (!ARRAY_ROOM(list, count, room, 1))
			break;
		list[count++] = thread;
	}
	closedir(folder);
	*ret = list;
	return (ssize_t)count;
}

pid_t proc_living_thread(pid_t pid)
{
	struct proc_status status;
	pid_t *threads, found = -ESRCH;
	ssize_t count;

	if (proc_status_read(pid, &status) == 0 && !strchr("ZX", status.state))
		return pid;
	count = proc_threads(pid, &threads);
	for (ssize_t i = 0; i < count && found < 0; i++)
		if (proc_status_read(threads[i], &status) == 0 && !strchr("ZX", status.state))
			found = threads[i];
	if (count >= 0)
		free(threads);
	return found;
}
