/* Every kind and generation of CUPTI's records: what becomes of known values, and that nothing is read behind
 * the end of an older one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <cmocka.h>

#include "agent/cuda/records/decode.h"
#include "fake_cuda.h"

/* Two pages of which the second cannot be read. A record that ends where the first does, read too far, ends the
 * test. */
static uint8_t *edge;

static int make_edge(void **state)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	uint8_t *pages = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)state;
	if (pages == MAP_FAILED || mprotect(pages + page, page, PROT_NONE) != 0)
		return -1;
	edge = pages + page;
	return 0;
}

/* Decodes a record of which this CUPTI has `size` bytes; the room it is told of is large. */
static void decode(uint32_t version, const void *record, size_t size)
{
	static struct cuda_decoding decoding;
	uint8_t *at = edge - ((size + 7) & ~(size_t)7);

	decoding = (struct cuda_decoding){ 0 };
	fake_cuda_reset(version);
	cuda_decode_prepare(version);
	memset(at, 0xee, (size_t)(edge - at));
	memcpy(at, record, size);
	cuda_decode(&decoding, (const struct cupti_record *)(const void *)at, 4096);
	assert_int_equal(decoding.records, 1);
	assert_int_equal(decoding.unknown, 0);
}

static void check_place(const struct cuda_place *place, uint32_t device, uint32_t context, uint32_t stream, uint32_t correlation)
{
	assert_int_equal(place->device, device);
	assert_int_equal(place->context, context);
	assert_int_equal(place->stream, stream);
	assert_int_equal(place->correlation, correlation);
}

static struct cupti_kernel some_kernel(const char *name)
{
	return (struct cupti_kernel){
		.kind = CUPTI_KIND_CONCURRENT_KERNEL,
		.cache_config = 0x21,
		.shared_config = 2,
		.registers = 96,
		.start = 1000,
		.end = 3500,
		.device = 3,
		.context = 4,
		.stream = 17,
		.grid = { 10, 20, 30 },
		.block = { 128, 2, 1 },
		.static_shared = 48,
		.dynamic_shared = 1024,
		.local_per_thread = 16,
		.local_total_old = 5,
		.correlation = 777,
		.grid_id = 424242,
		.name = name,
		.queued = 900,
		.submitted = 950,
		.launch_type = 1,
		.carveout_requested = 1,
		.carveout = 50,
		.shared_executed = 2048,
		.graph_node = 0x500000007ull,
		.shared_limit = 1,
		.graph = 5,
		.channel = 9,
		.channel_type = 1,
		.cluster = { 2, 1, 4 },
		.cluster_policy = 3,
		.local_total = 1ull << 33,
		.cluster_potential = 8,
		.cluster_active = 66,
		.from_device = 1,
	};
}

static const struct cuda_wire_launch *check_kernel(const char *name)
{
	const struct record_cuda_kernel *k = fake_cuda_only(RECORD_CUDA_KERNEL);
	const struct record_define *launch = fake_cuda_definition(DEFINE_CUDA_LAUNCH, 0);
	const struct record_define *function = fake_cuda_definition(DEFINE_CUDA_FUNCTION, 0);
	const struct cuda_wire_launch *w = (const void *)(launch + 1);

	assert_non_null(launch);
	assert_non_null(function);
	assert_int_equal(record_size(k->head), sizeof(*k));
	assert_int_equal(k->time, 1000);
	assert_int_equal(k->end, 3500);
	check_place(&k->place, 3, 4, 17, 777);
	assert_int_equal(k->graph.node, 0x500000007ull);
	assert_int_equal(k->graph.graph, 5);
	assert_int_equal(k->graph.channel, 9 | 1 << 24);
	assert_int_equal(k->grid, 424242);
	assert_int_equal(k->queued, 900);
	assert_int_equal(k->submitted, 950);
	assert_int_equal(k->launch, launch->id);
	assert_true(launch->id != 0);
	assert_int_equal(record_size(launch->head), sizeof(*launch) + sizeof(*w));
	assert_string_equal(fake_cuda_text(function, sizeof(*function)), name);
	assert_int_equal(w->function, function->id);
	assert_int_equal(w->grid[0], 10);
	assert_int_equal(w->grid[2], 30);
	assert_int_equal(w->block[0], 128);
	assert_int_equal(w->block[1], 2);
	assert_int_equal(w->static_shared, 48);
	assert_int_equal(w->dynamic_shared, 1024);
	assert_int_equal(w->shared_executed, 2048);
	assert_int_equal(w->local_per_thread, 16);
	assert_int_equal(w->local_total, 1ull << 33);
	assert_int_equal(w->cluster[0], 2);
	assert_int_equal(w->cluster[2], 4);
	assert_int_equal(w->cluster_policy, 3);
	assert_int_equal(w->priority, INT32_MIN);
	assert_int_equal(w->registers, 96);
	assert_int_equal(w->cache_config, 0x21);
	assert_int_equal(w->shared_config, 2);
	assert_int_equal(w->shared_limit, 1);
	assert_int_equal(w->carveout, 50);
	assert_int_equal(w->launch_type, 1);
	return w;
}

