/* Agents: the socket they connect to, and what they are given. */
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/system/monotonic.h"
#include "record/control/cuda_page.h"
#include "record/drain/osrt.h"
#include "record/control/recorder.h"
#include "record/session/window.h"
#include "record/torch/operators.h"

#define POOL_CHUNKS 8192u /* 64 MiB per process */
#define POOL_SLOTS 16384u
#define CHUNKS_EXEC 2048u
#define CHUNKS_FORK 512u
#define CHUNKS_RESERVE 4u
/* Where a limit asks for a smaller pool, slots have this part of it; with fewer chunks than these it is of no use. */
#define SLOTS_PART 8u
#define CHUNKS_LEAST 16u
/* Faulted in before the program runs, so that its first events do not pay for it. */
#define PREFAULT_EXEC 32u
#define PREFAULT_FORK 8u
#define MAX_CONNECTIONS 1024u
#define CONNECTION_NS (5 * 1000000000ll)

int agents_make_session_page(struct recorder *r, struct error *err)
{
	int fd = memfd_create("sonde-session", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	void *page = MAP_FAILED;

	if (fd >= 0 && ftruncate(fd, RING_SESSION_SIZE) == 0 && fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0)
		page = mmap(NULL, RING_SESSION_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (page == MAP_FAILED) {
		error_set_errno(err, errno, "cannot make the session page");
		if (fd >= 0)
			close(fd);
		return -EIO;
	}
	r->session_fd = fd;
	r->page = page;
	r->page->magic = RING_SESSION_MAGIC;
	r->page->abi = RING_ABI_VERSION;
#define MODULE(id, name, bit) r->page->modules |= r->options->trace & TRACE_BIT(TRACE_##id) ? RING_GATE_##id : 0;
#include "fmt/trace_sources.def"
	operators_fill_page(r->page, r->options->pytorch);
	r->page->clock = r->drain.session.time.use_tsc ? RING_CLOCK_TSC : RING_CLOCK_MONOTONIC_RAW;
	if (r->options->trace & TRACE_BIT(TRACE_OSRT))
		osrt_fill_page(r->page, &r->options->osrt, r->drain.session.time.use_tsc);
	window_fill_page(r->page, r->options);
	cuda_fill_page(r->page, r->options, r->drain.session.time.use_tsc);
	r->drain.session.kernels = r->options->kernels;
	r->drain.session.store = r->options->store_environment;
	r->drain.session.osrt_depth = (uint32_t)r->options->osrt.backtrace_depth;
	r->drain.page = r->page;
	r->drain.doorbell = (struct ring_doorbell *)((uint8_t *)page + RING_PAGE_SIZE);
	return 0;
}

int agents_listen(struct recorder *r, struct error *err)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	struct epoll_event event = { .events = EPOLLIN, .data.ptr = &r->listener };
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	/* The leading NUL of an abstract name is not part of the text. */
	memcpy(address.sun_path + 1, r->secret->name, WIRE_NAME_HEX);
	r->listener = (struct source){ SOURCE_LISTENER, fd };
	if (fd < 0 || bind(fd, (struct sockaddr *)&address, offsetof(struct sockaddr_un, sun_path) + 1 + WIRE_NAME_HEX) < 0 ||
	    listen(fd, 4096) < 0 || epoll_ctl(r->epoll, EPOLL_CTL_ADD, fd, &event) < 0)
		return error_set_errno(err, errno, "cannot open the session's socket");
	return 0;
}

static void drop_connection(struct recorder *r, struct connection *c)
{
	recorder_close_source(r, &c->source);
	*c->link = c->next;
	if (c->next)
		c->next->link = c->link;
	r->connection_count--;
	free(c);
}

/* No early way out: the time it takes says nothing about the token. */
static int token_matches(const uint8_t *a, const uint8_t *b)
{
	uint8_t difference = 0;

	for (size_t i = 0; i < WIRE_TOKEN_SIZE; i++)
		difference |= a[i] ^ b[i];
	return difference == 0;
}

static int send_reply(int fd, const struct wire_attach_reply *reply, const int *fds, int fd_count)
{
	union {
		struct cmsghdr header;
		char space[CMSG_SPACE(2 * sizeof(int))];
	} control = { 0 };
	struct iovec part = { (void *)reply, sizeof(*reply) };
	struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1 };
	struct cmsghdr *c;

	if (fd_count) {
		message.msg_control = control.space;
		message.msg_controllen = CMSG_SPACE((size_t)fd_count * sizeof(int));
		c = CMSG_FIRSTHDR(&message);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN((size_t)fd_count * sizeof(int));
		memcpy(CMSG_DATA(c), fds, (size_t)fd_count * sizeof(int));
	}
	return sendmsg(fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT) < 0 ? -errno : 0;
}

static void refuse_agent(int fd, int code)
{
	struct wire_attach_reply reply = { .magic = WIRE_MAGIC, .status = (uint32_t)code };

	send_reply(fd, &reply, NULL, 0);
}

