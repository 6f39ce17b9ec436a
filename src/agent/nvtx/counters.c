/* Counters and counter groups. A sample of a group becomes one record per number of its
 * schema, all with the same time. */
#include "agent/nvtx/nvtx.h"

/* Time stamps given by the program are in this clock, or cannot be used. */
static uint64_t time_domain_of(const struct nvtx_semantics *semantics)
{
	/* A list made by the program: an end to it even if there is none. */
	for (int i = 0; semantics && i < 16; i++, semantics = semantics->next)
		if (semantics->id == NVTX_SEMANTICS_TIME && semantics->struct_size >= sizeof(struct nvtx_semantics_time))
			return ((const struct nvtx_semantics_time *)semantics)->time_domain;
	return NVTX_TIME_NONE;
}

static void define_counter(uint32_t domain, struct nvtx_counter *counter, const char *name, const char *description)
{
	struct nvtx_definition what = { .kind = DEFINE_COUNTER, .domain = domain, .id = counter->id, .extra = counter->schema };
	struct nvtx_text texts[2] = { nvtx_text_ascii(name), nvtx_text_ascii(description) };
	uint32_t size;
	uint8_t *body;

	if (atomic_load_explicit(&counter->node.defined, memory_order_relaxed))
		return;
	if (texts[1].size > NVTX_WIRE_PIECE_MAX - 1 - texts[0].size)
		texts[1].size = NVTX_WIRE_PIECE_MAX - 1 - texts[0].size;
	size = texts[0].size + 1 + texts[1].size;
	body = nvtx_define_begin(&what, size);
	if (!body)
		return;
	nvtx_text_put(body, &texts[0]);
	body[texts[0].size] = 0;
	nvtx_text_put(body + texts[0].size + 1, &texts[1]);
	nvtx_define_end(&what, body, size);
	atomic_store_explicit(&counter->node.defined, 1, memory_order_relaxed);
}

uint64_t nvtx_counter_register(struct nvtx_domain *domain, const struct nvtx_counter_attributes *attributes)
{
	struct nvtx_counter_attributes all = { 0 };
	uint32_t domain_id = nvtx_domain_id(domain);
	struct nvtx_counter *counter = NULL;

	if (!attributes || !nvtx_defining())
		return 0;
	arch_copy(&all, attributes, attributes->struct_size < sizeof(all) ? attributes->struct_size : sizeof(all));
	if (all.id >= NVTX_ID_STATIC_START)
		counter = (struct nvtx_counter *)nvtx_find_number(NVTX_NODE_COUNTER, domain_id, all.id);
	else
		all.id = nvtx_dynamic_id();
	if (!counter) {
		counter = agent_permanent(sizeof(*counter));
		if (!counter)
			return 0;
		counter->schema = all.schema;
		counter->time_domain = time_domain_of(all.semantics);
		counter = (struct nvtx_counter *)nvtx_insert_number(NVTX_NODE_COUNTER, domain_id, all.id, &counter->node);
	}
	define_counter(domain_id, counter, all.name, all.description);
	return counter->id;
}

struct sample {
	uint32_t domain;
	uint64_t counter;
	uint64_t time;
};

static void put_counter_field(const struct sample *sample, unsigned kind, uint64_t value, uint64_t field)
{
	struct record_counter *record = agent_begin(sizeof(*record));

	if (!record)
		return;
	record->time = sample->time;
	record->counter_id = sample->counter;
	record->value = value;
	record->field = field;
	agent_end(record, record_head(RECORD_NVTX_COUNTER, kind, sizeof(*record), 0, sample->domain), sizeof(*record));
}

static uint64_t encode_counter_double(double value)
{
	union {
		double real;
		uint64_t bits;
	} both = { .real = value };

	return both.bits;
}

static double float_from(uint32_t bits)
{
	union {
		uint32_t bits;
		float real;
	} both = { .bits = bits };

	return (double)both.real;
}

enum number_kind { NUMBER_NONE, NUMBER_SIGNED, NUMBER_UNSIGNED, NUMBER_FLOAT, NUMBER_BRAIN_FLOAT, NUMBER_DOUBLE };