static void kernel_of_11_8(void **state)
{
	struct cupti_kernel kernel = some_kernel("_Z2k8v");
	const struct cuda_wire_launch *w;

	(void)state;
	decode(CUPTI_11_8, &kernel, offsetof(struct cupti_kernel, cluster_potential));
	w = check_kernel("_Z2k8v");
	assert_int_equal(w->cluster_potential, CUDA_NO_ID);
	assert_int_equal(w->cluster_active, CUDA_NO_ID);
	assert_int_equal(w->from_device, 0);
}

static void kernel_of_12(void **state)
{
	struct cupti_kernel kernel = some_kernel("_Z2k9v");
	const struct cuda_wire_launch *w;

	(void)state;
	decode(28, &kernel, offsetof(struct cupti_kernel, from_device));
	w = check_kernel("_Z2k9v");
	assert_int_equal(w->cluster_potential, 8);
	assert_int_equal(w->cluster_active, 66);
	assert_int_equal(w->from_device, 0);
}

static void kernel_of_13(void **state)
{
	struct cupti_kernel kernel = some_kernel("_Z3k10v");

	(void)state;
	decode(130001, &kernel, sizeof(kernel));
	assert_int_equal(check_kernel("_Z3k10v")->from_device, 1);
	/* Later ones have more behind it, which is not looked at. */
	kernel.name = "_Z4k132v";
	decode(130200, &kernel, sizeof(kernel));
	assert_int_equal(check_kernel("_Z4k132v")->cluster_active, 66);
}

static void kernel_without_extras(void **state)
{
	struct cupti_kernel kernel = { .kind = CUPTI_KIND_CONCURRENT_KERNEL, .name = "_Z5plainv", .graph = 12, .carveout = 3 };
	const struct record_cuda_kernel *k;

	(void)state;
	decode(130001, &kernel, sizeof(kernel));
	k = fake_cuda_only(RECORD_CUDA_KERNEL);
	assert_int_equal(k->time, 0);
	assert_int_equal(k->graph.node, 0);
	assert_int_equal(k->graph.graph, 0);
	assert_int_equal(((const struct cuda_wire_launch *)(fake_cuda_definition(DEFINE_CUDA_LAUNCH, 0) + 1))->carveout, 0xff);
}

static void copies(void **state)
{
	struct cupti_memcpy copy = { .kind = CUPTI_KIND_MEMCPY,
				     .copy_kind = 1,
				     .source_kind = 2,
				     .target_kind = 3,
				     .flags = 1,
				     .bytes = 1ull << 34,
				     .start = 10,
				     .end = 30,
				     .device = 1,
				     .context = 2,
				     .stream = 7,
				     .correlation = 99,
				     .graph_node = 6,
				     .graph = 8,
				     .channel = 0x11,
				     .channel_type = 2,
				     .from_device = 1,
				     .count = 5 };
	const struct record_cuda_copy *c;

	(void)state;
	for (int i = 0; i < 2; i++) {
		if (i == 0)
			decode(CUPTI_12_4, &copy, offsetof(struct cupti_memcpy, from_device));
		else
			decode(CUPTI_12_8, &copy, sizeof(copy));
		c = fake_cuda_only(RECORD_CUDA_COPY);
		assert_int_equal(record_size(c->head), sizeof(*c));
		assert_int_equal(c->time, 10);
		assert_int_equal(c->end, 30);
		check_place(&c->place, 1, 2, 7, 99);
		assert_int_equal(c->graph.node, 6);
		assert_int_equal(c->graph.graph, 8);
		assert_int_equal(c->graph.channel, 0x11 | 2 << 24);
		assert_int_equal(c->bytes, 1ull << 34);
		assert_int_equal(c->kind, 1);
		assert_int_equal(c->source, 2);
		assert_int_equal(c->target, 3);
		assert_int_equal(c->flags, 1);
		assert_int_equal(c->source_device, CUDA_NO_ID);
		assert_int_equal(c->target_context, CUDA_NO_ID);
		assert_int_equal(c->count, i == 0 ? 0 : 5);
	}
}

