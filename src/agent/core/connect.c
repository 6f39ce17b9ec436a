/* Talking to the recorder: once to attach, and for short notices about programs
 * that are started. Every descriptor is closed before returning. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/time.h>
#include <sys/un.h>

#include "agent/core/state.h"
#include "agent/core/syscalls.h"

/* A recorder answers within milliseconds; a stopped one must not stop the target. */
#define ANSWER_SECONDS 2

static int decode_hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return -1;
}

/* "1:<32 hex>:<32 hex>" */
static int parse_session(const char *text)
{
	size_t name_at = 2, token_at = name_at + WIRE_NAME_HEX + 1;

	if (strlen(text) != token_at + 2 * WIRE_TOKEN_SIZE || text[0] != '1' || text[1] != ':' || text[token_at - 1] != ':')
		return -EINVAL;
	memcpy(agent_state.name, text + name_at, WIRE_NAME_HEX);
	for (size_t i = 0; i < WIRE_TOKEN_SIZE; i++) {
		int high = decode_hex_digit(text[token_at + 2 * i]);
		int low = decode_hex_digit(text[token_at + 2 * i + 1]);

		if (high < 0 || low < 0)
			return -EINVAL;
		agent_state.token[i] = (uint8_t)(high << 4 | low);
	}
	return 0;
}

int agent_configure_as(const char *session)
{
	int result = parse_session(session);

	agent_state.configured = result == 0;
	return result;
}

int agent_configure(void)
{
	const char *session;

	if (agent_state.configured)
		return 0;
	/* A program that gained privileges takes no orders from its environment. */
	if (getauxval(AT_SECURE))
		return -EPERM;
	session = getenv(WIRE_ENV);
	return session ? agent_configure_as(session) : -ENOENT;
}

static int open_connection(void)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	struct timeval patience = { .tv_sec = ANSWER_SECONDS };
	socklen_t length = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + WIRE_NAME_HEX);
	int fd = (int)raw_syscall(SYS_socket, AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, 0, 0, 0);
	int result;

	if (fd < 0)
		return fd;
	memcpy(address.sun_path + 1, agent_state.name, WIRE_NAME_HEX);
	raw_syscall(SYS_setsockopt, fd, SOL_SOCKET, SO_RCVTIMEO, (long)&patience, sizeof(patience), 0);
	raw_syscall(SYS_setsockopt, fd, SOL_SOCKET, SO_SNDTIMEO, (long)&patience, sizeof(patience), 0);
	do
		result = (int)raw_syscall(SYS_connect, fd, (long)&address, (long)length, 0, 0, 0);
	while (result == -EINTR);
	if (result < 0) {
		raw_close(fd);
		return result;
	}
	return fd;
}

int agent_recorder_lives(void)
{
	int fd = agent_state.configured ? open_connection() : -1;

	if (fd >= 0)
		raw_close(fd);
	return fd >= 0;
}

#define DOUBTS 4096u

void agent_doubt_recorder(void)
{
	static _Atomic uint32_t doubts, rounds;
	uint32_t now;

	if (atomic_fetch_add_explicit(&doubts, 1, memory_order_relaxed) % DOUBTS)
		return;
	now = atomic_load_explicit(&agent_pages.doorbell.rounds, memory_order_relaxed);
	if (atomic_exchange_explicit(&rounds, now, memory_order_relaxed) == now && !agent_recorder_lives())
		atomic_store(&agent_pages.attached, AGENT_OFF);
}

static int send_request(int fd, const struct wire_request *request)
{
	long sent = raw_syscall(SYS_sendto, fd, (long)request, sizeof(*request), MSG_NOSIGNAL, 0, 0);

	return sent == (long)sizeof(*request) ? 0 : -EIO;
}

/* In the shared pool, which is also the parent's: all that a child without a recorder can say. */
static void count_unreachable(struct ring_pool *pool)
{
	atomic_fetch_add_explicit(&pool->unreachable, 1, memory_order_relaxed);
}

void agent_fill_request(struct wire_request *request, enum wire_kind kind)
{
	memset(request, 0, sizeof(*request));
	request->magic = WIRE_MAGIC;
	request->abi = RING_ABI_VERSION;
	request->kind = kind;
	memcpy(request->token, agent_state.token, WIRE_TOKEN_SIZE);
	request->pid = (uint32_t)raw_getpid();
	request->ppid = (uint32_t)raw_getppid();
	request->time = agent_now();
}

