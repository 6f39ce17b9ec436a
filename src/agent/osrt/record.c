/* Calls that are to be recorded: off the hot path. */
#include "agent/core/call.h"
#include "agent/osrt/osrt.h"

/* More signal handlers within each other than any program has. */
#define MAX_NESTING 63u
/* Further apart than any one stack reaches. */
#define SAME_STACK_BYTES (8u << 20)

/* Whether the call that this one seems to be made in is still under way, and its frame. One that was left by longjmp,
 * or whose thread's stack is another now, has nothing of its frame left, or lies where no caller of ours
 * can be. */
static int is_under_way(const struct osrt_frame *outer, const struct osrt_frame *inner, struct osrt_frame *ret)
{
	if ((uintptr_t)inner - (uintptr_t)outer < SAME_STACK_BYTES)
		return 0;
	return agent_copy_stack(ret, (uintptr_t)outer, sizeof(*ret)) == sizeof(*ret) && ret->live == osrt_live(outer);
}

static unsigned nesting(const struct osrt_frame *frame)
{
	struct osrt_frame outer = *frame;
	unsigned depth = 0;

	while (outer.outer && depth < MAX_NESTING && is_under_way(outer.outer, frame, &outer))
		depth++;
	return depth;
}

struct ring_slot *osrt_take_slot(void)
{
	agent_take_slot();
	return agent_tls.slot;
}

void osrt_leave_outer(struct osrt_frame *frame)
{
	struct osrt_frame outer;

	if (!is_under_way(frame->outer, frame, &outer))
		agent_tls.call = 0;
	else if (agent_tls.slot)
		osrt_note(agent_tls.slot, &outer);
}

struct whole_record {
	struct record_osrt call;
	struct record_osrt_file file;
};

static void write_osrt_call(const struct osrt_frame *frame, const struct whole_record *whole, unsigned flags)
{
	uint32_t size = flags & OSRT_FLAG_FILE ? sizeof(*whole) : sizeof(whole->call);
	unsigned depth = frame->outer ? nesting(frame) : 0;
	struct whole_record *record = agent_begin(size);

	if (!record)
		return;
	flags |= depth ? OSRT_FLAG_NESTED : 0;
	record->call = whole->call;
	if (flags & OSRT_FLAG_FILE)
		record->file = whole->file;
	agent_end(record, record_head(RECORD_OSRT, flags, size, depth, frame->number), size);
}

void osrt_finish(struct osrt_frame *frame, uint64_t end, int64_t result, unsigned role, const long *arguments)
{
	struct whole_record whole = { .call = { .time = end, .start = frame->start, .result = result } };
	unsigned flags = 0;

	/* A child forked by a signal handler comes back into its parent's call; a thread that waited for long may
	 * come back into another recording. */
	if (!agent_attached() || frame->start < agent_attached_since())
		return;
	if (osrt_files(role))
		whole.file.file = osrt_file_after(frame, end, result, role, arguments, &whole.file.bytes);
	if (whole.file.file)
		flags |= OSRT_FLAG_FILE;
	if (end - frame->start >= agent_pages.session.osrt_stack_threshold && agent_write_stack(end, agent_pages.session.osrt_stack_size))
		flags |= OSRT_FLAG_STACK;
	write_osrt_call(frame, &whole, flags);
}

void osrt_end_elsewhere(struct osrt_frame *frame, int64_t result, unsigned role, const long *arguments)
{
	uint64_t end = agent_now();

	if (!agent_tls.slot && end - frame->start >= agent_pages.session.osrt_threshold)
		osrt_finish(frame, end, result, role, arguments);
	frame->live = 0;
	agent_tls.call = (uintptr_t)frame->outer;
}

_Static_assert(sizeof(struct agent_call) == sizeof(struct osrt_frame), "a call is its frame");

int agent_call_begin(struct agent_call *call, enum osrt_number number)
{
	if (!osrt_on())
		return 0;
	osrt_begin((struct osrt_frame *)call, number);
	return 1;
}

void agent_call_end(struct agent_call *call, int64_t result)
{
	osrt_end((struct osrt_frame *)call, result, OSRT_FILE_NONE, NULL);
}
