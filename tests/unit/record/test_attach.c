/* A process that runs already: its threads, who records it, and threads that two events tell of. */
#include "support.h"

#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "record/control/attach.h"
#include "record/perf/perf.h"
#include "record/session/process_tree.h"

#define SAMPLE_A 10
#define SAMPLE_B 11
#define SIDEBAND_A 12
#define WAKEUP 13

struct rest {
	pthread_barrier_t ready;
	pthread_barrier_t over;
	uint32_t tid;
};

static void *rest(void *argument)
{
	struct rest *r = argument;

	r->tid = (uint32_t)syscall(SYS_gettid);
	pthread_barrier_wait(&r->ready);
	pthread_barrier_wait(&r->over);
	return NULL;
}

static const struct tree_thread *find(const struct tree *tree, uint32_t tid)
{
	for (size_t i = 0; i < tree->count; i++)
		if (tree->threads[i].tid == tid)
			return &tree->threads[i];
	return NULL;
}

static pid_t sleeping_child(void)
{
	pid_t pid = fork();

	if (pid == 0) {
		for (;;)
			pause();
	}
	assert_true(pid > 0);
	return pid;
}

/* A sanitizer may have one of its own. */
static unsigned threads_of_ours(void)
{
	DIR *folder = opendir("/proc/self/task");
	unsigned count = 0;

	assert_non_null(folder);
	for (struct dirent *entry; (entry = readdir(folder));)
		count += entry->d_name[0] != '.';
	closedir(folder);
	return count;
}

static void test_tree(void **state)
{
	pid_t own = getpid(), child = sleeping_child();
	struct rest r = { .tid = 0 };
	struct tree tree;
	pthread_t thread;

	pthread_barrier_init(&r.ready, NULL, 2);
	pthread_barrier_init(&r.over, NULL, 2);
	assert_int_equal(pthread_create(&thread, NULL, rest, &r), 0);
	pthread_barrier_wait(&r.ready);

	assert_int_equal(tree_read(&tree, (uint32_t)own, 1), 0);
	assert_int_equal(tree.threads[0].pid, own);
	assert_non_null(find(&tree, (uint32_t)own));
	assert_non_null(find(&tree, r.tid));
	assert_int_equal(find(&tree, r.tid)->pid, own);
	assert_true(find(&tree, r.tid)->start >= find(&tree, (uint32_t)own)->start);
	assert_non_null(find(&tree, (uint32_t)child));
	assert_int_equal(find(&tree, (uint32_t)child)->parent, own);
	tree_release(&tree);

	assert_int_equal(tree_read(&tree, (uint32_t)own, 0), 0);
	assert_null(find(&tree, (uint32_t)child));
	assert_int_equal(tree.count, threads_of_ours());
	tree_release(&tree);

	pthread_barrier_wait(&r.over);
	pthread_join(thread, NULL);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	assert_int_equal(tree_read(&tree, (uint32_t)child, 1), -ESRCH);
	assert_null(tree.threads);
}

static void test_zombie(void **state)
{
	pid_t child = fork();
	siginfo_t info;
	struct tree tree;

	if (child == 0)
		_exit(0);
	waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT);
	assert_int_equal(tree_read(&tree, (uint32_t)child, 1), 0);
	assert_int_equal(tree.count, 1);
	assert_true(tree.threads[0].ended);
	tree_release(&tree);
	waitpid(child, NULL, 0);
}

static int stat_of(const char *text, struct tree_stat *ret)
{
	char path[] = "/tmp/sonde-stat-XXXXXX";
	int fd = mkstemp(path), result;

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
	result = tree_read_stat(path, ret);
	unlink(path);
	return result;
}

