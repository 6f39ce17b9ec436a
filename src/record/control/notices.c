/* Programs about to be executed: those that do not attach are named, with the reason. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/system/monotonic.h"
#include "record/control/recorder.h"

#define WAIT_NS 1000000000ll
#define MAX_NOTICES 4096u
#define MAX_TOLD 1000u

/* Several may be pending for one process: execvp tries one place after the other. */
void notices_add(struct recorder *r, uint32_t pid, const char *path, int injected)
{
	struct notice *n;

	if (!pid || r->notice_count >= MAX_NOTICES)
		return;
	n = calloc(1, sizeof(*n));
	if (!n)
		return;
	n->pid = pid;
	n->injected = injected;
	n->due = monotonic_ns() + WAIT_NS;
	read_proc_link(pid, "exe", n->before, sizeof(n->before));
	snprintf(n->path, sizeof(n->path), "%s", path);
	n->next = r->notices;
	r->notices = n;
	r->notice_count++;
}

static void remove_at(struct recorder *r, struct notice **link)
{
	struct notice *n = *link;

	*link = n->next;
	r->notice_count--;
	free(n);
}

void notices_attached(struct recorder *r, uint32_t pid)
{
	struct notice **link = &r->notices;

	while (*link) {
		if ((*link)->pid == pid)
			remove_at(r, link);
		else
			link = &(*link)->next;
	}
}

/* Each program once: a loop that runs a static tool ten thousand times is one fact. */
static int already_reported(struct recorder *r, const char *path, const char *reason)
{
	uint64_t hash = hash_text(hash_text(HASH_START, path), reason);

	if (r->reported.count >= MAX_TOLD || idmap_get(&r->reported, hash) != IDMAP_NONE)
		return 1;
	idmap_put(&r->reported, hash, 1);
	return 0;
}

static void diagnose_untraced(struct recorder *r, const struct notice *n, const char *path, const char *reason)
{
	struct mail *mail;

	if (already_reported(r, path, reason))
		return;
	mail = drain_mail(MAIL_UNTRACED);
	if (!mail)
		return;
	mail->pid = n->pid;
	snprintf(mail->text, sizeof(mail->text), "Process %u was not traced: %s %s.", n->pid, path, reason);
	drain_post(&r->drain, mail);
}

/* What the notice was about did not attach. Is there a reason to name? */
static void judge(struct recorder *r, const struct notice *n)
{
	enum elf_peek_kind kind;
	char now[256];
	const char *path = n->path;

	read_proc_link(n->pid, "exe", now, sizeof(now));
	/* Still the same program, and traced: the exec failed. */
	if (now[0] && strcmp(now, n->before) == 0 && watch_find(r, n->pid))
		return;
	if (now[0])
		path = now;
	kind = elf_peek_path(path);
	if (kind == ELF_PEEK_UNREADABLE && !now[0])
		return; /* gone, or named relative to a folder we do not know */
	if (kind != ELF_PEEK_OK && kind != ELF_PEEK_FOREIGN)
		diagnose_untraced(r, n, path, elf_peek_reason(kind));
	else if (n->injected == WIRE_INJECTED_NOT)
		diagnose_untraced(r, n, path, "was given an environment without the agent");
	else if (n->injected == WIRE_INJECTED_NO_ROOM)
		diagnose_untraced(r, n, path, "has limits (stack, descriptors) that leave the loader no room for the agent");
	else if (n->injected == WIRE_INJECTED_OUT_OF_REACH)
		diagnose_untraced(r, n, path, "runs where the agent's library cannot be found (chroot, other mounts)");
}

static void check_due_notices(struct recorder *r, uint32_t pid, int64_t now)
{
	struct notice **link = &r->notices;

	while (*link) {
		if ((*link)->pid != pid && (*link)->due > now) {
			link = &(*link)->next;
			continue;
		}
		judge(r, *link);
		remove_at(r, link);
	}
}

void notices_ended(struct recorder *r, uint32_t pid)
{
	check_due_notices(r, pid, INT64_MIN);
}

void notices_check(struct recorder *r, int all)
{
	if (r->notices)
		check_due_notices(r, 0, all ? INT64_MAX : monotonic_ns());
}

void notices_release(struct recorder *r)
{
	while (r->notices)
		remove_at(r, &r->notices);
	idmap_release(&r->reported);
}
