/* What the kernel tells besides switches: names of system calls from its stacks, wakeups from its
 * tracepoints. Both are read from texts the kernel writes, here written by hand. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "record/perf/sched_syscalls.h"
#include "record/perf/sched_trace.h"
#include "support.h"

static void expect_place(const char *symbol, enum kernel_place place, const char *name)
{
	char found[64];

	assert_int_equal(kernel_place(symbol, found, sizeof(found)), place);
	if (name)
		assert_string_equal(found, name);
}

static void test_names_of_kernel_functions(void **state)
{
	expect_place("__x64_sys_futex", PLACE_SYSCALL, "futex");
	expect_place("__arm64_sys_ppoll", PLACE_SYSCALL, "ppoll");
	expect_place("__se_sys_clock_nanosleep", PLACE_SYSCALL, "clock_nanosleep");
	expect_place("__do_sys_wait4.isra.0", PLACE_SYSCALL, "wait4");
	expect_place("__ia32_compat_sys_recv", PLACE_SYSCALL, "recv");
	expect_place("ksys_read", PLACE_NOTHING, "read");
	expect_place("kernel_wait4", PLACE_NOTHING, "wait4");
	expect_place("do_epoll_wait.constprop.0", PLACE_NOTHING, "epoll_wait");
	expect_place("do_syscall_64", PLACE_ENTRY, NULL);
	expect_place("el0_svc_common.constprop.0", PLACE_ENTRY, NULL);
	expect_place("asm_exc_page_fault", PLACE_FAULT, NULL);
	expect_place("do_exit", PLACE_EXIT, NULL);
	expect_place("schedule", PLACE_NOTHING, "schedule");
	expect_place("__x64_sys_", PLACE_NOTHING, NULL);
	expect_place("", PLACE_NOTHING, "");
}

/* Functions of 256 bytes each, from 0xffffffff81000000 on. */
/* clang-format off */
static const char *const functions[] = {
	"_stext", "schedule", "futex_wait", "__x64_sys_futex", "do_syscall_64", "entry_SYSCALL_64_after_hwframe",
	"vfs_read", "ksys_read", "filemap_fault", "exc_page_fault", "asm_exc_page_fault", "do_exit",
	"__x64_sys_exit_group", "kthread", "ret_from_fork",
};
/* clang-format on */

static uint64_t pc_in(const char *function)
{
	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++)
		if (strcmp(functions[i], function) == 0)
			return 0xffffffff81000000ull + i * 256 + 7;
	fail();
	return 0;
}

struct world {
	char path[64];
	struct sched_syscalls calls;
	char texts[16][32];
	uint64_t text_count;
};

static uint64_t intern(void *context, const char *text)
{
	struct world *w = context;

	for (uint64_t i = 0; i < w->text_count; i++)
		if (strcmp(w->texts[i], text) == 0)
			return i + 1;
	assert_true(w->text_count < 16);
	snprintf(w->texts[w->text_count], sizeof(w->texts[0]), "%s", text);
	return ++w->text_count;
}

static void begin(struct world *w, unsigned long long base)
{
	FILE *f;
	int fd;

	memset(w, 0, sizeof(*w));
	strcpy(w->path, "kallsyms-XXXXXX");
	fd = mkstemp(w->path);
	assert_true(fd >= 0);
	f = fdopen(fd, "w");
	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++)
		fprintf(f, "%016llx T %s\n", base ? base + i * 256 : 0, functions[i]);
	fprintf(f, "%016llx T _etext\n", base ? base + 4096 * 16 : 0);
	fclose(f);
	w->calls = (struct sched_syscalls){ .path = w->path, .intern = intern, .context = w };
}

static void end(struct world *w)
{
	sched_syscalls_release(&w->calls);
	unlink(w->path);
}

/* Leaf first, as stacks are told. */
static const char *in(struct world *w, const char *const *names)
{
	uint64_t frames[16], id;
	size_t count = 0;

	for (; *names; names++)
		frames[count++] = pc_in(*names);
	id = sched_syscalls_find(&w->calls, frames, count);
	return id ? w->texts[id - 1] : "";
}

#define IN(w, ...) in(w, (const char *const[]){ __VA_ARGS__, NULL })

static void test_system_call_of_a_stack(void **state)
{
	struct world w;

	begin(&w, 0xffffffff81000000ull);
	for (int round = 0; round < 2; round++) { /* the second time from memory */
		assert_string_equal(IN(&w, "schedule", "futex_wait", "__x64_sys_futex", "do_syscall_64", "entry_SYSCALL_64_after_hwframe"),
				    "futex");
		assert_string_equal(IN(&w, "schedule", "vfs_read", "ksys_read", "do_syscall_64", "entry_SYSCALL_64_after_hwframe"), "read");
		assert_string_equal(IN(&w, "schedule", "filemap_fault", "exc_page_fault", "asm_exc_page_fault"), "page fault");
		/* A fault within a call belongs to the call. */
		assert_string_equal(IN(&w, "schedule", "filemap_fault", "exc_page_fault", "asm_exc_page_fault", "vfs_read", "ksys_read",
				       "do_syscall_64"),
				    "read");
		assert_string_equal(IN(&w, "schedule", "do_exit"), "exit");
		/* A thread of the kernel; a stack that was cut before its outer end. */
		assert_string_equal(IN(&w, "schedule", "kthread", "ret_from_fork"), "");
		assert_string_equal(IN(&w, "schedule", "futex_wait"), "");
		assert_string_equal(IN(&w, "schedule", "futex_wait", "__x64_sys_futex"), "futex");
	}
	assert_int_equal(sched_syscalls_find(&w.calls, NULL, 0), 0);
	assert_int_equal(sched_syscalls_find(&w.calls, (const uint64_t[]){ 0, 1, UINT64_MAX }, 3), 0);
	/* Only what was needed is a string of the report. */
	assert_int_equal(w.text_count, 4);
	end(&w);
}

