/* Caches as another kernel leaves them: what is dirty in L2 is written back and what the kernel will read is not there, by reading
 * more than L2 holds. The lines that takes are clean, so that nothing of them is written back while the kernel is measured. L1 is
 * emptied by any launch. */
#include <stdio.h>

#include "agent/kernel/kernel.h"

#define GRID 1024
#define BLOCK 512

/* Each thread reads 16 bytes, past L1, and those of as many threads further on. What it would store depends on all of them, so that
 * none can be left out; it stores nothing, as the memory is all ones. */
static const char code[] =
	".version 6.0\n.target sm_60\n.address_size 64\n"
	".visible .entry sonde_read(.param .u64 from, .param .u64 size)\n{\n"
	".reg .b64 %base, %size, %at, %step, %place;\n.reg .b32 %i, %n, %t, %all, %a, %b, %c, %d;\n.reg .pred %end, %odd;\n"
	"ld.param.u64 %base, [from];\nld.param.u64 %size, [size];\n"
	"mov.u32 %i, %ctaid.x;\nmov.u32 %n, %ntid.x;\nmov.u32 %t, %tid.x;\nmad.lo.u32 %i, %i, %n, %t;\nmul.wide.u32 %at, %i, 16;\n"
	"mov.u32 %t, %nctaid.x;\nmul.lo.u32 %n, %n, %t;\nmul.wide.u32 %step, %n, 16;\nmov.u32 %all, -1;\n"
	"next:\nsetp.ge.u64 %end, %at, %size;\n@%end bra done;\nadd.u64 %place, %base, %at;\n"
	"ld.global.cg.v4.u32 {%a, %b, %c, %d}, [%place];\n"
	"and.b32 %a, %a, %b;\nand.b32 %c, %c, %d;\nand.b32 %all, %all, %a;\nand.b32 %all, %all, %c;\n"
	"add.u64 %at, %at, %step;\nbra next;\n"
	"done:\nsetp.eq.u32 %odd, %all, -1;\n@%odd bra out;\nst.global.u32 [%base], %all;\nout:\nret;\n}\n";

int kernel_caches_prepare(struct kernel_caches *c, int device, char *why)
{
	const struct cuda_launcher *d = &kernel_agent.driver;
	void *module;
	int l2 = 0;

	if (c->function)
		return 0;
	if (d->cuDeviceGetAttribute(&l2, CUDA_DEVICE_L2, device) != 0 || l2 <= 0)
		l2 = 64 << 20;
	c->size = 2 * (uint64_t)l2;
	if (d->cuModuleLoadData(&module, code) != 0 || d->cuMemAlloc(&c->memory, c->size) != 0 ||
	    d->cuMemsetD8(c->memory, 0xff, c->size) != 0 || d->cuModuleGetFunction(&c->function, module, "sonde_read") != 0) {
		snprintf(why, KERNEL_WHY_SIZE, "there is no room on the GPU for emptying its caches (--cache-control none)");
		c->function = NULL;
		return -1;
	}
	return 0;
}

int kernel_caches_flush(struct kernel_caches *c, char *why)
{
	void *parameters[] = { &c->memory, &c->size };

	if (kernel_agent.driver.cuLaunchKernel(c->function, GRID, 1, 1, BLOCK, 1, 1, 0, NULL, parameters, NULL) != 0 ||
	    kernel_agent.driver.cuCtxSynchronize() != 0) {
		snprintf(why, KERNEL_WHY_SIZE, "the caches could not be emptied");
		return -1;
	}
	return 0;
}