static void peer_copy(void **state)
{
	struct cupti_memcpy2 copy = { .kind = CUPTI_KIND_MEMCPY2,
				      .copy_kind = 10,
				      .source_kind = 3,
				      .target_kind = 3,
				      .bytes = 4096,
				      .start = 11,
				      .end = 31,
				      .device = 1,
				      .context = 2,
				      .stream = 7,
				      .source_device = 5,
				      .source_context = 51,
				      .target_device = 6,
				      .target_context = 61,
				      .correlation = 100,
				      .channel = 3,
				      .channel_type = 2 };
	const struct record_cuda_copy *c;

	(void)state;
	decode(CUPTI_11_8, &copy, offsetof(struct cupti_memcpy2, pad));
	c = fake_cuda_only(RECORD_CUDA_COPY);
	assert_int_equal(c->time, 11);
	assert_int_equal(c->end, 31);
	check_place(&c->place, 1, 2, 7, 100);
	assert_int_equal(c->kind, 10);
	assert_int_equal(c->bytes, 4096);
	assert_int_equal(c->source_device, 5);
	assert_int_equal(c->source_context, 51);
	assert_int_equal(c->target_device, 6);
	assert_int_equal(c->target_context, 61);
	assert_int_equal(c->count, 0);
}

static void set(void **state)
{
	struct cupti_memset m = { .kind = CUPTI_KIND_MEMSET,
				  .value = 0xabcd,
				  .bytes = 77,
				  .start = 12,
				  .end = 32,
				  .device = 1,
				  .context = 2,
				  .stream = 7,
				  .correlation = 101,
				  .flags = 1,
				  .memory_kind = 3,
				  .graph_node = 44,
				  .graph = 45,
				  .channel = 2,
				  .channel_type = 1 };
	const struct record_cuda_set *s;

	(void)state;
	decode(CUPTI_11_8, &m, offsetof(struct cupti_memset, pad2));
	s = fake_cuda_only(RECORD_CUDA_SET);
	assert_int_equal(record_size(s->head), sizeof(*s));
	assert_int_equal(s->time, 12);
	assert_int_equal(s->end, 32);
	check_place(&s->place, 1, 2, 7, 101);
	assert_int_equal(s->graph.node, 44);
	assert_int_equal(s->bytes, 77);
	assert_int_equal(s->value, 0xabcd);
	assert_int_equal(s->memory, 3);
	assert_int_equal(s->flags, 1);
}

static void synchronisation(void **state)
{
	struct cupti_synchronization y = { .kind = CUPTI_KIND_SYNCHRONIZATION,
					   .type = 3,
					   .start = 13,
					   .end = 33,
					   .correlation = 102,
					   .context = 2,
					   .stream = 7,
					   .event = (uint32_t)CUPTI_NO_VALUE,
					   .event_sync = 88,
					   .result = 700 };
	const struct record_cuda_sync *s;

	(void)state;
	decode(CUPTI_11_8, &y, offsetof(struct cupti_synchronization, event_sync));
	s = fake_cuda_only(RECORD_CUDA_SYNC);
	assert_int_equal(record_flags(s->head), 0);
	assert_int_equal(s->time, 13);
	assert_int_equal(s->end, 33);
	check_place(&s->place, CUDA_NO_ID, 2, 7, 102);
	assert_int_equal(s->kind, 3);
	assert_int_equal(s->event, CUDA_NO_ID);
	assert_int_equal(s->event_sync, 0);
	assert_int_equal(s->result, 0);
	decode(CUPTI_12_8, &y, sizeof(y));
	s = fake_cuda_only(RECORD_CUDA_SYNC);
	assert_int_equal(record_flags(s->head), 1);
	assert_int_equal(s->event_sync, 88);
	assert_int_equal(s->result, 700);
}

