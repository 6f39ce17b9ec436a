/* A session from its launch to its end, with a program that writes rings as an agent does: captures begin and end while the recorder's
 * threads are at work. Run with ThreadSanitizer, too. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/system/arch.h"
#include "fake_writer.h"
#include "record/profile_options.h"
#include "record/record.h"
#include "record/requests/requests.h"
#include "ring/wire.h"

#define CAPTURES 8
#define TARGET "--as-target"

/* The copy that completes a report is forked while other threads wait; it may start some of its own. */
const char *__tsan_default_options(void);
const char *__tsan_default_options(void)
{
	return "die_after_fork=0";
}

static void rest(long ms)
{
	const struct timespec t = { 0, ms * 1000000 };

	nanosleep(&t, NULL);
}

static unsigned hex(const char *text)
{
	unsigned value = 0;

	sscanf(text, "%2x", &value);
	return value;
}

/* The program: what an agent says and gets. */
static int attach(int *fds, struct wire_attach_reply *reply)
{
	const char *session = getenv(WIRE_ENV);
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	struct wire_request request = {
		.magic = WIRE_MAGIC, .abi = RING_ABI_VERSION, .kind = WIRE_ATTACH, .origin = WIRE_ORIGIN_EXEC, .pid = (uint32_t)getpid()
	};
	char space[CMSG_SPACE(2 * sizeof(int))];
	struct iovec part = { reply, sizeof(*reply) };
	struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1, .msg_control = space, .msg_controllen = sizeof(space) };
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	if (!session || strlen(session) < 2 + WIRE_NAME_HEX + 1 + 2 * WIRE_TOKEN_SIZE)
		return -1;
	memcpy(address.sun_path + 1, session + 2, WIRE_NAME_HEX);
	for (size_t i = 0; i < WIRE_TOKEN_SIZE; i++)
		request.token[i] = (uint8_t)hex(session + 2 + WIRE_NAME_HEX + 1 + 2 * i);
	if (connect(fd, (struct sockaddr *)&address, offsetof(struct sockaddr_un, sun_path) + 1 + WIRE_NAME_HEX) < 0 ||
	    send(fd, &request, sizeof(request), 0) < 0 || recvmsg(fd, &message, 0) != (ssize_t)sizeof(*reply) || !CMSG_FIRSTHDR(&message))
		return -1;
	memcpy(fds, CMSG_DATA(CMSG_FIRSTHDR(&message)), 2 * sizeof(int));
	close(fd);
	return 0;
}

