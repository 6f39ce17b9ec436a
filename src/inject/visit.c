#include "inject/visit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/system/monotonic.h"
#include "inject/borrow.h"
#include "inject/ending.h"
#include "inject/functions.h"
#include "inject/proc_status.h"
#include "inject/safety.h"

#define PAGE 4096u
#define PAUSE_LIMIT_NS 4000000
#define ANSWER_PAUSE_NS 300000
#define VISITOR_PAUSE_NS 1000000
#define VISITOR_PATIENCE 5000u /* pauses, until it believes that nobody will fetch its answer */
#define LEAVING_NS 500000000ll
#define DYING_NS 1000000000ll

ARCH_VISIT_CODE(visit_code);

struct visitor {
	const struct visit_request *request;
	struct image image;
	struct functions functions;
	struct safety *safety;
	struct borrowed borrowed;
	uint64_t code, data; /* in the process; the code comes first, in the same mapping */
	uint64_t size;
	pid_t thread; /* ours, in the process */
	int touched;  /* something of the process's was changed */
	pid_t last_tried;
	unsigned refused;
	const char *last_reason;
};

static void pause_ns(int64_t ns)
{
	struct timespec pause = { 0, ns };

	nanosleep(&pause, NULL);
	borrow_let_strays_go();
}

static void shuffle(pid_t *threads, size_t count)
{
	for (size_t i = count; i > 1; i--) {
		size_t other = (size_t)random() % i;
		pid_t moved = threads[i - 1];

		threads[i - 1] = threads[other];
		threads[other] = moved;
	}
}

/* Stops a thread and takes down where it is. */
static int examine_thread(struct visitor *v, pid_t thread)
{
	int r = borrow_stop(&v->borrowed, &v->image, thread);

	if (r == 0) {
		v->last_tried = thread;
		safety_look(v->safety, thread, &v->borrowed.original, BORROW_STACK);
	}
	return r;
}

/* 0 when it may be borrowed, and then it stays stopped. It is judged twice: the first time, which
 * reads files, while it goes on; the second time it is stopped, and where it is needs little time
 * then. */
static int try_thread(struct visitor *v, pid_t thread)
{
	TRY(image_refresh(&v->image, NULL));
	TRY(examine_thread(v, thread));
	borrow_release(&v->borrowed);
	v->last_reason = safety_judge(v->safety);
	if (v->last_reason)
		return -EAGAIN;
	TRY(examine_thread(v, thread));
	v->last_reason = safety_judge(v->safety);
	/* What is mapped may have changed since it was read: only what is known for certain counts. */
	if (!v->last_reason && image_refresh(&v->image, NULL) != 0)
		v->last_reason = safety_judge(v->safety);
	if (!v->last_reason && borrow_prepare(&v->borrowed, v->functions.trampoline) == 0)
		return 0;
	borrow_release(&v->borrowed);
	return -EAGAIN;
}

/* Those that sleep are the best: they are disturbed least. */
static int try_threads(struct visitor *v, const char *states)
{
	struct proc_status status;
	pid_t *threads = NULL;
	ssize_t count = proc_threads(v->request->pid, &threads);
	int r = count > 0 ? -EAGAIN : -ESRCH, one;

	if (count > 0)
		shuffle(threads, (size_t)count);
	for (ssize_t i = 0; i < count && r == -EAGAIN && monotonic_ns() < v->request->deadline; i++) {
		if (proc_status_read(threads[i], &status) < 0 || !strchr(states, status.state))
			continue;
		one = try_thread(v, threads[i]);
		/* Threads that are ending may not be traced either. */
		v->refused += one == -EPERM;
		if (one == 0)
			r = 0;
	}
	free(threads);
	return r;
}

