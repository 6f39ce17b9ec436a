/* Caches that hold nothing: what is dirty in L2 is written back and what the kernel will read is not there. The driver empties L2 where
 * it lets us; elsewhere more than L2 holds is read, by lines that are clean, so that nothing of them is written back while the kernel
 * is measured. L1 is emptied by any launch. */
#include <stdio.h>

#include "agent/cuda/kernel/kernel.h"
#include "vendor/nvidia/l2.h"

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

static int prepare_driver(struct kernel_caches *c, int device)
{
	const struct cuda_launcher *d = &kernel_agent.driver;
	int domain, bus, slot;

	c->gpu.fd = -1;
	if (d->cuDeviceGetAttribute(&domain, CUDA_DEVICE_PCI_DOMAIN, device) != 0 ||
	    d->cuDeviceGetAttribute(&bus, CUDA_DEVICE_PCI_BUS, device) != 0 ||
	    d->cuDeviceGetAttribute(&slot, CUDA_DEVICE_PCI_SLOT, device) != 0 ||
	    nvidia_subdevice_open(&c->gpu, (uint32_t)domain, (uint32_t)bus, (uint32_t)slot) < 0)
		return -1;
	if (nvidia_l2_empty(&c->gpu) == 0)
		return 0;
	nvidia_subdevice_close(&c->gpu);
	return -1;
}

static int prepare_kernel(struct kernel_caches *c, int device)
{
	const struct cuda_launcher *d = &kernel_agent.driver;
	int l2 = 0;

	if (d->cuDeviceGetAttribute(&l2, CUDA_DEVICE_L2, device) != 0 || l2 <= 0)
		l2 = 64 << 20;
	c->size = 2 * (uint64_t)l2;
	/* Where there was no room, the next launch tries again. */
	if ((!c->module && d->cuModuleLoadData(&c->module, code) != 0) || d->cuMemAlloc(&c->memory, c->size) != 0)
		return -1;
	if (d->cuMemsetD8(c->memory, 0xff, c->size) == 0 && d->cuModuleGetFunction(&c->function, c->module, "sonde_read") == 0)
		return 0;
	d->cuMemFree(c->memory);
	return -1;
}

int kernel_caches_prepare(struct kernel_caches *c, int device, char *why)
{
	if (c->is_prepared)
		return 0;
	if (prepare_driver(c, device) < 0 && prepare_kernel(c, device) < 0) {
		snprintf(why, KERNEL_WHY_SIZE, "the GPU has no memory left to empty its caches (use --cache-control none)");
		return -1;
	}
	c->is_prepared = 1;
	return 0;
}

static int flush(struct kernel_caches *c)
{
	const struct cuda_launcher *d = &kernel_agent.driver;
	void *parameters[] = { &c->memory, &c->size };

	if (c->gpu.fd >= 0)
		return d->cuCtxSynchronize() == 0 ? nvidia_l2_empty(&c->gpu) : -1;
	return d->cuLaunchKernel(c->function, GRID, 1, 1, BLOCK, 1, 1, 0, NULL, parameters, NULL) == 0 && d->cuCtxSynchronize() == 0 ? 0 :
																       -1;
}

int kernel_caches_flush(struct kernel_caches *c, char *why)
{
	if (flush(c) == 0)
		return 0;
	snprintf(why, KERNEL_WHY_SIZE, "the caches could not be emptied");
	return -1;
}

size_t kernel_caches_ranges(const struct kernel_caches *c)
{
	return c->gpu.fd >= 0 ? 0 : 1;
}

/* Memory and code go with the context. */
void kernel_caches_release(struct kernel_caches *c)
{
	if (c->is_prepared)
		nvidia_subdevice_close(&c->gpu);
	c->is_prepared = 0;
}
