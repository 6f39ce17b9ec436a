/* What unwinding a copied stack costs, 64 frames through libc and back, and storing it: the first time
 * (tables are read) and later (they are known), in CPU time. Also the first look into a large library.
 * Usage: bench_unwind [LIBRARY [ELF_ADDRESS_HEX]] */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "record/session/session.h"
#include "record/session/address_space.h"
#include "record/stacks/stacks.h"
#include "symbol/unwind/cfi.h"

#define FRAMES 64
#define ROUNDS 20000
#define ROOM 65536

struct captured {
	struct stack_copy copy;
	uint8_t bytes[ROOM];
};

static const int dwarf_order[ARCH_DWARF_REGISTERS] = { REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI, REG_RBP, REG_RSP, REG_R8,
						       REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15, REG_RIP };

static struct captured *taken;

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

__attribute__((noinline)) static void capture(void)
{
	ucontext_t context;
	const uint8_t *stack;

	getcontext(&context);
	for (unsigned i = 0; i < ARCH_DWARF_REGISTERS; i++)
		taken->copy.registers[i] = (uint64_t)context.uc_mcontext.gregs[dwarf_order[i]];
	stack = (const uint8_t *)(uintptr_t)taken->copy.registers[ARCH_DWARF_STACK];
	taken->copy.bytes = taken->bytes;
	taken->copy.size = (size_t)((uint8_t *)environ[0] - stack);
	if (taken->copy.size > ROOM)
		taken->copy.size = ROOM;
	memcpy(taken->bytes, stack, taken->copy.size);
}

static int deeper(const void *key, const void *level)
{
	int left = *(const int *)level;

	if (left == 0) {
		capture();
	} else {
		left--;
		bsearch(key, &left, 1, sizeof(left), deeper);
	}
	return *(const int *)key;
}

static void measure(struct session *s, const char *what, int rounds)
{
	struct space *space = space_of(s, 1, (uint32_t)getpid());
	struct stack_walk walk = { 0 };
	double start = now(), unwound, stored;

	for (int i = 0; i < rounds; i++) {
		walk.count = 0;
		space_unwind(s, space, &taken->copy, &walk);
	}
	unwound = now();
	for (int i = 0; i < rounds; i++)
		stacks_intern(s, space, &walk);
	stored = now();
	printf("%s: %u frames%s, unwound in %.2f us (%.0f ns a frame), stored in %.2f us\n", what, walk.count, walk.cut ? " (cut)" : "",
	       (unwound - start) / rounds / 1e3, (unwound - start) / rounds / walk.count, (stored - unwound) / rounds / 1e3);
}

static void measure_library(const char *path, uint64_t address)
{
	struct cfi *cfi = cfi_new();
	struct elf_file *file;
	struct error err;
	double start = now(), first, then;
	unsigned covered = 0;

	if (elf_file_open(&file, open(path, O_RDONLY | O_CLOEXEC), &err) < 0) {
		fprintf(stderr, "%s: %s\n", path, err.text);
		exit(1);
	}
	cfi_read(cfi, file, address);
	first = now();
	for (unsigned i = 0; i < 1000; i++)
		covered += cfi_read(cfi, file, address + 1 + i * 997)->covered;
	then = now();
	printf("%s: first row %.0f us, %.2f us for each of the next (%u of 1000 known)\n", path, (first - start) / 1e3,
	       (then - first) / 1e6, covered);
	cfi_free(cfi);
	elf_file_close(file);
}

int main(int argc, char **argv)
{
	struct session session = { .now = 1 };
	int levels = FRAMES - 6, key = 0;
	char path[] = "bench_unwind.sonde";
	struct error err;

	taken = calloc(1, sizeof(*taken));
	if (!taken || report_writer_open(&session.writer, path, 1, NULL, 0, &err) < 0)
		return 1;
	bsearch(&key, &levels, 1, sizeof(levels), deeper);
	measure(&session, "first time", 1);
	measure(&session, "later", ROUNDS);
	stacks_release(&session);
	spaces_release(&session);
	report_writer_finish(session.writer, &err);
	unlink(path);
	if (argc > 1)
		measure_library(argv[1], argc > 2 ? strtoull(argv[2], NULL, 16) : 0x1000000);
	free(taken);
	return 0;
}