static void events(void **state)
{
	struct cupti_cuda_event e = { .kind = CUPTI_KIND_CUDA_EVENT,
				      .correlation = 103,
				      .context = 2,
				      .stream = 7,
				      .event = 55,
				      .device = 1,
				      .device_time = 123456,
				      .event_sync = 66 };
	const struct record_cuda_event *r;

	(void)state;
	decode(CUPTI_12_4, &e, offsetof(struct cupti_cuda_event, device));
	r = fake_cuda_only(RECORD_CUDA_EVENT);
	check_place(&r->place, CUDA_NO_ID, 2, 7, 103);
	assert_int_equal(r->event, 55);
	assert_int_equal(r->time, 0);
	assert_int_equal(r->event_sync, 0);
	decode(CUPTI_13_0, &e, sizeof(e));
	r = fake_cuda_only(RECORD_CUDA_EVENT);
	check_place(&r->place, 1, 2, 7, 103);
	assert_int_equal(r->time, 123456);
	assert_int_equal(r->event_sync, 66);
}

static void overhead(void **state)
{
	struct cupti_overhead o = { .kind = CUPTI_KIND_OVERHEAD,
				    .overhead_kind = 3 << 16,
				    .object_kind = CUPTI_OBJECT_THREAD,
				    .object = { 1000, 1001, 5 },
				    .start = 14,
				    .end = 34,
				    .correlation = 104 };
	const struct record_cuda_overhead *r;

	(void)state;
	decode(CUPTI_12_0, &o, offsetof(struct cupti_overhead, correlation));
	r = fake_cuda_only(RECORD_CUDA_OVERHEAD);
	assert_int_equal(r->time, 14);
	assert_int_equal(r->end, 34);
	assert_int_equal(r->kind, 3 << 16);
	assert_int_equal(r->tid, 1001);
	assert_int_equal(r->correlation, 0);
	decode(CUPTI_12_2, &o, sizeof(o));
	assert_int_equal(((const struct record_cuda_overhead *)fake_cuda_only(RECORD_CUDA_OVERHEAD))->correlation, 104);
	o.object_kind = 5; /* a stream */
	decode(CUPTI_12_2, &o, sizeof(o));
	assert_int_equal(((const struct record_cuda_overhead *)fake_cuda_only(RECORD_CUDA_OVERHEAD))->tid, 0);
}

static void memory(void **state)
{
	struct cupti_memory m = { .kind = CUPTI_KIND_MEMORY2,
				  .operation = 1,
				  .memory_kind = 3,
				  .correlation = 105,
				  .address = 0x7f0000000000,
				  .bytes = 1 << 20,
				  .time = 15,
				  .pc = 0x401234,
				  .device = 1,
				  .context = 2,
				  .stream = 7,
				  .name = "table",
				  .async = 1,
				  .pool_type = 1,
				  .pool = 0xaaa,
				  .pool_threshold = 11,
				  .pool_size = 12,
				  .pool_used = 13 };
	const struct record_cuda_memory *r;

	(void)state;
	decode(CUPTI_11_8, &m, sizeof(m));
	r = fake_cuda_only(RECORD_CUDA_MEMORY);
	assert_int_equal(r->time, 15);
	check_place(&r->place, 1, 2, 7, 105);
	assert_int_equal(r->address, 0x7f0000000000);
	assert_int_equal(r->bytes, 1 << 20);
	assert_int_equal(r->pc, 0x401234);
	assert_int_equal(r->operation, 1);
	assert_int_equal(r->kind, 3);
	assert_int_equal(r->pool_type, 1);
	assert_int_equal(r->pool, 0xaaa);
	assert_int_equal(r->pool_threshold, 11);
	assert_int_equal(r->pool_size, 12);
	assert_int_equal(r->pool_used, 13);
	assert_string_equal(fake_cuda_text(r, sizeof(*r)), "table");
	m.name = NULL;
	m.async = 0;
	decode(CUPTI_13_0, &m, sizeof(m));
	r = fake_cuda_only(RECORD_CUDA_MEMORY);
	check_place(&r->place, 1, 2, CUDA_NO_ID, 105);
	assert_int_equal(record_size(r->head), sizeof(*r));
}