static uint64_t now(const struct ring_session *page)
{
	struct timespec t;

	if (page->clock == RING_CLOCK_TSC)
		return arch_cycles();
	clock_gettime(CLOCK_MONOTONIC_RAW, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* How often the program found a capture open and wrote into it, in a file that both sides have. */
static int progress_file(const char *folder)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/progress", folder);
	return open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
}

/* Until somebody ends it. */
static int be_target(void)
{
	struct wire_attach_reply reply = { 0 };
	struct fake_writer writer;
	struct ring_session *page;
	struct ring_pool *pool;
	uint64_t written = 0;
	int fds[2], progress = progress_file(getenv("XDG_RUNTIME_DIR"));

	/* A test that failed ends whoever launched it. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (attach(fds, &reply) < 0)
		return 3;
	page = mmap(NULL, RING_SESSION_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fds[0], 0);
	pool = mmap(NULL, reply.pool_size, PROT_READ | PROT_WRITE, MAP_SHARED, fds[1], 0);
	if (page == MAP_FAILED || pool == MAP_FAILED || !fake_open(&writer, pool, (uint32_t)getpid(), now(page)))
		return 4;
	for (;;) {
		int i = 0;

		for (; i < 100 && atomic_load(&page->gate) & RING_GATE_NVTX; i++) {
			fake_push(&writer, now(page), 0, 0, "step");
			fake_pop(&writer, now(page), 0, 0);
		}
		written += i > 0;
		if (pwrite(progress, &written, sizeof(written), 0) < 0)
			return 5;
		rest(1);
	}
}

/* The session. */
struct fixture {
	char folder[64];
	char self[256];
	pid_t launched;
};

static int given_path(const struct profile_options *o, pid_t pid, int first, char *ret, size_t size, struct error *err)
{
	(void)pid;
	(void)first;
	(void)err;
	snprintf(ret, size, "%s", o->output);
	return 0;
}

static int launch(const struct fixture *f)
{
	char target[] = TARGET, self[sizeof(f->self)];
	char *argv[] = { self, target, NULL };
	/* clang-format off */
	struct profile_options o = { .argv = argv, .program = f->self, .trace = TRACE_BIT(TRACE_NVTX), .interactive = true,
				     .session_name = "unit", .output_path = given_path, .show_output = true,
				     .inherit_environment = true, .store_environment = STORE_NONE, .stop_on_exit = true,
				     .capture_repeats = 1, .kill_signal = SIGTERM };
	/* clang-format on */
	struct record_result *result = calloc(1, sizeof(*result));
	struct error err;

	memcpy(self, f->self, sizeof(self));
	/* clang-format off */
	o.cpu = (struct cpu_options){ .sample = SCOPE_PROCESS_TREE, .switches = SCOPE_PROCESS_TREE, .frequency = 500,
				      .samples_per_backtrace = 1, .stack_size = 4096, .resolve_symbols = true };
	/* clang-format on */
	if (!result || record_run(&o, result, &err) < 0)
		return 1;
	return result->exit_status;
}

static int set_up(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	ssize_t n = readlink("/proc/self/exe", f->self, sizeof(f->self) - 1);

	snprintf(f->folder, sizeof(f->folder), "/tmp/sonde-unit-XXXXXX");
	if (n <= 0 || !mkdtemp(f->folder))
		return -1;
	setenv("XDG_RUNTIME_DIR", f->folder, 1);
	f->launched = fork();
	if (f->launched == 0)
		_exit(launch(f));
	*state = f;
	return 0;
}

static void remove_all(const char *folder)
{
	struct dirent *entry;
	DIR *dir = opendir(folder);

	while (dir && (entry = readdir(dir)))
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0 && unlinkat(dirfd(dir), entry->d_name, 0) < 0)
			unlinkat(dirfd(dir), entry->d_name, AT_REMOVEDIR);
	if (dir)
		closedir(dir);
	rmdir(folder);
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	if (f->launched > 0)
		kill(f->launched, SIGKILL);
	remove_all(f->folder);
	free(f);
	return 0;
}

static uint32_t session_number(void)
{
	struct steer_reply *reply = calloc(1, sizeof(*reply));
	struct error err;
	uint32_t id = 0;

	for (int i = 0; i < 1000 && !id; i++) {
		if (steer_find("unit", reply, &err) == 0)
			id = reply->id;
		else
			rest(10);
	}
	free(reply);
	return id;
}

static int ask(uint32_t id, struct steer_request *request, struct steer_reply *reply)
{
	struct error err = { "" };
	int r;

	request->magic = STEER_MAGIC;
	r = steer_ask(id, request, 60000, reply, &err);
	if (r < 0 || reply->status)
		print_error("command %u: %s%s\n", request->command, r < 0 ? err.text : reply->text, "");
	return r < 0 ? r : -reply->status;
}

static uint64_t written_by_program(const struct fixture *f)
{
	int fd = progress_file(f->folder);
	uint64_t written = 0;

	assert_true(fd >= 0 && pread(fd, &written, sizeof(written), 0) >= 0);
	close(fd);
	return written;
}

static void capture(const struct fixture *f, uint32_t id, int number, struct steer_reply *reply)
{
	struct steer_request start = { .command = STEER_START }, stop = { .command = STEER_STOP };
	struct steer_request cancel = { .command = STEER_CANCEL }, status = { .command = STEER_STATUS };
	uint64_t written = written_by_program(f);
	struct stat st;

	snprintf(start.output, sizeof(start.output), "%s/%d.sonde", f->folder, number);
	assert_int_equal(ask(id, &start, reply), 0);
	/* What is written twice has been written in this capture, whenever the program gets its turn. */
	for (int i = 0; i < 5 || written_by_program(f) < written + 2; i++) {
		assert_int_equal(ask(id, &status, reply), 0);
		assert_int_equal(reply->state, STEER_CAPTURING);
		rest(10);
	}
	if (number % 4 == 3) {
		assert_int_equal(ask(id, &cancel, reply), 0);
		assert_int_equal(stat(start.output, &st), -1);
		return;
	}
	assert_int_equal(ask(id, &stop, reply), 0);
	assert_true(reply->result.finished);
	assert_true(reply->result.events > 0);
	assert_string_equal(reply->result.path, start.output);
	assert_int_equal(stat(start.output, &st), 0);
	unlink(start.output);
}

static void captures_of_a_running_program(void **state)
{
	struct fixture *f = *state;
	struct steer_reply *reply = calloc(1, sizeof(*reply));
	struct steer_request end = { .command = STEER_SHUTDOWN, .signal = SIGTERM };
	uint32_t id = session_number();
	int status = 0;

	assert_int_not_equal(id, 0);
	for (int i = 0; i < CAPTURES; i++)
		capture(f, id, i, reply);
	assert_int_equal(ask(id, &end, reply), 0);
	assert_int_equal(waitpid(f->launched, &status, 0), f->launched);
	f->launched = 0;
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 128 + SIGTERM);
	free(reply);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(captures_of_a_running_program, set_up, tear_down),
	};

	if (argc > 1 && strcmp(argv[1], TARGET) == 0)
		return be_target();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
