/* Processes of the session, watched through pidfds, or looked at now and then where there are none. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "record/control/recorder.h"

#define ENVIRON_LIMIT (1u << 20)

struct watch *watch_find(const struct recorder *r, uint32_t pid)
{
	uint64_t pointer = pid ? idmap_get(&r->by_pid, pid) : IDMAP_NONE;

	return pointer == IDMAP_NONE ? NULL : (struct watch *)(uintptr_t)pointer;
}

static int has_process_ended(uint32_t pid)
{
	char text[512];
	const char *state;

	if (kill((pid_t)pid, 0) < 0 && errno == ESRCH)
		return 1;
	read_proc(pid, "stat", text, sizeof(text));
	state = strrchr(text, ')');
	return state && (strncmp(state, ") Z", 3) == 0 || strncmp(state, ") X", 3) == 0);
}

/* Kernels before 5.3, some containers and a limit on descriptors refuse a pidfd: -1. What else goes wrong is an error. */
static int open_pidfd(struct recorder *r, struct watch *w, uint32_t pid, int *ret)
{
	struct epoll_event event = { .events = EPOLLIN, .data.ptr = w };

	*ret = (int)syscall(SYS_pidfd_open, pid, 0);
	if (*ret < 0)
		return has_process_ended(pid) ? -ESRCH : 0;
	fcntl(*ret, F_SETFD, FD_CLOEXEC);
	return epoll_ctl(r->epoll, EPOLL_CTL_ADD, *ret, &event) < 0 ? -errno : 0;
}

struct watch *watch_add(struct recorder *r, uint32_t pid, uint64_t uid)
{
	struct watch *w = calloc(1, sizeof(*w));
	int fd = -1;

	if (!w || open_pidfd(r, w, pid, &fd) < 0 || idmap_put(&r->by_pid, pid, (uint64_t)(uintptr_t)w) < 0) {
		if (fd >= 0)
			close(fd);
		free(w);
		return NULL;
	}
	*w = (struct watch){ .source = { SOURCE_PROCESS, fd }, .pid = pid, .uid = uid, .next = r->watches, .link = &r->watches };
	if (w->next)
		w->next->link = &w->next;
	r->watches = w;
	r->watch_count++;
	r->unwatched_count += fd < 0;
	return w;
}

int watch_sees_end(const struct watch *w)
{
	return w->source.fd < 0 && has_process_ended(w->pid);
}

static void watch_remove(struct recorder *r, struct watch *w)
{
	idmap_take(&r->by_pid, w->pid);
	*w->link = w->next;
	if (w->next)
		w->next->link = w->link;
	if (w->source.fd >= 0)
		recorder_close_source(r, &w->source);
	else
		r->unwatched_count--;
	r->watch_count--;
	free(w);
}

void watch_ended(struct recorder *r, struct watch *w)
{
	struct mail *mail = w->uid ? drain_mail(MAIL_ENDED) : NULL;

	if (w->pid == r->target_pid)
		r->target_gone = 1;
	if (mail) {
		mail->uid = w->uid;
		mail->raw = recorder_raw_now();
		drain_post(&r->drain, mail);
	}
	notices_ended(r, w->pid);
	watch_remove(r, w);
}

void watch_kill_all(struct recorder *r, int signal)
{
	for (struct watch *w = r->watches; w; w = w->next)
		if (w->source.fd < 0)
			kill((pid_t)w->pid, signal);
		else
			syscall(SYS_pidfd_send_signal, w->source.fd, signal, NULL, 0);
}

enum carrier { CARRIES_NOT, CARRIES, CARRIES_PERHAPS };

/* In the middle of an exec a process has a program but no environment yet. Others without one (that
 * were started with none, before this recording) are no reason to wait. */
static int is_being_executed(const struct recorder *r, const char *pid_text)
{
	char path[320], text[1024];
	unsigned long long start = 0;
	const char *fields;
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%s/exe", pid_text);
	if (readlink(path, text, sizeof(text)) <= 0)
		return 0;
	snprintf(path, sizeof(path), "/proc/%s/stat", pid_text);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	text[n > 0 ? n : 0] = '\0';
	/* The start time, in ticks since boot, is the 20th field behind the name. */
	fields = strrchr(text, ')');
	return fields &&
	       sscanf(fields, ") %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %llu", &start) == 1 &&
	       start >= r->boot_ticks;
}

static enum carrier carries_session(const struct recorder *r, const char *pid_text, char *text)
{
	char path[320], wanted[64 + WIRE_NAME_HEX];
	ssize_t n, size = 0;
	int fd;

	snprintf(path, sizeof(path), "/proc/%s/environ", pid_text);
	snprintf(wanted, sizeof(wanted), WIRE_ENV "=1:%s:", r->secret->name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return CARRIES_NOT;
	while (size < (ssize_t)ENVIRON_LIMIT - 1 && (n = read(fd, text + size, ENVIRON_LIMIT - 1 - (size_t)size)) > 0)
		size += n;
	close(fd);
	if (memmem(text, (size_t)size, wanted, strlen(wanted)))
		return CARRIES;
	return size == 0 && is_being_executed(r, pid_text) ? CARRIES_PERHAPS : CARRIES_NOT;
}

/* Returns whether some process could not be judged. */
static int find_strays(struct recorder *r, DIR *dir, char *text)
{
	struct dirent *entry;
	struct watch *w;
	uint32_t pid;
	int unsure = 0;

	while ((entry = readdir(dir))) {
		enum carrier carrier;

		pid = (uint32_t)strtoul(entry->d_name, NULL, 10);
		if (!pid || pid == (uint32_t)getpid() || watch_find(r, pid))
			continue;
		carrier = carries_session(r, entry->d_name, text);
		unsure |= carrier == CARRIES_PERHAPS;
		w = carrier == CARRIES ? watch_add(r, pid, 0) : NULL;
		if (!w)
			continue;
		read_proc(pid, "comm", w->name, sizeof(w->name));
		w->name[strcspn(w->name, "\n")] = '\0';
	}
	return unsure;
}

void watch_find_strays(struct recorder *r)
{
	struct timespec moment = { .tv_nsec = 2000000 };
	char *text = malloc(ENVIRON_LIMIT);
	DIR *dir = text ? opendir("/proc") : NULL;

	for (int tries = 0; dir && find_strays(r, dir, text) && tries < 25; tries++) {
		nanosleep(&moment, NULL);
		rewinddir(dir);
	}
	if (dir)
		closedir(dir);
	free(text);
}

static void diagnose_watched_process(struct recorder *r, const struct watch *w, const char *what)
{
	const char *name = w->name[0] ? w->name : "?";

	recorder_note(r, "Process %u (%s) %s.", w->pid, name, what);
	drain_diagnose(&r->drain, DIAGNOSTIC_WARNING, "Process %u (%s) %s.", w->pid, name, what);
}

void watch_name_ended(struct recorder *r, int signal)
{
	char what[64];

	snprintf(what, sizeof(what), "outlived the program and was sent signal %d", signal);
	for (struct watch *w = r->watches; w; w = w->next)
		diagnose_watched_process(r, w, what);
}

void watch_name_leftovers(struct recorder *r)
{
	for (struct watch *w = r->watches; w; w = w->next)
		diagnose_watched_process(r, w, "was still running when the recording ended");
}

void watch_release(struct recorder *r)
{
	while (r->watches)
		watch_remove(r, r->watches);
	idmap_release(&r->by_pid);
}