static void pool(void **state)
{
	struct cupti_memory_pool p = { .kind = CUPTI_KIND_MEMORY_POOL,
				       .operation = 3,
				       .type = 2,
				       .correlation = 106,
				       .device = 1,
				       .keep = 21,
				       .address = 0xbbb,
				       .size = 22,
				       .threshold = 23,
				       .time = 16,
				       .used = 24 };
	const struct record_cuda_pool *r;

	(void)state;
	decode(CUPTI_11_8, &p, sizeof(p));
	r = fake_cuda_only(RECORD_CUDA_POOL);
	assert_int_equal(r->time, 16);
	assert_int_equal(r->device, 1);
	assert_int_equal(r->correlation, 106);
	assert_int_equal(r->operation, 3);
	assert_int_equal(r->type, 2);
	assert_int_equal(r->address, 0xbbb);
	assert_int_equal(r->keep, 21);
	assert_int_equal(r->threshold, 23);
	assert_int_equal(r->size, 22);
	assert_int_equal(r->used, 24);
}

static void unified(void **state)
{
	struct cupti_unified u = { .kind = CUPTI_KIND_UNIFIED_MEMORY_COUNTER,
				   .counter_kind = CUPTI_UNIFIED_HTOD,
				   .value = 65536,
				   .start = 17,
				   .end = 37,
				   .address = 0xccc000,
				   .source = 0,
				   .target = 1,
				   .flags = 2 };
	const struct record_cuda_unified *r;

	(void)state;
	decode(CUPTI_11_8, &u, sizeof(u));
	r = fake_cuda_only(RECORD_CUDA_UNIFIED);
	assert_int_equal(r->time, 17);
	assert_int_equal(r->end, 37);
	assert_int_equal(r->value, 65536);
	assert_int_equal(r->address, 0xccc000);
	assert_int_equal(r->kind, CUPTI_UNIFIED_HTOD);
	assert_int_equal(r->source, CUDA_NO_ID);
	assert_int_equal(r->target, 1);
	assert_int_equal(r->flags, 2);
	assert_int_equal(r->pc, 0);
	/* The value of a CPU's fault is its instruction. */
	u.counter_kind = CUPTI_UNIFIED_CPU_FAULT;
	u.value = 0x5555abcd;
	decode(CUPTI_13_0, &u, sizeof(u));
	r = fake_cuda_only(RECORD_CUDA_UNIFIED);
	assert_int_equal(r->pc, 0x5555abcd);
	assert_int_equal(r->value, 1);
	assert_int_equal(r->end, 0);
	assert_int_equal(r->source, CUDA_NO_ID);
	assert_int_equal(r->target, CUDA_NO_ID);
	u.counter_kind = CUPTI_UNIFIED_GPU_FAULT;
	u.source = 3;
	decode(CUPTI_13_0, &u, sizeof(u));
	r = fake_cuda_only(RECORD_CUDA_UNIFIED);
	assert_int_equal(r->source, 3);
	assert_int_equal(r->end, 37);
}

static void graph(void **state)
{
	struct cupti_graph_trace g = { .kind = CUPTI_KIND_GRAPH_TRACE,
				       .correlation = 107,
				       .start = 18,
				       .end = 38,
				       .device = 1,
				       .graph = 9,
				       .context = 2,
				       .stream = 7 };
	const struct record_cuda_graph *r;

	(void)state;
	decode(CUPTI_11_8, &g, sizeof(g));
	r = fake_cuda_only(RECORD_CUDA_GRAPH);
	assert_int_equal(r->time, 18);
	assert_int_equal(r->end, 38);
	check_place(&r->place, 1, 2, 7, 107);
	assert_int_equal(r->graph, 9);
	assert_int_equal(r->exec, CUDA_NO_ID);
}