/* A name is anything but a NUL. */
static void test_stat(void **state)
{
	struct tree_stat stat;

	assert_int_equal(stat_of("7 (a) R 1) S 42 1 1 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 987654 1 1\n", &stat), 0);
	assert_int_equal(stat.state, 'S');
	assert_int_equal(stat.parent, 42);
	assert_int_equal(stat.flags, 4194560);
	assert_int_equal(stat.start, 987654);
	assert_int_equal(stat_of("7 (a) S 42 1 1 0 -1 4194560 1 2 3", &stat), -ESRCH);
	assert_int_equal(stat_of("7 (a", &stat), -ESRCH);
	assert_int_equal(stat_of("", &stat), -ESRCH);
	assert_int_equal(tree_read_stat("/nonexistent", &stat), -ESRCH);
}

static void test_lock(void **state)
{
	pid_t child = sleeping_child(), other;
	struct error err = { "" };
	char own[32];
	int lock = attach_lock((uint32_t)child, &err), status;

	assert_true(lock >= 0);
	other = fork();
	if (other == 0) {
		snprintf(own, sizeof(own), "process %d ", (int)getppid());
		_exit(attach_lock((uint32_t)child, &err) == -EBUSY && strstr(err.text, own) ? 0 : 1);
	}
	waitpid(other, &status, 0);
	assert_int_equal(status, 0);
	close(lock);
	lock = attach_lock((uint32_t)child, &err);
	assert_true(lock >= 0);
	close(lock);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	assert_int_equal(attach_lock((uint32_t)child, &err), -ESRCH);
}

static int is_copy(struct perf *p, uint64_t id, uint32_t tid, uint32_t cpu)
{
	struct perf_stamp stamp = { .id = id, .pid = 1, .tid = tid, .cpu = cpu };

	return perf_tasks_is_copy(p, &stamp);
}

/* Thread 5 has an event of its own (B) and one that it inherited from thread 4 (A). */
static void test_copies(void **state)
{
	struct perf p = { .tasks.first = 4 };

	assert_int_equal(idmap_put(&p.kinds, SAMPLE_A, PERF_SOURCE(PERF_KIND_SAMPLE, 4)), 0);
	assert_int_equal(idmap_put(&p.kinds, SAMPLE_B, PERF_SOURCE(PERF_KIND_SAMPLE, 5)), 0);
	assert_int_equal(idmap_put(&p.kinds, SIDEBAND_A, PERF_SOURCE(PERF_KIND_SIDEBAND, 4)), 0);
	assert_int_equal(idmap_put(&p.kinds, WAKEUP, PERF_SOURCE(PERF_KIND_WAKEUP, 0)), 0);

	/* Nobody has two. */
	assert_false(is_copy(&p, SAMPLE_A, 5, 0));
	assert_false(is_copy(&p, SAMPLE_B, 5, 0));
	p.tasks.doubled = 1;
	for (int i = 0; i < 1000; i++) {
		assert_false(is_copy(&p, SAMPLE_A, 5, 0));
		assert_true(is_copy(&p, SAMPLE_B, 5, 0));
		assert_false(is_copy(&p, SAMPLE_A, 4, 0));
		assert_false(is_copy(&p, WAKEUP, 5, 0));
	}
	/* On another CPU there may be only one of them: the first to be heard of counts. */
	assert_false(is_copy(&p, SAMPLE_B, 5, 1));
	assert_true(is_copy(&p, SAMPLE_A, 5, 1));
	/* Kinds are apart. */
	assert_false(is_copy(&p, SIDEBAND_A, 5, 1));
	/* The number is another thread's now, which has B alone. */
	for (int i = 0; i < 20; i++)
		is_copy(&p, SAMPLE_B, 5, 0);
	assert_false(is_copy(&p, SAMPLE_B, 5, 0));
	assert_false(is_copy(&p, SAMPLE_B, 5, 0));
	/* An event that nobody knows is told of elsewhere. */
	assert_false(is_copy(&p, 99, 5, 0));
	perf_tasks_release(&p);
	idmap_release(&p.kinds);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tree), cmocka_unit_test(test_zombie), cmocka_unit_test(test_stat),
		cmocka_unit_test(test_lock), cmocka_unit_test(test_copies),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
