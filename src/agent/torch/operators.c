/* An operator begins, an operator ends: two short records.
 *
 * Operators of a thread mostly end in the order in which they began, but not always: record_function of Python begins within the operator
 * that begins it, and ends behind it. So each open one has a place, the lowest above all that are open. What torch keeps for us from the begin
 * to the end, an object with a virtual destructor, says which: it is one of `contexts`, and nothing happens when torch destroys it. */
#include "agent/torch/names.h"

#define WINDOWS 4u

struct torch_context {
	void *const *functions;
};

static void destroy_nothing(void *context)
{
	(void)context;
}

/* Of the class of our contexts: offset, type, the destructor, the one that also frees. */
static void *const class_table[] = { NULL, NULL, (void *)destroy_nothing, (void *)destroy_nothing };

/* By window and place, then those of operators without a place. */
static struct torch_context contexts[WINDOWS * TORCH_PLACES + 1];
#define CONTEXT_ASYNC (WINDOWS * TORCH_PLACES)

void torch_prepare_contexts(void)
{
	for (unsigned i = 0; i <= CONTEXT_ASYNC; i++)
		contexts[i].functions = class_table + 2;
}

static inline uint64_t value_at(const void *op, uint32_t offset)
{
	return *(const uint64_t *)((const uint8_t *)op + offset);
}

static inline uint8_t byte_at(const void *op, uint32_t offset)
{
	return *((const uint8_t *)op + offset);
}

static inline unsigned this_window(void)
{
	return agent_tls.gate >> 8 & (WINDOWS - 1);
}

/* This thread's memory, on its first event, too; NULL: it has no place in the rings, which is counted. */
static AGENT_COLD struct agent_thread_memory *take_memory(void)
{
	if (agent_begin(sizeof(struct record_plain))) {
		atomic_signal_fence(memory_order_seq_cst);
		agent_tls.busy = 0;
	}
	return agent_memory();
}

/* The place of one that begins. */
static inline unsigned take_place(struct agent_operators *operators)
{
	unsigned place = operators->depth++;

	operators->open[place / 64] |= 1ull << place % 64;
	return place;
}

static inline int is_open(const struct agent_operators *operators, unsigned place)
{
	return (operators->open[place / 64] >> place % 64 & 1) != 0;
}

/* Returns whether it was open. */
static inline int leave_place(struct agent_operators *operators, unsigned place)
{
	if (!is_open(operators, place))
		return 0;
	operators->open[place / 64] &= ~(1ull << place % 64);
	while (operators->depth && !is_open(operators, operators->depth - 1))
		operators->depth--;
	return 1;
}

struct starting {
	unsigned flags;
	unsigned name;
	unsigned place;
	uint64_t values[3];
	unsigned value_count;
	uint32_t input_bytes;
	uint8_t inputs[TORCH_INPUTS_ROOM];
};

static inline void add_operator_value(struct starting *s, unsigned flag, uint64_t value)
{
	s->flags |= flag;
	s->values[s->value_count++] = value;
}

/* What the operator says of itself. Returns whether it ends where its result is there. */
static inline int read_operator(const void *op, struct starting *s)
{
	const struct torch_layout *layout = &torch_state.layout;
	uint64_t sequence, forward;

	if (!layout->known)
		return 0;
	agent_memory()->operators.thread = value_at(op, layout->thread);
	s->flags = (byte_at(op, layout->scope) & 15u) << TORCH_FLAG_SCOPE_SHIFT;
	sequence = value_at(op, layout->sequence);
	if ((int64_t)sequence >= 0)
		add_operator_value(s, TORCH_FLAG_SEQUENCE, sequence);
	forward = value_at(op, layout->forward);
	if (forward)
		add_operator_value(s, TORCH_FLAG_FORWARD, forward);
	if (agent_likely(!byte_at(op, layout->async)))
		return 0;
	add_operator_value(s, TORCH_FLAG_ID, (uintptr_t)op);
	return 1;
}