void agent_notify(struct wire_request *request)
{
	int fd = open_connection();

	if (fd < 0) {
		count_unreachable(agent_state.pool);
		return;
	}
	send_request(fd, request);
	raw_close(fd);
}

/* The reply carries two descriptors: session, pool. */
static int receive_reply(int fd, struct wire_attach_reply *reply, int descriptors[2])
{
	union {
		struct cmsghdr header;
		char space[CMSG_SPACE(2 * sizeof(int))];
	} control;
	struct iovec part = { .iov_base = reply, .iov_len = sizeof(*reply) };
	struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof(control) };
	struct cmsghdr *header;
	long got;

	do
		got = raw_syscall(SYS_recvmsg, fd, (long)&message, MSG_CMSG_CLOEXEC, 0, 0, 0);
	while (got == -EINTR);
	if (got < 0)
		return (int)got;
	header = CMSG_FIRSTHDR(&message);
	if (!header || header->cmsg_type != SCM_RIGHTS)
		return -EPROTO;
	/* One of them, where the program has no room for both: the caller closes what came. */
	memcpy(descriptors, CMSG_DATA(header), header->cmsg_len - CMSG_LEN(0));
	if (header->cmsg_len != CMSG_LEN(2 * sizeof(int)))
		return -EPROTO;
	if (got != (long)sizeof(*reply) || reply->magic != WIRE_MAGIC || reply->status != 0)
		return -EPROTO;
	return 0;
}

/* The session lies over our own pages, so that the gate is at a constant address. */
static int map_session(int fd)
{
	void *session = raw_mmap(&agent_pages.session, RING_PAGE_SIZE, PROT_READ, MAP_SHARED | MAP_FIXED, fd, 0);
	void *doorbell;

	if (raw_failed(session))
		return -ENOMEM;
	doorbell = raw_mmap(&agent_pages.doorbell, RING_PAGE_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, RING_PAGE_SIZE);
	if (raw_failed(doorbell))
		return -ENOMEM;
	if (agent_pages.session.magic != RING_SESSION_MAGIC || agent_pages.session.abi != RING_ABI_VERSION)
		return -EPROTO;
	return 0;
}

/* Writes that other threads may still make, into the pool of a forked child's parent or of a recording that is over, must not
 * reach it. */
static void forget_mapping(void *start, size_t size)
{
	raw_mmap(start, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0);
}

static int pool_is_sane(const struct ring_pool *pool, uint64_t size)
{
	return pool->magic == RING_POOL_MAGIC && pool->abi == RING_ABI_VERSION && pool->size == size && pool->slot_count > 0 &&
	       pool->chunk_cap > 0 && RING_PAGE_SIZE + (uint64_t)pool->slot_count * sizeof(struct ring_slot) <= pool->chunk_offset &&
	       pool->chunk_offset + (uint64_t)pool->chunk_cap * RING_CHUNK_SIZE <= size;
}

/* Attached again and again, a program must not use up its address space. The pool before the last one
 * lay where nobody writes any more. */
static struct ring_pool *map_somewhere(int fd, size_t size)
{
	struct agent_range *range = &agent_state.pools[agent_state.generation % 2];
	int fits = agent_state.late && range->size >= size;
	void *pool = raw_mmap(fits ? range->start : NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | (fits ? MAP_FIXED : 0), fd, 0);

	if (!raw_failed(pool) && !fits)
		*range = (struct agent_range){ pool, size };
	return pool;
}

static int map_pool(int fd, const struct wire_attach_reply *reply)
{
	struct ring_pool *pool = map_somewhere(fd, reply->pool_size);

	if (raw_failed(pool))
		return -ENOMEM;
	if (!pool_is_sane(pool, reply->pool_size)) {
		forget_mapping(pool, reply->pool_size);
		return -EPROTO;
	}
	/* Faults are taken now, not inside the program's first events. Older kernels
	 * lack the call; they take the faults later. */
	raw_madvise(agent_slot(pool, 0), RING_PAGE_SIZE, MADV_POPULATE_WRITE);
	if (reply->prefault_chunks && reply->prefault_chunks <= pool->chunk_cap)
		raw_madvise(agent_chunk(pool, 0), (size_t)reply->prefault_chunks * RING_CHUNK_SIZE, MADV_POPULATE_WRITE);
	agent_state.pool = pool;
	agent_state.pool_size = reply->pool_size;
	return 0;
}

