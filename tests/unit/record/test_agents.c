/* The socket agents connect to: who gets a pool, and who does not. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "record/control/recorder.h"
#include "support.h"

struct fixture {
	struct recorder r;
	struct secret secret;
	struct profile_options options;
	char path[64];
};

static int set_up(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	struct clock_snapshot first;
	struct error err;

	snprintf(f->secret.name, sizeof(f->secret.name), "%032x", (unsigned)getpid());
	memset(f->secret.token, 0x5a, sizeof(f->secret.token));
	f->options.trace = TRACE_BIT(TRACE_NVTX);
	f->r.options = &f->options;
	f->r.secret = &f->secret;
	f->r.epoll = epoll_create1(0);
	snprintf(f->path, sizeof(f->path), "agents-%d.sonde", (int)getpid());
	assert_int_equal(report_writer_open(&f->r.drain.session.writer, f->path, 1, NULL, 0, &err), 0);
	clock_take_snapshot(0, &first);
	timebase_init(&f->r.drain.session.time, 0, first.raw);
	assert_int_equal(agents_make_session_page(&f->r, &err), 0);
	assert_int_equal(agents_listen(&f->r, &err), 0);
	assert_int_equal(drain_start(&f->r.drain, &err), 0);
	*state = f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;
	char name[96];

	drain_finish(&f->r.drain);
	report_writer_abandon(f->r.drain.session.writer);
	snprintf(name, sizeof(name), "%s.part", f->path);
	unlink(name);
	snprintf(name, sizeof(name), "%s.journal", f->path);
	unlink(name);
	agents_release(&f->r);
	notices_release(&f->r);
	watch_release(&f->r);
	drain_release(&f->r.drain);
	munmap(f->r.page, RING_SESSION_SIZE);
	close(f->r.session_fd);
	close(f->r.epoll);
	free(f);
	return 0;
}

static int connect_to(struct fixture *f)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	memcpy(address.sun_path + 1, f->secret.name, WIRE_NAME_HEX);
	assert_int_equal(connect(fd, (struct sockaddr *)&address, offsetof(struct sockaddr_un, sun_path) + 1 + WIRE_NAME_HEX), 0);
	return fd;
}

static struct wire_request request_of(struct fixture *f)
{
	struct wire_request request = {
		.magic = WIRE_MAGIC, .abi = RING_ABI_VERSION, .kind = WIRE_ATTACH, .origin = WIRE_ORIGIN_EXEC, .pid = (uint32_t)getpid()
	};

	memcpy(request.token, f->secret.token, sizeof(request.token));
	return request;
}

/* Returns the number of descriptors; *ret_bytes is 0 when the connection was closed. */
static int read_reply(int fd, struct wire_attach_reply *reply, int *fds, ssize_t *ret_bytes)
{
	char space[CMSG_SPACE(2 * sizeof(int))];
	struct iovec part = { reply, sizeof(*reply) };
	struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1, .msg_control = space, .msg_controllen = sizeof(space) };
	struct cmsghdr *c;

	*ret_bytes = recvmsg(fd, &message, MSG_DONTWAIT);
	c = *ret_bytes > 0 ? CMSG_FIRSTHDR(&message) : NULL;
	if (!c)
		return 0;
	memcpy(fds, CMSG_DATA(c), 2 * sizeof(int));
	return (int)((c->cmsg_len - CMSG_LEN(0)) / sizeof(int));
}

static void the_right_token_gets_a_pool(void **state)
{
	struct fixture *f = *state;
	struct wire_request request = request_of(f);
	struct wire_attach_reply reply;
	struct ring_pool *pool;
	struct ring_session *page;
	int fds[2], fd = connect_to(f);
	ssize_t n;

	assert_int_equal(send(fd, &request, sizeof(request), 0), sizeof(request));
	agents_accept(&f->r);
	assert_int_equal(read_reply(fd, &reply, fds, &n), 2);
	assert_int_equal(n, sizeof(reply));
	assert_int_equal(reply.status, 0);
	assert_int_equal(reply.process, 1);
	page = mmap(NULL, RING_PAGE_SIZE, PROT_READ, MAP_SHARED, fds[0], 0);
	assert_true(page != MAP_FAILED);
	assert_true(page->magic == RING_SESSION_MAGIC);
	assert_int_equal(page->modules, RING_GATE_NVTX);
	pool = mmap(NULL, reply.pool_size, PROT_READ | PROT_WRITE, MAP_SHARED, fds[1], 0);
	assert_true(pool != MAP_FAILED);
	assert_true(pool->magic == RING_POOL_MAGIC);
	/* Nobody can pull the memory away from under the recorder. */
	assert_int_equal(ftruncate(fds[1], 4096), -1);
	assert_int_equal(f->r.watch_count, 1);
	assert_int_equal(f->r.watches->pid, getpid());
	munmap(page, RING_PAGE_SIZE);
	munmap(pool, reply.pool_size);
	close(fds[0]);
	close(fds[1]);
	close(fd);
}