static void jit(void **state)
{
	struct cupti_jit j = { .kind = CUPTI_KIND_JIT,
			       .entry = 1,
			       .operation = 3,
			       .device = 1,
			       .start = 19,
			       .end = 39,
			       .correlation = 108,
			       .link = 31,
			       .size = 32,
			       .path = "/cache/x",
			       .process = 5,
			       .thread = 6 };
	const struct record_cuda_jit *r;

	(void)state;
	decode(CUPTI_12_0, &j, offsetof(struct cupti_jit, process));
	r = fake_cuda_only(RECORD_CUDA_JIT);
	assert_int_equal(r->time, 19);
	assert_int_equal(r->end, 39);
	assert_int_equal(r->entry, 1);
	assert_int_equal(r->operation, 3);
	assert_int_equal(r->device, 1);
	assert_int_equal(r->correlation, 108);
	assert_int_equal(r->link, 31);
	assert_int_equal(r->size, 32);
	assert_int_equal(r->tid, 0);
	assert_string_equal(fake_cuda_text(r, sizeof(*r)), "/cache/x");
	decode(CUPTI_12_4, &j, sizeof(j));
	assert_int_equal(((const struct record_cuda_jit *)fake_cuda_only(RECORD_CUDA_JIT))->tid, 6);
}

static void device(void **state)
{
	struct cupti_device d = { .kind = CUPTI_KIND_DEVICE,
				  .bandwidth = 4800000000,
				  .memory = 1ull << 37,
				  .constant_memory = 65536,
				  .l2 = 60 << 20,
				  .threads_per_warp = 32,
				  .clock = 1980000,
				  .copy_engines = 3,
				  .sm_count = 132,
				  .warps_per_sm = 64,
				  .grid = { 2147483647, 65535, 65534 },
				  .major = 9,
				  .minor = 0,
				  .id = 2,
				  .ecc = 1,
				  .uuid = { 1, 2, 3 },
				  .name = "A GPU",
				  .mig = 1,
				  .gpu_instance = 4,
				  .compute_instance = 5,
				  .mig_uuid = { 7, 8 } };
	const struct record_define *r;
	const struct cuda_wire_device *w;

	(void)state;
	decode(CUPTI_11_8, &d, sizeof(d));
	r = fake_cuda_definition(DEFINE_CUDA_DEVICE, 0);
	w = (const void *)(r + 1);
	assert_int_equal(r->id, 2);
	assert_string_equal(fake_cuda_text(r, sizeof(*r) + sizeof(*w)), "A GPU");
	assert_memory_equal(w->uuid, d.uuid, 16);
	assert_memory_equal(w->mig_uuid, d.mig_uuid, 16);
	assert_int_equal(w->memory, 1ull << 37);
	assert_int_equal(w->bandwidth, 4800000000000);
	assert_int_equal(w->clock, 1980000000);
	assert_int_equal(w->sm_count, 132);
	assert_int_equal(w->l2, 60 << 20);
	assert_int_equal(w->major, 9);
	assert_int_equal(w->mig, 1);
	assert_int_equal(w->gpu_instance, 4);
	assert_int_equal(w->compute_instance, 5);
	assert_int_equal(w->pci_bus, CUDA_NO_ID); /* there is no driver here to ask */
	assert_int_equal(w->attributes[CUDA_ATTRIBUTE_THREADS_PER_WARP], 32);
	assert_int_equal(w->attributes[CUDA_ATTRIBUTE_GRID_Z], 65534);
	assert_int_equal(w->attributes[CUDA_ATTRIBUTE_ECC], 1);
	assert_int_equal(w->attributes[CUDA_ATTRIBUTE_SHARED_PER_BLOCK_OPTIN], CUDA_NO_ID);
	d.id = 1 << 20;
	decode(CUPTI_11_8, &d, sizeof(d));
	assert_null(fake_cuda_definition(DEFINE_CUDA_DEVICE, 0));
}