static int choose_thread(struct visitor *v, struct error *err)
{
	int64_t longest = PAUSE_LIMIT_NS / 16;
	int r = -EAGAIN;

	while (monotonic_ns() < v->request->deadline) {
		r = try_threads(v, "S");
		if (r == -EAGAIN)
			r = try_threads(v, "R");
		if (r != -EAGAIN)
			break;
		pause_ns(random() % longest);
		longest = longest < PAUSE_LIMIT_NS ? 2 * longest : PAUSE_LIMIT_NS;
	}
	if (r == -ESRCH)
		return error_set(err, ESRCH, "process %d has ended", (int)v->request->pid);
	if (r < 0 && !v->last_reason && v->refused)
		return error_set(err, EPERM,
				 "process %d may not be traced (another tracer, or no "
				 "CAP_SYS_PTRACE)",
				 (int)v->request->pid);
	if (r < 0 && v->last_reason)
		return error_set(err, EAGAIN, "no thread of process %d could be borrowed in time: the last one tried, %d, %s",
				 (int)v->request->pid, (int)v->last_tried, v->last_reason);
	if (r < 0)
		return error_set(err, EAGAIN, "no thread of process %d could be stopped in time", (int)v->request->pid);
	return 0;
}

static int call_borrowed_thread(struct visitor *v, uint64_t function, const uint64_t arguments[6], long number, long or_number,
				int64_t *ret, struct error *err)
{
	int r = borrow_call(&v->borrowed, function, arguments, number, or_number, ret);

	if (r == -EFAULT)
		return error_set(err, EFAULT, "a call in process %d failed; its thread %d is as it was", (int)v->request->pid,
				 (int)v->borrowed.thread);
	return r < 0 ? error_set(err, ESRCH, "process %d has ended", (int)v->request->pid) : 0;
}

static uint64_t round_up(uint64_t size, uint64_t to)
{
	return (size + to - 1) / to * to;
}

static int map_visit_memory(struct visitor *v, struct error *err)
{
	const struct visit_request *q = v->request;
	uint64_t size = PAGE + sizeof(struct arch_visit) + strlen(q->library) + strlen(q->function) + q->size + 64;
	int64_t address;

	v->size = round_up(size, PAGE);
	TRY(call_borrowed_thread(v, v->functions.mmap,
				 (uint64_t[6]){ 0, v->size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, (uint64_t)-1, 0 },
				 SYS_mmap, SYS_mmap, &address, err));
	if (address < 0)
		return error_set_errno(err, (int)-address, "process %d gets no memory", (int)q->pid);
	v->code = (uint64_t)address;
	v->data = v->code + PAGE;
	return 0;
}

static int drop_room(struct visitor *v, int r)
{
	int64_t ignored;

	if (!v->borrowed.gone)
		call_borrowed_thread(v, v->functions.munmap, (uint64_t[6]){ v->code, v->size }, SYS_munmap, SYS_munmap, &ignored, NULL);
	return r;
}

/* The texts and the argument lie behind the structure. */
static int fill_room(struct visitor *v, struct error *err)
{
	const struct visit_request *q = v->request;
	size_t code_size = (size_t)(visit_code_end - visit_code_begin), at = sizeof(struct arch_visit);
	uint8_t *data = calloc(1, v->size - PAGE);
	struct arch_visit visit = {
		.detach = q->no_thread || !v->functions.pthread_create ? 0 : v->functions.pthread_detach,
		.self = v->functions.pthread_self,
		.dlopen = v->functions.dlopen,
		.dlsym = v->functions.dlsym,
		.dlerror = v->functions.dlerror ? v->functions.dlerror : v->code + code_size - ARCH_VISIT_NOTHING,
		.munmap = v->functions.munmap,
		.mode = v->functions.mode,
		.pages = v->code,
		.pages_size = v->size,
		.pause = { 0, VISITOR_PAUSE_NS },
		.patience = VISITOR_PATIENCE,
		.name = "sonde",
	};
	int r = -ENOMEM;

	if (data) {
		visit.argument = v->data + at;
		if (q->size)
			memcpy(data + at, q->argument, q->size);
		at += q->size;
		visit.library = v->data + at;
		memcpy(data + at, q->library, strlen(q->library) + 1);
		at += strlen(q->library) + 1;
		visit.function = v->data + at;
		memcpy(data + at, q->function, strlen(q->function) + 1);
		memcpy(data, &visit, sizeof(visit));
		r = image_write(&v->image, v->data, data, v->size - PAGE);
	}
	free(data);
	if (r == 0)
		r = image_write(&v->image, v->code, visit_code_begin, code_size);
	return r < 0 ? error_set_errno(err, -r, "cannot write into process %d", (int)q->pid) : 0;
}