static enum number_kind number_kind(uint64_t type)
{
	switch (type) {
	case 3:
	case 5:
	case 7:
	case 9: /* short, int, long, long long */
	case NVTX_TYPE_CHAR:
	case NVTX_TYPE_INT8:
	case NVTX_TYPE_INT16:
	case NVTX_TYPE_INT32:
	case NVTX_TYPE_INT64: return NUMBER_SIGNED;
	case 2:
	case 4:
	case 6:
	case 8:
	case 10: /* and their unsigned kin */
	case NVTX_TYPE_UINT8:
	case NVTX_TYPE_UINT16:
	case NVTX_TYPE_UINT32:
	case NVTX_TYPE_UINT64:
	case NVTX_TYPE_SIZE:
	case NVTX_TYPE_BYTE: return NUMBER_UNSIGNED;
	case NVTX_TYPE_FLOAT:
	case NVTX_TYPE_FLOAT32:
	case NVTX_TYPE_TF32: return NUMBER_FLOAT;
	case NVTX_TYPE_BF16: return NUMBER_BRAIN_FLOAT;
	case NVTX_TYPE_DOUBLE:
	case NVTX_TYPE_FLOAT64: return NUMBER_DOUBLE;
	default: return NUMBER_NONE;
	}
}

static void put_counter_number(const struct sample *sample, uint64_t type, const uint8_t *at, uint64_t field)
{
	uint32_t size = nvtx_type_size(type), unused = 64 - size * 8;
	uint64_t bits = 0;

	if (size == 0 || size > sizeof(bits))
		return;
	arch_copy(&bits, at, size);
	switch (number_kind(type)) {
	case NUMBER_SIGNED:
		bits = (uint64_t)((int64_t)(bits << unused) >> unused);
		put_counter_field(sample, NVTX_WIRE_COUNTER_INT64, bits, field);
		break;
	case NUMBER_UNSIGNED: put_counter_field(sample, NVTX_WIRE_COUNTER_INT64, bits, field); break;
	case NUMBER_FLOAT:
		put_counter_field(sample, NVTX_WIRE_COUNTER_DOUBLE, encode_counter_double(float_from((uint32_t)bits)), field);
		break;
	case NUMBER_BRAIN_FLOAT:
		put_counter_field(sample, NVTX_WIRE_COUNTER_DOUBLE, encode_counter_double(float_from((uint32_t)bits << 16)), field);
		break;
	case NUMBER_DOUBLE: put_counter_field(sample, NVTX_WIRE_COUNTER_DOUBLE, bits, field); break;
	case NUMBER_NONE: break;
	}
}

static int is_number_field(const struct nvtx_field *field, size_t size)
{
	return !(field->flags & (NVTX_ENTRY_POINTER | NVTX_ENTRY_ARRAY_MASK | NVTX_ENTRY_KIND_MASK)) && field->position != UINT32_MAX &&
	       field->width == nvtx_type_size(field->type) && (uint64_t)field->position + field->width <= size;
}

static void put_counter_sample(const struct sample *sample, const struct nvtx_counter *counter, const uint8_t *values, size_t size)
{
	const struct nvtx_schema *schema = nvtx_schema_find(sample->domain, counter->schema);

	if (!schema) {
		if (size >= nvtx_type_size(counter->schema))
			put_counter_number(sample, counter->schema, values, 0);
		return;
	}
	for (uint32_t i = 0; i < schema->field_count; i++)
		if (is_number_field(&schema->fields[i], size))
			put_counter_number(sample, schema->fields[i].type, values + schema->fields[i].position, schema->fields[i].entry);
}

void nvtx_counter_sample_int64(struct nvtx_domain *domain, uint64_t counter, int64_t value)
{
	struct sample sample = { nvtx_domain_id(domain), counter, 0 };

	if (!agent_on(RING_GATE_NVTX))
		return;
	sample.time = agent_now();
	put_counter_field(&sample, NVTX_WIRE_COUNTER_INT64, (uint64_t)value, 0);
}

void nvtx_counter_sample_float64(struct nvtx_domain *domain, uint64_t counter, double value)
{
	struct sample sample = { nvtx_domain_id(domain), counter, 0 };

	if (!agent_on(RING_GATE_NVTX))
		return;
	sample.time = agent_now();
	put_counter_field(&sample, NVTX_WIRE_COUNTER_DOUBLE, encode_counter_double(value), 0);
}

void nvtx_counter_sample_no_value(struct nvtx_domain *domain, uint64_t counter, uint8_t reason)
{
	struct sample sample = { nvtx_domain_id(domain), counter, 0 };

	if (!agent_on(RING_GATE_NVTX))
		return;
	sample.time = agent_now();
	put_counter_field(&sample, NVTX_WIRE_COUNTER_NO_VALUE, reason, 0);
}