static void contexts_and_streams(void **state)
{
	struct cupti_context c = {
		.kind = CUPTI_KIND_CONTEXT, .context = 4, .device = 1, .null_stream = 7, .parent = 3, .green = 1, .sm_count = 16
	};
	struct cupti_stream t = { .kind = CUPTI_KIND_STREAM, .context = 4, .stream = 18, .priority = (uint32_t)-5, .flag = 2 };
	const struct record_define *r;
	const struct cuda_wire_context *w;
	const struct cuda_wire_stream *v;

	(void)state;
	decode(CUPTI_12_2, &c, offsetof(struct cupti_context, parent));
	r = fake_cuda_definition(DEFINE_CUDA_CONTEXT, 0);
	w = (const void *)(r + 1);
	assert_int_equal(r->id, 4);
	assert_int_equal(r->time, 0);
	assert_int_equal(w->device, 1);
	assert_int_equal(w->null_stream, 7);
	assert_int_equal(w->green, 0);
	decode(CUPTI_12_4, &c, sizeof(c));
	w = (const void *)(fake_cuda_definition(DEFINE_CUDA_CONTEXT, 0) + 1);
	assert_int_equal(w->parent, 3);
	assert_int_equal(w->green, 1);
	assert_int_equal(w->sm_count, 16);
	c.green = 0;
	c.parent = (uint32_t)CUPTI_NO_VALUE;
	decode(CUPTI_12_4, &c, sizeof(c));
	assert_int_equal(((const struct cuda_wire_context *)(fake_cuda_definition(DEFINE_CUDA_CONTEXT, 0) + 1))->parent, 0);
	decode(CUPTI_11_8, &t, sizeof(t));
	r = fake_cuda_definition(DEFINE_CUDA_STREAM, 0);
	v = (const void *)(r + 1);
	assert_int_equal(r->id, 18);
	assert_int_equal(v->context, 4);
	assert_int_equal(v->priority, -5);
	assert_int_equal(v->flag, 2);
	assert_int_equal(v->device, CUDA_NO_ID);
}

/* Kinds nobody knows, kinds that are of no use, records cut off by the end of the buffer. */
static void what_is_left_out(void **state)
{
	struct cuda_decoding decoding = { .records = 0 };
	struct cupti_kernel kernel = some_kernel("_Z3outv");
	struct cupti_record other = { 55 };

	(void)state;
	fake_cuda_reset(130001);
	cuda_decode_prepare(130001);
	cuda_decode(&decoding, &other, 64);
	other.kind = 0x7fffffff;
	cuda_decode(&decoding, &other, 64);
	other.kind = 12;
	cuda_decode(&decoding, &other, 64);
	assert_int_equal(decoding.unknown, 3);
	other.kind = CUPTI_KIND_INTERNAL_LAUNCH_API;
	cuda_decode(&decoding, &other, 64);
	assert_int_equal(decoding.unknown, 3);
	cuda_decode(&decoding, (const struct cupti_record *)&kernel, sizeof(kernel) - 8);
	assert_int_equal(decoding.unknown, 4);
	assert_int_equal(decoding.records, 5);
	assert_int_equal(fake_cuda_count(RECORD_CUDA_KERNEL), 0);
	assert_int_equal(fake_cuda_count(RECORD_DEFINE), 0);
}

/* No record for which the ring has no room is half written, and the next one is whole. */
static void full_ring(void **state)
{
	struct cuda_decoding decoding = { .records = 0 };
	struct cupti_kernel kernel = some_kernel("_Z4fullv");

	(void)state;
	fake_cuda_reset(130001);
	cuda_decode_prepare(130001);
	fake_agent.chunks_left = 0;
	cuda_decode(&decoding, (const struct cupti_record *)&kernel, sizeof(kernel));
	fake_agent.chunks_left = -1;
	cuda_decode(&decoding, (const struct cupti_record *)&kernel, sizeof(kernel));
	/* What could not be told is told now. */
	check_kernel("_Z4fullv");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(kernel_of_11_8),
		cmocka_unit_test(kernel_of_12),
		cmocka_unit_test(kernel_of_13),
		cmocka_unit_test(kernel_without_extras),
		cmocka_unit_test(copies),
		cmocka_unit_test(peer_copy),
		cmocka_unit_test(set),
		cmocka_unit_test(synchronisation),
		cmocka_unit_test(events),
		cmocka_unit_test(overhead),
		cmocka_unit_test(memory),
		cmocka_unit_test(pool),
		cmocka_unit_test(unified),
		cmocka_unit_test(graph),
		cmocka_unit_test(jit),
		cmocka_unit_test(device),
		cmocka_unit_test(contexts_and_streams),
		cmocka_unit_test(what_is_left_out),
		cmocka_unit_test(full_ring),
	};

	return cmocka_run_group_tests(tests, make_edge, NULL);
}
