/* Writes a trace like torch.profiler's, of about as many bytes as asked for, to standard output, and what is in it as
 * JSON to standard error. Steps of a training: operators in two levels with their arguments, the Python functions
 * around them, launches, kernels (after their step, so out of order), copies, marks of memory. One operator in ten
 * has arguments no other has. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define OPERATORS 40u /* per step */

struct totals {
	uint64_t bytes, operators, functions, calls, kernels, copies, marks, flows;
	uint64_t kernel_ns;
	uint64_t correlation;
};

static void event(struct totals *t, const char *phase, const char *category, const char *name, unsigned pid, unsigned tid, uint64_t ns,
		  uint64_t duration)
{
	t->bytes += (uint64_t)printf(",\n  {\n    \"ph\": \"%s\", \"cat\": \"%s\", \"name\": \"%s\", \"pid\": %u, \"tid\": %u,\n"
				     "    \"ts\": %" PRIu64 ".%03u, \"dur\": %" PRIu64 ".%03u,\n    \"args\": {\n      ",
				     phase, category, name, pid, tid, ns / 1000, (unsigned)(ns % 1000), duration / 1000,
				     (unsigned)(duration % 1000));
}

static void end_event(struct totals *t)
{
	t->bytes += (uint64_t)printf("\n    }\n  }");
}

static void operators(struct totals *t, uint64_t step, unsigned i, uint64_t ns)
{
	static const char *const names[] = { "aten::conv2d", "aten::addmm", "aten::relu_", "aten::native_batch_norm" };
	char inner[64];

	event(t, "X", "cpu_op", names[i % 4], 502, 502, ns, 9000);
	t->bytes += (uint64_t)printf("\"External id\": %" PRIu64 ",\"Record function id\": 0, \"Sequence number\": %" PRIu64
				     ", \"Fwd thread id\": 0, \"Concrete Inputs\": [\"\", \"\", \"",
				     t->correlation, step);
	t->bytes += i % 10 ? (uint64_t)printf("0.1") : (uint64_t)printf("%" PRIu64 ".5", t->correlation);
	t->bytes += (uint64_t)printf("\"], \"Input type\": [\"float\", \"float\", \"Scalar\"], \"Input Strides\": [[3136, 784, "
				     "28, 1], [9, 9, 3, 1], []], \"Input Dims\": [[64, %u, 28, 28], [32, 1, 3, 3], []], "
				     "\"Ev Idx\": %" PRIu64,
				     1 + i % 7, t->correlation);
	end_event(t);
	snprintf(inner, sizeof(inner), "%s_inner", names[i % 4]);
	event(t, "X", "cpu_op", inner, 502, 502, ns + 1000, 7000);
	t->bytes += (uint64_t)printf("\"External id\": %" PRIu64 ",\"Record function id\": 0, \"Ev Idx\": %" PRIu64, t->correlation + 1,
				     t->correlation + 1);
	end_event(t);
	t->operators += 2;
}

static void launch(struct totals *t, unsigned i, uint64_t ns)
{
	event(t, "X", "cuda_runtime", i % 8 ? "cudaLaunchKernel" : "cudaMemcpyAsync", 502, 502, ns + 2000, 4000);
	t->bytes += (uint64_t)printf("\"External id\": %" PRIu64 ",\"cbid\": 211, \"correlation\": %" PRIu64, t->correlation + 1,
				     t->correlation);
	end_event(t);
	t->bytes += (uint64_t)printf(",\n  {\n    \"ph\": \"s\", \"id\": %" PRIu64 ", \"pid\": 502, \"tid\": 502, \"ts\": %" PRIu64
				     ".%03u,\n    \"cat\": \"ac2g\", \"name\": \"ac2g\"\n  }",
				     t->correlation, ns / 1000, (unsigned)(ns % 1000));
	t->flows++;
	t->calls++;
}

static void function(struct totals *t, unsigned i, uint64_t ns)
{
	char name[64];

	snprintf(name, sizeof(name), "torch/nn/modules/module.py(%u): _call_impl", 1700 + i % 90);
	event(t, "X", "python_function", name, 502, 502, ns - 500, 9500);
	t->bytes += (uint64_t)printf("\"Python parent id\": %u, \"Python id\": %" PRIu64 ", \"Ev Idx\": %" PRIu64, i, t->correlation,
				     t->correlation);
	end_event(t);
	t->functions++;
}