/* The same process again is a new life of it: one watch, the newer uid. */
static void a_second_attach_is_a_new_life(void **state)
{
	struct fixture *f = *state;
	struct wire_request request = request_of(f);
	struct wire_attach_reply reply;
	int fds[2], fd;
	ssize_t n;

	for (uint64_t life = 1; life <= 3; life++) {
		fd = connect_to(f);
		assert_int_equal(send(fd, &request, sizeof(request), 0), sizeof(request));
		agents_accept(&f->r);
		assert_int_equal(read_reply(fd, &reply, fds, &n), 2);
		assert_int_equal(reply.process, life);
		close(fds[0]);
		close(fds[1]);
		close(fd);
	}
	assert_int_equal(f->r.watch_count, 1);
	assert_int_equal(f->r.watches->uid, 3);
}

static void expect_refusal(struct fixture *f, const void *data, size_t size, uint32_t status)
{
	struct wire_attach_reply reply = { 0 };
	int fds[2], fd = connect_to(f);
	ssize_t n;

	assert_int_equal(send(fd, data, size, 0), (ssize_t)size);
	agents_accept(&f->r);
	assert_int_equal(read_reply(fd, &reply, fds, &n), 0);
	if (status)
		assert_int_equal(reply.status, status);
	else
		assert_true(n <= 0);
	assert_int_equal(f->r.watch_count, 0);
	assert_int_equal(f->r.connection_count, 0);
	close(fd);
}

static void strangers_get_nothing(void **state)
{
	struct fixture *f = *state;
	struct wire_request request = request_of(f);

	request.token[WIRE_TOKEN_SIZE - 1] ^= 1;
	expect_refusal(f, &request, sizeof(request), EACCES);
	request = request_of(f);
	request.abi = RING_ABI_VERSION + 1;
	expect_refusal(f, &request, sizeof(request), EPROTO);
	request = request_of(f);
	request.magic = 0;
	expect_refusal(f, &request, sizeof(request), 0);
	expect_refusal(f, "hello", 5, 0);
}

/* However soon one follows the other: what the thread did for the last does not count. */
static void each_hold_reads_all_rings(void **state)
{
	struct fixture *f = *state;
	struct drain *d = &f->r.drain;
	uint32_t rounds;

	drain_hold(d);
	for (int i = 0; i < 500; i++) {
		rounds = d->session.whole_rounds;
		drain_let_go(d);
		drain_hold(d);
		assert_true(d->session.whole_rounds > rounds);
	}
	drain_let_go(d);
}

/* Silent ones wait, but neither for ever nor in any number. */
static void silent_connections(void **state)
{
	struct fixture *f = *state;
	int fds[5];

	for (int i = 0; i < 5; i++)
		fds[i] = connect_to(f);
	agents_accept(&f->r);
	assert_int_equal(f->r.connection_count, 5);
	close(fds[0]);
	agents_readable(&f->r, f->r.connections->next->next->next->next);
	assert_int_equal(f->r.connection_count, 4);
	for (struct connection *c = f->r.connections; c; c = c->next)
		c->since -= 60 * 1000000000ll;
	agents_timeout(&f->r);
	assert_int_equal(f->r.connection_count, 0);
	for (int i = 1; i < 5; i++)
		close(fds[i]);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(the_right_token_gets_a_pool), TEST(a_second_attach_is_a_new_life),
		TEST(strangers_get_nothing),       TEST(each_hold_reads_all_rings),
		TEST(silent_connections),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