static int make_executable(struct visitor *v, struct error *err)
{
	int64_t result;
	int r = call_borrowed_thread(v, v->functions.mprotect, (uint64_t[6]){ v->code, PAGE, PROT_READ | PROT_EXEC }, SYS_mprotect,
				     SYS_mprotect, &result, err);

	if (r == 0 && result < 0)
		return error_set_errno(err, (int)-result, "process %d may not have executable memory (SELinux?)", (int)v->request->pid);
	return r;
}

/* pthread_create() writes the thread's handle, which nobody needs, to the end of the room. */
static int start_thread(struct visitor *v, struct error *err)
{
	int64_t thread;

	TRY(call_borrowed_thread(v, v->functions.pthread_create, (uint64_t[6]){ v->code + v->size - 16, 0, v->code, v->data }, SYS_clone,
				 SYS_clone3, &thread, err));
	if (thread <= 0)
		return error_set_errno(err, thread == -ENOSYS ? EAGAIN : (int)-thread, "process %d can start no thread",
				       (int)v->request->pid);
	v->thread = (pid_t)thread;
	return 0;
}

static int read_answer(struct visitor *v, const struct arch_visit *visit, int64_t *ret_value, struct error *err)
{
	char text[512] = "";

	if (visit->state == VISIT_DONE) {
		*ret_value = visit->result;
		return 0;
	}
	if (visit->message)
		image_read_text(&v->image, visit->message, text, sizeof(text));
	return error_set(err, ELIBACC, "process %d cannot %s %s%s%s", (int)v->request->pid,
			 visit->state == VISIT_NO_LIBRARY ? "load" : "find the function of", v->request->library, *text ? ": " : "", text);
}

static void let_visitor_go(struct visitor *v)
{
	const uint32_t leave = 1;
	int64_t end = monotonic_ns() + LEAVING_NS;
	char path[64];

	image_write(&v->image, v->data + offsetof(struct arch_visit, leave), &leave, sizeof(leave));
	snprintf(path, sizeof(path), "/proc/%d/task/%d", (int)v->request->pid, (int)v->thread);
	while (access(path, F_OK) == 0 && monotonic_ns() < end)
		pause_ns(ANSWER_PAUSE_NS);
}

static int await_answer(struct visitor *v, int64_t *ret_value, struct error *err)
{
	struct arch_visit visit = { 0 };
	const uint32_t leave = 1;
	int r;

	while (monotonic_ns() < v->request->deadline) {
		/* Another program may have come into its place (exec), with something else there. */
		if (image_read(&v->image, v->data, &visit, sizeof(visit)) < 0 || visit.pages != v->code || visit.pages_size != v->size)
			return error_set(err, ESRCH, "process %d has ended, or has become another program", (int)v->request->pid);
		if (visit.state >= VISIT_DONE) {
			r = read_answer(v, &visit, ret_value, err);
			let_visitor_go(v);
			return r;
		}
		pause_ns(ANSWER_PAUSE_NS);
	}
	image_write(&v->image, v->data + offsetof(struct arch_visit, leave), &leave, sizeof(leave));
	return error_set(err, ETIMEDOUT, "process %d has not loaded %s in time: %s", (int)v->request->pid, v->request->library,
			 visit.state == VISIT_BEGUN ? "the dynamic linker or the function does not return" : "its new thread does not run");
}