static void mark(struct totals *t, uint64_t ns)
{
	event(t, "i", "cpu_instant_event", "[memory]", 502, 502, ns, 0);
	t->bytes += (uint64_t)printf("\"Total Reserved\": 37748736, \"Total Allocated\": %" PRIu64 ", \"Bytes\": 512, \"Addr\": "
				     "140%" PRIu64 ", \"Device Id\": 0, \"Device Type\": 1",
				     t->correlation * 512, t->correlation);
	end_event(t);
	t->marks++;
}

static void work(struct totals *t, unsigned i, uint64_t ns, uint64_t correlation)
{
	uint64_t duration = 3000 + i * 17;
	char name[96];

	if (i % 8 == 0) {
		event(t, "X", "gpu_memcpy", "Memcpy HtoD (Pinned -> Device)", 0, 7, ns + 9000, 1500);
		t->bytes += (uint64_t)printf("\"External id\": %" PRIu64 ",\"device\": 0, \"context\": 1, \"stream\": 7, "
					     "\"correlation\": %" PRIu64 ", \"bytes\": 4096, \"memory bandwidth (GB/s)\": 2.7306",
					     correlation + 1, correlation);
		t->copies++;
	} else {
		snprintf(name, sizeof(name), "void at::native::vectorized_elementwise_kernel<%u>(int, float*)", i % 5);
		event(t, "X", "kernel", name, 0, 7, ns + 9000, duration);
		t->bytes += (uint64_t)printf("\"External id\": %" PRIu64 ",\"queued\": 0, \"device\": 0, \"context\": 1, \"stream\": 7,"
					     " \"correlation\": %" PRIu64 ", \"registers per thread\": 32, \"shared memory\": 0,"
					     " \"blocks per SM\": 1.939394, \"warps per SM\": 7.757576, \"grid\": [%u, 1, 1],"
					     " \"block\": [128, 1, 1], \"est. achieved occupancy %%\": 12",
					     correlation + 1, correlation, 128 + i);
		t->kernels++;
		t->kernel_ns += duration;
	}
	end_event(t);
}

static void step(struct totals *t, uint64_t number)
{
	uint64_t begin = UINT64_C(3852449570867024) + number * OPERATORS * 10000, first = t->correlation;

	for (unsigned i = 0; i < OPERATORS; i++, t->correlation += 2) {
		operators(t, number, i, begin + i * UINT64_C(10000));
		launch(t, i, begin + i * UINT64_C(10000));
		mark(t, begin + i * UINT64_C(10000) + 3000);
	}
	for (unsigned i = 0; i < OPERATORS; i++)
		function(t, i, begin + i * UINT64_C(10000));
	for (unsigned i = 0; i < OPERATORS; i++)
		work(t, i, begin + i * UINT64_C(10000), first + 2 * i);
}

int main(int argc, char **argv)
{
	uint64_t wanted = argc > 1 ? strtoull(argv[1], NULL, 0) : 1000000;
	struct totals t = { .correlation = 1 };

	setvbuf(stdout, NULL, _IOFBF, 1 << 20);
	printf("{\n  \"schemaVersion\": 1,\n  \"deviceProperties\": [{\"id\": 0, \"name\": \"A GPU\", \"numSms\": 132}],\n"
	       "  \"baseTimeNanoseconds\": 1790857026000000000,\n  \"traceEvents\": [\n"
	       "  {\"ph\": \"M\", \"name\": \"process_name\", \"pid\": 502, \"tid\": 0, \"args\": {\"name\": \"python\"}}");
	for (uint64_t number = 0; t.bytes < wanted; number++)
		step(&t, number);
	printf("\n  ],\n  \"traceName\": \"made\"\n}\n");
	if (fflush(stdout) != 0)
		return 1;
	fprintf(stderr,
		"{\"bytes\": %" PRIu64 ", \"cpu_op\": %" PRIu64 ", \"python_function\": %" PRIu64 ", \"calls\": %" PRIu64
		", \"kernels\": %" PRIu64 ", \"kernel_ns\": %" PRIu64 ", \"copies\": %" PRIu64 ", \"marks\": %" PRIu64
		", \"flows\": %" PRIu64 "}\n",
		t.bytes, t.operators, t.functions, t.calls, t.kernels, t.kernel_ns, t.copies, t.marks, t.flows);
	return 0;
}