/* The parent as we see it; the request tells what a process in a namespace of its own sees. */
static uint32_t outer_parent(uint32_t pid)
{
	char text[512], *end;
	unsigned parent = 0;

	read_proc(pid, "stat", text, sizeof(text));
	end = strrchr(text, ')'); /* the name before it may contain anything */
	return end && sscanf(end + 1, " %*c %u", &parent) == 1 ? parent : 0;
}

static void describe_agent_process(const struct wire_request *request, uint32_t pid, enum store_environment store,
				   struct process_info *info)
{
	/* clang-format off */
	*info = (struct process_info){
		.pid = pid, .inner_pid = request->pid, .ppid = request->ppid,
		.origin = request->origin, .next_string = request->next_string,
		.next_domain = request->next_domain, .attached_raw = recorder_raw_now(),
	};
	/* clang-format on */
	if (pid && pid != request->pid)
		info->ppid = outer_parent(pid);
	if (request->origin == WIRE_ORIGIN_FORK)
		info->parent_process = request->parent_process;
	read_proc(pid, "comm", info->name, sizeof(info->name));
	info->name[strcspn(info->name, "\n")] = '\0';
	read_proc_link(pid, "exe", info->exe, sizeof(info->exe));
	read_proc_command(pid, store, info->cmdline, sizeof(info->cmdline));
}

static void post_ended(struct recorder *r, uint64_t uid)
{
	struct mail *mail = drain_mail(MAIL_ENDED);

	if (!mail)
		return;
	mail->uid = uid;
	mail->raw = recorder_raw_now();
	drain_post(&r->drain, mail);
}

/* Watches the process and hands it to the drain thread. */
static int admit(struct recorder *r, struct traced_process *p)
{
	struct watch *w = watch_find(r, p->info.pid);
	struct mail *mail = drain_mail(MAIL_PROCESS);
	uint32_t pid = p->info.pid;
	uint64_t uid = p->uid;

	if (!mail)
		return -ENOMEM;
	/* It had a pool already: this is a new program in the same process, or the agent
	 * was loaded anew. What it wrote before is read to its end. */
	if (w && w->uid)
		post_ended(r, w->uid);
	if (w)
		w->uid = p->uid;
	else if (p->info.pid)
		w = watch_add(r, p->info.pid, p->uid);
	if (w)
		memcpy(w->name, p->info.name, sizeof(w->name));
	if (p->info.pid == r->target_pid) {
		r->target_attached = 1;
		r->target_uid = p->uid;
	}
	notices_attached(r, p->info.pid);
	mail->process = p;
	drain_post(&r->drain, mail);
	if (!w && pid)
		post_ended(r, uid); /* dead already: nobody will tell us again */
	return 0;
}

static int give_pool(struct recorder *r, int fd, struct traced_process *p, int pool_fd, uint32_t prefault)
{
	struct wire_attach_reply reply = {
		.magic = WIRE_MAGIC, .process = p->uid, .pool_size = p->reader.size, .prefault_chunks = prefault
	};
	int fds[2] = { r->session_fd, pool_fd };

	return send_reply(fd, &reply, fds, 2);
}

static uint32_t limit_pool_count(uint64_t a, uint32_t b)
{
	return a < b ? (uint32_t)a : b;
}

/* A pool of at most so many bytes; returns whether there is one. */
static int fit_pool(struct ring_pool_size *size, uint64_t room)
{
	uint64_t slots;

	if (ring_pool_bytes(size->slots, size->chunks) <= room)
		return 1;
	size->slots = limit_pool_count(room / SLOTS_PART / sizeof(struct ring_slot), POOL_SLOTS);
	slots = ring_pool_bytes(size->slots, 0);
	size->chunks = room > slots ? limit_pool_count((room - slots) / RING_CHUNK_SIZE, POOL_CHUNKS) : 0;
	size->initial_chunks = limit_pool_count(size->chunks, size->initial_chunks);
	return size->chunks >= CHUNKS_LEAST;
}

/* The pool for a process. Returns what keeps it from having one; NULL: nothing. */
static const char *size_pool(const struct wire_request *request, struct ring_pool_size *ret)
{
	int forked = request->origin == WIRE_ORIGIN_FORK;
	struct rlimit files = { RLIM_INFINITY, RLIM_INFINITY };

	*ret = (struct ring_pool_size){
		.slots = POOL_SLOTS, .chunks = POOL_CHUNKS, .reserve = CHUNKS_RESERVE, .initial_chunks = forked ? CHUNKS_FORK : CHUNKS_EXEC
	};
	getrlimit(RLIMIT_FSIZE, &files);
	if (request->room && !fit_pool(ret, request->room))
		return "the limit on its address space ('ulimit -v') leaves no room for its rings";
	if (!fit_pool(ret, files.rlim_cur))
		return "the limit on the size of files ('ulimit -f') leaves no room for its rings";
	return NULL;
}