static int call_in_borrowed_thread(struct visitor *v, int64_t *ret_value, struct error *err)
{
	struct arch_visit visit;
	int64_t ignored;
	int r;

	TRY(call_borrowed_thread(v, v->code, (uint64_t[6]){ v->data }, -1, -1, &ignored, err));
	r = image_read(&v->image, v->data, &visit, sizeof(visit));
	if (r < 0)
		return error_set_errno(err, -r, "cannot read from process %d", (int)v->request->pid);
	return read_answer(v, &visit, ret_value, err);
}

/* All that the borrowed thread does. */
static int use_thread(struct visitor *v, int64_t *ret_value, struct error *err)
{
	int in_borrowed = v->request->no_thread || !v->functions.pthread_create;
	int r;

	v->touched = 1;
	TRY(map_visit_memory(v, err));
	r = fill_room(v, err);
	if (r == 0)
		r = make_executable(v, err);
	if (r == 0)
		r = in_borrowed ? call_in_borrowed_thread(v, ret_value, err) : start_thread(v, err);
	return r < 0 || in_borrowed ? drop_room(v, r) : 0;
}

static int make_visit(struct visitor *v, int64_t *ret_value, struct error *err)
{
	int r;

	TRY(functions_find(&v->functions, &v->image, err));
	TRY(safety_new(&v->safety, &v->image, err));
	TRY(choose_thread(v, err));
	r = use_thread(v, ret_value, err);
	borrow_end(&v->borrowed);
	return r < 0 || !v->thread ? r : await_answer(v, ret_value, err);
}

/* What became of the process while it was visited. */
struct course {
	int touched;
	int status; /* of the thread that was borrowed, if it was seen to end; -1 */
};

/* `living`: a thread of the process whose /proc entry is complete. */
static int visit_by(const struct visit_request *request, pid_t living, struct course *ret, int64_t *ret_value, struct error *err)
{
	struct visitor *v = calloc(1, sizeof(*v));
	int r;

	if (!v)
		return error_set(err, ENOMEM, "out of memory");
	v->request = request;
	r = image_open(&v->image, living, err);
	if (r == 0)
		r = make_visit(v, ret_value, err);
	*ret = (struct course){ v->touched, v->touched ? v->borrowed.status : -1 };
	safety_free(v->safety);
	image_close(&v->image);
	free(v);
	return r;
}

/* Its memory is gone before its threads are; one that has become another program lives on. */
static int is_dying(pid_t pid)
{
	int64_t end = monotonic_ns() + DYING_NS;

	while (proc_living_thread(pid) > 0 && monotonic_ns() < end)
		pause_ns(ANSWER_PAUSE_NS);
	return proc_living_thread(pid) <= 0;
}

/* By us, as far as anybody can tell, or not. */
static int report_dead_process(pid_t pid, enum ending ending, struct error *err)
{
	switch (ending) {
	case ENDING_FAULT: return error_set(err, EOWNERDEAD, "process %d died while a call was made in it", (int)pid);
	case ENDING_UNKNOWN: return error_set(err, ENODATA, "process %d ended while a call was made in it", (int)pid);
	case ENDING_BY_ITSELF: break;
	}
	return error_set(err, ESRCH, "process %d has ended", (int)pid);
}

int visit(const struct visit_request *request, int64_t *ret_value, struct error *err)
{
	pid_t living = proc_living_thread(request->pid), other;
	struct course course = { 0, -1 };
	int watch = ending_watch(request->pid), r = -ESRCH;

	srandom((unsigned)monotonic_ns());
	if (living > 0)
		r = visit_by(request, living, &course, ret_value, err);
	/* That thread may have ended meanwhile, and the process not. */
	other = r == -ESRCH && !course.touched ? proc_living_thread(request->pid) : -ESRCH;
	if (other > 0 && other != living)
		r = visit_by(request, other, &course, ret_value, err);
	if (r == -ESRCH && course.touched && is_dying(request->pid))
		r = report_dead_process(request->pid, ending_of(request->pid, watch, course.status), err);
	if (watch >= 0)
		close(watch);
	return living > 0 ? r : error_set(err, ESRCH, "process %d has ended", (int)request->pid);
}