/* Nothing is read until a name is asked for; the same stack is kept once. */
static void test_names_found_later(void **state)
{
	const uint64_t futex[] = { pc_in("schedule"), pc_in("futex_wait"), pc_in("__x64_sys_futex"), pc_in("do_syscall_64") };
	const uint64_t read[] = { pc_in("schedule"), pc_in("vfs_read"), pc_in("ksys_read"), pc_in("do_syscall_64") };
	const uint64_t thread[] = { pc_in("schedule"), pc_in("kthread") };
	uint64_t later[3], id;
	struct world w;

	begin(&w, 0xffffffff81000000ull);
	w.calls.later = 1;
	later[0] = sched_syscalls_find(&w.calls, futex, 4);
	later[1] = sched_syscalls_find(&w.calls, read, 4);
	later[2] = sched_syscalls_find(&w.calls, thread, 2);
	assert_int_equal(sched_syscalls_find(&w.calls, futex, 4), later[0]);
	assert_int_equal(sched_syscalls_find(&w.calls, NULL, 0), 0);
	for (int i = 0; i < 3; i++)
		assert_true(later[i] & SCHED_UNNAMED);
	assert_int_equal(w.calls.tried, 0);
	assert_int_equal(w.text_count, 0);
	id = sched_syscalls_name(&w.calls, later[1]);
	assert_true(id > 0 && id <= w.text_count);
	assert_string_equal(w.texts[id - 1], "read");
	id = sched_syscalls_name(&w.calls, later[0]);
	assert_true(id > 0 && id <= w.text_count);
	assert_string_equal(w.texts[id - 1], "futex");
	assert_int_equal(sched_syscalls_name(&w.calls, later[2]), 0);
	/* A number nobody gave. */
	assert_int_equal(sched_syscalls_name(&w.calls, SCHED_UNNAMED | 1000000), 0);
	/* From then on at once. */
	assert_string_equal(IN(&w, "schedule", "vfs_read", "ksys_read", "do_syscall_64"), "read");
	end(&w);
}

static void test_hidden_or_missing_symbols(void **state)
{
	struct world w;

	begin(&w, 0);
	assert_string_equal(IN(&w, "schedule", "__x64_sys_futex", "do_syscall_64"), "");
	end(&w);
	begin(&w, 0xffffffff81000000ull);
	w.calls.path = "no/such/file";
	assert_string_equal(IN(&w, "schedule", "__x64_sys_futex", "do_syscall_64"), "");
	end(&w);
}

#define FORMAT(id, fields) \
	"name: sched_wakeup\nID: " id "\nformat:\n" \
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n" \
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n" fields "\nprint fmt: \"pid=%d\"\n"

static void test_tracepoint_formats(void **state)
{
	struct trace_point p;

	assert_int_equal(trace_point_parse(FORMAT("374", "\tfield:char comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
							 "\tfield:pid_t pid;\toffset:24;\tsize:4;\tsigned:1;\n"),
					   &p),
			 0);
	assert_int_equal(p.id, 374);
	assert_int_equal(p.pid_offset, 24);
	assert_int_equal(trace_point_parse(FORMAT("5", "\tfield:pid_t tid;\toffset:24;\tsize:4;\n"), &p), -EINVAL);
	assert_int_equal(trace_point_parse(FORMAT("x", "\tfield:pid_t pid;\toffset:24;\tsize:4;\n"), &p), -EINVAL);
	assert_int_equal(trace_point_parse(FORMAT("5", "\tfield:pid_t pid;\toffset:24;\tsize:8;\n"), &p), -EINVAL);
	assert_int_equal(trace_point_parse(FORMAT("5", "\tfield:pid_t pid;\toffset:4294967290;\tsize:4;\n"), &p), -EINVAL);
	assert_int_equal(trace_point_parse("", &p), -EINVAL);
}

static void test_tracepoint_records(void **state)
{
	struct trace_point p = { .id = 374, .pid_offset = 8 };
	struct {
		uint32_t size;
		uint8_t data[16];
	} raw = { .size = 16 };
	uint32_t woken = 77, tid = 0;

	memcpy(raw.data + 8, &woken, sizeof(woken));
	assert_int_equal(trace_point_woken(&p, (const uint8_t *)&raw, sizeof(raw), &tid), 0);
	assert_int_equal(tid, 77);
	/* Shorter than it says, or than the field's place. */
	assert_int_equal(trace_point_woken(&p, (const uint8_t *)&raw, sizeof(raw) - 1, &tid), -EINVAL);
	assert_int_equal(trace_point_woken(&p, (const uint8_t *)&raw, 3, &tid), -EINVAL);
	raw.size = 11;
	assert_int_equal(trace_point_woken(&p, (const uint8_t *)&raw, sizeof(raw), &tid), -EINVAL);
	raw.size = UINT32_MAX;
	assert_int_equal(trace_point_woken(&p, (const uint8_t *)&raw, sizeof(raw), &tid), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names_of_kernel_functions), cmocka_unit_test(test_system_call_of_a_stack),
		cmocka_unit_test(test_hidden_or_missing_symbols), cmocka_unit_test(test_tracepoint_formats),
		cmocka_unit_test(test_tracepoint_records),        cmocka_unit_test(test_names_found_later),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