void nvtx_counter_sample(struct nvtx_domain *domain, uint64_t id, const void *values, size_t size)
{
	struct sample sample = { nvtx_domain_id(domain), id, 0 };
	const struct nvtx_counter *counter;

	if (!agent_on(RING_GATE_NVTX) || !values)
		return;
	sample.time = agent_now();
	counter = (const struct nvtx_counter *)nvtx_find_number(NVTX_NODE_COUNTER, sample.domain, id);
	if (counter)
		put_counter_sample(&sample, counter, values, size);
}

/* Batches: the program's own time stamps have to be the session clock's. */
static int times_usable(uint64_t time_domain)
{
	int tsc = agent_pages.session.clock == RING_CLOCK_TSC;

	switch (time_domain) {
	case NVTX_TIME_NONE:
	case NVTX_TIME_OF_TOOL: return 1;
	case NVTX_TIME_TSC: return tsc;
	case NVTX_TIME_MONOTONIC_RAW: return !tsc;
	default: return 0;
	}
}

static AGENT_COLD void report_times(void)
{
	if (!atomic_exchange_explicit(&nvtx_state.times_reported, 1, memory_order_relaxed))
		agent_diagnose(DIAGNOSTIC_WARNING, "NVTX: counter batches with time stamps of another clock were not recorded");
}

static uint32_t sample_size(uint32_t domain, const struct nvtx_counter *counter)
{
	const struct nvtx_schema *schema = nvtx_schema_find(domain, counter->schema);

	return schema ? schema->size : nvtx_type_size(counter->schema);
}

/* Position of a time stamp within a sample; UINT32_MAX when there is none. */
static uint32_t embedded_time(uint32_t domain, const struct nvtx_counter *counter)
{
	const struct nvtx_schema *schema = nvtx_schema_find(domain, counter->schema);

	for (uint32_t i = 0; schema && i < schema->field_count; i++)
		if ((schema->fields[i].flags & NVTX_ENTRY_KIND_MASK) == NVTX_ENTRY_TIMESTAMP &&
		    schema->fields[i].width == sizeof(uint64_t) && (uint64_t)schema->fields[i].position + sizeof(uint64_t) <= schema->size)
			return schema->fields[i].position;
	return UINT32_MAX;
}

struct batch_clock {
	const int64_t *times;
	int is_interval; /* times[0] a moment, times[1] the distance between samples */
	uint64_t origin; /* of the interval: sample number times[0] stands for */
	uint32_t embedded;
	uint64_t now;
};

static struct batch_clock batch_clock(const struct nvtx_counter_batch *batch, uint32_t embedded, uint64_t count)
{
	struct batch_clock clock = { .times = batch->times, .embedded = embedded, .now = agent_now() };
	size_t given = batch->times ? batch->times_size / sizeof(int64_t) : 0;

	/* The header's own constants for the pairs lie beyond the width of their type and
	 * reach us as 0: two numbers for more than two samples can only be a pair. */
	if (given == 2 && (batch->flags >> 32 || count > 2)) {
		clock.is_interval = 1;
		clock.origin = batch->flags & NVTX_BATCH_END_INTERVAL ? count - 1 : 0;
	} else if (given < count) {
		clock.times = NULL;
	}
	return clock;
}

static uint64_t batch_time(const struct batch_clock *clock, uint64_t index, const uint8_t *sample)
{
	uint64_t time = clock->now;

	if (clock->times && clock->is_interval)
		return (uint64_t)clock->times[0] + (index - clock->origin) * (uint64_t)clock->times[1];
	if (clock->times)
		return (uint64_t)clock->times[index];
	if (clock->embedded != UINT32_MAX)
		arch_copy(&time, sample + clock->embedded, sizeof(time));
	return time;
}

void nvtx_counter_batch_submit(struct nvtx_domain *domain, const struct nvtx_counter_batch *batch)
{
	struct sample sample = { nvtx_domain_id(domain), 0, 0 };
	const struct nvtx_counter *counter;
	struct batch_clock clock;
	uint32_t size;

	if (!agent_on(RING_GATE_NVTX) || !batch || !batch->samples)
		return;
	sample.counter = batch->counter;
	counter = (const struct nvtx_counter *)nvtx_find_number(NVTX_NODE_COUNTER, sample.domain, batch->counter);
	if (!counter)
		return;
	size = sample_size(sample.domain, counter);
	if (size == 0)
		return;
	if (!times_usable(counter->time_domain)) {
		report_times();
		return;
	}
	clock = batch_clock(batch, embedded_time(sample.domain, counter), batch->size / size);
	for (uint64_t i = 0; i < batch->size / size; i++) {
		const uint8_t *values = (const uint8_t *)batch->samples + i * size;

		sample.time = batch_time(&clock, i, values);
		put_counter_sample(&sample, counter, values, size);
	}
}