/* The slots' memory; a forked child starts with none. */
static int prepare_memory(enum wire_origin origin)
{
	uint32_t count = agent_state.pool->slot_count;
	size_t size = count * sizeof(*agent_state.memory);
	void *table;

	if (origin == WIRE_ORIGIN_LATE && agent_state.memory && count <= agent_state.memory_count)
		return 0;
	table = raw_mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (raw_failed(table))
		return -ENOMEM;
	agent_state.memory = table;
	agent_state.memory_count = count;
	return 0;
}

static int exchange(enum wire_origin origin)
{
	struct wire_request request;
	struct wire_attach_reply reply;
	int descriptors[2] = { -1, -1 };
	int fd = open_connection();
	int result;

	if (fd < 0)
		return fd;
	agent_fill_request(&request, WIRE_ATTACH);
	request.origin = origin;
	request.parent_process = agent_state.process;
	request.next_string = atomic_load(&agent_state.next_string) + 1;
	request.next_domain = atomic_load(&agent_state.next_domain) + 1;
	request.room = agent_address_room();
	raw_syscall(SYS_readlink, (long)"/proc/self/exe", (long)request.path, WIRE_PATH_SIZE - 1, 0, 0, 0);
	result = send_request(fd, &request);
	if (result == 0)
		result = receive_reply(fd, &reply, descriptors);
	if (result == 0)
		result = map_session(descriptors[0]);
	if (result == 0)
		result = map_pool(descriptors[1], &reply);
	if (result == 0)
		agent_state.process = reply.process;
	for (int i = 0; i < 2; i++)
		if (descriptors[i] >= 0)
			raw_close(descriptors[i]);
	raw_close(fd);
	return result;
}

/* Values of further keys are kept in memory that is allocated when a thread first has one: an allocator may be the one who makes
 * that thread's first event. In a program that runs already the first keys may be taken; then ends of threads are not seen. */
#define KEYS_WITH_ROOM 32u

static void make_key(void)
{
	if (agent_state.key_made || !pthread_key_create)
		return;
	agent_state.key_made = pthread_key_create(&agent_state.key, agent_thread_ends) == 0;
	agent_state.has_key = agent_state.key_made && (!agent_state.late || agent_state.key < KEYS_WITH_ROOM);
}

/* A session in which nothing is recorded. The clock stays what it was: others may have been given it for theirs. */
static void leave_session(void)
{
	struct ring_session *none = raw_mmap(NULL, RING_SESSION_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (raw_failed(none))
		return; /* the old one does no harm */
	none->clock = agent_pages.session.clock;
	if (raw_syscall(SYS_mremap, (long)none, RING_SESSION_SIZE, RING_SESSION_SIZE, MREMAP_MAYMOVE | MREMAP_FIXED,
			(long)&agent_pages.session, 0) < 0)
		raw_syscall(SYS_munmap, (long)none, RING_SESSION_SIZE, 0, 0, 0, 0);
}

void agent_leave_pool(void)
{
	leave_session();
	if (agent_state.pool)
		forget_mapping(agent_state.pool, agent_state.pool_size);
}

int agent_attach(enum wire_origin origin)
{
	struct ring_pool *parent = agent_state.pool;
	size_t parent_size = agent_state.pool_size;
	int result = exchange(origin);

	if (parent && result < 0)
		count_unreachable(parent);
	if (parent)
		forget_mapping(parent, parent_size);
	if (result == 0)
		result = prepare_memory(origin);
	if (result < 0) {
		atomic_store(&agent_pages.attached, AGENT_OFF);
		return result;
	}
	agent_state.pid = (uint32_t)raw_getpid();
	agent_state.since = agent_now();
	make_key();
	raw_madvise(&agent_pages, RING_PAGE_SIZE, MADV_WIPEONFORK);
	atomic_store(&agent_pages.attached, agent_attached_word(++agent_state.generation));
	return 0;
}