static void report_refusal(struct recorder *r, const struct process_info *info, const char *why)
{
	drain_diagnose(&r->drain, DIAGNOSTIC_ERROR, "Process %u (%s) is not recorded: %s.", info->pid, info->name, why);
	if (info->pid == r->target_pid)
		snprintf(r->target_refused, sizeof(r->target_refused), "%s", why);
}

static void attach_agent(struct recorder *r, int fd, const struct wire_request *request, uint32_t pid)
{
	int forked = request->origin == WIRE_ORIGIN_FORK;
	struct ring_pool_size size;
	const char *why = size_pool(request, &size);
	struct traced_process *p;
	struct process_info info;
	struct session *s = &r->drain.session;
	struct error err = { "" };
	uint64_t uid;
	int pool_fd;

	describe_agent_process(request, pid, r->drain.session.store, &info);
	if (why) {
		refuse_agent(fd, ENOSPC);
		report_refusal(r, &info, why);
		return;
	}
	uid = roster_attach(s, pid, info.attached_raw - s->time.start, info.origin, info.name);
	p = process_new(uid, &info);
	if (!p || ring_reader_create(&p->reader, &size, &pool_fd, &err) < 0) {
		if (p)
			process_free(p);
		roster_detach(s, uid);
		refuse_agent(fd, ENOMEM);
		report_refusal(r, &info, p ? err.text : "no memory");
		return;
	}
	p->reader.owner = p;
	if (give_pool(r, fd, p, pool_fd, forked ? PREFAULT_FORK : PREFAULT_EXEC) < 0 || admit(r, p) < 0) {
		process_free(p);
		roster_detach(s, uid);
	}
	close(pool_fd);
}

static void handle(struct recorder *r, int fd, const struct wire_request *request, uint32_t pid)
{
	switch (request->kind) {
	case WIRE_ATTACH:
		if (request->abi != RING_ABI_VERSION) {
			refuse_agent(fd, EPROTO);
			drain_diagnose(&r->drain, DIAGNOSTIC_ERROR, "Process %u is not recorded: its agent has another version.", pid);
			return;
		}
		attach_agent(r, fd, request, pid);
		return;
	case WIRE_EXEC: notices_add(r, pid, request->path, (int)request->injected); return;
	case WIRE_SPAWNED:
		/* The child's number is the sender's view; of use where that is ours too. */
		if (request->pid == pid)
			notices_add(r, request->child, request->path, (int)request->injected);
		return;
	}
}

/* Returns 0 while more may come, 1 when the connection is over. */
static int read_request(struct recorder *r, int fd)
{
	struct wire_request request;
	struct ucred peer = { 0 };
	socklen_t size = sizeof(peer);
	/* MSG_TRUNC: the length as it was sent, so that a longer message is none of ours. */
	ssize_t n = recv(fd, &request, sizeof(request), MSG_DONTWAIT | MSG_TRUNC);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	if (n != (ssize_t)sizeof(request) || request.magic != WIRE_MAGIC)
		return 1;
	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) < 0)
		return 1;
	if (!token_matches(request.token, r->secret->token) || (geteuid() != 0 && peer.uid != geteuid())) {
		refuse_agent(fd, EACCES);
		return 1;
	}
	request.path[WIRE_PATH_SIZE - 1] = '\0';
	handle(r, fd, &request, (uint32_t)peer.pid);
	return request.kind == WIRE_ATTACH;
}

void agents_readable(struct recorder *r, struct connection *c)
{
	if (read_request(r, c->source.fd))
		drop_connection(r, c);
}

static void keep_connection(struct recorder *r, int fd)
{
	struct connection *c = calloc(1, sizeof(*c));
	struct epoll_event event = { .events = EPOLLIN, .data.ptr = c };

	if (!c || r->connection_count >= MAX_CONNECTIONS || epoll_ctl(r->epoll, EPOLL_CTL_ADD, fd, &event) < 0) {
		free(c);
		close(fd);
		return;
	}
	c->source = (struct source){ SOURCE_CONNECTION, fd };
	c->since = monotonic_ns();
	c->next = r->connections;
	c->link = &r->connections;
	if (c->next)
		c->next->link = &c->next;
	r->connections = c;
	r->connection_count++;
}

void agents_accept(struct recorder *r)
{
	int fd;

	while ((fd = accept4(r->listener.fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK)) >= 0) {
		/* Most have sent their request already. */
		if (read_request(r, fd))
			close(fd);
		else
			keep_connection(r, fd);
	}
}

void agents_timeout(struct recorder *r)
{
	struct connection *c, *next;
	int64_t now = r->connections ? monotonic_ns() : 0;

	for (c = r->connections; c; c = next) {
		next = c->next;
		if (now - c->since > CONNECTION_NS)
			drop_connection(r, c);
	}
}

void agents_release(struct recorder *r)
{
	while (r->connections)
		drop_connection(r, r->connections);
	if (r->listener.fd >= 0)
		close(r->listener.fd);
	r->listener.fd = -1;
}