static inline void write_start(const struct starting *s)
{
	uint32_t fixed = (uint32_t)(sizeof(struct record_plain) + 8 * s->value_count), size = fixed + s->input_bytes;
	struct record_plain *record = agent_begin(size);

	if (!record)
		return;
	for (unsigned i = 0; i < s->value_count; i++)
		((uint64_t *)(record + 1))[i] = s->values[i];
	if (s->input_bytes)
		arch_copy((uint8_t *)record + fixed, s->inputs, s->input_bytes);
	record->time = agent_now();
	agent_end(record, record_head(RECORD_TORCH_START, s->flags, size, s->place, s->name), size);
}

/* They are not recorded, nor counted one by one. */
static AGENT_COLD struct torch_context *refuse_deep(void)
{
	static _Atomic uint32_t reported;

	if (!atomic_exchange(&reported, 1))
		agent_diagnose(DIAGNOSTIC_WARNING,
			       "More than 1024 operators of PyTorch are open at once in a thread; those beyond are not recorded.");
	return NULL;
}

static inline struct torch_context *record_start(const void *op)
{
	struct agent_thread_memory *memory = agent_memory();
	struct torch_text text;
	struct starting s;
	int name, async;

	if (agent_unlikely(!memory))
		memory = take_memory();
	if (agent_unlikely(!memory))
		return NULL;
	if (agent_unlikely(memory->operators.depth >= TORCH_PLACES))
		return refuse_deep();
	text = torch_text_of(torch_state.call.name(op));
	name = torch_name_number(memory, &text);
	if (agent_unlikely(name < 0))
		return NULL;
	s.name = (unsigned)name;
	s.flags = s.value_count = s.input_bytes = 0;
	async = read_operator(op, &s);
	if (torch_state.with_inputs) {
		s.flags |= TORCH_FLAG_INPUTS;
		s.input_bytes = torch_write_inputs(memory, op, s.inputs);
	}
	s.place = async ? 0 : take_place(&memory->operators);
	write_start(&s);
	return &contexts[async ? CONTEXT_ASYNC : this_window() * TORCH_PLACES + s.place];
}

void *torch_operator_started(void **context, const void *op)
{
	*context = NULL;
	if (agent_on(RING_GATE_TORCH))
		*context = record_start(op);
	else if (agent_unlikely(atomic_load_explicit(&agent_pages.attached, memory_order_relaxed) & AGENT_OFF))
		torch_leave();
	return context;
}

static void record_end(unsigned place)
{
	struct record_plain *record = agent_begin(sizeof(*record));

	if (!record)
		return;
	record->time = agent_now();
	agent_end(record, record_head(RECORD_TORCH_END, 0, sizeof(*record), place, 0), sizeof(*record));
}

/* Of one that may have begun in another thread: `flag` says what the value is. */
static AGENT_COLD void record_far_end(unsigned flag, uint64_t value, unsigned place)
{
	uint32_t size = sizeof(struct record_plain) + sizeof(uint64_t);
	struct record_plain *record = agent_begin(size);

	if (!record)
		return;
	*(uint64_t *)(record + 1) = value;
	record->time = agent_now();
	agent_end(record, record_head(RECORD_TORCH_END, flag, size, place, 0), size);
}

static inline int is_other_thread(const void *op, const struct agent_thread_memory *memory)
{
	const struct torch_layout *layout = &torch_state.layout;

	return layout->known && (!memory || value_at(op, layout->thread) != memory->operators.thread);
}

void torch_operator_ended(const void *op, void *context)
{
	size_t which = (size_t)((struct torch_context *)context - contexts);
	struct agent_thread_memory *memory;

	if (!context || !agent_on(RING_GATE_TORCH))
		return;
	if (agent_unlikely(which >= CONTEXT_ASYNC)) {
		record_far_end(TORCH_FLAG_ID, (uintptr_t)op, 0);
		return;
	}
	memory = agent_memory();
	if (agent_unlikely(which / TORCH_PLACES != (agent_pages.session.gate >> 8 & (WINDOWS - 1))))
		return; /* it began in another window */
	if (agent_unlikely(is_other_thread(op, memory)))
		record_far_end(TORCH_FLAG_FORWARD, value_at(op, torch_state.layout.thread), which % TORCH_PLACES);
	else if (agent_likely(memory && leave_place(&memory->operators, which % TORCH_PLACES)))
		record_end(which % TORCH_PLACES);
}
